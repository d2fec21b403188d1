// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/function.h"

#include <algorithm>

#include "kelvin/function/layer.h"

namespace kelvin {

template <class Real>
Inputs<Real>::Inputs(std::span<const double> values, std::size_t rows)
    : rows_(rows), width_(rows ? values.size() / rows : 0) {
  values_.resize(values.size() + widest_vector);
  std::copy(values.begin(), values.end(), values_.begin());
}

template <class Real>
void predict(Function<Real>& function, Weights<const Real> w, const Inputs<Real>& inputs, Batch rows,
             std::span<Real> out) {
  const std::size_t all = rows.empty() ? inputs.rows() : rows.size(), width = function.outputs();
  for (std::size_t first = 0; first < all; first += function.rows_at_once(all)) {
    const std::size_t count = std::min(function.rows_at_once(all), all - first);
    const auto y =
        function.forward(w, rows.empty() ? inputs.some(first, count) : inputs.some(rows.subspan(first, count)), {});
    std::copy_n(y.begin(), count * width, out.begin() + std::ptrdiff_t(first * width));
  }
}

template class Inputs<float>;
template class Inputs<double>;
template void predict(Function<float>&, Weights<const float>, const Inputs<float>&, Batch, std::span<float>);
template void predict(Function<double>&, Weights<const double>, const Inputs<double>&, Batch, std::span<double>);

}  // namespace kelvin
