// SPDX-License-Identifier: Apache-2.0
// Networks of every shape, whose layers run through different loops, against the plainest ones.
#include <gmock/gmock.h>

#include <numeric>

#include "kelvin/energy/likelihood.h"
#include "tests/small_network.h"

namespace kelvin {
namespace {

// The mean over rows of (y - f)^2 for a relu network, and its gradient, by the plainest loops.
double plain_gradient(const std::vector<long>& sizes, const Dataset& data, const std::vector<double>& q,
                      std::vector<double>& g) {
  double U = 0;
  std::fill(g.begin(), g.end(), 0);
  for (std::size_t row = 0; row < data.rows; ++row) {
    const std::size_t inputs = std::size_t(sizes[0]), layers = sizes.size() - 1;
    std::vector<std::vector<double>> h = {
        {data.inputs.begin() + long(row * inputs), data.inputs.begin() + long((row + 1) * inputs)}};
    std::vector<std::size_t> at = {0};
    for (std::size_t l = 0; l < layers; ++l) {
      const std::size_t in = std::size_t(sizes[l]), out = std::size_t(sizes[l + 1]);
      auto& y = h.emplace_back(out);
      for (std::size_t o = 0; o < out; ++o) {
        y[o] = q[at[l] + out * in + o];
        for (std::size_t i = 0; i < in; ++i) y[o] += q[at[l] + o * in + i] * h[l][i];
        if (l + 1 < layers) y[o] = std::max(y[o], 0.0);
      }
      at.push_back(at[l] + out * in + out);
    }
    const std::size_t width = h.back().size();
    std::vector<double> d(width);
    for (std::size_t o = 0; o < width; ++o) {
      const double e = h.back()[o] - data.targets[row * width + o];
      U += e * e / double(width * data.rows);
      d[o] = 2 * e / double(width * data.rows);
    }
    for (std::size_t l = layers; l-- > 0;) {
      const std::size_t in = h[l].size(), out = h[l + 1].size();
      std::vector<double> below(in, 0.0);
      for (std::size_t o = 0; o < out; ++o) {
        g[at[l] + out * in + o] += d[o];
        for (std::size_t i = 0; i < in; ++i) {
          g[at[l] + o * in + i] += d[o] * h[l][i];
          below[i] += h[l][i] > 0 ? d[o] * q[at[l] + o * in + i] : 0;
        }
      }
      d = below;
    }
  }
  return U;
}

template <class Real>
void expect_plain_gradient(const std::vector<long>& sizes, std::size_t rows, double tolerance) {
  Dataset data;
  data.rows = rows;
  for (long k = 0; k < sizes.front(); ++k) data.input_names.push_back("x" + std::to_string(k));
  for (long k = 0; k < sizes.back(); ++k) data.target_names.push_back("y" + std::to_string(k));
  data.inputs = some_point(rows * std::size_t(sizes.front()), 1, "inputs");
  data.targets = some_point(rows * std::size_t(sizes.back()), 1, "targets");
  ModelSettings settings;
  settings.layers = sizes;
  const auto network = make_likelihood<Real>(settings, data, {});
  std::size_t n = 0;
  for (const Block& b : network->blocks()) n += b.size();
  const auto q = some_point(n, 0.3);
  std::vector<double> expected(n);
  const double U = plain_gradient(sizes, data, q, expected);
  std::vector<std::uint32_t> backwards(rows);  // gathered, as minibatches are
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  for (const Batch batch : {Batch{}, Batch(backwards)}) {
    std::vector<Real> g(n, Real(NAN));
    EXPECT_NEAR(evaluated(*network, std::vector<Real>(q.begin(), q.end()), batch, g), U, tolerance * U);
    std::vector<double> difference(n);
    for (std::size_t i = 0; i < n; ++i) difference[i] = double(g[i]) - expected[i];
    EXPECT_LT(norm(difference), tolerance * norm(expected))
        << sizes.size() << " sizes, first hidden " << sizes[1] << ", rows " << rows << ", gathered " << batch.size();
  }
}

// Narrow inputs, narrow outputs, one hidden layer in one go, medium layers, and their neighbours; widths around those
// of vectors. Then layers whose weights do not stay in the cache.
TEST(Mlp, EveryShapeOfLayerHasThePlainGradient) {
  const std::vector<std::vector<long>> shapes = {
      {2, 1, 1},      {2, 100, 1},    {1, 16, 1},   {4, 33, 4},     {3, 17, 2},       {5, 31, 1}, {2, 15, 7},
      {8, 40, 8},     {9, 40, 9},     {20, 12},     {20, 3},        {2, 9},           {7, 1},     {12, 50, 10},
      {2, 20, 20, 1}, {30, 3, 30, 2}, {2, 3, 3, 2}, {10, 8, 8, 10}, {2, 70, 5, 66, 9}};
  for (const auto& sizes : shapes)
    for (const std::size_t rows : {1, 2, 3, 5, 20, 1500}) {
      expect_plain_gradient<double>(sizes, rows, 1e-13);
      expect_plain_gradient<float>(sizes, rows, 1e-5);
    }
  for (const std::vector<long>& sizes : {std::vector<long>{70, 100, 40, 10}, {300, 500, 9}, {9, 500, 300, 9}}) {
    expect_plain_gradient<double>(sizes, 50, 1e-13);
    expect_plain_gradient<float>(sizes, 50, 1e-5);
  }
}

TEST(Mlp, AWeightThatIsNanShowsInU) {
  for (const char* activation : {"relu", "leaky_relu", "relu6", "tanh"})
    for (const std::vector<long>& sizes : {std::vector<long>{3, 20, 1}, {3, 12, 12, 1}, {3, 30, 30, 10}}) {
      ModelSettings settings;
      settings.layers = sizes, settings.activation = {activation};
      const auto network = make_likelihood<float>(settings, regression(7, std::size_t(sizes.back())), {});
      std::size_t n = 0;
      for (const Block& b : network->blocks()) n += b.size();
      for (const Block& b : network->blocks()) {
        auto q = some_point<float>(n, 0.3);
        std::vector<float> g(n);
        q[b.offset] = NAN;
        EXPECT_TRUE(std::isnan(evaluated(*network, q, {}, g))) << activation << " " << b.name;
      }
    }
}

TEST(Mlp, WhatIsNotWantedIsNotNeededForTheRest) {
  for (const std::vector<long>& sizes : {std::vector<long>{2, 20, 1}, {3, 12, 12, 2}, {12, 30, 30, 10}}) {
    Dataset data = regression(7, std::size_t(sizes.back()));
    data.input_names.resize(std::size_t(sizes.front()), "x");
    data.inputs = some_point(7 * std::size_t(sizes.front()), 1, "inputs");
    ModelSettings settings;
    settings.layers = sizes;
    const auto network = make_likelihood<double>(settings, data, {});
    const auto blocks = network->blocks();
    const auto q = some_point(dimension_of(*network), 0.3);
    std::vector<double> whole(q.size()), part(q.size(), NAN);
    evaluated(*network, q, {}, whole);
    for (std::size_t wanted = 0; wanted < blocks.size(); ++wanted) {
      std::vector<char> mask(blocks.size(), 0);
      mask[wanted] = 1;
      std::fill(part.begin(), part.end(), NAN);
      evaluated(*network, q, {}, part, mask);
      for (std::size_t i = blocks[wanted].offset; i < blocks[wanted].offset + blocks[wanted].size(); ++i)
        EXPECT_EQ(part[i], whole[i]);
    }
  }
}

}  // namespace
}  // namespace kelvin
