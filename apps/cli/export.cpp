// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/export.h"

#include "apps/cli/command.h"
#include "kelvin/core/choice.h"

namespace kelvin::cli {

void add_export(CLI::App& app) {
  struct Options : ExportOptions {
    std::string run, format;
  };
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("export", "write a run in the format of another tool");
  std::string known;
  for (const Format& f : formats()) known += fmt::format("\n  {:<12} {}", f.name, f.meaning);
  command.add_option("run", options->run, "directory of a run")->required();
  command.add_option("--to", options->format, "format:" + known)->required();
  command.add_option("-o,--out", options->file, "file (default: beside the run, named like it)");
  command.add_option(
      "--draw", options->draw,
      "for formats of one state: a number from 0, \"last\" (default) or \"mean\" over draws and walkers");
  command.add_option("--walker", options->walker, "this walker only, from 0")->check(CLI::NonNegativeNumber);
  command.add_flag("--force", options->replace, "replace the file that is there");
  command.footer("Example:  kelvin export runs/spiral --to netcdf -o spiral.nc");
  command.callback([options] {
    const Format& format = row_named<Format>(options->format, formats(), "format", "--to");
    for (const std::string& file : export_run(options->run, format, *options)) print(file + "\n");
  });
}

}  // namespace kelvin::cli
