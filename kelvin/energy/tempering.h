// SPDX-License-Identifier: Apache-2.0
// Continuous tempering: a variable alpha scales the energy down, g(alpha) U with g = 1 for |alpha| <= delta. Here are
// its settings and tables: forms of the dynamics, shapes of g, biases, walls. To add one, write its functions and its
// row in tempering.cpp or tempering_bias.cpp.
#pragma once
#include "kelvin/core/choice.h"

namespace kelvin {

struct TemperingSettings {
  static constexpr const char* shorthand = "form";
  std::string form, of = "all", shape = "smooth", scheme, bias_from;
  double delta = 0.4, width = 1.5, strength = 0.85;
  Choice bias = Choice("mean_force"), wall = Choice("reflect");
  double mass = 0, friction = 0;
  long pilot = 5000;
  bool correct = false;
  double reference = 0, capacity = 0, correlation = 0, noise = 0;
  std::vector<double> gradient_noise;
  bool on() const { return !form.empty(); }
  template <class Visit>
  void fields(Visit&& field) {
    field("form", form,
          "temper the run by one more variable, alpha (docs/tempering.md): a row of `kelvin list tempering_forms`");
    field("of", of, "what g(alpha) multiplies: a row of `kelvin list tempering_extents`");
    field("delta", delta,
          "draws with |alpha| up to this have g = 1: they follow the law asked for, others do not count");
    field("width", width, "largest |alpha|, where g is smallest");
    field("strength", strength, "g falls from 1 to 1 - strength: the temperature rises up to T / (1 - strength)");
    field("shape", shape, "how g falls in between: a row of `kelvin list tempering_shapes`");
    field("bias", bias,
          "what makes alpha visit all of its range, learnt in the warm-up: a row of `kelvin list tempering_biases`");
    field("bias_from", bias_from, "a run whose bias this one begins with");
    field("wall", wall, "what keeps |alpha| below width: a row of `kelvin list tempering_walls`");
    field("scheme", scheme, "letters for alpha; by default those of the first part, or of the form");
    field("mass", mass, "of alpha in units of T; 0 goes by the rule of docs/tempering.md");
    field("friction", friction, "of alpha; 0 takes 1 / (50 step)");
    field("correct", correct,
          "true takes the heat that minibatches bring out of the baths, by the pilot's two numbers");
    field("pilot", pilot, "steps without tempering that measure the numbers below before the run; 0 does not");
    field("reference", reference, "mean of U; found by the pilot");
    field("capacity", capacity, "variance of U / T; found by the pilot unless given");
    field("correlation", correlation, "steps over which U forgets itself; found by the pilot");
    field("noise", noise, "standard deviation of U between minibatches; found by the pilot");
    field("gradient_noise", gradient_noise,
          "for each part, variance of an entry of its gradient between minibatches; found by the pilot");
  }
};

// What is moved by alpha, and the words for it; empty words: the user's own.
struct TemperingForm {
  std::string_view name;
  bool heats;                      // the others' temperature is T / g, in place of the force g times its own
  std::string_view others, alpha;  // words
  std::string_view meaning;
};
std::span<const TemperingForm> tempering_forms();

struct TemperingShape {
  std::string_view name;
  double (*value)(double z, double strength);  // g, z from 0 to 1
  double (*slope)(double z, double strength);  // dg/dz
  std::string_view meaning;
};
std::span<const TemperingShape> tempering_shapes();

struct TemperingExtent {
  std::string_view name;
  bool whole;
  std::string_view meaning;
};
std::span<const TemperingExtent> tempering_extents();

struct TemperingWall {
  std::string_view name;
  std::span<const Parameter> parameters;
  bool reflects;
  std::string_view meaning;
};
std::span<const TemperingWall> tempering_walls();
const TemperingWall& wall_of(const TemperingSettings&);
double wall_force(const TemperingSettings&);  // beyond width, in units of T; 0 for one that reflects

// g as a function of alpha.
struct Ramp {
  double delta, width, strength;
  const TemperingShape* shape;
  explicit Ramp(const TemperingSettings&);  // checked
  double value(double alpha) const;
  double slope(double alpha) const;
  // Largest |g'/g| and |g'|, and the integral of (g'/g)^2 from 0 to the wall.
  double steepest_logarithm() const, steepest() const, resistance() const;
};

// What a bias V(alpha) is made from, besides what it has learnt. Energies are in units of T.
struct BiasGround {
  Ramp ramp;
  std::vector<double> numbers;  // of its row
  double reference, capacity;   // mean and variance of what g multiplies
};

struct TemperingBias {
  std::string_view name;
  std::span<const Parameter> parameters;
  bool learns;
  std::string_view (*fault)(const BiasGround&);     // what is wrong with the numbers; empty if nothing
  std::vector<double> (*start)(const BiasGround&);  // what it has learnt before it has seen anything
  double (*energy)(const BiasGround&, std::span<const double> learnt, double alpha);        // V
  double (*slope)(const BiasGround&, std::span<const double> learnt, double alpha);         // dV/dalpha
  void (*learn)(const BiasGround&, std::span<double> learnt, double alpha, double energy);  // of what g multiplies
  std::string_view meaning;
};
std::span<const TemperingBias> tempering_biases();
const TemperingBias& bias_of(const TemperingSettings&);
BiasGround ground_of(const TemperingSettings&, double temperature);  // checked

}  // namespace kelvin
