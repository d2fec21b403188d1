// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/certify.h"

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {
namespace {

struct Options {
  RunFile file;
  std::string out;
  long steps = 0, warmup = -1;
  std::size_t pairs = 4, threads = all_threads();
  bool quiet = false, json = false;
};

template <class Real>
void execute(const RunSettings& settings, const Options& options) {
  const Problem<Real> problem = make_problem<Real>(settings, remark);
  CertifyOptions plan;
  plan.steps = std::uint64_t(options.steps ? options.steps : settings.steps);
  plan.warmup =
      options.warmup >= 0 ? std::uint64_t(options.warmup) : std::max(std::uint64_t(settings.warmup), plan.steps / 10);
  plan.pairs = options.pairs, plan.threads = options.threads;
  const double total = double(plan.warmup + plan.steps);
  Progress progress(total, "steps", options.quiet || options.json);
  const Certificate found = certify(problem, plan, [&](double share) { progress.show(share * total, ""); });
  progress.finish();
  const Finding finding = as_finding(found, plan, settings);
  if (!options.out.empty()) write_file(options.out, to_json(as_value(finding), 1) + "\n");
  print(finding, options.json);
}

}  // namespace

void add_certify(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto& command =
      *app.add_subcommand("certify", "discretisation bias of averages, from coupled chains at the step and half of it");
  options->file.add_to(command);
  command
      .add_option("--steps", options->steps, "steps of each coarse chain after warm-up (default: those of the file)")
      ->check(CLI::PositiveNumber);
  command.add_option("--warmup", options->warmup, "(default: that of the file, at least a tenth of the steps)")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--pairs", options->pairs, "independent pairs of chains")->check(CLI::PositiveNumber);
  command.add_option("--threads", options->threads, "threads for the pairs; the result does not depend on them")
      ->check(CLI::PositiveNumber);
  command.add_option("-o,--out", options->out, "also write what was found to this file, as JSON");
  command.add_flag("-q,--quiet", options->quiet, "no progress");
  command.add_flag("--json", options->json, "print JSON");
  command.footer("Example:  kelvin certify examples/gap.toml --steps 20000");
  command.callback([options] {
    RunSettings settings = read_run_settings(options->file.value());
    fill_in_temperatures(settings, Choice("posterior"));
    with_precision(settings, [&]<class Real>() { execute<Real>(settings, *options); });
  });
}

}  // namespace kelvin::cli
