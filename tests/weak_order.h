// SPDX-License-Identifier: Apache-2.0
// The order of a scheme without sampling: the mean over the noise of a step is a sum over Gauss-Hermite nodes that the
// running code is handed as its noise. One step and two of half the length differ by O(h^(order + 1)) in the mean of
// any function; an error of that order in a step is one of `order` in averages, also in those over the stationary law.
#pragma once
#include <memory>

#include "kelvin/numeric/eigen.h"
#include "tests/support.h"

namespace kelvin {

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
inline Nodes nodes(int n) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(n, n);
  for (int k = 1; k < n; ++k) m(k, k - 1) = m(k - 1, k) = std::sqrt(k);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m);
  return {solver.eigenvalues(), solver.eigenvectors().row(0).array().square()};
}

// A chain of some step, and the state it starts from.
struct Prepared {
  std::unique_ptr<Given> noise = std::make_unique<Given>();
  std::unique_ptr<Chain<double>> chain;
  ChainState<double> state;
};

using Observe = std::function<std::vector<double>(Chain<double>&)>;

inline std::vector<double> means_after(int steps, const Prepared& from, const Observe& observe) {
  static const Nodes rule = nodes(8);
  Chain<double>& chain = *from.chain;
  Given& noise = *from.noise;
  const auto go = [&](int count) {
    chain.restore(from.state), noise.asked = 0;
    for (int n = 0; n < count; ++n) chain.step();
    return observe(chain);
  };
  std::vector<double> means(go(1).size(), 0.0);
  const std::size_t normals = noise.asked * std::size_t(steps), count = std::size_t(rule.at.size());
  std::vector<std::size_t> place(normals, 0);
  noise.z.resize(normals);
  for (;;) {
    double weight = 1;
    for (std::size_t k = 0; k < normals; ++k)
      noise.z[k] = rule.at[Eigen::Index(place[k])], weight *= rule.weight[Eigen::Index(place[k])];
    const std::vector<double> seen = go(steps);
    for (std::size_t i = 0; i < seen.size(); ++i) means[i] += weight * seen[i];
    std::size_t k = 0;
    while (k < normals && ++place[k] == count) place[k++] = 0;
    if (k == normals) return means;
  }
}

// By each of the means, from the steps h and h/2; what h leaves of it, O(h), comes with it.
inline std::vector<double> weak_orders(const std::function<Prepared(double step)>& prepare, const Observe& observe,
                                       double h) {
  const auto error = [&](double step) {
    std::vector<double> one = means_after(1, prepare(step), observe);
    const std::vector<double> two = means_after(2, prepare(step / 2), observe);
    for (std::size_t i = 0; i < one.size(); ++i) one[i] -= two[i];
    return one;
  };
  std::vector<double> orders = error(h);
  const std::vector<double> fine = error(h / 2);
  for (std::size_t i = 0; i < fine.size(); ++i) orders[i] = std::log2(orders[i] / fine[i]) - 1;
  return orders;
}

}  // namespace kelvin
