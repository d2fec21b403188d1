// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "apps/cli/command.h"
#include "kelvin/run/problem.h"
#include "kelvin/energy/hessian.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin::cli {
namespace {

struct Options {
  RunFile file;
  std::string at, split = "train";
  bool gradient = false, hessian = false, json = false;
};

// Block by block, in the order of the recipe.
template <class Real>
nlohmann::json by_block(const Recipe& recipe, std::span<const Real> values) {
  auto out = nlohmann::json::object();
  for (const Block& b : recipe.blocks) {
    const auto mine = values.subspan(b.offset, b.size());
    out[b.name] = std::vector<double>(mine.begin(), mine.end());
  }
  return out;
}

template <class Real>
void execute(const RunSettings& settings, const Options& options) {
  const Problem<Real> problem = make_problem<Real>(settings, remark, Slack::left_out);
  std::vector<Real> q = problem.starting_point(
      0, [](const std::string& place, const Block& block) { return stored_block(place, block); });
  if (!options.at.empty())
    for (const Block& b : problem.recipe.blocks) {
      const auto values = stored_block(options.at, b);
      std::copy(values.begin(), values.end(), q.begin() + long(b.offset));
    }
  Potential<Real>* U = problem.potential.get();
  Likelihood<Real>* network = nullptr;
  if (problem.train) {
    const std::map<std::string, Likelihood<Real>*> splits = {
        {"train", problem.train.get()}, {"validation", problem.validation.get()}, {"test", problem.test.get()}};
    const auto split = splits.find(options.split);
    if (split == splits.end()) throw Error("--split must be train, validation or test, not \"{}\"", options.split);
    network = split->second;
    if (!network)
      throw Error("there are no {} rows; give data.{} or data.{}_file", options.split, options.split, options.split);
    if (network != problem.train.get()) U = network;  // the prior belongs to the training rows
  } else if (options.split != "train") {
    throw Error("a toy has no {} rows; leave --split out", options.split);
  }
  U->arrange(problem.recipe.blocks);
  std::vector<Real> g(q.size());
  const double energy = (*U)(q, {}, g);
  double norm = 0, virial = 0;
  for (std::size_t i = 0; i < q.size(); ++i) norm += double(g[i]) * g[i], virial += double(q[i]) * g[i] / 2;

  nlohmann::json out = {
      {"potential", energy}, {"gradient_norm", std::sqrt(norm)}, {"virial", virial}, {"parameters", q.size()}};
  if (network) {
    const Score score = network->score(q, {});
    out["split"] = options.split;
    out["loss"] = score.loss;
    if (!std::isnan(score.accuracy)) out["accuracy"] = score.accuracy;
    if (!std::isnan(score.rmse)) out["rmse"] = score.rmse;
  }
  if (options.gradient) out["gradient"] = by_block<Real>(problem.recipe, g);
  if constexpr (std::is_same_v<Real, double>)
    if (options.hessian) {
      const auto H = hessian(*U, q, {});
      out["hessian_eigenvalues"] = eigenvalues(H);
      out["hessian"] = H;
    }
  if (options.json) return print(out.dump(2) + "\n");
  out.erase("hessian");  // a square of numbers is for programs
  for (const auto& [name, x] : out.items())
    print(fmt::format("{:<20} {}\n", name,
                      x.is_number_float() ? fmt::format("{:.10g}", x.template get<double>())
                      : x.is_string()     ? x.template get<std::string>()
                                          : x.dump()));
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("evaluate", "loss, gradient, virial and accuracy at given parameters");
  options->file.add_to(command);
  command.add_option(
      "--at", options->at,
      "parameters: RUN (its last draw), RUN:draw, RUN:draw:walker or a .npz or .safetensors file with an array per "
      "block (default: the starting point)");
  command.add_option("--split", options->split, "rows to evaluate on: train, validation or test");
  command.add_flag("--gradient", options->gradient, "print the gradient, block by block");
  command.add_flag("--hessian", options->hessian, "its eigenvalues, and the matrix with --json (small networks)");
  command.add_flag("--json", options->json, "print JSON");
  command.footer("Example:  kelvin evaluate examples/spiral.toml --at runs/spiral --split test --json");
  command.callback([options] {
    RunSettings settings = read_run_settings(options->file.value());
    if (options->hessian) settings.precision = "double";  // differences of gradients lose half the digits
    with_precision(settings, [&]<class Real>() { execute<Real>(settings, *options); });
  });
}

}  // namespace kelvin::cli
