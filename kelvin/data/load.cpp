// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/load.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>

#include "kelvin/core/json.h"
#include "kelvin/core/noise.h"
#include "kelvin/data/derived.h"
#include "kelvin/data/generators.h"
#include "kelvin/data/sheet.h"

namespace kelvin {
namespace {

// ---- the words of the settings

struct TargetKind {
  std::string_view name;
  bool may_be_numbers, may_be_classes;  // auto: both, and the loss decides
  bool are_inputs = false;              // what else a file has is not looked at
};
constexpr TargetKind target_kinds[] = {
    {"auto", true, true}, {"numbers", true, false}, {"classes", false, true}, {"inputs", true, false, true}};

struct Standardised {
  std::string_view name;
  bool inputs, targets;
};
constexpr Standardised standardised[] = {
    {"none", false, false}, {"inputs", true, false}, {"targets", false, true}, {"both", true, true}};

template <class Row, std::size_t n>
const Row& word(const std::string& name, const Row (&table)[n], std::string_view what) {
  return row_named(name, std::span<const Row>(table), what);
}

Source made(Dataset data, const std::string& name) {
  Source source;
  source.inputs.file = "generator " + name;
  source.inputs.rows = data.rows;
  source.targets = source.inputs;
  source.inputs.names = data.input_names;
  source.inputs.values = std::move(data.inputs);
  source.targets->names = data.target_names;
  source.targets->values = std::move(data.targets);
  return source;
}

// ---- columns

std::size_t column(const Word& wanted, const Sheet& sheet) {
  const auto named = std::find(sheet.names.begin(), sheet.names.end(), wanted.text);
  if (named != sheet.names.end()) return std::size_t(named - sheet.names.begin());
  const bool digits = !wanted.text.empty() && wanted.text.size() < 10 &&
                      std::all_of(wanted.text.begin(), wanted.text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && std::stoul(wanted.text) < sheet.columns()) return std::stoul(wanted.text);
  throw Error("{}: no column \"{}\"; its columns are {}, or 0 to {} by number{}", sheet.file, wanted.text,
              listed(sheet.names), sheet.columns() - 1, suggestion(wanted.text, sheet.names));
}

using Columns = std::vector<std::size_t>;

Columns columns(const std::vector<Word>& wanted, const Sheet& sheet) {
  Columns list;
  for (const Word& w : wanted) list.push_back(column(w, sheet));
  return list;
}

Columns all_but(const Columns& left_out, const Sheet& sheet) {
  Columns list;
  for (std::size_t j = 0; j < sheet.columns(); ++j)
    if (std::find(left_out.begin(), left_out.end(), j) == left_out.end()) list.push_back(j);
  return list;
}

std::vector<double> numbers(Sheet& sheet, const Columns& wanted) {
  std::vector<double> out;
  const bool all = !sheet.csv && wanted == all_but({}, sheet);
  if (all && std::all_of(sheet.values.begin(), sheet.values.end(), [](double x) { return std::isfinite(x); }))
    return std::move(sheet.values);
  out.reserve(sheet.rows * wanted.size());
  for (std::size_t i = 0; i < sheet.rows; ++i)
    for (const std::size_t j : wanted) out.push_back(sheet.number(i, j));
  return out;
}

std::vector<std::string> names_of(const Sheet& sheet, const Columns& wanted) {
  std::vector<std::string> names;
  for (const std::size_t j : wanted) names.push_back(sheet.names[j]);
  return names;
}

// A dataset whose targets may still be texts, and where its rows came from.
struct Rows {
  Dataset data;
  std::vector<std::string> labels;  // instead of data.targets
  std::string file;                 // of the targets
  std::vector<std::uint32_t> lines;
  std::string where(std::size_t row) const {
    return lines.empty() ? fmt::format("{} row {}", file, row + 1) : fmt::format("{} line {}", file, lines[row]);
  }
};

// A column with texts but no numbers holds labels; one with both holds labels only if classes are wanted.
bool holds_labels(const Sheet& sheet, std::size_t j, bool classes) {
  if (!sheet.csv) return false;
  std::size_t texts = 0;
  for (std::size_t i = 0; i < sheet.rows; ++i) texts += !as_number(sheet.csv->cell(i, j));
  return texts == sheet.rows || (classes && texts > 0);
}

struct Wanted {
  Columns inputs, targets;  // no targets: the rows have none
  bool classes, texts_allowed;
};

Rows rows_of(Source& source, const Wanted& wanted, const std::vector<std::string>& derived) {
  Sheet& x = source.inputs;
  Sheet& y = source.targets ? *source.targets : x;
  const Columns& out = wanted.targets;
  if (x.rows != y.rows)
    throw Error("\"{}\" has {} rows but \"{}\" has {} targets; they must be equally many", x.file, x.rows, y.file,
                y.rows);
  Rows rows;
  rows.data.rows = x.rows;
  rows.data.input_names = names_of(x, wanted.inputs);
  rows.data.target_names = names_of(y, out);
  rows.file = y.file;
  if (y.csv) rows.lines = y.csv->lines;
  if (out.size() == 1 && wanted.texts_allowed && holds_labels(y, out[0], wanted.classes)) {
    for (std::size_t i = 0; i < y.rows; ++i) {
      const std::string_view cell = y.csv->cell(i, out[0]);
      if (cell.empty() || !std::isfinite(as_number(cell).value_or(0))) y.csv->number(i, out[0]);  // throws
      rows.labels.emplace_back(cell);
    }
  } else {
    rows.data.targets = numbers(y, out);
  }
  rows.data.inputs = numbers(x, wanted.inputs);
  add_derived(rows.data, derived, x.file);
  return rows;
}

Rows rows_of(Source source, const DataSettings& s, bool classes, const TargetKind& kind) {
  const Sheet& x = source.inputs;
  const Sheet& y = source.targets ? *source.targets : x;
  const std::vector<Word> none;
  const std::vector<Word>&wanted_x = source.chosen ? none : s.inputs, &wanted_y = source.chosen ? none : s.targets;
  Columns out = columns(wanted_y, y);
  if (out.empty() && !kind.are_inputs) out = source.targets ? all_but({}, y) : Columns{y.columns() - 1};
  Columns in = columns(wanted_x, x);
  if (in.empty()) in = all_but(source.targets ? Columns{} : out, x);
  if (in.empty()) throw Error("{}: has only the column \"{}\"; inputs and targets need one each", x.file, x.names[0]);
  if (!source.targets)
    for (const std::size_t j : out)
      if (std::find(in.begin(), in.end(), j) != in.end())
        throw Error("{}: column \"{}\" is both an input and a target; leave it out of one", x.file, x.names[j]);
  return rows_of(source, {in, kind.are_inputs ? Columns{} : out, classes, kind.may_be_classes}, s.derived);
}

// The second file must have the columns of the first. Names that only one of them gives count for both.
void match(Sheet& sheet, const Sheet& first) {
  if (sheet.columns() != first.columns())
    throw Error("\"{}\" has {} columns but \"{}\" has {}; they must agree", sheet.file, sheet.columns(), first.file,
                first.columns());
  if (sheet.names_given && first.names_given && sheet.names != first.names)
    throw Error("the columns of \"{}\" ({}) are not those of \"{}\" ({}); they must agree", sheet.file,
                listed(sheet.names), first.file, listed(first.names));
  sheet.names = first.names;
  if (sheet.csv) sheet.csv->names = first.names;
}

// ---- classes

// A single 1 in every row of the target columns, else 0.
bool one_hot(const Dataset& data) {
  const std::size_t k = data.target_count();
  for (std::size_t i = 0; i < data.rows; ++i) {
    const double* row = data.targets.data() + i * k;
    if (std::count(row, row + k, 1.0) != 1 || std::size_t(std::count(row, row + k, 0.0)) != k - 1) return false;
  }
  return true;
}

void label(Rows& rows) {
  Dataset& data = rows.data;
  const std::size_t k = data.target_count();
  if (!rows.labels.empty()) return;
  if (k > 1 && !one_hot(data))
    throw Error(
        "{}: the {} target columns ({}) are not one-hot; classes need one column, or a single 1 in every row - or "
        "write targets_are = \"numbers\"",
        rows.file, k, listed(data.target_names));
  for (std::size_t i = 0; i < data.rows; ++i) {
    const double* row = data.targets.data() + i * k;
    if (k > 1) {
      rows.labels.push_back(data.target_names[std::size_t(std::find(row, row + k, 1.0) - row)]);
    } else {
      if (*row != std::floor(*row))
        throw Error(
            "{}: target {} is no class; classes are whole numbers or texts - or write targets_are = \"numbers\"",
            rows.where(i), *row);
      rows.labels.push_back(fmt::format("{:.0f}", *row + 0.0));  // -0 is 0
    }
  }
}

// Numbers in ascending order, else texts in alphabetical order.
std::vector<std::string> classes_in(const std::vector<std::string>& labels) {
  std::vector<std::string> classes = labels;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  if (std::all_of(classes.begin(), classes.end(), [](const auto& c) { return as_number(c).has_value(); }))
    std::stable_sort(classes.begin(), classes.end(),
                     [](const auto& a, const auto& b) { return *as_number(a) < *as_number(b); });
  return classes;
}

std::vector<std::string> kept_classes(const DataSettings& s, const std::vector<std::string>& found,
                                      const std::string& file) {
  std::vector<std::string> kept;
  for (const Word& w : s.classes) {
    if (std::find(found.begin(), found.end(), w.text) == found.end())
      throw Error("{}: nothing is left of class \"{}\": no training row has it; the classes are {}{}", file, w.text,
                  listed(found), suggestion(w.text, found));
    if (std::find(kept.begin(), kept.end(), w.text) != kept.end())
      throw Error("classes: \"{}\" is given twice; each class is given once", w.text);
    kept.push_back(w.text);
  }
  return kept;
}

using RowList = std::vector<std::size_t>;

Dataset subset(const Dataset& from, const RowList& rows) {
  Dataset out;
  out.rows = rows.size();
  out.input_names = from.input_names;
  out.target_names = from.target_names;
  out.classes = from.classes;
  const auto copy = [&](const std::vector<double>& source, std::vector<double>& target, std::size_t width) {
    target.reserve(rows.size() * width);
    for (const std::size_t i : rows)
      target.insert(target.end(), source.begin() + std::ptrdiff_t(i * width),
                    source.begin() + std::ptrdiff_t((i + 1) * width));
  };
  copy(from.inputs, out.inputs, from.input_count());
  copy(from.targets, out.targets, from.target_count());
  return out;
}

// Labels become 0, 1, ... Rows of classes that were not asked for go; a label unknown to the training rows is an error.
Dataset numbered(Rows rows, const std::vector<std::string>& classes, bool some_go) {
  std::unordered_map<std::string_view, double> number;
  for (const std::string& c : classes) number.emplace(c, double(number.size()));
  RowList kept;
  rows.data.targets.assign(rows.data.rows, 0.0);
  for (std::size_t i = 0; i < rows.data.rows; ++i) {
    const auto at = number.find(rows.labels[i]);
    if (at != number.end()) rows.data.targets[i] = at->second, kept.push_back(i);
    else if (!some_go)
      throw Error("{}: label \"{}\" does not occur in the training rows; their labels are {}", rows.where(i),
                  rows.labels[i], listed(classes));
  }
  if (rows.data.target_count() > 1) rows.data.target_names = {"class"};
  rows.data.classes = classes;
  return kept.size() == rows.data.rows ? std::move(rows.data) : subset(rows.data, kept);
}

// ---- splits

std::size_t split_count(double wanted, std::size_t rows, std::string_view key) {
  if (!(wanted >= 0) || (wanted >= 1 && wanted != std::floor(wanted)) || wanted > 0x1p52)
    throw Error("{} = {}: it must be a share in [0, 1) of the rows, or a whole number of them", key, wanted);
  if (wanted >= 1 || wanted == 0) return std::size_t(wanted);
  return std::max<std::size_t>(1, std::size_t(std::llround(wanted * double(rows))));
}

// A random choice of rows for each split; within a split the rows stay in the order of the file.
void split(Splits& splits, const DataSettings& s, std::uint64_t seed) {
  const std::size_t n = splits.train.rows, v = split_count(s.validation, n, "validation"),
                    t = split_count(s.test, n, "test");
  if (v + t == 0) return;
  if (v + t >= n)
    throw Error("validation = {} and test = {} leave no training rows of {}; ask for less", s.validation, s.test, n);
  RowList order(n);
  std::iota(order.begin(), order.end(), std::size_t(0));
  const Stream stream{.key = stream_key(s.split_seed < 0 ? seed : std::uint64_t(s.split_seed), "split")};
  for (std::size_t i = n; i-- > 1;) std::swap(order[i], order[below(std::uint32_t(i + 1), stream, i)]);
  const auto part = [&](std::size_t first, std::size_t count) {
    RowList rows(order.begin() + std::ptrdiff_t(first), order.begin() + std::ptrdiff_t(first + count));
    std::sort(rows.begin(), rows.end());
    return subset(splits.train, rows);
  };
  if (v > 0) splits.validation = part(0, v);
  if (t > 0) splits.test = part(v, t);
  splits.train = part(v + t, n - v - t);
}

// ---- units

Units units_of(const std::vector<double>& values, const std::vector<std::string>& names, std::size_t rows,
               const Remark& remark) {
  const std::size_t k = names.size();
  Units units{.mean = std::vector<double>(k), .scale = std::vector<double>(k)};
  const auto each = [&](auto&& visit) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < k; ++j) visit(j, values[i * k + j]);
  };
  // Measured from the first row: the mean of a constant column is then exact, and its deviation exactly 0.
  each([&](std::size_t j, double x) { units.mean[j] += x - values[j]; });
  for (std::size_t j = 0; j < k; ++j) units.mean[j] = values[j] + units.mean[j] / double(rows);
  each([&](std::size_t j, double x) { units.scale[j] += (x - units.mean[j]) * (x - units.mean[j]); });
  std::vector<std::string> constant;
  for (std::size_t j = 0; j < k; ++j) {
    units.scale[j] = std::sqrt(units.scale[j] / double(rows));
    if (units.scale[j] > 0) continue;
    units.scale[j] = 1;
    constant.push_back(names[j]);
  }
  if (!constant.empty() && remark)
    remark(fmt::format("{} of {} columns are constant over the training rows and were only shifted: {}",
                       constant.size(), k, listed(constant)));
  return units;
}

