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
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kelvin/core/error.h"

namespace kelvin::cli {

// A command line that is not understood; the program ends with code 2.
struct UsageError : Error {
  using Error::Error;
};

struct Range {
  double least = -INFINITY, most = INFINITY;
  bool open = false;  // `least` itself lies outside
};
inline constexpr Range positive = {.least = 0, .open = true}, not_negative = {.least = 0};

// How an option is written, where its name and type do not say it.
struct Usage {
  bool positional = false;  // its value stands by itself, without a name
  bool required = false;
  Range range = {};                               // of numbers
  std::span<const std::string_view> one_of = {};  // of texts
  int count = 0;                                  // so many numbers; 0 is any number of them
  std::string_view needs = {}, excludes = {};     // the field of another option
  bool shows_default = false;                     // in the help text
};
inline constexpr Usage argument = {.positional = true, .required = true};
inline constexpr Usage optional_argument = {.positional = true};

using Place = std::variant<bool*, long*, std::size_t*, double*, std::optional<double>*, std::string*,
                           std::vector<double>*, std::vector<std::string>*>;

struct Option {
  std::string name;  // of the field
  Place place;       // of its value
  std::string meaning;
  Usage usage;

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
  arguments.fields([&](std::string_view name, auto& place, std::string_view meaning, const Usage& usage = Usage()) {
    options.push_back({std::string(name), &place, std::string(meaning), usage});
  });
  return options;
}

// Refuses a command line without what it needs, or with what excludes each other.
void check_together(std::span<const Option>, const Given&);

}  // namespace kelvin::cli
