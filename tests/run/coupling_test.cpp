// SPDX-License-Identifier: Apache-2.0
// Coupled walkers: the algebra of their metrics, the motion in them, and what is refused.
#include "kelvin/ensemble/coupling.h"

#include <gmock/gmock.h>

#include <numeric>

#include "kelvin/chain/stiffness.h"
#include "kelvin/core/pack.h"
#include "kelvin/numeric/eigen.h"
#include "tests/allocations.h"
#include "tests/files.h"
#include "tests/walkers.h"

namespace kelvin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Real>
using PointsOf = std::vector<LargeArray<Real>>;
using Points = PointsOf<double>;

template <class Real = double>
PointsOf<Real> random_points(std::size_t count, std::size_t size) {
  PointsOf<Real> points;
  for (std::size_t k = 0; k < count; ++k) {
    normals({stream_key(3, "points"), std::uint32_t(k), 0, 0}, 0, std::span(points.emplace_back(size)));
    for (std::size_t i = 0; i < size; ++i) points[k][i] *= Real(1 + i % 5);
  }
  return points;
}

template <class Real>
Eigen::MatrixXd columns(const PointsOf<Real>& points) {
  Eigen::MatrixXd X(Eigen::Index(points.front().size()), Eigen::Index(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k)
    for (std::size_t i = 0; i < points[k].size(); ++i) X(Eigen::Index(i), Eigen::Index(k)) = double(points[k][i]);
  return X;
}

// B, or its inverse, column by column.
template <class Real>
Eigen::MatrixXd written_out(LowRankMetric<Real>& metric, std::size_t n, bool inverse = false) {
  PointsOf<Real> rows;
  for (std::size_t i = 0; i < n; ++i) {
    rows.emplace_back(n)[i] = 1;
    inverse ? metric.undo(rows.back()) : metric.apply(rows.back());
  }
  return columns<Real>(rows);
}

TEST(Metrics, TwoPointsOnALineStretchThatLine) {
  const Points points = {{1, 0}, {-1, 0}};
  LowRankMetric<double> metric(std::make_shared<const PointCloud<double>>(cloud_of(points, {{0, 2}})), {0, 1}, 3);
  EXPECT_TRUE(written_out(metric, 2).isApprox(Eigen::Vector2d(2, 1).asDiagonal().toDenseMatrix(), 1e-14));
  EXPECT_NEAR(metric.log_determinant(), std::log(2), 1e-14);
}

TEST(Metrics, BSquaredIsTheIdentityAndTheBlendedCovarianceOfThePointsThatCount) {
  constexpr std::size_t n = 40, walkers = 9, left_out = 4;
  const double blending = 7;
  std::vector<std::size_t> counting;
  for (std::size_t k = 0; k < walkers; ++k)
    if (k != left_out) counting.push_back(k);
  const Points points = random_points(walkers, n);
  Points those;
  for (const std::size_t k : counting) those.push_back(points[k]);
  Eigen::MatrixXd X = columns<double>(those);
  X.colwise() -= X.rowwise().mean().eval();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n),
                        square = one + blending / double(counting.size()) * X * X.transpose();

  LowRankMetric<double> metric(std::make_shared<const PointCloud<double>>(cloud_of(points, {{0, n}})), counting,
                               blending);
  const Eigen::MatrixXd B = written_out(metric, n), inverse = written_out(metric, n, true);
  EXPECT_LT((B * B - square).norm(), 1e-12 * square.norm());
  EXPECT_LT((B - B.transpose()).norm(), 1e-12 * B.norm());
  EXPECT_LT((B * inverse - one).norm(), 1e-12 * B.norm());
  EXPECT_NEAR(metric.log_determinant(), square.llt().matrixLLT().diagonal().array().log().sum(), 1e-11);
}

// More points than are met at once, over more numbers than are met at once, with some left over of both.
TEST(Metrics, OfManyPointsAndNumbersAreTheSameSum) {
  constexpr std::size_t n = 2 * 1024 + 53, offset = 7;
  constexpr double blending = 0.3;
  for (const std::size_t count : {3u, 8u, 11u, 16u}) {
    const Points points = random_points(count, n);
    std::vector<std::size_t> counting(count);
    std::iota(counting.begin(), counting.end(), 0);
    LowRankMetric<double> metric(std::make_shared<const PointCloud<double>>(cloud_of(points, {{offset, n - offset}})),
                                 counting, blending);
    Eigen::MatrixXd X = columns<double>(points).bottomRows(n - offset);
    X.colwise() -= X.rowwise().mean().eval();
    LargeArray<double> v = random_points(count + 1, n).back();
    const Eigen::VectorXd before = columns<double>({v});
    metric.apply(v), metric.apply(v);
    Eigen::VectorXd expected = before;
    expected.tail(n - offset) += blending / double(count) * (X * (X.transpose() * before.tail(n - offset)));
    EXPECT_LT((columns<double>({v}) - expected).norm(), 1e-12 * expected.norm()) << count << " points: B^2 v";
  }
}

