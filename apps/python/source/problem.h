// SPDX-License-Identifier: Apache-2.0
// What potentials and chains have in common: a problem made of what Python says.
#pragma once
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>

#include "apps/python/source/arrays.h"
#include "apps/python/source/own.h"
#include "apps/python/source/value.h"
#include "kelvin/run/problem.h"
#include "kelvin/trajectory/inputs.h"

namespace kelvin::python {

// Of one thread at a time: a second one is refused, not made to wait.
class InUse {
 public:
  InUse(std::atomic<bool>& flag, const char* what) : flag_(flag) {
    if (flag_.exchange(true))
      throw Error("this {} is being used by another thread; give each thread one of its own", what);
  }
  ~InUse() { flag_ = false; }

 private:
  std::atomic<bool>& flag_;
};

// Reads `file` in place of data.file: rows that were given as arrays.
inline LoadData load_instead(LoadData load, const std::string& file) {
  return [=](const DataSettings& data, bool classes, std::uint64_t seed, const Remark& remark) {
    DataSettings there = data;
    there.file = file;
    return load(there, classes, seed, remark);
  };
}

// `given`: directory, from which files are named; data: file that is read in place of data.file, if there is one.
template <class Real>
Problem<Real> problem_of(const RunSettings& settings, const nb::dict& given, std::shared_ptr<const Model> model,
                         RunEnvironment& environment) {
  environment = inputs_from(nb::cast<std::string>(given["directory"]));
  if (given.contains("data")) environment.data = load_instead(environment.data, nb::cast<std::string>(given["data"]));
  const nb::gil_scoped_release unlocked;
  return make_problem<Real>(
      settings, environment.data, [](std::string_view) {}, Slack::kept, std::move(model));
}

template <class Real>
std::vector<Real> start_of(const Problem<Real>& problem, const RunEnvironment& environment, std::uint32_t walker) {
  return problem.starting_point(
      walker, [&](const std::string& place, const Block& block) { return environment.block(place, block, 0, 1); });
}

template <class Real>
std::vector<Real> flat(nb::handle array, std::size_t size, const char* what) {
  Given<Real> numbers;
  if (!nb::try_cast(array, numbers))
    throw Error("{} must be an array of {} numbers, not {}", what, size, nb::repr(array.type()).c_str());
  if (numbers.size() != size)
    throw Error("{} has {} numbers; {} are needed, one for each parameter", what, numbers.size(), size);
  return {numbers.data(), numbers.data() + size};
}

nb::list told_blocks(const std::vector<Block>&);

// An object of Python on a problem in the precision of its settings.
template <class Interface, template <class> class Of>
std::unique_ptr<Interface> make(nb::dict settings, nb::dict given, nb::object potential, nb::object letters) {
  RunSettings read = read_run_settings(to_value(settings, "settings"));
  complete(read, run_kind(nb::cast<std::string>(given["command"])));
  const auto raised = std::make_shared<Raised>();
  std::shared_ptr<const Model> model = model_of(potential, letters, raised);
  if (read.precision == "float") return std::make_unique<Of<float>>(read, given, std::move(model), raised);
  return std::make_unique<Of<double>>(read, given, std::move(model), raised);
}

}  // namespace kelvin::python
