// SPDX-License-Identifier: Apache-2.0
// Targets as losses want them.
#include <fmt/ranges.h>

#include <cmath>

#include "kelvin/energy/loss.h"

namespace kelvin {
namespace {

// Class numbers, checked; of two classes in one column as they are written there.
std::vector<double> labels_of(const Dataset& data, Targets kind) {
  const std::size_t steps = std::max<std::size_t>(1, data.steps);
  std::vector<double> out = data.targets;
  for (std::size_t i = 0; i < out.size(); ++i) {
    double& label = out[i];
    if (!(label >= 0 && label < double(data.classes.size()) && label == std::floor(label)))
      throw Error("row {} has class number {}; with {} classes it must be 0 to {}", i / steps, label,
                  data.classes.size(), data.classes.size() - 1);
    if (kind == Targets::minus_plus) label = 2 * label - 1;
  }
  return out;
}

void check_steps(const Dataset& data) {
  if (!data.has_classes())
    throw Error(
        "the data have a target for each of {} steps, which must be classes, but they are numbers; load them as "
        "classes",
        data.steps);
  if (data.targets.size() != data.rows * data.steps)
    throw Error("the data have {} targets, but {} rows of {} steps need {}; give one for each step",
                data.targets.size(), data.rows, data.steps, data.rows * data.steps);
}

// Numbers where the loss wants two classes: fine if they already are what the loss works with.
std::vector<double> checked_labels(const Loss& loss, const Dataset& data) {
  const double low = loss.targets == Targets::minus_plus ? -1 : 0;
  if (loss.targets == Targets::class_number || data.target_count() != 1)
    throw Error(
        "loss \"{}\" needs classes, but the targets ({}) are numbers; load one column as classes, or use a loss for "
        "numbers such as mean_squared",
        loss.name, fmt::join(data.target_names, ", "));
  for (std::size_t i = 0; i < data.rows; ++i) {
    const double y = data.targets[i];
    if ((y != low && y != 1) || data.target_units.original(0, y) != y)
      throw Error(
          "loss \"{}\" needs two classes or targets that are {:g} and 1, but row {} of \"{}\" is {:g}; load the "
          "column as classes and do not rescale it",
          loss.name, low, i, data.target_names[0], data.target_units.original(0, y));
  }
  return data.targets;
}

// Whole numbers from 0 on, as they are in the file.
void check_counts(const Loss& loss, const Dataset& data) {
  if (!data.target_units.mean.empty())
    throw Error(
        "loss \"{}\" counts, so targets must stay as they are; set data.standardise to \"inputs\" or leave it out",
        loss.name);
  for (std::size_t i = 0; i < data.targets.size(); ++i)
    if (const double y = data.targets[i]; !(y >= 0 && y == std::floor(y)))
      throw Error(
          "loss \"{}\" needs counts, whole numbers from 0 on, but row {} of \"{}\" is {:g}; use gaussian or student_t "
          "for other numbers",
          loss.name, i / data.target_count(), data.target_names[i % data.target_count()], y);
}

void check_outputs(const Loss& loss, std::size_t outputs, std::size_t needed, const std::string& because) {
  if (outputs != needed)
    throw Error("the last layer has {} outputs, but loss \"{}\" needs {}: {}; make the last of model.layers {}",
                outputs, loss.name, needed, because, needed);
}

}  // namespace

Encoded encode(const Loss& loss, const Dataset& data, std::size_t outputs, const Remark& remark) {
  const std::size_t classes = data.classes.size();
  const std::string names = fmt::format("{}", fmt::join(data.classes, ", "));
  Encoded out{.kind = loss.targets, .width = 1, .values = {}};
  if (data.steps > 0) check_steps(data);
  if (loss.wants_classes()) {
    if (!data.has_classes()) {
      out.values = checked_labels(loss, data);
      check_outputs(loss, outputs, 1, "one number tells two classes apart");
      return out;
    }
    const bool one_each = loss.targets == Targets::class_number;
    if (classes < 2 || (!one_each && classes > 2))
      throw Error("loss \"{}\" needs {} classes, but the data have {} ({}){}", loss.name,
                  one_each ? "two or more" : "two", classes, names, classes > 2 ? "; use softmax_cross_entropy" : "");
    check_outputs(loss, outputs, one_each ? classes : 1,
                  one_each ? fmt::format("one for each class ({})", names) : "one number tells two classes apart");
    out.values = labels_of(data, loss.targets);
    return out;
  }
  if (outputs < loss.fewest)
    throw Error("loss \"{}\" needs at least {} outputs, but the last layer has {}", loss.name, loss.fewest, outputs);
  if (data.has_classes()) {
    if (loss.own_widths || loss.counts)
      throw Error("loss \"{}\" is for numbers, but the targets are classes ({}); use a loss for classes such as {}",
                  loss.name, names, classes == 2 ? "binary_cross_entropy" : "softmax_cross_entropy");
    if (outputs == classes && classes > 1) out.kind = Targets::one_hot;
    else if (outputs == 1 && classes == 2) out.kind = Targets::minus_plus;
    else
      throw Error(
          "loss \"{}\" is for numbers; with {} classes ({}) it fits {} outputs, one for each class,{} but the last "
          "layer has {}",
          loss.name, classes, names, classes, classes == 2 ? " or one output," : "", outputs);
    out.values = labels_of(data, out.kind);
    if (remark)
      remark(out.kind == Targets::one_hot
                 ? fmt::format(
                       "loss \"{}\" is for numbers: each class ({}) becomes one target column, 1 for the class and 0 "
                       "for the others",
                       loss.name, names)
                 : fmt::format("loss \"{}\" is for numbers: class {} becomes -1 and class {} becomes +1", loss.name,
                               data.classes[0], data.classes[1]));
    return out;
  }
  check_outputs(
      loss, outputs, data.target_count() * loss.outputs_each(),
      fmt::format("{} for each target column ({})", loss.own_widths ? "a mean and the logarithm of a width" : "one",
                  fmt::join(data.target_names, ", ")));
  if (loss.counts) check_counts(loss, data);
  out.width = data.target_count();
  out.values = data.targets;
  return out;
}

}  // namespace kelvin
