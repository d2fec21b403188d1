// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/predictive.h"

#include <cmath>

#include "kelvin/analysis/predictive/mixture.h"
#include "kelvin/numeric/eigen.h"
#include "kelvin/run/run.h"
#include "tests/finite_difference.h"
#include "tests/layer_runs.h"
#include "tests/made_run.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

const Metric& named(std::string_view name, const std::vector<Metric>& metrics) {
  for (const Metric& m : metrics)
    if (m.name == name) return m;
  throw Error("no metric {}", name);
}

// ---- linear regression with a known answer: y = w.x + b + noise, gaussian prior

const std::string linear = R"(
warmup = 500
steps = 60000
every = 3
precision = "double"
data = { generator = { name = "linear", rows = 25, test = 10, noise = 0.5, dimension = 2 } }
model = { layers = [2, 1], loss = "gaussian", scale = 0.5, prior = { name = "gaussian", scale = 1.5 } }
batch = { size = "full" }
part.all = { scheme = "BAOAB", step = 0.5, friction = 1.0, temperature = "posterior" }
)";
constexpr double noise = 0.5, prior = 1.5;

Eigen::MatrixXd features(const Dataset& data) {
  Eigen::MatrixXd X(data.rows, 3);
  for (std::size_t i = 0; i < data.rows; ++i)
    X.row(long(i)) << data.inputs[2 * i], data.inputs[2 * i + 1], 1;  // the bias comes last, as in the blocks
  return X;
}

struct ExactPosterior {
  Eigen::MatrixXd covariance;
  Eigen::VectorXd mean;
  explicit ExactPosterior(const Dataset& train) {
    const Eigen::MatrixXd X = features(train);
    const Eigen::Map<const Eigen::VectorXd> y(train.targets.data(), long(train.rows));
    covariance = (X.transpose() * X / (noise * noise) + Eigen::MatrixXd::Identity(3, 3) / (prior * prior)).inverse();
    mean = covariance * X.transpose() * y / (noise * noise);
  }
};

// Six draws with exactly the mean and covariance of the posterior: mean +- sqrt(3) times the columns of its root.
TEST(Predictive, MeanAndVarianceOfLinearRegressionAreExactForDrawsWithExactMoments) {
  const ExactPosterior exact(problem_of<double>(linear).data.train);
  const Eigen::MatrixXd root = exact.covariance.llt().matrixL();
  std::vector<std::vector<double>> draws;
  for (int k = 0; k < 3; ++k)
    for (const double sign : {-1.0, 1.0}) {
      const Eigen::VectorXd q = exact.mean + sign * std::sqrt(3.0) * root.col(k);
      draws.emplace_back(q.begin(), q.end());
    }
  const MadeRun<double> run(linear, draws);
  const Dataset& test = run.stored.problem.data.test;
  const Predictive got = predict(run.stored, test, {});
  const Eigen::MatrixXd X = features(test);
  double squares = 0;
  for (std::size_t i = 0; i < test.rows; ++i) {
    const Eigen::VectorXd x = X.row(long(i));
    EXPECT_NEAR(got.mean[i], x.dot(exact.mean), 1e-12);
    EXPECT_NEAR(got.epistemic[i], x.dot(exact.covariance * x), 1e-12);
    EXPECT_NEAR(got.aleatoric[i], noise * noise, 1e-15);
    EXPECT_NEAR(got.total[i], noise * noise + x.dot(exact.covariance * x), 1e-12);
    squares += std::pow(test.targets[i] - x.dot(exact.mean), 2);
  }
  EXPECT_NEAR(named("rmse", got.metrics).value, std::sqrt(squares / double(test.rows)), 1e-12);
}

