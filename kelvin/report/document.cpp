// SPDX-License-Identifier: Apache-2.0
#include "kelvin/report/document.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "kelvin/analysis/analysis.h"
#include "kelvin/core/version.h"
#include "kelvin/report/sections.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t points_of_a_figure = 6000, fewest_points_of_a_curve = 400, most_grid_lines = 160;

// Which points of a long curve stay.
std::vector<std::size_t> kept_points(const Curve& curve, std::size_t most) {
  const std::size_t n = curve.x.size();
  std::vector<std::size_t> kept;
  if ((curve.style != "line" && curve.style != "dashed") || !curve.low.empty()) {
    const std::size_t every = (n + most - 1) / most;
    for (std::size_t k = 0; k < n; k += every) kept.push_back(k);
    return kept;
  }
  const std::size_t stretches = most / 2;
  for (std::size_t s = 0; s < stretches; ++s) {
    const auto begin = curve.y.begin() + std::ptrdiff_t(s * n / stretches);
    const auto end = curve.y.begin() + std::ptrdiff_t((s + 1) * n / stretches);
    const auto less = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
    const auto greater_last = [](double a, double b) { return a < b || (std::isnan(a) && !std::isnan(b)); };
    const std::size_t low = std::size_t(std::min_element(begin, end, less) - curve.y.begin());
    const std::size_t high = std::size_t(std::max_element(begin, end, greater_last) - curve.y.begin());
    kept.push_back(std::min(low, high));
    if (low != high) kept.push_back(std::max(low, high));
  }
  return kept;
}

void take(std::vector<double>& values, const std::vector<std::size_t>& kept) {
  if (values.empty()) return;
  std::vector<double> out;
  for (const std::size_t k : kept) out.push_back(values[k]);
  values = std::move(out);
}

bool thin(Map& map) {
  const std::size_t columns = map.x.size(), rows = map.y.size();
  const std::size_t every = (std::max(columns, rows) + most_grid_lines - 1) / most_grid_lines;
  if (every < 2 || map.z.size() != columns * rows) return false;
  Map small = map;
  small.x.clear();
  small.y.clear();
  small.z.clear();
  for (std::size_t i = 0; i < columns; i += every) small.x.push_back(map.x[i]);
  for (std::size_t j = 0; j < rows; j += every) {
    small.y.push_back(map.y[j]);
    for (std::size_t i = 0; i < columns; i += every) small.z.push_back(map.z[j * columns + i]);
  }
  map = std::move(small);
  return true;
}

Value rounded(double x) {
  if (!std::isfinite(x)) return {};
  if (x != std::floor(x) || std::abs(x) > 1e15) return std::stod(fmt::format("{:.6g}", x));
  return long(x);
}

void round_numbers(Value& value) {
  if (const auto* x = std::get_if<double>(&value.is)) {
    value = rounded(*x);
  } else if (const auto* numbers = std::get_if<Value::Numbers>(&value.is)) {
    Value::List list;
    for (const double x : *numbers) list.push_back(rounded(x));
    value = std::move(list);
  } else if (auto* list = std::get_if<Value::List>(&value.is)) {
    for (Value& inner : *list) round_numbers(inner);
  } else if (auto* group = std::get_if<Value::Group>(&value.is)) {
    for (auto& [key, inner] : *group) round_numbers(inner);
  }
}

// A word for use in an address and a file name.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) out += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ? c : '-';
  return out;
}

// Findings as the page takes them; every figure gets a name of its own.
class Sections {
 public:
  Value::Group operator()(Finding finding, const std::string& run) {
    std::erase_if(finding.figures, [&](const Figure& f) { return shown_before(f, run); });
    for (Figure& f : finding.figures) {
      std::size_t most = 0;
      for (const Curve& c : f.curves) most = std::max(most, c.x.size());
      const std::size_t room = points_of_a_figure / std::max<std::size_t>(1, f.curves.size());
      if (thin(f, std::max(room, fewest_points_of_a_curve)))
        f.caption += fmt::format("{}Thinned for this page{}.",
                                 f.caption.empty()          ? ""
                                 : f.caption.ends_with('.') ? " "
                                                            : ". ",
                                 most > room ? fmt::format(" from up to {} points a curve", most) : "");
    }
    Value value = as_value(finding);
    round_numbers(value);
    auto& out = std::get<Value::Group>(value.is);
    for (Value& figure : std::get<Value::List>(out.at("figures").is)) {
      const std::string name = plain(run + "-" + finding.name + "-" + figure.as<std::string>("name"));
      std::string id = name;
      for (int n = 2; !taken_.insert(id).second; ++n) id = fmt::format("{}-{}", name, n);
      std::get<Value::Group>(figure.is)["id"] = id;
    }
    return std::move(out);
  }

 private:
  // The curves of another figure of this run, as when two findings look at the same log.
  bool shown_before(const Figure& figure, const std::string& run) {
    if (figure.map) return false;
    std::string bytes = run;
    for (const Curve& c : figure.curves)
      for (const auto* values : {&c.x, &c.y})
        bytes.append(reinterpret_cast<const char*>(values->data()), values->size() * sizeof(double));
    return !shown_.insert(std::move(bytes)).second;
  }

  std::set<std::string> taken_, shown_;
};

