// SPDX-License-Identifier: Apache-2.0
// The draws of an array, a piece at a time: memory stays bounded however long the run.
#pragma once
#include <functional>

#include "kelvin/numeric/statistics.h"
#include "kelvin/trajectory/samples.h"

namespace kelvin {

std::size_t width_of(const Samples&, const std::string& array);  // numbers in a draw

// Calls visit(first draw, draws x width numbers) for one piece after another.
void each_piece(const Samples&, const std::string& array, std::size_t walker,
                const std::function<void(std::size_t, std::span<const double>)>& visit);

// The draws of some of its columns, each as chains.
std::vector<Chains> columns(const Samples&, const std::string& array, std::span<const std::size_t> which);
std::vector<Chains> columns(const Samples&, const std::string& array);  // of all

struct Quantity {
  std::string name;
  Chains chains;
};
// What a network says, if the run stored it: up to ten evenly spaced predictions, and the log-likelihood of all rows.
std::vector<Quantity> stored_predictions(const Samples&);

}  // namespace kelvin
