// SPDX-License-Identifier: Apache-2.0
// `kelvin summary`: streamed moments against the same numbers taken at once, and what the command says.
#include "kelvin/analysis/posterior/summary.h"

#include <cmath>
#include <random>

#include "kelvin/analysis/posterior/columns.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

// Fed in uneven pieces, as chunks are; numbers around 1000, so that a mean square alone would lose digits.
TEST(Summary, PooledMomentsAreThoseOfAllNumbersAtOnce) {
  constexpr std::size_t walkers = 3, draws = 500, width = 7;
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal(1000, 2);
  Chains numbers(walkers);
  for (auto& x : numbers)
    while (x.size() < draws * width) x.push_back(normal(random));
  PooledMoments moments(walkers, draws, width);
  for (std::size_t w = 0; w < walkers; ++w)
    for (std::size_t first = 0, count = 1; first < draws; first += count, count = std::min(count + 17, draws - first))
      moments.add(w, first, std::span(numbers[w]).subspan(first * width, count * width));
  const auto r = moments.result();
  EXPECT_FALSE(moments.thinned());
  EXPECT_NEAR(r.mean, mean(numbers), 1e-10);
  EXPECT_NEAR(r.deviation, deviation(numbers), 1e-9);
  EXPECT_EQ(r.low, quantile(numbers, 0.05));
  EXPECT_EQ(r.median, quantile(numbers, 0.5));
  EXPECT_EQ(r.high, quantile(numbers, 0.95));
  Chains squares = numbers;
  for (auto& x : squares)
    for (double& v : x) v *= v;
  EXPECT_NEAR(r.square, mean(squares), 1e-7);
  // 15 batches of 33 draws a walker
  double spread = 0, square_spread = 0;
  for (std::size_t w = 0; w < walkers; ++w)
    for (std::size_t b = 0; b < 15; ++b) {
      const auto part = [&](const Chains& x) {
        return mean(
            {std::vector<double>(x[w].begin() + long(b * 33 * width), x[w].begin() + long((b + 1) * 33 * width))});
      };
      spread += std::pow(part(numbers) - r.mean, 2), square_spread += std::pow(part(squares) - r.square, 2);
    }
  EXPECT_NEAR(r.mean_error, std::sqrt(spread / 44 / 45), 1e-10);
  EXPECT_NEAR(r.square_error, std::sqrt(square_spread / 44 / 45), 1e-6);
  // and its size: independent numbers have sd / sqrt(n), known to 1 / sqrt(2 * 44) of it
  EXPECT_NEAR(r.mean_error, 2 / std::sqrt(walkers * draws * width), 0.5 * 2 / std::sqrt(walkers * draws * width));
}

// 4 million numbers, of which every fourth would do; column k holds k mod 4, so that every fourth would all be 0.
TEST(Summary, QuantilesOfEvenlySpacedNumbersSeeEveryColumn) {
  constexpr std::size_t draws = 4000, width = 1000;
  PooledMoments moments(1, draws, width);
  std::vector<double> draw(width);
  for (std::size_t k = 0; k < width; ++k) draw[k] = double(k % 4);
  for (std::size_t i = 0; i < draws; ++i) moments.add(0, i, draw);
  const auto r = moments.result();
  EXPECT_TRUE(moments.thinned());
  EXPECT_EQ(r.low, 0);
  EXPECT_NEAR(r.median, 1.5, 0.5);
  EXPECT_EQ(r.high, 3);
  EXPECT_EQ(r.mean, 1.5);
}

TEST(Summary, ANumberThatIsNoneMakesItsRowEmptyAndFewDrawsHaveNoErrors) {
  PooledMoments broken(1, 200, 1), few(1, 50, 1);
  std::vector<double> x(200, 1.5);
  x[7] = NAN;
  broken.add(0, 0, x);
  EXPECT_TRUE(std::isnan(broken.result().mean) && std::isnan(broken.result().high));
  few.add(0, 0, std::vector<double>(50, 2.0));
  EXPECT_EQ(few.result().mean, 2);
  EXPECT_TRUE(std::isnan(few.result().mean_error));
}

const std::string network =
    "walkers = 2\nsteps = 400\nevery = 2\nwarmup = 100\nmodel = { layers = [2, 10, 1], loss = "
    "\"binary_cross_entropy\", prior = 1.0 }\ndata = { generator = { name = \"spiral\", rows = 50 } }\n";

Json row_of(const Json& rows, const std::string& quantity) {
  for (const Json& row : rows)
    if (row.at("quantity") == quantity) return row;
  ADD_FAILURE() << "no row " << quantity;
  return {};
}