// An analysis made for the page, if it can be.
std::optional<Finding> made_now(const Analysis& row, std::vector<Samples> runs, const Remark& tell) {
  try {
    Subject subject = subject_of(runs.front());
    subject.runs = std::move(runs);
    subject.brief = true;
    subject.remark = tell;
    return find(row, row.ask(), subject, [](double, double, std::string_view) {}).finding;
  } catch (const DamagedError&) {
    throw;
  } catch (const Error& e) {
    tell(fmt::format("{} is left out of the report: {}", row.name, e.what()));
    return {};
  }
}

// All findings of a run in the order of the table of analyses, kept or made now, then whatever else was kept.
std::vector<Finding> findings_of(const Samples& samples, std::vector<std::string>& verdict, const Remark& tell) {
  std::vector<Finding> kept = kept_findings(samples.run), out;
  for (const Analysis& row : analyses()) {
    if (!row.in_report || row.needs == Needs::several) continue;
    std::optional<Finding> found;
    const std::string name = finding_name(row);
    const auto at = std::find_if(kept.begin(), kept.end(), [&](const Finding& f) { return f.name == name; });
    if (at != kept.end()) {
      found = std::move(*at);
      kept.erase(at);
    } else if (row.in_report(samples)) {
      found = made_now(row, {samples}, tell);
    }
    if (!found) continue;
    if (row.verdict) verdict = found->words;
    out.push_back(std::move(*found));
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(out));
  return out;
}

// Of a directory that holds findings and no run, as experiments leave it.
Value findings_document(std::vector<Finding> findings, const std::string& made) {
  Sections section;
  const std::string name = findings.front().name;
  const std::string verdict = findings.front().words.empty() ? "" : findings.front().words.front();
  Value::List sections;
  for (Finding& f : findings) sections.push_back(section(std::move(f), name));
  const Value run =
      Value::Group{{"name", name}, {"verdict", std::vector<std::string>{verdict}}, {"sections", std::move(sections)}};
  return Value::Group{{"title", name},
                      {"made", made},
                      {"version", version()},
                      {"overview", Value::List()},
                      {"runs", std::vector<Value>{run}}};
}

}  // namespace

bool thin(Figure& figure, std::size_t most_points) {
  bool thinned = false;
  for (Curve& curve : figure.curves) {
    if (curve.x.size() <= most_points) continue;
    const std::vector<std::size_t> kept = kept_points(curve, most_points);
    for (auto* values : {&curve.x, &curve.y, &curve.low, &curve.high}) take(*values, kept);
    thinned = true;
  }
  const bool coarser = figure.map && thin(*figure.map);
  return thinned || coarser;
}

Value report_document(const std::vector<fs::path>& runs, const std::string& made, const Remark& tell) {
  if (runs.size() == 1 && !fs::exists(runs[0] / "run.json") && !has_manifest(runs[0]))
    if (auto findings = kept_findings(runs[0]); !findings.empty()) return findings_document(std::move(findings), made);
  std::vector<RunFiles> files;
  for (const fs::path& run : runs) files.push_back(read_run_files(run));
  std::set<std::string> names;
  for (const RunFiles& f : files) names.insert(f.name);
  if (names.size() < files.size())
    for (RunFiles& f : files) f.name = f.run.string();

  Sections section;
  std::string title;
  Value::List overview;
  Value::List shown_runs;
  std::vector<Samples> samples;
  for (const RunFiles& f : files) {
    samples.push_back(open_samples(f.run));
    std::vector<std::string> verdict = {"Nothing is known yet of how well this run went: it has no draws."};
    Value::List sections;
    Value::List folds;
    folds.push_back(Value::Group{{"title", "All settings, resolved"}, {"settings", as_value(f.record.settings)}});
    if (const Manifest& manifest = samples.back().manifest; manifest.files.contains("run.toml"))
      folds.push_back(
          Value::Group{{"title", "The run file as it was given"}, {"text", read_named(f.run, manifest, "run.toml")}});
    Value::Group about = section(what_was_run(f), f.name);
    about["folds"] = std::move(folds);
    sections.push_back(std::move(about));
    if (Finding learned = learning(f); !learned.figures.empty())
      sections.push_back(section(std::move(learned), f.name));
    for (Finding& finding : findings_of(samples.back(), verdict, tell))
      sections.push_back(section(std::move(finding), f.name));
    title += (title.empty() ? "" : ", ") + f.name;
    shown_runs.push_back(Value::Group{{"name", f.name}, {"verdict", verdict}, {"sections", std::move(sections)}});
  }
  for (const Analysis& row : analyses()) {
    if (!row.in_report || row.needs != Needs::several || samples.size() < 2) continue;
    if (!std::all_of(samples.begin(), samples.end(), row.in_report)) continue;
    if (std::optional<Finding> found = made_now(row, samples, tell))
      overview.push_back(section(std::move(*found), "all"));
  }
  return Value::Group{{"title", title},
                      {"made", made},
                      {"version", version()},
                      {"overview", std::move(overview)},
                      {"runs", std::move(shown_runs)}};
}

std::vector<std::string> figure_names(const Value& document) {
  std::vector<std::string> names;
  const auto add = [&](const Value& sections) {
    for (const Value& s : sections.list())
      for (const Value& figure : s.at("figures").list()) names.push_back(figure.as<std::string>("id"));
  };
  add(document.at("overview"));
  for (const Value& run : document.at("runs").list()) add(run.at("sections"));
  return names;
}

}  // namespace kelvin