void to_units(const Units& units, std::vector<double>& values) {
  const std::size_t k = units.mean.size();
  for (std::size_t i = 0; k > 0 && i < values.size(); i += k)
    for (std::size_t j = 0; j < k; ++j) values[i + j] = (values[i + j] - units.mean[j]) / units.scale[j];
}

void standardise(Splits& splits, const Standardised& which, const Remark& remark) {
  const Dataset& train = splits.train;
  Units inputs, targets;
  if (which.inputs) inputs = units_of(train.inputs, train.input_names, train.rows, remark);
  if (which.targets && !train.has_classes()) targets = units_of(train.targets, train.target_names, train.rows, remark);
  for (Dataset* data : {&splits.train, &splits.validation, &splits.test}) {
    to_units(inputs, data->inputs);
    to_units(targets, data->targets);
    data->input_units = inputs;
    data->target_units = targets;
  }
}

void aim_at_inputs(Dataset& data) {
  data.targets = data.inputs, data.target_names = data.input_names, data.target_units = data.input_units;
}

// ---- sources of the three sets

struct Sources {
  Source train;
  std::optional<Source> validation, test;
};

// A directory stands for the four files that MNIST and its kin are shipped as.
DataSettings directory_resolved(DataSettings s) {
  if (!std::filesystem::is_directory(s.file)) return s;
  if (!s.labels_file.empty() || !s.test_file.empty() || !s.test_labels_file.empty())
    throw Error(
        "\"{}\" is a directory that holds labels and test rows too; leave out labels_file, test_file and "
        "test_labels_file, or name a file",
        s.file);
  const auto found = [&](std::string_view name) {
    for (const std::string_view ending : {"", ".gz"}) {
      const auto path = std::filesystem::path(s.file) / fmt::format("{}{}", name, ending);
      if (std::filesystem::exists(path)) return path.string();
    }
    throw Error("the directory \"{}\" has no {} or {}.gz; name a file, or a directory with the four files of MNIST",
                s.file, name, name);
  };
  s.labels_file = found("train-labels-idx1-ubyte");
  s.test_file = found("t10k-images-idx3-ubyte");
  s.test_labels_file = found("t10k-labels-idx1-ubyte");
  s.file = found("train-images-idx3-ubyte");
  return s;
}