TEST(Summary, RowsAreTheDiagnosticsOfWhatIsStored) {
  const Desk desk;
  desk.write("run.toml", network + "store = { predictions = true, log_likelihood = true }\n");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o run").code, 0);
  const Json rows = Json::parse(desk.kelvin("summary run --json").out);
  const Samples samples = open_samples(desk.path("run"));
  const Convergence c = convergence({samples.statistic("potential", 0), samples.statistic("potential", 1)});
  const Json potential = row_of(rows, "potential");
  EXPECT_EQ(potential.at("mean"), c.mean);
  EXPECT_EQ(potential.at("error"), c.mcse_mean);
  EXPECT_EQ(potential.at("ess_bulk"), c.ess_bulk);
  EXPECT_EQ(potential.at("ess_tail"), c.ess_tail);
  EXPECT_EQ(potential.at("rhat"), c.rhat);
  EXPECT_EQ(potential.at("95%"), c.high);
  // log_likelihood is -N (U - prior / N), here only checked against the stored numbers
  double sum = 0;
  for (std::size_t w = 0; w < 2; ++w)
    for (const double x : samples.array("log_likelihood/y", w, 0, samples.draws)) sum += x;
  EXPECT_NEAR(row_of(rows, "log_likelihood of all rows").at("mean").as<double>(), sum / 400, 1e-9 * std::abs(sum));
  double prediction = 0;
  for (std::size_t w = 0; w < 2; ++w) {
    const auto y = samples.array("posterior_predictive/y", w, 0, samples.draws);
    for (std::size_t i = 5; i < y.size(); i += 50) prediction += y[i] / 400;
  }
  EXPECT_NEAR(row_of(rows, "prediction[5,0]").at("mean").as<double>(), prediction, 1e-12);
  const Json block = row_of(rows, "layer1.weight (20 numbers)");
  EXPECT_NEAR(block.at("mean").as<double>(),
              mean({samples.block("layer1.weight", 0), samples.block("layer1.weight", 1)}), 1e-12);
  EXPECT_FALSE(block.contains("rhat")) << "weights can be permuted: not judged";
  const Json each = Json::parse(desk.kelvin("summary run --json --parameters").out);
  const Convergence weight = convergence(columns(samples, "posterior/layer1.weight")[13]);
  EXPECT_EQ(row_of(each, "layer1.weight[6,1]").at("rhat"), weight.rhat);
  EXPECT_EQ(row_of(each, "layer1.weight[6,1]").at("sd"), weight.deviation);
  EXPECT_EQ(each.size(), rows.size() - 4 + 41);
  EXPECT_EQ(kept_findings(desk.path("run"))[0].name, "summary");
}

TEST(Summary, RunsWithoutWeightsOrWithFewDrawsAreSummarisedAsFarAsTheyGo) {
  const Desk desk;
  desk.write("run.toml", network);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o none --set store.weights=none").code, 0);
  EXPECT_THAT(desk.kelvin("summary none").out, HasSubstr("No weights were stored"));
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o still --set part.all.scheme=S").code, 0);
  EXPECT_THAT(desk.kelvin("summary still").out, testing::Not(HasSubstr("kinetic"))) << "S has no momenta";
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o few --set steps=20").code, 0);
  EXPECT_THAT(desk.kelvin("summary few").out, HasSubstr("need at least 100 draws"));
  EXPECT_TRUE(row_of(Json::parse(desk.kelvin("summary few --json").out), "potential").at("rhat").null());
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o empty --set steps=1").code, 0);
  for (const char* command : {"summary empty", "diagnose empty", "summary nothing", "diagnose nothing"}) {
    const Outcome got = desk.kelvin(command);
    EXPECT_EQ(got.code, 1) << command;
    EXPECT_THAT(got.error, testing::AnyOf(HasSubstr("has no draws"), HasSubstr("is not a run"))) << command;
  }
  EXPECT_FALSE(std::filesystem::exists(desk.path("empty/analysis")));
}

// 40 MB of draws, or 80 as doubles: held all at once they would show.
TEST(Summary, MemoryDoesNotGrowWithTheDraws) {
  const Desk desk;
  desk.write("run.toml",
             "every = 1\nprecision = \"float\"\nmodel = { toy = { name = \"gaussian\", dimension = 1000 } }\n"
             "part.all = { temperature = 1 }\n");
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o short --set steps=1000").code, 0);
  ASSERT_EQ(desk.kelvin("sample run.toml -q -o long --set steps=10000").code, 0);
  const auto memory = [&](const std::string& run) {
    // under sanitizers freed memory is kept otherwise
    Process process(desk, "summary " + run, "ASAN_OPTIONS=quarantine_size_mb=1");
    EXPECT_EQ(process.wait(), 0);
    return process.most_memory();
  };
  EXPECT_LT(memory("long"), memory("short") + 30000);
}

}  // namespace
}  // namespace kelvin
