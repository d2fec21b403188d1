// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/recipe.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kelvin/dynamics/block_groups.h"

namespace kelvin {
namespace {

std::string listed(const std::vector<Block>& blocks) {
  std::string list;
  for (const Block& b : blocks) list += (list.empty() ? "" : ", ") + b.name;
  return list;
}

// "layer1.weight[0,2]=0.5": a glob, perhaps one entry, perhaps a value.
struct Freeze {
  std::string blocks;
  std::vector<std::size_t> entry;
  std::optional<double> value;
};

Freeze parse_freeze(const std::string& text) {
  const auto fail = [&] {
    throw Error(
        "model.freeze \"{}\" is not understood; write a block with * and ?, perhaps an entry, perhaps a value: "
        "\"*.bias\", \"layer1.weight[0,2]\", \"layer2.bias=0.5\"",
        text);
  };
  Freeze f;
  std::string left = text;
  if (const auto equals = text.find('='); equals != std::string::npos) {
    left = text.substr(0, equals);
    const std::string right = text.substr(equals + 1);
    double x = 0;
    const auto [end, error] = std::from_chars(right.data(), right.data() + right.size(), x);
    if (error != std::errc() || end != right.data() + right.size() || !std::isfinite(x)) fail();
    f.value = x;
  }
  if (const auto open = left.find('['); open != std::string::npos) {
    if (left.back() != ']') fail();
    const std::string inner = left.substr(open + 1, left.size() - open - 2);
    const char *at = inner.data(), *last = at + inner.size();
    for (;;) {
      std::size_t i = 0;
      const auto [end, error] = std::from_chars(at, last, i);
      if (error != std::errc()) fail();
      f.entry.push_back(i);
      if (end == last) break;
      if (*end != ',') fail();
      at = end + 1;
    }
    left = left.substr(0, open);
  }
  if (left.empty() || f.entry.size() > 2) fail();
  f.blocks = left;
  return f;
}

Schedule checked(const Choice& choice, const Horizon& run, const std::string& key, double least, bool least_allowed,
                 bool inf_allowed) {
  const Schedule schedule(choice, run);
  const auto [low, high] = schedule.range();
  const bool fine = (low > least || (least_allowed && low == least)) && (inf_allowed || std::isfinite(high));
  if (!fine)
    throw Error("{}{}{} must be {} {}, not {}", choice.where, choice.where.empty() ? "" : ": ", key,
                least_allowed ? "at least" : "greater than", least, low > least ? high : low);
  return schedule;
}

constexpr Damping damping_table[] = {
    {"xi", [](double) { return 1.0; }, "dp = -xi p dt: in equilibrium xi has mean sigma^2 / 2T and variance eps T"},
    {"eps xi", [](double eps) { return eps; },
     "dp = -eps xi p dt: in equilibrium xi has mean sigma^2 / (2 eps T) and variance T"},
};

// A block's constraint, placed behind the `first` entries of the part that come before it.
BlockConstraint held_by(BlockConstraint held, const Block& b, std::size_t first) {
  held.block = b.name;
  held.first = first;
  held.rows = b.is_matrix() ? b.rows() : 1;
  held.columns = b.size() / held.rows;
  held.slack = first + b.size();
  return held;
}

Block slack_of(const BlockConstraint& held, const Block& b) {
  Block slack = b;
  slack.name += ".slack";
  slack.role = Role::slack;
  if (held.unit() != Unit::entry) slack.shape = {held.units()};
  return slack;
}

// Letters act on a constrained part as on any other; what they cannot do there is said here.
void check_constraints(const PartRecipe& part) {
  for (const BlockConstraint& held : part.constraints)
    for (const std::uint32_t i : part.frozen)
      if (i >= held.first && i < held.first + held.size())
        throw Error("block \"{}\" has frozen entries, which its constraint would move; freeze all of it or none",
                    held.block);
  for (const Move& m : part.scheme.moves) {
    if (m.letter->moves_q && m.letter->moves_p)
      throw Error(
          "part \"{}\": letter '{}' moves q and p together, which a constraint cannot follow; use A, B and O, "
          "as in BAOAB",
          part.name, m.letter->symbol);
    if (m.letter->decays && part.constants.weight_decay > 0)
      throw Error(
          "part \"{}\": letter '{}' would let slack coordinates decay too; use penalty = {{ name = \"l2\", "
          "strength = {} }} in place of weight_decay",
          part.name, m.letter->symbol, part.constants.weight_decay);
  }
  if (part.freedom() == 0)
    throw Error("part \"{}\": its constraint leaves no degree of freedom; constrain less", part.name);
}

}  // namespace

std::size_t PartRecipe::freedom() const {
  std::size_t n = size - frozen.size();
  for (const BlockConstraint& held : constraints) n -= std::min(n, held.removed());
  return n;
}

void constrain(Recipe& recipe, const std::string& name, OwnConstraint own) {
  const auto shared = std::make_shared<const OwnConstraint>(std::move(own));
  const Block& block = row_named<Block>(name, recipe.blocks, "block");
  const auto part_name = recipe.part_of.find(name);
  if (part_name == recipe.part_of.end())
    throw Error("block \"{}\" is frozen; a constraint would have nothing to hold", name);
  const auto add = [&](Recipe& phase) {
    for (PartRecipe& part : phase.parts) {
      if (part.name != part_name->second) continue;
      BlockConstraint held = held_by({}, block, block.offset - part.offset);
      held.part = part.name;
      held.own = shared;
      for (const BlockConstraint& other : part.constraints)
        if (other.block == name) throw Error("block \"{}\" has a constraint already; keep one", name);
      const auto later = std::find_if(part.constraints.begin(), part.constraints.end(),
                                      [&](const BlockConstraint& other) { return other.first > held.first; });
      part.constraints.insert(later, std::move(held));
      check_constraints(part);
      part.constants.freedom = double(part.freedom());
    }
  };
  add(recipe);
  for (Recipe& phase : recipe.later) add(phase);
}

std::span<const Damping> dampings() { return damping_table; }

bool matches(std::string_view pattern, std::string_view name) {
  // Only the last star ever needs another try: what the stars before it took can stay as short as possible.
  std::size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') star = p++, taken = n;
    else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) ++p, ++n;
    else if (star != std::string_view::npos) p = star + 1, n = ++taken;
    else return false;
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void check_meetings(const std::vector<PartRecipe>& parts) {
  const auto joint = [](const PartRecipe& part) {
    std::vector<const Letter*> out;
    for (const Move& m : part.scheme.moves)
      if (!m.letter->local()) out.push_back(m.letter);
    return out;
  };
  for (const PartRecipe& part : parts) {
    const auto mine = joint(part), first = joint(parts.front());
    if (mine.size() != first.size())
      throw Error(
          "part \"{}\": scheme \"{}\" has {} joint letters but part \"{}\" (\"{}\") has {}; add '.' where \"{}\" "
          "should wait",
          part.name, part.scheme.text, mine.size(), parts.front().name, parts.front().scheme.text, first.size(),
          mine.size() < first.size() ? part.name : parts.front().name);
    for (std::size_t k = 0; k < mine.size(); ++k)
      if ((mine[k]->everywhere || first[k]->everywhere) && mine[k] != first[k])
        throw Error(
            "part \"{}\": its braces, N or Z in \"{}\" stand at other meetings than those of part \"{}\" (\"{}\"); "
            "they are for all parts together",
            part.name, part.scheme.text, parts.front().name, parts.front().scheme.text);
    for (std::size_t k = 0; k < mine.size(); ++k)
      if (mine[k]->joint == Joint::gradient && first[k]->joint == Joint::gradient && mine[k]->piece != first[k]->piece)
        throw Error(
            "part \"{}\": \"{}\" reads another piece of U than part \"{}\" (\"{}\") at the same meeting; let one of "
            "them wait with '.'",
            part.name, part.scheme.text, parts.front().name, parts.front().scheme.text);
  }
}

namespace {

// Which entries stay put, in the numbering of each block, and at which values if those are given.
struct Frozen {
  std::map<std::string, std::vector<std::uint32_t>> entries;
  std::map<std::string, std::map<std::size_t, double>> values;
  bool all_of(const Block& b) const {
    if (b.buffer()) return true;  // no letter moves it
    const auto at = entries.find(b.name);
    return at != entries.end() && at->second.size() == b.size();
  }
};

Frozen frozen_entries(const std::vector<std::string>& freeze, const std::vector<Block>& blocks) {
  Frozen out;
  for (const std::string& text : freeze) {
    const Freeze f = parse_freeze(text);
    bool found = false;
    for (const Block& b : blocks) {
      if (!matches(f.blocks, b.name)) continue;
      found = true;
      std::size_t first = 0, count = b.size();
      if (!f.entry.empty()) {
        const std::size_t row = f.entry.size() == 2 ? f.entry[0] : 0, column = f.entry.back();
        if (row >= b.rows() || (f.entry.size() == 2 ? column >= b.columns() : column >= b.size()))
          throw Error("model.freeze \"{}\": block \"{}\" is {} x {}, counted from 0", text, b.name, b.rows(),
                      b.columns());
        first = row * b.columns() + column;
        count = 1;
      }
      for (std::size_t i = first; i < first + count; ++i) {
        out.entries[b.name].push_back(std::uint32_t(i));
        if (f.value) out.values[b.name][i] = *f.value;
      }
    }
    if (!found) throw Error("model.freeze \"{}\" matches no block; the blocks are {}", text, listed(blocks));
  }
  for (auto& [name, entries] : out.entries) {
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  }
  return out;
}

// The part of every block that moves: exactly one.
std::map<std::string, std::string> parts_of(const std::map<std::string, PartSettings>& settings,
                                            const std::vector<Block>& blocks, const Frozen& frozen) {
  std::map<std::string, std::string> out;
  const BlockChoice choice(blocks);
  for (const auto& [name, part] : settings)
    for (const Block& b : blocks)
      if (choice.matches(part.blocks, b) && !frozen.all_of(b) && !out.emplace(b.name, name).second)
        throw Error(
            "block \"{}\" is in part \"{}\" and in part \"{}\"; a block belongs to one part: leave it out of one with "
            "\"!{}\"",
            b.name, out[b.name], name, b.name);
  for (const Block& b : blocks)
    if (!out.contains(b.name) && !frozen.all_of(b)) {
      std::string parts;
      for (const auto& [name, part] : settings) parts += (parts.empty() ? "" : ", ") + name;
      throw Error("block \"{}\" is in no part; add it to the blocks of one (parts: {}) or to model.freeze", b.name,
                  parts.empty() ? "none" : parts);
    }
  return out;
}

// A part without its blocks, its numbers checked.
PartRecipe part_of(const std::string& name, const PartSettings& part, const Horizon& run,
                   std::span<const Letter> own_letters) {
  const std::string key = "part." + name + ".";
  PartRecipe made{.name = name,
                  .scheme = parse_scheme(part.scheme, own_letters),
                  .step = checked(part.step, run, key + "step", 0, false, false),
                  .friction = checked(part.friction, run, key + "friction", 0, true, true),
                  .temperature = checked(part.temperature.given() ? part.temperature : Choice("posterior"), run,
                                         key + "temperature", 0, true, false),
                  .mass = checked(part.mass, run, key + "mass", 0, false, false),
                  .sigma = checked(part.sigma, run, key + "sigma", 0, true, false),
                  .eps = checked(part.eps, run, key + "eps", 0, true, false),
                  .damping = &row_named(part.damping, dampings(), "damping"),
                  .xi = part.xi,
                  .constants = {.momentum = part.momentum,
                                .dampening = part.dampening,
                                .weight_decay = part.weight_decay,
                                .beta1 = part.beta1,
                                .beta2 = part.beta2,
                                .floor = part.floor,
                                .trust = part.trust}};
  const auto within = [&](std::string_view what, double x, double least, double most) {
    if (!(x >= least && x < most))
      throw Error("{}{} must be at least {} and below {}, not {}", key, what, least, most, x);
  };
  within("momentum", part.momentum, 0, 1);
  within("dampening", part.dampening, 0, INFINITY);
  within("beta1", part.beta1, 0, 1);
  within("beta2", part.beta2, 0, 1);
  within("floor", part.floor, 0, INFINITY);
  within("weight_decay", part.weight_decay, 0, INFINITY);
  within("trust", part.trust, 0, INFINITY);
  return made;
}

// What can be said of a part once it has its blocks.
void check_part(const PartRecipe& made, const PartSettings& part, const std::vector<Block>& blocks) {
  if (made.size == 0) {
    std::string patterns;
    for (const auto& p : part.blocks) patterns += (patterns.empty() ? "\"" : "\", \"") + p;
    throw Error("part \"{}\": blocks = [{}\"] matches no block that moves; the blocks are {}", made.name, patterns,
                listed(blocks));
  }
  if (part.constraint.given() && made.constraints.empty())
    throw Error(
        "part \"{}\": constraint \"{}\" finds no matrix among its blocks; remove it, or add biases = true to "
        "hold vectors too",
        made.name, part.constraint.name);
  if (part.constraint.given()) check_constraints(made);
  if (std::isfinite(made.friction.range().second)) return;
  for (const Move& m : made.scheme.moves)
    if (m.letter->normals && (m.letter->local() ? m.letter->moves_q : m.letter->moves_p))
      throw Error(
          "part \"{}\": letter '{}' needs a finite friction; give one, or use BARAB for the high-friction limit",
          made.name, m.letter->symbol);
}

}  // namespace

Recipe make_recipe(const std::map<std::string, PartSettings>& settings, const std::vector<std::string>& freeze,
                   std::vector<Block> blocks, const Horizon& run, std::shared_ptr<const OwnLetters> own_letters) {
  Recipe recipe;
  recipe.own_letters = std::move(own_letters);
  const Frozen frozen = frozen_entries(freeze, blocks);
  const auto parts = parts_of(settings, blocks, frozen);
  recipe.part_of = parts;
  const auto place = [&](Block b) {
    b.offset = recipe.size;
    recipe.size += b.size();
    if (const auto given = frozen.values.find(b.name); given != frozen.values.end())
      for (const auto& [i, value] : given->second) recipe.fixed[b.offset + i] = value;
    recipe.blocks.push_back(std::move(b));
  };
  for (const auto& [name, part] : settings) {
    PartRecipe made =
        part_of(name, part, run, recipe.own_letters ? recipe.own_letters->rows() : std::span<const Letter>());
    made.offset = recipe.size;
    const BlockConstraint chosen =
        part.constraint.given() ? constraint_chosen(part.constraint, name) : BlockConstraint();
    for (const Block& b : blocks) {
      if (const auto at = parts.find(b.name); at == parts.end() || at->second != name) continue;
      const std::size_t first = recipe.size - made.offset;
      if (const auto some = frozen.entries.find(b.name); some != frozen.entries.end())
        for (const std::uint32_t i : some->second) made.frozen.push_back(std::uint32_t(first) + i);
      made.constants.blocks.push_back(first);
      place(b);
      if (!part.constraint.given() || !holds(chosen, b)) continue;
      made.constraints.push_back(held_by(constraint_on(chosen, b.name), b, first));
      if (!chosen.row->has_slack) continue;
      made.constraints.back().slack_count = made.constraints.back().units();
      const Block slack = slack_of(made.constraints.back(), b);
      recipe.part_of[slack.name] = name;
      made.constants.blocks.push_back(recipe.size - made.offset);
      place(slack);
    }
    made.size = recipe.size - made.offset;
    made.constants.blocks.push_back(made.size);
    check_part(made, part, blocks);
    made.constants.freedom = double(made.freedom());
    recipe.parts.push_back(std::move(made));
  }
  for (const Block& b : blocks)
    if (frozen.all_of(b)) place(b);
  if (recipe.parts.empty()) throw Error("there is no part to move; add [part.all] with a scheme and a step");
  check_meetings(recipe.parts);
  for (const PartRecipe& part : recipe.parts) recipe.weighed |= part.scheme.own_time || part.temperature.rests();
  return recipe;
}

}  // namespace kelvin
