// SPDX-License-Identifier: Apache-2.0
// Words against papers: the strings of each partitioned method, beside its update formulas as they are printed.
#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/dynamics/preset.h"
#include "kelvin/energy/penalty.h"
#include "kelvin/run/settings.h"
#include "tests/coupled.h"
#include "tests/files.h"
#include "tests/support.h"

namespace kelvin {
namespace {

using Vec = std::vector<double>;

constexpr int steps = 50;
constexpr std::uint64_t seed = 7;

// The state of the formulas: q and p of the two groups, and the forces G = -grad U.
struct Formula {
  Vec x = {0.3, -0.5, 0.2}, y = {-0.4, 0.1, 0.6}, px, py, G1, G2;
  Coupled U;
  Formula() : px(size, 0.0), py(size, 0.0), G1(size), G2(size) { forces(); }
  void forces() {
    Vec q(x), g(2 * size);
    q.insert(q.end(), y.begin(), y.end());
    evaluated(U, q, {}, g);
    for (std::size_t i = 0; i < size; ++i) G1[i] = -g[i], G2[i] = -g[size + i];
  }
};

void add(Vec& to, double c, const Vec& what) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += c * what[i];
}
void mix(Vec& p, double keep, double spread, const Vec& R) {
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = keep * p[i] + spread * R[i];
}

// The normals that a letter draws: number `place` of its string at step n.
Vec R(const std::string& part, int n, std::uint16_t place) {
  Vec z(size);
  normals({stream_key(seed, "part " + part), 0, std::uint64_t(n), place}, 0, std::span(z));
  return z;
}
Vec initial_momenta(const std::string& part, double T) {
  Vec z(size);
  normals({stream_key(seed, "start " + part), 0, 0, 0}, 0, std::span(z));
  for (double& p : z) p *= std::sqrt(T);
  return z;
}

// The run file's parts on the coupled potential, stepped beside formulas that are advanced by `step`.
template <class Step>
void compare(const std::string& toml, Formula f, Step&& step) {
  Value file = parse_toml(toml + "\n[model]\nlayers = [1, 1, 1]\n", "test");
  const RunSettings settings = read_run_settings(file);
  std::vector<BlockPenalty> decay;
  const std::vector<Block> formula_blocks = Coupled().blocks();
  for (const auto& [name, part] : settings.part)
    for (const Block& b : formula_blocks)
      if (matches(part.blocks[0], b.name) && part.weight_decay > 0)
        decay.push_back({b.name, Choice::number_of("l2", "strength", part.weight_decay)});
  const Energy<double> U = with_terms(std::make_unique<Coupled>(), {}, decay);
  const Recipe recipe = make_recipe(settings.part, {}, U.blocks(), {});
  const Noise<double> noise;
  Chain<double> chain(U, recipe, Batches({}, 0, seed, 0), noise, seed, 0);
  const bool swapped = recipe.blocks[0].name[5] == '2';  // parts stand in the order of their names
  Vec q(swapped ? f.y : f.x);
  q.insert(q.end(), (swapped ? f.x : f.y).begin(), (swapped ? f.x : f.y).end());
  chain.start(q);
  for (int n = 0; n < steps; ++n) {
    chain.step();
    step(f, n);
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_NEAR(chain.q()[swapped ? size + i : i], f.x[i], 1e-14) << "step " << n;
      ASSERT_NEAR(chain.q()[swapped ? i : size + i], f.y[i], 1e-14) << "step " << n;
    }
  }
  EXPECT_GT(std::abs(f.x[0] - 0.3), 1e-3) << "nothing moved";
}

TEST(Words, LangevinInLayers) {
  const double h = 0.2, T1 = 0.3, T2 = 0.05, g1 = 0.7, g2 = 4;
  Formula f;
  f.px = initial_momenta("layer1", T1), f.py = initial_momenta("layer2", T2);
  compare(R"(
preset = { name = "langevin", step = 0.2 }
part = { layer1 = { blocks = "layer1.*", temperature = 0.3, friction = 0.7 }, layer2 = { blocks = "layer2.*", temperature = 0.05, friction = 4 } })",
          f, [=](Formula& s, int n) {
            add(s.px, h / 2, s.G1), add(s.py, h / 2, s.G2), add(s.x, h / 2, s.px), add(s.y, h / 2, s.py);
            const double a1 = std::exp(-g1 * h), a2 = std::exp(-g2 * h);
            mix(s.px, a1, std::sqrt(T1 * (1 - a1 * a1)), R("layer1", n, 2));
            mix(s.py, a2, std::sqrt(T2 * (1 - a2 * a2)), R("layer2", n, 2));
            add(s.x, h / 2, s.px), add(s.y, h / 2, s.py);
            s.forces();
            add(s.px, h / 2, s.G1), add(s.py, h / 2, s.G2);
          });
}

