// SPDX-License-Identifier: Apache-2.0
// What a command or an analysis takes, as data. Options are a struct that lists its fields once, as settings do:
//
//   struct SummaryOptions {
//     bool parameters = false;
//     double level = 0.9;
//     template <class Visit>
//     void fields(Visit&& field) {
//       field("parameters", parameters, "a row for every parameter");
//       field("level", level, "of the intervals", {.range = positive});
//     }
//   };
//
// The command line, its help and the refusal of what is not taken are made of that list.
#pragma once
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kelvin {

struct Bounds {
  double least = -INFINITY, most = INFINITY;
  bool open = false;  // `least` itself lies outside
};
inline constexpr Bounds positive = {.least = 0, .open = true}, not_negative = {.least = 0};

// How an option is written, where its name and type do not say it.
struct Usage {
  bool positional = false;  // its value stands by itself, without a name
  bool required = false;
  Bounds range = {};                              // of numbers
  std::span<const std::string_view> one_of = {};  // of texts
  int count = 0;                                  // so many numbers; 0 is any number of them
  std::string_view needs = {}, excludes = {};     // the field of another option
  bool shows_default = false;                     // in the help text
};
inline constexpr Usage argument = {.positional = true, .required = true};
inline constexpr Usage optional_argument = {.positional = true};

using OptionPlace = std::variant<bool*, long*, std::size_t*, double*, std::optional<double>*, std::string*,
                                 std::vector<double>*, std::vector<std::string>*>;

struct OptionField {
  std::string name;
  OptionPlace place;  // of its value
  std::string meaning;
  Usage usage;
};

template <class Options>
std::vector<OptionField> option_fields(Options& options) {
  std::vector<OptionField> out;
  options.fields([&](std::string_view name, auto& place, std::string_view meaning, const Usage& usage = Usage()) {
    out.push_back({std::string(name), &place, std::string(meaning), usage});
  });
  return out;
}

// The value of an option of the same type.
inline void copy_value(const OptionPlace& from, const OptionPlace& to) {
  std::visit([&](auto* value) { *std::get<decltype(value)>(to) = *value; }, from);
}

}  // namespace kelvin