// Eight binary digits: entries are off by 1/256 of themselves at most. B is exact for what was kept, so that the law
// does not depend on it.
TEST(Metrics, OfFloatsKeepEightBinaryDigitsOfEachPoint) {
  constexpr std::size_t n = 40, count = 6;
  constexpr double blending = 7;
  const auto points = random_points<float>(count, n);
  const auto cloud = std::make_shared<const PointCloud<float>>(cloud_of(points, {{0, n}}));
  PointsOf<float> kept = points;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      kept[k][i] = whole(cloud->points[k][i]);
      EXPECT_LE(std::abs(kept[k][i] - points[k][i]), std::abs(points[k][i]) / 256);
    }
  EXPECT_NE(kept, points);
  Eigen::MatrixXd X = columns<float>(kept);
  X.colwise() -= X.rowwise().mean().eval();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n),
                        square = one + blending / double(count) * X * X.transpose();
  LowRankMetric<float> metric(cloud, {0, 1, 2, 3, 4, 5}, blending);
  const Eigen::MatrixXd B = written_out(metric, n), inverse = written_out(metric, n, true);
  EXPECT_LT((B * B - square).norm(), 1e-5 * square.norm()) << "rounding of floats";
  EXPECT_LT((B * inverse - one).norm(), 1e-5 * B.norm());
}

TEST(Metrics, StretchesDoNotMix) {
  constexpr std::size_t n = 12;
  LowRankMetric<double> metric(
      std::make_shared<const PointCloud<double>>(cloud_of(random_points(5, n), {{0, 4}, {4, 6}})), {0, 1, 2, 3, 4}, 2);
  const Eigen::MatrixXd B = written_out(metric, n);
  EXPECT_EQ(B.block(4, 0, 8, 4).norm(), 0);
  EXPECT_EQ(B.block(0, 4, 4, 8).norm(), 0);
  EXPECT_TRUE((B.bottomRightCorner(2, 2) == Eigen::Matrix2d::Identity())) << "no stretch, no metric";
  EXPECT_GT((B.block(4, 4, 6, 6) - Eigen::MatrixXd::Identity(6, 6)).norm(), 0.1);
}

// p -= h/2 B'g(q), q += h/2 B p, O, q += h/2 B p, p -= h/2 B'g(q), with the chain's own noise.
TEST(Metrics, AStepInAMetricIsThePapersStep) {
  const std::vector<double> stiffness = {1, 2, 3, 4, 5};
  constexpr double h = 0.2, gamma = 0.7, T = 1.3;
  Walker<double> walker(gaussian(stiffness), moving("BAOAB", h, gamma, T));
  const auto spread = std::make_shared<const PointCloud<double>>(cloud_of(random_points(4, 5), {{0, 5}}));
  LowRankMetric<double> metric(spread, {0, 1, 2}, 0.1);
  const std::vector<double> start = {0.3, -1, 0.5, 0.1, 2};
  walker.chain.start(start);
  const Eigen::MatrixXd B = written_out(metric, 5);
  Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(start.data(), 5),
                  p = Eigen::Map<const Eigen::VectorXd>(walker.chain.p().data(), 5);
  walker.chain.move_in(std::make_unique<LowRankMetric<double>>(metric), start);
  const Eigen::VectorXd K = Eigen::Map<const Eigen::VectorXd>(stiffness.data(), 5);
  for (std::uint64_t n = 0; n < 50; ++n) {
    walker.chain.step();
    Eigen::VectorXd z(5);
    walker.noise.normals({stream_key(1, "part all"), 0, n, 2}, 0, std::span(z.data(), 5));
    p -= h / 2 * B.transpose() * K.cwiseProduct(q);
    q += h / 2 * B * p;
    p = std::exp(-gamma * h) * p + std::sqrt(T * -std::expm1(-2 * gamma * h)) * z;
    q += h / 2 * B * p;
    p -= h / 2 * B.transpose() * K.cwiseProduct(q);
    const auto now = walker.chain.q(), momenta = walker.chain.p();
    for (Eigen::Index i = 0; i < 5; ++i) {
      ASSERT_NEAR(now[std::size_t(i)], q[i], 1e-12);
      ASSERT_NEAR(momenta[std::size_t(i)], p[i], 1e-12);
    }
  }
  EXPECT_EQ(walker.chain.evaluations(), 51u) << "one gradient a step";
}