TEST(Words, Lol) {
  const double h = 0.2, T = 0.3, alpha = std::exp(-0.7 * h);
  Formula f;
  f.px = initial_momenta("hidden", T);
  compare(R"(preset = { name = "lol", step = 0.2, temperature = 0.3, friction = 0.7 })", f, [=](Formula& s, int n) {
    const Vec force = s.G2;  // the second group: theta2 += (h^2/2) G2(theta_n), its temperature being 0
    add(s.px, h / 2, s.G1), add(s.x, h / 2, s.px);
    mix(s.px, alpha, std::sqrt(T * (1 - alpha * alpha)), R("hidden", n, 2));
    add(s.x, h / 2, s.px);
    add(s.y, h * h / 2, force);
    s.forces();
    add(s.px, h / 2, s.G1);
  });
}

TEST(Words, LolWithNoiseInItsSecondGroup) {
  const double h = 0.2, T1 = 0.3, T2 = 0.1, alpha = std::exp(-0.7 * h);
  Formula f;
  f.px = initial_momenta("hidden", T1);
  f.py = initial_momenta("output", T2);  // R of the step before the first
  Vec before = f.py;
  for (double& x : before) x /= std::sqrt(T2);
  compare(R"(
preset = { name = "lol", step = 0.2, friction = 0.7 }
part = { hidden = { blocks = "layer1.*", temperature = 0.3 }, output = { blocks = "layer2.*", temperature = 0.1 } })",
          f, [=](Formula& s, int n) mutable {
            const Vec force = s.G2, now = R("output", n, 2);
            add(s.px, h / 2, s.G1), add(s.x, h / 2, s.px);
            mix(s.px, alpha, std::sqrt(T1 * (1 - alpha * alpha)), R("hidden", n, 2));
            add(s.x, h / 2, s.px);
            add(s.y, h * h / 2, force);
            add(s.y, h / 2 * std::sqrt(T2), before), add(s.y, h / 2 * std::sqrt(T2), now);
            before = now;
            s.forces();
            add(s.px, h / 2, s.G1);
          });
}

TEST(Words, Dhsgd) {
  const double h = 0.2;
  compare(R"(preset = { name = "dhsgd", step = 0.2 })", {}, [=](Formula& s, int) {
    const Vec force = s.G2;
    add(s.px, h / 2, s.G1), add(s.x, h, s.px), add(s.y, h * h / 2, force);
    s.forces();
    add(s.px, h / 2, s.G1);
  });
}

TEST(Words, DhsgdContractive) {
  const double h = 0.2;
  compare(R"(preset = { name = "dhsgdc", step = 0.2 })", {}, [=](Formula& s, int) {
    const Vec force = s.G2;
    add(s.px, h / 2, s.G1), add(s.x, h, s.px), add(s.y, h, force);
    s.forces();
    add(s.px, h / 2, s.G1);
  });
}

double square(const Vec& p) {
  double sum = 0;
  for (const double x : p) sum += x * x;
  return sum;
}

// B A C D E D C A B with half steps but for E
void adaptive_middle(Vec& p, double& xi, const std::string& part, int n, double eps_in_damping) {
  const double h = 0.2, eps = 0.4, sigma = 0.6, T = 0.3;
  mix(p, std::exp(-h / 2 * eps_in_damping * xi), 0, p), add(p, sigma * std::sqrt(h / 2), R(part, n, 3));
  xi += h * eps * (square(p) - double(size) * T);
  add(p, sigma * std::sqrt(h / 2), R(part, n, 5)), mix(p, std::exp(-h / 2 * eps_in_damping * xi), 0, p);
}

TEST(Words, AdaptiveLangevinInLayers) {
  const double h = 0.2;
  Formula f;
  f.px = initial_momenta("layer1", 0.3), f.py = initial_momenta("layer2", 0.3);
  compare(R"(preset = { name = "adl", step = 0.2, temperature = 0.3, sigma = 0.6, eps = 0.4 })", f,
          [=, xi1 = 0.0, xi2 = 0.0](Formula& s, int n) mutable {
            add(s.px, h / 2, s.G1), add(s.py, h / 2, s.G2), add(s.x, h / 2, s.px), add(s.y, h / 2, s.py);
            adaptive_middle(s.px, xi1, "layer1", n, 1), adaptive_middle(s.py, xi2, "layer2", n, 1);
            add(s.x, h / 2, s.px), add(s.y, h / 2, s.py);
            s.forces();
            add(s.px, h / 2, s.G1), add(s.py, h / 2, s.G2);
          });
}

