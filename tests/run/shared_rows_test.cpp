// SPDX-License-Identifier: Apache-2.0
// Gradients taken in shares of their rows are those of all of them; ranks are in tests/mpi.
#include <gtest/gtest.h>

#include "kelvin/core/toml.h"
#include "kelvin/io/problem.h"
#include "kelvin/run/problem.h"

namespace kelvin {
namespace {

TEST(SharedRows, AddUpToTheWholeGradient) {
  const auto problem = make_problem<double>(
      read_run_settings(parse_toml("data = { generator = { name = \"spiral\", rows = 37 } }\nprecision = \"double\"\n"
                                   "model = { layers = [2, 5, 1], loss = \"binary_cross_entropy\", prior = 1.0 }\n",
                                   "test")),
      [](std::string_view) {});
  std::vector<double> q(problem.recipe.size), expected(q.size());
  normals({1, 0, 0, 0}, 0, std::span(q));
  Energy<double> plain = *problem.energy;
  const std::vector<std::uint32_t> some = {3, 1, 30, 7, 7}, two = {4, 2};
  for (const std::size_t shares : {1, 2, 8, 64})
    for (const Batch rows : {Batch(), Batch(some), Batch(two)}) {
      Energy<double> shared = *problem.energy;
      shared.estimate.share_rows(shares, shared.rows(), {});
      std::vector<double> g(q.size(), 7);
      const double U = plain(q, {.rows = rows}, expected);
      EXPECT_NEAR(shared(q, {.rows = rows}, g), U, 1e-13);
      for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], expected[i], 1e-13);
    }
}

TEST(SharedRows, HaveTheSameBytesOnAnyNumberOfThreads) {
  const auto problem =
      make_problem<float>(read_run_settings(parse_toml(
                              "data = { generator = { name = \"spiral\", rows = 37 } }\n"
                              "model = { layers = [\"dense 6\", \"batch_norm\", \"dropout .2\", \"tanh\", \"dense 1\"],"
                              " loss = \"binary_cross_entropy\" }\n",
                              "test")),
                          [](std::string_view) {});
  std::vector<float> q(problem.recipe.size);
  normals({1, 0, 0, 0}, 0, std::span(q));
  const auto slopes = [&](std::size_t shares, std::size_t threads) {
    Energy<float> shared = *problem.energy;
    shared.estimate.share_rows(shares, shared.rows(), {});
    shared.estimate.use_threads(threads);
    std::vector<float> g(q.size());
    double U = shared(q, {.rows = {}, .stream = {7, 0, 1, 0}}, g);
    Energy<float> copy = shared;  // begins without threads
    for (Energy<float>* energy : {&shared, &copy}) U += (*energy)(q, {.rows = {}, .stream = {7, 0, 2, 0}}, g);
    g.push_back(float(U));
    return g;
  };
  for (const std::size_t shares : {2, 8})
    for (const std::size_t threads : {2, 3, 4, 16}) EXPECT_EQ(slopes(shares, threads), slopes(shares, 1));
  EXPECT_NE(slopes(2, 2), slopes(8, 2));
}

}  // namespace
}  // namespace kelvin
