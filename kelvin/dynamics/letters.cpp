// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/letters.h"

#include "kelvin/core/error.h"
#include "kelvin/core/isa.h"

namespace kelvin {

KELVIN_FOR_EACH_ISA(std::span<const Letter> letters())

namespace {

std::span<const Letter> flows() { KELVIN_RETURN_BEST(letters()); }

}  // namespace

// In the order in which they act. To add one, write chain/companions/NAME.cpp and add its name.
// clang-format off
#define KELVIN_COMPANIONS(row) \
  row(jitter) \
  row(tempo) \
  row(tempering) \
  row(gradient_noise) \
  row(unit_speed) \
  row(metropolis) \
  row(persistent_slice) \
  row(no_u_turn) \
  row(adaptation)
// clang-format on
#define KELVIN_DECLARE(name) extern const CompanionRow name##_row;
#define KELVIN_LIST(name) &name##_row,
KELVIN_COMPANIONS(KELVIN_DECLARE)

std::span<const CompanionRow* const> companion_rows() {
  static constexpr const CompanionRow* rows[] = {KELVIN_COMPANIONS(KELVIN_LIST)};
  return rows;
}

std::span<const Letter> letters() {
  static const std::vector<Letter> all = [] {
    std::vector<Letter> out(flows().begin(), flows().end());
    for (const CompanionRow* row : companion_rows())
      for (const Letter& letter : row->letters) out.emplace_back(letter).companion = row;
    return out;
  }();
  return all;
}

void OwnLetters::add(const Letter& row, OwnFlow flow) {
  constexpr std::string_view grammar = "()[]{}<>0123456789 ";
  if (grammar.find(row.symbol) != std::string_view::npos || row.symbol < '!' || row.symbol > '~')
    throw Error("'{}' means something else in a scheme; give the letter another symbol, such as Q", row.symbol);
  if (!flow.with_float || !flow.with_double)
    throw Error("letter '{}' needs a flow for float and one for double", row.symbol);
  flows_.push_back(std::make_unique<OwnFlow>(std::move(flow)));
  std::erase_if(rows_, [&](const Letter& other) { return other.symbol == row.symbol; });
  rows_.push_back(row);
  rows_.back().own = flows_.back().get();
}

}  // namespace kelvin
