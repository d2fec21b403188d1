// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/verdict/certify.h"

#include <cmath>

#include "kelvin/io/problem.h"
#include "tests/json.h"
#include "tests/program.h"
#include "tests/support.h"

namespace kelvin {
namespace {

TEST(Certify, OrdersAreThoseOfTheWords) {
  const auto order = [](const std::string& word, double friction, const BatchSettings& batch = {}) {
    return bias_order(recipe_for(*make_toy<double>(gaussian({1})), moving(word, 0.1, friction)),
                      Batches(batch, 10, 1, 0));
  };
  EXPECT_EQ(order("BAOAB", 1), 2) << "exact on Gaussians, of second order in general";
  EXPECT_EQ(order("obabo", 1), 2);
  EXPECT_EQ(order("S", 1), 1);
  EXPECT_EQ(order("BAO", 1), 1);
  EXPECT_EQ(order("ABAOABA", 1), 2) << "no row, but reads the same backwards";
  EXPECT_EQ(order("ABAO", 1), 1);
  EXPECT_EQ(order("BARAB", 1), 4) << "second order in its time h^2 / 2";
  EXPECT_EQ(order("BAOAB", INFINITY), 4);
  for (const BatchOrder& row : batch_orders()) {
    const BatchSettings few{{"2"}, std::string(row.name), 0}, all{{"full"}, std::string(row.name), 0};
    EXPECT_EQ(order("BAOAB", 1, few), row.name == "symmetric" ? 2 : 1) << row.name << ": noise of minibatches";
    EXPECT_EQ(order("BAO", 1, few), 1) << "no order of batches makes a word better";
    EXPECT_EQ(order("BARAB", 1, all), 4) << "no noise";
  }
}

// On a Gaussian the biases of both chains are known without sampling: OBABO has <q^2> = T / (k (1 - h^2 k / 4)).
TEST(Certify, StatesTheKnownBiasOfAGaussian) {
  RunSettings settings;
  settings.model.toy = gaussian({1});
  settings.part["all"] = moving("OBABO", 0.6);
  settings.precision = "double";
  const auto problem = make_problem<double>(settings, [](std::string_view) {});
  const Certificate found = certify(problem, {.steps = 20'000, .warmup = 100, .pairs = 2, .threads = 1}, [](double) {});
  const auto square = [](double h) { return 1 / (1 - h * h / 4); };
  const Bias& b = found.biases.back();
  ASSERT_EQ(b.of, "q[0]^2");
  const double difference = square(0.6) - square(0.3);
  EXPECT_LT(std::abs(b.difference - difference), 4 * b.difference_error);
  EXPECT_NEAR(b.bias, b.difference * 4 / 3, 1e-12);
  EXPECT_GT(difference, 10 * b.difference_error) << "coupled chains resolve it";
  EXPECT_LT(difference, 4 * b.alone) << "independent ones would not";
  EXPECT_GT(b.gain(), 10);
}

struct Certified : Desk {
  Json certify(const std::string& arguments) {
    const Outcome found = kelvin("certify --json " + arguments);
    EXPECT_EQ(found.code, 0) << found.error;
    return Json::parse(found.out);
  }
};

TEST(Certify, TheVerdictWeighsTheBiasAgainstTheRun) {
  Certified desk;
  desk.write("toy.toml",
             "steps = 1000\nmodel = { toy = \"gaussian\" }\n[part.all]\nscheme = \"OBABO\"\ntemperature = 1\n");
  const std::string
      fine = desk.certify("toy.toml --steps 4000 --set part.all.step=0.05").at("words").at(0),
      coarse = desk.certify("toy.toml --steps 4000 --set part.all.step=1.5 --set steps=100000").at("words").at(0);
  EXPECT_THAT(fine, testing::HasSubstr("below the statistical error of your run"));
  EXPECT_THAT(coarse, testing::HasSubstr("reduce the step"));
}

TEST(Certify, PredictionsOfANetworkAndThreadsThatDoNotMatter) {
  Certified desk;
  desk.write("net.toml",
             "steps = 640\n[data]\ngenerator = { name = \"spiral\", rows = 30, test = 5 }\n[model]\nlayers = [2, 4, "
             "1]\nloss = \"binary_cross_entropy\"\nprior = \"gaussian\"\n[batch]\nsize = 10\n[part.all]\nstep = 0.1\n");
  const Json one = desk.certify("net.toml --threads 1"), three = desk.certify("net.toml --threads 3");
  EXPECT_EQ(one, three);
  const Json& rows = one.at("tables").at(0).at("rows");
  EXPECT_EQ(rows.at(2).at("average"), "probability of the true class");
  EXPECT_EQ(rows.at(3).at("average"), "predictions, root mean square of 10") << "two probabilities for each of 5 rows";
  EXPECT_LE(rows.at(3).at("sd"), 0.5) << "they are probabilities";
  EXPECT_THAT(one.at("words").back().as<std::string>(), testing::HasSubstr("minibatches"));
}

TEST(Certify, RefusesInOneSentence) {
  Certified desk;
  desk.write("toy.toml", "model = { toy = \"quartic\" }\n[part.all]\ntemperature = 1\n");
  const auto refusal = [&](const std::string& arguments) {
    const Outcome o = desk.kelvin("certify -q -o none.json " + arguments);
    EXPECT_EQ(o.code, 1) << arguments;
    EXPECT_EQ(std::count(o.error.begin(), o.error.end(), '\n'), 1) << o.error;
    return o.error;
  };
  EXPECT_THAT(refusal("toy.toml --set part.all.temperature=0"), testing::HasSubstr("temperature 0"));
  EXPECT_THAT(refusal("toy.toml --set part.all.scheme=hmc"), testing::HasSubstr("Metropolis"));
  EXPECT_THAT(refusal("toy.toml --steps 10"), testing::HasSubstr("at least 1 pair and 640 steps"));
  EXPECT_THAT(refusal("toy.toml --set part.all.step=5"), testing::HasSubstr("smaller step"));
  EXPECT_THAT(refusal("nowhere.toml"), testing::HasSubstr("nowhere.toml"));
  EXPECT_FALSE(std::filesystem::exists(desk.path("none.json")));
}

}  // namespace
}  // namespace kelvin
