// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/sources.h"

#include <filesystem>

#include "kelvin/data/generators.h"

namespace kelvin {
namespace {

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

}  // namespace

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

}  // namespace kelvin
