// SPDX-License-Identifier: Apache-2.0
// The order of adaptive Langevin, without sampling: the mean over the noise of a step is a sum over Gauss-Hermite nodes
// that the running code is handed as its noise. One step and two of half the length differ by O(h^(order + 1)) in the
// mean of any function; an error of that order in a step is one of `order` in averages, also in those over the
// stationary law.
#include <Eigen/Eigenvalues>

#include "tests/support.h"

namespace kelvin {
namespace {

// Hands out given numbers, in the order in which they are asked for.
struct Given : Noise<double> {
  mutable std::size_t asked = 0;
  std::vector<double> z;
  void normals(const Stream&, std::size_t, std::span<double> out) const override {
    for (double& x : out) x = asked < z.size() ? z[asked] : 0, ++asked;
  }
};

// Nodes and weights of a standard normal: eigenvalues of the matrix with sqrt(1), sqrt(2), ... beside its diagonal.
struct Nodes {
  Eigen::VectorXd at, weight;
};
Nodes nodes(int n) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(n, n);
  for (int k = 1; k < n; ++k) m(k, k - 1) = m(k - 1, k) = std::sqrt(k);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m);
  return {solver.eigenvalues(), solver.eigenvectors().row(0).array().square()};
}

struct Means {
  double q, p, product, xi;
};

// Means of q^2, p^2, q p and xi^2 after so many steps from a fixed state on the double well.
Means means_after(int steps, const std::string& scheme, double h) {
  static const Nodes rule = nodes(8);
  PartSettings part = moving(scheme, h);
  part.sigma = number(0.9), part.eps = number(0.7), part.xi = 0;
  const Choice toy("double_well", {{"height", {0.5, ""}}, {"tilt", {0.3, ""}}});
  Given noise;
  Chain<double> chain(make_toy<double>(toy), recipe_for(*make_toy<double>(toy), part), Batches({}, 0, 1, 0), noise, 1,
                      0);
  chain.start(std::vector{0.7});
  ChainState<double> state = chain.state();
  state.p = {-0.6}, state.xi = {0.8};
  chain.restore(state), noise.asked = 0;
  chain.step();
  const std::size_t normals = noise.asked * std::size_t(steps), count = std::size_t(rule.at.size());
  Means out{};
  std::vector<std::size_t> place(normals, 0);
  noise.z.resize(normals);
  for (;;) {
    double weight = 1;
    for (std::size_t k = 0; k < normals; ++k)
      noise.z[k] = rule.at[Eigen::Index(place[k])], weight *= rule.weight[Eigen::Index(place[k])];
    chain.restore(state), noise.asked = 0;
    for (int n = 0; n < steps; ++n) chain.step();
    const double q = chain.q()[0], p = chain.p()[0], xi = chain.state().xi[0];
    out.q += weight * q * q, out.p += weight * p * p, out.product += weight * q * p, out.xi += weight * xi * xi;
    std::size_t k = 0;
    while (k < normals && ++place[k] == count) place[k++] = 0;
    if (k == normals) return out;
  }
}

Means difference(const std::string& scheme, double h) {
  const Means one = means_after(1, scheme, h), two = means_after(2, scheme, h / 2);
  return {one.q - two.q, one.p - two.p, one.product - two.product, one.xi - two.xi};
}

// The slope between h and h/2 differs from order + 1 by O(h), some four times h here.
void expect_order(const std::string& scheme, double order) {
  const Means coarse = difference(scheme, 0.01), fine = difference(scheme, 0.005);
  EXPECT_NEAR(std::log2(coarse.q / fine.q), order + 1, 0.1) << scheme;
  EXPECT_NEAR(std::log2(coarse.p / fine.p), order + 1, 0.1) << scheme;
  EXPECT_NEAR(std::log2(coarse.product / fine.product), order + 1, 0.1) << scheme;
  EXPECT_NEAR(std::log2(coarse.xi / fine.xi), order + 1, 0.1) << scheme;
}

TEST(AdaptiveOrder, NamedSchemesHaveTheOrderTheyClaim) {
  int adaptive = 0;
  for (const NamedScheme& s : schemes())
    if (parse_scheme(s.text).adaptive && !std::isnan(s.order)) expect_order(std::string(s.text), s.order), ++adaptive;
  EXPECT_GE(adaptive, 3);
}

TEST(AdaptiveOrder, StringsThatReadOtherwiseBackwardsHaveOrderOne) {
  const Means coarse = difference("BAFE", 0.01), fine = difference("BAFE", 0.005);
  EXPECT_NEAR(std::log2(coarse.p / fine.p), 2, 0.1);
  EXPECT_NEAR(std::log2(coarse.xi / fine.xi), 2, 0.1);
}

}  // namespace
}  // namespace kelvin
