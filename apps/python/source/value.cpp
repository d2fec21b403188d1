// SPDX-License-Identifier: Apache-2.0
#include "apps/python/source/value.h"

#include <cmath>

#include "kelvin/core/error.h"

namespace kelvin::python {
namespace {

Value group_of(const nb::dict& dict, const std::string& where) {
  Value::Group out;
  for (const auto& [key, item] : dict) {
    if (!nb::isinstance<nb::str>(key))
      throw Error("{}: the names of settings are texts, not {}", where, nb::repr(key).c_str());
    if (item.is_none()) continue;  // as if it were not there
    const std::string name = nb::cast<nb::str>(key).c_str();
    out[name] = to_value(item, where + "." + name);
  }
  return placed(Value(std::move(out)), where);
}

Value list_of(nb::handle sequence, const std::string& where) {
  Value::List out;
  for (nb::handle item : nb::iter(sequence)) out.push_back(to_value(item, where));
  return placed(Value(std::move(out)), where);
}

// A number that is no float or int of Python's own, such as NumPy's: by the methods that numbers have.
bool like_an_integer(nb::handle x) { return nb::hasattr(x, "__index__"); }
bool like_a_number(nb::handle x) { return nb::hasattr(x, "__float__"); }

}  // namespace

Value to_value(nb::handle x, const std::string& where) {
  if (x.is_none()) return placed(Value(), where);
  if (nb::isinstance<nb::bool_>(x)) return placed(Value(nb::cast<bool>(x)), where);
  if (nb::isinstance<nb::str>(x)) return placed(Value(std::string(nb::cast<nb::str>(x).c_str())), where);
  if (nb::isinstance<nb::dict>(x)) return group_of(nb::borrow<nb::dict>(x), where);
  if (nb::isinstance<nb::list>(x) || nb::isinstance<nb::tuple>(x)) return list_of(x, where);
  if (nb::hasattr(x, "tolist")) return to_value(x.attr("tolist")(), where);  // NumPy's arrays and numbers
  if (like_an_integer(x)) {
    const nb::object whole = x.attr("__index__")();
    int too_large = 0;
    const long long number = PyLong_AsLongLongAndOverflow(whole.ptr(), &too_large);
    if (too_large) return placed(Value(nb::cast<double>(nb::float_(whole))), where);
    return placed(Value(long(number)), where);
  }
  if (like_a_number(x)) return placed(Value(nb::cast<double>(x.attr("__float__")())), where);
  if (nb::hasattr(x, "__fspath__")) return to_value(x.attr("__fspath__")(), where);
  throw Error("{} must be a number, a text, a list or a dict, not {}", where, nb::repr(x.type()).c_str());
}

nb::object to_python(const Value& value) {
  return std::visit(
      []<class T>(const T& is) -> nb::object {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<T, Value::Group>) {
          nb::dict out;
          for (const auto& [name, child] : is) out[name.c_str()] = to_python(child);
          return out;
        } else if constexpr (std::is_same_v<T, Value::List>) {
          nb::list out;
          for (const Value& item : is) out.append(to_python(item));
          return out;
        } else if constexpr (std::is_same_v<T, Value::Numbers>) {
          nb::list out;
          for (const double x : is) out.append(nb::float_(x));
          return out;
        } else if constexpr (std::is_same_v<T, bool>) {
          return nb::bool_(is);
        } else if constexpr (std::is_same_v<T, long>) {
          return nb::int_(is);
        } else if constexpr (std::is_same_v<T, double>) {
          return nb::float_(is);
        } else {
          return nb::str(is.c_str(), is.size());
        }
      },
      value.is);
}

}  // namespace kelvin::python
