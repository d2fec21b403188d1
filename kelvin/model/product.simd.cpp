// SPDX-License-Identifier: Apache-2.0
// A tile of c stays in registers while the depth runs by: two vectors wide and as many rows as there are registers for.
#include "kelvin/model/product.h"

#include "kelvin/core/lanes.h"

namespace kelvin::KELVIN_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int most_rows = 14;  // of 32 registers
#else
constexpr int most_rows = 6;  // of 16
#endif

KELVIN_INLINE std::size_t least(std::size_t a, std::size_t b) { return a < b ? a : b; }

// Rows `first` on and columns `column` on. The rows at `soon` are asked for on the way, a panel of each at a time.
template <int rows, int vectors, class Real>
void tile(const Product<Real>& p, std::size_t first, std::size_t column, std::span<const Real* const> soon) {
  constexpr std::size_t line = 64 / sizeof(Real);
  Lanes<Real> sums[rows][vectors] = {};
  const Real *a = p.a + first * p.a_row, *b = p.b + column / panel * panel * p.depth + column % panel;
  for (std::size_t done = 0; done < p.depth; done += panel, a += p.a_panel) {
    for (const Real* row : soon)
      for (std::size_t d = 0; d < panel; d += line) __builtin_prefetch(row + done + d, 0, 2);
    const std::size_t depth = least(panel, p.depth - done);
    for (std::size_t d = 0; d < depth; ++d, b += panel) {
      Lanes<Real> w[vectors];
      for (int v = 0; v < vectors; ++v) w[v] = load(b + v * lanes<Real>);
      for (int i = 0; i < rows; ++i) {
        const Lanes<Real> x = all(a[std::size_t(i) * p.a_row + d * p.a_depth]);
        for (int v = 0; v < vectors; ++v) sums[i][v] += x * w[v];
      }
    }
  }
  for (int v = 0; v < vectors; ++v) {
    const std::size_t j = column + std::size_t(v) * lanes<Real>, count = least(lanes<Real>, p.columns - j);
    const Lanes<Real> bias = p.bias ? load_some(p.bias + j, count) : Lanes<Real>{};
    for (int i = 0; i < rows; ++i) {
      Real* c = p.c + (first + std::size_t(i)) * p.c_row + j;
      Lanes<Real> y = p.share * sums[i][v] + bias;
      if (p.keep != 0) y += p.keep * load_some(c, count);
      store_some(c, p.relu ? positive(y) : y, count);
    }
  }
}

template <int rows = 1, class Real>
KELVIN_INLINE void tile_of(std::size_t count, const Product<Real>& p, std::size_t first, std::size_t column,
                           std::span<const Real* const> soon) {
  if constexpr (rows < most_rows)
    if (count != rows) return tile_of<rows + 1>(count, p, first, column, soon);
  if (p.columns - column > lanes<Real>) tile<rows, 2>(p, first, column, soon);
  else tile<rows, 1>(p, first, column, soon);
}

// Rows are shared out evenly, so that no tile is much smaller than the others; a panel of b serves them all in turn.
template <class Real>
KELVIN_INLINE void multiply_(const Product<Real>& p) {
  constexpr std::size_t width = 2 * lanes<Real>;
  const std::size_t blocks = (p.rows + most_rows - 1) / most_rows, across = (p.columns + width - 1) / width;
  const auto share = [](std::size_t n, std::size_t k, std::size_t parts) { return n * k / parts; };
  for (std::size_t k = 0; k < blocks * across; ++k) {
    const std::size_t first = share(p.rows, k % blocks, blocks), last = share(p.rows, k % blocks + 1, blocks);
    const std::size_t from = share(p.soon.size(), k, blocks * across),
                      to = share(p.soon.size(), k + 1, blocks * across);
    tile_of(last - first, p, first, k / blocks * width, p.soon.subspan(from, to - from));
  }
}

// Squares of as many rows as a vector has lanes, each turned by interleaving its halves until they are single numbers.
template <class Real>
KELVIN_INLINE void pack_turned_(std::size_t rows, std::size_t columns, const Real* from, Real* to) {
  constexpr std::size_t side = lanes<Real>;
  for (std::size_t i = 0; i < rows; i += side)
    for (std::size_t j = 0; j < columns; j += side) {
      const std::size_t count = least(side, columns - j);
      Lanes<Real> square[side], next[side];
      for (std::size_t k = 0; k < side; ++k)
        square[k] = i + k < rows ? load_some(from + (i + k) * columns + j, count) : Lanes<Real>{};
      for (std::size_t halves = 1; halves < side; halves *= 2) {
        for (std::size_t k = 0; k < side / 2; ++k)
          interleave(square[k], square[k + side / 2], next[2 * k], next[2 * k + 1]);
        std::memcpy(square, next, sizeof next);
      }
      for (std::size_t k = 0; k < count; ++k)
        store<Real>(to + (i / panel * columns + j + k) * panel + i % panel, square[k]);
    }
}

}  // namespace

void multiply(const Product<float>& p) { multiply_(p); }
void multiply(const Product<double>& p) { multiply_(p); }
void pack_turned(std::size_t rows, std::size_t columns, const float* from, float* to) {
  pack_turned_(rows, columns, from, to);
}
void pack_turned(std::size_t rows, std::size_t columns, const double* from, double* to) {
  pack_turned_(rows, columns, from, to);
}

}  // namespace kelvin::KELVIN_ISA
