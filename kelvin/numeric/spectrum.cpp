// SPDX-License-Identifier: Apache-2.0
#include "kelvin/numeric/spectrum.h"

#include <cmath>
#include <numbers>

#include "kelvin/core/error.h"
#include "kelvin/core/noise.h"
#include "kelvin/core/parallel.h"
#include "kelvin/numeric/eigen.h"

namespace kelvin {
namespace {

using Eigen::Index;

Eigen::VectorXd signs(std::size_t n, std::uint64_t seed, std::size_t probe) {
  std::vector<std::uint64_t> bits(n);
  random_bits({stream_key(seed, "probe"), 0, probe, 0}, bits);
  Eigen::VectorXd v(static_cast<Index>(n));
  for (std::size_t i = 0; i < n; ++i) v(Index(i)) = bits[i] & 1 ? 1 : -1;
  return v;
}

// H Q = Q T + remainder, Q orthonormal, T tridiagonal: one more column of Q for each product.
class Lanczos {
 public:
  Lanczos(const Operator& H, const Eigen::VectorXd& start, std::size_t most)
      : H_(H), Q_(Index(H.size), Index(std::min(most, H.size))) {
    Q_.col(0) = start.normalized();
  }

  // Makes a product; false if there is no direction left.
  bool extend() {
    Eigen::VectorXd w(Q_.rows());
    H_.times({Q_.col(k_).data(), H_.size}, {w.data(), H_.size});
    if (!w.allFinite())
      throw Error("second derivatives are not finite at this point; choose another, nearer to where the run has been");
    diagonal_.push_back(Q_.col(k_).dot(w));
    const double before = w.norm();
    ++k_;
    orthogonalise(w);
    double beta = w.norm();
    if (k_ == Q_.cols()) {
      remainder_ = k_ == Q_.rows() ? 0 : beta;
      return false;
    }
    if (beta <= 1e-14 * before) {  // Q spans what its start reaches; go on from elsewhere
      w = signs(H_.size, 0, std::size_t(k_));
      orthogonalise(w);
      Q_.col(k_) = w.normalized();
      beta = 0;
    } else {
      Q_.col(k_) = w / beta;
    }
    beside_.push_back(beta);
    remainder_ = beta;
    return true;
  }

  struct Ritz {
    Eigen::VectorXd values, weights, errors;  // ascending; weights: of the start; errors: |H x - value x|
  };
  Ritz ritz() const {
    const Eigen::Map<const Eigen::VectorXd> diagonal(diagonal_.data(), k_), beside(beside_.data(), k_ - 1);
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen;
    eigen.computeFromTridiagonal(diagonal, beside);
    return {eigen.eigenvalues(), eigen.eigenvectors().row(0).cwiseAbs2(),
            remainder_ * eigen.eigenvectors().row(k_ - 1).cwiseAbs()};
  }

 private:
  // Twice: the first pass leaves rounding errors that the second removes.
  void orthogonalise(Eigen::VectorXd& w) const {
    for (int pass = 0; pass < 2; ++pass) w -= Q_.leftCols(k_) * (Q_.leftCols(k_).transpose() * w);
  }

