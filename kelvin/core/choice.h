// SPDX-License-Identifier: Apache-2.0
// A row of some table chosen by name, with the numbers it takes. Priors, schedules, generators, toys and initialisers
// are all written this way:  prior = { name = "gaussian", scale = 2.0 }   or, with nothing to say,   prior =
// "gaussian".
#pragma once
#include <span>

#include "kelvin/core/error.h"
#include "kelvin/core/value.h"

namespace kelvin {

// One thing a row takes. The default is written as in a run file; an empty default means it must be given.
struct Parameter {
  std::string_view name, standard, meaning;
};

class Choice {
 public:
  std::string name;
  Value::Group values;
  std::string where;

  Choice();
  Choice(const Choice&);
  Choice(Choice&&) noexcept;
  Choice& operator=(const Choice&);
  Choice& operator=(Choice&&) noexcept;
  ~Choice();
  Choice(std::string row) : name(std::move(row)) {}
  Choice(std::string row, Value::Group given) : name(std::move(row)), values(std::move(given)) {}
  static Choice number_of(std::string row, std::string_view parameter, double x);  // one row with one number

  bool given() const { return !name.empty(); }
  bool has(std::string_view parameter) const { return values.contains(std::string(parameter)); }
  double number(std::string_view parameter) const;
  std::vector<double> numbers(std::string_view parameter) const;
  std::string text(std::string_view parameter) const;

  // Defaults filled in, unknown parameters refused; `what` names the kind of row: "prior", "schedule".
  Choice completed(std::span<const Parameter>, std::string_view what) const;
};

// A bare number is the parameter "value" of the row "constant"; a bare text is a row with its defaults.
void assign(Choice&, const Value&, const std::string& key);

[[noreturn]] void refuse_row(std::string_view name, const std::vector<std::string>& known, std::string_view what,
                             std::string_view where);

// The row of `table` with that name; every table's rows have a `name` field.
template <class Row>
const Row& row_named(std::string_view name, std::span<const Row> table, std::string_view what,
                     std::string_view where = "") {
  for (const Row& row : table)
    if (row.name == name) return row;
  std::vector<std::string> known;
  for (const Row& row : table) known.emplace_back(row.name);
  refuse_row(name, known, what, where);
}

}  // namespace kelvin
