// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/anchored.h"

#include "kelvin/energy/decorated.h"

namespace kelvin {
namespace {

template <class Real>
class Anchored final : public Decorated<Real> {
 public:
  Anchored(std::unique_ptr<Potential<Real>> inner, std::uint64_t every)
      : Decorated<Real>(std::move(inner)), every_(every) {
    for (const Block& block : this->blocks()) size_ += block.size();
  }
  void arrange(std::span<const Block> given) override {
    Decorated<Real>::arrange(given);
    wanted_.assign(given.size(), 1);
    for (const Block& block : given) size_ = std::max(size_, block.offset + block.size());
    memory_.assign(2 * size_ + 2, Real(0));
    correction_.assign(size_, Real(0));
  }
  void want(std::span<const char> blocks) override {
    wanted_.assign(blocks.begin(), blocks.end());
    this->inner_->want(blocks);
  }
  void prepare(const Evaluation& next) override {
    Decorated<Real>::prepare(next);
    due_ = next.stream.step % every_ == 0;
  }
  bool noisy() const override { return true; }
  std::span<Real> memory() override { return memory_; }

  // U(q; rows) - U(a; rows) + U(a), a the anchor
  double operator()(std::span<const Real> q, Batch rows, std::span<Real> g) override {
    const auto anchor = std::span(memory_).first(size_), slope = std::span(memory_).subspan(size_, size_);
    Real &height = memory_[2 * size_], &placed = memory_[2 * size_ + 1];
    if (rows.empty()) return (*this->inner_)(q, rows, g);
    if (due_ || placed == Real(0)) {
      std::copy(q.begin(), q.begin() + long(size_), anchor.begin());
      all_.assign(wanted_.size(), 1);
      this->inner_->want(all_);
      height = Real((*this->inner_)(anchor, {}, slope));
      this->inner_->want(wanted_);
      placed = Real(1), due_ = false;
    }
    const double there = (*this->inner_)(anchor, rows, correction_);
    const double here = (*this->inner_)(q, rows, g);
    for (std::size_t i = 0; i < size_; ++i) g[i] += slope[i] - correction_[i];
    return here - there + double(height);
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<Anchored>(*this); }

 private:
  std::uint64_t every_;
  std::size_t size_ = 0;
  bool due_ = false;
  std::vector<Real> memory_, correction_;  // memory_: the anchor, the slope there, U there, and whether there is one
  std::vector<char> wanted_, all_;
};

}  // namespace

template <class Real>
std::unique_ptr<Potential<Real>> with_anchor(std::unique_ptr<Potential<Real>> inner, std::uint64_t every) {
  return std::make_unique<Anchored<Real>>(std::move(inner), every);
}

template std::unique_ptr<Potential<float>> with_anchor(std::unique_ptr<Potential<float>>, std::uint64_t);
template std::unique_ptr<Potential<double>> with_anchor(std::unique_ptr<Potential<double>>, std::uint64_t);

}  // namespace kelvin
