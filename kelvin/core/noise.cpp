// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/noise.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace kelvin {
namespace {

using Philox = r123::Philox4x32;

Philox::ctr_type words(const Stream& s, std::uint32_t block) {
  const Philox::ctr_type counter = {
      {block, std::uint32_t(s.step), std::uint32_t(s.step >> 32) << 16 | s.place, s.walker}};
  const Philox::key_type key = {{std::uint32_t(s.key), std::uint32_t(s.key >> 32)}};
  return Philox()(counter, key);
}

std::uint64_t joined(std::uint32_t high, std::uint32_t low) { return std::uint64_t(high) << 32 | low; }

// The finaliser of splitmix64: a bijection that spreads every input bit over the whole word.
std::uint64_t scramble(std::uint64_t x) {
  x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27, x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Uniforms in (0, 1) at the centres of equal cells, so neither 0 (whose logarithm is infinite) nor 1 occurs.
double cell(std::uint64_t bits) { return (double(bits >> 11) + 0.5) * 0x1p-53; }
float cell(std::uint32_t bits) { return (float(bits >> 8) + 0.5f) * 0x1p-24f; }

// Box-Muller: two uniforms to two independent normals.
template <class Real>
void pair(Real u, Real v, Real& x, Real& y) {
  const Real radius = std::sqrt(Real(-2) * std::log(u)), angle = 2 * std::numbers::pi_v<Real> * v;
  x = radius * std::cos(angle);
  y = radius * std::sin(angle);
}

// One block of the counter gives `n` consecutive normals.
void block_of_normals(const Philox::ctr_type& w, float (&z)[4]) {
  // 24 bits would cut the tail at 5.9 standard deviations: the radius takes 8 more bits from the angle's low end.
  const auto radius = [](std::uint32_t a, std::uint32_t b) {
    return float((double(joined(a, b << 24) >> 24) + 0.5) * 0x1p-40);
  };
  pair(radius(w[0], w[1]), cell(w[1]), z[0], z[1]);
  pair(radius(w[2], w[3]), cell(w[3]), z[2], z[3]);
}
void block_of_normals(const Philox::ctr_type& w, double (&z)[2]) {
  pair(cell(joined(w[0], w[1])), cell(joined(w[2], w[3])), z[0], z[1]);
}

template <std::size_t n, class Real>
void fill(const Stream& s, std::size_t first, std::span<Real> out) {
  Real z[n];
  for (std::size_t i = 0; i < out.size();) {
    block_of_normals(words(s, std::uint32_t((first + i) / n)), z);
    for (std::size_t k = (first + i) % n; k < n && i < out.size(); ++k) out[i++] = z[k];
  }
}

}  // namespace

std::uint64_t stream_key(std::uint64_t seed, std::string_view name) {
  std::uint64_t key = scramble(seed + 0x9e3779b97f4a7c15u);
  for (const unsigned char c : name) key = scramble(key + 0x9e3779b97f4a7c15u + c);
  return key;
}

std::uint64_t random_bits(const Stream& s, std::size_t i) {
  const auto w = words(s, std::uint32_t(i / 2));
  return i % 2 ? joined(w[2], w[3]) : joined(w[0], w[1]);
}

double uniform(const Stream& s, std::size_t i) { return cell(random_bits(s, i)); }

std::uint32_t below(std::uint32_t n, const Stream& s, std::size_t i) {
  return std::uint32_t((__extension__(unsigned __int128) random_bits(s, i) * n) >> 64);
}

void normals(const Stream& s, std::size_t first, std::span<float> out) { fill<4>(s, first, out); }
void normals(const Stream& s, std::size_t first, std::span<double> out) { fill<2>(s, first, out); }

}  // namespace kelvin
