// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10 and Box-Muller on whole vectors. Built without fused multiply-add, so that every instruction set gives
// the same bytes.
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

// The keys of the ten rounds, computed once for many counters.
struct Keys {
  std::uint64_t k[10][2];
  explicit Keys(const Stream& s) {
    std::uint32_t k0 = std::uint32_t(s.key), k1 = std::uint32_t(s.key >> 32);
    for (auto& round : k) {
      round[0] = k0, round[1] = k1;
      k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
  }
};

// Words live in the low halves of 64-bit lanes, where products need no shuffle; what gathers in the high halves is
// never read. Even counters in one vector, odd ones in another, so that they interleave at the end.
KELVIN_INLINE Four philox(const Stream& s, const Keys& keys, std::uint32_t first) {
  static constexpr std::uint64_t even[8] = {0, 2, 4, 6, 8, 10, 12, 14};
  LongWords x[2][4];
  for (std::uint32_t odd = 0; odd < 2; ++odd) {
    std::memcpy(&x[odd][0], even, sizeof(LongWords));
    x[odd][0] += first + odd;
    x[odd][1] = s.step - LongWords{};
    x[odd][2] = std::uint64_t(std::uint32_t(s.step >> 32) << 16 | s.place) - LongWords{};
    x[odd][3] = std::uint64_t(s.walker) - LongWords{};
  }
  for (const auto& k : keys.k)
    for (auto& w : x) {
      const LongWords a = multiply(w[0], 0xD2511F53u), b = multiply(w[2], 0xCD9E8D57u);
      const LongWords w0 = (b >> 32) ^ w[1] ^ k[0], w2 = (a >> 32) ^ w[3] ^ k[1];
      w[0] = w0, w[1] = b, w[2] = w2, w[3] = a;
    }
  Four out;
  for (int k = 0; k < 4; ++k) out.w[k] = (Words)((x[0][k] & 0xffffffffu) | x[1][k] << 32);
  return out;
}

// Turns (cos, sin) of an angle within pi/4 of 0 by `quadrant` right angles and stretches them to `radius`.
template <class Bits, class Vector, class Real>
KELVIN_INLINE void place(Bits quadrant, Vector radius, Vector cosine, Vector sine, Real* x, Real* y) {
  constexpr int top = 8 * int(sizeof(Real)) - 2;
  const Bits swap = 0 - (quadrant & 1), c = (Bits)cosine, s = (Bits)sine;
  const Bits turned_c = (c & ~swap) | (s & swap), turned_s = (s & ~swap) | (c & swap);
  store<Real>(x, radius * (Vector)(turned_c ^ (((quadrant + 1) & 2) << top)));
  store<Real>(y, radius * (Vector)(turned_s ^ ((quadrant & 2) << top)));
}

// Box-Muller from 32 bits each: the radius from u = (31 bits + 1/2) 2^-31, whose tail ends at 6.6 standard deviations.
KELVIN_INLINE void pair(Words u, Words v, float* x, float* y) {
  const Floats uniform = (__builtin_convertvector((Integers)(u >> 1), Floats) + 0.5f) * 0x1p-31f;
  const Floats angle = __builtin_convertvector((Integers)(v << 2), Floats) * (0x1p-32f * 1.57079632679489662f);
  Floats sine, cosine;
  sine_cosine(angle, sine, cosine);
  place(v >> 30, root(-2.0f * logarithm(uniform)), cosine, sine, x, y);
}

// The same from 64 bits each: u = (52 bits + 1/2) 2^-52.
KELVIN_INLINE void pair(LongWords u, LongWords v, double* x, double* y) {
  const LongWords one = 0x3ff0000000000000u - LongWords{};
  const Doubles uniform = (Doubles)(u >> 12 | one) - (1 - 0x1p-53);
  const Doubles angle = ((Doubles)(v << 2 >> 12 | one) - 1.5) * 1.57079632679489662;
  Doubles sine, cosine;
  sine_cosine(angle, sine, cosine);
  place(v >> 62, root(-2.0 * logarithm(uniform)), cosine, sine, x, y);
}

void group(const Stream& s, const Keys& keys, std::uint32_t first, float* z) {
  for (int i = 0; i < counters; i += lanes<float>) {
    const Four x = philox(s, keys, first + std::uint32_t(i));
    pair(x.w[0], x.w[1], z + i, z + counters + i);
    pair(x.w[2], x.w[3], z + 2 * counters + i, z + 3 * counters + i);
  }
}

// Words 0 and 1 of two neighbouring counters make two 64-bit numbers, and so words 2 and 3.
void group(const Stream& s, const Keys& keys, std::uint32_t first, double* z) {
  std::uint32_t w[4][counters];
  for (int i = 0; i < counters; i += lanes<float>) {
    const Four x = philox(s, keys, first + std::uint32_t(i));
    for (int k = 0; k < 4; ++k) std::memcpy(&w[k][i], &x.w[k], sizeof x.w[k]);
  }
  for (int i = 0; i < counters; i += lanes<float>) {
    LongWords u[4];
    for (int k = 0; k < 4; ++k) std::memcpy(&u[k], &w[k][i], sizeof u[k]);
    const int j = i / 2;
    pair(u[0], u[1], z + j, z + counters / 2 + j);
    pair(u[2], u[3], z + counters + j, z + 3 * counters / 2 + j);
  }
}

template <class Real>
KELVIN_INLINE void fill(const Stream& s, std::size_t first, Real* out, std::size_t count) {
  constexpr std::size_t size = 4 * counters * sizeof(float) / sizeof(Real);
  const Keys keys(s);
  std::size_t done = 0;
  while (done < count) {
    const std::size_t at = (first + done) / size, skip = (first + done) % size;
    if (skip == 0 && count - done >= size) {
      group(s, keys, std::uint32_t(at * counters), out + done);
      done += size;
      continue;
    }
    Real z[size];
    group(s, keys, std::uint32_t(at * counters), z);
    const std::size_t take = size - skip < count - done ? size - skip : count - done;
    std::memcpy(out + done, z + skip, take * sizeof(Real));
    done += take;
  }
}

}  // namespace

void normals(const Stream& s, std::size_t first, float* out, std::size_t count) { fill(s, first, out, count); }
void normals(const Stream& s, std::size_t first, double* out, std::size_t count) { fill(s, first, out, count); }

// The words of counters first, first + 1, ..., one counter after another.
void random_words(const Stream& s, std::uint32_t first, std::uint32_t* out, std::size_t blocks) {
  const Keys keys(s);
  for (std::size_t b = 0; b < blocks; b += lanes<float>) {
    const Four x = philox(s, keys, first + std::uint32_t(b));
    for (std::size_t i = 0; i < lanes<float> && b + i < blocks; ++i)
      for (int k = 0; k < 4; ++k) out[4 * (b + i) + std::size_t(k)] = x.w[k][i];
  }
}

}  // namespace kelvin::KELVIN_ISA
