// SPDX-License-Identifier: Apache-2.0
// Losses: how far outputs are from targets, what kind of targets each takes, and what is left to say about a fit in the
// original units. To add one, write its value and slope for one row of data and add a row in loss.cpp.
#pragma once
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kelvin/core/error.h"
#include "kelvin/data/dataset.h"
#include "kelvin/energy/noise_law.h"
#include "kelvin/function/settings.h"

namespace kelvin {

// What the numbers in the target columns are.
enum class Targets {
  numbers,       // one column per output
  zero_one,      // two classes in one column: 0 and 1
  minus_plus,    // two classes in one column: -1 and +1
  one_hot,       // one column per class: 1 for the right one, else 0
  class_number,  // the number of the right class in one column, one output per class
};

// Noise of one target, for losses that have one: the logarithm of its scale, 1 / scale^2, and the number that its law
// takes besides (degrees of freedom, dispersion).
struct Scale {
  double log = 0, precision = 1, shape = 0;
};

// A number of the noise besides its scale, fixed by a setting or learned in a block of its own, one for each target.
struct NoiseShape {
  std::string_view setting;      // of [model]
  double ModelSettings::*given;  // its value there; 0 learns it
  double lowest;                 // it must be above
  std::string_view block;        // where it is learned, as a number x
  double (*of)(double x);        // the shape
  double (*slope)(double x);     // its derivative by x
  std::string_view meaning;
};

// Some rows of outputs, `width` numbers each, and of targets: as many, half as many where outputs are a place and a
// width, or one where they are class numbers.
template <class Real>
struct LossRows {
  std::size_t rows, width;
  const Real *outputs, *targets;
  Real* slopes;                         // written: d loss of its row / d output
  std::span<const Scale> scales;        // one per target
  std::span<double> log_scale_slopes;   // added to: d loss / d log scale, one per target; empty when not wanted
  std::span<double> shape_slopes = {};  // added to: d loss / d shape, likewise
};

// Probabilities of the classes of some rows, from outputs of `width` numbers a row; one output stands for two classes.
template <class Real>
using Probabilities = void (*)(std::size_t rows, std::size_t width, const Real* outputs, Real* probabilities);

struct Loss {
  std::string_view name;
  Targets targets;
  std::string_view output;  // the output activation it is made for; empty: any
  std::string_view escape;  // why outputs may run away at no cost; empty: it grows without bound with |output - target|
  double threshold;         // one output and two classes: the second class is predicted above this
  std::size_t fewest;       // outputs
  bool has_scale;           // of the noise, one per target, fixed or learned
  const NoiseShape* shape;  // null: its noise has none
  bool own_widths;          // two outputs per target: all places first, then the logarithms of all widths
  bool counts;              // targets are whole numbers from 0 on, and outputs logarithms of their means
  double (*sum_float)(const LossRows<float>&);  // over the rows; writes the slopes
  double (*sum_double)(const LossRows<double>&);
  Probabilities<float> probabilities_float;  // null for losses that are no -log probability of a class
  Probabilities<double> probabilities_double;
  const NoiseLaw* noise;  // exp(-loss / temperature) as a density of the targets; null if it is none
  double (*noise_scale)(double temperature, double outputs);  // of that law; null when the loss knows its noise itself
  std::string_view meaning;

  bool wants_classes() const { return targets != Targets::numbers; }
  std::size_t outputs_each() const { return own_widths ? 2 : 1; }
  std::size_t targets_of(std::size_t outputs) const { return outputs / outputs_each(); }
  bool confines() const { return escape.empty(); }
  template <class Real>
  auto sum() const {
    if constexpr (std::is_same_v<Real, float>) return sum_float;
    else return sum_double;
  }
  template <class Real>
  auto probabilities() const {
    if constexpr (std::is_same_v<Real, float>) return probabilities_float;
    else return probabilities_double;
  }
};

std::span<const Loss> losses();
const Loss& loss_named(std::string_view name);

// Widths and rates, whose logarithms are outputs, end there: e^30 is beyond any data, and its square a float.
inline constexpr double furthest_log = 30;

// The outputs of a row, in stored units, become those in original units of the targets.
void to_original(const Loss&, const Units&, std::span<double> outputs);
// What such a row says of target k; `scale` is in stored units as well.
NoiseAt noise_at(const Loss&, const Units&, std::span<const double> original_outputs, std::size_t k, const Scale&);

// The targets of a dataset as `loss` wants them, for a network with that many outputs (of a step, where each has a
// target). Refuses what does not fit; remarks on classes that were turned into numbers.
struct Encoded {
  Targets kind;
  std::size_t width;           // numbers of a target as kept: of classes, which become many columns, the class number
  std::vector<double> values;  // width for each row, or step
};
Encoded encode(const Loss&, const Dataset&, std::size_t outputs, const Remark&);

}  // namespace kelvin
