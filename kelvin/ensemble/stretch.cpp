// SPDX-License-Identifier: Apache-2.0
// The stretch move (Goodman and Weare 2010), which an affine change of coordinates leaves as it is. At a meeting the
// walkers k of one half of an ensemble, then those of the other, propose
//   y = x_j + z (x_k - x_j),   z in [1/a, a] with density ~ 1/sqrt(z),
// with j any walker of the half that rests, and take it with probability min(1, z^(d-1) exp(-(U(y) - U(x_k))/T)), for d
// coordinates that move. Momenta stay: their law does not depend on the position.
#include <algorithm>
#include <cmath>

#include "kelvin/core/noise.h"
#include "kelvin/core/pack.h"
#include "kelvin/ensemble/exchange.h"

namespace kelvin {
namespace {

template <class Real>
class StretchMove final : public Coupling<Real> {
 public:
  using typename Coupling<Real>::Walkers;

  explicit StretchMove(const CoupledRun& run)
      : settings_(run.settings.coupling),
        seed_(std::uint64_t(run.settings.seed)),
        scale_(settings_.method.number("scale")),
        temperature_(constant_temperature(run.recipe, "coupling")),
        each_(std::size_t(run.settings.walkers / settings_.ensembles)),
        comm_(&run.comm) {
    if (!(scale_ > 1) || !std::isfinite(scale_))
      throw Error("coupling.method: the scale of a stretch must be above 1, not {}", scale_);
    for (const PartRecipe& part : run.recipe.parts) {
      std::vector<char> moves(part.size, 1);
      for (const std::uint32_t i : part.frozen) moves[i] = 0;
      for (std::size_t i = 0; i < part.size; ++i)
        if (moves[i]) moving_.push_back(part.offset + i);
    }
  }

  std::uint64_t next_meeting(std::uint64_t after) const override { return after - after % refresh() + refresh(); }
  bool due(std::size_t, std::uint64_t step) const override { return step % refresh() == 0 && step != state_.step; }

  void meet(Walkers mine, std::size_t, std::uint64_t step, Threads& threads) override {
    for (const std::uint32_t half : {0u, 1u}) {
      const auto positions = all_positions(mine);
      std::vector<Chain<Real>*> moved;
      for (Chain<Real>& chain : mine)
        if (chain.walker() % each_ % 2 == half) moved.push_back(&chain);
      std::vector<char> accepted(moved.size(), 0);
      comm_->together(
          [&] { threads.each(moved.size(), [&](std::size_t k) { accepted[k] = move(*moved[k], positions, step); }); });
      state_.accepted += total(std::uint64_t(std::ranges::count(accepted, 1)));
      state_.tried += total(moved.size());
    }
    state_.step = step;
  }

  void read(Value::Group& line) const override {
    if (state_.tried == 0) return;
    line["stretch"] =
        Value::Group{{"attempts", state_.tried}, {"acceptance", double(state_.accepted) / double(state_.tried)}};
  }

  std::string state() const override {
    Packer pack;
    pack(state_);
    return pack.bytes;
  }

  void restore(const std::string& bytes, Walkers) override { Unpacker{bytes}(state_); }

 private:
  struct State {
    std::uint64_t step = 0, tried = 0, accepted = 0;
  };
  std::uint64_t refresh() const { return std::uint64_t(settings_.refresh); }

  std::uint64_t total(std::uint64_t mine) const {
    Packer pack;
    pack(mine);
    std::uint64_t sum = 0;
    for (const std::string& bytes : comm_->everyone(pack.bytes)) {
      std::uint64_t theirs = 0;
      Unpacker{bytes}(theirs);
      sum += theirs;
    }
    return sum;
  }

  // By the number of the walker.
  std::vector<std::vector<Real>> all_positions(Walkers mine) const {
    Packer pack;
    for (Chain<Real>& chain : mine) {
      const auto q = chain.q();
      pack(chain.walker());
      pack(std::vector<Real>(q.begin(), q.end()));
    }
    std::vector<std::vector<Real>> all(each_ * std::size_t(settings_.ensembles));
    for (const std::string& bytes : comm_->everyone(pack.bytes))
      for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
        std::uint32_t walker = 0;
        unpack(walker);
        unpack(all.at(walker));
      }
    return all;
  }

  bool move(Chain<Real>& chain, const std::vector<std::vector<Real>>& positions, std::uint64_t step) const {
    const std::size_t mine = chain.walker() % each_, first = chain.walker() - mine, half = mine % 2;
    const auto others = std::uint32_t(half == 0 ? each_ / 2 : (each_ + 1) / 2);
    const Stream stream{stream_key(seed_, "stretch"), chain.walker(), step, 0};
    const std::size_t other = first + 2 * below(others, stream, 0) + (1 - half);
    const double root = (scale_ - 1) * uniform(stream, 1) + 1, z = root * root / scale_;
    const Replica<Real> here = chain.replica_now();
    Replica<Real> there = here;
    for (const std::size_t i : moving_) {
      const double x = double(positions[other][i]);
      there.q[i] = Real(x + z * (double(here.q[i]) - x));
    }
    const double before = chain.energy_on({});
    chain.take(there);
    const double change = chain.energy_on({}) - before;
    const double chance = double(moving_.size() - 1) * std::log(z) - change / temperature_;
    if (std::log(uniform(stream, 2)) < chance) return true;
    chain.take(here);
    return false;
  }

  CouplingSettings settings_;
  std::uint64_t seed_;
  double scale_, temperature_;
  std::size_t each_;
  Comm* comm_;
  std::vector<std::size_t> moving_;  // entries of q
  State state_;
};

}  // namespace

template <class Real>
std::unique_ptr<Coupling<Real>> make_stretch(const CoupledRun& run) {
  return std::make_unique<StretchMove<Real>>(run);
}

template std::unique_ptr<Coupling<float>> make_stretch(const CoupledRun&);
template std::unique_ptr<Coupling<double>> make_stretch(const CoupledRun&);

}  // namespace kelvin
