// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/derived.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <string_view>

#include "kelvin/core/error.h"
#include "kelvin/core/text.h"

namespace kelvin {
namespace {

struct Function {
  std::string_view name;
  double (*of)(double);
};
constexpr Function functions[] = {
    {"sin", [](double x) { return std::sin(x); }},   {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},   {"tanh", [](double x) { return std::tanh(x); }},
    {"exp", [](double x) { return std::exp(x); }},   {"log", [](double x) { return std::log(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }}, {"abs", [](double x) { return std::abs(x); }},
};

using Term = std::function<double(const double* row)>;

class Parser {
 public:
  Parser(const std::string& text, const std::vector<std::string>& columns)
      : text_(text), rest_(text), columns_(columns) {}

  Term expression() {
    Term term = product();
    if (!rest_.empty()) wrong();
    return term;
  }

 private:
  [[noreturn]] void wrong() const {
    std::vector<std::string> names;
    for (const Function& f : functions) names.emplace_back(f.name);
    throw Error(
        "derived input \"{}\" cannot be understood at \"{}\"; write columns with *, ^number and functions; "
        "columns: {}; functions: {}",
        text_, rest_, listed(columns_), listed(names));
  }
  bool take(std::string_view token) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    return true;
  }

  Term product() {
    Term left = power();
    while (take("*")) left = [left, right = power()](const double* row) { return left(row) * right(row); };
    return left;
  }

  Term power() {
    const Term base = atom();
    if (!take("^")) return base;
    double exponent = 0;
    const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), exponent);
    if (status != std::errc()) wrong();
    rest_.remove_prefix(std::size_t(end - rest_.data()));
    take("");
    return [base, exponent](const double* row) { return std::pow(base(row), exponent); };
  }

  Term atom() {
    take("");
    for (const Function& f : functions) {
      if (!rest_.starts_with(fmt::format("{}(", f.name))) continue;
      rest_.remove_prefix(f.name.size() + 1);
      const Term inner = product();
      if (!take(")")) wrong();
      return [of = f.of, inner](const double* row) { return of(inner(row)); };
    }
    std::size_t best = columns_.size(), length = 0;  // the longest name that fits: x10 is not x1 followed by 0
    for (std::size_t j = 0; j < columns_.size(); ++j)
      if (columns_[j].size() > length && rest_.starts_with(columns_[j])) {
        best = j;
        length = columns_[j].size();
      }
    if (length == 0) wrong();
    take(columns_[best]);
    return [best](const double* row) { return row[best]; };
  }

  const std::string& text_;
  std::string_view rest_;
  const std::vector<std::string>& columns_;
};

}  // namespace

void add_derived(Dataset& data, const std::vector<std::string>& expressions, const std::string& source) {
  if (expressions.empty()) return;
  const std::size_t had = data.input_count(), has = had + expressions.size();
  std::vector<Term> terms;
  for (const std::string& text : expressions) terms.push_back(Parser(text, data.input_names).expression());
  std::vector<double> wider(data.rows * has);
  for (std::size_t i = 0; i < data.rows; ++i) {
    const double* row = wider.data() + i * has;
    data.inputs.copy(i * had, std::span(wider).subspan(i * has, had));
    for (std::size_t k = 0; k < terms.size(); ++k) {
      const double x = wider[i * has + had + k] = terms[k](row);
      if (!std::isfinite(x))
        throw Error("{}: derived input \"{}\" is {} in data row {}; every number must be finite", source,
                    expressions[k], x, i + 1);
    }
  }
  data.inputs = std::move(wider);
  data.input_names.insert(data.input_names.end(), expressions.begin(), expressions.end());
}

}  // namespace kelvin
