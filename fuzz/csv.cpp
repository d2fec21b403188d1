// SPDX-License-Identifier: Apache-2.0
#include "kelvin/io/csv.h"

#include <algorithm>

#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kelvin;
  for (const Header header : {Header::automatic, Header::yes, Header::no})
    survives([&] {
      const Csv csv = parse_csv(std::string(text_of(data, size)), "f.csv", header);
      must(csv.rows() > 0 && csv.columns() > 0 && csv.ends.size() == csv.rows() * csv.columns());
      must(csv.ends.back() == csv.text.size());
      for (std::size_t k = 0; k < std::min<std::size_t>(csv.ends.size(), 16); ++k)
        survives([&] { csv.number(k / csv.columns(), k % csv.columns()); });
    });
  return 0;
}