TEST(Metrics, AChangeOfMetricLeavesThePositionAndTheVirial) {
  Walker<double> walker(gaussian({1, 2, 3, 4, 5}), moving("BAOAB", 0.2));
  for (int n = 0; n < 10; ++n) walker.chain.step();
  walker.chain.step_and_read();
  const std::vector<double> before(walker.chain.q().begin(), walker.chain.q().end());
  const double virial = walker.chain.reading().parts[0].virial;
  const auto spread = std::make_shared<const PointCloud<double>>(cloud_of(random_points(4, 5), {{0, 5}}));
  walker.chain.move_in(std::make_unique<LowRankMetric<double>>(spread, std::vector<std::size_t>{0, 1, 2, 3}, 5),
                       before);
  std::vector<double> x(walker.chain.x().begin(), walker.chain.x().end()), g(5);
  double product = 0;
  walker.chain.gradient_at(x, g);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(walker.chain.q()[i], before[i], 1e-13);
    product += x[i] * g[i];
  }
  EXPECT_NEAR(product / 2, virial, 1e-12);
}

const std::string oscillators =
    "steps = 1000\nwalkers = 6\nmodel.toy = { name = \"gaussian\", stiffness = [1, 100, 10] }\n"
    "part.all = { step = 0.05, temperature = 1 }\n";

std::vector<std::vector<double>> paths(const std::string& coupling, std::size_t threads = 1) {
  CoupledWalkers w(oscillators + coupling);
  w.settle({1, 100, 10});
  std::vector<std::vector<double>> out(w.walkers.size());
  w.run_for(
      400, [&](const Draw<double>& d) { out[d.walker].insert(out[d.walker].end(), d.q.begin(), d.q.end()); }, threads);
  return out;
}

TEST(Couplings, NoWalkerCountsForItself) {
  for (const MetricMethod& row : metric_methods())
    for (std::size_t i = 0; row.counts && i < 6; ++i) {
      EXPECT_FALSE(row.counts(i, i)) << row.name;
      EXPECT_TRUE(row.counts(i, i + 1)) << row.name << ": its neighbour does";
    }
}

TEST(Couplings, WithoutBlendingAreIndependentWalkersToTheBit) {
  const auto alone = paths("");
  EXPECT_EQ(alone, paths("coupling = { method = \"ensemble\", blending = 0, refresh = 100 }\n"));
  EXPECT_EQ(alone, paths("coupling = { method = \"halves\", blending = 0, refresh = 100 }\n"));
  EXPECT_NE(alone, paths("coupling = { method = \"ensemble\", blending = 1, refresh = 100 }\n"));
}

TEST(Couplings, BytesDoNotDependOnThreads) {
  for (const char* method : {"ensemble", "halves"}) {
    const std::string coupling = fmt::format("coupling = {{ method = \"{}\", blending = 10, refresh = 50 }}\n", method);
    EXPECT_EQ(paths(coupling, 1), paths(coupling, 3)) << method;
  }
}

TEST(Couplings, EnsemblesKnowNothingOfEachOther) {
  const std::string two = "coupling = { method = \"ensemble\", blending = 10, refresh = 50, ensembles = 2 }\n";
  const auto both = paths(two);
  CoupledWalkers w(oscillators + two);
  w.settle({1, 100, 10});
  w.walkers[5].start(std::vector<double>{3, 0.3, 1});
  std::vector<std::vector<double>> other(6);
  w.run_for(400, [&](const Draw<double>& d) { other[d.walker].insert(other[d.walker].end(), d.q.begin(), d.q.end()); });
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(both[k], other[k]);
  for (std::size_t k = 3; k < 6; ++k) EXPECT_NE(both[k], other[k]) << "it is in the metric of " << k;
}

