// SPDX-License-Identifier: Apache-2.0
// What a chain promises beyond its scheme: costs, first steps, sameness, frozen entries, Metropolis.
#include "kelvin/chain/chain.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <thread>

#include "kelvin/run/run.h"
#include "tests/allocations.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

TEST(Chain, GradientsPerThousandStepsAreCounted) {
  for (const auto& [scheme, cost] : {std::pair{"BAOAB", 1001u},
                                     {"OBABO", 1001u},
                                     {"ABOBA", 1000u},
                                     {"S", 1000u},
                                     {"BARAB", 1001u},
                                     {"OBA", 1000u},
                                     {"R{(BAB)5}", 5001u}}) {
    Walker<double> w(gaussian({1}), moving(scheme, 0.1));
    for (int n = 0; n < 1000; ++n) w.chain.step();
    EXPECT_EQ(w.chain.evaluations(), cost) << scheme;
  }
}

TEST(Chain, ReadingCostsNothingAndChangesNothing) {
  for (const char* scheme : {"BAOAB", "ABOBA", "OBA", "S", "R{BAB}", "UBU"}) {
    Walker<double> read(gaussian({1, 4}), moving(scheme, 0.3)), not_read(gaussian({1, 4}), moving(scheme, 0.3));
    for (int n = 0; n < 100; ++n) read.chain.step_and_read(), not_read.chain.step();
    EXPECT_EQ(std::vector(read.chain.q().begin(), read.chain.q().end()),
              std::vector(not_read.chain.q().begin(), not_read.chain.q().end()))
        << scheme;
    EXPECT_LE(read.chain.evaluations(), not_read.chain.evaluations() + 1) << scheme;
  }
}

TEST(Chain, ReadingsAreThoseOfTheState) {
  Walker<double> w(gaussian({1, 4}), moving("BAOAB", 0.3));
  for (int n = 0; n < 10; ++n) w.chain.step_and_read();
  const auto q = w.chain.q(), p = w.chain.p();
  const Reading& r = w.chain.reading();
  EXPECT_DOUBLE_EQ(r.energy, (q[0] * q[0] + 4 * q[1] * q[1]) / 2);
  EXPECT_DOUBLE_EQ(r.parts[0].virial, r.energy);
  EXPECT_DOUBLE_EQ(r.parts[0].configurational_temperature, r.energy);
  EXPECT_DOUBLE_EQ(r.parts[0].kinetic_energy, (p[0] * p[0] + p[1] * p[1]) / 2);
  EXPECT_NE(r.parts[0].kinetic_temperature, r.parts[0].kinetic_energy);
}

// At temperature 0 the string BARAB is q -= (h^2/2) g at every step, also at the first.
TEST(Chain, MomentaStartAsTheSchemeWouldHaveLeftThem) {
  Noise<double> noise;
  for (const char* scheme : {"BARAB", "BAOAB"}) {
    const auto toy = make_toy<double>(gaussian({2}));
    Chain<double> chain(toy->clone(), recipe_for(*toy, moving(scheme, 0.4, INFINITY, 0)), Batches({}, 0, 1, 0), noise,
                        1, 0);
    chain.start(std::vector{1.0});
    double q = 1;
    for (int n = 0; n < 5; ++n) {
      chain.step();
      q -= 0.4 * 0.4 / 2 * 2 * q;
      EXPECT_NEAR(chain.q()[0], q, 1e-15) << scheme << " step " << n;
    }
  }
}

// OBA at temperature 0 is SGD with momentum e^(-gamma h) and rate h^2, its buffer starting empty.
TEST(Chain, ObaIsSgdWithMomentum) {
  Noise<double> noise;
  const auto toy = make_toy<double>(gaussian({2}));
  Chain<double> chain(toy->clone(), recipe_for(*toy, moving("OBA", 0.3, 0.5, 0)), Batches({}, 0, 1, 0), noise, 1, 0);
  chain.start(std::vector{1.0});
  double q = 1, buffer = 0;
  for (int n = 0; n < 50; ++n) {
    chain.step();
    buffer = std::exp(-0.5 * 0.3) * buffer + 2 * q;
    q -= 0.3 * 0.3 * buffer;
    EXPECT_NEAR(chain.q()[0], q, 1e-14);
  }
}

