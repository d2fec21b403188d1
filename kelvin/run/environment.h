// SPDX-License-Identifier: Apache-2.0
// What a run is given from outside. It opens no file and reads no clock by itself: whoever starts it says where rows,
// draws of other runs and the time come from (trajectory/inputs.h: from files).
#pragma once
#include <functional>

#include "kelvin/run/model.h"
#include "kelvin/run/settings.h"
#include "kelvin/run/size.h"

namespace kelvin {

// The rows of [data]. `wants_classes`: the loss is one for classes, so that whole numbers among the targets are labels.
using LoadData = std::function<Splits(const DataSettings&, bool wants_classes, std::uint64_t seed, const Remark&)>;

struct RunEnvironment {
  LoadData data;
  // Values of a block from a place such as "RUN:draw", for one of so many walkers.
  std::function<std::vector<double>(const std::string& place, const Block&, std::size_t walker, std::size_t walkers)>
      block;
  std::function<std::vector<double>(const std::string& run, std::size_t walker)> bias;  // of a tempered run
  std::function<RunSettings(const RunSettings&)> pilot;  // the settings with the pilot of the run the bias comes from
  std::function<std::string(const Splits&)> checksum;
  std::function<double()> seconds = [] { return 0.0; };  // since the run began
  std::size_t threads = 1;
  std::shared_ptr<const Model> model;  // that settings cannot say; null: they say all
  Room room;                           // a run that needs more is refused
};

}  // namespace kelvin
