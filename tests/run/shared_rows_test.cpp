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

}  // namespace
}  // namespace kelvin
