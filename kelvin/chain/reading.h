// SPDX-License-Identifier: Apache-2.0
// What can be read off a chain at a draw. Energies are those of U as the chain sees it (mean loss plus prior/N).
#pragma once
#include <cstdint>
#include <vector>

namespace kelvin {

struct PartReading {
  double kinetic_energy = 0;               // p.p/2m at the end of the step; nan, as the next, if the scheme uses no p
  double kinetic_temperature = 0;          // p.p/m per degree of freedom, read where the scheme's row says it is exact
  double virial = 0;                       // q.g/2
  double configurational_temperature = 0;  // q.g per degree of freedom; of the entries without a constraint, if any
  double xi = 0;                           // friction found by a thermostat; nan if the scheme has none
  double residual = 0;                     // largest |g| of its constraints; nan, as the next, if it has none
  double tangency = 0;                     // largest part of p that points off them
  double fallbacks = 0;                    // projections so far that had to be done another way
};

struct Reading {
  std::uint64_t step = 0;
  // U, and in the parts q.g, at the step's last gradient: for strings that end by moving q, before that move.
  double energy = 0;
  double acceptance = 0;      // share of proposals accepted so far; 1 without braces
  bool diverging = false;     // a proposal of this step raised H by more than 1000 T
  double statistic = 1;       // mean of min(1, exp(-(H' - H)/T)) over the proposals of this step
  int depth = 0;              // of N: how often its path doubled
  std::uint64_t leaps = 0;    // of N: leapfrog steps
  double taken = 0;           // the first part's step, with all that changes it
  double alpha = 0;           // the tempering variable
  double energy_error = 0;    // of this step, in units of T, with p of unit length and no braces; else nan
  double log_weight = 0;      // of the draw, up to a constant; -infinity if it is none of the law that is asked for
  std::uint32_t replica = 0;  // the walker whose start this position goes back to
  std::vector<PartReading> parts;
  template <class Visit>
  void fields(Visit&& field) {
    field(step);
    field(energy);
    field(acceptance);
    field(diverging);
    field(statistic);
    field(depth);
    field(leaps);
    field(taken);
    field(alpha);
    field(energy_error);
    field(log_weight);
    field(replica);
    field(parts);
  }
};

}  // namespace kelvin
