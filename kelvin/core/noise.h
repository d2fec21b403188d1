// SPDX-License-Identifier: Apache-2.0
// Counter-based randomness (Philox 4x32-10): every number is a pure function of (seed, name, walker, step, place, i),
// so the order of evaluation, the number of threads and a restart cannot change it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kelvin {

// `key` tells apart seeds and purposes (a part's noise, its start, minibatches, ...); see stream_key.
struct Stream {
  std::uint64_t key = 0;
  std::uint32_t walker = 0;
  std::uint64_t step = 0;  // the low 48 bits count
  std::uint16_t place = 0;
};

std::uint64_t stream_key(std::uint64_t seed, std::string_view name);

std::uint64_t random_bits(const Stream&, std::size_t i);
double uniform(const Stream&, std::size_t i);                        // in (0, 1), both ends excluded
std::uint32_t below(std::uint32_t n, const Stream&, std::size_t i);  // 0 ... n - 1, equally likely to within n / 2^64

// random_bits(s, 0) ... random_bits(s, out.size() - 1), at a fraction of the cost each.
void random_bits(const Stream& s, std::span<std::uint64_t> out);
inline std::uint32_t below(std::uint32_t n, std::uint64_t bits) {
  return std::uint32_t((__extension__(unsigned __int128) bits * n) >> 64);
}

// Normals first ... first + out.size() - 1 of a stream: the same bytes on every machine with a fused multiply-add, and
// within rounding of them on others.
void normals(const Stream&, std::size_t first, std::span<float> out);
void normals(const Stream&, std::size_t first, std::span<double> out);

// What a chain draws from. The default is Philox; a test may put known numbers in its place.
template <class Real>
struct Noise {
  virtual ~Noise() = default;
  virtual void normals(const Stream& stream, std::size_t first, std::span<Real> out) const {
    kelvin::normals(stream, first, out);
  }
  virtual double uniform(const Stream& stream) const { return kelvin::uniform(stream, 0); }
};

}  // namespace kelvin
