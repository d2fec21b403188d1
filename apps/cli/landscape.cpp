// SPDX-License-Identifier: Apache-2.0
// `kelvin landscape WHAT RUN`: a command for each row of the table, with the options that the row takes.
#include "kelvin/analysis/landscape.h"

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/core/settings.h"

namespace kelvin::cli {
namespace {

struct Options : LandscapeOptions {
  std::string run;
  std::vector<std::string> data;
  std::size_t threads = all_threads();
  bool json = false, quiet = false;
};

void add_field(CLI::App& command, const std::string& flag, bool& field, const std::string& meaning) {
  command.add_flag(flag, field, meaning);
}
void add_field(CLI::App& command, const std::string& flag, std::vector<std::string>& field,
               const std::string& meaning) {
  command.add_option(flag, field, meaning)->take_all()->allow_extra_args(false);
}
void add_field(CLI::App& command, const std::string& flag, std::vector<double>& field, const std::string& meaning) {
  command.add_option(flag, field, meaning)->delimiter(',');
}
template <class T>
void add_field(CLI::App& command, const std::string& flag, T& field, const std::string& meaning) {
  command.add_option(flag, field, meaning)->capture_default_str();
}

// The run's settings with other data.
RunSettings settings_with(const Samples& samples, const std::vector<std::string>& data) {
  if (data.empty()) return samples.record.settings;
  Value settings = recorded_settings(as_value(samples.record.settings));
  for (const std::string& assignment : data) {
    if (!assignment.starts_with("data."))
      throw Error("--set {}: only the data of a run may be changed, for example data.test_file=new.csv", assignment);
    override_with(settings, assignment);
  }
  return read_run_settings(settings);
}

void execute(const Landscape& what, const Options& options) {
  const Samples samples = open_samples(options.run);
  const auto scene_of = replay<double>(samples, settings_with(samples, options.data), remark);
  std::unique_ptr<Progress> progress;
  const auto tick = [&](double done, double total) {
    if (!progress) progress = std::make_unique<Progress>(total, "points", options.quiet);
    if (done == total || progress->seconds() > 0.5) progress->show(done, "");
  };
  const Finding finding = what.explore({scene_of, options.threads, tick}, options);
  if (progress) progress->finish();
  keep(samples.run, finding);
  print(finding, options.json);
}

}  // namespace

void add_landscape(CLI::App& app) {
  auto& command = *app.add_subcommand("landscape", "the energy around a run: lines, surfaces, grids, curvature");
  command.require_subcommand(1);
  for (const Landscape& what : landscapes()) {
    auto options = std::make_shared<Options>();
    auto& sub = *command.add_subcommand(std::string(what.name), std::string(what.meaning));
    sub.add_option("run", options->run, "directory of a run")->required();
    options->fields([&](std::string_view name, auto& field, std::string_view meaning) {
      if (std::find(what.takes.begin(), what.takes.end(), name) == what.takes.end()) return;
      std::string flag = "--" + std::string(name);
      std::replace(flag.begin(), flag.end(), '_', '-');
      if (static_cast<void*>(&field) == &options->out) flag = "-o," + flag;  // as in other commands
      add_field(sub, flag, field, std::string(meaning));
    });
    sub.add_option("--set", options->data, "other data: data.test_file=new.csv (may be repeated)")
        ->take_all()
        ->allow_extra_args(false);
    sub.add_option("--threads", options->threads, "threads; the result does not depend on them")
        ->check(CLI::Range(1, 1024));
    sub.add_flag("-q,--quiet", options->quiet, "no progress");
    sub.add_flag("--json", options->json, "print JSON");
    sub.footer("The result is kept with the run, in analysis/landscape_" + std::string(what.name) + ".json.");
    sub.callback([options, &what] { execute(what, *options); });
  }
  command.footer("Example:  kelvin landscape line runs/spiral --by layer");
}

}  // namespace kelvin::cli
