// SPDX-License-Identifier: Apache-2.0
// `kelvin analyse`, from the command line, on runs whose answers are known.
#include <cmath>
#include <set>

#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/posterior/weights.h"
#include "kelvin/io/npy.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string source = KELVIN_SOURCE_DIR;

Json found(const Desk& desk, const std::string& arguments) {
  const Outcome ran = desk.kelvin("analyse " + arguments + " --json");
  EXPECT_EQ(ran.code, 0) << ran.error;
  return ran.code == 0 ? Json::parse(ran.out) : Json();
}

Json rows(const Json& finding, std::size_t table = 0) { return finding.at("tables").at(table).at("rows"); }

Json row_of(const Json& rows, const std::string& column, const Value& value) {
  for (const Json& row : rows)
    if (row.at(column) == value) return row;
  ADD_FAILURE() << "no row with " << column << " " << to_json(value);
  return {};
}

void expect_within(const Json& row, const std::string& value, double exact) {
  EXPECT_LT(std::abs(row.at(value).as<double>() - exact), 4 * row.at("error").as<double>()) << row << " not " << exact;
}

// Two coordinates turned by 45 degrees: covariance eigenvalues 4 and 1 along (1, 1) and (1, -1).
void sample_turned(const Desk& desk, const std::string& more = "") {
  desk.write("turned.toml",
             "steps = 60000\nwarmup = 500\nevery = 1\nwalkers = 2\n"
             "model = { toy = { name = \"gaussian\", covariance = [2.5, 1.5, 1.5, 2.5], mean = [3.0] } }\n"
             "part.all = { temperature = 1, step = 0.5, friction = 1 }\n");
  const Outcome ran = desk.kelvin("sample turned.toml -q --force -o run " + more);
  ASSERT_EQ(ran.code, 0) << ran.error;
}

// A command that is told the analysis reads an option before it knows whose it is.
TEST(Analyse, OptionsOfOneNameInAFamilyHaveOneType) {
  for (const AnalysisFamily& family : analysis_families()) {
    std::map<std::string, std::size_t> types;
    EXPECT_FALSE(analyses_in(family.name).empty()) << family.name;
    for (const Analysis* row : analyses_in(family.name))
      for (const OptionField& option : row->ask().options)
        EXPECT_EQ(types.emplace(option.name, option.place.index()).first->second, option.place.index())
            << row->name << " " << option.name;
  }
}

TEST(Analyse, EveryRowHasANameAndAMeaningAndAFamilyThatExists) {
  std::vector<std::string_view> families = {""};
  for (const AnalysisFamily& family : analysis_families()) families.push_back(family.name);
  std::set<std::string> names;
  for (const Analysis& row : analyses()) {
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_THAT(families, testing::Contains(row.family));
    EXPECT_TRUE(names.insert(finding_name(row)).second) << row.name << " is there twice";
    for (const OptionField& option : row.ask().options) EXPECT_FALSE(option.meaning.empty()) << option.name;
  }
}

