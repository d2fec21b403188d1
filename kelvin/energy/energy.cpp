// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/energy.h"

#include <algorithm>

namespace kelvin {

template <class Real>
Energy<Real>::Energy(const Energy& other)
    : estimate(other.estimate),
      terms(other.terms),
      law(other.law ? other.law->clone() : nullptr),
      coordinates(other.coordinates ? other.coordinates->clone() : nullptr),
      data_(other.data_->clone()),
      arranged_(other.arranged_),
      places_(other.places_),
      widened_(other.widened_),
      wanted_(other.wanted_),
      q_(other.q_),
      buffers_(other.buffers_),
      lost_(other.lost_) {}

template <class Real>
std::vector<Block> Energy<Real>::blocks() const {
  std::vector<Block> all = data_->blocks();
  all.insert(all.end(), terms.own_blocks().begin(), terms.own_blocks().end());
  if (law && law->own_block()) all.push_back(*law->own_block());
  lay_out(all);
  return all;
}

template <class Real>
void Energy<Real>::arrange(std::span<const Block> given) {
  arranged_.assign(given.begin(), given.end());
  estimate.offsets = offsets_of(data_->blocks(), given);
  places_.clear();
  for (const Block& b : data_->blocks()) places_.push_back(std::size_t(&block_named(b.name, given) - given.data()));
  const bool more = law && law->own_block();
  if (more) law->place(given.back().offset);
  const auto visible = given.first(given.size() - more);
  estimate.arrange(visible);
  terms.arrange(visible);
  buffers_.clear();
  std::ranges::copy_if(given, std::back_inserter(buffers_), &Block::buffer);
  lost_.assign(parameter_count(buffers_), Real(0));
  widened_.resize(given.size());
  wanted_.resize(places_.size());
}

template <class Real>
std::span<const Real> Energy<Real>::position(std::span<const Real> x) {
  if (!coordinates) return x;
  q_.resize(x.size());
  coordinates->to_position(x, q_);
  return q_;
}

template <class Real>
std::span<const char> Energy<Real>::wanted_of_data(std::span<const char> wanted) {
  if (wanted.empty()) return {};
  std::ranges::copy(wanted, widened_.begin());
  if (coordinates) coordinates->widen(arranged_, widened_);
  for (std::size_t b = 0; b < places_.size(); ++b) wanted_[b] = widened_[places_[b]];
  return wanted_;
}

template <class Real>
double Energy<Real>::operator()(std::span<const Real> x, const Evaluation& e, std::span<Real> g) {
  const auto q = position(x);
  const bool split = e.piece > 0 && data_->pieces() == 1;
  const bool of_data = !split || e.piece == 1, of_terms = split ? e.piece == 2 : e.piece < 2;
  double U = 0;
  if (of_data) U = estimate(*data_, q, {e.rows, e.piece, wanted_of_data(e.wanted), e.stream}, g);
  else std::ranges::fill(g, Real(0));
  terms.clear_own(g);
  take_buffers(g);
  if (of_data && law && law->of_likelihood()) U = (*law)(U, q, g);
  if (of_terms) U = terms(U, q, 1 / double(std::max<std::size_t>(1, data_->observations())), g);
  estimate.add_noise(g);
  if (law && !law->of_likelihood()) U = (*law)(U, q, g);
  if (coordinates) coordinates->pull_back(g);
  return U;
}

// Where slopes of buffers would be stands what they are to lose: they are no part of the gradient.
template <class Real>
void Energy<Real>::take_buffers(std::span<Real> g) {
  auto to = lost_.begin();
  for (const Block& b : buffers_) {
    const auto mine = g.subspan(b.offset, b.size());
    to = std::ranges::copy(mine, to).out;
    std::ranges::fill(mine, Real(0));
  }
}

template <class Real>
void Energy<Real>::update_buffers(std::span<Real> q) const {
  auto from = lost_.begin();
  for (const Block& b : buffers_)
    for (std::size_t i = 0; i < b.size(); ++i) q[b.offset + i] -= *from++;
}

template class Energy<float>;
template class Energy<double>;

}  // namespace kelvin
