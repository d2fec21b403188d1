// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/lanes.h"
#include "kelvin/function/pooling_loops.h"

namespace kelvin::KELVIN_ISA {
namespace {

KELVIN_INLINE std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

// Calls each(first channel, how many, pixel of y, line of its window, place on that line) for every window, so many
// channels at a time as a vector has lanes. Lines and places below 0 have wrapped.
template <class Real, class Each>
KELVIN_INLINE void for_each_pooled(const PoolingLoops& loops, Each&& each) {
  const ConvolutionAxis &down = loops.down, &along = loops.along;
  for (std::size_t row = 0; row < loops.rows; ++row)
    for (std::size_t v = 0; v < down.y; ++v)
      for (std::size_t h = 0; h < along.y; ++h)
        for (std::size_t c = 0; c < loops.channels; c += lanes<Real>)
          each(c, smaller(lanes<Real>, loops.channels - c), row, (row * down.y + v) * along.y + h,
               v * down.stride - down.before, h * along.stride - along.before);
}

// Calls each(pixel of x, place in the window) for what of a window lies in the image.
template <class Each>
KELVIN_INLINE void for_each_place(const PoolingLoops& loops, std::size_t row, std::size_t line, std::size_t place,
                                  Each&& each) {
  for (std::size_t i = 0; i < loops.down.taps; ++i) {
    if (line + i >= loops.down.x) continue;
    for (std::size_t j = 0; j < loops.along.taps; ++j)
      if (place + j < loops.along.x)
        each((row * loops.down.x + line + i) * loops.along.x + place + j, i * loops.along.taps + j);
  }
}

template <class Real>
KELVIN_INLINE void pool_largest_(const PoolingLoops& loops, const Real* x, Real* y, Real* first) {
  const std::size_t n = loops.channels;
  const Real below = loops.relu ? Real(0) : -Real(__builtin_inf()), no_place = loops.relu ? Real(-1) : Real(0);
  for_each_pooled<Real>(loops, [&](std::size_t c, std::size_t count, std::size_t row, std::size_t to, std::size_t line,
                                   std::size_t place) {
    Lanes<Real> most = all(below), at = all(no_place);
    for_each_place(loops, row, line, place, [&](std::size_t from, std::size_t k) {
      const Lanes<Real> value = load_some(x + from * n + c, count);
      const auto larger = (value > most) | (value != value);  // nan stays
      most = larger ? value : most;
      at = larger ? all(Real(k)) : at;
    });
    store_some(y + to * n + c, most, count);
    store_some(first + to * n + c, at, count);
  });
}

template <class Real>
KELVIN_INLINE void pool_largest_back_(const PoolingLoops& loops, const Real* dy, const Real* first, Real* dx) {
  const std::size_t n = loops.channels;
  const bool put = loops.cover();
  for_each_pooled<Real>(loops, [&](std::size_t c, std::size_t count, std::size_t row, std::size_t from,
                                   std::size_t line, std::size_t place) {
    const Lanes<Real> slope = load_some(dy + from * n + c, count), at = load_some(first + from * n + c, count);
    for_each_place(loops, row, line, place, [&](std::size_t to, std::size_t k) {
      Real* sum = dx + to * n + c;
      const Lanes<Real> mine = at == all(Real(k)) ? slope : Lanes<Real>{};
      store_some(sum, put ? mine : load_some(sum, count) + mine, count);
    });
  });
}

template <class Real>
KELVIN_INLINE void pool_mean_(const PoolingLoops& loops, const Real* x, Real* y) {
  const std::size_t n = loops.channels;
  const Real share = Real(1) / Real(loops.down.taps * loops.along.taps);
  for_each_pooled<Real>(loops, [&](std::size_t c, std::size_t count, std::size_t row, std::size_t to, std::size_t line,
                                   std::size_t place) {
    Lanes<Real> sum = {};
    for_each_place(loops, row, line, place,
                   [&](std::size_t from, std::size_t) { sum += load_some(x + from * n + c, count); });
    store_some(y + to * n + c, share * sum, count);
  });
}

template <class Real>
KELVIN_INLINE void pool_mean_back_(const PoolingLoops& loops, const Real* dy, Real* dx) {
  const std::size_t n = loops.channels;
  const Real share = Real(1) / Real(loops.down.taps * loops.along.taps);
  for_each_pooled<Real>(loops, [&](std::size_t c, std::size_t count, std::size_t row, std::size_t from,
                                   std::size_t line, std::size_t place) {
    const Lanes<Real> slope = share * load_some(dy + from * n + c, count);
    for_each_place(loops, row, line, place, [&](std::size_t to, std::size_t) {
      Real* sum = dx + to * n + c;
      store_some(sum, load_some(sum, count) + slope, count);
    });
  });
}

}  // namespace

#define KELVIN_DEFINE_POOLS(Real)                                                                  \
  void pool_largest(const PoolingLoops& loops, const Real* x, Real* y, Real* first) {              \
    pool_largest_(loops, x, y, first);                                                             \
  }                                                                                                \
  void pool_largest_back(const PoolingLoops& loops, const Real* dy, const Real* first, Real* dx) { \
    pool_largest_back_(loops, dy, first, dx);                                                      \
  }                                                                                                \
  void pool_mean(const PoolingLoops& loops, const Real* x, Real* y) { pool_mean_(loops, x, y); }   \
  void pool_mean_back(const PoolingLoops& loops, const Real* dy, Real* dx) { pool_mean_back_(loops, dy, dx); }
KELVIN_DEFINE_POOLS(float)
KELVIN_DEFINE_POOLS(double)

}  // namespace kelvin::KELVIN_ISA