// The exact predictive law is N(x.m, noise^2 + x.C x): within four standard errors of what BAOAB sampled, and the
// negative control, a posterior with a tenth more variance, is not.
TEST(Predictive, LinearRegressionSampledByBaoabHasTheExactPredictiveLaw) {
  const Problem<double> problem = problem_of<double>(linear);
  const Noise<double> normal;
  std::vector<Chain<double>> walkers;
  walkers.push_back(problem.chain(0, normal));
  walkers.front().start(problem.starting_point(0, {}));
  Plan plan;
  plan.warmup = 500, plan.steps = 60000, plan.every = 3, plan.round = plan.total();
  std::vector<std::vector<double>> draws;
  run<double>(
      walkers, plan, [&](const Draw<double>& d) { draws.emplace_back(d.q.begin(), d.q.end()); }, [](std::uint64_t) {});
  const MadeRun<double> run(linear, draws);
  const Dataset& test = problem.data.test;
  const Predictive got = predict(run.stored, test, {});
  ASSERT_EQ(got.draws, 20000u);

  const ExactPosterior exact(problem.data.train);
  const Eigen::MatrixXd X = features(test);
  double surprise = 0, worst_control = 0;
  std::vector<double> mean_density(draws.size(), 0.0);
  for (std::size_t i = 0; i < test.rows; ++i) {
    const Eigen::VectorXd x = X.row(long(i));
    const double centre = x.dot(exact.mean), variance = x.dot(exact.covariance * x), total = variance + noise * noise;
    const double y = test.targets[i], own = -normal_law.log_density(y, {centre, std::sqrt(total)});
    surprise += own / double(test.rows);
    std::vector<double> f, squares;
    for (std::size_t d = 0; d < draws.size(); ++d) {
      f.push_back(x[0] * draws[d][0] + x[1] * draws[d][1] + draws[d][2]);
      squares.push_back((f.back() - centre) * (f.back() - centre));
      // d log(mean density) = mean of density / its mean, row by row
      mean_density[d] += std::exp(normal_law.log_density(y, {f.back(), noise}) + own) / double(test.rows);
    }
    EXPECT_LT(std::abs(got.mean[i] - centre), 4 * estimate(f).error) << i;
    const double error = estimate(squares).error;
    EXPECT_LT(std::abs(got.epistemic[i] - variance), 4 * error + std::pow(got.mean[i] - centre, 2)) << i;
    worst_control = std::max(worst_control, std::abs(got.epistemic[i] - 1.1 * variance) / error);
  }
  EXPECT_GT(worst_control, 4) << "a wrong variance must be seen";
  EXPECT_LT(std::abs(named("nll", got.metrics).value - surprise), 4 * estimate(mean_density).error);
  EXPECT_GT(named("nll", got.last_metrics).value, named("nll", got.metrics).value) << "one draw knows less than all";
}

// ---- classes, by hand

const std::string logistic = R"(
precision = "double"
walkers = 2
data = { generator = { name = "clusters", rows = 10, test = 700 } }
model = { layers = [2, 1], loss = "binary_cross_entropy", prior = 1.0 }
part.all = { temperature = "posterior" }
)";

double sigmoid(double f) { return 1 / (1 + std::exp(-f)); }
double entropy(double p) { return -p * std::log(p) - (1 - p) * std::log1p(-p); }

TEST(Predictive, ClassProbabilitiesAreAveragedNotOutputs) {
  const std::vector<std::vector<double>> draws = {{0.1, -0.2, 0.3}, {1, 0.5, -3}, {0, 0, 2}, {-0.4, 0.6, 0}};
  const MadeRun<double> run(logistic, draws);
  const Dataset& test = run.stored.problem.data.test;
  const Predictive got = predict(run.stored, test, {});
  EXPECT_EQ(got.draws, 4u);
  double surprise = 0, last = 0;
  for (std::size_t i = 0; i < test.rows; ++i) {
    double mean = 0, each = 0, p = 0;
    for (const auto& q : draws) {
      p = sigmoid(q[0] * test.inputs[2 * i] + q[1] * test.inputs[2 * i + 1] + q[2]);
      mean += p / 4, each += entropy(p) / 4;
    }
    EXPECT_NEAR(got.mean[2 * i + 1], mean, 1e-12);
    EXPECT_NEAR(got.mean[2 * i], 1 - mean, 1e-12);
    EXPECT_NEAR(got.total[i], entropy(mean), 1e-10);
    EXPECT_NEAR(got.aleatoric[i], each, 1e-10);
    EXPECT_NEAR(got.total[i], got.aleatoric[i] + got.epistemic[i], 1e-15);
    surprise -= std::log(test.targets[i] == 1 ? mean : 1 - mean) / double(test.rows);
    last -= std::log(test.targets[i] == 1 ? p : 1 - p) / double(test.rows);
  }
  EXPECT_NEAR(named("nll", got.metrics).value, surprise, 1e-10);
  EXPECT_NEAR(named("nll", got.last_metrics).value, last, 1e-10) << "of the last draw of the last walker";
}

