// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/mask.h"

#include <algorithm>
#include <cmath>

namespace kelvin {
namespace {

using Factors = std::span<double>;

// An input of the layer is left out with probability `share`: a column of its weights; the others are scaled up, so
// that the mean over masks is the whole network. Biases are left alone.
void dropout(const MaskDraw& draw, Factors on_q, Factors on_g) {
  if (!draw.block.is_matrix()) return;
  const double share = draw.numbers[0];
  for (std::size_t j = 0; j < draw.block.columns(); ++j) {
    const double factor = uniform(draw.stream, j) < share ? 0 : 1 / (1 - share);
    for (std::size_t i = j; i < on_q.size(); i += draw.block.columns()) on_q[i] = on_g[i] = factor;
  }
}

// A new subset of the entries is taken as 0 at every evaluation, and does not move.
void connections(const MaskDraw& draw, Factors on_q, Factors on_g) {
  for (std::size_t i = 0; i < on_q.size(); ++i) on_q[i] = on_g[i] = uniform(draw.stream, i) < draw.numbers[0] ? 0 : 1;
}

// The subset is taken as 0 and does not move for `every` evaluations; then comes one of the whole, in which the subset
// moves `every` times as far as the rest, and a new subset is drawn.
void subset(const MaskDraw& draw, Factors on_q, Factors on_g) {
  const double every = draw.numbers[1];
  Stream stream = draw.stream;
  const auto period = std::uint64_t(every) + 1;
  const bool whole = stream.step % period == period - 1;
  stream.step /= period;
  for (std::size_t i = 0; i < on_q.size(); ++i) {
    const bool slow = uniform(stream, i) < draw.numbers[0];
    on_q[i] = whole || !slow ? 1 : 0;
    on_g[i] = slow ? (whole ? every : 0) : 1;
  }
}

constexpr Parameter share_only[] = {{"share", "", "probability that an entry is left out"}};
constexpr Parameter subset_takes[] = {{"share", "", "probability that an entry is in the subset"},
                                      {"every", "5.0", "evaluations without the subset between two of the whole"}};
constexpr Mask all_masks[] = {
    {"dropout", share_only, dropout,
     "inputs of these layers are left out, a new set at each evaluation, the others scaled by 1 / (1 - share)"},
    {"connections", share_only, connections,
     "weights are left out, a new set at each evaluation, the others as they are"},
    {"subset", subset_takes, subset,
     "random-subset multirate: a subset is left out for `every` evaluations, then makes one step `every` times as "
     "long"},
};

}  // namespace

std::span<const Mask> masks() { return all_masks; }

DrawnMask mask_of(const Choice& given, const Block& block) {
  const Mask& row = row_named(given.name, masks(), "mask", given.where);
  const Choice full = given.completed(row.parameters, "mask");
  DrawnMask out{&row, {}, std::vector<double>(block.size()), std::vector<double>(block.size())};
  for (const Parameter& p : row.parameters) out.numbers.push_back(full.number(p.name));
  if (!(out.numbers[0] >= 0 && out.numbers[0] < 1))
    throw Error("mask \"{}\": share is {:g}; it must be at least 0 and below 1", row.name, out.numbers[0]);
  if (out.numbers.size() > 1 && !(out.numbers[1] >= 1 && out.numbers[1] == std::floor(out.numbers[1])))
    throw Error("mask \"{}\": every is {:g}; it must be a whole number, at least 1", row.name, out.numbers[1]);
  return out;
}

void DrawnMask::draw(const Block& block, const Stream& stream) {
  std::fill(on_q.begin(), on_q.end(), 1.0);
  std::fill(on_g.begin(), on_g.end(), 1.0);
  row->factors({block, stream, numbers.data()}, on_q, on_g);
}

}  // namespace kelvin