TEST(Couplings, OneOfTheHalvesRestsWhileTheOtherMoves) {
  CoupledWalkers w(oscillators + "coupling = { method = \"halves\", blending = 10, refresh = 10 }\n");
  w.settle({1, 100, 10});
  w.run_for(40, [&](const Draw<double>& d) {
    const std::uint64_t group = d.walker % 2, end = (d.reading.step + 9) / 10 * 10;
    for (const auto& chain : w.walkers)
      if (chain.walker() % 2 != group) {
        EXPECT_EQ(chain.steps(), group ? end : end - 10);
      }
  });
  for (const auto& chain : w.walkers) EXPECT_EQ(chain.steps(), 40u);
}

// In the middle of an interval, with everything that a checkpoint holds.
TEST(Couplings, ARestoredRunGoesOnBitForBit) {
  for (const char* method : {"ensemble", "halves"}) {
    const std::string file =
        oscillators + fmt::format("coupling = {{ method = \"{}\", blending = 20, refresh = 64 }}\n", method);
    CoupledWalkers whole(file), first(file), second(file);
    whole.settle({1, 100, 10}), first.settle({1, 100, 10});
    const auto nothing = [](const Draw<double>&) {};
    whole.run_for(300, nothing);
    // Stops at some step inside an interval, walkers at different ones.
    std::atomic<bool> interrupt = false;
    Plan plan;
    plan.steps = 300, plan.round = 300, plan.interrupt = &interrupt;
    run<double>(
        first.walkers, plan, first.couplings,
        [&](const Draw<double>& d) {
          if (d.walker == 2 && d.reading.step == 150) interrupt = true;
        },
        [](std::uint64_t) {});
    ASSERT_NE(first.walkers[4].steps(), first.walkers[0].steps());
    second.couplings.restore(first.couplings.states(), second.walkers);
    for (std::size_t w = 0; w < 6; ++w) second.walkers[w].restore(first.walkers[w].state());
    second.run_for(300, nothing);
    for (std::size_t w = 0; w < 6; ++w)
      EXPECT_TRUE(std::ranges::equal(whole.walkers[w].q(), second.walkers[w].q())) << method << ' ' << w;
  }
}

TEST(Couplings, FrozenEntriesStayWhereTheyAre) {
  CoupledWalkers w(
      oscillators +
      "model.freeze = [\"q[1]=0.25\"]\ncoupling = { method = \"ensemble\", blending = 10, refresh = 10 }\n");
  w.settle({1, 100, 10});
  w.run_for(100, [&](const Draw<double>& d) { EXPECT_EQ(d.q[1], 0.25); });
}

TEST(Couplings, StartsAtOnePointArePartedAndItIsSaid) {
  CoupledWalkers w(oscillators + "coupling = { method = \"ensemble\", blending = 10, spread = 0.5 }\n");
  std::vector<std::vector<double>> starts(6, {1, 2, 3});
  w.metric().part_starts(starts, 0);
  EXPECT_NE(starts[0], starts[1]);
  EXPECT_THAT(w.said.back(), HasSubstr("walkers 0 to 5 start at one point"));
  const auto apart = starts;
  w.metric().part_starts(starts, 0);
  EXPECT_EQ(starts, apart) << "nothing to do";
}

TEST(Couplings, ACollapsePutsAllWalkersAtTheFirstOrAtTheirMean) {
  for (const std::string where : {"first", "mean"}) {
    CoupledWalkers w(oscillators + "coupling = { collapse = \"" + where + "\", refresh = 10 }\n");
    w.settle({1, 100, 10});
    double mean = 0;
    for (auto& chain : w.walkers) mean += chain.q()[0] / 6;
    const double expected = where == "mean" ? mean : w.walkers[0].q()[0];
    Threads one(1);
    w.metric().meet(w.walkers, 0, 0, one);
    for (auto& chain : w.walkers) EXPECT_NEAR(chain.q()[0], expected, 1e-14);
    EXPECT_THAT(w.said.back(), HasSubstr("no samples of the posterior"));
  }
}

TEST(Couplings, StepsAllocateNothing) {
  CoupledWalkers w(oscillators + "coupling = { method = \"ensemble\", blending = 10 }\n");
  w.settle({1, 100, 10});
  Threads one(1);
  w.metric().meet(w.walkers, 0, 0, one);
  w.walkers[0].step();
  const std::size_t before = allocations;
  for (int n = 0; n < 10; ++n) w.walkers[0].step();
  EXPECT_EQ(allocations, before);
}