template <class Real>
void equal_draws_agree(const std::string& toml) {
  const std::size_t size = problem_of<Real>(toml).recipe.size;
  std::vector<Real> q(size);
  normals({stream_key(3, "q"), 0, 0, 0}, 0, std::span(q));
  const MadeRun<Real> run(toml, std::vector<std::vector<Real>>(7, q));
  const Predictive got = predict(run.stored, run.train(), {});
  for (std::size_t i = 0; i < got.epistemic.size(); ++i) {
    EXPECT_EQ(got.epistemic[i], 0) << i;
    EXPECT_EQ(got.total[i], got.aleatoric[i]) << i;
  }
  for (std::size_t m = 0; m < got.metrics.size(); ++m)
    EXPECT_NEAR(got.metrics[m].value, got.last_metrics[m].value, 1e-12) << got.metrics[m].name;
}

TEST(Predictive, EqualDrawsHaveExactlyNoEpistemicUncertainty) {
  const std::string three = R"(
data = { file = "FILE" }
model = { layers = [1, 5, 3], loss = "softmax_cross_entropy" }
part.all = { temperature = 1.0 }
)";
  const Directory directory;
  const std::string file = directory.write("three.csv", "x,kind\n1,a\n2,b\n3,c\n-1,a\n");
  const std::string toml = std::string(three).replace(three.find("FILE"), 4, file);
  equal_draws_agree<float>(toml), equal_draws_agree<double>(toml);
  const std::string numbers =
      "data = { generator = { name = \"gap\", rows = 20 }, standardise = \"both\" }\n"
      "model = { layers = [1, 4, 1], loss = \"gaussian\" }\npart.all = { temperature = 1.0 }\n";
  equal_draws_agree<float>(numbers), equal_draws_agree<double>(numbers);
}

// ---- how rows are taken

template <class Real>
std::vector<std::vector<Real>> some_draws(const std::string& toml, std::size_t count) {
  std::vector<std::vector<Real>> draws(count, std::vector<Real>(problem_of<Real>(toml).recipe.size));
  for (std::size_t d = 0; d < count; ++d) normals({stream_key(5, "draws"), 0, d, 0}, 0, std::span(draws[d]));
  return draws;
}

TEST(Predictive, DoesNotDependOnThreadsNorOnHowManyRowsAreTakenAtOnce) {
  const std::string numbers = R"(
data = { generator = { name = "linear", rows = 20, test = 700 }, standardise = "both" }
model = { layers = [2, 7, 1], loss = "gaussian" }
part.all = { temperature = 1.0 }
)";
  for (const std::string& toml : {numbers, logistic}) {
    const MadeRun<float> run(toml, some_draws<float>(toml, 30));
    const Dataset& test = run.stored.problem.data.test;
    PredictOptions options;
    options.levels = {0.1, 0.5};
    const Predictive one = predict(run.stored, test, options);
    options.threads = 3, options.most_numbers = 30 * 512;  // two groups of rows, the second one smaller
    const Predictive other = predict(run.stored, test, options);
    EXPECT_EQ(one.mean, other.mean);
    EXPECT_EQ(one.total, other.total);
    EXPECT_EQ(one.aleatoric, other.aleatoric);
    EXPECT_EQ(one.quantiles, other.quantiles);
    ASSERT_EQ(one.metrics.size(), other.metrics.size());
    for (std::size_t m = 0; m < one.metrics.size(); ++m) EXPECT_EQ(one.metrics[m].value, other.metrics[m].value);
  }
}

TEST(Predictive, TakesEveryOtherDrawOfEachWalker) {
  auto draws = some_draws<double>(logistic, 10);
  const MadeRun<double> all(logistic, draws);
  PredictOptions options;
  options.every = 2;
  const Predictive got = predict(all.stored, all.train(), options);
  EXPECT_EQ(got.draws, 6u) << "0, 2, 4 of 5 draws of two walkers";
  const MadeRun<double> chosen(logistic, {draws[0], draws[2], draws[4], draws[5], draws[7], draws[9]});
  EXPECT_EQ(predict(chosen.stored, chosen.train(), {}).mean, got.mean);
}

