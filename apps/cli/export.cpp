// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/export.h"

#include "apps/cli/command.h"
#include "kelvin/core/choice.h"

namespace kelvin::cli {

namespace {

struct ExportArguments : ExportOptions {
  std::string run, format;
  template <class Visit>
  void fields(Visit&& field) {
    std::string known;
    for (const Format& f : formats()) known += fmt::format("\n  {:<12} {}", f.name, f.meaning);
    field("run", run, "directory of a run", argument);
    field("to", format, "format:" + known, {.required = true});
    field("out", file, "file (default: beside the run, named like it)");
    field("draw", draw,
          "for formats of one state: a number from 0, \"last\" (default) or \"mean\" over draws and walkers");
    field("names", names,
          "for formats of one state: \"kelvin\" (default), or \"pytorch\" for a state dict that load_state_dict takes");
    field("walker", walker, "this walker only, from 0", {.range = not_negative});
    field("force", replace, "replace the file that is there");
  }
};

void export_as(const ExportArguments& arguments) {
  const Format& format = row_named<Format>(arguments.format, formats(), "format", "--to");
  for (const std::string& file : export_run(arguments.run, format, arguments)) print(file + "\n");
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "write a run in the format of another tool",
          .footer = "Example:  kelvin export runs/spiral --to netcdf -o spiral.nc",
          .call = calls(export_as)};
}

}  // namespace kelvin::cli
