// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/verdict/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kelvin/analysis/posterior/ensembles.h"
#include "kelvin/analysis/stored_run.h"
#include "kelvin/core/entry.h"
#include "kelvin/dynamics/constraint.h"
#include "kelvin/energy/loss.h"
#include "kelvin/energy/prior.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {
namespace {

constexpr std::size_t few_parameters = 20, most_imported = 1000;

std::vector<LearningCurve> learning_curves(const std::filesystem::path& run) {
  std::vector<LearningCurve> curves;
  for (const char* name : {"train", "validation", "test", "potential"}) curves.push_back({name, {}, {}});
  for (const LogLine& line : read_log(run))
    for (LearningCurve& curve : curves) {
      const ScoreRecord* score = line.score(curve.name);
      if (!score && curve.name != "potential") continue;
      curve.steps.push_back(double(line.step));
      curve.loss.push_back(score ? score->loss : line.potential);
    }
  std::erase_if(curves, [](const LearningCurve& c) { return c.loss.empty(); });
  return curves;
}

// x over the schedule's value at the step of each draw.
Chains relative(Chains x, const Chains& steps, const Schedule& temperature) {
  for (std::size_t w = 0; w < x.size(); ++w)
    for (std::size_t i = 0; i < x[w].size(); ++i) x[w][i] /= temperature.at(steps[w][i]);
  return x;
}

// On a circle the force on a weight is scaled by 1 - w^2/r^2. Counted are those that keep less than a thousandth of it,
// in the last draw of every walker; nan if none is on a circle, or if weights are not stored.
double share_at_radius(const Samples& samples, const BlockConstraint& held,
                       const std::map<std::string, std::string>& blocks) {
  double stuck = 0, all = 0;
  for (const auto& [block, constraint] : blocks) {
    const std::string array = "posterior/" + block;
    if (!samples.manifest.arrays.contains(array)) continue;
    const double radius = constraint_on(held, block).numbers.number("radius");
    for (std::size_t w = 0; w < samples.walkers; ++w)
      for (const double x : samples.array(array, w, samples.draws - 1, 1)) {
        stuck += 1 - x * x / (radius * radius) < 1e-3;
        ++all;
      }
  }
  return stuck / all;
}

PartEvidence part_of(const Evidence& e, std::size_t k, const Chains& steps) {
  const std::string& name = e.samples.parts[k];
  const auto known = e.settings.part.find(name);
  const auto at = e.samples.record.part.find(name);
  if (known == e.settings.part.end() || at == e.samples.record.part.end())
    throw Error("\"{}\" is damaged: it does not tell of part \"{}\"", (e.samples.run / "run.json").string(), name);
  const PartSettings& settings = known->second;
  const PartRecord& record = at->second;
  PartEvidence part;
  part.name = name;
  part.freedom = double(record.degrees_of_freedom) * double(e.together);
  part.kinetic_exact = record.kinetic_temperature_is_exact;
  part.confined = e.settings.model.layers.empty() ||
                  prior_of(settings.prior.given() ? settings.prior : e.settings.model.prior).proper();
  const Schedule temperature(
      settings.temperature.given() ? settings.temperature : Choice("posterior"),
      {double(e.settings.warmup + e.settings.steps), double(std::max<std::size_t>(1, e.samples.record.rows))});
  part.warm = temperature.range().first > 0;
  if (const std::string array = "sample_stats/projection_fallbacks"; e.samples.manifest.arrays.contains(array)) {
    const Chains fallbacks = columns(e.samples, array, std::array{k})[0];
    for (const auto& x : fallbacks) part.fallbacks += x.back();
  }
  for (const auto& x : steps) part.steps += x.back();
  if (settings.constraint.given() && temperature.range().second == 0)
    if (const auto held = constraint_chosen(settings.constraint, name);
        held.row->has_slack && held.unit() == Unit::entry)
      part.at_radius = share_at_radius(e.samples, held, record.constraint);
  if (!part.warm) return part;
  const auto over_set = [&](const char* name) {
    return ensemble_means(relative(columns(e.samples, name, std::array{k})[0], steps, temperature), e.together);
  };
  part.kinetic = over_set("sample_stats/kinetic_temperature");
  part.configurational = over_set("sample_stats/configurational_temperature");
  return part;
}

// What a network with hidden layers says of some rows, where the run has not stored it and can be rebuilt: by what it
// says its walkers are compared, not by weights.
std::vector<Quantity> computed_predictions(const Samples& samples) {
  constexpr double most_products = 2e9, most_rows = 10;
  const RunSettings& settings = samples.record.settings;
  const double draws = double(samples.draws * samples.walkers);
  if (settings.model.layers.items().size() < 3 || settings.store.weights == "none" ||
      samples.record.targets.steps > 0 || draws * double(samples.record.parameters) * most_rows > most_products)
    return {};
  std::vector<Quantity> out;
  const auto silent = [](std::string_view) {};
  with_stored_run(samples, silent, [&]<class Real>(const StoredRun<Real>& run) {
    const Problem<Real>& problem = run.problem;
    const Dataset& data = problem.test ? problem.data.test : problem.data.train;
    const std::size_t rows = std::min(data.rows, std::size_t(most_rows)), width = problem.train->outputs();
    const Inputs<Real> inputs(data.inputs, 0, rows, data.input_count());
    const auto probabilities = loss_named(settings.model.loss).template probabilities<Real>();
    const std::size_t numbers = probabilities ? std::max<std::size_t>(2, width) : width;
    PlacedFunction<Real> network = problem.function();
    std::vector<Real> outputs(rows * width), said(rows * numbers);
    for (std::size_t k = 0; k < std::min(said.size(), std::size_t(most_rows)); ++k)
      out.push_back({fmt::format("prediction[{},{}]", k % rows, k % numbers), Chains(samples.walkers)});
    run.each_point(1, [&](std::size_t, std::size_t walker, std::span<const Real> q) {
      network.predict(q, inputs, outputs);
      if (probabilities) probabilities(rows, width, outputs.data(), said.data());
      else said = outputs;
      for (std::size_t k = 0; k < out.size(); ++k)  // of row k, a number that is another one from row to row
        out[k].chains[walker].push_back(double(said[(k % rows) * numbers + k % numbers]));
    });
  });
  return out;
}

std::vector<Quantity> known_predictions(const Samples& samples) {
  std::vector<Quantity> out = stored_predictions(samples);
  if (std::ranges::any_of(out, [](const Quantity& q) { return q.name.starts_with("prediction"); })) return out;
  try {
    for (Quantity& q : computed_predictions(samples)) out.push_back(std::move(q));
  } catch (const Error&) {  // its data are elsewhere: the checks say what they miss
  }
  return out;
}

void judge(Evidence& e, Quantity quantity) {
  const Convergence c = ensemble_convergence(quantity.chains, e.together);
  quantity.chains = ensemble_means(quantity.chains, e.together);
  const AutocorrelationTime time = windowed_autocorrelation_time(quantity.chains);
  e.judged.push_back({std::move(quantity), c, time});
}

// Every parameter of a model that is no network, if they are few; of imported draws so many of them, evenly spaced.
void judge_parameters(Evidence& e) {
  const Samples& samples = e.samples;
  const std::size_t parameters = samples.record.parameters;
  if (!e.settings.model.layers.empty() || (parameters > few_parameters && !samples.record.imported())) return;
  const std::size_t every = (parameters + most_imported - 1) / most_imported;
  std::size_t before = 0;
  for (const std::string& block : samples.blocks) {
    const std::string array = "posterior/" + block;
    if (!samples.manifest.arrays.contains(array)) continue;
    const ZarrShape shape = samples.shape(array);
    std::vector<std::size_t> which;
    for (std::size_t k = 0; k < shape.size(); ++k)
      if ((before + k) % every == 0) which.push_back(k);
    before += shape.size();
    auto some = columns(samples, array, which);
    for (std::size_t k = 0; k < which.size(); ++k)
      judge(e, {entry_name(block, which[k], shape.each), std::move(some[k])});
  }
}

bool below_one(double x) { return x < 1; }

}  // namespace

