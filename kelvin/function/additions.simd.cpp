// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/additions.h"

#include "kelvin/core/lanes.h"

namespace kelvin::KELVIN_ISA {
namespace {

// Calls act(first number, count) for each vector of n numbers.
template <class Real>
KELVIN_INLINE void in_vectors(std::size_t n, auto&& act) {
  std::size_t i = 0;
  for (; i + lanes<Real> <= n; i += lanes<Real>) act(i, std::size_t(lanes<Real>));
  if (i < n) act(i, n - i);
}

template <class Real>
KELVIN_INLINE void put_sum_(std::size_t n, const Real* a, const Real* b, bool relu, Real* y) {
  if (relu)
    in_vectors<Real>(n, [&](std::size_t i, std::size_t count) {
      store_some(y + i, positive(load_some(a + i, count) + load_some(b + i, count)), count);
    });
  else
    in_vectors<Real>(n, [&](std::size_t i, std::size_t count) {
      store_some(y + i, load_some(a + i, count) + load_some(b + i, count), count);
    });
}

template <class Real>
KELVIN_INLINE void cut_and_copy_(std::size_t n, const Real* y, Real* dy, Real* copy) {
  in_vectors<Real>(n, [&](std::size_t i, std::size_t count) {
    const Lanes<Real> slope = load_some(dy + i, count), left = load_some(y + i, count) > 0 ? slope : Lanes<Real>{};
    store_some(dy + i, left, count);
    store_some(copy + i, left, count);
  });
}

template <class Real>
KELVIN_INLINE void put_shares_(std::size_t n, const Real* x, Real share, Real keep, Real* to) {
  in_vectors<Real>(n, [&](std::size_t i, std::size_t count) {
    const Lanes<Real> mine = share * load_some(x + i, count);
    store_some(to + i, keep == 0 ? mine : keep * load_some(to + i, count) + mine, count);
  });
}

}  // namespace

#define KELVIN_DEFINE_ADDITIONS(Real)                                                                           \
  void put_sum(std::size_t n, const Real* a, const Real* b, bool relu, Real* y) { put_sum_(n, a, b, relu, y); } \
  void add_numbers(std::size_t n, const Real* x, Real* y) { put_sum_(n, x, y, false, y); }                      \
  void cut_and_copy(std::size_t n, const Real* y, Real* dy, Real* copy) { cut_and_copy_(n, y, dy, copy); }      \
  void put_shares(std::size_t n, const Real* x, Real share, Real keep, Real* to) { put_shares_(n, x, share, keep, to); }
KELVIN_DEFINE_ADDITIONS(float)
KELVIN_DEFINE_ADDITIONS(double)

}  // namespace kelvin::KELVIN_ISA
