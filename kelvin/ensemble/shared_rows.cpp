// SPDX-License-Identifier: Apache-2.0
#include "kelvin/ensemble/shared_rows.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kelvin/core/pack.h"
#include "kelvin/energy/decorated.h"

namespace kelvin {
namespace {

template <class Real>
class SharedRows final : public Decorated<Real> {
 public:
  SharedRows(std::unique_ptr<Potential<Real>> inner, std::size_t shares, Comm& team)
      : Decorated<Real>(std::move(inner)), shares_(shares), team_(&team), all_(this->rows()) {
    std::iota(all_.begin(), all_.end(), 0u);
    levels_.resize(std::size_t(std::countr_zero(shares)) + 1);
  }

  double operator()(std::span<const Real> q, Batch given, std::span<Real> g) override {
    const Batch rows = given.empty() ? Batch(all_) : given;
    const std::size_t mine = shares_ / team_->size();
    for (auto& level : levels_) level.resize(g.size());  // constraints may have numbers of their own in g
    const double U = branch(q, rows, {team_->rank() * mine, mine}, g);
    if (team_->size() == 1) return U;
    Packer pack;
    pack(U);
    pack.bytes.append(reinterpret_cast<const char*>(g.data()), g.size_bytes());
    return trunk(team_->everyone(pack.bytes), g);
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<SharedRows>(*this); }

 private:
  struct Shares {
    std::size_t first, count;
  };
  static void add(std::span<Real> g, std::span<const Real> other) {
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += other[i];
  }

  // The weighted sum over some of the shares, into g.
  double branch(std::span<const Real> q, Batch rows, Shares shares, std::span<Real> g) {
    const auto [first, count] = shares;
    if (count > 1) {
      const std::span<Real> other = levels_[std::size_t(std::countr_zero(count))];
      const double U = branch(q, rows, {first, count / 2}, g);
      const double U_other = branch(q, rows, {first + count / 2, count / 2}, other);
      add(g, other);
      return U + U_other;
    }
    const std::size_t begin = first * rows.size() / shares_, end = (first + 1) * rows.size() / shares_;
    if (begin == end) {
      std::fill(g.begin(), g.end(), Real(0));
      return 0;
    }
    const double weight = double(end - begin) / double(rows.size());
    const double U = (*this->inner_)(q, rows.subspan(begin, end - begin), g);
    for (Real& x : g) x *= Real(weight);
    return weight * U;
  }

  // The rest of the tree: what each rank has, added pairwise.
  double trunk(std::vector<std::string> ranks, std::span<Real> g) {
    std::vector<double> U(ranks.size());
    std::vector<std::vector<Real>> sums(ranks.size(), std::vector<Real>(g.size()));
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      Unpacker unpack{ranks[r]};
      unpack(U[r]);
      unpack.take(sums[r].data(), g.size_bytes());
    }
    for (std::size_t apart = 1; apart < ranks.size(); apart *= 2)
      for (std::size_t r = 0; r < ranks.size(); r += 2 * apart) add(sums[r], sums[r + apart]), U[r] += U[r + apart];
    std::copy(sums[0].begin(), sums[0].end(), g.begin());
    return U[0];
  }

  std::size_t shares_;
  Comm* team_;
  std::vector<std::uint32_t> all_;
  std::vector<std::vector<Real>> levels_;  // the right branch at each height of the tree
};

}  // namespace

template <class Real>
std::unique_ptr<Potential<Real>> with_shared_rows(std::unique_ptr<Potential<Real>> inner, std::size_t shares,
                                                  Comm& team) {
  return std::make_unique<SharedRows<Real>>(std::move(inner), shares, team);
}

template std::unique_ptr<Potential<float>> with_shared_rows(std::unique_ptr<Potential<float>>, std::size_t, Comm&);
template std::unique_ptr<Potential<double>> with_shared_rows(std::unique_ptr<Potential<double>>, std::size_t, Comm&);

}  // namespace kelvin
