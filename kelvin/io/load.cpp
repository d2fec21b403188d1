// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/load.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <span>

#include "kelvin/core/noise.h"
#include "kelvin/io/classes.h"
#include "kelvin/io/sources.h"
#include "kelvin/io/text.h"

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

RawRows rows_of(Source source, const DataSettings& s, bool classes, const TargetKind& kind) {
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
  const Shape shape = arrange_images(in, s, x);
  return rows_of(source, {in, kind.are_inputs ? Columns{} : out, classes, kind.may_be_classes, shape}, s.derived);
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

// Of each column, or of each channel of an image, whose columns are channels last.
Units units_of(const InputValues& values, const std::vector<std::string>& names, const Shape& shape,
               const Remark& remark) {
  const std::size_t width = names.size(), k = shape.rank() > 0 ? shape[0] : width, rows = values.size() / width;
  const double count = double(rows * (width / k));
  Units units{.mean = std::vector<double>(k), .scale = std::vector<double>(k)};
  std::vector<double> row(width);
  const auto each = [&](auto&& visit) {
    for (std::size_t i = 0; i < rows; ++i) {
      values.copy(i * width, row);
      for (std::size_t j = 0; j < width; j += k)
        for (std::size_t c = 0; c < k; ++c) visit(c, row[j + c]);
    }
  };
  // Measured from the first row: the mean of a constant column is then exact, and its deviation exactly 0.
  std::vector<double> origin(k);
  values.copy(0, origin);
  each([&](std::size_t c, double x) { units.mean[c] += x - origin[c]; });
  for (std::size_t c = 0; c < k; ++c) units.mean[c] = origin[c] + units.mean[c] / count;
  each([&](std::size_t c, double x) { units.scale[c] += (x - units.mean[c]) * (x - units.mean[c]); });
  std::vector<std::string> constant;
  for (std::size_t c = 0; c < k; ++c) {
    units.scale[c] = std::sqrt(units.scale[c] / count);
    if (units.scale[c] > 0) continue;
    units.scale[c] = 1;
    constant.push_back(k == width ? names[c] : fmt::format("channel {}", c + 1));
  }
  if (!constant.empty() && remark)
    remark(fmt::format("{} of {} {} are constant over the training rows and were only shifted: {}", constant.size(), k,
                       k == width ? "columns" : "channels", listed(constant)));
  for (std::size_t j = k; j < width; ++j) {
    units.mean.push_back(units.mean[j - k]);
    units.scale.push_back(units.scale[j - k]);
  }
  return units;
}

void to_units(const Units& units, std::vector<double>& values) {
  InputValues numbers = std::move(values);
  numbers.standardise(units.mean, units.scale);
  values = std::move(numbers.doubles());
}

// What the settings say of each channel.
Units given_units(const DataSettings& s, const Dataset& train) {
  const std::size_t channels = train.shape.rank() > 0 ? train.shape[0] : 0;
  const auto check = [&](const std::vector<double>& list, std::string_view key) {
    if (!list.empty() && list.size() != channels)
      throw Error("{} has {} numbers, but the rows are {}; give one for each channel of an image", key, list.size(),
                  channels ? fmt::format("images of {} channels", channels) : "no images");
  };
  check(s.channel_means, "data.channel_means");
  check(s.channel_deviations, "data.channel_deviations");
  for (const double x : s.channel_deviations)
    if (!(x > 0)) throw Error("data.channel_deviations has {}; each must be above 0", x);
  Units units;
  for (std::size_t j = 0; j < train.input_count(); ++j) {
    units.mean.push_back(s.channel_means.empty() ? 0 : s.channel_means[j % channels]);
    units.scale.push_back(s.channel_deviations.empty() ? 1 : s.channel_deviations[j % channels]);
  }
  return units;
}

void standardise(Splits& splits, const DataSettings& s, const Standardised& which, const Remark& remark) {
  const Dataset& train = splits.train;
  const bool given = !s.channel_means.empty() || !s.channel_deviations.empty();
  if (given && which.inputs)
    throw Error(
        "standardise = \"{}\" and data.channel_means or channel_deviations say the same of the inputs; leave "
        "one out",
        s.standardise);
  Units inputs, targets;
  if (given) inputs = given_units(s, train);
  if (which.inputs) inputs = units_of(train.inputs, train.input_names, train.shape, remark);
  if (which.targets && !train.has_classes()) targets = units_of(train.targets, train.target_names, {}, remark);
  for (Dataset* data : {&splits.train, &splits.validation, &splits.test}) {
    data->inputs.standardise(inputs.mean, inputs.scale);
    to_units(targets, data->targets);
    data->input_units = inputs;
    data->target_units = targets;
  }
}

void aim_at_inputs(Dataset& data) {
  data.targets = data.inputs.list();
  data.target_names = data.input_names;
  data.target_units = data.input_units;
}

// ---- rows of another file, to be predicted

// Images are known by their size, not by the names of their numbers: those of a table are all columns but the target.
Wanted wanted_images(Source& source, const DataSettings& s, const Dataset& like) {
  Sheet& x = source.inputs;
  Wanted wanted{{}, {}, like.has_classes(), like.has_classes()};
  if (source.targets) wanted.targets = all_but({}, *source.targets);
  else if (x.columns() == like.input_count() + 1)
    wanted.targets = s.targets.empty() ? Columns{x.columns() - 1} : columns(s.targets, x);
  wanted.inputs = all_but(source.targets ? Columns{} : wanted.targets, x);
  if (wanted.inputs.size() != like.input_count())
    throw Error("{}: its rows are {} numbers, but the run's images are {}, which is {}", x.file, wanted.inputs.size(),
                like.shape.text(), like.input_count());
  wanted.shape = arrange_images(wanted.inputs, s, x);
  if (wanted.shape.rank() > 0 && wanted.shape != like.shape)
    throw Error("{}: its images are {}, but the run's are {}; they must be alike", x.file, wanted.shape.text(),
                like.shape.text());
  return wanted;
}

// A file that names no columns holds the inputs in their order; with more columns it is laid out as the run's own.
Wanted wanted_like(Source& source, const DataSettings& s, const Dataset& like) {
  if (like.shape.rank() > 0) return wanted_images(source, s, like);
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

Splits load(const DataSettings& s, bool wants_classes, std::uint64_t seed, const Remark& remark) {
  const TargetKind& kind = word(s.targets_are, target_kinds, "kind of targets");
  const Standardised& units = word(s.standardise, standardised, "standardise");
  if (kind.are_inputs && units.targets)
    throw Error("standardise = \"{}\", but the targets are the inputs; use \"inputs\" or \"none\"", s.standardise);
  if (s.rows < 0) throw Error("rows = {}: it must be a number of training rows, or 0 for all", s.rows);
  const bool wanted = kind.may_be_classes && (wants_classes || !kind.may_be_numbers);

  if (!s.text.unit.empty() && s.text.column.empty()) return load_text(s);
  Sources from = sources(s, seed);
  std::vector<std::string> vocabulary;
  if (!s.text.column.empty()) vocabulary = tokenise(from, s);
  const auto rows = [&](std::vector<Source>& given, bool classes) {
    std::optional<RawRows> all;
    for (Source& source : given) {
      RawRows more = rows_of(std::move(source), s, classes, kind);
      if (all) append(*all, std::move(more));
      else all = std::move(more);
    }
    return all;
  };
  RawRows train = *rows(from.train, wanted);
  const bool classes = wanted || !train.labels.empty();
  std::optional<RawRows> validation = rows(from.validation, classes), test = rows(from.test, classes);

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
  for (Dataset* data : {&splits.train, &splits.validation, &splits.test}) data->vocabulary = vocabulary;
  split(splits, s, seed);
  if (s.rows > 0 && std::size_t(s.rows) < splits.train.rows) {
    splits.train.rows = std::size_t(s.rows);
    splits.train.inputs.keep_first(splits.train.rows * splits.train.input_count());
    splits.train.targets.resize(splits.train.rows * splits.train.target_count());
  }
  for (Dataset* empty : {&splits.validation, &splits.test})
    if (empty->rows == 0) *empty = subset(splits.train, {});
  standardise(splits, s, units, remark);
  if (kind.are_inputs)
    for (Dataset* data : {&splits.train, &splits.validation, &splits.test}) aim_at_inputs(*data);
  return splits;
}

std::string found_in(const std::string& directory, const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool elsewhere = !directory.empty() && fs::is_directory(directory, ignored) && fs::current_path() != directory;
  return elsewhere && !file.empty() ? (fs::path(directory) / file).string() : file;
}

LoadData load_from(const std::string& directory) {
  return [directory](const DataSettings& given, bool wants_classes, std::uint64_t seed, const Remark& remark) {
    DataSettings s = given;
    for (Files* files :
         {&s.file, &s.labels_file, &s.validation_file, &s.validation_labels_file, &s.test_file, &s.test_labels_file})
      for (std::string& file : files->names) file = found_in(directory, file);
    return load(s, wants_classes, seed, remark);
  };
}

Dataset load_rows(std::string file, std::string labels_file, const DataSettings& s, const Dataset& like) {
  if (!s.text.unit.empty() && s.text.column.empty()) return load_text_rows(file, s, like);
  Source source = std::filesystem::is_directory(file) ? test_rows_of_directory(file, labels_file, s)
                                                      : read_source(file, labels_file, s, false);
  if (!s.text.column.empty()) tokenise(source, s, Vocabulary(like.vocabulary));
  const bool aims_at_inputs = word(s.targets_are, target_kinds, "kind of targets").are_inputs;
  Wanted wanted = wanted_like(source, s, like);
  if (aims_at_inputs) wanted.targets.clear();
  RawRows rows = rows_of(source, wanted, s.derived);
  if (wanted.classes && !wanted.targets.empty()) {
    if (wanted.targets.size() > 1) rows.data.target_names = like.classes;  // in the order they were found
    label(rows);
    rows.data = numbered(std::move(rows), like.classes, !s.classes.empty());
    if (rows.data.rows == 0) throw Error("{}: no row is of one of the classes {}", file, listed(like.classes));
  }
  Dataset data = std::move(rows.data);
  data.shape = like.shape;
  data.vocabulary = like.vocabulary;
  data.input_names = like.input_names;
  data.target_names = like.target_names;
  data.classes = like.classes;
  data.input_units = like.input_units;
  data.target_units = like.target_units;
  data.inputs.standardise(data.input_units.mean, data.input_units.scale);
  to_units(data.target_units, data.targets);
  if (aims_at_inputs) aim_at_inputs(data);
  return data;
}

}  // namespace kelvin
