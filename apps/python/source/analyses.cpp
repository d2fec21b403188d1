// SPDX-License-Identifier: Apache-2.0
// The table of analyses, the summary and the report.
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "apps/python/source/module.h"
#include "apps/python/source/own.h"
#include "apps/python/source/value.h"
#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/posterior/summary.h"
#include "kelvin/core/toml.h"
#include "kelvin/io/npy.h"
#include "kelvin/report/document.h"
#include "kelvin/report/page.h"
#include "kelvin/trajectory/export.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::python {
namespace {

const Analysis& analysis_named(const std::string& name) {
  std::vector<Analysis> rows(analyses().begin(), analyses().end());
  const Analysis& row = row_named<Analysis>(name, rows, "analysis");
  return analyses()[std::size_t(&row - rows.data())];
}

// Refuses options that the analysis does not take, as the command line does.
void take_options(const Analysis& row, const Question& question, const Value::Group& given) {
  for (const auto& [name, value] : given) {
    std::vector<std::string> known;
    for (const OptionField& option : question.options) known.push_back(option.name);
    const auto at = std::ranges::find(known, name);
    if (at == known.end())
      throw Error("analysis \"{}\" takes no {}; it takes {}{}", row.name, name,
                  known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")), suggestion(name, known));
    const OptionField& option = question.options[std::size_t(at - known.begin())];
    std::visit(
        [&]<class T>(T* place) {
          if constexpr (std::is_same_v<T, std::optional<double>>) assign(place->emplace(), value, name);
          else assign(*place, value, name);
        },
        option.place);
  }
}

// Progress of an analysis; the function may raise, which ends it.
Progress progress_of(const Shared& function) {
  if (!function) return [](double, double, std::string_view) {};
  return [=](double done, double total, std::string_view unit) {
    const Locked lock;
    (*function)(done, total, nb::str(unit.data(), unit.size()));
  };
}

Shared function_or_none(nb::handle f) { return f.is_none() ? Shared() : Shared(nb::borrow(f)); }

// Rows keep the order of their columns.
nb::list rows_of(const Table& table) {
  nb::list out;
  for (const Table::Row& row : table.rows) {
    nb::dict cells;
    for (const auto& [name, cell] : row) cells[name.c_str()] = to_python(as_value(cell));
    out.append(cells);
  }
  return out;
}

nb::dict dict_of(const Found& found) {
  nb::dict out;
  nb::object finding = to_python(as_value(found.finding));
  nb::dict tables;
  for (const NamedTable& named : found.finding.tables) tables[named.title.c_str()] = rows_of(named.table);
  finding["tables"] = tables;
  out["finding"] = finding;
  out["text"] = nb::str(as_text(found.finding).c_str());
  nb::dict arrays;
  for (const auto& [file, named] : found.arrays)
    for (const auto& [name, array] : named)
      arrays[name.c_str()] =
          own_array<double>(LargeArray<double>(array.values.begin(), array.values.end()), array.shape);
  out["arrays"] = arrays;
  return out;
}

// `settings`: of a run file, for an analysis that needs no run. `data`: other data than the run's, as assignments.
nb::dict analyse(const std::string& name, const std::vector<std::string>& runs, nb::dict options, nb::dict given) {
  const Analysis& row = analysis_named(name);
  const Question question = row.ask();
  take_options(row, question, to_value(options, name).entries());
  Subject subject;
  subject.threads = nb::cast<std::size_t>(given["threads"]);
  const Shared remark = function_or_none(given["remark"]);
  if (remark)
    subject.remark = [=](std::string_view text) {
      const Locked lock;
      (*remark)(nb::str(text.data(), text.size()));
    };
  if (row.needs == Needs::run_file) {
    subject.settings = read_run_settings(to_value(given["settings"], "settings"));
    fill_in_temperatures(subject.settings, Choice("posterior"));
  }
  const Progress progress = progress_of(function_or_none(given["progress"]));
  Found found;
  {
    const nb::gil_scoped_release unlocked;
    for (const std::string& run : runs) subject.runs.push_back(open_samples(run));
    if (!subject.runs.empty()) subject.settings = subject.run().record.settings;
    found = find(row, question, subject, progress);
    if (row.kept) keep(subject, found);
  }
  return dict_of(found);
}

nb::list rows_of_analyses() {
  nb::list out;
  for (const Analysis& row : analyses()) {
    nb::dict about;
    about["name"] = std::string(row.name);
    about["family"] = std::string(row.family);
    about["meaning"] = std::string(row.meaning);
    nb::list options;
    for (const OptionField& option : row.ask().options)
      options.append(nb::make_tuple(nb::str(option.name.c_str()), nb::str(option.meaning.c_str())));
    about["options"] = options;
    out.append(about);
  }
  return out;
}

nb::dict summarise(const std::string& run, bool parameters) {
  Found found;
  {
    const nb::gil_scoped_release unlocked;
    const Samples samples = open_samples(run);
    found.finding = summary(samples, parameters);
    if (!parameters) keep(run, found.finding);
  }
  return dict_of(found);
}

nb::list write_report(const std::vector<std::string>& runs, const std::string& file, const std::string& made) {
  std::vector<std::string> figures;
  {
    const nb::gil_scoped_release unlocked;
    const Value document = report_document({runs.begin(), runs.end()}, made, [](std::string_view) {});
    write_file(file, report_page(document), false);
    figures = figure_names(document);
  }
  nb::list out;
  for (const std::string& figure : figures) out.append(nb::str(figure.c_str()));
  return out;
}

std::vector<std::string> write_export(const std::string& run, const std::string& format, nb::dict given) {
  ExportOptions options;
  const Value::Group said = to_value(given, "export").entries();
  for (const auto& [name, value] : said) {
    if (name == "file") assign(options.file, value, name);
    else if (name == "draw")
      options.draw = value.text() ? value.as<std::string>() : fmt::format("{}", value.as<long>());
    else if (name == "names") assign(options.names, value, name);
    else if (name == "walker") assign(options.walker, value, name);
    else if (name == "force") assign(options.replace, value, name);
    else throw Error("export takes file, draw, names, walker and force, not {}", name);
  }
  return export_run(run, row_named<Format>(format, formats(), "format"), options);
}

}  // namespace

void add_analyses(nb::module_& module) {
  module.def("analyse", analyse);
  module.def("analyses", rows_of_analyses);
  module.def("summary", summarise);
  module.def("report", write_report);
  module.def("export", write_export);
}

}  // namespace kelvin::python
