// SPDX-License-Identifier: Apache-2.0
// A bias certificate: the discretisation bias of averages. Pairs of chains at h and h/2 on the same noise give <f>_h -
// <f>_h/2 with a small error; as the bias is C h^order, that is a share 1 - 2^-order of it.
#pragma once
#include <functional>

#include "kelvin/analysis/finding.h"
#include "kelvin/run/coupled.h"

namespace kelvin {

struct CertifyOptions {
  std::uint64_t steps = 0, warmup = 0;  // of the coarse chain, in each pair
  std::size_t pairs = 4, threads = 1;
};

// Of one average. Errors are standard errors from means over batches of time, pairs pooled.
struct Bias {
  std::string of;
  double mean = 0, deviation = 0;               // of the coarse chain
  double difference = 0, difference_error = 0;  // <f>_h - <f>_h/2
  double alone = 0;                             // its error if the two chains were independent
  double bias = 0, error = 0;                   // difference / (1 - 2^-order)
  double run_error = 0;                         // statistical error of <f> in the run that the settings describe
  double gain() const { return alone * alone / (difference_error * difference_error); }
};

struct Certificate {
  double order = 0;
  std::vector<Bias> biases;       // energy, configurational temperatures, moments of a toy with few coordinates
  std::vector<Bias> predictions;  // of up to 50 rows: probabilities, or numbers in the units of the targets
};

// The power of h of the bias: as the words' rows say (2 for those that are exact on Gaussians only), 2 for other words
// that read the same backwards, else 1. Words that forget p have h^2 as their time. Minibatches lower it to what their
// order's row says: 1 for random ones, 2 for symmetric sweeps.
double bias_order(const Recipe&, const Batches&);

template <class Real>
Certificate certify(const Problem<Real>&, const CertifyOptions&, const std::function<void(double share)>& progress);

Finding as_finding(const Certificate&, const CertifyOptions&, const RunSettings&);

}  // namespace kelvin