TEST(Words, Adlala) {
  const double h = 0.2, alpha = std::exp(-0.7 * h), T = 0.3;
  Formula f;
  f.px = initial_momenta("hidden", T), f.py = initial_momenta("output", T);
  for (const auto& [damping, factor] : {std::pair{"xi", 1.0}, {"eps xi", 0.4}})
    compare(
        fmt::format(
            R"(preset = {{ name = "adlala", step = 0.2, temperature = 0.3, sigma = 0.6, eps = 0.4, friction = 0.7, damping = "{}" }})",
            damping),
        f, [=, xi = 0.0, by = factor](Formula& s, int n) mutable {
          add(s.px, h / 2, s.G1), add(s.py, h / 2, s.G2), add(s.x, h / 2, s.px), add(s.y, h / 2, s.py);
          adaptive_middle(s.px, xi, "hidden", n, by);
          mix(s.py, alpha, std::sqrt(T * (1 - alpha * alpha)), R("output", n, 2));
          add(s.x, h / 2, s.px), add(s.y, h / 2, s.py);
          s.forces();
          add(s.px, h / 2, s.G1), add(s.py, h / 2, s.G2);
        });
}

// ---- multirate: theta -= h p with p = mu p + grad U, as the papers print it (PyTorch's momentum)

constexpr double slow_rate = 0.05, mu = 0.9;
constexpr int k = 5;

// Linear drift: fast (OBA)k, slow OBA(.A)(k-1). With t the time between two kicks, mu = e^(-gamma t); the rate of a
// kick is its time times that of the drift that follows.
void multirate_with_drift(double decay_slow, double decay_fast) {
  const double fast_time = std::sqrt(slow_rate / k), slow_time = std::sqrt(slow_rate);
  compare(fmt::format(R"(
[part.fast]
blocks = "layer2.*"
scheme = "(OBA)5"
step = {:.17g}
friction = {:.17g}
temperature = 0
weight_decay = {}
[part.slow]
blocks = "layer1.*"
scheme = "OBA(.A)4"
step = {:.17g}
friction = {:.17g}
temperature = 0
weight_decay = {})",
                      k * fast_time, -std::log(mu) / fast_time, decay_fast, slow_time, -std::log(mu) / slow_time,
                      decay_slow),
          {}, [=](Formula& s, int) {
            // p_S = mu p_S + grad_S; k times: p_F = mu p_F + grad_F, theta_F -= (h/k) p_F, theta_S -= (h/k) p_S
            for (std::size_t i = 0; i < size; ++i) s.px[i] = mu * s.px[i] - s.G1[i] + decay_slow * s.x[i];
            for (int n = 0; n < k; ++n) {
              s.forces();
              for (std::size_t i = 0; i < size; ++i) s.py[i] = mu * s.py[i] - s.G2[i] + decay_fast * s.y[i];
              add(s.y, -slow_rate / k, s.py), add(s.x, -slow_rate / k, s.px);
            }
            s.forces();
          });
}

TEST(Words, MultirateWithLinearDrift) { multirate_with_drift(0, 0); }

TEST(Words, MultirateWithWeightDecay) { multirate_with_drift(0.3, 0.1); }

TEST(Words, MultirateWithoutDrift) {
  compare(R"(
[part.fast]
blocks = "layer2.*"
scheme = ".(h)5"
step = 0.05
temperature = 0
[part.slow]
blocks = "layer1.*"
scheme = "h(.)5"
step = 0.05
temperature = 0)",
          {}, [](Formula& s, int n) {
            for (std::size_t i = 0; i < size; ++i) s.px[i] = (n ? mu * s.px[i] : 0) - s.G1[i];
            add(s.x, -slow_rate, s.px);
            for (int m = 0; m < k; ++m) {
              s.forces();
              for (std::size_t i = 0; i < size; ++i) s.py[i] = (n || m ? mu * s.py[i] : 0) - s.G2[i];
              add(s.y, -slow_rate / k, s.py);
            }
            s.forces();
          });
}