TEST(Stiffness, IsTheSquareOfTheStepTimesTheLargestCurvature) {
  std::vector<double> stiffness_of(64);
  for (std::size_t i = 0; i < 64; ++i) stiffness_of[i] = 2 + 198.0 * double(i) / 63;
  Walker<double> walker(gaussian(stiffness_of), moving("BAOAB", 0.125));
  const double found = stiffness(walker.chain, 30), few = stiffness(walker.chain);
  EXPECT_NEAR(found, 0.125 * 0.125 * 200, 1e-4);
  EXPECT_LT(few, found);
  EXPECT_GT(few, 0.95 * found);
  Walker<double> proposing(gaussian(stiffness_of), moving("R{(BAB)5}", 0.5));
  EXPECT_NEAR(stiffness(proposing.chain, 30), 0.1 * 0.1 * 200, 1e-4);
  Walker<double> overdamped(gaussian(stiffness_of), moving("S", 0.005));
  EXPECT_NEAR(stiffness(overdamped.chain, 30), 2 * 0.005 * 200, 1e-4) << "S is stable up to h a = 2";
}

// The Gaussian of 64 dimensions on which 8 walkers with blending 10 blow up at h = 0.125.
TEST(Couplings, ThatWouldBlowUpAreBlendedLessAndItIsSaid) {
  std::vector<double> stiffness_of(64);
  std::string list;
  for (std::size_t i = 0; i < 64; ++i) {
    stiffness_of[i] = 2 + 198.0 * double(i) / 63;
    list += (i ? ", " : "") + fmt::format("{}", stiffness_of[i]);
  }
  const std::string file = "steps = 1000\nwalkers = 8\nmodel.toy = { name = \"gaussian\", stiffness = [" + list +
                           "] }\npart.all = { step = 0.125, temperature = 1 }\n"
                           "coupling = { method = \"ensemble\", blending = 10, refresh = 1000 }\n";
  CoupledWalkers w(file);
  w.settle(stiffness_of);
  double energy = 0;
  w.run_for(4000, [&](const Draw<double>& d) { energy += d.reading.energy / 32000; });
  ASSERT_FALSE(w.said.empty());
  EXPECT_THAT(w.said.front(), HasSubstr("where 4 is the limit of stability; coupling.blending is halved to 5"));
  EXPECT_LT(w.metric().blending().front(), 10);
  EXPECT_GT(w.metric().blending().front(), 0);
  EXPECT_NEAR(energy, 32, 1) << "n T / 2";

  // Without that it would blow up indeed.
  CoupledWalkers same(file);
  same.settle(stiffness_of);
  Points points;
  for (auto& chain : same.walkers) points.emplace_back(chain.q().begin(), chain.q().end());
  const auto spread = std::make_shared<const PointCloud<double>>(cloud_of(points, {{0, 64}}));
  Chain<double>& chain = same.walkers[0];
  chain.move_in(std::make_unique<LowRankMetric<double>>(spread, std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7}, 10),
                points[0]);
  EXPECT_THAT(error_of([&] {
                for (int n = 0; n < 20000; ++n) chain.step();
              }),
              HasSubstr("has left the region"));
}

// 6 walkers spread as their law: the soft direction has 1 / softest of the variance, three others 1 each.
TEST(Couplings, SayWhereOneDirectionHoldsAllOfTheSpread) {
  const auto said = [](double softest) {
    CoupledWalkers w(
        fmt::format("steps = 1000\nwalkers = 6\nmodel.toy = {{ name = \"gaussian\", stiffness = [1, {}, 1, 1] }}\n"
                    "part.all = {{ step = 0.1, temperature = 1 }}\n"
                    "coupling = {{ method = \"ensemble\", blending = 1, refresh = 100 }}\n",
                    softest));
    w.settle({1, softest, 1, 1});
    w.run_for(500, [](const Draw<double>&) {});
    return w.said;
  };
  EXPECT_THAT(said(1e-6), ElementsAre(HasSubstr("one direction holds 100.0 % of the walkers' spread"))) << "once";
  EXPECT_THAT(said(0.05), ElementsAre()) << "87 % on average";
}

