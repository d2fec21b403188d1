// SPDX-License-Identifier: Apache-2.0
// What a warm-up may adapt, and what is drawn anew at every step: settings, checked when a chain is made.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kelvin {

// Shapes of the mass, as seen from q = L x: a chain moves in x, with the part's own mass. To add one, add a row in
// tuning.cpp.
enum class MassShape { none, diagonal, dense };
struct Rescaling {
  std::string_view name;
  MassShape shape;
  std::string_view meaning;
};
std::span<const Rescaling> rescalings();

struct AdaptSettings {
  bool step = false, friction = false;
  double acceptance = 0.8, disagreement = 0.05, energy_variance = 5e-5;
  std::string metric = "unit";
  template <class Visit>
  void fields(Visit&& field) {
    field("step", step,
          "find the pace of all steps during the warm-up: with { } or N by the acceptance, with T by the energy error, "
          "otherwise by the temperatures");
    field("acceptance", acceptance, "mean acceptance statistic to aim at");
    field("disagreement", disagreement,
          "without { } and N: how far apart kinetic and configurational temperature may be at the end of a step, as a "
          "share of the temperature (as on a Gaussian: h^2 g.g/4m per degree of freedom)");
    field("energy_variance", energy_variance,
          "letter T: mean square of a step's energy error, in units of the temperature, per degree of freedom");
    field("friction", friction,
          "without { } and N: raise the friction during the warm-up while gradient noise heats by more than that "
          "share; with T: find the length 1/friction over which p strays");
    field("metric", metric, "find coordinates of equal width during the warm-up: unit (none), diagonal or dense");
  }
};

struct JitterSettings {
  double step = 0, length = 0;
  template <class Visit>
  void fields(Visit&& field) {
    field("step", step, "with { } or N: every step is multiplied by a number drawn from 1 - x to 1 + x, for all parts");
    field("length", length, "with {(...)n}: of n repeats only a number drawn from (1 - x) n to n is made");
  }
};

// How letter Z sets the pace: dzeta = (|g|^2 / scale - rate zeta) ds, and every step is psi(zeta) times what it would
// be, psi(z) = least (z^power + most) / (z^power + least): from `most` where U is flat down to `least` where it is
// steep.
struct TempoSettings {
  double least = 0.1, most = 10, power = 0.25, rate = 1, scale = 1;
  double psi(double zeta) const;
  template <class Visit>
  void fields(Visit&& field) {
    field("least", least, "letter Z: factor of all steps where U is steep");
    field("most", most, "letter Z: factor of all steps where U is flat");
    field("power", power, "letter Z: how sharply the factor falls with zeta, the running square of the gradient");
    field("rate", rate, "letter Z: how fast zeta forgets, per unit of the step");
    field("scale", scale, "letter Z: |gradient|^2 is taken in units of this");
  }
};

// How letter V knows the noise of minibatch gradients.
struct CovarianceSettings {
  std::string form = "diagonal";
  long examples = 10, every = 1;
  double keep = 0.9;
  template <class Visit>
  void fields(Visit&& field) {
    field("form", form, "letter V: diagonal (a running variance) or low_rank (what the latest examples span)");
    field("examples", examples, "letter V: rows drawn for an estimate; each costs a gradient of its own");
    field("every", every, "letter V: evaluations between two estimates");
    field("keep", keep, "letter V, diagonal: share of the running variance that stays when an estimate is added");
  }
};
struct CovarianceForm {
  std::string_view name;
  bool low_rank;
  std::string_view meaning;
};
std::span<const CovarianceForm> covariance_forms();

struct Tuning {
  AdaptSettings adapt;
  JitterSettings jitter;
  CovarianceSettings covariance;
  TempoSettings tempo;
  std::uint64_t warmup = 0;  // steps in which to learn
  bool learns() const;       // anything at all
  const Rescaling& rescaling() const;
};

// Refuses numbers out of range, and learning without a warm-up.
void check_tuning(const Tuning&);

}  // namespace kelvin
