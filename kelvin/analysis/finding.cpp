// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/finding.h"

#include <algorithm>
#include <cmath>

#include "kelvin/core/error.h"
#include "kelvin/trajectory/files.h"

namespace kelvin {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json numbers(const std::vector<double>& values) {
  json out = json::array();
  for (const double x : values) out.push_back(cell(x));
  return out;
}

std::vector<double> numbers(const json& values) {
  std::vector<double> out;
  for (const json& x : values) out.push_back(x.is_null() ? NAN : x.get<double>());
  return out;
}

json as_json(const Figure& f) {
  json curves = json::array();
  for (const Curve& c : f.curves)
    curves.push_back({{"name", c.name},
                      {"x", numbers(c.x)},
                      {"y", numbers(c.y)},
                      {"low", numbers(c.low)},
                      {"high", numbers(c.high)},
                      {"style", c.style}});
  json out = {{"name", f.name},       {"title", f.title},     {"x_label", f.x_label},
              {"y_label", f.y_label}, {"caption", f.caption}, {"curves", curves},
              {"log_x", f.log_x},     {"log_y", f.log_y},     {"equal_axes", f.equal_axes}};
  if (f.map)
    out["map"] = {{"x", numbers(f.map->x)}, {"y", numbers(f.map->y)},    {"z", numbers(f.map->z)},
                  {"style", f.map->style},  {"classes", f.map->classes}, {"label", f.map->label}};
  return out;
}

Figure read_figure(const json& from) {
  Figure f{from.at("name"),    from.at("title"), from.at("x_label"), from.at("y_label"),   {}, {},
           from.at("caption"), from.at("log_x"), from.at("log_y"),   from.at("equal_axes")};
  for (const json& c : from.at("curves"))
    f.curves.push_back({c.at("name"), numbers(c.at("x")), numbers(c.at("y")), numbers(c.at("low")),
                        numbers(c.at("high")), c.at("style")});
  if (from.contains("map")) {
    const json& m = from["map"];
    f.map =
        Map{numbers(m.at("x")), numbers(m.at("y")), numbers(m.at("z")), m.at("style"), m.at("classes"), m.at("label")};
  }
  return f;
}

// Objects forget the order of their members, so it is told apart.
json as_json(const NamedTable& named) {
  json columns = json::array();
  for (const auto& row : named.table.rows)
    for (const auto& [name, cell] : row)
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  return {{"title", named.title}, {"columns", columns}, {"rows", as_json(named.table)}};
}

NamedTable read_table(const json& from) {
  NamedTable named{from.at("title"), {}};
  for (const json& cells : from.at("rows")) {
    Table::Row row;
    for (const std::string name : from.at("columns"))
      if (cells.contains(name)) row.emplace_back(name, cells[name]);
    named.table.row(std::move(row));
  }
  return named;
}

}  // namespace

json as_json(const Finding& finding) {
  json out = {{"name", finding.name},
              {"title", finding.title},
              {"words", finding.words},
              {"tables", json::array()},
              {"figures", json::array()}};
  for (const NamedTable& t : finding.tables) out["tables"].push_back(as_json(t));
  for (const Figure& f : finding.figures) out["figures"].push_back(as_json(f));
  return out;
}

Finding read_finding(const json& from) {
  Finding finding{from.at("name"), from.at("title"), from.at("words"), {}, {}};
  for (const json& t : from.at("tables")) finding.tables.push_back(read_table(t));
  for (const json& f : from.at("figures")) finding.figures.push_back(read_figure(f));
  return finding;
}

std::string as_text(const Finding& finding) {
  std::string text;
  for (const std::string& sentence : finding.words) text += sentence + "\n";
  for (const NamedTable& t : finding.tables) text += "\n" + t.title + "\n" + as_text(t.table);
  return text;
}

void keep(const fs::path& run, const Finding& finding) {
  std::error_code failed;
  fs::create_directories(run / "analysis", failed);
  if (failed) throw Error("cannot make \"{}\": {}", (run / "analysis").string(), failed.message());
  write_file(run / "analysis" / (finding.name + ".json"), as_json(finding).dump(1) + "\n");
}

std::vector<Finding> kept_findings(const fs::path& run) {
  std::vector<fs::path> files;
  if (fs::is_directory(run / "analysis"))
    for (const auto& entry : fs::directory_iterator(run / "analysis"))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Finding> findings;
  for (const fs::path& file : files) try {
      findings.push_back(read_finding(json::parse(read_file(file))));
    } catch (const json::exception& e) {
      throw Error("\"{}\" is damaged: {}; remove it or repeat the command that wrote it", file.string(), e.what());
    }
  return findings;
}

}  // namespace kelvin
