// SPDX-License-Identifier: Apache-2.0
// The potential of data: the mean loss of a function's outputs over the rows of a batch, or over the steps of its rows
// where each has a target. Priors are added elsewhere (prior.h).
#pragma once
#include <limits>
#include <optional>

#include "kelvin/core/error.h"
#include "kelvin/data/augmentation.h"
#include "kelvin/energy/loss.h"
#include "kelvin/energy/potential.h"
#include "kelvin/function/function.h"
#include "kelvin/function/settings.h"

namespace kelvin {

// What a user wants to see, in the original units of the targets.
struct Score {
  double loss = std::numeric_limits<double>::quiet_NaN();        // mean loss without prior
  double accuracy = std::numeric_limits<double>::quiet_NaN();    // share of right classes; nan for numeric targets
  double rmse = std::numeric_limits<double>::quiet_NaN();        // nan for classes
  double perplexity = std::numeric_limits<double>::quiet_NaN();  // exp(loss) of classes of steps; nan for all else
};

inline constexpr const char* log_scale_block = "noise.log_scale";

// The function that the settings describe, and its blocks: those of the network, and those of the noise that the loss
// learns, such as noise.log_scale. Refuses what makes no network.
template <class Real>
std::unique_ptr<Function<Real>> make_function(const ModelSettings&, const Shape& input);
std::vector<Block> model_blocks(const ModelSettings&, const Shape& input);

// What draws say of the noise: numbers that the settings fix, or where q has them.
class NoiseOfDraws {
 public:
  NoiseOfDraws(const ModelSettings&, const Units&, std::span<const Block>, std::size_t targets);
  template <class Real>
  void read(std::span<const Real> q, std::span<Scale> to) const;  // one for each target, in stored units
  std::vector<Scale> fixed() const { return fixed_; }
  bool learned() const { return log_scale_ || shape_; }

 private:
  const Loss* loss_;
  std::vector<Scale> fixed_;
  std::optional<std::size_t> log_scale_, shape_;  // where they are in q, if they are learned
};

// Keeps its own copy of the data, shared with its clones.
template <class Real>
class Likelihood final : public Potential<Real> {
 public:
  Likelihood(const ModelSettings&, const Dataset&, const Remark&);
  Likelihood(std::unique_ptr<Function<Real>>, const ModelSettings&, const Dataset&, const Remark&);
  Likelihood(const Likelihood&);

  const std::vector<Block>& blocks() const override { return blocks_; }
  std::size_t rows() const override { return data_->inputs.rows(); }
  std::size_t observations() const override { return rows() * steps_; }
  bool random() const override { return function_->random() || !augmentation_.empty(); }
  void augment(Augmentation changes) { augmentation_ = std::move(changes); }  // of images, in training
  double operator()(Weights<const Real> q, const Evaluation&, Weights<Real> g) override;
  std::unique_ptr<Potential<Real>> clone() const override { return copy(); }
  std::unique_ptr<Likelihood> copy() const { return std::make_unique<Likelihood>(*this); }

  std::size_t outputs() const { return function_->outputs(); }
  std::size_t steps() const { return steps_; }  // of a row that have a target each; 1 where the row has one
  // Activated outputs, rows x outputs(), in stored units (undo with Dataset::target_units).
  void predict(Weights<const Real> q, Batch rows, std::span<Real> out);
  Score score(Weights<const Real> q, Batch rows);
  // Puts into the buffers of q what training passes over all rows give, as these are, in order: the mean over the
  // chunks in which they are taken, each by its share of the rows.
  void retake_statistics(Weights<Real> q);

 private:
  struct Data {
    Inputs<Real> inputs;
    LargeArray<Real> targets;  // `width` numbers for each row, or step
    std::size_t width;
    Targets kind;
    bool of_steps;  // a target for each step of a row
    Units units;    // of the targets; none for classes
  };
  struct Chunk {
    InputRows<Real> rows;
    const Real* targets;  // as the loss takes them
  };
  std::size_t count(Batch rows) const { return rows.empty() ? data_->inputs.rows() : rows.size(); }
  Chunk chunk(Batch rows, std::size_t first);
  const Real* targets_of(Batch rows, std::size_t first, std::size_t n);
  Chunk chunk_in_training(Batch rows, std::size_t first, const Stream&);
  void read_scales(Weights<const Real> q);
  std::size_t log_scale_at() const { return shape_block_ - (shape_slopes_.empty() ? 0 : 1); }

  std::shared_ptr<const Data> data_;
  std::unique_ptr<Function<Real>> function_;
  const Loss* loss_;
  std::size_t steps_ = 1, width_;  // width: outputs of a step
  std::vector<Block> blocks_;      // those of the function, then of the noise: the scale, the shape
  std::vector<Scale> scales_;      // of each target
  std::vector<double> log_scale_slopes_, shape_slopes_;  // empty when fixed
  std::size_t shape_block_ = 0;                          // the last, if the shape is learned
  LargeArray<Real> targets_;                             // of a batch
  InputRoom<Real> room_;
  Augmentation augmentation_;
};

// A likelihood whose blocks lie somewhere in q.
template <class Real>
class PlacedLikelihood {
 public:
  PlacedLikelihood(std::unique_ptr<Likelihood<Real>> likelihood, std::span<const Block> arranged)
      : likelihood_(std::move(likelihood)), offsets_(offsets_of(likelihood_->blocks(), arranged)) {}
  PlacedLikelihood(const PlacedLikelihood& other) : likelihood_(other.likelihood_->copy()), offsets_(other.offsets_) {}
  PlacedLikelihood(PlacedLikelihood&&) = default;
  PlacedLikelihood& operator=(PlacedLikelihood&&) = default;
  const Likelihood<Real>& likelihood() const { return *likelihood_; }
  std::size_t rows() const { return likelihood_->rows(); }
  std::size_t outputs() const { return likelihood_->outputs(); }
  void predict(std::span<const Real> q, Batch rows, std::span<Real> out) { likelihood_->predict(placed(q), rows, out); }
  Score score(std::span<const Real> q, Batch rows) { return likelihood_->score(placed(q), rows); }
  void retake_statistics(std::span<Real> q) { likelihood_->retake_statistics({q.data(), offsets_.data()}); }

 private:
  Weights<const Real> placed(std::span<const Real> q) const { return {q.data(), offsets_.data()}; }

  std::unique_ptr<Likelihood<Real>> likelihood_;
  std::vector<std::size_t> offsets_;
};

template <class Real>
std::unique_ptr<Likelihood<Real>> make_likelihood(const ModelSettings& model, const Dataset& data,
                                                  const Remark& remark) {
  return std::make_unique<Likelihood<Real>>(model, data, remark);
}

}  // namespace kelvin