Evidence evidence_of(const Samples& samples) {
  if (samples.draws == 0)
    throw Error("\"{}\" has no draws; run it for at least `every` steps after warm-up", samples.run.string());
  Evidence e{samples, samples.record.settings,     walkers_together(samples), {}, {}, {}, {}, {}, {}, {}, {}, {},
             {},      learning_curves(samples.run)};
  // Draws of another program may lack any but the step.
  const auto statistic = [&](const std::string& name) {
    const std::string array = "sample_stats/" + name;
    return samples.manifest.arrays.contains(array) ? columns(samples, array)[0] : Chains();
  };
  const Chains potential = statistic("potential");
  e.potential = ensemble_means(potential, e.together);
  e.energy = ensemble_means(statistic("energy"), e.together);
  e.acceptance = statistic("acceptance_rate");
  e.diverging = statistic("diverging");
  const std::size_t rows = samples.record.rows;
  e.minibatch = rows > 0 && e.settings.batch.size.of(rows) < rows;
  const Chains steps = statistic("step");
  e.training = !samples.record.imported();
  if (!e.acceptance.empty() && samples.record.imported())
    e.proposes = std::ranges::any_of(e.acceptance, [](const auto& x) { return std::ranges::any_of(x, below_one); });
  for (std::size_t k = 0; k < samples.parts.size(); ++k) {
    e.parts.push_back(part_of(e, k, steps));
    e.training &= !e.parts.back().warm;
    e.proposes |= parse_scheme(e.settings.part.at(samples.parts[k]).scheme).proposes;
  }
  for (const auto& [array, fingerprint] : samples.manifest.arrays)
    if (array.starts_with("sample_stats/") && array.ends_with("residual")) {
      const auto all = columns(samples, array);
      for (std::size_t k = 0; k < all.size(); ++k)
        if (!all[k].empty() && !std::isnan(all[k][0][0]))  // nan is for parts without
          e.residuals.push_back({fmt::format("{} of {}", array.substr(array.find('/') + 1),
                                             k < samples.parts.size() ? samples.parts[k] : std::to_string(k)),
                                 all[k]});
    }
  if (e.training) return e;
  if (!potential.empty()) judge(e, {"potential", potential});
  for (Quantity& q : known_predictions(samples)) judge(e, std::move(q));
  judge_parameters(e);
  return e;
}

const JudgedQuantity* least_agreed(const Evidence& e) {
  const JudgedQuantity* worst = nullptr;
  for (const JudgedQuantity& q : e.judged)
    if (!std::isnan(q.convergence.rhat) && (!worst || q.convergence.rhat > worst->convergence.rhat)) worst = &q;
  return worst;
}

}  // namespace kelvin
