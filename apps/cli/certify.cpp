// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/certify.h"

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/io/json.h"
#include "kelvin/io/problem.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {
namespace {

struct CertifyArguments {
  RunFile file;
  std::string out;
  long steps = 0, warmup = -1;
  std::size_t pairs = 4, threads = all_threads();
  bool quiet = false, json = false;
  template <class Visit>
  void fields(Visit&& field) {
    file.fields(field);
    field("steps", steps, "steps of each coarse chain after warm-up (default: those of the file)", {.range = positive});
    field("warmup", warmup, "(default: that of the file, at least a tenth of the steps)", {.range = not_negative});
    field("pairs", pairs, "independent pairs of chains", {.range = positive});
    field("threads", threads, "threads for the pairs; the result does not depend on them", {.range = positive});
    field("out", out, "also write what was found to this file, as JSON");
    field("quiet", quiet, "no progress");
    field("json", json, "print JSON");
  }
};

template <class Real>
void certify_settings(const RunSettings& settings, const CertifyArguments& options) {
  const Problem<Real> problem = make_problem<Real>(settings, remark);
  CertifyOptions plan;
  plan.steps = std::uint64_t(options.steps ? options.steps : settings.steps);
  plan.warmup =
      options.warmup >= 0 ? std::uint64_t(options.warmup) : std::max(std::uint64_t(settings.warmup), plan.steps / 10);
  plan.pairs = options.pairs;
  plan.threads = options.threads;
  const double total = double(plan.warmup + plan.steps);
  Progress progress(total, "steps", options.quiet || options.json);
  const Certificate found = certify(problem, plan, [&](double share) { progress.show(share * total, ""); });
  progress.finish();
  const Finding finding = as_finding(found, plan, settings);
  if (!options.out.empty()) write_file(options.out, to_json(as_value(finding), 1) + "\n");
  print(finding, options.json);
}

void certify_run_file(const CertifyArguments& arguments) {
  RunSettings settings = read_run_settings(arguments.file.value());
  fill_in_temperatures(settings, Choice("posterior"));
  with_precision(settings, [&]<class Real>() { certify_settings<Real>(settings, arguments); });
}

}  // namespace

Command certify_command() {
  return {.name = "certify",
          .summary = "discretisation bias of averages, from coupled chains at the step and half of it",
          .footer = "Example:  kelvin certify examples/gap.toml --steps 20000",
          .call = calls(certify_run_file)};
}

}  // namespace kelvin::cli
