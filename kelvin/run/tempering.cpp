// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/tempering.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kelvin/energy/tempered.h"

namespace kelvin {
namespace {

constexpr const char* part_name = "tempering";

const TemperingForm& form_of(const TemperingSettings& s) {
  return row_named(s.form, tempering_forms(), "form of tempering");
}

double one_temperature(const Recipe& recipe) {
  const double T = recipe.parts.front().temperature.at(0);
  for (const PartRecipe& part : recipe.parts)
    if (const auto [low, high] = part.temperature.range(); low != T || high != T)
      throw Error("[tempering] needs one constant temperature for all parts; part \"{}\" has {} to {}, part \"{}\" {}",
                  part.name, low, high, recipe.parts.front().name, T);
  return T;
}

// How alpha moves among these parts.
PartSettings moving_alpha(const Recipe& recipe, const TemperingSettings& s, double T) {
  const PartRecipe& first = recipe.parts.front();
  const TemperingForm& form = form_of(s);
  PartSettings alpha;
  const TemperingPace pace = tempering_pace(s, T, first.step.at(0));
  alpha.scheme = !s.scheme.empty() ? s.scheme : form.alpha.empty() ? first.scheme.text : std::string(form.alpha);
  alpha.friction = Choice::number_of("constant", "value", pace.friction);
  alpha.temperature = Choice::number_of("constant", "value", T);
  alpha.mass = Choice::number_of("constant", "value", T * pace.mass);
  if (wall_of(s).reflects) {
    alpha.constraint = Choice::number_of("box", "radius", s.width);
    alpha.constraint.values["biases"].is = true;
  }
  return alpha;
}

// The integral of (g'/g)^2 t_U(g)/t_U(1) from 0 to the wall. Where forces are turned down, modes as slow as their
// friction remember U longer by 1/g and fast ones as long as before; half of each, as on a Gaussian in between.
double resistance(const Ramp& ramp, bool heats) {
  if (heats) return ramp.resistance();
  constexpr int points = 10000;
  const double width = (ramp.width - ramp.delta) / points;
  double slow = 0;
  for (int k = 0; k < points; ++k) {
    const double alpha = ramp.delta + width * (k + 0.5), g = ramp.value(alpha);
    slow += width * std::pow(ramp.slope(alpha) / g, 2) / g;
  }
  return (ramp.resistance() + slow) / 2;
}

// It meets the others and does nothing.
PartSettings resting_alpha(const Recipe& recipe) {
  PartSettings alpha;
  alpha.temperature = Choice::number_of("constant", "value", 0);
  alpha.scheme = "";
  for (const Move& move : recipe.parts.front().scheme.moves)
    if (!move.letter->local()) alpha.scheme += '.';
  return alpha;
}

// What minibatches bring is taken out of baths whose noise goes by friction and temperature.
void check_corrected(const TemperingSettings& s, const Recipe& recipe) {
  if (!recipe.later.empty()) throw Error("tempering.correct does not go together with phases; leave out one of them");
  for (const PartRecipe& part : recipe.parts) {
    const auto [low, high] = part.friction.range();
    for (const Move& m : part.scheme.moves)
      if (!(low > 0 && std::isfinite(high)) ||
          (m.letter->normals > 0 && (!m.letter->thermal || m.letter->adaptive || m.letter->forgets(low))))
        throw Error(
            "tempering.correct needs baths of a finite friction above 0, as letter O; part \"{}\" has \"{}\" and "
            "friction {}",
            part.name, part.scheme.text, low);
  }
  if ((s.pilot == 0 || s.capacity > 0) && s.gradient_noise.size() + 1 != recipe.parts.size())
    throw Error("tempering.correct needs the pilot, or tempering.gradient_noise with one number for each of {} parts",
                recipe.parts.size() - 1);
}

}  // namespace

void add_tempering(Recipe& recipe, const TemperingSettings& s) {
  const TemperingForm& form = form_of(s);
  Ramp{s};
  for (PartRecipe& part : recipe.parts)
    if (part.name == part_name)
      throw Error("part \"{}\" has the name of the tempering variable's; give it another", part_name);
  const double T = one_temperature(recipe);
  recipe.heats = T > 0 && form.heats;
  for (PartRecipe& part : recipe.parts)
    if (recipe.heats) {
      if (part.scheme.text != PartSettings().scheme)
        throw Error("part \"{}\": tempering.form = \"{}\" has words of its own; leave out scheme = \"{}\"", part.name,
                    form.name, part.scheme.text);
      part.scheme = parse_scheme(form.others);
    }
  const Block block = tempering_block(0);
  Recipe own = make_recipe({{part_name, T > 0 ? moving_alpha(recipe, s, T) : resting_alpha(recipe)}}, {}, {block}, {});
  PartRecipe alpha = own.parts.front();
  alpha.offset = recipe.size;
  alpha.step = recipe.parts.front().step;
  if (T == 0) alpha.frozen = {0}, recipe.fixed[recipe.size] = 0;
  recipe.parts.push_back(std::move(alpha));
  recipe.blocks.push_back(tempering_block(recipe.size));
  recipe.part_of[block.name] = part_name;
  recipe.size += 1;
  recipe.tempered = true;
  check_meetings(recipe.parts);
}

double tempered_temperature(const Recipe& recipe) {
  double T = one_temperature(recipe);
  for (const Recipe& phase : recipe.later) {
    const double other = one_temperature(phase);
    if (T > 0 && other > 0 && other != T)
      throw Error("[tempering] needs the same temperature in all phases that are not at 0; one has {}, one {}", T,
                  other);
    T = std::max(T, other);
  }
  if (!(T > 0))
    throw Error("[tempering] needs a temperature above 0; sample, or give temperature = \"posterior\" to a phase");
  return T;
}

void check_tempered(const RunSettings& settings, const Recipe& recipe, const Remark& remark) {
  const TemperingSettings& s = settings.tempering;
  const bool whole = row_named(s.of, tempering_extents(), "extent of tempering").whole;
  if (!whole && form_of(s).heats)
    throw Error("tempering.of = \"{}\" needs a form that turns forces down; \"{}\" heats everything", s.of, s.form);
  if (!whole && settings.model.toy.given())
    throw Error("tempering.of = \"{}\" needs a network; all of model.toy = \"{}\" is tempered", s.of,
                settings.model.toy.name);
  if (!whole && !settings.model.own.empty())
    throw Error("tempering.of = \"{}\" needs a network of Kelvin's; all of model.own = \"{}\" is tempered", s.of,
                settings.model.own);
  if (s.correct) check_corrected(s, recipe);
  const double T = tempered_temperature(recipe);
  const auto check = [&](const Recipe& phase) {
    const PartRecipe& alpha = phase.parts.back();
    if (!alpha.frozen.empty()) return;
    const bool moved = std::ranges::any_of(alpha.scheme.moves, [](const Move& m) { return m.letter->drifts; });
    const bool bathed = std::ranges::any_of(alpha.scheme.moves, [](const Move& m) {
      return m.letter->normals > 0 && m.letter->thermal && m.letter->moves_p;
    });
    if (!moved || !bathed)
      throw Error(
          "alpha would move by \"{}\", which lacks a drift or a bath; give tempering.scheme letters such as BAOAB, "
          "that meet as often",
          alpha.scheme.text);
    const double jump = alpha.step.at(0) * wall_force(s) / std::sqrt(alpha.mass.at(0) / T);
    if (jump > 0.2)
      remark(
          fmt::format("the wall's force heats alpha: step times strength over the root of its mass is {:.2g}, which "
                      "should be below 0.2; use a weaker force or wall = \"reflect\"",
                      jump));
  };
  check(recipe);
  for (const Recipe& phase : recipe.later) check(phase);
  if (settings.warmup == 0 && bias_of(s).learns && s.bias_from.empty())
    remark(
        "[tempering] learns its bias during the warm-up, and there is none: set warmup to about 20 round trips of "
        "alpha");
}

// m = h^2 max{ (50/(width - delta))^2, 11 max(g'/g)^2 V, 500 max g'^2 (noise/T)^2 },  friction 1/(50 h): at fixed alpha
// U answers slowly, so alpha oscillates with frequency |g'/g| sqrt(V/m), which stays below 0.3/h. A round trip takes
// the time  width (m friction width + V times the integral of (g'/g)^2 t_U), and that of a free flight.
TemperingPace tempering_pace(const TemperingSettings& s, double temperature, double step) {
  const Ramp ramp(s);
  if (!(s.mass >= 0 && s.friction >= 0 && s.capacity >= 0))
    throw Error("tempering.mass, tempering.friction and tempering.capacity must be at least 0");
  const double by_width = std::pow(50 / (s.width - s.delta), 2);
  const double by_capacity = 11 * std::pow(ramp.steepest_logarithm(), 2) * s.capacity;
  const double by_noise = 500 * std::pow(ramp.steepest() * s.noise / temperature, 2);
  const double mass = s.mass > 0 ? s.mass : step * step * std::max({by_width, by_capacity, by_noise});
  const double friction = s.friction > 0 ? s.friction : 1 / (50 * step);
  const double resists =
      mass * friction * s.width / step + s.capacity * s.correlation * resistance(ramp, form_of(s).heats);
  const double flight = 2 * s.width / std::sqrt(2 / (std::numbers::pi * mass)) / step;
  return {mass, friction, s.width * resists + flight};
}

}  // namespace kelvin
