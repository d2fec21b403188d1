// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/noise.h"

#include <Random123/philox.h>

#include <algorithm>

#include "kelvin/core/normals.h"

namespace kelvin {
namespace {

using Philox = r123::Philox4x32;

Philox::ctr_type words(const Stream& s, std::uint32_t block) {
  const Philox::ctr_type counter = {
      {block, std::uint32_t(s.step), std::uint32_t(s.step >> 32) << 16 | s.place, s.walker}};
  const Philox::key_type key = {{std::uint32_t(s.key), std::uint32_t(s.key >> 32)}};
  return Philox()(counter, key);
}

void words(const Stream& s, std::uint32_t first, std::uint32_t* out, std::size_t blocks) {
  KELVIN_RETURN_BEST(random_words(s, first, out, blocks));
}

std::uint64_t joined(std::uint32_t high, std::uint32_t low) { return std::uint64_t(high) << 32 | low; }

// The finaliser of splitmix64: a bijection that spreads every input bit over the whole word.
std::uint64_t scramble(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Uniforms in (0, 1) at the centres of equal cells, so neither 0 (whose logarithm is infinite) nor 1 occurs.
double cell(std::uint64_t bits) { return (double(bits >> 11) + 0.5) * 0x1p-53; }

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

std::uint32_t below(std::uint32_t n, const Stream& s, std::size_t i) { return below(n, random_bits(s, i)); }

void random_bits(const Stream& s, std::span<std::uint64_t> out) {
  constexpr std::size_t at_once = 256;
  std::uint32_t w[2 * at_once];
  for (std::size_t first = 0; first < out.size(); first += at_once) {
    const std::size_t count = std::min(at_once, out.size() - first);
    words(s, std::uint32_t(first / 2), w, (count + 1) / 2);
    for (std::size_t i = 0; i < count; ++i) out[first + i] = joined(w[2 * i], w[2 * i + 1]);
  }
}

void normals(const Stream& s, std::size_t first, std::span<float> out) {
  KELVIN_RETURN_BEST(normals(s, first, out.data(), out.size()));
}
void normals(const Stream& s, std::size_t first, std::span<double> out) {
  KELVIN_RETURN_BEST(normals(s, first, out.data(), out.size()));
}

}  // namespace kelvin