std::optional<Source> second_source(const std::string& file, const std::string& labels, const DataSettings& s,
                                    std::string_view key, const Source& train) {
  if (file.empty() && !labels.empty()) throw Error("{0}_labels_file is given without {0}_file; give both", key);
  if (file.empty()) return {};
  if (labels.empty() != s.labels_file.empty())
    throw Error("labels_file and {0}_labels_file go together: give both or neither with {0}_file", key);
  Source source = read_source(file, labels, s);
  match(source.inputs, train.inputs);
  if (train.targets && source.targets) match(*source.targets, *train.targets);
  return source;
}

Sources sources(const DataSettings& given, std::uint64_t seed) {
  if (given.file.empty() == !given.generator.given())
    throw Error("data needs either file or generator, not {}", given.file.empty() ? "neither" : "both");
  Sources all;
  if (given.generator.given()) {
    for (const std::string& file : {given.labels_file, given.validation_file, given.validation_labels_file,
                                    given.test_file, given.test_labels_file})
      if (!file.empty()) throw Error("\"{}\" cannot be combined with a generator; leave it out", file);
    Splits splits = generate(given.generator, seed);
    all.train = made(std::move(splits.train), given.generator.name);
    if (splits.validation.rows) all.validation = made(std::move(splits.validation), given.generator.name);
    if (splits.test.rows) all.test = made(std::move(splits.test), given.generator.name);
  } else {
    const DataSettings s = directory_resolved(given);
    all.train = read_source(s.file, s.labels_file, s);
    all.validation = second_source(s.validation_file, s.validation_labels_file, s, "validation", all.train);
    all.test = second_source(s.test_file, s.test_labels_file, s, "test", all.train);
  }
  if (all.validation && given.validation != 0)
    throw Error("validation = {} asks for training rows, but there are validation rows already; leave one out",
                given.validation);
  if (all.test && given.test != 0)
    throw Error("test = {} asks for training rows, but there are test rows already; leave one out", given.test);
  return all;
}

