// SPDX-License-Identifier: Apache-2.0
// HMC and NUTS, with what their warm-up finds, on posteriors that are known: by formula, by quadrature, and for the
// eight schools by the reference draws of posteriordb too.

#include "kelvin/core/toml.h"
#include "tests/files.h"
#include "tests/json.h"
#include "tests/support.h"

namespace kelvin {
namespace {

Choice with(const std::string& toml) {
  Value v = parse_toml("it = " + toml, "test");
  Choice c;
  assign(c, std::get<Value::Group>(v.is).at("it"), "toy");
  return c;
}

struct Sampled {
  std::vector<std::vector<double>> draws;  // of each coordinate
  int divergences = 0;
};
Sampled sampled(const Choice& toy, const std::string& scheme, int draws, double acceptance = 0.8) {
  const auto u = make_toy<double>(toy);
  Recipe recipe = recipe_for(*u, moving(scheme, 1));
  recipe.tuning.adapt.step = true, recipe.tuning.adapt.acceptance = acceptance;
  recipe.tuning.adapt.metric = "diagonal", recipe.tuning.warmup = 1000;
  if (scheme == "hmc") recipe.tuning.jitter = {0.2, 0.7};
  const Noise<double> noise;
  Chain<double> chain(u->clone(), recipe, Batches({}, 0, 11, 0), noise, 11, 0);
  chain.start(std::vector<double>(recipe.size, 0.0));
  for (int n = 0; n < 1000; ++n) chain.step();
  Sampled out;
  out.draws.resize(recipe.size);
  for (int n = 0; n < draws; ++n) {
    chain.step_and_read();
    out.divergences += chain.reading().diverging;
    for (std::size_t i = 0; i < recipe.size; ++i) out.draws[i].push_back(chain.q()[i]);
  }
  return out;
}

template <class F>
Estimate mean_of(const Sampled& s, F&& f) {
  std::vector<double> values, q(s.draws.size());
  for (std::size_t n = 0; n < s.draws[0].size(); ++n) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = s.draws[i][n];
    values.push_back(f(q));
  }
  return estimate(values);
}

void expect_moments(const Choice& toy, const std::string& scheme, int draws) {
  const Sampled s = sampled(toy, scheme, draws);
  const Moments exact = exact_moments(toy, 1);
  for (std::size_t i = 0; i < exact.mean.size(); ++i) {
    const Estimate m = mean_of(s, [&](const auto& q) { return q[i]; });
    const Estimate v = mean_of(s, [&](const auto& q) { return std::pow(q[i] - exact.mean[i], 2); });
    EXPECT_LT(std::abs(m.deviation(exact.mean[i])), 4) << toy.name << " " << scheme << " " << i << ": " << m.mean;
    EXPECT_LT(std::abs(v.deviation(exact.variance[i])), 4) << toy.name << " " << scheme << " " << i << ": " << v.mean;
    EXPECT_LT(m.error, 0.1 * std::sqrt(exact.variance[i])) << toy.name << " " << scheme << ": too few to tell";
  }
}

TEST(Posteriors, AGaussianOfManyWidths) {
  const Choice toy = with("{ name = 'gaussian', stiffness = [1.0, 4.0, 100.0, 0.01, 900.0], mean = 3.0 }");
  expect_moments(toy, "nuts", 10000);
  expect_moments(toy, "hmc", 20000);
}

TEST(Posteriors, ABanana) {
  const Choice toy = with("{ name = 'banana', a = 4.0, b = 0.3 }");
  expect_moments(toy, "nuts", 20000);
  expect_moments(toy, "hmc", 40000);
}

TEST(Posteriors, AFunnelNeedsTheRightCoordinates) {
  const char* centred = "{ name = 'funnel', scale = 3.0, dimension = 10 }";
  const char* not_centred = "{ name = 'funnel', scale = 3.0, dimension = 10, centred = 0 }";
  for (const char* scheme : {"nuts", "hmc"}) {
    expect_moments(with(not_centred), scheme, 10000);
    const Sampled right = sampled(with(not_centred), scheme, 10000), wrong = sampled(with(centred), scheme, 10000);
    // The neck is hardly ever entered, and rarely left: v is known 5 to 15 times worse, whatever the seed.
    const auto v = [](const auto& q) { return q[0]; };
    EXPECT_GT(mean_of(wrong, v).error, 3 * mean_of(right, v).error) << scheme;
    EXPECT_GT(wrong.divergences, 0) << scheme << ": the failure is to be seen";
    EXPECT_EQ(right.divergences, 0) << scheme;
  }
}

TEST(Posteriors, EightSchools) {
  const Choice toy = with("{ name = 'eight_schools' }");
  expect_moments(toy, "nuts", 20000);
  expect_moments(toy, "hmc", 30000);

  const Sampled s = sampled(toy, "nuts", 20000, 0.9);
  const Json reference = Json::parse(bytes_of(std::string(KELVIN_SOURCE_DIR) + "/tests/reference/eight_schools.json"));
  for (std::size_t k = 0; k < 10; ++k) {
    const auto value = [&](const std::vector<double>& q) {
      return k == 8 ? q[0] : k == 9 ? std::exp(q[1]) : q[0] + std::exp(q[1]) * q[2 + k];
    };
    const Estimate first = mean_of(s, value), second = mean_of(s, [&](const auto&q) { return std::pow(value(q), 2); });
    const double m = reference["mean"][k], m_error = reference["mean_error"][k];
    const double v = reference["square"][k], v_error = reference["square_error"][k];
    EXPECT_LT(std::abs(first.mean - m), 4 * std::hypot(first.error, m_error)) << reference["names"][k];
    EXPECT_LT(std::abs(second.mean - v), 4 * std::hypot(second.error, v_error)) << reference["names"][k];
    EXPECT_LT(first.error, 0.15) << "too few to tell";
  }
}

TEST(Posteriors, EightSchoolsByQuadratureAreThoseOfTheReference) {
  const Moments exact = exact_moments(with("{ name = 'eight_schools', centred = 1 }"), 1);
  const Json reference = Json::parse(bytes_of(std::string(KELVIN_SOURCE_DIR) + "/tests/reference/eight_schools.json"));
  for (std::size_t k = 0; k < 9; ++k) {
    const std::size_t i = k == 8 ? 0 : 2 + k;
    const double m = reference["mean"][k], v = reference["square"][k];
    EXPECT_NEAR(exact.mean[i], m, 4 * reference["mean_error"][k].as<double>());
    EXPECT_NEAR(exact.variance[i] + exact.mean[i] * exact.mean[i], v, 4 * reference["square_error"][k].as<double>());
  }
}

}  // namespace
}  // namespace kelvin
