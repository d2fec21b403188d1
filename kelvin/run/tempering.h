// SPDX-License-Identifier: Apache-2.0
// What continuous tempering adds to a run: a part of one number, alpha, with its mass by rule, and a pilot run that
// measures what the rule needs and predicts the round trip of alpha.
#pragma once
#include "kelvin/function/initialiser.h"
#include "kelvin/run/environment.h"

namespace kelvin {

// Adds the part "tempering" behind all others. In a recipe of temperature 0 alpha rests at 0, where g = 1.
void add_tempering(Recipe&, const TemperingSettings&);

// The one temperature above 0 that the parts have in all phases that are not at 0.
double tempered_temperature(const Recipe&);

// Refuses what tempering cannot be combined with, and remarks on what makes it wrong or useless.
void check_tempered(const RunSettings&, const Recipe&, const Remark&);

// Of alpha, with the numbers of the pilot. A round trip is from 0 to the wall and back, once the bias is learnt.
struct TemperingPace {
  double mass, friction, round_trip;  // round_trip: in steps
};
TemperingPace tempering_pace(const TemperingSettings&, double temperature, double step);

// The settings with the pilot's numbers, if it is asked for and they are not there yet.
template <class Real>
RunSettings piloted(const RunSettings&, const RunEnvironment&, const Remark&);

}  // namespace kelvin
