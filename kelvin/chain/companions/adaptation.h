// SPDX-License-Identifier: Apache-2.0
// Warm-up adaptation of a walker: a factor of all steps (the pace), a factor of its friction, and a metric. Windows and
// constants are those of Stan.
#pragma once
#include "kelvin/chain/companions/unit_speed.h"
#include "kelvin/dynamics/recipe.h"

namespace kelvin {

// Dual averaging (Nesterov 2009; Hoffman and Gelman 2014): a pace at which a statistic that falls with it has the mean
// wanted. While it learns the pace swings; their weighted mean is what is kept.
struct DualAveraging {
  double count = 0, shortfall = 0, centre = 0, log_pace = 0, mean = 0;
  void restart(double pace);
  void learn(double statistic, double wanted);
};

// Steps of a warm-up after which the coordinates are taken anew: windows that double, between a beginning that only
// finds the typical set and an end that only settles the pace.
struct Windows {
  std::uint64_t begins = 0;
  std::vector<std::uint64_t> ends;
};
Windows windows_of(std::uint64_t warmup);

// At the end of one step, in units of the temperature wanted: p.p/m, and what half a kick by itself would bring,
// (h/2)^2 g.g/m, both per degree of freedom. On a Gaussian the latter is h^2 <omega^2>/4, the disagreement between
// p.p/m and q.g there; unlike q.g it needs no walker that has settled.
struct Temperatures {
  double kinetic = 0, half_kick = 0;
};

class Adaptation {
 public:
  explicit Adaptation(const Recipe&);

  double pace() const { return pace_; }
  double friction() const { return friction_; }
  bool learns_at(std::uint64_t step) const { return step <= tuning_.warmup; }
  bool by_temperatures() const { return !proposes_ && !unit_speed_ && (tuning_.adapt.step || tuning_.adapt.friction); }
  bool by_energy() const { return !proposes_ && unit_speed_ && tuning_.adapt.step; }
  bool finds_length() const { return !proposes_ && unit_speed_ && tuning_.adapt.friction; }
  bool by_acceptance() const { return proposes_ && tuning_.adapt.step; }

  void accepted(std::uint64_t step, double statistic);
  bool agreed(std::uint64_t step, const Temperatures&);  // whether it has changed something
  void slow_down(double factor) { pace_ *= factor; }
  // Without proposals the stability of a step is looked at four times in each window and after the last.
  bool looks_at(std::uint64_t step) const;
  void stand(double stiffness);  // h^2 times the largest curvature: no longer steps than it allows in this window
  void jumped();                 // nor than half of one that blew up
  void erred(std::uint64_t step, double square);  // of a step's energy error, per degree of freedom
  struct Straying {
    double step, friction;  // without what is learnt of the friction
  };
  template <class Real>
  void strayed(std::uint64_t step, std::span<const Real> x, const Straying&);
  template <class Real>
  bool watch(std::uint64_t step, std::span<const Real> q);  // whether new coordinates are due
  std::vector<double> factor();                             // of these coordinates; the window is forgotten
  void begin_again(double pace);                            // after a guess

  void fields(Archive&);

 private:
  Tuning tuning_;
  bool proposes_, unit_speed_, dense_;
  Windows windows_;
  std::vector<double> temperature_;  // of each number of q; 0 for what never moves
  double pace_ = 1, friction_ = 1;
  double most_ = 1e300;  // the largest pace that this window allows
  DualAveraging averaging_;
  double kinetic_ = 0, half_kick_ = 0, agreements_ = 0;  // sums over the second half of the present window
  EnergyAveraging by_error_;
  LengthFinder length_;
  double points_ = 0;                   // of the present window
  std::vector<double> mean_, squares_;  // squares_: about the mean, of each or of each pair
};

}  // namespace kelvin
