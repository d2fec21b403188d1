// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/compatible.h"

namespace kelvin {
namespace compatible {

using enum Trait;

constexpr TraitRow all_traits[] = {
    {minibatches, "minibatches", "batch.size below the number of rows"},
    {noisy, "noise in U", "masks, dropout, data.augment, gradient_noise, batch.anchor_every"},
    {uneven, "uneven temperatures", "temperatures that change, differ from part to part, or are 0"},
    {in_phases, "phases", "[[phase]]"},
    {several_parts, "several parts", "[part.NAME]"},
    {constrained, "constraints", "part.NAME.constraint"},
    {reparametrised, "metric", "adapt.metric other than unit"},
    {finds_step, "step search", "adapt.step"},
    {finds_friction, "friction search", "adapt.friction"},
    {jittered, "jitter", "[jitter]"},
    {proposes, "Metropolis", "schemes with { } or N"},
    {unadjusted, "no Metropolis", "schemes without"},
    {travels, "no-U-turn", "letter N"},
    {own_time, "tempo", "letter Z"},
    {unit_speed, "unit speed", "letters T and P"},
    {reads_noise, "covariance friction", "letter V"},
    {compares_points, "comparing letters", "letters t and T"},
    {splits_energy, "pieces of U", "letters B1 and B2"},
    {remembers, "memory", "optimizers, < >"},
    {tempered, "tempering", "[tempering]"},
    {switched, "switching", "[switching]"},
    {exchanges, "exchange", "[exchange]"},
    {shares_metric, "shared metric", "coupling.method ensemble or halves, coupling.collapse"},
    {moves_walkers, "walker moves", "coupling.method stretch"},
    {in_row_shares, "row shares", "row_shares above 1"},
    {anchored, "control variates", "batch.anchor_every"},
    {weighed, "weighted draws", "letter Z, [tempering], [switching], temperatures that rest"},
    {certified, "certificate", "`kelvin certify`"},
};

constexpr Incompatibility rows[] = {
    {tempered,
     finds_step | finds_friction | reparametrised | shares_metric | moves_walkers | exchanges | switched |
         in_row_shares | anchored | own_time | splits_energy | reads_noise | travels,
     "alpha follows the energy of one law in plain time", "leave out one of them"},
    {proposes, minibatches | noisy, "braces and N compare energies, which takes every row and nothing random",
     "set batch.size = \"full\" and leave out what is random in U, or use a scheme without them such as BAOAB"},
    {proposes, uneven, "braces and N compare energies with one temperature",
     "give all parts one constant temperature above 0"},
    {compares_points, minibatches | noisy, "it compares gradients or energies of two points, which takes every row",
     "set batch.size = \"full\" or use another letter"},
    {travels, constrained, "its path knows flat space only", "use a string with braces such as R{(BAB)10}"},
    {reparametrised, constrained, "a manifold does not hold in other coordinates", "set adapt.metric = \"unit\""},
    {unit_speed, constrained | several_parts, "p has unit length as a whole, in flat space",
     "use one part without constraints, or BAOAB"},
    {unit_speed, uneven, "p of unit length moves in U/T", "give a constant temperature above 0"},
    {in_phases, finds_step | finds_friction | reparametrised | jittered | reads_noise | switched | certified,
     "it belongs to one way to move from beginning to end", "leave out the phases or it"},
    {jittered, unadjusted, "it would change what is sampled; braces and N leave it exact",
     "use a scheme with them, such as R{(BAB)10}, or leave out [jitter]"},
    {finds_friction, proposes, "it goes by the heat that gradient noise leaves, and Metropolis leaves none",
     "leave out adapt.friction"},
    {own_time, finds_step | finds_friction, "they go by steps of one length", "use [tempo] in their place"},
    {switched, minibatches, "their noise biases a force that is no linear function of U", "set batch.size = \"full\""},
    {switched, noisy, "it makes U another one at every evaluation", "leave out one of them"},
    {switched, finds_step | finds_friction | reparametrised,
     "a warm-up that learns evaluates U at other points than the walker's", "leave out [adapt]"},
    {switched, shares_metric | moves_walkers | exchanges, "both change what a walker samples", "keep one"},
    {switched, proposes, "its draws are not where U was evaluated last",
     "use BAOAB or another string without braces or N that begins or ends with B"},
    {exchanges | switched | moves_walkers, own_time | unit_speed, "they need plain time and momenta", "use BAOAB"},
    {exchanges, shares_metric | moves_walkers, "both move walkers by what others do", "keep one"},
    {shares_metric, reparametrised, "both change the coordinates",
     "set adapt.metric = \"unit\" or coupling.method = \"none\""},
    {shares_metric | moves_walkers, constrained, "it does not hold in other coordinates, nor after a stretch",
     "set coupling.method = \"none\""},
    {moves_walkers, noisy, "U is another one at every evaluation and cannot be compared", "leave out one of them"},
    {moves_walkers, weighed, "a walker that is moved has no weight", "leave out one of them"},
    {certified, finds_step | finds_friction | reparametrised, "the two chains would find steps of their own",
     "write the step that a warm-up found into the run file and leave [adapt] out"},
    {certified, constrained, "two chains with one noise do not come together there", "certify the run without it"},
    {certified, own_time | unit_speed, "each of two chains would have a time of its own", "certify a run without it"},
    {certified, remembers, "each of two chains would keep a memory of its own", "certify a run without it"},
    {certified, proposes, "Metropolis leaves no discretisation bias", "there is nothing to certify"},
};

}  // namespace compatible

std::span<const TraitRow> traits() { return compatible::all_traits; }
std::span<const Incompatibility> incompatibilities() { return compatible::rows; }

Uses::Uses(const Recipe& recipe) {
  using enum Trait;
  const Tuning& tuning = recipe.tuning;
  if (!recipe.later.empty()) add(in_phases, "a run in phases");
  if (recipe.parts.size() > 1) add(several_parts, fmt::format("a run of {} parts", recipe.parts.size()));
  if (tuning.adapt.step) add(finds_step, "adapt.step");
  if (tuning.adapt.friction) add(finds_friction, "adapt.friction");
  if (tuning.rescaling().shape != MassShape::none)
    add(reparametrised, fmt::format("adapt.metric = \"{}\"", tuning.adapt.metric));
  if (tuning.jitter.step > 0 || tuning.jitter.length > 0) add(jittered, "[jitter]");
  if (recipe.weighed) add(weighed, "draws with weights");
  const double T = recipe.parts.front().temperature.at(0);
  for (const PartRecipe& part : recipe.parts) {
    const auto [low, high] = part.temperature.range();
    if (low != high || low != T || low <= 0)
      add(uneven, fmt::format("part \"{}\" at temperatures from {:g} to {:g} beside {:g}", part.name, low, high, T));
    if (!part.constraints.empty()) add(constrained, fmt::format("the constraint of part \"{}\"", part.name));
    const Scheme& scheme = part.scheme;
    const std::string words = fmt::format("scheme \"{}\" of part \"{}\"", scheme.text, part.name);
    add(scheme.proposes ? proposes : unadjusted, words);
    if (scheme.travels) add(travels, words);
    if (scheme.own_time) add(own_time, words);
    if (scheme.unit_speed) add(unit_speed, words);
    for (const Move& move : scheme.moves) {
      const Letter& letter = *move.letter;
      const std::string what = fmt::format("letter '{}' of part \"{}\"", letter.symbol, part.name);
      if (letter.needs_noise) add(reads_noise, what);
      if (letter.all_rows) add(compares_points, what);
      if (letter.piece) add(splits_energy, fmt::format("'B{}' of part \"{}\"", letter.piece, part.name));
      if (letter.memory) add(remembers, what);
    }
  }
}

void Uses::add(Trait trait, std::string what) { what_.emplace(trait, std::move(what)); }

const std::string* Uses::find(Traits traits) const {
  for (const auto& [trait, what] : what_)
    if (traits.contains(trait)) return &what;
  return nullptr;
}

void Uses::check() const {
  for (const Incompatibility& row : incompatibilities()) {
    const std::string *first = find(row.first), *second = find(row.second);
    if (first && second) throw Error("{} does not go with {}: {}; {}", *first, *second, row.why, row.cure);
  }
}

}  // namespace kelvin
