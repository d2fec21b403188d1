// SPDX-License-Identifier: Apache-2.0
// The bias that a certificate states is the bias that a long run shows against the exact law.
#include "kelvin/analysis/certify.h"

#include "tests/files.h"
#include "tests/support.h"

namespace kelvin {
namespace {

Problem<double> problem_of(const Choice& toy, const PartSettings& part) {
  RunSettings settings;
  settings.model.toy = toy;
  settings.part["all"] = part;
  settings.precision = "double";
  return make_problem<double>(settings, [](std::string_view) {});
}

const Bias& of(const Certificate& certificate, const std::string& name) {
  for (const Bias& b : certificate.biases)
    if (b.of == name) return b;
  throw Error("no bias of {}", name);
}

void quiet(double) {}

struct Case {
  const char* word;
  Choice toy;
  double step, temperature;
};

TEST(Certify, Explore) {
  for (const Case& c : {Case{"BAOAB", Choice("skewed"), 0.5, 1}, {"OBABO", Choice("skewed"), 0.3, 1},
                        {"BAOAB", Choice("quartic"), 0.3, 1}, {"OBABO", Choice("quartic"), 0.25, 1},
                        {"BAOAB", Choice("double_well"), 0.2, 1}, {"S", Choice("skewed"), 0.05, 1}, {"BAO", Choice("skewed"), 0.1, 1}, {"BARAB", Choice("skewed"), 0.7, 1}, {"UBU", Choice("skewed"), 0.5, 1}}) {
    const Problem<double> problem = problem_of(c.toy, moving(c.word, c.step, 1, c.temperature));
    const Certificate found = certify(problem, {.steps = 200'000, .warmup = 1000, .pairs = 4, .threads = 1}, quiet);
    const Moments exact = exact_moments(c.toy, c.temperature);
    Walker<double> walker(c.toy, moving(c.word, c.step, 1, c.temperature), 77);
    std::vector<double> q2;
    for (int n = 0; n < 2'000'000; ++n) walker.chain.step(), q2.push_back(walker.chain.q()[0] * walker.chain.q()[0]);
    const Estimate e = estimate(q2);
    const Bias& b = of(found, "q[0]^2");
    const double truth = exact.variance[0] + exact.mean[0] * exact.mean[0];
    printf("%s %s order %g: bias %g +- %g (long run %g +- %g) gain %g mean %g exact %g U %g +- %g\n", c.word, c.toy.name.c_str(), found.order, b.bias, b.error,
           e.mean - truth, e.error, b.gain(), b.mean, truth, of(found, "U").bias, of(found, "U").error);
  }
}

}  // namespace
}  // namespace kelvin
