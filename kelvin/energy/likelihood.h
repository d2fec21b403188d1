// SPDX-License-Identifier: Apache-2.0
// The potential of data: the mean loss of a function's outputs over the rows of a batch. Priors are added elsewhere
// (prior.h).
#pragma once
#include <limits>

#include "kelvin/core/error.h"
#include "kelvin/energy/loss.h"
#include "kelvin/energy/potential.h"
#include "kelvin/function/function.h"
#include "kelvin/function/settings.h"

namespace kelvin {

// What a user wants to see, in the original units of the targets.
struct Score {
  double loss = std::numeric_limits<double>::quiet_NaN();      // mean loss without prior
  double accuracy = std::numeric_limits<double>::quiet_NaN();  // share of right classes; nan for numeric targets
  double rmse = std::numeric_limits<double>::quiet_NaN();      // nan for classes
};

inline constexpr const char* log_scale_block = "noise.log_scale";

// The function that the settings describe, and its blocks: those of the network, and noise.log_scale when the loss
// learns a standard deviation. Refuses what makes no network.
template <class Real>
std::unique_ptr<Function<Real>> make_function(const ModelSettings&);
std::vector<Block> model_blocks(const ModelSettings&);

// Keeps its own copy of the data, shared with its clones.
template <class Real>
class Likelihood final : public Potential<Real> {
 public:
  Likelihood(const ModelSettings&, const Dataset&, const Remark&);
  Likelihood(const Likelihood&);

  std::vector<Block> blocks() const override { return blocks_; }
  void arrange(std::span<const Block>) override;
  void want(std::span<const char>) override;
  std::size_t rows() const override { return data_->inputs.rows(); }
  double operator()(std::span<const Real> q, Batch rows, std::span<Real> g) override;
  std::unique_ptr<Potential<Real>> clone() const override { return copy(); }
  std::unique_ptr<Likelihood> copy() const { return std::make_unique<Likelihood>(*this); }

  std::size_t outputs() const { return function_->outputs(); }
  // Activated outputs, rows x outputs(), in stored units (undo with Dataset::target_units).
  void predict(std::span<const Real> q, Batch rows, std::span<Real> out);
  Score score(std::span<const Real> q, Batch rows);

 private:
  struct Data {
    Inputs<Real> inputs;
    LargeArray<Real> targets;  // rows x outputs
    Targets kind;
    Units units;  // of the targets; none for classes
  };
  struct Chunk {
    InputRows<Real> rows;
    const Real* targets;
  };
  std::size_t count(Batch rows) const { return rows.empty() ? data_->inputs.rows() : rows.size(); }
  Weights<const Real> weights(std::span<const Real> q) const { return {q.data(), offsets_.data()}; }
  Chunk chunk(Batch rows, std::size_t first);
  void read_scales(std::span<const Real> q);

  std::shared_ptr<const Data> data_;
  std::unique_ptr<Function<Real>> function_;
  const Loss* loss_;
  std::vector<Block> blocks_;         // those of the function, and the scale if it is learnt
  std::vector<std::size_t> offsets_;  // of these
  std::vector<std::size_t> places_;   // of these among the arranged ones
  std::vector<char> wanted_;
  std::vector<Scale> scales_;
  std::vector<double> log_scale_slopes_;  // empty when the scale is fixed
  LargeArray<Real> targets_;              // of a batch
};

template <class Real>
std::unique_ptr<Likelihood<Real>> make_likelihood(const ModelSettings& model, const Dataset& data,
                                                  const Remark& remark) {
  return std::make_unique<Likelihood<Real>>(model, data, remark);
}

}  // namespace kelvin
