// SPDX-License-Identifier: Apache-2.0
// Python's dicts, lists and numbers as values of settings, and back.
#pragma once
#include <nanobind/nanobind.h>

#include "kelvin/core/value.h"

namespace kelvin::python {

namespace nb = nanobind;

// Dicts, lists, tuples, numbers (NumPy's too), texts, paths, True and False; anything else is refused with `where`, the
// name it goes by.
Value to_value(nb::handle, const std::string& where);
nb::object to_python(const Value&);
inline nb::dict to_dict(const Value& group) { return nb::borrow<nb::dict>(to_python(group)); }

}  // namespace kelvin::python