TEST(Predictive, RowsNeedNoTargets) {
  for (const std::string& toml : {linear, logistic}) {
    const MadeRun<double> run(toml, some_draws<double>(toml, 6));
    Dataset rows = run.stored.problem.data.test;
    const Predictive with = predict(run.stored, rows, {});
    rows.targets.clear();
    const Predictive without = predict(run.stored, rows, {});
    EXPECT_EQ(with.mean, without.mean);
    EXPECT_EQ(with.total, without.total);
    EXPECT_TRUE(without.metrics.empty() && without.targets.empty() && !with.metrics.empty());
  }
}

// ---- noise

std::string numbers_with(const std::string& loss, const std::string& temperature, const std::string& more = "") {
  return "data = { generator = { name = \"gap\", rows = 8 }, standardise = \"targets\" }\nprecision = \"double\"\n"
         "model = { layers = [1, 1], loss = \"" +
         loss + "\"" + more + " }\npart.all = { temperature = " + temperature + " }\n";
}

TEST(Scatter, FollowsFromTheLossAndTheTemperature) {
  const auto of = [](const std::string& toml) { return scatter_of(problem_of<double>(toml)); };
  const double unit = problem_of<double>(numbers_with("absolute", "1.0")).data.train.target_units.scale[0];
  EXPECT_NE(unit, 1);
  const Scatter squared = of(numbers_with("mean_squared", "\"posterior\""));
  EXPECT_EQ(squared.law, &normal_law);
  EXPECT_NEAR(squared.scales.at(0), unit * std::sqrt(0.5), 1e-12) << "exp(-e^2) has the variance 1/2";
  EXPECT_THAT(squared.words, HasSubstr("mean_squared at posterior temperature 1"));
  const Scatter warm = of(numbers_with("mean_squared", "0.5"));
  EXPECT_NEAR(warm.scales.at(0), unit * std::sqrt(8 * 0.5 / 2), 1e-12);
  const Scatter absolute = of(numbers_with("absolute", "0.25"));
  EXPECT_EQ(absolute.law, &laplace_law);
  EXPECT_NEAR(absolute.scales.at(0), unit * 2, 1e-12) << "N T = 2";
  EXPECT_NEAR(of(numbers_with("gaussian", "0.1", ", scale = 0.3")).scales.at(0), 0.3, 1e-12)
      << "in units of the targets, whatever the temperature";
  EXPECT_TRUE(of(numbers_with("gaussian", "0.1")).scales.empty());
  EXPECT_EQ(of(numbers_with("mean_squared", "0.0")).law, nullptr);
  EXPECT_EQ(of(numbers_with("mean_squared", "{ name = \"linear\", from = 1.0, to = 0.1 }")).law, nullptr);
}

TEST(Scatter, LearnedScalesAreThoseOfEachDrawInUnitsOfTheTargets) {
  const std::string toml = numbers_with("gaussian", "1.0");
  const MadeRun<double> run(toml, {{0, 0.2, -1}, {0, 0.2, 0.5}});  // weight, bias, log scale
  const Predictive got = predict(run.stored, run.train(), {});
  const Units& units = run.train().target_units;
  EXPECT_NEAR(got.mean[0], units.original(0, 0.2), 1e-12);
  EXPECT_NEAR(got.aleatoric[0], std::pow(units.scale[0], 2) * (std::exp(-2.0) + std::exp(1.0)) / 2, 1e-12);
  EXPECT_EQ(got.epistemic[0], 0);
  // and the density is the mean of the two densities in the original units
  double surprise = 0;
  for (std::size_t i = 0; i < run.train().rows; ++i) {
    const double y = units.original(0, run.train().targets[i]);
    const std::vector<double> logs = {normal_law.log_density(y, {got.mean[i], units.scale[0] * std::exp(-1.0)}),
                                      normal_law.log_density(y, {got.mean[i], units.scale[0] * std::exp(0.5)})};
    surprise -= log_mean_exp(logs) / 8;
  }
  EXPECT_NEAR(named("nll", got.metrics).value, surprise, 1e-12);
}

