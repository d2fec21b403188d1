// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/sources.h"

#include <filesystem>

#include "kelvin/data/generators.h"
#include "kelvin/io/cifar.h"
#include "kelvin/io/image_folder.h"

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
  if (sheet.shape != first.shape)
    throw Error("the images of \"{}\" are {} but those of \"{}\" are {}; they must be alike", sheet.file,
                sheet.shape.text(), first.file, first.shape.text());
  sheet.names = first.names;
  if (sheet.csv) sheet.csv->names = first.names;
}

// Rows of one or more files; those after the first, and those of other splits, are laid out as `like`.
std::vector<Source> read_sources(const Files& files, const Files& labels, const DataSettings& s, const Source* like) {
  if (!labels.empty() && labels.names.size() != files.names.size())
    throw Error("{} files of rows ({}) need as many files of labels, not {} ({})", files.names.size(), files.text(),
                labels.names.size(), labels.text());
  std::vector<Source> out;
  for (std::size_t k = 0; k < files.names.size(); ++k) {
    out.push_back(read_source(files.names[k], labels.empty() ? "" : labels.names[k], s));
    const Source& first = like ? *like : out.front();
    match(out.back().inputs, first.inputs);
    if (first.targets && out.back().targets) match(*out.back().targets, *first.targets);
  }
  return out;
}

std::vector<Source> second_sources(const Files& files, const Files& labels, const DataSettings& s, std::string_view key,
                                   const Source& train) {
  if (files.empty() && !labels.empty()) throw Error("{0}_labels_file is given without {0}_file; give both", key);
  if (files.empty()) return {};
  if (labels.empty() != s.labels_file.empty())
    throw Error("labels_file and {0}_labels_file go together: give both or neither with {0}_file", key);
  return read_sources(files, labels, s, &train);
}

Sources read_files(const DataSettings& s) {
  Sources all;
  all.train = read_sources(s.file, s.labels_file, s, nullptr);
  all.validation = second_sources(s.validation_file, s.validation_labels_file, s, "validation", all.train.front());
  all.test = second_sources(s.test_file, s.test_labels_file, s, "test", all.train.front());
  return all;
}

// ---- directories

// The four files that MNIST and its kin are shipped as.
Sources read_mnist(const std::string& directory, const DataSettings& given) {
  const auto found = [&](std::string_view name) {
    for (const std::string_view ending : {"", ".gz"}) {
      const auto path = std::filesystem::path(directory) / fmt::format("{}{}", name, ending);
      if (std::filesystem::exists(path)) return path.string();
    }
    throw Error("the directory \"{}\" has no {} or {}.gz; name a file, or a directory with the four files of MNIST",
                directory, name, name);
  };
  DataSettings s = given;
  s.labels_file = found("train-labels-idx1-ubyte");
  s.test_file = found("t10k-images-idx3-ubyte");
  s.test_labels_file = found("t10k-labels-idx1-ubyte");
  s.file = found("train-images-idx3-ubyte");
  return read_files(s);
}

struct DirectoryKind {
  bool (*is)(const std::string& directory);
  Sources (*read)(const std::string& directory, const DataSettings&);
};
constexpr DirectoryKind directories[] = {{is_cifar_directory, read_cifar_directory},
                                         {is_image_folder, read_image_folder},
                                         {[](const std::string&) { return true; }, read_mnist}};

Sources read_directory(const DataSettings& s) {
  const std::string& directory = s.file.first();
  if (!s.labels_file.empty() || !s.test_file.empty() || !s.test_labels_file.empty())
    throw Error(
        "\"{}\" is a directory that holds labels and test rows too; leave out labels_file, test_file and "
        "test_labels_file, or name a file",
        directory);
  const auto kind = std::ranges::find_if(directories, [&](const DirectoryKind& d) { return d.is(directory); });
  Sources all = kind->read(directory, s);
  if (s.validation_file.empty() || !all.validation.empty()) return all;
  all.validation = second_sources(s.validation_file, s.validation_labels_file, s, "validation", all.train.front());
  return all;
}

bool is_directory(const Files& files) {
  return files.names.size() == 1 && std::filesystem::is_directory(files.first());
}

}  // namespace

Source test_rows_of_directory(const std::string& directory, const std::string& labels_file, const DataSettings& s) {
  DataSettings own = s;
  own.file = directory;
  own.labels_file = labels_file;
  own.validation_file = own.validation_labels_file = own.test_file = own.test_labels_file = Files();
  Sources all = read_directory(own);
  return std::move(all.test.empty() ? all.train.front() : all.test.front());
}

Sources sources(const DataSettings& s, std::uint64_t seed) {
  if (s.file.empty() == !s.generator.given())
    throw Error("data needs either file or generator, not {}", s.file.empty() ? "neither" : "both");
  Sources all;
  if (s.generator.given()) {
    for (const Files& files :
         {s.labels_file, s.validation_file, s.validation_labels_file, s.test_file, s.test_labels_file})
      if (!files.empty()) throw Error("\"{}\" cannot be combined with a generator; leave it out", files.text());
    Splits splits = generate(s.generator, seed);
    all.train.push_back(made(std::move(splits.train), s.generator.name));
    if (splits.validation.rows) all.validation.push_back(made(std::move(splits.validation), s.generator.name));
    if (splits.test.rows) all.test.push_back(made(std::move(splits.test), s.generator.name));
  } else {
    all = is_directory(s.file) ? read_directory(s) : read_files(s);
  }
  if (!all.validation.empty() && s.validation != 0)
    throw Error("validation = {} asks for training rows, but there are validation rows already; leave one out",
                s.validation);
  if (!all.test.empty() && s.test != 0)
    throw Error("test = {} asks for training rows, but there are test rows already; leave one out", s.test);
  return all;
}

}  // namespace kelvin
