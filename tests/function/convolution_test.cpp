// SPDX-License-Identifier: Apache-2.0
// Convolutions by the best loops there are, against the plain ones that define them.
#include "kelvin/function/convolution.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kelvin {
namespace {

struct ConvolutionCase {
  ConvolutionPlan plan;
  std::size_t rows;
  std::string name() const {
    return fmt::format("{} rows of {} to {}, {}x{} stride {} padding {} dilation {}, {} groups", rows,
                       plan.x.shape().text(), plan.y.shape().text(), plan.windows[0].size, plan.windows[1].size,
                       plan.windows[0].stride, plan.windows[0].before, plan.windows[0].dilation, plan.groups);
  }
};

std::vector<ConvolutionCase> convolution_cases() {
  std::vector<ConvolutionCase> all;
  for (const auto [in, out, groups] : {std::array<std::size_t, 3>{1, 1, 1},
                                       {1, 6, 1},
                                       {3, 5, 1},
                                       {3, 16, 1},
                                       {16, 16, 1},
                                       {17, 33, 1},
                                       {64, 32, 1},
                                       {6, 15, 3},
                                       {16, 16, 16},
                                       {32, 64, 2}})
    for (const auto [size, stride, padding, dilation] : {std::array<std::size_t, 4>{1, 1, 0, 1},
                                                         {3, 1, 1, 1},
                                                         {3, 2, 1, 1},
                                                         {5, 1, 0, 1},
                                                         {3, 1, 2, 2},
                                                         {1, 2, 0, 1},
                                                         {4, 2, 1, 1},
                                                         {7, 2, 3, 1}})
      for (const auto [height, width, rows] : {std::array<std::size_t, 3>{9, 11, 1}, {12, 12, 5}}) {
        const Window window{.size = size, .stride = stride, .dilation = dilation, .before = padding, .after = padding};
        ConvolutionPlan plan{.x = {in, height, width}, .y = {}, .windows = {window, window}, .groups = groups};
        plan.y = {out, window.fitting(height), window.fitting(width)};
        all.push_back({plan, rows});
      }
  return all;
}

template <class Real>
std::vector<Real> numbers_for(std::size_t count, std::string_view name) {
  std::vector<float> z(count);
  normals({stream_key(1, name)}, 0, z);
  return {z.begin(), z.end()};
}

// y, dx and dW of a case, one after another.
template <class Real>
std::vector<Real> results_of(const ConvolutionCase& it, typename Convolution<Real>::Loops loops) {
  const auto& [plan, rows] = it;
  const auto w = numbers_for<Real>(plan.weight().size(), "w"), b = numbers_for<Real>(plan.y.channels, "b");
  const auto x = numbers_for<Real>(rows * plan.x.size(), "x"), dy = numbers_for<Real>(rows * plan.y.size(), "dy");
  std::vector<Real> out(dy.size() + x.size() + w.size(), Real(NAN));
  Real *y = out.data(), *dx = y + dy.size(), *dw = dx + x.size();
  const std::size_t none = 0;
  Convolution<Real> convolution(plan, loops);
  convolution.forward(w.data(), b.data(), rows, x.data(), y);
  convolution.back(w.data(), nullptr, rows, dy.data(), dx);
  convolution.slopes(rows, x.data(), dy.data(), {.g = {dw, &none}, .wanted = {}}, 0);
  return out;
}

template <class Real>
void expect_plain(const ConvolutionCase& it, typename Convolution<Real>::Loops loops, double tolerance) {
  const auto plain = results_of<double>(it, Convolution<double>::Loops::plain);
  const auto ours = results_of<Real>(it, loops);
  const std::size_t ends[] = {it.rows * it.plan.y.size(), it.rows * (it.plan.y.size() + it.plan.x.size()),
                              plain.size()};
  for (std::size_t part = 0, first = 0; part < 3; first = ends[part++]) {
    double error = 0, norm = 0;
    for (std::size_t i = first; i < ends[part]; ++i) {
      error += std::pow(double(ours[i]) - plain[i], 2);
      norm += plain[i] * plain[i];
    }
    EXPECT_LE(std::sqrt(error), tolerance * std::sqrt(norm)) << it.name() << ", part " << part;
  }
}

// Sums of up to a thousand products, so some tens of roundings.
TEST(Convolution, TheBestLoopsAreThePlainOnes) {
  for (const ConvolutionCase& it : convolution_cases()) {
    expect_plain<float>(it, Convolution<float>::Loops::best, 1e-5);
    expect_plain<float>(it, Convolution<float>::Loops::plain, 1e-5);
    expect_plain<double>(it, Convolution<double>::Loops::best, 1e-13);
  }
}

// Whatever number of threads OpenMP is told to use elsewhere; and that is left as it was.
TEST(Convolution, BytesDoNotDependOnThreadsOfOpenMp) {
  const ConvolutionCase it = convolution_cases()[4 * 16 + 3];
  const auto expected = results_of<float>(it, Convolution<float>::Loops::best);
  void* openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!openmp) GTEST_SKIP() << "nothing here uses OpenMP";
  const auto threads = reinterpret_cast<int (*)()>(dlsym(openmp, "omp_get_max_threads"));
  const auto use = reinterpret_cast<void (*)(int)>(dlsym(openmp, "omp_set_num_threads"));
  const int before = threads();
  for (const int count : {1, 2, 3}) {
    use(count);
    EXPECT_EQ(results_of<float>(it, Convolution<float>::Loops::best), expected);
    EXPECT_EQ(threads(), count);
  }
  use(before);
}

}  // namespace
}  // namespace kelvin
