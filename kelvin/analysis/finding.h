// SPDX-License-Identifier: Apache-2.0
// The result of an analysis: words, tables and figures. Commands print it and save it with the run
// (analysis/NAME.json); the report shows every saved result, so a new analysis needs no code in either.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kelvin/core/table.h"

namespace kelvin {

struct Curve {
  std::string name = {};
  std::vector<double> x = {}, y = {};
  std::vector<double> low = {}, high = {};  // a band around a line, error bars of points; or empty
  std::string style = "line";     // line, dashed, points, steps or bars
};

// Numbers on a grid: z has y.size() rows of x.size().
struct Map {
  std::vector<double> x = {}, y = {}, z = {};
  std::string style = "heat";             // heat, contour, surface (3-D), or classes: z numbers them
  std::vector<std::string> classes = {};  // their names
  std::string label = {};                 // what z is
};

struct Figure {
  std::string name = {}, title = {}, x_label = {}, y_label = {};
  std::vector<Curve> curves = {};
  std::optional<Map> map = {};  // drawn under the curves
  std::string caption = {};     // what to look for
  bool log_x = false, log_y = false, equal_axes = false;
};

struct NamedTable {
  std::string title = {};
  Table table = {};
};

struct Finding {
  std::string name = {}, title = {};
  std::vector<std::string> words = {};  // sentences; the first is the verdict
  std::vector<NamedTable> tables = {};
  std::vector<Figure> figures = {};
};

Value as_value(const Finding&);
Finding read_finding(const Value&);
std::string as_text(const Finding&);  // words and tables

void keep(const std::filesystem::path& run, const Finding&);           // as analysis/NAME.json
std::vector<Finding> kept_findings(const std::filesystem::path& run);  // by name

}  // namespace kelvin
