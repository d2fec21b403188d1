// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/tempering.h"

#include <algorithm>
#include <cmath>

namespace kelvin {
namespace {

constexpr TemperingForm forms[] = {
    {"potential", false, "", "",
     "Langevin dynamics of g(alpha) U: forces are turned down, momenta stay at T; any scheme with momenta"},
    {"paper", true, "B.A.OA.B", ".KA.OAK.",
     "forces stay, the bath has temperature T / g(alpha), and alpha feels U + p.p/2m: BKAOAKB, of order 2"},
    {"euler", true, "Ae.", ".Ax", "the same dynamics by the Euler scheme it was published with, of order 1"},
};

constexpr TemperingShape shapes[] = {
    {"smooth", [](double z, double S) { return 1 - S * z * z * (3 - 2 * z); },
     [](double z, double S) { return -6 * S * z * (1 - z); }, "1 - strength (3 z^2 - 2 z^3)"},
    {"geometric", [](double z, double S) { return std::pow(1 - S, z); },
     [](double z, double S) { return std::log1p(-S) * std::pow(1 - S, z); },
     "(1 - strength)^z: the shortest round trips"},
};

constexpr TemperingExtent extents[] = {
    {"all", true, "all of U"},
    {"likelihood", false, "the loss, but not priors and penalties"},
};

constexpr Parameter force_parameters[] = {{"strength", "4.0", "of the force, in units of T"}};
constexpr TemperingWall walls[] = {
    {"reflect", {}, true, "alpha is reflected at width: exact"},
    {"force", force_parameters, false, "beyond width a constant force drives alpha back"},
};

double largest(const Ramp& ramp, double (*of)(const Ramp&, double)) {
  double most = 0;
  for (int k = 0; k <= 1000; ++k)
    most = std::max(most, of(ramp, ramp.delta + (ramp.width - ramp.delta) * (k + 0.5) / 1001));
  return most;
}

}  // namespace

std::span<const TemperingForm> tempering_forms() { return forms; }
std::span<const TemperingShape> tempering_shapes() { return shapes; }
std::span<const TemperingExtent> tempering_extents() { return extents; }
std::span<const TemperingWall> tempering_walls() { return walls; }

const TemperingWall& wall_of(const TemperingSettings& s) {
  return row_named(s.wall.name, tempering_walls(), "wall", s.wall.where);
}

double wall_force(const TemperingSettings& s) {
  const TemperingWall& row = wall_of(s);
  const Choice full = s.wall.completed(row.parameters, "wall");
  if (row.reflects) return 0;
  const double force = full.number("strength");
  if (!(force > 0)) throw Error("tempering.wall: its strength must be above 0, not {}", force);
  return force;
}

Ramp::Ramp(const TemperingSettings& s)
    : delta(s.delta),
      width(s.width),
      strength(s.strength),
      shape(&row_named(s.shape, tempering_shapes(), "tempering shape")) {
  if (!(delta > 0 && width > delta && std::isfinite(width)))
    throw Error("tempering.delta = {} and tempering.width = {} must be above 0, the second above the first", delta,
                width);
  if (!(strength > 0 && strength < 1)) throw Error("tempering.strength must lie between 0 and 1, not {}", strength);
}

double Ramp::value(double alpha) const {
  return shape->value(std::clamp((std::abs(alpha) - delta) / (width - delta), 0.0, 1.0), strength);
}

double Ramp::slope(double alpha) const {
  const double z = (std::abs(alpha) - delta) / (width - delta);
  const double falls = z > 0 && z < 1 ? shape->slope(z, strength) / (width - delta) : 0;
  return alpha < 0 ? -falls : falls;
}

double Ramp::steepest_logarithm() const {
  return largest(*this, [](const Ramp& r, double alpha) { return std::abs(r.slope(alpha) / r.value(alpha)); });
}

double Ramp::steepest() const {
  return largest(*this, [](const Ramp& r, double alpha) { return std::abs(r.slope(alpha)); });
}

double Ramp::resistance() const {
  constexpr int points = 10000;
  double sum = 0;
  for (int k = 0; k < points; ++k) {
    const double alpha = delta + (width - delta) * (k + 0.5) / points;
    sum += std::pow(slope(alpha) / value(alpha), 2);
  }
  return sum * (width - delta) / points;
}

}  // namespace kelvin
