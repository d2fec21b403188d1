// SPDX-License-Identifier: Apache-2.0
#include "fuzz/target.h"
#include "kelvin/trajectory/import.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  return survives([&] {
    const Csv csv = parse_csv(std::string(text_of(data, size)), "f.csv");
    const ImportedDraws draws = draws_in(csv);
    must(draws.chains * draws.draws == csv.rows());
    for (const auto* arrays : {&draws.blocks, &draws.statistics})
      for (const ImportedArray& array : *arrays) must(array.values.size() == csv.rows() * array.size());
  });
}
