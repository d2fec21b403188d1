// SPDX-License-Identifier: Apache-2.0
// `kelvin new`: a commented run file to start from. To add a kind, add a row to `kinds`.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "apps/cli/command.h"
#include "kelvin/core/choice.h"
#include "kelvin/io/load.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin::cli {
namespace {

// What the run files differ in.
struct Sketch {
  std::string data, layers, loss, batch;
  double step;
  long steps;
  std::string other = "";  // comments on another reading of the targets, below the loss
};

std::string run_file(const Sketch& s) {
  const bool by_name = s.layers.find('"') != std::string::npos;
  return fmt::format(
      R"(# A run file of kelvin: `kelvin train` minimises the loss, `kelvin sample` draws from the posterior.
# All settings: docs/settings.md. What can stand for each name: `kelvin list losses`, `kelvin list schemes`, ...

seed = 1
steps = {steps}             # after warm-up
warmup = {warmup}
walkers = 4               # independent chains, on as many threads as there are
precision = "float"       # or "double"

[data]
{data}
[model]
layers = {layers}      # {what}
{activation}loss = "{loss}"
{other}prior = {{ name = "gaussian", scale = 1.0 }}   # of every weight and bias

[batch]
size = {batch}             # rows per gradient; "full" for all of them

[part.all]                # groups of weights, each with its own dynamics
blocks = ["*"]            # for example ["layer1.*"] or ["*", "!*.bias"]
scheme = "BAOAB"          # letters of a step, or a name
step = {step}
friction = 1.0
# temperature = "posterior"   # 0 trains, "posterior" (1/N) samples: the default of the two commands
)",
      fmt::arg("steps", s.steps), fmt::arg("warmup", s.steps / 4), fmt::arg("data", s.data),
      fmt::arg("layers", s.layers), fmt::arg("loss", s.loss), fmt::arg("other", s.other), fmt::arg("batch", s.batch),
      fmt::arg("step", s.step),
      fmt::arg("what", by_name ? "see `kelvin list layers`" : "inputs, hidden layers, outputs"),
      fmt::arg("activation", by_name ? "" : "activation = \"relu\"       # of the hidden layers\n"));
}

Sketch spiral(const std::string&) {
  return {"generator = { name = \"spiral\", rows = 500, test = 500, b = 1.0 }   # two arms of b turns\n",
          "[2, 50, 1]",
          "binary_cross_entropy",
          "50",
          0.1,
          20000};
}

// What the target column of a table holds.
struct Target {
  std::size_t classes = 0;  // 0: numbers
  bool whole = false;       // few different whole numbers, which could be either
  double least = 0, most = 0;
};

// Words are classes. Few different whole numbers are, if they count from 0 or 1 without a gap, as class numbers do;
// others are numbers: marks from 3 to 8 have an order, which classes would lose.
Target target_of(const Dataset& rows) {
  constexpr std::size_t few = 10;
  const std::set<double> values(rows.targets.begin(), rows.targets.end());
  if (rows.has_classes()) return {.classes = rows.classes.size()};
  const bool whole = std::ranges::all_of(values, [](double y) { return y == std::floor(y); });
  Target out{.least = *values.begin(), .most = *values.rbegin()};
  if (!whole || values.size() > few || values.size() < 2) return out;
  out.whole = true;
  const bool counted = out.most - out.least == double(values.size() - 1) && (out.least == 0 || out.least == 1);
  out.classes = counted || values.size() == 2 ? values.size() : 0;
  return out;
}

std::string loss_for(const Target& target) {
  return target.classes == 2 ? "binary_cross_entropy" : target.classes ? "softmax_cross_entropy" : "gaussian";
}

// How to have few whole numbers taken in the other way.
std::string other_reading(const Target& target, const Dataset& rows, std::size_t different) {
  const std::string& name = rows.target_names.front();
  const std::size_t inputs = rows.input_count();
  if (target.classes)
    return fmt::format(
        "# \"{}\" has {} different whole numbers, {:g} to {:g}, taken for classes. To predict it as a number:\n"
        "#   loss = \"gaussian\", layers = [{}, 50, 1], and standardise = \"both\" above\n",
        name, different, target.least, target.most, inputs);
  return fmt::format(
      "# \"{}\" has {} different whole numbers, {:g} to {:g}, taken for numbers. To predict classes:\n"
      "#   loss = \"softmax_cross_entropy\", layers = [{}, 50, {}], and standardise = \"inputs\" above\n",
      name, different, target.least, target.most, inputs, different);
}

Sketch csv(const std::string& file) {
  DataSettings settings;
  settings.file = file;
  const Dataset rows = load(settings, false, 0, remark).train;
  const Target target = target_of(rows);
  const std::string data = fmt::format(
      "file = \"{}\"   # {} rows; targets: {} ({})\ntest = 0.2                # share of the rows kept for "
      "testing\nstandardise = \"{}\"\n",
      file, rows.rows, rows.target_names.front(),
      target.classes ? fmt::format("{} classes", target.classes) : "numbers", target.classes ? "inputs" : "both");
  Sketch out{data,
             fmt::format("[{}, 50, {}]", rows.input_count(), target.classes > 2 ? target.classes : 1),
             loss_for(target),
             rows.rows > 500 ? "100" : "\"full\"",
             0.03,
             20000};
  if (!target.whole) return out;
  const std::size_t different = std::set<double>(rows.targets.begin(), rows.targets.end()).size();
  out.other = other_reading(target, rows, different);
  remark(fmt::format(
      "target \"{}\" has {} different whole numbers, {:g} to {:g}: taken for {}; the run file says how "
      "to change that",
      rows.target_names.front(), different, target.least, target.most, target.classes ? "classes" : "numbers"));
  return out;
}

