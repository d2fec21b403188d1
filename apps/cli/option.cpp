// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/option.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "kelvin/core/text.h"
#include "kelvin/core/value.h"

namespace kelvin::cli {
namespace {

// Short names, the same in every command.
struct ShortName {
  std::string_view field, spelling;
};
constexpr ShortName short_names[] = {{"out", "-o"}, {"quiet", "-q"}};

// "a, b or c"
std::string alternatives(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t k = 0; k < words.size(); ++k)
    text += (k == 0 ? "" : k + 1 < words.size() ? ", " : " or ") + std::string(words[k]);
  return text;
}

void check_range(const Option& option, double x, const std::string& word) {
  const auto& [least, most, open] = option.usage.range;
  const bool unbounded = std::isinf(least) && std::isinf(most);
  if (unbounded || (x >= least && x <= most && !(open && x == least))) return;
  const bool whole = std::holds_alternative<std::size_t*>(option.place) || std::holds_alternative<long*>(option.place);
  const std::string allowed = std::isfinite(most) ? fmt::format("from {} to {}", least, most)
                              : open && whole     ? fmt::format("at least {}", least + 1)
                              : open              ? fmt::format("greater than {}", least)
                                                  : fmt::format("at least {}", least);
  throw UsageError("{} must be {}, not {}", option.spelling(), allowed, word);
}

// Without a range, nan is a number: what it means is for the command to say.
double parsed_number(const Option& option, const std::string& word) {
  const auto number = as_number(word);
  if (!number)
    throw UsageError("{} must be {}, not \"{}\"", option.spelling(),
                     option.numbers() ? "numbers separated by commas" : "a number", word);
  check_range(option, *number, word);
  return *number;
}

// 1e6 is a whole number too, as in a run file.
template <class Whole>
Whole parsed_whole_number(const Option& option, const std::string& word) {
  Whole whole = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), whole);
  if (error != std::errc() || end != word.data() + word.size()) {
    const double number = as_number(word).value_or(NAN);
    if (number != std::floor(number) || std::abs(number) >= 0x1p53)
      throw UsageError("{} must be a whole number, not \"{}\"", option.spelling(), word);
    check_range(option, number, word);
    if (number < 0 && std::is_unsigned_v<Whole>)
      throw UsageError("{} must be at least 0, not {}", option.spelling(), word);
    whole = Whole(number);
  }
  check_range(option, double(whole), word);
  return whole;
}

bool parsed_switch(const Option& option, const std::string& word) {
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  throw UsageError("{} takes no value; write {}, or leave it out, not \"{}={}\"", option.spelling(), option.spelling(),
                   option.spelling(), word);
}

std::string parsed_text(const Option& option, const std::string& word) {
  const auto allowed = option.usage.one_of;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), word) == allowed.end())
    throw UsageError("{} must be {}, not \"{}\"{}", option.spelling(), alternatives(allowed), word,
                     suggestion(word, {allowed.begin(), allowed.end()}));
  return word;
}

// What stands on the command line for a field of each type; the last word is what counts.
struct Reader {
  const Option& option;
  const std::vector<std::string>& words;

  void operator()(bool* place) const { *place = parsed_switch(option, words.back()); }
  void operator()(long* place) const { *place = parsed_whole_number<long>(option, words.back()); }
  void operator()(std::size_t* place) const { *place = parsed_whole_number<std::size_t>(option, words.back()); }
  void operator()(double* place) const { *place = parsed_number(option, words.back()); }
  void operator()(std::optional<double>* place) const { *place = parsed_number(option, words.back()); }
  void operator()(std::string* place) const { *place = parsed_text(option, words.back()); }
  void operator()(std::vector<std::string>* place) const { *place = words; }
  void operator()(std::vector<double>* place) const {
    const auto count = std::size_t(option.usage.count);
    if (count && words.size() != count)
      throw UsageError("{} takes {} numbers separated by commas, not {}", option.spelling(), count, words.size());
    place->clear();
    for (const std::string& word : words) place->push_back(parsed_number(option, word));
  }
};

// The names of types in help texts.
struct KindOf {
  std::string_view operator()(bool*) const { return ""; }
  std::string_view operator()(long*) const { return "INT"; }
  std::string_view operator()(std::size_t*) const { return "UINT"; }
  std::string_view operator()(double*) const { return "FLOAT"; }
  std::string_view operator()(std::optional<double>*) const { return "FLOAT"; }
  std::string_view operator()(std::string*) const { return "TEXT"; }
  std::string_view operator()(std::vector<double>*) const { return "FLOAT"; }
  std::string_view operator()(std::vector<std::string>*) const { return "TEXT"; }
};

// A number that may not be given stands for something that its meaning says.
struct DefaultOf {
  const Bounds& range;
  template <class Number>
  std::string operator()(const Number* number) const {
    const double x = double(*number);
    if (x < range.least || x > range.most || (range.open && x == range.least)) return "";
    return fmt::format("{}", *number);
  }
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const std::optional<double>*) const { return ""; }
  std::string operator()(const std::vector<double>*) const { return ""; }
  std::string operator()(const std::vector<std::string>*) const { return ""; }
};

}  // namespace

std::string Option::spelling() const { return usage.positional ? name : option_name(name); }

std::string Option::all_spellings() const {
  for (const ShortName& row : short_names)
    if (row.field == name) return std::string(row.spelling) + "," + spelling();
  return spelling();
}

std::string Option::kind() const {
  std::string text(std::visit(KindOf{}, place));
  const auto& [least, most, open] = usage.range;
  if (std::isfinite(most)) return text + fmt::format(":{} to {}", least, most);
  if (least == 0) return text + (open ? ":POSITIVE" : ":NONNEGATIVE");
  if (std::isfinite(least)) return text + fmt::format(":{} or more", least);
  if (!usage.one_of.empty()) return text + fmt::format(":{{{}}}", fmt::join(usage.one_of, ","));
  return text;
}

std::string Option::default_text() const {
  return usage.shows_default ? std::visit(DefaultOf{usage.range}, place) : "";
}

void Option::assign(const std::vector<std::string>& words) const {
  if (words.size() > 1 && !flag() && !numbers() && !texts())
    throw UsageError("{} is given {} times; give it once", spelling(), words.size());
  std::visit(Reader{*this, words}, place);
}

void check_together(std::span<const Option> options, const Given& given) {
  const auto has = [&](std::string_view name) { return std::find(given.begin(), given.end(), name) != given.end(); };
  for (const Option& option : options) {
    if (!has(option.name)) continue;
    const auto& [needs, excludes] = std::pair(option.usage.needs, option.usage.excludes);
    if (!needs.empty() && !has(needs))
      throw UsageError("{} is given without {}; give both", option.spelling(), option_name(needs));
    if (!excludes.empty() && has(excludes))
      throw UsageError("{} and {} exclude each other; leave one out", option.spelling(), option_name(excludes));
  }
}

}  // namespace kelvin::cli