// U = sum over its blocks of q^2/2 with other stiffnesses; the blocks can go to different parts.
struct TwoBlocks : Potential<double> {
  std::vector<Block> list{{.name = "first", .shape = {3000}}, {.name = "second", .shape = {700}, .offset = 3000}};
  const std::vector<Block>& blocks() const override { return list; }
  double operator()(Weights<const double> q, const Evaluation&, Weights<double> g) override {
    double U = 0;
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t i = 0; i < list[b].size(); ++i) {
        const double k = b ? 3 : 1;
        U += k * q[b][i] * q[b][i] / 2;
        g[b][i] = k * q[b][i];
      }
    return U;
  }
  std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<TwoBlocks>(*this); }
};

TEST(Chain, APartsTrajectoryIsTheSameAloneOrInCompany) {
  Noise<double> noise;
  auto mine = moving("BAOAB", 0.2), other = moving("BARAB", 0.4, 1, 3);
  mine.blocks = {"first"}, other.blocks = {"second"};
  const TwoBlocks U;
  const Recipe both = make_recipe({{"mine", mine}, {"a neighbour", other}}, {}, U.blocks(), {});
  const Recipe alone = make_recipe({{"mine", mine}}, {"second"}, U.blocks(), {});
  Chain<double> a(U.clone(), both, Batches({}, 0, 5, 2), noise, 5, 2),
      b(U.clone(), alone, Batches({}, 0, 5, 2), noise, 5, 2);
  const std::vector<double> zero(3700, 0.0);
  a.start(zero), b.start(zero);
  for (int n = 0; n < 20; ++n) a.step(), b.step();
  const auto qa = a.q().subspan(both.parts[1].offset, 3000), qb = b.q().first(3000);
  EXPECT_TRUE(std::equal(qa.begin(), qa.end(), qb.begin()));
}

TEST(Chain, FrozenEntriesStayAndAreNotCounted) {
  Noise<double> noise;
  const TwoBlocks U;
  const Recipe r =
      make_recipe({{"all", moving("BAOAB", 0.2)}}, {"first[17]=2.5", "second[0]", "second[699]=-1"}, U.blocks(), {});
  Chain<double> chain(U.clone(), r, Batches({}, 0, 5, 2), noise, 5, 2);
  std::vector<double> q(3700, 0.25);
  chain.start(q);
  double kinetic = 0, configurational = 0;
  const int steps = 400;
  for (int n = 0; n < steps; ++n) {
    chain.step_and_read();
    kinetic += chain.reading().parts[0].kinetic_temperature / steps;
    configurational += n < 100 ? 0 : chain.reading().parts[0].configurational_temperature / (steps - 100);
  }
  EXPECT_EQ(chain.q()[17], 2.5);
  EXPECT_EQ(chain.q()[3000], 0.25);
  EXPECT_EQ(chain.q()[3699], -1);
  EXPECT_EQ(chain.p()[17], 0);
  EXPECT_NEAR(kinetic, 1,
              0.02);  // 3697 degrees of freedom: the frozen 2.5^2 would not show, a wrong count of them neither,
  EXPECT_NEAR(configurational, 1, 0.02);  // so the count itself is checked in scheme_test; here only that nothing leaks
}

TEST(Chain, WalkersAreUncorrelatedAndSeedsRepeat) {
  const int steps = 4000;
  std::vector<Walker<double>*> all;
  Walker<double> a(gaussian({1}), moving("BARAB", 1.0), 9, 0), b(gaussian({1}), moving("BARAB", 1.0), 9, 1),
      again(gaussian({1}), moving("BARAB", 1.0), 9, 0);
  double dot = 0;
  for (int n = 0; n < steps; ++n) {
    a.chain.step(), b.chain.step(), again.chain.step();
    dot += a.chain.q()[0] * b.chain.q()[0];
    ASSERT_EQ(a.chain.q()[0], again.chain.q()[0]);
  }
  // BARAB at h = 1, a = 1: q' = q/2 + noise, so the products correlate as (1/2)^2k: variance of the sum (1 + 1/4)/(1 -
  // 1/4) n
  EXPECT_LT(std::abs(dot), 4 * std::sqrt(steps * 5.0 / 3));
}

TEST(Chain, ThreadsDoNotChangeTheBytes) {
  const auto bytes = [](std::size_t threads) {
    Noise<float> noise;
    const auto toy = make_toy<float>(gaussian({1, 4}));
    const Recipe recipe = recipe_for(*toy, moving("BAOAB", 0.3));
    std::vector<Chain<float>> walkers;
    for (std::uint32_t w = 0; w < 5; ++w) {
      walkers.emplace_back(toy->clone(), recipe, Batches({}, 0, 3, w), noise, 3, w);
      walkers.back().start(std::vector<float>{1, 1});
    }
    std::vector<std::vector<float>> kept(5);
    run<float>(
        walkers, {10, 200, 3, 17, threads},
        [&](const Draw<float>& d) { kept[d.walker].insert(kept[d.walker].end(), d.q.begin(), d.q.end()); },
        [](std::uint64_t) {});
    return kept;
  };
  EXPECT_EQ(bytes(1), bytes(2));
  EXPECT_EQ(bytes(1)[0].size(), 66u * 2);
}

