// SPDX-License-Identifier: Apache-2.0
// Products of matrices small enough for the cache, read where they lie instead of being copied first as BLAS does: one
// version for each instruction set.
#pragma once
#include <cstddef>
#include <span>

#include "kelvin/core/isa.h"

namespace kelvin {

// Columns of a packed matrix that lie together: element (i, j) is at (j / panel * rows + i) * panel + j % panel. There
// a product finds its next numbers next to the last, whichever index it runs along.
inline constexpr std::size_t panel = 32;
inline constexpr std::size_t packed_size(std::size_t rows, std::size_t columns) {
  return rows * ((columns + panel - 1) / panel * panel);
}

// c = share a b + keep c + bias, or its positive part if `relu`. Of a, `depth` columns are used in panels.
template <class Real>
struct Product {
  std::size_t rows, columns, depth;
  const Real* a;
  std::size_t a_row, a_depth, a_panel;  // a(i, d) is at i a_row + d % panel a_depth + d / panel a_panel
  const Real* b;                        // packed, depth x columns
  Real* c;
  std::size_t c_row;
  Real share = 1, keep = 0;
  const Real* bias = nullptr;  // one for each column, or none
  bool relu = false;
  std::size_t b_rows = 0;                  // with which b was packed, where that is more than the depth
  std::span<const Real* const> soon = {};  // rows of `depth` numbers to be asked of memory meanwhile
};

// A matrix to be packed, its rows `stride` numbers apart.
template <class Real>
struct Unpacked {
  std::size_t rows, columns, stride;
  const Real* from;
};

#define KELVIN_PRODUCTS(Real)                 \
  void multiply(const Product<Real>&);        \
  void pack(const Unpacked<Real>&, Real* to); \
  void pack_turned(const Unpacked<Real>&, Real* to) /* packs its transpose */

KELVIN_FOR_EACH_ISA(KELVIN_PRODUCTS(float))
KELVIN_FOR_EACH_ISA(KELVIN_PRODUCTS(double))
KELVIN_PRODUCTS(float);
KELVIN_PRODUCTS(double);

}  // namespace kelvin
