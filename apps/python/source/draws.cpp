// SPDX-License-Identifier: Apache-2.0
// Draws of other programs, stored as a run.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "apps/python/source/module.h"
#include "kelvin/trajectory/import.h"

namespace kelvin::python {
namespace {

ImportRecord about_of(const nb::dict& about) {
  const auto text = [&](const char* name) { return nb::cast<std::string>(about[name]); };
  return {text("source"), text("command_line"), text("created_at"), text("directory")};
}

void import_files(const std::string& run, const std::vector<std::string>& files, nb::dict about) {
  const ImportRecord record = about_of(about);
  const nb::gil_scoped_release unlocked;
  store_draws(run, read_draws(files), record);
}

// Each: name, values of (chain, draw, ...), dimensions of a draw.
std::vector<ImportedArray> imported_arrays(const nb::list& given, ImportedDraws& draws) {
  std::vector<ImportedArray> out;
  for (nb::handle item : given) {
    const auto array = nb::borrow<nb::dict>(item);
    const auto values = nb::cast<Given<double>>(array["values"]);
    ImportedArray made;
    made.name = nb::cast<std::string>(array["name"]);
    made.dimensions = nb::cast<std::vector<std::string>>(array["dimensions"]);
    if (draws.chains == 0) {
      draws.chains = values.shape(0);
      draws.draws = values.shape(1);
    }
    if (values.shape(0) != draws.chains || values.shape(1) != draws.draws)
      throw Error("array \"{}\" has {} draws of {} chains where others have {} of {}; all need equally many", made.name,
                  values.shape(1), values.shape(0), draws.draws, draws.chains);
    for (std::size_t d = 2; d < values.ndim(); ++d) made.shape.push_back(values.shape(d));
    made.values.assign(values.data(), values.data() + values.size());
    out.push_back(std::move(made));
  }
  return out;
}

void import_arrays(const std::string& run, nb::list blocks, nb::list statistics, nb::dict about) {
  ImportedDraws draws;
  draws.blocks = imported_arrays(blocks, draws);
  draws.statistics = imported_arrays(statistics, draws);
  const ImportRecord record = about_of(about);
  const nb::gil_scoped_release unlocked;
  store_draws(run, std::move(draws), record);
}

}  // namespace

void add_draws(nb::module_& module) {
  module.def("import_files", import_files);
  module.def("import_arrays", import_arrays);
}

}  // namespace kelvin::python