  const Operator& H_;
  Eigen::MatrixXd Q_;
  Index k_ = 0;
  std::vector<double> diagonal_, beside_;
  double remainder_ = 0;
};

// Each thread makes one operator and takes probes in turn.
template <class Work>
void each_probe(const MakeOperator& make, const Probes& probes, Work&& work) {
  const std::size_t threads = std::max<std::size_t>(1, std::min(probes.threads, probes.count));
  parallel(threads, threads, [&](std::size_t t) {
    const Operator H = make();
    for (std::size_t k = t; k < probes.count; k += threads) work(k, H, signs(H.size, probes.seed, k));
  });
}

}  // namespace

Leading leading_eigenvalues(const Operator& H, const LeadingPlan& plan) {
  if (H.size == 0 || plan.count == 0) return {};
  std::vector<double> start(H.size);
  normals({stream_key(plan.seed, "lanczos")}, 0, start);
  Lanczos lanczos(H, Eigen::Map<const Eigen::VectorXd>(start.data(), Index(H.size)), plan.products);
  Leading out;
  const Index wanted = Index(std::min(plan.count, H.size));
  constexpr std::size_t between = 5;  // products from one look at them to the next
  for (bool more = true; more;) {
    more = lanczos.extend();
    if (++out.products % between && more) continue;
    const auto ritz = lanczos.ritz();
    const Index n = ritz.values.size(), count = std::min(wanted, n);
    const double largest = std::max(std::abs(ritz.values(0)), std::abs(ritz.values(n - 1)));
    const double worst = std::max(ritz.errors.head(count).maxCoeff(), ritz.errors.tail(count).maxCoeff());
    if (more && (n < 2 * wanted || worst > plan.tolerance * largest)) continue;
    for (Index k = 0; k < count; ++k) {
      out.lowest.push_back({ritz.values(k), ritz.errors(k)});
      out.highest.push_back({ritz.values(n - 1 - k), ritz.errors(n - 1 - k)});
    }
    break;
  }
  return out;
}

// H v_k = beside_k-1 v_k-1 + diagonal_k v_k + beside_k v_k+1
double largest_in_size(const Operator& H, std::span<const double> start, std::size_t products) {
  constexpr double nothing_left = 1e-8;  // of the first diagonal entry
  const Index n = Index(H.size);
  Eigen::VectorXd v = Eigen::Map<const Eigen::VectorXd>(start.data(), n), before = Eigen::VectorXd::Zero(n), Hv(n);
  v.normalize();
  Eigen::VectorXd diagonal(static_cast<Index>(products)), beside(static_cast<Index>(products));
  Index made = 0;
  double length = 0;
  while (made < Index(products)) {
    H.times({v.data(), H.size}, {Hv.data(), H.size});
    diagonal[made] = v.dot(Hv);
    Hv -= diagonal[made] * v + length * before;
    length = Hv.norm();
    beside[made] = length;
    ++made;
    if (!(length > nothing_left * std::abs(diagonal[0]))) break;
    before = v;
    v = Hv / length;
  }
  if (!diagonal.head(made).allFinite()) return INFINITY;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved;
  solved.computeFromTridiagonal(diagonal.head(made), beside.head(made - 1), Eigen::EigenvaluesOnly);
  return solved.eigenvalues().cwiseAbs().maxCoeff();
}

MeanOf trace_estimate(const MakeOperator& make, const Probes& probes) {
  if (probes.count < 2) throw Error("a standard error needs at least 2 probes, not {}", probes.count);
  std::vector<double> each(probes.count);
  each_probe(make, probes, [&](std::size_t k, const Operator& H, const Eigen::VectorXd& v) {
    Eigen::VectorXd Hv(v.size());
    H.times({v.data(), H.size}, {Hv.data(), H.size});
    each[k] = v.dot(Hv);
  });
  return mean_of(each);
}

SpectralDensity spectral_density(const MakeOperator& make, const Probes& probes, std::size_t depth) {
  std::vector<Lanczos::Ritz> each(probes.count);
  each_probe(make, probes, [&](std::size_t k, const Operator& H, const Eigen::VectorXd& v) {
    Lanczos lanczos(H, v, depth);
    while (lanczos.extend()) {
    }
    each[k] = lanczos.ritz();
  });
  SpectralDensity density;
  for (const auto& ritz : each)
    for (Index i = 0; i < ritz.values.size(); ++i) {
      density.values.push_back(ritz.values(i));
      density.weights.push_back(ritz.weights(i) / double(probes.count));
    }
  return density;
}

double SpectralDensity::moment(int power) const {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * std::pow(values[i], power);
  return sum;
}

double SpectralDensity::at(double x, double width) const {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double z = (x - values[i]) / width;
    sum += weights[i] * std::exp(-z * z / 2);
  }
  return sum / (width * std::sqrt(2 * std::numbers::pi));
}

}  // namespace kelvin