// ---- rows of another file, to be predicted

// The columns with these names, or none if one is missing.
Columns named(const std::vector<std::string>& names, const Sheet& sheet) {
  Columns list;
  for (const std::string& name : names) {
    const auto at = std::find(sheet.names.begin(), sheet.names.end(), name);
    if (at == sheet.names.end()) return {};
    list.push_back(std::size_t(at - sheet.names.begin()));
  }
  return list;
}

// A file that names no columns holds the inputs in their order; with more columns it is laid out as the run's own.
Wanted wanted_like(Source& source, const DataSettings& s, const Dataset& like) {
  Sheet& x = source.inputs;
  const Sheet& y = source.targets ? *source.targets : x;
  const std::size_t count = like.input_count() - s.derived.size();
  const std::vector<std::string> inputs(like.input_names.begin(), like.input_names.begin() + long(count));
  if (!x.names_given) x.names = x.columns() == count ? inputs : column_names(x.columns(), "x", "y");
  if (x.csv) x.csv->names = x.names;
  Wanted wanted{named(inputs, x), named(like.target_names, y), like.has_classes(), like.has_classes()};
  if (wanted.targets.empty() && like.has_classes()) wanted.targets = named(like.classes, y);  // one column for each
  const bool usual = s.inputs.empty() && s.targets.empty();
  if (wanted.inputs.empty() && !x.names_given && usual && x.columns() == count + like.target_count())
    for (std::size_t j = 0; j < x.columns(); ++j) (j < count ? wanted.inputs : wanted.targets).push_back(j);
  if (wanted.inputs.empty())
    throw Error("{}: its columns are {}, but the run's inputs are {}; name them so in a first line, or give {} columns",
                x.file, listed(x.names), listed(inputs), count);
  if (source.targets && wanted.targets.empty()) wanted.targets = all_but({}, y);
  const std::size_t targets = wanted.targets.size();
  if (targets != 0 && targets != like.target_count() && !(like.has_classes() && targets == like.classes.size()))
    throw Error("{}: has {} target columns, but the run has {} ({})", y.file, targets, like.target_count(),
                listed(like.target_names));
  return wanted;
}

}  // namespace

