// SPDX-License-Identifier: Apache-2.0
// Continuous tempering against exact laws: draws at the target, shares of time, round trips; and what must fail.
#include "tests/tempered.h"

namespace kelvin {
namespace {

double well_energy(double x) { return 3 * std::pow(x * x - 1, 2) + x / 4; }

// What is seen of a walker on the double well (or of the first coordinate of a Gaussian).
struct Seen {
  Target target{2};  // x > 0, U
  std::vector<double> inside, heat;
  Estimate share() const { return estimate(inside); }
  double alpha_heat() const { return estimate(heat).mean; }
};

template <class Real>
Seen watch(TemperedWalker<Real>& w, long warmup, long steps, double (*energy)(double) = well_energy) {
  Seen seen;
  for (long n = 0; n < warmup; ++n) w.chain->step();
  const std::size_t last = w.problem.recipe.parts.size() - 1;
  for (long n = 0; n < steps; ++n) {
    w.chain->step();
    const double x = double(w.chain->q()[0]), p = double(w.chain->p().back());
    seen.inside.push_back(w.at_target());
    seen.heat.push_back(p * p / w.chain->part(last).m / w.chain->part(last).T);
    if (w.at_target()) seen.target.see(std::size_t(n * 50 / steps), {double(x > 0), energy(x)});
  }
  return seen;
}

std::string with(const std::string& problem, long warmup, long steps, const std::string& tempering) {
  return fmt::format("warmup = {}\nsteps = {}\n", warmup, steps) + problem + "[tempering]\n" + tempering;
}

constexpr double right = 0.276823, energy = 0.162211;  // P(x > 0) and <U> at T = 0.5, by quadrature

struct Law {
  const char *form, *bias;
  double step, slack;  // slack: the error of the scheme in <U>/T
  long steps;
};

TEST(TemperingLaws, DrawsAtTheTargetAreExactInEveryFormWithEveryBias) {
  for (const Law& law : {Law{"potential", "none", 0.1, 0.003, 1000000}, Law{"potential", "mean_force", 0.1, 0.003, 1000000},
                         Law{"potential", "metadynamics", 0.1, 0.003, 1000000},
                         Law{"potential", "well_tempered", 0.1, 0.003, 1000000}, Law{"paper", "none", 0.1, 0.004, 1000000},
                         Law{"paper", "mean_force", 0.1, 0.004, 1000000}, Law{"paper", "metadynamics", 0.1, 0.004, 1000000},
                         Law{"paper", "well_tempered", 0.1, 0.004, 1000000},
                         Law{"euler", "mean_force", 0.01, 0.004, 3000000}}) {
    const std::string problem =
        fmt::format("model = {{ toy = {{ name = \"double_well\" }} }}\npart.all = {{ step = {}, temperature = 0.5 }}\n", law.step);
    const long warmup = law.steps / 5;
    TemperedWalker<double> w(
        with(problem, warmup, law.steps, fmt::format("form = \"{}\"\nbias = \"{}\"\n", law.form, law.bias)));
    const Seen seen = watch(w, warmup, law.steps);
    const Estimate P = seen.target.of(0), U = seen.target.of(1);
    EXPECT_NEAR(P.mean, right, 4 * P.error + law.slack / 2) << law.form << " " << law.bias;
    EXPECT_NEAR(U.mean / 0.5, energy / 0.5, 4 * U.error / 0.5 + law.slack) << law.form << " " << law.bias;
    EXPECT_LT(P.error, 0.01) << law.form << " " << law.bias << ": the barrier was crossed often";
    EXPECT_NEAR(seen.alpha_heat(), 1, 0.03) << law.form << " " << law.bias;
  }
}

}  // namespace
}  // namespace kelvin
