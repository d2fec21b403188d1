// SPDX-License-Identifier: Apache-2.0
// NumPy arrays that show memory of ours, kept by an owner.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <span>
#include <vector>

#include "kelvin/core/pages.h"
#include "kelvin/data/shape.h"

namespace kelvin::python {

namespace nb = nanobind;

template <class Number>
using NumPy = nb::ndarray<nb::numpy, Number>;

// What the owner keeps, which lives as long as the array does.
template <class Number>
nb::object view(Number* numbers, std::span<const std::size_t> shape, nb::handle owner) {
  return nb::cast(NumPy<Number>(numbers, shape.size(), shape.data(), owner));
}

// An array that owns its numbers; truths are given as bytes.
template <class Number, class Kept>
nb::object own_array(LargeArray<Kept> numbers, std::span<const std::size_t> shape) {
  static_assert(sizeof(Number) == sizeof(Kept));
  auto* const kept = new LargeArray<Kept>(std::move(numbers));
  const nb::capsule owner(kept, [](void* mine) noexcept { delete static_cast<LargeArray<Kept>*>(mine); });
  return view<Number>(reinterpret_cast<Number*>(kept->data()), shape, owner);
}

// Takes float and double arrays, C-contiguous, without a copy where the type agrees.
template <class Number>
using Given = nb::ndarray<const Number, nb::c_contig, nb::device::cpu>;

}  // namespace kelvin::python
