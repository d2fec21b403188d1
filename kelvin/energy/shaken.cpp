// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/shaken.h"

#include <cmath>

#include "kelvin/energy/decorated.h"

namespace kelvin {
namespace {

template <class Real>
class Shaken final : public Decorated<Real> {
 public:
  Shaken(std::unique_ptr<Potential<Real>> inner, std::vector<BlockShake> shakes)
      : Decorated<Real>(std::move(inner)), shakes_(std::move(shakes)) {
    std::size_t longest = 0;
    for (const BlockShake& s : shakes_) {
      this->changed_.push_back(block_named(s.block, this->blocks()));
      longest = std::max(longest, this->changed_.back().size());
    }
    normals_.resize(longest);
  }

  bool noisy() const override { return true; }
  void prepare(const Evaluation& next) override {
    Decorated<Real>::prepare(next);
    stream_ = next.stream;
  }
  double operator()(std::span<const Real> q, Batch rows, std::span<Real> g) override {
    const double U = (*this->inner_)(q, rows, g);
    for (std::size_t k = 0; k < shakes_.size(); ++k) {
      const Block& block = this->changed_[k];
      const auto z = std::span(normals_).first(block.size());
      Stream stream = stream_;
      stream.place = std::uint16_t(first_place + k);
      normals(stream, 0, z);
      const Real spread = Real(std::sqrt(shakes_[k].variance(double(stream.step))));
      for (std::size_t i = 0; i < z.size(); ++i) g[block.offset + i] += spread * z[i];
    }
    return U;
  }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<Shaken>(*this); }

 private:
  static constexpr std::size_t first_place = 1 << 15;  // masks have the places before it
  std::vector<BlockShake> shakes_;                     // of each changed block
  std::vector<Real> normals_;
  Stream stream_{};
};

}  // namespace

template <class Real>
std::unique_ptr<Potential<Real>> with_shaken_gradients(std::unique_ptr<Potential<Real>> inner,
                                                       std::vector<BlockShake> shakes) {
  return std::make_unique<Shaken<Real>>(std::move(inner), std::move(shakes));
}

template std::unique_ptr<Potential<float>> with_shaken_gradients(std::unique_ptr<Potential<float>>,
                                                                 std::vector<BlockShake>);
template std::unique_ptr<Potential<double>> with_shaken_gradients(std::unique_ptr<Potential<double>>,
                                                                  std::vector<BlockShake>);

}  // namespace kelvin