TEST(Chain, ThreadsOverOnePartDoNotChangeTheBytes) {
  const Choice toy("gaussian", {{"dimension", 300001L}});
  Walker<float> one(toy, moving("BAOAB", 0.3)), three(toy, moving("BAOAB", 0.3));
  three.chain.use_threads(3);
  for (int n = 0; n < 3; ++n) one.chain.step(), three.chain.step();
  EXPECT_TRUE(std::ranges::equal(one.chain.q(), three.chain.q()));
  EXPECT_TRUE(std::ranges::equal(one.chain.p(), three.chain.p()));
}

// A letter of one's own writes down which threads it runs on.
TEST(Chain, ThreadsOverOnePartAreMadeOnce) {
  std::mutex writing;
  std::set<pid_t> seen;
  const auto look = [&](const auto&, double, const auto&) {
    std::this_thread::sleep_for(std::chrono::microseconds(10));  // long enough for all threads to take some
    const std::lock_guard lock(writing);
    seen.insert(gettid());
  };
  Letter row{};
  row.symbol = 'Q';
  row.moves_p = true;
  row.meaning = "looks at its thread";
  const auto own = std::make_shared<OwnLetters>();
  own->add(row, {look, look});
  const auto U = make_toy<float>(Choice("gaussian", {{"dimension", 300001L}}));
  Noise<float> noise;
  Chain<float> chain(U->clone(), make_recipe({{"all", moving("BAQAB", 0.3)}}, {}, U->blocks(), {}, own),
                     Batches({}, 0, 1, 0), noise, 1, 0);
  chain.start(std::vector<float>(300001, 0));
  chain.use_threads(3);
  for (int n = 0; n < 4; ++n) chain.step();
  chain.q();
  EXPECT_GE(seen.size(), 2u);
  EXPECT_LE(seen.size(), 3u);
}

// Fast `(OBA)3` beside slow `OBA(.A)2`: the slow part reads the gradient at one meeting in three.
TEST(Chain, OnlyPartsThatReadTheGradientAskForIt) {
  struct Watched : TwoBlocks {
    std::vector<std::string>* asked;
    double operator()(Weights<const double> q, const Evaluation& e, Weights<double> g) override {
      const double U = TwoBlocks::operator()(q, e, g);
      std::string now;
      for (std::size_t b = 0; b < 2; ++b)
        if (e.wanted.empty() || e.wanted[b]) now += list[b].name[0];
        else std::fill_n(g[b], list[b].size(), NAN);  // what was not asked for must not be read
      asked->push_back(now);
      return U;
    }
    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Watched>(*this); }
  };
  Noise<double> noise;
  std::vector<std::string> asked;
  Watched U;
  U.asked = &asked;
  auto fast = moving("(OBA)3", 0.3), slow = moving("OBA(.A)2", 0.3);
  fast.blocks = {"first"}, slow.blocks = {"second"};
  const Recipe recipe = make_recipe({{"fast", fast}, {"slow", slow}}, {}, U.blocks(), {});
  Chain<double> chain(U.clone(), recipe, Batches({}, 0, 5, 2), noise, 5, 2),
      plain(TwoBlocks().clone(), recipe, Batches({}, 0, 5, 2), noise, 5, 2);
  const std::vector<double> start(3700, 0.25);
  chain.start(start), plain.start(start);
  for (int n = 0; n < 2; ++n) chain.step(), plain.step();
  EXPECT_EQ(asked, (std::vector<std::string>{"fs", "f", "f", "fs", "f", "f"}));
  EXPECT_TRUE(std::ranges::equal(chain.q(), plain.q()));
}

TEST(Chain, MomentaThatDecayEndAtZeroAndNotJustAboveIt) {
  Walker<float> w(gaussian({1}), moving("OA", 1, 1, 0));
  w.chain.place(std::vector<float>{0}, std::vector<float>{1});
  for (int n = 0; n < 87; ++n) w.chain.step();
  EXPECT_GT(w.chain.p()[0], 0) << "e^-87 has full precision";
  w.chain.step();
  EXPECT_EQ(w.chain.p()[0], 0) << "e^-88 has not";
}

