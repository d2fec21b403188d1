// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/finding.h"

#include <algorithm>

#include "kelvin/core/error.h"
#include "kelvin/trajectory/samples.h"
#include "kelvin/trajectory/sealed.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

Value as_value(const Curve& c) {
  return Value::Group{{"name", c.name}, {"x", c.x}, {"y", c.y}, {"low", c.low}, {"high", c.high}, {"style", c.style}};
}

Value as_value(const Map& m) {
  return Value::Group{{"x", m.x},        {"y", m.y}, {"z", m.z}, {"style", m.style}, {"classes", m.classes},
                      {"label", m.label}};
}

Value as_value(const Figure& f) {
  Value::List curves;
  for (const Curve& c : f.curves) curves.push_back(as_value(c));
  Value::Group out = {{"name", f.name},       {"title", f.title},     {"x_label", f.x_label},
                      {"y_label", f.y_label}, {"caption", f.caption}, {"curves", curves},
                      {"log_x", f.log_x},     {"log_y", f.log_y},     {"equal_axes", f.equal_axes}};
  if (f.map) out["map"] = as_value(*f.map);
  return out;
}

Curve read_curve(const Value& from) {
  return {.name = from.as<std::string>("name"),
          .x = from.as<std::vector<double>>("x"),
          .y = from.as<std::vector<double>>("y"),
          .low = from.as<std::vector<double>>("low"),
          .high = from.as<std::vector<double>>("high"),
          .style = from.as<std::string>("style")};
}

Map read_map(const Value& from) {
  return {.x = from.as<std::vector<double>>("x"),
          .y = from.as<std::vector<double>>("y"),
          .z = from.as<std::vector<double>>("z"),
          .style = from.as<std::string>("style"),
          .classes = from.as<std::vector<std::string>>("classes"),
          .label = from.as<std::string>("label")};
}

Figure read_figure(const Value& from) {
  Figure f{.name = from.as<std::string>("name"),
           .title = from.as<std::string>("title"),
           .x_label = from.as<std::string>("x_label"),
           .y_label = from.as<std::string>("y_label"),
           .curves = {},
           .map = {},
           .caption = from.as<std::string>("caption"),
           .log_x = from.as<bool>("log_x"),
           .log_y = from.as<bool>("log_y"),
           .equal_axes = from.as<bool>("equal_axes")};
  for (const Value& curve : from.at("curves").list()) f.curves.push_back(read_curve(curve));
  if (const Value* map = from.find("map")) f.map = read_map(*map);
  return f;
}

// Groups forget the order of their entries, so it is told apart.
Value as_value(const NamedTable& named) {
  std::vector<std::string> columns;
  for (const auto& row : named.table.rows)
    for (const auto& [name, cell] : row)
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  return Value::Group{{"title", named.title}, {"columns", columns}, {"rows", as_value(named.table)}};
}

NamedTable read_table(const Value& from) {
  NamedTable named{.title = from.as<std::string>("title"), .table = {}};
  const auto columns = from.as<std::vector<std::string>>("columns");
  for (const Value& cells : from.at("rows").list()) {
    Table::Row row;
    for (const std::string& name : columns)
      if (const Value* here = cells.find(name)) row.emplace_back(name, cell(*here));
    named.table.row(std::move(row));
  }
  return named;
}

// What a finding belongs to: a run, or a directory of findings only, as an experiment has.
std::uint32_t owner_of(const fs::path& run) { return fs::exists(run / "run.json") ? identity_of(read_record(run)) : 0; }

}  // namespace

Value as_value(const Finding& finding) {
  Value::List tables;
  Value::List figures;
  for (const NamedTable& t : finding.tables) tables.push_back(as_value(t));
  for (const Figure& f : finding.figures) figures.push_back(as_value(f));
  return Value::Group{{"name", finding.name},
                      {"title", finding.title},
                      {"words", finding.words},
                      {"tables", std::move(tables)},
                      {"figures", std::move(figures)}};
}

Finding read_finding(const Value& from) {
  Finding finding{.name = from.as<std::string>("name"),
                  .title = from.as<std::string>("title"),
                  .words = from.as<std::vector<std::string>>("words"),
                  .tables = {},
                  .figures = {}};
  for (const Value& table : from.at("tables").list()) finding.tables.push_back(read_table(table));
  for (const Value& figure : from.at("figures").list()) finding.figures.push_back(read_figure(figure));
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
  if (failed)
    throw Error("cannot make \"{}\": {}; check that the run may be written to", (run / "analysis").string(),
                failed.message());
  write_file(run / "analysis" / (finding.name + ".json"), sealed(as_value(finding).entries(), owner_of(run)));
}

std::vector<Finding> kept_findings(const fs::path& run) {
  std::vector<fs::path> files;
  if (fs::is_directory(run / "analysis"))
    for (const auto& entry : fs::directory_iterator(run / "analysis"))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Finding> findings;
  if (files.empty()) return findings;
  const std::uint32_t owner = owner_of(run);
  for (const fs::path& file : files) try {
      findings.push_back(read_finding(unsealed(read_file(file), file.string(), owner)));
    } catch (const Error& e) {
      throw DamagedError("{}; or remove it and repeat the command that wrote it", e.what());
    }
  return findings;
}

}  // namespace kelvin