TEST(Analyse, CovarianceAndAutocorrelationOfAKnownGaussian) {
  const Desk desk;
  sample_turned(desk);
  const Json covariance = found(desk, "covariance run --per-walker");
  ASSERT_EQ(covariance.at("tables").size(), 3u);
  for (std::size_t table = 0; table < 3; ++table) {
    expect_within(rows(covariance, table).at(0), "eigenvalue", 4);
    expect_within(rows(covariance, table).at(1), "eigenvalue", 1);
  }
  EXPECT_LT(rows(covariance).at(0).at("error").as<double>(), 0.1) << "too short a run to mean anything";
  // An eigenvalue is the mean of a square, which BAOAB forgets in 4.0008 draws here (frequency, friction 1, step .5).
  EXPECT_NEAR(rows(covariance).at(1).at("error").as<double>(), std::sqrt(2 * 4.0008 / 120000), 0.0012) << "15 %";
  EXPECT_NEAR(rows(covariance).at(1).at("together").as<double>(), 1, 1e-12);
  // BAOAB forgets a position of frequency w in 4 tanh(gamma h / 2) / (h w)^2 draws; w^2 is 1/4 and 1. The sum over a
  // window of 5 tau has relative error sqrt(2 (10 tau + 1) / draws).
  for (const std::size_t k : {0u, 1u}) {
    const double tau = 4 * std::tanh(0.25) / 0.25 / (k == 0 ? 0.25 : 1),
                 error = tau * std::sqrt(2 * (10 * tau + 1) / 120000);
    EXPECT_NEAR(rows(covariance).at(k).at("tau_windowed").as<double>(), tau, 4 * error + 0.01 * tau);
    EXPECT_NEAR(rows(covariance).at(k).at("tau_reduced").as<double>(), tau, 4 * error + 0.05 * tau);
  }
  const auto directions = read_npz(desk.path("run/analysis/directions.npz"));
  ASSERT_EQ(directions.size(), 3u);
  const auto& v0 = directions.at("v0").values;
  EXPECT_NEAR(v0[0], std::sqrt(0.5), 0.02);
  EXPECT_NEAR(v0[1], std::sqrt(0.5), 0.02);
  EXPECT_NEAR(directions.at("mean").values[0], 3, 0.1);

  const Json averages = found(desk, "averages run --quantities 'q[*]' --quantities potential --per-walker");
  EXPECT_EQ(rows(averages).size(), 9u);
  for (const Json& row : rows(averages)) expect_within(row, "mean", row.at("quantity") == "potential" ? 1 : 3);

  const Json times = found(desk, "autocorrelation run --quantities 'q[0]'");
  // Half and half of the two directions by shape, 4 : 1 by variance.
  const double tau = (4 * 4 + 1) / 5.0 * 4 * std::tanh(0.25) / 0.25,
               error = tau * std::sqrt(2 * (10 * tau + 1) / 120000);
  EXPECT_NEAR(rows(times).at(0).at("tau_windowed").as<double>(), tau, 4 * error + 0.02 * tau);
  const Json thinned = found(desk, "autocorrelation run --quantities 'q[0]' --every 50");
  EXPECT_NEAR(rows(thinned).at(0).at("tau_windowed").as<double>(), 1, 0.6) << "thinned beyond memory";

  // The free energy along direction k is x^2 / 2 lambda_k.
  const Json free = found(desk, "free_energy run --coordinate v0 --bins 20");
  EXPECT_THAT(free.at("words").at(0).as<std::string>(), StartsWith("No barrier"));
  double lowest = 0;
  for (const Json& row : rows(free))
    if (row.at("free_energy") == 0.0) lowest = row.at("coordinate");
  for (const Json& row : rows(free)) {
    if (row.at("error").null() || row.at("error") == 0.0) continue;
    const double x = row.at("coordinate"), width = 0.9;
    EXPECT_LT(std::abs(row.at("free_energy").as<double>() - (x * x - lowest * lowest) / 8),
              4 * row.at("error").as<double>() + width * width * (1 + x * x / 4) / 96 + 0.02 * x * x / 8)
        << row << ": what is left is the width of a bin and the error of lambda";
  }
}

TEST(Analyse, DiffusionMapOfARunHasTheRatesOfItsTarget) {
  const Desk desk;
  sample_turned(desk, "--set steps=20000 --set part.all.temperature=2");
  // Sampled at T = 2, asked for T = 1: variances 4 and 1 of the target give rates -1/4 and -1; those of the draws are
  // half. One set of 1000 points: 15 % is about 3 standard errors of such a set, and the bandwidth's bias.
  const Json target = found(desk, "diffusion_map run --target --temperature 1 --count 2"),
             plain = found(desk, "diffusion_map run --count 2");
  EXPECT_NEAR(rows(target).at(1).at("rate").as<double>(), -0.25, 0.04);
  EXPECT_NEAR(rows(plain).at(1).at("rate").as<double>(), -0.125, 0.03);
  EXPECT_NEAR(rows(target).at(0).at("eigenvalue").as<double>(), 1, 1e-9);
  const auto arrays = read_npz(desk.path("run/analysis/diffusion_map.npz"));
  EXPECT_EQ(arrays.at("coordinates").shape, (std::vector<std::size_t>{3, 1000}));
  EXPECT_THAT(plain.at("words").dump(), HasSubstr("1000 evenly spaced draws of 40000"));
}

