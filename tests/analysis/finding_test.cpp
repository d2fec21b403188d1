// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/finding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kelvin/io/json.h"
#include "tests/files.h"

namespace kelvin {

TEST(Finding, comes_back_from_a_run_as_it_was_kept) {
  const Directory directory;
  const std::filesystem::path run = directory.path("run");
  Finding finding{"line", "Loss along a line", {"no barrier"}, {}, {}};
  Table table;
  table.row({{"zeta", 1}, {"alpha", "text"}});
  table.row({{"zeta", 2.5}});
  finding.tables.push_back({"Ends", table});
  Figure figure{"loss", "Loss", "alpha", "loss", {}, {}, "look", true, false, true};
  figure.curves.push_back({"train", {0, 1}, {NAN, 2}, {0, 1}, {2, 3}, "points"});
  figure.map = Map{{0, 1}, {5}, {1, INFINITY}, "classes", {"a", "b"}, "class"};
  finding.figures.push_back(figure);
  keep(run, finding);
  const auto kept = kept_findings(run);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(to_json(as_value(kept[0])), to_json(as_value(finding)));
  EXPECT_EQ(kept[0].tables[0].table.rows[0][0].first, "zeta") << "the order of the columns is kept";
  EXPECT_TRUE(std::isnan(kept[0].figures[0].curves[0].y[0]));
  EXPECT_TRUE(std::isnan(kept[0].figures[0].map->z[1]));
}

}  // namespace kelvin
