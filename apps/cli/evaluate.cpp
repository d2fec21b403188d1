// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "apps/cli/command.h"
#include "kelvin/energy/hessian.h"
#include "kelvin/io/json.h"
#include "kelvin/io/problem.h"
#include "kelvin/numeric/linear.h"
#include "kelvin/run/problem.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin::cli {
namespace {

struct EvaluateArguments {
  RunFile file;
  std::string at, split = "train";
  bool gradient = false, hessian = false, json = false;
  template <class Visit>
  void fields(Visit&& field) {
    file.fields(field);
    field("at", at,
          "parameters: RUN (its last draw), RUN:draw, RUN:draw:walker or a .npz, .safetensors or .onnx file with an "
          "array "
          "per block (default: the starting point)");
    field("split", split, "rows to evaluate on: train, validation or test");
    field("gradient", gradient, "print the gradient, block by block");
    field("hessian", hessian, "its eigenvalues, and the matrix with --json (small networks)");
    field("json", json, "print JSON");
  }
};

// Block by block, in the order of the recipe.
template <class Real>
Value by_block(const Recipe& recipe, std::span<const Real> values) {
  Value::Group out;
  for (const Block& b : recipe.blocks) {
    const auto mine = values.subspan(b.offset, b.size());
    out[b.name] = std::vector<double>(mine.begin(), mine.end());
  }
  return out;
}

template <class Real>
void evaluate_at(const RunSettings& settings, const EvaluateArguments& options) {
  const Problem<Real> problem = make_problem<Real>(settings, remark, Slack::left_out);
  std::vector<Real> q = problem.starting_point(
      0, [](const std::string& place, const Block& block) { return stored_block(place, block); });
  if (!options.at.empty())
    for (const Block& b : problem.recipe.blocks) {
      const auto values = stored_block(options.at, b);
      std::copy(values.begin(), values.end(), q.begin() + long(b.offset));
    }
  Energy<Real> U = *problem.energy;
  PlacedLikelihood<Real>* network = nullptr;
  if (problem.train) {
    const std::map<std::string, PlacedLikelihood<Real>*> splits = {
        {"train", problem.train.get()}, {"validation", problem.validation.get()}, {"test", problem.test.get()}};
    const auto split = splits.find(options.split);
    if (split == splits.end()) throw Error("--split must be train, validation or test, not \"{}\"", options.split);
    network = split->second;
    if (!network)
      throw Error("there are no {} rows; give data.{} or data.{}_file", options.split, options.split, options.split);
    if (options.split != "train")
      U = Energy<Real>(network->likelihood().copy());  // the prior belongs to the training rows
  } else if (options.split != "train") {
    throw Error("a toy has no {} rows; leave --split out", options.split);
  }
  U.arrange(problem.recipe.blocks);
  std::vector<Real> g(q.size());
  const double energy = U(q, {}, g);
  double norm = 0, virial = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    norm += double(g[i]) * g[i];
    virial += double(q[i]) * g[i] / 2;
  }

  Value::Group out = {
      {"potential", energy}, {"gradient_norm", std::sqrt(norm)}, {"virial", virial}, {"parameters", q.size()}};
  if (network) {
    const Score score = network->score(q, {});
    out["split"] = options.split;
    out["loss"] = score.loss;
    if (!std::isnan(score.accuracy)) out["accuracy"] = score.accuracy;
    if (!std::isnan(score.rmse)) out["rmse"] = score.rmse;
    if (!std::isnan(score.perplexity)) out["perplexity"] = score.perplexity;
  }
  if (options.gradient) out["gradient"] = by_block<Real>(problem.recipe, g);
  if constexpr (std::is_same_v<Real, double>)
    if (options.hessian) {
      const auto H = hessian(U, q, {});
      out["hessian_eigenvalues"] = eigenvalues(H);
      out["hessian"] = H;
    }
  if (options.json) return print(to_json(out, 2) + "\n");
  out.erase("hessian");  // a square of numbers is for programs
  for (const auto& [name, x] : out)
    print(fmt::format("{:<20} {}\n", name,
                      std::holds_alternative<double>(x.is) ? fmt::format("{:.10g}", x.template as<double>())
                      : x.text()                           ? x.template as<std::string>()
                                                           : to_json(x)));
}

void evaluate_run_file(const EvaluateArguments& arguments) {
  RunSettings settings = read_run_settings(arguments.file.value());
  if (arguments.hessian) settings.precision = "double";  // differences of gradients lose half the digits
  with_precision(settings, [&]<class Real>() { evaluate_at<Real>(settings, arguments); });
}

}  // namespace

Command evaluate_command() {
  return {.name = "evaluate",
          .summary = "loss, gradient, virial and accuracy at given parameters",
          .footer = "Example:  kelvin evaluate examples/spiral.toml --at runs/spiral --split test --json",
          .call = calls(evaluate_run_file)};
}

}  // namespace kelvin::cli
