// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/import.h"

#include <unistd.h>

#include "apps/cli/command.h"
#include "apps/cli/draws.h"

namespace kelvin::cli {

namespace fs = std::filesystem;

namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = fs::temp_directory_path() / "kelvin_XXXXXX";
    if (!mkdtemp(pattern.data()))
      throw Error("cannot make a directory in \"{}\"; is the disk full?", fs::temp_directory_path().string());
    path = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

ImportRecord about_import(const std::string& source) {
  return {.source = source,
          .command_line = command_line,
          .created_at = utc("%Y-%m-%dT%H:%M:%SZ"),
          .directory = fs::current_path().string()};
}

struct ImportArguments {
  std::vector<std::string> files;
  std::string out;
  template <class Visit>
  void fields(Visit&& field) {
    field("files", files, "files of draws (.npz, .csv, .nc); several hold chains of the same arrays", argument);
    field("out", out, "directory of the run, which does not exist yet", {.required = true});
  }
};

void import_as(const ImportArguments& arguments) {
  store_draws(arguments.out, read_draws(arguments.files), about_import(arguments.files.front()));
}

}  // namespace

Samples samples_at(const std::string& place) {
  static std::vector<std::unique_ptr<TemporaryDirectory>> made;
  if (!is_draws_file(place) || fs::is_directory(place)) return open_samples(place);
  const fs::path run = made.emplace_back(std::make_unique<TemporaryDirectory>())->path / fs::path(place).filename();
  const std::string files[] = {place};
  store_draws(run, read_draws(files), about_import(place));
  return open_samples(run);
}

Command import_command() {
  return {.name = "import",
          .summary = "store draws of another program as a run, for summary, diagnose, analyse, report and export",
          .footer = "Example:  kelvin import fit_1.csv fit_2.csv -o runs/fit",
          .call = calls(import_as)};
}

}  // namespace kelvin::cli