TEST(Couplings, RefuseWhatTheyCannotDo) {
  const auto error = [](const std::string& coupling) {
    return error_of([&] { CoupledWalkers w(oscillators + coupling); });
  };
  EXPECT_THAT(error("coupling = \"ensmble\"\n"), HasSubstr("no coupling \"ensmble\""));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", blending = -1 }\n"), HasSubstr("0 or above, not -1"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", blending = nan }\n"), HasSubstr("must be a number, not nan"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", refresh = 0 }\n"), HasSubstr("at least 1, not 0"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", ensembles = 4 }\n"), HasSubstr("6 walkers cannot be shared"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", ensembles = 3 }\n"), HasSubstr("at least 3 walkers"));
  EXPECT_THAT(error("coupling = { method = \"halves\", collapse = \"mean\" }\n"), HasSubstr("some rest"));
  EXPECT_THAT(error("coupling = { blending = 2 }\n"), HasSubstr("does nothing"));
  EXPECT_THAT(error("coupling = { method = \"ensemble\", over = \"layer\" }\n"), HasSubstr("known: all, part, block"));
}

const std::string two_parts =
    "steps = 10\nwalkers = 4\ndata = { generator = { name = \"spiral\", rows = 20 } }\nprecision = \"double\"\n"
    "model = { layers = [2, 3, 1], loss = \"binary_cross_entropy\", prior = 1.0 }\n";

TEST(Couplings, AcrossPartsNeedOneTemperature) {
  const std::string parts =
      "[part.a]\nblocks = [\"layer1.*\"]\ntemperature = 0.1\n[part.b]\nblocks = [\"layer2.*\"]\ntemperature = 0.2\n";
  const std::string coupling = "[coupling]\nmethod = \"ensemble\"\nblending = 1\n";
  EXPECT_THAT(error_of([&] { CoupledWalkers w(two_parts + parts + coupling); }),
              HasSubstr("part \"b\" has another temperature than \"a\""));
  CoupledWalkers apart(two_parts + parts + coupling + "over = \"part\"\n");
  apart.run_for(10, [](const Draw<double>&) {});
  CoupledWalkers blocks(two_parts + parts + coupling + "over = \"block\"\n");
  blocks.run_for(10, [](const Draw<double>&) {});
}

TEST(Couplings, ChooseTheCoordinatesAloneAndInFlatSpace) {
  const std::string coupling = "[coupling]\nmethod = \"ensemble\"\nblending = 1\n";
  EXPECT_THAT(
      error_of([&] {
        CoupledWalkers w(two_parts + "[part.all]\nconstraint = { name = \"circle\", radius = 1.0 }\n" + coupling);
      }),
      HasSubstr("constraint of part \"all\""));
  EXPECT_THAT(error_of([&] { CoupledWalkers w(two_parts + "warmup = 10\nadapt.metric = \"diagonal\"\n" + coupling); }),
              HasSubstr("both change the coordinates"));
}

// A part that waits at some gradients still needs those of the others there: B' g mixes them.
TEST(Couplings, AcrossPartsTakeAllGradientsThatTheyMix) {
  const std::string parts =
      "[part.a]\nblocks = [\"layer1.*\"]\nscheme = \"(OBA)2\"\n[part.b]\nblocks = [\"layer2.*\"]\nscheme = \"OBA.A\"\n";
  CoupledWalkers w(two_parts + parts + "[coupling]\nmethod = \"ensemble\"\nblending = 1000\n");
  w.run_for(10, [](const Draw<double>&) {});
  Chain<double>& chain = w.walkers[0];
  chain.step();  // the last gradient was asked for by part a alone
  std::vector<double> x(chain.x().begin(), chain.x().end()), g(x.size()), q(chain.q().begin(), chain.q().end()),
      raw(x.size());
  Energy<double> energy = *w.problem.energy;
  energy(q, {}, raw);
  chain.gradient_at(x, g);
  double along = 0, expected = 0;  // x . B'g = q . g
  for (std::size_t i = 0; i < x.size(); ++i) along += x[i] * g[i], expected += q[i] * raw[i];
  EXPECT_NEAR(along, expected, 1e-12);
}

TEST(Couplings, ShortIntervalsGetAdvice) {
  CoupledWalkers w(oscillators + "coupling = { method = \"ensemble\", blending = 1, refresh = 10 }\n");
  EXPECT_THAT(w.said, ElementsAre(HasSubstr("coupling.refresh = 10 is short")));
  CoupledWalkers halves(oscillators + "coupling = { method = \"halves\", blending = 1, refresh = 10 }\n");
  EXPECT_TRUE(halves.said.empty());
}

}  // namespace
}  // namespace kelvin
