// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/mask.h"

#include <algorithm>
#include <cmath>

#include "kelvin/energy/decorated.h"

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

template <class Real>
class WithMasks final : public Decorated<Real> {
  struct Held {
    const Mask* row;
    std::vector<double> numbers, on_q, on_g;
  };

 public:
  WithMasks(std::unique_ptr<Potential<Real>> inner, const std::vector<BlockMask>& given)
      : Decorated<Real>(std::move(inner)) {
    for (const BlockMask& m : given) {
      const Mask& row = row_named(m.mask.name, masks(), "mask", m.mask.where);
      const Choice full = m.mask.completed(row.parameters, "mask");
      const Block& block = this->changed_.emplace_back(block_named(m.block, this->blocks()));
      Held held{&row, {}, std::vector<double>(block.size()), std::vector<double>(block.size())};
      for (const Parameter& p : row.parameters) held.numbers.push_back(full.number(p.name));
      if (!(held.numbers[0] >= 0 && held.numbers[0] < 1))
        throw Error("mask \"{}\": share is {:g}; it must be at least 0 and below 1", row.name, held.numbers[0]);
      if (held.numbers.size() > 1 && !(held.numbers[1] >= 1 && held.numbers[1] == std::floor(held.numbers[1])))
        throw Error("mask \"{}\": every is {:g}; it must be a whole number, at least 1", row.name, held.numbers[1]);
      held_.push_back(std::move(held));
    }
  }

  bool noisy() const override { return true; }
  void prepare(const Evaluation& next) override {
    Decorated<Real>::prepare(next);
    for (std::size_t k = 0; k < held_.size(); ++k) {
      Held& h = held_[k];
      std::fill(h.on_q.begin(), h.on_q.end(), 1.0), std::fill(h.on_g.begin(), h.on_g.end(), 1.0);
      Stream stream = next.stream;
      stream.place = std::uint16_t(k);
      h.row->factors({this->changed_[k], stream, h.numbers.data()}, h.on_q, h.on_g);
    }
  }
  double operator()(std::span<const Real> q, Batch rows, std::span<Real> g) override {
    masked_.assign(q.begin(), q.end());
    const auto multiply = [&](std::span<Real> by, std::vector<double> Held::*factors) {
      for (std::size_t k = 0; k < held_.size(); ++k)
        for (std::size_t i = 0; i < (held_[k].*factors).size(); ++i)
          by[this->changed_[k].offset + i] *= Real((held_[k].*factors)[i]);
    };
    multiply(masked_, &Held::on_q);
    const double u = (*this->inner_)(masked_, rows, g);
    multiply(g, &Held::on_g);
    return u;
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<WithMasks>(*this); }

 private:
  std::vector<Held> held_;  // of each changed block
  std::vector<Real> masked_;
};

}  // namespace

std::span<const Mask> masks() { return all_masks; }

template <class Real>
std::unique_ptr<Potential<Real>> with_masks(std::unique_ptr<Potential<Real>> inner,
                                            const std::vector<BlockMask>& given) {
  return std::make_unique<WithMasks<Real>>(std::move(inner), given);
}

template std::unique_ptr<Potential<float>> with_masks(std::unique_ptr<Potential<float>>, const std::vector<BlockMask>&);
template std::unique_ptr<Potential<double>> with_masks(std::unique_ptr<Potential<double>>,
                                                       const std::vector<BlockMask>&);

}  // namespace kelvin
