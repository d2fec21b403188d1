// SPDX-License-Identifier: Apache-2.0
// The spectrum of a large symmetric matrix that is known only by its products with vectors, such as a Hessian.
#pragma once
#include <cstdint>

#include "kelvin/numeric/linear.h"
#include "kelvin/numeric/mean.h"

namespace kelvin {

// The same operator again, with a workspace of its own: one for each thread.
using MakeOperator = std::function<Operator()>;

// An eigenvalue lies within `error` of each value.
struct Eigenvalue {
  double value, error;
};
struct Leading {
  std::vector<Eigenvalue> highest, lowest;  // outermost first
  std::size_t products = 0;
};
// Lanczos with full reorthogonalisation, until `count` at either end are known to `tolerance` of the largest in size,
// or that many products have been made.
struct LeadingPlan {
  std::size_t count = 1, products = 200;
  double tolerance = 1e-6;
  std::uint64_t seed = 1;
};
Leading leading_eigenvalues(const Operator&, const LeadingPlan&);

// The largest eigenvalue in size, from below: by as many steps of Lanczos' method as products are allowed, without
// reorthogonalisation. Infinite where a product is not finite.
double largest_in_size(const Operator&, std::span<const double> start, std::size_t products);

// Random vectors of signs; probe k is the same on any number of threads.
struct Probes {
  std::size_t count = 10, threads = 1;
  std::uint64_t seed = 1;
};

// Hutchinson: the mean of v.Hv, and its standard error.
MeanOf trace_estimate(const MakeOperator&, const Probes&);

// Stochastic Lanczos quadrature: eigenvalues and their weights (of sum 1) such that the weighted mean of f(value) is
// that of f over the spectrum, exactly for polynomials below degree 2 `depth` but for the noise of the probes.
struct SpectralDensity {
  std::vector<double> values, weights;
  double moment(int power) const;
  double at(double x, double width) const;  // with a Gaussian of that width in place of each value
};
SpectralDensity spectral_density(const MakeOperator&, const Probes&, std::size_t depth);

}  // namespace kelvin