TEST(Chain, AStepAllocatesNothing) {
  for (const char* scheme : {"BAOAB", "UBU", "OBA", "S", "R{(BAB)3}"}) {
    Walker<float> w(gaussian({1, 4}), moving(scheme, 0.3));
    for (int n = 0; n < 10; ++n) w.chain.step_and_read();
    const std::size_t before = allocations;
    for (int n = 0; n < 10; ++n) w.chain.step(), w.chain.step_and_read();
    EXPECT_EQ(allocations, before) << scheme;
  }
}

TEST(Chain, ABlowUpStopsTheRunWithAdvice) {
  Walker<double> w(gaussian({1}), moving("BAOAB", 3));
  try {
    for (int n = 0; n < 100000; ++n) w.chain.step();
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("part \"all\" (scheme BAOAB, step 3, temperature 1)"));
    EXPECT_THAT(e.what(), HasSubstr("try a smaller step"));
  }
}

TEST(Chain, BracesNeedOneTemperatureAndAllTheData) {
  const auto refused = [](const PartSettings& part, bool full) {
    Noise<double> noise;
    const auto toy = make_toy<double>(gaussian({1}));
    BatchSettings batch;
    if (!full) batch.size.text = "2";
    try {
      Chain<double>(toy->clone(), recipe_for(*toy, part), Batches(batch, full ? 0 : 10, 1, 0), noise, 1, 0);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused(moving("R{BAB}", 0.1), false), HasSubstr("batch.size = \"full\""));
  EXPECT_THAT(refused(moving("R{BAB}", 0.1, 1, 0), true), HasSubstr("one constant temperature above 0"));
  EXPECT_EQ(refused(moving("R{BAB}", 0.1), true), "");
}

// ---- Metropolis, by runs with their own standard errors

std::vector<double> series(const Choice& toy, const PartSettings& part, int steps, double (*f)(double)) {
  Walker<double> w(toy, part, 11);
  std::vector<double> out;
  for (int n = 0; n < steps; ++n) {
    w.chain.step();
    out.push_back(f(w.chain.q()[0]));
  }
  return out;
}
double square(double x) { return x * x; }
double itself(double x) { return x; }

TEST(Metropolis, HmcIsExactOnAGaussianWhereItsStringIsNot) {
  // ten inner steps of 1.5: Verlet alone has <q^2> = 1/(1 - 1.5^2/4) = 2.29
  const int steps = 40000;
  const Estimate with = estimate(series(gaussian({1}), moving("R{(BAB)10}", 15), steps, square));
  const Estimate without = estimate(series(gaussian({1}), moving("R(BAB)10", 15), steps, square));
  EXPECT_LT(std::abs(with.deviation(1)), 4) << with.mean << " +- " << with.error;
  EXPECT_LT(with.error, 0.02);
  EXPECT_LT(std::abs(without.deviation(1 / (1 - 1.5 * 1.5 / 4))), 4) << without.mean;
}

TEST(Metropolis, HmcIsExactOnASkewedTargetWhereItsStringIsNot) {
  const Choice toy("skewed");
  const Moments exact_law = exact_moments(toy, 1);
  const int steps = 60000;
  const auto with = estimate(series(toy, moving("R{(BAB)3}", 2.4), steps, itself));
  const auto without = estimate(series(toy, moving("R(BAB)3", 2.4), steps, itself));
  EXPECT_LT(std::abs(with.deviation(exact_law.mean[0])), 4)
      << with.mean << " +- " << with.error << " exact " << exact_law.mean[0];
  EXPECT_GT(std::abs(without.deviation(exact_law.mean[0])), 8) << "the step is too small to tell the two apart";
}

TEST(Metropolis, GhmcNeedsItsReversalAndHasIt) {
  const int steps = 200000;
  const auto q = estimate(series(gaussian({1}), moving("O{BAB}O", 1.4, 0.7), steps, square));
  EXPECT_LT(std::abs(q.deviation(1)), 4) << q.mean << " +- " << q.error;
  EXPECT_LT(q.error, 0.01);
}

TEST(Metropolis, AProposalThatBlowsUpIsRejected) {
  Walker<double> w(Choice("skewed"), moving("R{(BAB)20}", 400));
  for (int n = 0; n < 50; ++n) w.chain.step_and_read();
  EXPECT_TRUE(std::isfinite(w.chain.q()[0]));
  EXPECT_LT(w.chain.reading().acceptance, 0.5);
}

}  // namespace
}  // namespace kelvin
