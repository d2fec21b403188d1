// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/vector_math.h"
#include "kelvin/energy/loss_loops.h"

namespace kelvin::KELVIN_ISA {
namespace {

// As below, of any number of classes; the exponentials wait in `slopes` for their sum.
template <class Real>
KELVIN_INLINE double softmax_of_any_width(std::size_t rows, std::size_t width, const Real* outputs, const Real* targets,
                                          Real* slopes) {
  constexpr std::size_t n = lanes<Real>;
  double total = 0;
  for (std::size_t s = 0; s < rows; ++s, outputs += width, slopes += width) {
    const Real top = largest(outputs, width);
    Lanes<Real> sums = {};
    for (std::size_t k = 0; k < width; k += n) {
      const std::size_t count = width - k < n ? width - k : n;
      const Lanes<Real> e = first_of(exp(load_some(outputs + k, count) - top), count);
      store_some(slopes + k, e, count);
      sums += e;
    }
    const Real all_sum = sum(sums), share = 1 / all_sum;
    for (std::size_t k = 0; k < width; k += n) {
      const std::size_t count = width - k < n ? width - k : n;
      store_some(slopes + k, load_some(slopes + k, count) * share, count);
    }
    const auto right = std::size_t(targets[s]);
    slopes[right] -= 1;
    total += __builtin_log(double(all_sum)) - double(outputs[right] - top);
  }
  return total;
}

}  // namespace

// log(1 + e^f) - y f and its slope e^f / (1 + e^f) - y, with e = e^-|f| so that nothing overflows; log(1 + e) is
// corrected for the rounding of 1 + e.
double binary_cross_entropy(std::size_t rows, const float* outputs, const float* targets, float* slopes) {
  double total = 0;
  for (std::size_t s = 0; s < rows; s += lanes<float>) {
    const std::size_t count = rows - s < lanes<float> ? rows - s : lanes<float>;
    const Floats f = load_some(outputs + s, count), y = load_some(targets + s, count);
    const Floats size = f > 0 ? f : -f, cut = size < 87.0f ? size : 87.0f - Floats{};
    const Floats e = exponential(-cut), sum_of_both = 1.0f + e;
    store_some(slopes + s, (f > 0 ? 1.0f - Floats{} : e) / sum_of_both - y, count);
    const Floats value = positive(f) - y * f + (logarithm(sum_of_both) + (e - (sum_of_both - 1.0f)) / sum_of_both);
    total += double(sum(first_of(value, count)));
  }
  return total;
}

double binary_cross_entropy(std::size_t rows, const double* outputs, const double* targets, double* slopes) {
  double total = 0;
  for (std::size_t s = 0; s < rows; s += lanes<double>) {
    const std::size_t count = rows - s < lanes<double> ? rows - s : lanes<double>;
    const Doubles f = load_some(outputs + s, count), y = load_some(targets + s, count);
    const Doubles e = exp(-magnitude(f));
    store_some(slopes + s, (f > 0 ? 1 - Doubles{} : e) / (1 + e) - y, count);
    total += sum(first_of(positive(f) - y * f + log1p(e), count));
  }
  return total;
}

// With f counted from the largest, so that nothing overflows; lanes beyond the last class hold 0 after the exponential.
double softmax_cross_entropy(std::size_t rows, std::size_t width, const float* outputs, const float* targets,
                             float* slopes) {
  if (width > most_classes) return softmax_of_any_width(rows, width, outputs, targets, slopes);
  constexpr int most = int(most_classes) / lanes<float>;
  const int vectors = int((width + lanes<float> - 1) / lanes<float>);
  double total = 0;
  for (std::size_t s = 0; s < rows; ++s) {
    const float* f = outputs + s * width;
    float top = f[0];
    for (std::size_t k = 1; k < width; ++k) top = f[k] > top ? f[k] : top;
    float shifted[most_classes], right[most_classes];
    for (std::size_t k = 0; k < std::size_t(vectors) * lanes<float>; ++k) {
      shifted[k] = k < width ? f[k] - top : -200;
      right[k] = 0;
    }
    right[std::size_t(targets[s])] = 1;
    Floats e[most], sums = {}, rights = {};
    for (int v = 0; v < vectors; ++v) {
      const Floats x = load(shifted + v * lanes<float>);
      e[v] = x > -87.0f ? exponential(x > -87.0f ? x : -87.0f - Floats{}) : Floats{};
      sums += e[v];
      rights += load(right + v * lanes<float>) * x;
    }
    const float all_sum = sum(sums), share = 1 / all_sum;
    float d[most_classes];
    for (int v = 0; v < vectors; ++v) store<float>(d + v * lanes<float>, e[v] * share - load(right + v * lanes<float>));
    std::memcpy(slopes + s * width, d, width * sizeof(float));
    total += double(__builtin_logf(all_sum)) - double(sum(rights));
  }
  return total;
}

double softmax_cross_entropy(std::size_t rows, std::size_t width, const double* outputs, const double* targets,
                             double* slopes) {
  return softmax_of_any_width(rows, width, outputs, targets, slopes);
}

}  // namespace kelvin::KELVIN_ISA
