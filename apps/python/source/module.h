// SPDX-License-Identifier: Apache-2.0
// What the module kelvin._kelvin is made of, each in a file of its own.
#pragma once
#include <nanobind/nanobind.h>

#include "apps/python/source/arrays.h"

namespace kelvin::python {

void add_run(nb::module_&);
void add_samples(nb::module_&);
void add_analyses(nb::module_&);
void add_potential(nb::module_&);
void add_chain(nb::module_&);
void add_draws(nb::module_&);

}  // namespace kelvin::python
