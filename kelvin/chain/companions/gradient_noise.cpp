// SPDX-License-Identifier: Apache-2.0
#include "kelvin/chain/companions/gradient_noise.h"

#include <algorithm>
#include <cmath>

#include "kelvin/chain/companion.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {

template <class Real>
NoiseEstimate<Real>::NoiseEstimate(const Recipe& recipe, std::size_t rows, double share)
    : settings_(recipe.tuning.covariance),
      low_rank_(row_named(settings_.form, covariance_forms(), "form of covariance").low_rank),
      rows_(rows),
      size_(recipe.size),
      share_(share),
      recipes_(recipe.parts),
      numbers_((low_rank_ ? std::size_t(settings_.examples) : 1) * size_ + 1, Real(0)),
      gradient_(size_),
      mean_(size_),
      products_(std::size_t(settings_.examples) * std::size_t(settings_.examples)),
      solver_(std::size_t(settings_.examples)) {
  const auto m = low_rank_ ? std::size_t(settings_.examples) : 0;
  for (const PartRecipe& part : recipes_) {
    values_.emplace_back(m, 0.0);
    vectors_.emplace_back(m * m, 0.0);
    const auto mine =
        std::span<const Real>(numbers_).subspan((low_rank_ ? m : 1) * part.offset, (low_rank_ ? m : 1) * part.size);
    if (low_rank_) parts_.push_back({{}, mine, values_.back(), vectors_.back()});
    else parts_.push_back({mine, {}, {}, {}});
  }
}

template <class Real>
void NoiseEstimate<Real>::see(Energy<Real>& energy, std::span<const Real> q, const Stream& stream) {
  if (rows_ == 0 || share_ == 0 || stream.step % std::uint64_t(settings_.every) != 0) return;
  const auto m = std::size_t(settings_.examples);
  Real& estimates = numbers_.back();
  const Real keep = Real(std::min(settings_.keep, double(estimates) / (double(estimates) + 1)));
  const Real scale = Real(share_ / double(m - 1));
  std::fill(mean_.begin(), mean_.end(), Real(0));
  if (!low_rank_)
    for (std::size_t i = 0; i < size_; ++i) numbers_[i] *= keep;
  // Row after row: with d = g - mean before it, (j / (j + 1)) d^2 is what it adds to the sum of squares about the mean.
  for (std::size_t j = 0; j < m; ++j) {
    const std::uint32_t row = below(std::uint32_t(rows_), stream, j);
    energy(q, {.rows = Batch(&row, 1)}, gradient_);
    const Real weight = (1 - keep) * scale * Real(double(j) / double(j + 1)), share = Real(1 / double(j + 1));
    for (const PartRecipe& part : recipes_)
      for (std::size_t i = part.offset; i < part.offset + part.size; ++i) {
        const Real d = gradient_[i] - mean_[i];
        mean_[i] += share * d;
        if (low_rank_) numbers_[m * part.offset + j * part.size + (i - part.offset)] = gradient_[i];
        else numbers_[i] += weight * d * d;
      }
  }
  ++estimates;
  if (!low_rank_) return;
  const Real root = Real(std::sqrt(double(scale)));
  for (const PartRecipe& part : recipes_)
    for (std::size_t j = 0; j < m; ++j)
      for (std::size_t i = 0; i < part.size; ++i) {
        Real& y = numbers_[m * part.offset + j * part.size + i];
        y = root * (y - mean_[part.offset + i]);
      }
  solve();
}

template <class Real>
void NoiseEstimate<Real>::solve() {
  const auto m = std::size_t(settings_.examples);
  for (std::size_t k = 0; k < recipes_.size(); ++k) {
    const std::size_t n = recipes_[k].size;
    const auto column = [&](std::size_t j) { return parts_[k].columns.subspan(j * n, n); };
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t b = 0; b <= a; ++b)
        products_[a * m + b] = products_[b * m + a] = dot<Real>(column(a), column(b));
    solver_.solve(products_, values_[k], vectors_[k]);
    for (double& value : values_[k]) value = std::max(0.0, value);
  }
}

template <class Real>
void NoiseEstimate<Real>::restore(std::span<const Real> from) {
  if (from.size() != numbers_.size()) throw Error("a state with another covariance of the gradient does not fit");
  std::copy(from.begin(), from.end(), numbers_.begin());
  if (low_rank_) solve();
}

template class NoiseEstimate<float>;
template class NoiseEstimate<double>;

// ---- the chain's side

namespace {

bool needs_noise(const Recipe& recipe) {
  for (const PartRecipe& part : recipe.parts)
    for (const Move& move : part.scheme.moves)
      if (move.letter->needs_noise) return true;
  return false;
}

template <class Real>
class NoiseOfGradient final : public Companion<Real> {
 public:
  static bool needed(const Chain<Real>& chain) { return needs_noise(chain.recipe()); }
  explicit NoiseOfGradient(Chain<Real>& chain)
      : key_(chain.key("covariance")), estimate_(chain.recipe(), chain.rows(), chain.batches().share_of_variance()) {
    for (std::size_t k = 0; k < chain.movers().size(); ++k) chain.movers()[k].part.noise = estimate_.of(k);
  }
  void evaluated(Chain<Real>& chain) override {
    estimate_.see(chain.energy(), chain.x(), {key_, chain.walker(), chain.evaluations() - 1, 0});
  }
  void fields(Archive& field) override {
    std::vector<Real> numbers = estimate_.state();
    field("covariance", numbers);
    if (field.reads()) estimate_.restore(numbers);
  }

 private:
  std::uint64_t key_;
  NoiseEstimate<Real> estimate_;
};

}  // namespace

KELVIN_COMPANION_ROW(gradient_noise, NoiseOfGradient, {})

}  // namespace kelvin
