// SPDX-License-Identifier: Apache-2.0
// A run file; what follows a NUL is an override from the command line.
#include "kelvin/run/settings.h"

#include "fuzz/target.h"
#include "kelvin/core/toml.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  const std::string_view text = text_of(data, size);
  return survives([&] {
    Value file = parse_toml(text.substr(0, text.find('\0')), "run.toml");
    for (std::size_t at = text.find('\0'); at != text.npos; at = text.find('\0', at + 1))
      override_with(file, std::string(text.substr(at + 1, text.find('\0', at + 1) - at - 1)));
    const RunSettings settings = read_run_settings(file);
    // The record of a run must say the same settings.
    const Value record = as_value(settings);
    must(as_value(read_run_settings(recorded_settings(record))) == record);
  });
}