void assign(Word& word, const Value& v, const std::string& key) {
  double number = 0;
  if (std::holds_alternative<std::string>(v.is)) {
    assign(word.text, v, key);
  } else {
    assign(number, v, key);
    word.text = fmt::format("{}", number);
  }
}

nlohmann::json as_json(const Word& word) { return word.text; }

Splits load(const DataSettings& s, bool wants_classes, std::uint64_t seed, const Remark& remark) {
  const TargetKind& kind = word(s.targets_are, target_kinds, "kind of targets");
  const Standardised& units = word(s.standardise, standardised, "standardise");
  if (kind.are_inputs && units.targets)
    throw Error("standardise = \"{}\", but the targets are the inputs; use \"inputs\" or \"none\"", s.standardise);
  if (s.rows < 0) throw Error("rows = {}: it must be a number of training rows, or 0 for all", s.rows);
  const bool wanted = kind.may_be_classes && (wants_classes || !kind.may_be_numbers);

  Sources from = sources(s, seed);
  Rows train = rows_of(std::move(from.train), s, wanted, kind);
  const bool classes = wanted || !train.labels.empty();
  const auto rows = [&](std::optional<Source>& source) { return rows_of(std::move(*source), s, classes, kind); };
  std::optional<Rows> validation, test;
  if (from.validation) validation = rows(from.validation);
  if (from.test) test = rows(from.test);

  Splits splits;
  if (classes) {
    label(train);
    const bool columns = train.data.target_count() > 1;
    if (columns && remark)
      remark(
          fmt::format("the target columns {} are one-hot and were taken as classes", listed(train.data.target_names)));
    const std::vector<std::string> found = columns ? train.data.target_names : classes_in(train.labels);
    const auto kept = s.classes.empty() ? found : kept_classes(s, found, train.file);
    const bool some_go = kept.size() < found.size();
    splits.train = numbered(std::move(train), kept, some_go);
    if (validation) label(*validation), splits.validation = numbered(std::move(*validation), kept, some_go);
    if (test) label(*test), splits.test = numbered(std::move(*test), kept, some_go);
  } else {
    if (!s.classes.empty())
      throw Error(
          "classes cannot be chosen: the targets are numbers; use a loss for classes, or targets_are = \"classes\"");
    splits.train = std::move(train.data);
    if (validation) splits.validation = std::move(validation->data);
    if (test) splits.test = std::move(test->data);
  }
  split(splits, s, seed);
  if (s.rows > 0 && std::size_t(s.rows) < splits.train.rows) {
    splits.train.rows = std::size_t(s.rows);
    splits.train.inputs.resize(splits.train.rows * splits.train.input_count());
    splits.train.targets.resize(splits.train.rows * splits.train.target_count());
  }
  for (Dataset* empty : {&splits.validation, &splits.test})
    if (empty->rows == 0) *empty = subset(splits.train, {});
  standardise(splits, units, remark);
  if (kind.are_inputs)
    for (Dataset* data : {&splits.train, &splits.validation, &splits.test}) aim_at_inputs(*data);
  return splits;
}

