// SPDX-License-Identifier: Apache-2.0
// The energy that a chain follows: the potential of the data and what is built on it. The slots apply in the order of
// this declaration: the estimate of the data's energy, added terms, the law (the sampled distribution), the coordinates
// in which it is sampled.
#pragma once
#include <concepts>

#include "kelvin/energy/coordinates.h"
#include "kelvin/energy/estimator.h"
#include "kelvin/energy/law.h"
#include "kelvin/energy/terms.h"

namespace kelvin {

template <class Real>
class Energy {
 public:
  // Alone, where its blocks lie one after another.
  template <std::derived_from<Potential<Real>> Data>
  Energy(std::unique_ptr<Data> data) : data_(std::move(data)) {
    arrange(blocks());
  }
  Energy(const Energy&);
  Energy(Energy&&) = default;
  Energy& operator=(Energy&&) = default;

  Estimator<Real> estimate;
  Terms<Real> terms;
  std::unique_ptr<Law<Real>> law;                  // null: exp(-U/T) itself
  std::unique_ptr<Coordinates<Real>> coordinates;  // null: q itself

  std::vector<Block> blocks() const;     // of the data, of the terms, and of the law
  void arrange(std::span<const Block>);  // the same blocks with new offsets, perhaps among others
  std::size_t rows() const { return data_->rows(); }
  std::size_t observations() const { return data_->observations(); }  // that U is the mean over
  // Whether U depends on the evaluation besides q and the rows.
  bool noisy() const { return estimate.noisy() || data_->random(); }
  // Piece 1 is the data's energy, piece 2 the terms; data with pieces of their own keep them, and the terms go with 1.
  int pieces() const { return law && !law->splits() ? 1 : 2; }
  std::span<Real> memory() { return law && !law->memory().empty() ? law->memory() : estimate.memory(); }

  // Returns U at x averaged over the rows, writes its gradient by x into g.
  double operator()(std::span<const Real> x, const Evaluation&, std::span<Real> g);
  std::span<const Real> position(std::span<const Real> x);  // q, valid until the next call
  void update_buffers(std::span<Real> q) const;             // as the last evaluation has them

  double log_weight(std::span<const Real> q) const { return law ? law->log_weight(q) : 0; }
  AskedFor asked_for(double energy, std::span<const Real> q) const {
    return law ? law->asked_for(energy, q) : AskedFor{energy};
  }

 private:
  std::span<const char> wanted_of_data(std::span<const char> wanted);
  void take_buffers(std::span<Real> g);

  std::unique_ptr<Potential<Real>> data_;
  std::vector<Block> arranged_;
  std::vector<std::size_t> places_;  // of the data's blocks among the arranged ones
  std::vector<char> widened_, wanted_;
  LargeArray<Real> q_;  // if there are coordinates
  std::vector<Block> buffers_;
  std::vector<Real> lost_;  // what the last evaluation takes from them, one after another
};

}  // namespace kelvin
