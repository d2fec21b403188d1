// SPDX-License-Identifier: Apache-2.0
// Free energy along one coordinate, from a histogram of its draws.
#pragma once
#include "kelvin/numeric/statistics.h"

namespace kelvin {

struct FreeEnergy {
  double low = 0, width = 0;         // where the first bin begins; of a bin
  std::vector<double> value, error;  // F - F(deepest), and its standard error; nan where too little was seen
  std::size_t deepest = 0;
  double centre(std::size_t bin) const { return low + (double(bin) + 0.5) * width; }

  // From the deepest bin over `top` into the other bin that is hardest to leave.
  struct Barrier {
    std::size_t other, top;
    double out, out_error;    // F(top) - F(deepest)
    double back, back_error;  // F(top) - F(other)
    bool visited;             // draws were seen at the top; if not, it is higher than can be told
  };
  std::vector<Barrier> barriers;  // one, if it stands out of the noise
};

// F(x) = -T log p(x), p the share of draws in a bin. Errors from the spread of p among stretches of the chains.
FreeEnergy free_energy(const Chains&, double temperature, std::size_t bins);

}  // namespace kelvin
