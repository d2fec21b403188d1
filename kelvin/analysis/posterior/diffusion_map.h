// SPDX-License-Identifier: Apache-2.0
// Diffusion maps (Coifman and Lafon 2006) and target-measure diffusion maps (Banisch, Trstanova, Bittracher, Klus and
// Koltai 2018): a Markov chain on points whose eigenvectors are their slow coordinates.
#pragma once
#include "kelvin/numeric/linear.h"

namespace kelvin {

// With k_ij = exp(-|x_i - x_j|^2 / (4 eps)) and k_ii = 0 (a point says nothing about its own surroundings; with k_ii =
// 1 the chain sits at lone points, and rates come out low by a few percent), the estimate q_i = sum_j k_ij of the
// points' density and weights w_j,
//   P_ij = k_ij w_j / sum_l k_il w_l      (each row divided by its own sum)
// and (P - 1) / eps tends to f'' + 2 grad log(q w) . grad f. Weights q^-alpha make that
//   alpha = 0: f'' + 2 grad log q . grad f,   1/2: f'' + grad log q . grad f,   1: f'' alone;
// weights pi^(1/2) / q make it f'' + grad log pi . grad f for a target pi, whatever density q the points have.
// Dividing rows by the sums of columns, w_i q_i, would be wrong: that matrix is similar to the one with w = 1, so the
// target would not change a single eigenvalue.
struct DiffusionMapSettings {
  double alpha = 0.5;
  std::vector<double> log_target = {};  // log pi at each point, up to a constant; if given, alpha is not used
  double bandwidth = 0;                 // eps; 0 chooses it
  std::size_t count = 10;               // eigenvalues besides the first, which is 1
};
struct DiffusionMap {
  double bandwidth = 0;
  double dimension = 0;       // of the set of points, as the kernel sees it at that bandwidth
  double effective = 0;       // points that carry the stationary law: (sum of it)^2 / sum of its squares
  double remoteness = 0;      // median squared distance to the nearest point, over that to any: near 1, nothing is near
  double ties = 0;            // sum of k_ij between the two signs of the slowest coordinate: pairs that join them
  Eigenpairs pairs;           // of P, right eigenvectors, of mean square 1 under its stationary law
  std::vector<double> rates;  // -(1 - value) / eps: eigenvalues of the generator
};
DiffusionMap diffusion_map(std::span<const double> points, std::size_t width, const DiffusionMapSettings&);

// The slope d log S / d log eps of S = sum of k_ij is half the dimension where eps suits the points (Coifman,
// Shkolnisky, Sigworth and Singer 2008; Berry and Harlim 2016 take its maximum). Here: the largest eps with nine tenths
// of the maximum, because a wider kernel has less noise and joins lone points. From squared distances, `count` x
// `count`.
struct Bandwidth {
  double value, dimension;
};
Bandwidth chosen_bandwidth(std::span<const double> squared_distances, std::size_t count);

}  // namespace kelvin
