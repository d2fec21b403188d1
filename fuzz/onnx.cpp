// SPDX-License-Identifier: Apache-2.0
// A network in ONNX: what is read of one must be a list of layers.
#include "kelvin/io/onnx.h"

#include "fuzz/target.h"
#include "kelvin/function/layers.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  const std::string_view bytes = text_of(data, size);
  return survives([&] {
    const OnnxNetwork network = parse_onnx(bytes, "f.onnx");
    auto plans = plan_layers(Value(network.layers), network.input);
    number_layers(plans);
    for (const auto& [name, array] : network.weights) {
      std::size_t count = 1;
      for (const std::size_t extent : array.shape) count *= extent;
      must(array.values.size() == count);
    }
  });
}
