// SPDX-License-Identifier: Apache-2.0
// Gradients taken in shares of their rows are those of all of them; ranks are in tests/mpi.
#include "kelvin/ensemble/shared_rows.h"

#include <gtest/gtest.h>

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
  auto plain = problem.potential->clone();
  plain->arrange(problem.recipe.blocks);
  Comm alone;
  const std::vector<std::uint32_t> some = {3, 1, 30, 7, 7}, two = {4, 2};
  for (const std::size_t shares : {1, 2, 8, 64})
    for (const Batch rows : {Batch(), Batch(some), Batch(two)}) {
      auto shared = with_shared_rows(problem.potential->clone(), shares, alone)->clone();
      shared->arrange(problem.recipe.blocks);
      std::vector<double> g(q.size(), 7);
      const double U = (*plain)(q, rows, expected);
      EXPECT_NEAR((*shared)(q, rows, g), U, 1e-13);
      for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], expected[i], 1e-13);
    }
}

}  // namespace
}  // namespace kelvin
