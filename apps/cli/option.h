// SPDX-License-Identifier: Apache-2.0
// What a command takes, as data. The arguments of a command are a struct that lists its fields once, as settings do:
//
//   struct SummaryArguments {
//     std::string run;
//     bool json = false;
//     template <class Visit>
//     void fields(Visit&& field) {
//       field("run", run, "directory of a run", argument);
//       field("json", json, "print JSON");
//     }
//   };
//
// The type of a field says how it is written: --json, --seed 1, --set a=1 --set b=2 (texts), --scale 0.1,1 (numbers).
// An underscore in a name is a hyphen on the command line.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "kelvin/core/error.h"
#include "kelvin/core/option.h"

namespace kelvin::cli {

// A command line that is not understood; the program ends with code 2.
struct UsageError : Error {
  using Error::Error;
};

struct Option : OptionField {
  std::string spelling() const;       // --per-walker, or the name of what stands by itself
  std::string all_spellings() const;  // with the short one: -o,--out
  std::string kind() const;           // what help calls its values: INT:POSITIVE
  std::string default_text() const;
  bool flag() const { return std::holds_alternative<bool*>(place); }
  bool numbers() const { return std::holds_alternative<std::vector<double>*>(place); }
  bool texts() const { return std::holds_alternative<std::vector<std::string>*>(place); }
  void assign(const std::vector<std::string>& words) const;  // throws UsageError
};

using Given = std::vector<std::string>;  // the fields that a command line gave a value

// The fields of a command's arguments.
template <class Arguments>
std::vector<Option> listed_options(Arguments& arguments) {
  std::vector<Option> options;
  for (OptionField& field : option_fields(arguments)) options.push_back({std::move(field)});
  return options;
}

// Refuses a command line without what it needs, or with what excludes each other.
void check_together(std::span<const Option>, const Given&);

}  // namespace kelvin::cli