Sketch mnist(const std::string& directory) {
  DataSettings settings;
  settings.file = directory;
  const Dataset rows = load(settings, true, 0, remark).train;
  return {fmt::format("file = \"{}\"   # {} images and their labels\n", directory, rows.rows),
          fmt::format("[{}, 100, {}]", rows.input_count(), rows.classes.size()),
          "softmax_cross_entropy",
          "100",
          0.05,
          20000};
}

// Networks of layers by name.
Sketch images(const std::string& directory) {
  DataSettings settings;
  settings.file = directory;
  const Splits found = load(settings, true, 0, remark);
  const Dataset& rows = found.train;
  if (rows.shape.rank() == 0) throw Error("\"{}\" holds no images; for a table write `kelvin new csv`", directory);
  const bool tested = found.test.rows > 0, large = std::min(rows.shape[1], rows.shape[2]) >= 8;
  std::string data = fmt::format("file = \"{}\"   # {} images, {}\n", directory, rows.rows, rows.shape.text());
  if (!tested) data += "test = 0.2                # share of the rows kept for testing\n";
  data +=
      "standardise = \"inputs\"    # per channel\n# augment = [\"flip\", \"crop 4\"]   # drawn anew at every step\n";
  const std::string pool = large ? "\"max_pool 2\", " : "";
  // With batch norm U would depend on the whole batch, which is no posterior.
  const std::string layers = fmt::format(
      "[\"conv 3x3 16 padding same\", \"filter_response_norm\", {}\"conv 3x3 32 padding same\", "
      "\"filter_response_norm\", \"global_pool\", \"dense {}\"]",
      pool, rows.classes.size());
  return {data, layers, "softmax_cross_entropy", rows.rows > 500 ? "100" : "\"full\"", 0.03, 20000};
}

Sketch text(const std::string& file) {
  DataSettings settings;
  settings.file = file;
  settings.text.unit = "characters";
  settings.validation = settings.test = 0.05;
  const Dataset rows = load(settings, true, 0, remark).train;
  const std::string data = fmt::format(
      "file = \"{}\"   # {} characters, {} different ones\ntext = {{ unit = \"characters\", steps = {} }}   # or "
      "words\nvalidation = 0.05         # at the end of the text\ntest = 0.05\n",
      file, rows.rows * rows.steps, rows.vocabulary.size(), rows.steps);
  return {data,
          fmt::format("[\"embedding {0} 32\", \"lstm 64\", \"dense {0}\"]", rows.vocabulary.size()),
          "softmax_cross_entropy",
          rows.rows > 50 ? "50" : "\"full\"",
          0.1,
          20000};
}

struct Kind {
  std::string_view name, takes, meaning;
  Sketch (*sketch)(const std::string& source);
};
const Kind kinds[] = {
    {"spiral", "", "two spirals made by formula", spiral},
    {"csv", "a CSV file whose last column is the target", "your own table", csv},
    {"mnist", "a directory with the four files of MNIST or Fashion-MNIST", "images, for fully connected layers", mnist},
    {"images", "a directory of images: CLASS/*.png, or the files of CIFAR or MNIST", "images, for convolutions",
     images},
    {"text", "a text file", "a text, to predict the next character", text},
};

struct NewArguments {
  std::string kind, source, out;
  bool force = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("kind", kind, "spiral, csv, mnist, images or text", argument);
    field("source", source, "the data: a CSV or text file, or a directory of images", optional_argument);
    field("out", out, "file to write (default: the terminal)");
    field("force", force, "replace the file");
  }
};

void write_run_file(const NewArguments& arguments) {
  const Kind& kind = row_named(arguments.kind, std::span<const Kind>(kinds), "kind of run file");
  if (kind.takes.empty() != arguments.source.empty())
    throw Error("kelvin new {} takes {}", kind.name,
                kind.takes.empty() ? "no data: it is made by formula" : kind.takes);
  const std::string text = run_file(kind.sketch(arguments.source));
  if (arguments.out.empty()) return print(text);
  if (std::filesystem::exists(arguments.out) && !arguments.force)
    throw Error("\"{}\" exists already; give another --out, or --force to replace it", arguments.out);
  write_file(arguments.out, text);
  print(fmt::format("wrote {}; try: kelvin sample {}\n", arguments.out, arguments.out));
}

}  // namespace

Command new_command() {
  return {.name = "new",
          .summary = "write a commented run file to start from",
          .footer = "Example:  kelvin new csv houses.csv -o houses.toml",
          .call = calls(write_run_file)};
}

}  // namespace kelvin::cli
