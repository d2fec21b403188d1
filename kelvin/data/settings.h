// SPDX-License-Identifier: Apache-2.0
// The [data] settings.
#pragma once
#include <string>
#include <vector>

#include "kelvin/core/choice.h"

namespace kelvin {

// A name or a number, kept as text: 7 and "7" are the same.
struct Word {
  std::string text;
};
void assign(Word&, const Value&, const std::string& key);
Value as_value(const Word&);

// Names of files that are read one after another, mostly of one.
struct Files {
  std::vector<std::string> names;
  Files() = default;
  Files(std::string name) : names{std::move(name)} {}
  Files(const char* name) : names{name} {}
  bool empty() const { return names.empty() || (names.size() == 1 && names[0].empty()); }
  const std::string& first() const { return names.front(); }
  std::string text() const;  // "a.csv, b.csv"
  bool operator==(const Files&) const = default;
};
void assign(Files&, const Value&, const std::string& key);
Value as_value(const Files&);

// How texts become rows of tokens.
struct TextSettings {
  static constexpr const char* shorthand = "unit";
  std::string unit, column;
  long vocabulary = 0, steps = 64, stride = 0;
  template <class Visit>
  void fields(Visit&& field) {
    field("unit", unit, "the file is a text, of these tokens: characters, or words; empty: it is none");
    field("steps", steps, "tokens of a row; its targets are the tokens that come next, one for each");
    field("stride", stride, "tokens from the beginning of a training row to that of the next; 0: as many as steps");
    field("vocabulary", vocabulary, "keep so many tokens, the most frequent; others become <unk>; 0 keeps all");
    field("column", column,
          "the file is a table, and this column of it holds texts, each of which has a target: their first tokens are "
          "the inputs, after <pad> where a text is shorter");
  }
};

struct DataSettings {
  static constexpr const char* shorthand = "file";
  Files file, labels_file, validation_file, validation_labels_file, test_file, test_labels_file;
  Choice generator;
  double validation = 0, test = 0;
  long split_seed = -1, rows = 0;
  std::string header = "auto", targets_are = "auto", standardise = "none";
  std::vector<Word> inputs, targets, classes;
  std::vector<std::string> derived;
  std::vector<long> shape;
  std::string layout = "channels_first";
  std::vector<double> channel_means, channel_deviations;
  std::vector<std::string> augment;
  TextSettings text;
  template <class Visit>
  void fields(Visit&& field) {
    field(
        "file", file,
        "CSV, IDX, NPY, NPZ, CIFAR or a text, plain, gzip or xz; or a directory with the files of MNIST or CIFAR, or "
        "with pictures (docs/data.md); bytes of images are divided by 255; a list of files is read one after another");
    field("labels_file", labels_file, "the targets, if they are not in the file itself");
    field("validation_file", validation_file, "rows for validation, of the same form");
    field("validation_labels_file", validation_labels_file, "targets of the validation rows");
    field("test_file", test_file, "rows for testing, of the same form");
    field("test_labels_file", test_labels_file, "targets of the test rows");
    field("generator", generator, "instead of a file: a made dataset, see `kelvin list generators`");
    field("validation", validation, "rows of the file to keep for validation: a share below 1, or a number of rows");
    field("test", test, "rows of the file to keep for testing: a share below 1, or a number of rows");
    field("split_seed", split_seed, "chooses those rows; below 0 the seed of the run");
    field("rows", rows, "train on the first so many of the rows that are left for training; 0 takes all");
    field("header", header, "whether the first line of a CSV file names the columns: auto, yes or no");
    field("inputs", inputs,
          "columns, by name or number from 0, or the array of an NPZ file; empty: all but the targets");
    field("targets", targets, "likewise; empty: the last column, or the array y");
    field("derived", derived, "further inputs made of the others: \"x1^2\", \"sin(x1)\", \"x1*x2\"");
    field("shape", shape, "what a row of inputs is, if its file does not tell: [channels, height, width] of an image");
    field("layout", layout,
          "how an image lies in its row of a table, or in an array of four dimensions: channels_first, or "
          "channels_last");
    field("targets_are", targets_are,
          "numbers, classes, inputs (an autoencoder: the inputs themselves), or auto: what the loss of the model asks "
          "for");
    field("classes", classes, "keep only rows of these classes, numbered in this order, for example [7, 9]");
    field("standardise", standardise,
          "shift to mean 0 and scale to deviation 1 over the training rows: none, inputs, "
          "targets or both; of images per channel");
    field("channel_means", channel_means,
          "instead of those of the training rows: what is taken from each channel of an image, in the units of its "
          "file (bytes as 0 to 1)");
    field("channel_deviations", channel_deviations, "likewise: what each channel is then divided by");
    field("augment", augment,
          "changes of the images at random, drawn anew at every evaluation in training and never in predictions: "
          "\"flip\", \"crop 4\", see `kelvin list augmentations`");
    field("text", text, "");
  }
};

}  // namespace kelvin
