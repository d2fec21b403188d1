// SPDX-License-Identifier: Apache-2.0
// What is measured: Kelvin's own work, and the bounds it is held against. Names with the same text exist in
// torch_steps.py and jax_steps.py.
#pragma once
#include <functional>
#include <span>
#include <string>

namespace kelvin::bench {

struct Case {
  std::string name;
  std::function<std::function<void()>()> prepare;  // returns one unit of the work
};

std::span<const Case> cases();

}  // namespace kelvin::bench
