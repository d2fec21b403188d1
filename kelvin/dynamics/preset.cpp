// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/preset.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "kelvin/core/choice.h"
#include "kelvin/core/toml.h"

namespace kelvin {
namespace {

using enum Layers;
constexpr PresetRole langevin[] = {{"layer", each, "scheme = 'BAOAB'"}};
constexpr PresetRole adl[] = {{"layer", each, "scheme = 'BACDEDCAB'"}};
constexpr PresetRole lol[] = {{"hidden", all_but_last, "scheme = 'BAOAB'"},
                              {"output", last, "scheme = 'BARAB', temperature = 0.0"}};
constexpr PresetRole dhsgd[] = {{"hidden", all_but_last, "scheme = 'BAB', temperature = 0.0"},
                                {"output", last, "scheme = 'BARAB', temperature = 0.0"}};
constexpr PresetRole dhsgdc[] = {{"hidden", all_but_last, "scheme = 'BAB', temperature = 0.0"},
                                 {"output", last, "scheme = 'S.', temperature = 0.0"}};
constexpr PresetRole adlala[] = {{"hidden", all_but_last, "scheme = 'BACDEDCAB'"},
                                 {"output", last, "scheme = 'BAOAB'"}};

constexpr PresetRole sgd[] = {{"layer", each, "scheme = 'S', temperature = 0.0"}};
constexpr PresetRole adam[] = {{"layer", each, "scheme = 'adam', temperature = 0.0"}};

constexpr PresetRole samadams[] = {{"layer", each, "scheme = 'samadams'"}};
constexpr PresetRole mclmc[] = {{"all", everything, "scheme = 'mclmc'"}};
constexpr PresetRole santa[] = {{"layer", each, "scheme = 'santa'"}};
constexpr PresetRole anneal_sgd[] = {{"layer", each, "scheme = 'heavy_ball', temperature = 0.0"}};
constexpr PresetRole cyclical_sgld[] = {{"layer", each, "scheme = 'S'"}};
constexpr PresetRole annealing[] = {{"layer", each, "scheme = 'BAOAB'"}};

constexpr PresetRole circle_sgd[] = {
    {"input", first, "scheme = 'S', temperature = 0.0, constraint = { name = 'circle', radius = 1.0 }"},
    {"rest", all_but_first, "scheme = 'S', temperature = 0.0, constraint = { name = 'circle', radius = 5.0 }"}};
constexpr PresetRole circle_sgld[] = {
    {"input", first, "scheme = 'S', constraint = { name = 'circle', radius = 1.0 }"},
    {"rest", all_but_first, "scheme = 'S', constraint = { name = 'circle', radius = 5.0 }"}};
constexpr PresetRole circle_underdamped[] = {
    {"input", first, "scheme = 'BAOAB', constraint = { name = 'circle', radius = 0.05 }"},
    {"rest", all_but_first, "scheme = 'BAOAB', constraint = { name = 'circle', radius = 0.1 }"}};
constexpr PresetRole orthogonal_overdamped[] = {{"hidden", inner, "scheme = 'S', constraint = 'orthogonal'"},
                                                {"ends", ends, "scheme = 'S'"}};
constexpr PresetRole orthogonal_start[] = {{"hidden", inner, "scheme = 'S', temperature = 0.0, start = 'orthogonal'"},
                                           {"ends", ends, "scheme = 'S', temperature = 0.0"}};
constexpr PresetRole orthogonal_penalty[] = {
    {"hidden", inner, "scheme = 'S', temperature = 0.0, penalty = { name = 'orthogonal', strength = 0.05 }"},
    {"ends", ends, "scheme = 'S', temperature = 0.0"}};
constexpr PresetRole orthogonal_underdamped[] = {{"hidden", inner, "scheme = 'BAOAB', constraint = 'orthogonal'"},
                                                 {"ends", ends, "scheme = 'BAOAB'"}};
// Reversible averaging, ten inner steps: the slow part is kicked along the fast one's look ahead and, at the end, back.
constexpr PresetRole ra0[] = {{"slow", all_but_last, "scheme = '(BB)10A(..)10A(BB)10'"},
                              {"fast", last, "scheme = '<(BAB)10>(BAB)10<~(BAB)10>'"}};
constexpr PresetRole ra1[] = {{"slow", all_but_last, "scheme = '(BB)10(.A.)10(BB)10'"},
                              {"fast", last, "scheme = '<(BAB)10>(BAB)10<~(BAB)10>'"}};

constexpr Preset all_presets[] = {
    {"sgd", sgd, "step = 0.1", "stochastic gradient descent in every layer"},
    {"adam", adam, "step = 0.005", "Adam in every layer"},
    {"langevin", langevin, "step = 0.1, friction = 1.0, temperature = 1e-4",
     "Langevin in layers: each layer its own friction and temperature"},
    {"adl", adl, "step = 0.15, temperature = 1e-4, sigma = 0.01, eps = 0.1",
     "adaptive Langevin in layers: each layer its own xi"},
    {"lol", lol, "step = 0.1, friction = 0.01, temperature = 1e-3",
     "LOL: Langevin in the hidden layers, its high-friction limit in the output layer"},
    {"dhsgd", dhsgd, "step = 0.1",
     "DHSGD: Hamiltonian in the hidden layers, gradient descent of rate h^2/2 in the "
     "output layer"},
    {"dhsgdc", dhsgdc, "step = 0.1", "DHSGDc, the contractive variant: gradient descent of rate h in the output layer"},
    {"adlala", adlala, "step = 0.15, temperature = 1e-4, sigma = 0.01, eps = 0.1, friction = 0.1",
     "AdLaLa: adaptive Langevin in the hidden layers, Langevin in the output layer"},
    {"samadams", samadams, "step = 0.05, friction = 1.0",
     "SamAdams: Langevin whose steps follow the size of the gradient; draws carry weights"},
    {"mclmc", mclmc, "step = 0.01, friction = 1.0, temperature = 'posterior'",
     "MCLMC: p of unit length turns towards the gradient; every row, one part; with adapt.step and adapt.friction"},
    {"santa", santa,
     "step = 0.1, friction = 1.0, eps = 1.0, xi = 1.0, floor = 1e-4, "
     "temperature = { name = 'polynomial', from = 1e-3, power = 0.5 }",
     "Santa: annealed thermostats for every weight; give the temperature `until` = steps of exploration"},
    {"anneal_sgd", anneal_sgd, "step = 0.05, momentum = 0.9, gradient_noise = { name = 'polynomial', from = 0.01 }",
     "AnnealSGD: SGD with momentum on gradients whose added noise decays"},
    {"csgld", cyclical_sgld, "step = { name = 'cyclical', from = 0.1 }, temperature = 'cyclical_posterior'",
     "cyclical SGLD: steps fall in cycles, without noise in the first part of each; only draws of the rest count"},
    {"annealing", annealing, "step = 0.1, friction = 1.0, temperature = { name = 'logarithmic', from = 1e-3 }",
     "simulated annealing: Langevin cooled as 1 / log of the step"},
    {"c_sgd", circle_sgd, "step = 0.05", "C-SGD: gradient descent with every weight on a circle"},
    {"c_sgld", circle_sgld, "step = 0.05, temperature = 5e-5", "C-SGLD: the same with noise"},
    {"c_cola_od", circle_sgld, "step = 0.05, temperature = 5e-5", "c-CoLA-od: overdamped Langevin, weights on circles"},
    {"c_cola_ud", circle_underdamped, "step = 0.3, friction = 1.0, temperature = 0.0",
     "c-CoLA-ud: underdamped Langevin, weights on circles"},
    {"o_cola_od", orthogonal_overdamped, "step = 0.1, temperature = 0.0",
     "o-CoLA-od: overdamped Langevin, orthogonal matrices between the first and the last layer"},
    {"o_cola_ud", orthogonal_underdamped, "step = 0.3, friction = 1.0, temperature = 0.0",
     "o-CoLA-ud: underdamped Langevin, orthogonal matrices between the first and the last layer"},
    {"o_start", orthogonal_start, "step = 0.1",
     "SGD, the matrices between the first and the last layer start orthogonal"},
    {"o_penalty", orthogonal_penalty, "step = 0.1",
     "SGD with a penalty that draws the matrices between the first and the last layer towards orthogonal ones"},
    {"ra0", ra0, "step = 0.1", "reversible averaging RA-0: the slow layers feel the mean of the fast one's gradient"},
    {"ra1", ra1, "step = 0.1", "RA-1: the same, and the slow layers drift along while the fast one moves"},
};

Value::Group settings_of(std::string_view text) {
  const Value v = parse_toml(fmt::format("it = {{ {} }}", text), "preset");
  return std::get<Value::Group>(std::get<Value::Group>(v.is).at("it").is);
}

// What is there already comes first; a choice given by some of its numbers only, such as { radius = 2.0 }, gets its
// name and the others.
void fill(Value::Group& into, const Value::Group& from) {
  for (const auto& [key, value] : from) {
    auto* there = std::get_if<Value::Group>(&into.emplace(key, value).first->second.is);
    if (!there || there->contains("name")) continue;
    if (value.group()) fill(*there, std::get<Value::Group>(value.is));
    else there->emplace("name", value);
  }
}

Value text(std::string x) { return placed(std::move(x), "preset"); }

Value list(std::vector<std::string> items) {
  Value::List out;
  for (std::string& item : items) out.push_back(text(std::move(item)));
  return placed(std::move(out), "preset");
}

// Which blocks a role has where the run file names no parts. Embeddings are matrices of vectors, not of weights.
struct BlocksOf {
  Layers layers;
  std::vector<std::string> blocks;
};
const BlocksOf blocks_of_roles[] = {
    {everything, {"*"}},
    {all_but_last, {"*", "!@last"}},
    {last, {"@last"}},
    {first, {"@first"}},
    {all_but_first, {"*", "!@first"}},
    {inner, {"@inner", "!@embeddings"}},
    {ends, {"*", "!@inner", "@embeddings"}},
};

Value::Group parts_of(const Preset& preset, std::size_t layers) {
  if (layers == 0 && preset.roles.front().layers != everything)
    throw Error(
        "preset \"{}\" makes a part of each layer; without layers give the parts: [part.NAME] with blocks and "
        "a role",
        preset.name);
  Value::Group parts;
  const auto add = [&](const std::string& name, Value blocks, std::string_view role) {
    parts[name] = placed(Value::Group{{"blocks", std::move(blocks)}, {"role", text(std::string(role))}}, "preset");
  };
  for (const PresetRole& role : preset.roles) {
    const std::string name(role.name);
    if (role.layers == inner && layers < 3)
      throw Error("preset \"{}\" acts on the layers between the first and the last, of which there are none",
                  preset.name);
    const bool others = role.layers == all_but_first || role.layers == all_but_last;
    for (const BlocksOf& row : blocks_of_roles)
      if (row.layers == role.layers && (layers > 1 || !others)) add(name, list(row.blocks), role.name);
    for (std::size_t k = 1; role.layers == each && k <= layers; ++k)  // the first also takes what is in no layer
      add(fmt::format("{}{}", name, k),
          k == 1 ? list({"*", "!layer*.*", "layer1.*"}) : list({fmt::format("layer{}.*", k)}), role.name);
  }
  return parts;
}

// Parts without blocks that have the names of those the preset makes say only what is different about them.
void complete_parts(Value::Group& file, const Preset& preset, std::size_t layers) {
  if (!file.contains("part")) file["part"] = placed(parts_of(preset, layers), "preset");
  auto* parts = std::get_if<Value::Group>(&file["part"].is);
  if (!parts || layers == 0) return;
  for (const auto& [name, part] : *parts)
    if (!part.group() || std::get<Value::Group>(part.is).contains("blocks")) return;
  const Value::Group made = parts_of(preset, layers);
  if (std::ranges::all_of(*parts, [&](const auto& part) { return made.contains(part.first); }))
    for (const auto& [name, value] : made)
      fill(std::get<Value::Group>(parts->emplace(name, value).first->second.is), std::get<Value::Group>(value.is));
}

// A setting beside the name that every role decides itself would say nothing.
void check_beside(const Preset& preset, const Choice& choice) {
  for (const auto& [key, value] : choice.values) {
    std::string own;
    for (const PresetRole& role : preset.roles) {
      const Value::Group settings = settings_of(role.settings);
      if (!settings.contains(key)) {
        own.clear();
        break;
      }
      own += fmt::format("{}part.{}.{}", own.empty() ? "" : " or ", role.name, key);
    }
    if (!own.empty())
      throw Error("{}: preset \"{}\" says itself what {} is; leave {} out beside its name, or give {}", value.where,
                  preset.name, key, key, own);
  }
}

}  // namespace

std::span<const Preset> presets() { return all_presets; }

void apply_preset(Value::Group& file, std::size_t layers) {
  const auto given = file.find("preset");
  if (given == file.end()) return;
  Choice choice;
  assign(choice, given->second, "preset");
  if (!choice.given()) return;
  for (char& c : choice.name)
    c = c == '-' ? '_' : char(std::tolower(static_cast<unsigned char>(c)));  // as papers write
  const Preset& preset = row_named(choice.name, presets(), "preset", choice.where);
  check_beside(preset, choice);
  complete_parts(file, preset, layers);
  auto* parts = std::get_if<Value::Group>(&file["part"].is);
  if (!parts) return;  // refused where parts are read
  for (auto& [name, value] : *parts) {
    auto* part = std::get_if<Value::Group>(&value.is);
    if (!part) continue;
    std::string role = preset.roles.size() == 1 ? std::string(preset.roles[0].name) : name;
    if (const auto own = part->find("role"); own != part->end() && preset.roles.size() > 1)
      assign(role, own->second, "part." + name + ".role");
    const PresetRole* row = nullptr;
    std::vector<std::string_view> known;
    for (const PresetRole& r : preset.roles) {
      known.push_back(r.name);
      if (r.name == role) row = &r;
    }
    if (!row)
      throw Error("preset \"{}\" has no role \"{}\" for part \"{}\"; give it role = \"{}\"", preset.name, role, name,
                  fmt::join(known, "\" or \""));
    (*part)["role"] = text(role);
    fill(*part, settings_of(row->settings));
    fill(*part, choice.values);
    fill(*part, settings_of(preset.usual));
  }
}

}  // namespace kelvin