// Three scales nest: the slowest and the middle one drift with momenta that wait.
TEST(Words, MultirateOnThreeScales) {
  Value file = parse_toml(R"(
model.layers = [1, 1, 1]
[part.fast]
blocks = "c"
scheme = "(OBA)4"
step = 0.4
friction = 1
temperature = 0
[part.middle]
blocks = "b"
scheme = "(OBA.A)2"
step = 0.4
friction = 1
temperature = 0
[part.slow]
blocks = "a"
scheme = "OBA(.A)3"
step = 0.4
friction = 1
temperature = 0)",
                          "test");
  const RunSettings settings = read_run_settings(file);
  // U = (a^4 + b^4 + c^4)/4 + a b + b c - c
  struct Three : Potential<double> {
    std::vector<Block> list{{.name = "a", .shape = {1}},
                            {.name = "b", .shape = {1}, .offset = 1},
                            {.name = "c", .shape = {1}, .offset = 2}};
    const std::vector<Block>& blocks() const override { return list; }
    double operator()(Weights<const double> q, const Evaluation&, Weights<double> g) override {
      const double a = *q[0], b = *q[1], c = *q[2];
      *g[0] = a * a * a + b;
      *g[1] = b * b * b + a + c;
      *g[2] = c * c * c + b - 1;
      return (a * a * a * a + b * b * b * b + c * c * c * c) / 4 + a * b + b * c - c;
    }
    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Three>(*this); }
  };
  const Three U;
  const Recipe recipe = make_recipe(settings.part, {}, U.blocks(), {});
  const Noise<double> noise;
  Chain<double> chain(U.clone(), recipe, Batches({}, 0, 1, 0), noise, 1, 0);
  double a = 0.3, b = -0.2, c = 0.5, pa = 0, pb = 0, pc = 0;
  chain.start(Vec{c, b, a});  // parts stand in the order of their names
  const double h = 0.4;
  for (int n = 0; n < steps; ++n) {
    chain.step();
    pa = std::exp(-h) * pa - h * (a * a * a + b);
    for (int i = 0; i < 2; ++i) {
      pb = std::exp(-h / 2) * pb - h / 2 * (b * b * b + a + c);
      for (int j = 0; j < 2; ++j) {
        pc = std::exp(-h / 4) * pc - h / 4 * (c * c * c + b - 1);
        a += h / 4 * pa, b += h / 4 * pb, c += h / 4 * pc;
      }
    }
    ASSERT_NEAR(chain.q()[0], c, 1e-14) << n;
    ASSERT_NEAR(chain.q()[1], b, 1e-14) << n;
    ASSERT_NEAR(chain.q()[2], a, 1e-14) << n;
  }
}

// ---- reversible averaging: x is slow, y fast; the mean of the slow force over the fast flow by the trapezoidal rule

// k steps of Verlet of the fast group with time h/k each and the slow one at rest or drifting; returns the mean slow
// force on the way.
Vec fast_flow(Formula& s, double h, int inner, bool drifts) {
  Vec sum(size, 0.0);
  for (int n = 0; n < inner; ++n) {
    s.forces();
    add(sum, 0.5 / inner, s.G1), add(s.py, h / 2 / inner, s.G2), add(s.y, h / inner, s.py);
    if (drifts) add(s.x, h / inner, s.px);
    s.forces();
    add(sum, 0.5 / inner, s.G1), add(s.py, h / 2 / inner, s.G2);
  }
  return sum;
}

void reversible_averaging(const char* preset, bool drifts) {
  const double h = 0.2, T = 0.3;
  Formula f;
  f.px = initial_momenta("slow", T), f.py = initial_momenta("fast", T);
  compare(fmt::format(R"(preset = {{ name = "{}", step = 0.2, temperature = 0.3 }})", preset), f, [=](Formula& s, int) {
    Formula ahead = s;
    add(s.px, h / 2, fast_flow(ahead, h, 10, false));
    if (!drifts) add(s.x, h / 2, s.px);
    fast_flow(s, h, 10, drifts);
    if (!drifts) add(s.x, h / 2, s.px);
    Formula back = s;
    mix(back.py, -1, 0, back.py);
    add(s.px, h / 2, fast_flow(back, h, 10, false));
  });
}

TEST(Words, ReversibleAveraging) { reversible_averaging("ra0", false); }

TEST(Words, ReversibleAveragingWithDrift) { reversible_averaging("ra1", true); }

TEST(Words, TheSlowPartWaitsForGradientsItDoesNotNeed) {
  struct Counted : Coupled {
    std::shared_ptr<std::vector<int>> asked = std::make_shared<std::vector<int>>(2, 0);
    double operator()(Weights<const double> q, const Evaluation& e, Weights<double> g) override {
      for (std::size_t b = 0; b < 2; ++b) (*asked)[b] += e.wanted.empty() || e.wanted[b];
      return Coupled::operator()(q, e, g);
    }
    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Counted>(*this); }
  };
  auto fast = moving("(OBA)5", 0.1, 1, 0), slow = moving("OBA(.A)4", 0.1, 1, 0);
  fast.blocks = {"layer2.*"}, slow.blocks = {"layer1.*"};
  const Counted U;
  const Noise<double> noise;
  Chain<double> chain(U.clone(), make_recipe({{"fast", fast}, {"slow", slow}}, {}, U.blocks(), {}),
                      Batches({}, 0, 1, 0), noise, 1, 0);
  chain.start(Vec(2 * size, 0.1));
  for (int n = 0; n < 100; ++n) chain.step();
  EXPECT_EQ((*U.asked)[0], 100) << "the slow layer, which lies before the fast one: no backward pass through it";
  EXPECT_EQ((*U.asked)[1], 500);
}

}  // namespace
}  // namespace kelvin
