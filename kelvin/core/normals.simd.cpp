// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10 and Box-Muller on whole vectors.
#include "kelvin/core/lanes.h"
#include "kelvin/core/noise.h"

namespace kelvin::KELVIN_ISA {
namespace {

// A group is 16 counters; its words and normals lie counter by counter within each of the four words, so that vectors
// of any width up to 16 fill it without a shuffle.
constexpr int counters = 16;

struct Four {
  Words w[4];
};

// What the ten rounds share between counters: their keys, and in the first two rounds the words that do not yet depend
// on the counter, already mixed with the keys.
struct Rounds {
  static constexpr std::uint32_t m0 = 0xD2511F53u, m1 = 0xCD9E8D57u;
  std::uint64_t k[10][2], first_w2, second_w0, second_w2, second_w3;
  explicit Rounds(const Stream& s) {
    std::uint32_t k0 = std::uint32_t(s.key), k1 = std::uint32_t(s.key >> 32);
    for (auto& round : k) {
      round[0] = k0;
      round[1] = k1;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const std::uint64_t b = std::uint64_t(std::uint32_t(s.step >> 32) << 16 | s.place) * m1;
    const std::uint64_t a = std::uint64_t(std::uint32_t(b >> 32 ^ s.step ^ k[0][0])) * m0;
    first_w2 = s.walker ^ k[0][1];
    second_w0 = b ^ k[1][0];
    second_w2 = a >> 32 ^ k[1][1];
    second_w3 = a;
  }
};

// The words of a vector of counters from `first` on, or of the same places of several groups. Words live in the low
// halves of 64-bit lanes, where products need no shuffle; what gathers in the high halves is never read. Even counters
// in one vector, odd ones in another, so that they interleave at the end.
template <int groups>
KELVIN_INLINE void philox(const Rounds& r, std::uint32_t first, Four* out) {
  static constexpr std::uint64_t even[8] = {0, 2, 4, 6, 8, 10, 12, 14};
  LongWords x[2 * groups][4];
  for (std::uint32_t v = 0; v < 2 * groups; ++v) {
    LongWords counter;
    std::memcpy(&counter, even, sizeof counter);
    const LongWords a = multiply(counter + (first + v / 2 * counters + v % 2), r.m0);
    const LongWords b = multiply(high_halves(a) ^ r.first_w2, r.m1);
    x[v][0] = high_halves(b) ^ r.second_w0;
    x[v][1] = b;
    x[v][2] = a ^ r.second_w2;
    x[v][3] = r.second_w3 - LongWords{};
  }
#pragma GCC unroll 8
  for (int round = 2; round < 10; ++round)
    for (auto& w : x) {
      const LongWords a = multiply(w[0], r.m0), b = multiply(w[2], r.m1);
      const LongWords w0 = high_halves(b) ^ w[1] ^ r.k[round][0], w2 = high_halves(a) ^ w[3] ^ r.k[round][1];
      w[0] = w0;
      w[1] = b;
      w[2] = w2;
      w[3] = a;
    }
  for (int v = 0; v < groups; ++v)
    for (int k = 0; k < 4; ++k) out[v].w[k] = (Words)((x[2 * v][k] & 0xffffffffu) | x[2 * v + 1][k] << 32);
}

// A point at `radius` whose angle is that of (cosine, sine), mirrored as the two top bits of `v` say: the first turns
// the cosine's sign, the second swaps the two. With |angle| <= pi/4 this fills the circle.
template <class Bits, class Vector, class Real>
KELVIN_INLINE void place(Bits v, Vector radius, Vector cosine, Vector sine, Real* x, Real* y) {
  constexpr auto top = decltype(v[0] + v[0])(1) << (8 * sizeof(Real) - 1);
  const Bits c = (Bits)cosine ^ (v & top), s = (Bits)sine;
  const Bits first = (v & (top >> 1)) != 0 ? s : c, second = first ^ c ^ s;
  store<Real>(x, radius * (Vector)first);
  store<Real>(y, radius * (Vector)second);
}

// -2 log(u 2^-31) for u from 1 to 2^31: with u = 2^n (1 + f), log2 u is near n + f, which the bits of a float spell,
// and a polynomial that is 0 at both ends of the octave does the rest (to 2e-8 in log u).
KELVIN_INLINE Floats square_of_radius(Floats u) {
  constexpr std::int32_t at_one = 0x3f800000 + (31 << 23);
  const Floats line = __builtin_convertvector((Integers)u - at_one, Floats);
  const Floats m = (Floats)(((Words)u & 0x7fffff) | 0x3f800000), f = m - 1.0f;
  Floats y = f * (2 * 0.00403786939f) - 2 * 0.0205848218f;
  y = y * f + 2 * 0.0495195162f;
  y = y * f - 2 * 0.0800628740f;
  y = y * f + 2 * 0.1075986502f;
  y = y * f - 2 * 0.1399392021f;
  y = y * f + 2 * 0.1931365010f;
  y = y * f - 2 * 0.3068527432f;
  return line * (-2 * 0.693147181f * 0x1p-23f) + f * (2.0f - m) * y;
}

// Box-Muller from 32 bits each: the radius from u = (30 bits + 1/2) 2^-30, whose tail ends at 6.6 standard deviations.
KELVIN_INLINE void pair(Words u, Words v, float* x, float* y) {
  const Floats uniform = __builtin_convertvector((Integers)((u & 0x7fffffff) | 1), Floats);
  const Floats angle = __builtin_convertvector((Integers)(v << 2), Floats) * 0x1p-32f;
  Floats sine, cosine;
  sine_cosine(angle, sine, cosine);
  place(v, root(square_of_radius(uniform)), cosine, sine, x, y);
}

// The same from 64 bits each: u = (52 bits + 1/2) 2^-52.
KELVIN_INLINE void pair(LongWords u, LongWords v, double* x, double* y) {
  const LongWords one = 0x3ff0000000000000u - LongWords{};
  const Doubles uniform = (Doubles)(u >> 12 | one) - (1 - 0x1p-53);
  const Doubles angle = (Doubles)(v << 2 >> 12 | one) - 1.5;
  Doubles sine, cosine;
  sine_cosine(angle, sine, cosine);
  place(v, root(-2.0 * logarithm(uniform)), cosine, sine, x, y);
}

// Normals of one group, or of two whose rounds do not wait for each other.
template <int groups>
KELVIN_INLINE void make(const Rounds& r, std::uint32_t first, float* z) {
  for (int i = 0; i < counters; i += lanes<float>) {
    Four x[groups];
    philox<groups>(r, first + std::uint32_t(i), x);
    for (int k = 0; k < 2 * groups; ++k) {
      float* to = z + 2 * counters * k + i;
      pair(x[k / 2].w[k % 2 * 2], x[k / 2].w[k % 2 * 2 + 1], to, to + counters);
    }
  }
}

// Words 0 and 1 of two neighbouring counters make two 64-bit numbers, and so words 2 and 3.
template <int groups>
KELVIN_INLINE void make(const Rounds& r, std::uint32_t first, double* z) {
  std::uint32_t w[4][groups * counters];
  for (int i = 0; i < groups * counters; i += lanes<float>) {
    Four x;
    philox<1>(r, first + std::uint32_t(i), &x);
    for (int k = 0; k < 4; ++k) std::memcpy(&w[k][i], &x.w[k], sizeof x.w[k]);
  }
  for (int i = 0; i < groups * counters; i += lanes<float>) {
    LongWords u[4];
    for (int k = 0; k < 4; ++k) std::memcpy(&u[k], &w[k][i], sizeof u[k]);
    double* to = z + i / counters * 2 * counters + i % counters / 2;
    pair(u[0], u[1], to, to + counters / 2);
    pair(u[2], u[3], to + counters, to + 3 * counters / 2);
  }
}

template <class Real>
KELVIN_INLINE void fill(const Stream& s, std::size_t first, Real* out, std::size_t count) {
  constexpr std::size_t size = 4 * counters * sizeof(float) / sizeof(Real);
  const Rounds r(s);
  std::size_t done = 0;
  while (done < count) {
    const std::size_t at = (first + done) / size, skip = (first + done) % size;
    if (skip == 0 && count - done >= 2 * size) {
      make<2>(r, std::uint32_t(at * counters), out + done);
      done += 2 * size;
      continue;
    }
    Real z[size];
    make<1>(r, std::uint32_t(at * counters), z);
    const std::size_t take = size - skip < count - done ? size - skip : count - done;
    std::memcpy(out + done, z + skip, take * sizeof(Real));
    done += take;
  }
}

}  // namespace

void normals(const Stream& s, std::size_t first, float* out, std::size_t count) { fill(s, first, out, count); }
void normals(const Stream& s, std::size_t first, double* out, std::size_t count) { fill(s, first, out, count); }

// The words of counters first, first + 1, ..., one counter after another; whole groups are written.
void random_words(const Stream& s, std::uint32_t first, std::uint32_t* out, std::size_t blocks) {
  const Rounds r(s);
  for (std::size_t b = 0; b < blocks; b += lanes<float>) {
    Four x;
    philox<1>(r, first + std::uint32_t(b), &x);
    Words even[2], odd[2], all[4];
    interleave(x.w[0], x.w[2], even[0], even[1]);
    interleave(x.w[1], x.w[3], odd[0], odd[1]);
    interleave(even[0], odd[0], all[0], all[1]);
    interleave(even[1], odd[1], all[2], all[3]);
    std::memcpy(out + 4 * b, all, sizeof all);
  }
}

}  // namespace kelvin::KELVIN_ISA