// Widths that the network puts out are of the row, in units of the targets; freedom is of the draw.
TEST(Scatter, WidthsAndTailsAreThoseOfEachDrawAndRow) {
  const std::string toml =
      "data = { generator = { name = \"gap\", rows = 8 }, standardise = \"targets\" }\nprecision = \"double\"\n"
      "model = { layers = [1, 2], loss = \"heteroscedastic_student_t\" }\npart.all = { temperature = 1.0 }\n";
  const std::vector<std::vector<double>> draws = {{0.3, 0.7, 0.2, -1, 0}, {0, 0, 0.2, 0.5, 1.5}};
  const MadeRun<double> run(toml, draws);  // weights of mean and log width, their biases, log freedom
  EXPECT_THAT(scatter_of(run.stored.problem).words,
              AllOf(HasSubstr("student_t noise"), HasSubstr("output of the network"), HasSubstr("freedom learned")));
  const Predictive got = predict(run.stored, run.train(), {});
  const Units& units = run.train().target_units;
  double surprise = 0;
  for (std::size_t i = 0; i < run.train().rows; ++i) {
    std::vector<double> logs;
    double variance = 0, mean = 0;
    for (const auto& q : draws) {
      const double x = run.train().inputs[i];
      const NoiseAt n{units.original(0, q[0] * x + q[2]), units.scale[0] * std::exp(q[1] * x + q[3]),
                      2 + 4 * std::exp(q[4])};
      logs.push_back(student_law.log_density(units.original(0, run.train().targets[i]), n));
      variance += student_law.variance(n) / 2;
      mean += n.centre / 2;
    }
    surprise -= log_mean_exp(logs) / 8;
    EXPECT_NEAR(got.mean[i], mean, 1e-12);
    EXPECT_NEAR(got.aleatoric[i], variance, 1e-12 * variance);
  }
  EXPECT_NEAR(named("nll", got.metrics).value, surprise, 1e-12);
  // the score of a draw is the same density
  PlacedLikelihood<double> train = *run.stored.problem.train;
  EXPECT_NEAR(train.score(draws.back(), {}).loss, named("nll", got.last_metrics).value, 1e-12);
}

TEST(Scatter, CountsArePredictedByTheirRates) {
  const Directory directory;
  const std::string file = directory.write("counts.csv", "x,n\n1,0\n0,3\n2,11\n");
  const std::string toml = "data = { file = \"" + file +
                           "\", targets = [\"n\"] }\nprecision = \"double\"\nmodel = { layers = [1, 1], loss = "
                           "\"negative_binomial\", dispersion = 0.5 }\npart.all = { temperature = 1.0 }\n";
  const MadeRun<double> run(toml, {{0.5, 0.2}, {0.8, -1}});
  PredictOptions options;
  options.levels = {0.5};
  const Predictive got = predict(run.stored, run.train(), options);
  double squares = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double x = run.train().inputs[i], a = std::exp(0.5 * x + 0.2), b = std::exp(0.8 * x - 1);
    EXPECT_NEAR(got.mean[i], (a + b) / 2, 1e-12);
    EXPECT_NEAR(got.epistemic[i], (a - b) * (a - b) / 4, 1e-12);
    EXPECT_NEAR(got.aleatoric[i], (a + a * a / 2 + b + b * b / 2) / 2, 1e-12);
    EXPECT_EQ(got.quantiles[i], std::floor(got.quantiles[i]));
    squares += std::pow(run.train().targets[i] - b, 2) / 3;
  }
  EXPECT_GT(named("coverage_95", got.metrics).value, 0.5);
  PlacedLikelihood<double> train = *run.stored.problem.train;
  EXPECT_NEAR(train.score(std::vector<double>{0.8, -1}, {}).rmse, std::sqrt(squares), 1e-12);
}