TEST(Analyse, WeightsOfKnownNumbers) {
  const std::vector<double> w = {-2, 0, 0.001, 1, 1, 2, 0.5, -0.5};
  const WeightStatistics s = weight_statistics(w, 0.5);
  EXPECT_NEAR(s.mean, 2.001 / 8, 1e-15);
  EXPECT_NEAR(s.rms, std::sqrt((4 + 1e-6 + 1 + 1 + 4 + 0.25 + 0.25) / 8), 1e-15);
  EXPECT_EQ(s.largest, 2);
  EXPECT_EQ(s.near_zero, 4 / 8.0) << "below half of " << s.rms;
  EXPECT_EQ(density(w, -2, 2, 4), (std::vector<double>{1 / 8.0, 1 / 8.0, 3 / 8.0, 3 / 8.0}));
  EXPECT_EQ(density(w, 0, 1, 1), std::vector<double>{5 / 8.0}) << "of all numbers, not of those inside";
}

TEST(Analyse, WeightsOfAWideGaussianAreNormal) {
  const Desk desk;
  const double n = 4000;
  desk.write("wide.toml",
             "steps = 200\nwarmup = 100\nevery = 20\nmodel = { toy = { name = \"gaussian\", dimension = 4000 } }\n"
             "part.all = { temperature = 1, step = 0.5, friction = 1 }\n");
  ASSERT_EQ(desk.kelvin("sample wide.toml -q -o run").code, 0);
  const Json weights = found(desk, "weights run --threshold 0.5 --times 3 --bins 16");
  ASSERT_EQ(rows(weights).size(), 3u);
  EXPECT_EQ(rows(weights).at(0).at("step"), 120);
  EXPECT_EQ(rows(weights).at(2).at("step"), 300);
  const double share = std::erf(0.5 / std::sqrt(2.0));
  for (const Json& row : rows(weights)) {
    EXPECT_NEAR(row.at("rms").as<double>(), 1, 4 / std::sqrt(2 * n));
    EXPECT_NEAR(row.at("near_zero").as<double>(), share, 4 * std::sqrt(share * (1 - share) / n));
  }
  const Json& curve = weights.at("figures").at(0).at("curves").at(2);
  const std::vector<double> x = curve.at("x"), y = curve.at("y");
  const double width = x[1] - x[0];
  const auto below = [](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; };
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = below(x[i] + width / 2) - below(x[i] - width / 2);
    EXPECT_LT(std::abs(y[i] * width - p), 4 * std::sqrt(p / n) + 1 / n);
  }
}

TEST(Analyse, PartsAndBlocksOfANetwork) {
  const Desk desk;
  ASSERT_EQ(
      desk.kelvin("sample " + source + "/examples/gap.toml -q -o run --set steps=1000 --set warmup=100 --set every=5")
          .code,
      0);
  const Samples samples = open_samples(desk.path("run"));
  const std::size_t parameters = samples.record.parameters;
  ASSERT_EQ(parameters, 122u) << "40 + 40 + 40 + 1 and the noise";
  found(desk, "covariance run --part weights --blocks 'layer1.*' --count 3");
  const auto directions = read_npz(desk.path("run/analysis/directions.npz"));
  for (const char* name : {"v0", "v1", "v2", "mean"})
    ASSERT_EQ(directions.at(name).shape, std::vector<std::size_t>{parameters});
  // Blocks in the order of the recipe: what is not in layer1 has no share in a direction, but a mean.
  std::size_t offset = 0;
  for (const std::string& block : samples.blocks) {
    const auto mean_of = [&](std::size_t column, std::size_t width) {
      double sum = 0;
      for (std::size_t w = 0; w < samples.walkers; ++w) {
        const auto values = samples.block(block, w);
        for (std::size_t d = 0; d < samples.draws; ++d) sum += values[d * width + column];
      }
      return sum / double(samples.walkers * samples.draws);
    };
    const std::size_t width = samples.block(block, 0).size() / samples.draws;
    double square = 0;
    for (std::size_t i = 0; i < width; ++i) {
      square += std::pow(directions.at("v0").values[offset + i], 2);
      EXPECT_NEAR(directions.at("mean").values[offset + i], mean_of(i, width), 1e-6);
    }
    if (!block.starts_with("layer1")) {
      EXPECT_EQ(square, 0) << block;
    }
    offset += width;
  }
  EXPECT_EQ(offset, parameters);
  const Json some = found(desk, "averages run --blocks 'layer2.*' --quantities 'layer*[0*' --walker 1 --skip 100");
  EXPECT_EQ(rows(some).size(), 41u);
  EXPECT_EQ(row_of(rows(some), "quantity", "layer2.weight[0,39]").at("walker"), "all");
  const Json target = found(desk, "diffusion_map run --target --points 50 --count 2");
  EXPECT_NEAR(rows(target).at(0).at("eigenvalue").as<double>(), 1, 1e-9);
  EXPECT_THAT(desk.kelvin("analyse diffusion_map run --target --part noise").error,
              HasSubstr("needs all 122 parameters, not 1"));
}

