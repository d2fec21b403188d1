// SPDX-License-Identifier: Apache-2.0
#include "apps/python/source/module.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <new>

#include "apps/python/source/value.h"
#include "kelvin/core/error.h"
#include "kelvin/core/tati.h"
#include "kelvin/core/toml.h"
#include "kelvin/core/version.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/files.h"

NB_MODULE(_kelvin, module) {
  namespace nb = nanobind;
  using namespace kelvin::python;

  nb::set_leak_warnings(false);  // an interactive session may end with runs that it still names
  nb::exception<kelvin::Error>(module, "Error", PyExc_ValueError);
  module.attr("version") = std::string(kelvin::version());
  module.def("read_toml", [](const std::string& path) { return to_dict(kelvin::read_toml(path)); });
  module.def("name_of_tati", [](const std::string& name) {
    const kelvin::TatiName* known = kelvin::tati_name(name);
    return known ? fmt::format("the {} \"{}\" of TATi is here: {}", known->kind, known->name, known->here)
                 : std::string();
  });
  add_run(module);
  add_samples(module);
  add_analyses(module);
  add_potential(module);
  add_chain(module);
  add_draws(module);
}
