// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/predictions_file.h"

#include <algorithm>
#include <fstream>

#include "kelvin/core/choice.h"
#include "kelvin/io/npy.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

struct Column {
  std::string name;
  std::vector<double> values;
  bool class_numbers = false;
};

// Column `place` of numbers that lie row by row.
std::vector<double> every(const std::vector<double>& from, std::size_t place, std::size_t width) {
  std::vector<double> out;
  for (std::size_t i = place; i < from.size(); i += width) out.push_back(from[i]);
  return out;
}

std::vector<Column> class_columns(const Predictive& p) {
  const std::size_t n = p.names.size();
  std::vector<Column> out;
  if (!p.targets.empty()) out.push_back({"class", p.targets, true});
  Column chosen{"predicted", {}, true};
  for (auto row = p.mean.begin(); row != p.mean.end(); row += long(n))
    chosen.values.push_back(double(std::max_element(row, row + long(n)) - row));
  out.push_back(std::move(chosen));
  for (std::size_t k = 0; k < n; ++k) out.push_back({"probability_" + p.names[k], every(p.mean, k, n)});
  out.push_back({"total", p.total});
  out.push_back({"aleatoric", p.aleatoric});
  out.push_back({"epistemic", p.epistemic});
  return out;
}

std::vector<Column> number_columns(const Predictive& p, const std::vector<double>& levels) {
  const std::size_t n = p.names.size();
  std::vector<Column> out;
  for (std::size_t k = 0; k < n; ++k) {
    const std::string& name = p.names[k];
    if (!p.targets.empty()) out.push_back({name, every(p.targets, k, n)});
    out.push_back({name + "_mean", every(p.mean, k, n)});
    out.push_back({name + "_sd", every(p.total, k, n)});
    for (double& x : out.back().values) x = std::sqrt(x);
    out.push_back({name + "_aleatoric", every(p.aleatoric, k, n)});
    out.push_back({name + "_epistemic", every(p.epistemic, k, n)});
    for (std::size_t l = 0; l < levels.size(); ++l)
      out.push_back({fmt::format("{}_q{:g}", name, 100 * levels[l]),
                     every(p.quantiles, k * levels.size() + l, n * levels.size())});
  }
  return out;
}

std::vector<Column> columns_of(const Predictive& p, const std::vector<double>& levels) {
  return p.classes ? class_columns(p) : number_columns(p, levels);
}

// In quotes where a comma, a quote or the end of a line would be misread.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

void write_csv(const Predictive& p, const std::vector<double>& levels, const std::string& file) {
  const auto columns = columns_of(p, levels);
  std::ofstream out(file, std::ios::binary);
  std::string text = "row";
  for (const Column& c : columns) text += "," + csv_cell(c.name);
  for (std::size_t i = 0; i < p.rows; ++i) {
    fmt::format_to(std::back_inserter(text), "\n{}", i);
    for (const Column& c : columns)
      text +=
          "," + (c.class_numbers ? csv_cell(p.names[std::size_t(c.values[i])]) : fmt::format("{:.10g}", c.values[i]));
    if (text.size() > std::size_t(1) << 20) out << text, text.clear();
  }
  out << text << "\n";
  if (!out.flush()) throw Error("cannot write \"{}\"; check that its directory exists and has room", file);
}

void write_arrays(const Predictive& p, const std::vector<double>& levels, const std::string& file) {
  const auto columns = columns_of(p, levels);
  std::map<std::string, ArrayView<double>> arrays;
  for (const Column& c : columns) arrays[c.name] = {{p.rows}, c.values};
  write_npz(file, arrays);
}

constexpr PredictionsFormat all_predictions_formats[] = {{".csv", write_csv}, {".npz", write_arrays}};

}  // namespace

std::span<const PredictionsFormat> predictions_formats() { return all_predictions_formats; }

const PredictionsFormat& predictions_format_of(const std::string& file) {
  return row_named(fs::path(file).extension().string(), predictions_formats(), "format of predictions", file);
}

void write_predictions(const Predictive& p, const std::vector<double>& levels, const std::string& file) {
  const std::string unfinished = file + ".part";
  try {
    predictions_format_of(file).write(p, levels, unfinished);
    fs::rename(unfinished, file);
  } catch (const std::exception& e) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw Error("{}", e.what());
  }
}

}  // namespace kelvin