TEST(Analyse, ShortChainsAreRefusedWithTheNumberMissing) {
  const Desk desk;
  sample_turned(desk, "--set steps=200 --set walkers=1");
  const Json times = found(desk, "autocorrelation run --quantities 'q[0]'");
  EXPECT_TRUE(rows(times).at(0).at("tau_windowed").null());
  EXPECT_GT(rows(times).at(0).at("draws_missing"), 0);
  EXPECT_THAT(times.at("words").at(0).as<std::string>(), StartsWith("1 of 1 autocorrelation times are refused"));
  EXPECT_THAT(times.at("words").at(1).as<std::string>(), HasSubstr("more draws a walker are missing"));
}

TEST(Analyse, MisuseIsRefusedInOneSentence) {
  const Desk desk;
  sample_turned(desk, "--set steps=300");
  ASSERT_EQ(desk.kelvin("sample turned.toml -q -o bare --set steps=300 --set store.weights=none").code, 0);
  ASSERT_EQ(desk.kelvin("sample turned.toml -q -o cold --set steps=300 --set part.all.temperature=0").code, 0);
  ASSERT_EQ(desk.kelvin("sample turned.toml -q -o empty --set steps=5 --set every=10").code, 0);
  struct Case {
    const char *arguments, *message;
    int code = 1;
  };
  for (const auto& [arguments, message, code] : std::initializer_list<Case>{
           {"covarance run", "did you mean \"covariance\"?"},
           {"covariance nowhere", "\"nowhere\" is not a run"},
           {"covariance empty", "has no draws"},
           {"covariance bare", "store.weights = \"none\""},
           {"covariance run --bandwidth 1", "takes no --bandwidth; it takes --part"},
           {"covariance run --walker 2", "the run has 2 walkers"},
           {"covariance run --part al", "did you mean \"all\"?"},
           {"covariance run --blocks 'w*'", "no block matches w*"},
           {"covariance run --skip 300", "leaves none of 300 draws"},
           {"covariance run --every 0", "--every must be at least 1"},
           {"covariance run --count 0", "--count must be at least 1"},
           {"averages run --quantities tau", "no quantity matches tau"},
           {"free_energy run", "give --coordinate"},
           {"free_energy run --coordinate v0", "run `kelvin analyse covariance run` first"},
           {"free_energy run --coordinate 'q[*]'", "stands for 2 quantities"},
           {"free_energy cold --coordinate 'q[0]'", "temperature 0 has no density"},
           {"free_energy run --coordinate 'q[0]' --bins 1", "--bins must be at least 2"},
           {"diffusion_map run --alpha 2", "--alpha must be from 0 to 1"},
           {"diffusion_map run --bandwidth -1", "--bandwidth must be above 0"},
           {"diffusion_map run --bandwidth 1e-9", "leaves some draws without neighbours"},
           {"diffusion_map run --points 2", "--points must be from 3"},
           {"diffusion_map run --points 5", "need at least 12 draws"},
           {"weights run --times 0", "--times must be at least 1"},
           {"weights run --threshold 0", "--threshold must be above 0"},
           {"diffusion_map run --bandwith 1", "did you mean \"--bandwidth\"?", 2},
           {"weights run --times many", "--times", 2},
           {"weights", "run is required", 2},
       }) {
    const Outcome ran = desk.kelvin(std::string("analyse ") + arguments);
    EXPECT_EQ(ran.code, code) << arguments;
    EXPECT_THAT(ran.error, HasSubstr(message)) << arguments;
    EXPECT_EQ(ran.out, "") << arguments;
  }
  for (const char* run : {"run", "bare", "cold", "empty"})
    EXPECT_FALSE(std::filesystem::exists(desk.path(std::string(run) + "/analysis"))) << "nothing was left behind";
}

}  // namespace
}  // namespace kelvin
