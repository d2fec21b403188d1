// SPDX-License-Identifier: Apache-2.0
// What tests of `kelvin landscape` need: a toy and a small network that have run, and what is found of them.
#pragma once
#include <gmock/gmock.h>

#include "kelvin/io/npy.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {

inline void save(const Desk& desk, const std::string& name, const std::map<std::string, std::vector<double>>& arrays) {
  std::map<std::string, ArrayView<double>> views;
  for (const auto& [key, values] : arrays) views[key] = {{values.size()}, values};
  write_npz(desk.path(name), views);
}

// What `kelvin landscape ...` finds.
inline Json found(const Desk& desk, const std::string& arguments) {
  const Outcome got = desk.kelvin("landscape " + arguments + " --json");
  EXPECT_EQ(got.code, 0) << arguments << ": " << got.error;
  return got.code == 0 ? Json::parse(got.out) : Json();
}

inline Json row_with(const Json& table, const std::string& key, const std::string& value) {
  for (const Json& row : table.at("rows"))
    if (row.at(key) == value) return row;
  ADD_FAILURE() << "no row with " << value;
  return {};
}

inline Json figure(const Json& finding, const std::string& name) {
  for (const Json& f : finding.at("figures"))
    if (f.at("name") == name) return f;
  throw Error("no figure {}", name);
}

inline double evaluated(const Desk& desk, const std::string& file, const std::string& arguments,
                        const std::string& quantity = "loss") {
  const Outcome got = desk.kelvin("evaluate " + file + " --json " + arguments);
  EXPECT_EQ(got.code, 0) << got.error;
  return Json::parse(got.out).at(quantity);
}

inline void sample_toy(const Desk& desk, const std::string& toy, const std::string& rest = "steps = 10\nevery = 1\n") {
  desk.write("toy.toml", rest + "model = { toy = " + toy + " }\npart.all = { temperature = 1, step = 0.1 }\n");
  const Outcome ran = desk.kelvin("sample toy.toml -q -o run --force");
  ASSERT_EQ(ran.code, 0) << ran.error;
}

// Two walkers on a small network, in double so that numbers can be compared to the last digits.
inline const std::string net = R"(seed = 3
precision = "double"
steps = 300
every = 100
walkers = 2
data = { generator = { name = "spiral", rows = 60, test = 50 } }
model = { layers = [2, 8, 4, 1], activation = "tanh", loss = "binary_cross_entropy", prior = 1.0 }
[part.all]
step = 0.2
)";
inline void train_net(const Desk& desk) {
  desk.write("net.toml", net);
  const Outcome ran = desk.kelvin("train net.toml -q -o run");
  ASSERT_EQ(ran.code, 0) << ran.error;
}

}  // namespace kelvin
