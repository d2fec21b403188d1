// SPDX-License-Identifier: Apache-2.0
// A tile of c stays in registers while the depth runs by: two vectors wide and as many rows as there are registers for.
#include "kelvin/function/product.h"

#include "kelvin/core/lanes.h"

namespace kelvin::KELVIN_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int most_rows[] = {0, 14, 14, 9};  // of tiles so many vectors wide: sums for 32 registers
#else
constexpr int most_rows[] = {0, 6, 6, 4};  // for 16
#endif

KELVIN_INLINE std::size_t least(std::size_t a, std::size_t b) { return a < b ? a : b; }

// Rows `first` on and columns `column` on. The rows at `soon` are asked for on the way, a panel of each at a time.
template <int rows, int vectors, class Real>
void tile(const Product<Real>& p, std::size_t first, std::size_t column, std::span<const Real* const> soon) {
  constexpr std::size_t line = 64 / sizeof(Real);
  Lanes<Real> sums[rows][vectors] = {};
  const Real *a = p.a + first * p.a_row, *b[vectors];
  for (int v = 0; v < vectors; ++v) {
    const std::size_t j = column + std::size_t(v) * lanes<Real>;
    b[v] = p.b + j / panel * panel * (p.b_rows ? p.b_rows : p.depth) + j % panel;
  }
  for (std::size_t done = 0; done < p.depth; done += panel, a += p.a_panel) {
    for (const Real* row : soon)
      for (std::size_t d = 0; d < panel; d += line) __builtin_prefetch(row + done + d, 0, 2);
    const std::size_t depth = least(panel, p.depth - done);
    for (std::size_t d = 0; d < depth; ++d) {
      Lanes<Real> w[vectors];
      for (int v = 0; v < vectors; ++v) w[v] = load(b[v] + (done + d) * panel);
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

template <int vectors, int rows = 1, class Real>
KELVIN_INLINE void tile_of(std::size_t count, const Product<Real>& p, std::size_t first, std::size_t column,
                           std::span<const Real* const> soon) {
  if constexpr (rows < most_rows[vectors])
    if (count != rows) return tile_of<vectors, rows + 1>(count, p, first, column, soon);
  tile<rows, vectors>(p, first, column, soon);
}

// Two vectors at a time, the last three together; a panel of b serves all rows in turn. They are shared out evenly, so
// that no tile is much smaller than the others; and so are the rows to ask for.
template <class Real>
KELVIN_INLINE void multiply_(const Product<Real>& p) {
  const std::size_t all_vectors = (p.columns + lanes<Real> - 1) / lanes<Real>;
  for (std::size_t at = 0, vectors = 0; at < all_vectors; at += vectors) {
    vectors = all_vectors - at == 3 ? 3 : least(all_vectors - at, 2);
    const std::size_t most = std::size_t(most_rows[vectors]), blocks = (p.rows + most - 1) / most;
    const auto asked = [&](std::size_t row) {
      return p.soon.size() * (at * p.rows + vectors * row) / (all_vectors * p.rows);
    };
    for (std::size_t k = 0; k < blocks; ++k) {
      const std::size_t first = p.rows * k / blocks, last = p.rows * (k + 1) / blocks, column = at * lanes<Real>;
      const auto soon = p.soon.subspan(asked(first), asked(last) - asked(first));
      if (vectors == 1) tile_of<1>(last - first, p, first, column, soon);
      if (vectors == 2) tile_of<2>(last - first, p, first, column, soon);
      if (vectors == 3) tile_of<3>(last - first, p, first, column, soon);
    }
  }
}

template <class Real>
KELVIN_INLINE void pack_(const Unpacked<Real>& m, Real* to) {
  for (std::size_t j = 0; j < m.columns; j += panel) {
    const std::size_t count = least(panel, m.columns - j);
    Real* out = to + j * m.rows;
    for (std::size_t i = 0; i < m.rows; ++i, out += panel)
      for (std::size_t k = 0; k < count; k += lanes<Real>) {
        const std::size_t some = least(lanes<Real>, count - k);
        store_some(out + k, load_some(m.from + i * m.stride + j + k, some), some);
      }
  }
}

template <class Real>
KELVIN_INLINE void pack_turned_(const Unpacked<Real>& m, Real* to) {
  constexpr std::size_t side = lanes<Real>;
  for (std::size_t i = 0; i < m.rows; i += side)
    for (std::size_t j = 0; j < m.columns; j += side) {
      const std::size_t count = least(side, m.columns - j);
      Lanes<Real> square[side];
      for (std::size_t k = 0; k < side; ++k)
        square[k] = i + k < m.rows ? load_some(m.from + (i + k) * m.stride + j, count) : Lanes<Real>{};
      turn_square<Real>(square);
      for (std::size_t k = 0; k < count; ++k)
        store<Real>(to + (i / panel * m.columns + j + k) * panel + i % panel, square[k]);
    }
}

}  // namespace

void multiply(const Product<float>& p) { multiply_(p); }
void multiply(const Product<double>& p) { multiply_(p); }
void pack(const Unpacked<float>& m, float* to) { pack_(m, to); }
void pack(const Unpacked<double>& m, double* to) { pack_(m, to); }
void pack_turned(const Unpacked<float>& m, float* to) { pack_turned_(m, to); }
void pack_turned(const Unpacked<double>& m, double* to) { pack_turned_(m, to); }

}  // namespace kelvin::KELVIN_ISA