Dataset load_rows(std::string file, std::string labels_file, const DataSettings& s, const Dataset& like) {
  if (std::filesystem::is_directory(file)) {
    DataSettings directory;
    directory.file = file, directory.labels_file = labels_file;
    directory = directory_resolved(directory);
    file = directory.test_file, labels_file = directory.test_labels_file;
  }
  Source source = read_source(file, labels_file, s, false);
  const bool aims_at_inputs = word(s.targets_are, target_kinds, "kind of targets").are_inputs;
  Wanted wanted = wanted_like(source, s, like);
  if (aims_at_inputs) wanted.targets.clear();
  Rows rows = rows_of(source, wanted, s.derived);
  if (wanted.classes && !wanted.targets.empty()) {
    if (wanted.targets.size() > 1) rows.data.target_names = like.classes;  // in the order they were found
    label(rows);
    rows.data = numbered(std::move(rows), like.classes, !s.classes.empty());
    if (rows.data.rows == 0) throw Error("{}: no row is of one of the classes {}", file, listed(like.classes));
  }
  Dataset data = std::move(rows.data);
  data.input_names = like.input_names, data.target_names = like.target_names, data.classes = like.classes;
  data.input_units = like.input_units, data.target_units = like.target_units;
  to_units(data.input_units, data.inputs);
  to_units(data.target_units, data.targets);
  if (aims_at_inputs) aim_at_inputs(data);
  return data;
}

}  // namespace kelvin
