// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/problem.h"

#include <algorithm>
#include <cmath>

#include "kelvin/energy/likelihood.h"
#include "kelvin/energy/loss.h"
#include "kelvin/energy/switched.h"
#include "kelvin/energy/tempered.h"
#include "kelvin/energy/toys.h"
#include "kelvin/ensemble/coupling.h"
#include "kelvin/ensemble/exchange.h"
#include "kelvin/function/block.h"
#include "kelvin/function/network.h"
#include "kelvin/run/tempering.h"

namespace kelvin {
namespace {

// That the settings name and a program has given; null if they name none.
template <class Real>
const OwnModel<Real>* own_model(const RunSettings& settings, const Model* given) {
  const std::string& name = settings.model.own;
  if (name.empty()) {
    if (given && (given->in<Real>().potential || given->in<Real>().function))
      throw Error("a model is given to a run whose settings name none; set model.own in place of layers or a toy");
    return nullptr;
  }
  if (!given)
    throw Error(
        "model.own = \"{}\" is a model that only the program which gives it to its runs has; start, resume or evaluate "
        "them there",
        name);
  const OwnModel<Real>& own = given->in<Real>();
  if (!own.potential == !own.function)
    throw Error("model.own = \"{}\" must be given as a potential or as a function in the run's precision, \"{}\"", name,
                settings.precision);
  if (own.potential && (settings.store.predictions || settings.store.log_likelihood))
    throw Error("store.predictions and store.log_likelihood need a network; model.own = \"{}\" is an energy", name);
  return &own;
}

template <class Real>
std::unique_ptr<Function<Real>> function_of(const RunSettings& settings, const Model* given, const Shape& input) {
  const OwnModel<Real>* own = own_model<Real>(settings, given);
  return own ? own->function->clone() : make_function<Real>(settings.model, input);
}

// Blocks that a hierarchical prior adds: one for each layer, whatever part it is in.
std::vector<Block> scales_of_priors(const RunSettings& settings, std::span<const Block> blocks) {
  for (const auto& [name, part] : settings.part)
    if (part.prior.given() && prior_of(part.prior).row->learned)
      throw Error(
          "prior \"{}\" learns a scale for each layer, which may lie in several parts: give it as model.prior, not in "
          "part \"{}\"",
          part.prior.name, name);
  return learned_scales(settings.model.prior, blocks);
}

template <class Real>
std::unique_ptr<Likelihood<Real>> likelihood_of(const Problem<Real>& problem, const Dataset& rows,
                                                const Remark& remark) {
  return std::make_unique<Likelihood<Real>>(
      function_of<Real>(problem.settings, problem.model.get(), rows.input_shape()), problem.settings.model, rows,
      remark);
}

template <class Real>
std::unique_ptr<PlacedLikelihood<Real>> likelihood_on(const Problem<Real>& problem, const Dataset& rows) {
  if (rows.rows == 0) return {};
  const Remark silent = [](std::string_view) {};  // the training rows have had all remarks
  return std::make_unique<PlacedLikelihood<Real>>(likelihood_of(problem, rows, silent), problem.recipe.blocks);
}

// What a recipe is made of besides settings.
struct RecipeParts {
  std::vector<Block> blocks;
  double rows;
  std::shared_ptr<const OwnLetters> letters;
};

template <class Real>
std::shared_ptr<const OwnLetters> letters_of(const Problem<Real>& problem) {
  return problem.model ? problem.model->letters : nullptr;
}

Recipe recipe_of_phase(const RunSettings& settings, const PhaseSettings& phase, std::uint64_t begins,
                       const RecipeParts& of) {
  auto parts = phase.part;
  for (auto& [name, part] : parts) part.constraint = settings.part.at(name).constraint;
  Recipe recipe = make_recipe(parts, settings.model.freeze, of.blocks, {double(phase.steps), of.rows}, of.letters);
  if (settings.tempering.on()) add_tempering(recipe, settings.tempering);
  recipe.begins = begins;
  return recipe;
}

// One recipe, or that of the first phase followed by those of the others. A phase that was begun by a command lasts
// until the next one, of either kind.
Recipe recipe_of(const RunSettings& settings, const RecipeParts& of, const std::vector<SteeredPhase>& steered = {}) {
  std::map<std::uint64_t, Recipe> phases;  // by the step at which they begin
  if (settings.phase.empty()) {
    const Horizon horizon{double(settings.warmup + settings.steps), of.rows};
    Recipe one = make_recipe(settings.part, settings.model.freeze, of.blocks, horizon, of.letters);
    if (settings.tempering.on()) add_tempering(one, settings.tempering);
    phases[0] = std::move(one);
  }
  std::uint64_t begins = 0;
  for (const PhaseSettings& phase : settings.phase) {
    phases[begins] = recipe_of_phase(settings, phase, begins, of);
    begins += std::uint64_t(phase.steps);
  }
  for (const SteeredPhase& phase : steered)
    phases[phase.from_step] = recipe_of_phase(settings, phase.phase, phase.from_step, of);
  Recipe first = std::move(phases.begin()->second);
  phases.erase(phases.begin());
  for (auto& [step, phase] : phases) {
    if (phase.part_of != first.part_of)
      throw Error(
          "phase {} has other parts than the first; give all parts in [part.NAME], and in the phases only how "
          "they move",
          first.later.size() + 2);
    first.later.push_back(std::move(phase));
  }
  return first;
}

Recipe tuned_recipe(const RunSettings& settings, const RecipeParts& of, const std::vector<SteeredPhase>& steered = {}) {
  Recipe recipe = recipe_of(settings, of, steered);
  recipe.tuning = {settings.adapt, settings.jitter, settings.covariance, settings.tempo,
                   std::uint64_t(settings.warmup)};
  for (Recipe& phase : recipe.later) phase.tuning.tempo = settings.tempo;
  return recipe;
}

// Draws of all phases carry weights if those of one do.
void weigh_all(Recipe& recipe, bool law) {
  recipe.weighed |= law;
  for (const Recipe& phase : recipe.later) recipe.weighed |= phase.weighed;
  for (Recipe& phase : recipe.later) phase.weighed = recipe.weighed;
}

Schedule variance_of(const RunSettings& settings, const std::string& part, double rows) {
  const Schedule noise(settings.part.at(part).gradient_noise, {double(settings.warmup + settings.steps), rows});
  if (const auto [low, high] = noise.range(); !(low >= 0) || !std::isfinite(high))
    throw Error("part.{}.gradient_noise is a variance and must be at least 0 and finite, not from {} to {}", part, low,
                high);
  return noise;
}

RunSettings without_slack(RunSettings settings) {
  settings.tempering = {};
  for (auto& [name, part] : settings.part) part.constraint = Choice();
  return settings;
}

// Whether the part's letters take care of its weight decay.
bool decays(const Recipe& recipe, const std::string& name) {
  for (const PartRecipe& part : recipe.parts)
    for (const Move& move : part.scheme.moves)
      if (part.name == name && move.letter->decays) return true;
  return false;
}

void check_decay(const Recipe& recipe, const std::string& part) {
  for (const Recipe& phase : recipe.later)
    if (decays(phase, part) != decays(recipe, part))
      throw Error("part \"{}\" has a weight_decay that one phase adds to U and another applies itself; use a penalty",
                  part);
}

const BlockConstraint* constraint_of(const Recipe& recipe, const std::string& block) {
  for (const PartRecipe& part : recipe.parts)
    for (const BlockConstraint& held : part.constraints)
      if (held.block == block) return &held;
  return nullptr;
}

// Whether the gradient that a draw leaves behind is that of the draw: no part moves q before its first gradient, which
// may then be taken early, or none does after its last one.
bool evaluates_at_draws(const Recipe& recipe) {
  bool starts_still = true, ends_still = true;
  for (const PartRecipe& part : recipe.parts) {
    const auto& moves = part.scheme.moves;
    const auto reads = [](const Move& m) { return m.letter->joint == Joint::gradient; };
    const auto moves_q = [](const Move& m) { return m.letter->moves_q; };
    const auto first = std::ranges::find_if(moves, reads);
    const auto last = std::find_if(moves.rbegin(), moves.rend(), reads);
    starts_still &= std::none_of(moves.begin(), first, moves_q);
    ends_still &= last != moves.rend() && std::none_of(moves.rbegin(), std::next(last), moves_q);
  }
  return starts_still || ends_still;
}

// What the settings ask for besides what the recipe says, for each phase.
void check_uses(const RunSettings& settings, const Recipe& recipe, std::size_t rows, bool noisy) {
  const auto check = [&](const Recipe& phase) {
    Uses uses(phase);
    if (rows > 0 && settings.batch.size.of(rows) < rows) uses.add(Trait::minibatches, "a run with minibatches");
    if (noisy) uses.add(Trait::noisy, "a run with masks, dropout, data.augment, gradient_noise or batch.anchor_every");
    if (settings.batch.anchor_every > 0) uses.add(Trait::anchored, "batch.anchor_every");
    if (settings.row_shares > 1) uses.add(Trait::in_row_shares, "row_shares");
    if (settings.switching.used()) uses.add(Trait::switched, "[switching]");
    if (phase.tempered && phase.parts.back().frozen.empty()) uses.add(Trait::tempered, "[tempering]");
    add_couplings(uses, ensemble_settings(settings));
    uses.check();
  };
  check(recipe);
  for (const Recipe& phase : recipe.later) check(phase);
}

// Its force and its weights are functions of U at q, which must be known there, exactly, whenever a draw is taken.
template <class Real>
std::unique_ptr<Law<Real>> switched(const RunSettings& settings, const Recipe& recipe) {
  const double T = constant_temperature(recipe, "switching");
  if (!evaluates_at_draws(recipe))
    throw Error(
        "[switching] does not go with scheme \"{}\": its draws are not where U was evaluated last; use BAOAB or "
        "another "
        "string without braces or N that begins or ends with B",
        recipe.parts.front().scheme.text);
  constexpr long most = 1 << 23;  // that can be counted in single precision
  return switching_law<Real>({T, settings.switching.highest, std::size_t(settings.switching.nodes),
                              std::uint64_t(std::min(most, settings.warmup))});
}

}  // namespace

template <class Real>
Problem<Real> make_problem(const RunSettings& settings, const LoadData& load, const Remark& remark, Slack slack,
                           std::shared_ptr<const Model> given) {
  Problem<Real> problem;
  problem.settings = settings;
  problem.model = std::move(given);
  const ModelSettings& model = settings.model;
  const OwnModel<Real>* own = own_model<Real>(settings, problem.model.get());
  std::unique_ptr<Potential<Real>> data;
  std::unique_ptr<Likelihood<Real>> train;
  if (model.toy.given()) {
    data = make_toy<Real>(model.toy);
  } else if (own && own->potential) {
    data = own->potential->clone();
  } else {
    const Loss& loss = loss_named(model.loss);
    problem.data = load(settings.data, loss.wants_classes(), std::uint64_t(settings.seed), remark);
    train = likelihood_of(problem, problem.data.train, remark);
    train->augment({settings.data.augment, problem.data.train});
    data = train->clone();
  }
  const double rows = double(std::max<std::size_t>(1, data->observations()));
  std::vector<Block> known = data->blocks();
  std::vector<Block> scales = scales_of_priors(settings, known);
  known.insert(known.end(), scales.begin(), scales.end());
  lay_out(known);
  problem.recipe =
      tuned_recipe(slack == Slack::kept ? settings : without_slack(settings), {known, rows, letters_of(problem)});
  const auto& blocks = problem.recipe.blocks;
  if (train) {
    problem.train = std::make_unique<PlacedLikelihood<Real>>(std::move(train), blocks);
    problem.validation = likelihood_on(problem, problem.data.validation);
    problem.test = likelihood_on(problem, problem.data.test);
  }

  Energy<Real>& energy = problem.energy.emplace(std::move(data));
  energy.terms.learn(scales);
  const auto seen = energy.blocks();
  std::vector<BlockPrior> confining;
  for (const auto& [block, part] : problem.recipe.part_of) {
    if (block_named(block, problem.recipe.blocks).slack()) continue;
    const PartSettings& own = settings.part.at(part);
    const bool scale = std::ranges::find(scales, block, &Block::name) != scales.end();
    const BlockPrior prior{block, scale ? prior_of_scales(model.prior) : own.prior.given() ? own.prior : model.prior};
    energy.terms.add(prior, seen);
    if (own.penalty.given()) energy.terms.add(BlockPenalty{block, own.penalty}, seen);
    if (own.mask.given()) energy.estimate.add(BlockMask{block, own.mask}, seen);
    if (own.gradient_noise.given()) {
      const auto variance = [noise = variance_of(settings, part, rows)](double n) { return noise.at(n); };
      energy.estimate.add(BlockNoise{block, variance}, seen);
    }
    if (own.weight_decay > 0) check_decay(problem.recipe, part);
    const bool penalised_decay = own.weight_decay > 0 && !decays(problem.recipe, part);
    if (penalised_decay)
      energy.terms.add(BlockPenalty{block, Choice::number_of("l2", "strength", own.weight_decay)}, seen);
    const bool held = own.constraint.given() &&
                      holds(constraint_chosen(own.constraint, part), block_named(block, problem.recipe.blocks));
    const bool confined = own.penalty.given() || penalised_decay || held;
    confining.push_back(confined ? BlockPrior{block, Choice("gaussian")} : prior);
  }
  bool warm = false;
  for (const PartRecipe& part : problem.recipe.parts) warm |= part.temperature.range().second > 0;
  if (warm && !model.layers.empty()) {
    if (const std::string why = why_improper(model, problem.data.train, confining); !why.empty()) remark(why);
    if (const std::string kind = layer_coupling_rows(model, problem.data.train.input_shape()); !kind.empty())
      remark(
          fmt::format("layer \"{}\" makes U depend on which rows stand in a minibatch together, which no likelihood of "
                      "independent rows does; to sample a posterior, use filter_response_norm or group_norm",
                      kind));
  }
  if (settings.batch.anchor_every > 0) energy.estimate.anchor(std::uint64_t(settings.batch.anchor_every));
  if (slack == Slack::kept) check_uses(settings, problem.recipe, energy.rows(), energy.noisy());
  if (problem.recipe.tempered) {
    check_tempered(settings, problem.recipe, remark);
    energy.law = std::make_unique<Tempered<Real>>(settings.tempering, tempered_temperature(problem.recipe));
  }
  if (settings.switching.used() && slack == Slack::kept) energy.law = switched<Real>(settings, problem.recipe);
  energy.arrange(blocks);
  weigh_all(problem.recipe, energy.law != nullptr);
  return problem;
}

template <class Real>
void Problem<Real>::steer(const std::vector<SteeredPhase>& steered) {
  if (steered.empty()) return;
  std::vector<Block> visible = recipe.blocks;
  std::erase_if(visible, [](const Block& b) { return b.slack(); });
  Recipe changed = tuned_recipe(settings, {visible, rows(), letters_of(*this)}, steered);
  for (const auto& [name, part] : settings.part)
    if (part.weight_decay > 0) check_decay(changed, name);
  check_uses(settings, changed, energy->rows(), energy->noisy());
  if (changed.tempered) check_tempered(settings, changed, [](std::string_view) {});
  weigh_all(changed, energy->law != nullptr);
  recipe = std::move(changed);
}

PhaseSettings changed_phase(const RunRecord& record, std::uint64_t step, const std::map<std::string, Value>& parts) {
  const RunSettings& settings = record.settings;
  std::map<std::uint64_t, const std::map<std::string, PartSettings>*> phases = {{0, &settings.part}};
  std::uint64_t begins = 0;
  for (const PhaseSettings& phase : settings.phase) {
    phases[begins] = &phase.part;
    begins += std::uint64_t(phase.steps);
  }
  for (const SteeredPhase& phase : record.steered) phases[phase.from_step] = &phase.phase.part;
  PhaseSettings out;
  out.part = *std::prev(phases.upper_bound(step))->second;
  out.steps = long(std::max(record.until, step + 1) - step);
  for (const auto& [name, given] : parts) {
    const auto part = out.part.find(name);
    if (part == out.part.end())
      throw Error("there is no part \"{}\" to change; the parts are those of the run file", name);
    for (const char* key :
         {"blocks", "role", "prior", "penalty", "mask", "gradient_noise", "start", "weight_decay", "constraint"})
      if (given.group() && given.contains(key))
        throw Error("{} of part \"{}\" cannot change while a run is under way; start a new run", key, name);
    read(part->second, given, "part." + name);
  }
  return out;
}

template <class Real>
PlacedFunction<Real> Problem<Real>::function() const {
  return {function_of<Real>(settings, model.get(), data.train.input_shape()), recipe.blocks};
}

template <class Real>
Chain<Real> Problem<Real>::chain(std::uint32_t walker, const Noise<Real>& noise) const {
  const auto seed = std::uint64_t(settings.seed);
  return Chain<Real>(*energy, recipe, Batches(settings.batch, energy->rows(), seed, walker), noise, seed, walker);
}

template <class Real>
std::vector<Real> Problem<Real>::starting_point(std::uint32_t walker, const ReadBlock& read_block,
                                                const Remark& remark) const {
  std::vector<Block> visible = recipe.blocks;
  std::erase_if(visible, [](const Block& b) { return b.slack(); });
  const Recipe full =
      recipe_of(settings, {visible, rows(), letters_of(*this)});  // with the slack that this problem may have left out
  std::vector<Real> q(full.size), mine(recipe.size);
  for (const Block& block : visible) {
    const BlockConstraint* held = constraint_of(full, block.name);
    const bool from_onnx = block.layer > 0 && !settings.model.onnx.empty();
    const Choice usual = from_onnx                           ? Choice("file", {{"path", settings.model.onnx}})
                         : held && !held->row->start.empty() ? Choice(std::string(held->row->start))
                         : train                             ? Choice("pytorch")
                                                             : Choice::number_of("constant", "value", 0);
    const auto part = recipe.part_of.find(block.name);
    const Choice* own = part == recipe.part_of.end() ? nullptr : &settings.part.at(part->second).start;
    const Stream stream{stream_key(std::uint64_t(settings.seed), "start " + block.name), walker, 0, 0};
    const auto values = settings.from.empty()
                            ? initial_values(own && own->given() ? *own : usual, block, stream, read_block)
                            : read_block(settings.from, block);
    std::copy(values.begin(), values.end(), q.begin() + long(block_named(block.name, full.blocks).offset));
  }
  settle<Real>(full, q, remark);
  for (const Block& block : recipe.blocks)
    std::copy_n(q.begin() + long(block_named(block.name, full.blocks).offset), block.size(),
                mine.begin() + long(block.offset));
  return mine;
}

template struct Problem<float>;
template struct Problem<double>;
template Problem<float> make_problem(const RunSettings&, const LoadData&, const Remark&, Slack,
                                     std::shared_ptr<const Model>);
template Problem<double> make_problem(const RunSettings&, const LoadData&, const Remark&, Slack,
                                      std::shared_ptr<const Model>);

}  // namespace kelvin
