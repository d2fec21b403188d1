// SPDX-License-Identifier: Apache-2.0
// `kelvin landscape hessian`: on a Gaussian, against the steps at which schemes blow up, and on a small network.
#include "kelvin/chain/affine_map.h"
#include "tests/landscape.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

TEST(Hessian, OfAGaussianHasItsStiffnessAndLimits) {
  const Desk desk;
  sample_toy(desk, "{ name = \"gaussian\", stiffness = [1.0, 4.0, 9.0, 100.0] }");
  const Json hessian = found(desk, "hessian run --count 2");
  const Json first = hessian["tables"][0]["rows"][0], second = hessian["tables"][0]["rows"][1];
  // Products are good to 1e-8 here, the gradient being linear.
  EXPECT_NEAR(first["highest"].as<double>(), 100, 1e-5);
  EXPECT_NEAR(first["exact_highest"].as<double>(), 100, 1e-5);
  EXPECT_NEAR(second["highest"].as<double>(), 9, 1e-5);
  EXPECT_NEAR(first["lowest"].as<double>(), 1, 1e-5);
  const Json trace = row_with(hessian["tables"][1], "quantity", "trace");
  EXPECT_NEAR(trace["estimate"].as<double>(), 114, 1e-4) << "exact for a diagonal matrix";
  EXPECT_NEAR(trace["exact"].as<double>(), 114, 1e-4);
  const Json step = hessian["tables"][2]["rows"][0];
  EXPECT_NEAR(step["limit"].as<double>(), 0.2, 1e-8);
  EXPECT_NEAR(step["step / limit"].as<double>(), 0.5, 1e-7);
  EXPECT_THAT(hessian["words"][2].as<std::string>(), HasSubstr("are stable"));
}

// The map of each scheme on an oscillator, read off the code, contracts just below the limit and grows just above.
TEST(Hessian, LimitsOfTheStepAreWhereSchemesBlowUp) {
  const Desk desk;
  const double stiffness = 30, mass = 2;
  desk.write("toy.toml",
             "steps = 1\nevery = 1\nmodel = { toy = { name = \"gaussian\", stiffness = [30.0] } }\n"
             "part.all = { temperature = 1, step = 0.01, mass = 2.0 }\n");
  for (const std::string scheme : {"BAOAB", "OBABO", "ABOBA", "(BAB)3", "S"}) {
    ASSERT_EQ(desk.kelvin("sample toy.toml -q -o run --force --set 'part.all.scheme=\"" + scheme + "\"'").code, 0);
    const double limit = found(desk, "hessian run")["tables"][2]["rows"][0]["limit"];
    const auto radius = [&](double step) {
      PartSettings part = moving(scheme, step, 0);
      part.mass = number(mass);
      const auto toy = make_toy<double>(gaussian({stiffness}));
      const AffineMap map = affine_map(*toy, recipe_for(*toy, part));
      return spectral_radius(scheme == "S" ? corner(map.map, 1, 1) : map.map);
    };
    EXPECT_LT(radius(0.99 * limit), 1 + 1e-7) << scheme;
    EXPECT_GT(radius(1.01 * limit), 1.01) << scheme;
  }
  EXPECT_EQ(desk.kelvin("sample toy.toml -q -o run --force --set part.all.scheme=S --set part.all.step=0.2").code, 0);
  EXPECT_THAT(found(desk, "hessian run")["words"][2].as<std::string>(), HasSubstr("too large"));
}

TEST(Hessian, OfANetworkAgreesWithAllItsEigenvaluesAndLeavesOutFrozenEntries) {
  const Desk desk;
  train_net(desk);
  const Json hessian = found(desk, "hessian run --count 3 --probes 40 --threads 1");
  EXPECT_EQ(hessian, found(desk, "hessian run --count 3 --probes 40 --threads 2"));
  for (const Json& row : hessian["tables"][0]["rows"]) {
    const double largest = hessian["tables"][0]["rows"][0]["exact_highest"];
    EXPECT_NEAR(row["highest"].as<double>(), row["exact_highest"].as<double>(), 1e-6 * largest);
    EXPECT_NEAR(row["lowest"].as<double>(), row["exact_lowest"].as<double>(), 1e-6 * largest);
  }
  const Json trace = row_with(hessian["tables"][1], "quantity", "trace");
  EXPECT_LT(std::abs(trace["estimate"].as<double>() - trace["exact"].as<double>()), 4 * trace["error"].as<double>());
  EXPECT_LT(trace["error"].as<double>(), 0.2 * trace["exact"].as<double>());
  const Json all = Json::parse(desk.kelvin("evaluate net.toml --at run --hessian --json").out)["hessian_eigenvalues"];
  EXPECT_NEAR(hessian["tables"][0]["rows"][0]["exact_highest"].as<double>(), all.back().as<double>(), 1e-6);
  EXPECT_EQ(found(desk, "hessian run --split test")["tables"].size(), 2u) << "steps follow the training rows only";

  ASSERT_EQ(desk.kelvin("train net.toml -q -o frozen --set 'model.freeze=[\"layer1.*\", \"layer2.weight[0,0]\"]'").code,
            0);
  EXPECT_THAT(found(desk, "hessian frozen")["words"][0].as<std::string>(), HasSubstr("over 40 parameters"));
}

}  // namespace
}  // namespace kelvin