TEST(Predictive, SeveralTargetsOfARowAreJoint) {
  const Directory directory;
  const std::string file = directory.write("two.csv", "x,u,v\n1,0,0\n0,3,3\n");
  const std::string toml = "data = { file = \"" + file +
                           "\", targets = [\"u\", \"v\"] }\nprecision = \"double\"\nmodel = { layers = [1, 2], loss = "
                           "\"gaussian\", scale = 1.0 }\npart.all = { temperature = 1.0 }\n";
  const MadeRun<double> run(toml, {{0, 0, 0, 0}, {0, 0, 3, 3}});  // weights, then biases: (0, 0) or (3, 3)
  const Predictive got = predict(run.stored, run.train(), {});
  // the draws agree on both targets: (1 + exp(-9)) / 2 times the density at the centre, not its square
  const double exact = std::log(2 * M_PI) - std::log((1 + std::exp(-9.0)) / 2);
  EXPECT_NEAR(named("nll", got.metrics).value, exact, 1e-12);
  EXPECT_NEAR(got.epistemic[0], 2.25, 1e-12);
  EXPECT_EQ(got.names, (std::vector<std::string>{"u", "v"}));
}

TEST(Predictive, LossesWithoutProbabilitiesVote) {
  const std::string toml = R"(
precision = "double"
data = { generator = { name = "clusters", rows = 10 } }
model = { layers = [2, 1], loss = "hinge" }
part.all = { temperature = 1.0 }
)";
  const MadeRun<double> run(toml, {{0, 0, 2}, {0, 0, 0.1}, {0, 0, -5}, {0, 0, 1}});
  const Predictive got = predict(run.stored, run.train(), {});
  EXPECT_DOUBLE_EQ(got.mean[1], 0.75);
  EXPECT_EQ(got.aleatoric[0], 0);
  EXPECT_NEAR(got.epistemic[0], entropy(0.75), 1e-12);
}

TEST(Predictive, RefusesRunsThatCannotPredict) {
  const MadeRun<double> empty(logistic, {});
  EXPECT_THAT(error_of([&] { predict(empty.stored, empty.train(), {}); }), HasSubstr("no draws"));
  const MadeRun<double> astray(logistic, {{0, 0, 0}, {NAN, 0, 0}});
  EXPECT_THAT(error_of([&] { predict(astray.stored, astray.train(), {}); }),
              HasSubstr("draw 0 of walker 1 predicts no finite number for row 0"));
  const std::string numbers = numbers_with("mean_squared", "1.0");
  const MadeRun<double> lost(numbers, {{0, INFINITY}});
  EXPECT_THAT(error_of([&] { predict(lost.stored, lost.train(), {}); }), HasSubstr("no finite number"));
  const MadeRun<double> toy("model = { toy = \"gaussian\" }\npart.all = { temperature = 1.0 }\n", {{1}});
  EXPECT_THAT(error_of([&] { predict(toy.stored, {}, {}); }), HasSubstr("a toy predicts nothing"));
}

// ---- running statistics

TEST(Predictive, StatisticsTakenAnewReplaceThoseOfTheDraws) {
  const Directory files(in_memory());
  write_layer_data(files);
  const auto toml = [&](const std::string& norm) {
    return fmt::format(
        "precision = \"double\"\ndata = {{ file = \"{}\", shape = [1, 6, 6], test = 20 }}\n"
        "model = {{ loss = \"softmax_cross_entropy\", layers = [\"conv 3 4\", \"{}\", \"relu\", \"flatten\", \"dense "
        "3\"] }}\npart.all.temperature = 1.0\n",
        files.path("images.csv"), norm);
  };
  for (const char* norm : {"batch_norm", "filter_response_norm"}) {
    const Problem<double> problem = problem_of<double>(toml(norm));
    std::vector<double> stale = some_point(problem.recipe.size, 0.5), anew = stale;
    for (const Block& b : problem.recipe.blocks)
      if (b.buffer()) std::fill_n(stale.begin() + long(b.offset), b.size(), 2.0);
    problem.train->retake_statistics(anew);
    MadeRun<double> made(toml(norm), {stale}), mended(toml(norm), {anew});
    const auto means = [](StoredRun<double>& run, bool recomputes) {
      run.recomputes_statistics = recomputes;
      return predict(run, run.problem.data.test, {}).mean;
    };
    const bool keeps_statistics = norm == std::string("batch_norm");
    EXPECT_EQ(means(made.stored, true) == means(made.stored, false), !keeps_statistics) << norm;
    EXPECT_EQ(means(made.stored, true), means(mended.stored, false)) << norm;
    made.stored.recomputes_statistics = true;
    EXPECT_EQ(made.stored.point(0, 0), anew) << norm;
  }
}

}  // namespace
}  // namespace kelvin
