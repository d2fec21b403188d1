// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/coupled.h"

#include <cmath>

#include "kelvin/dynamics/compatible.h"

namespace kelvin {
namespace {

// What the normals of `times` passes leave in (q, p), from rest and without gradient: one column for each.
Matrix left_by(const Letter& letter, const Part<double>& constants, double h, int times) {
  const int n = letter.normals;
  Matrix out(2, std::size_t(times * n));
  for (int one = 0; one < times * n; ++one) {
    std::array<double, 1> q{}, p{}, g{};
    Part<double> s = constants;
    s.q = q;
    s.p = p;
    s.g = g;
    for (int pass = 0; pass < times; ++pass) {
      std::vector<double> z(std::size_t(n), 0.0);
      if (one / n == pass) z[std::size_t(one % n)] = 1;
      letter.flow(s, h, z);
    }
    out(0, std::size_t(one)) = q[0];
    out(1, std::size_t(one)) = p[0];
  }
  return out;
}

Part<double> constants_of(const PartRecipe& part) {
  Part<double> s;
  s.gamma = part.friction.at(0);
  s.T = part.temperature.at(0);
  s.m = part.mass.at(0);
  return s;
}

Recipe halved(Recipe recipe) {
  for (PartRecipe& part : recipe.parts)
    part.step = Schedule(Choice::number_of("constant", "value", part.step.at(0) / 2), {});
  return recipe;
}

}  // namespace

Matrix shared_weights(const Letter& letter, const Part<double>& constants, double h) {
  const std::size_t n = std::size_t(letter.normals);
  Matrix equal(n, 2 * n);
  for (std::size_t k = 0; k < n; ++k) equal(k, k) = equal(k, n + k) = 1 / std::sqrt(2);
  if (!letter.moves_q) return equal;
  const Matrix weights = least_squares(left_by(letter, constants, 2 * h, 1), left_by(letter, constants, h, 2));
  // Column by column W is W^T row by row.
  const auto off = off_orthogonal<double>({weights.numbers.data(), 2 * n, n}).numbers;
  return largest_size(off) < 1e-9 ? weights : equal;
}

template <class Real>
SharedNoise<Real>::SharedNoise(const Recipe& coarse, std::uint64_t seed, const Noise<Real>& fine) : fine_(&fine) {
  for (const PartRecipe& part : coarse.parts) {
    const auto& moves = part.scheme.moves;
    auto& sources = sources_[stream_key(seed, "part " + part.name)];
    sources.resize(moves.size());
    std::map<const Letter*, std::vector<std::uint16_t>> places;
    for (std::size_t k = 0; k < moves.size(); ++k) places[moves[k].letter].push_back(std::uint16_t(k));
    for (const auto& [letter, at] : places) {
      if (letter->normals == 0) continue;
      const double h = part.step.at(0) / double(at.size()) / 2;
      const Matrix weights = shared_weights(*letter, constants_of(part), h);
      for (std::size_t j = 0; j < at.size(); ++j) {
        Source& source = sources[at[j]];
        source.weights = weights;
        for (const std::size_t k : {0, 1})
          source.late[k] = (2 * j + k) / at.size(), source.place[k] = at[(2 * j + k) % at.size()];
      }
    }
  }
}

template <class Real>
void SharedNoise<Real>::normals(const Stream& stream, std::size_t first, std::span<Real> out) const {
  const auto part = sources_.find(stream.key);
  if (part == sources_.end()) return fine_->normals(stream, first, out);  // initial momenta
  const Source& source = part->second[stream.place];
  const std::size_t n = source.weights.rows;
  std::fill(out.begin(), out.end(), Real(0));
  std::vector<Real> z(out.size());
  for (const std::size_t k : {0, 1}) {
    fine_->normals({stream.key, stream.walker, 2 * stream.step + source.late[k], source.place[k]}, first, z);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < n; ++c) {
        const Real w = Real(source.weights(r, k * n + c));
        for (std::size_t i = 0; i < out.size(); i += n) out[i + r] += w * z[i + c];
      }
  }
}

void check_coupling(const Recipe& recipe) {
  Uses uses(recipe);
  uses.add(Trait::certified, "a certificate");
  uses.check();
  for (const PartRecipe& part : recipe.parts) {
    for (const auto& [name, schedule] : {std::pair{"step", &part.step},
                                         {"friction", &part.friction},
                                         {"temperature", &part.temperature},
                                         {"mass", &part.mass},
                                         {"sigma", &part.sigma},
                                         {"eps", &part.eps}})
      if (const auto [low, high] = schedule->range(); low != high)
        throw Error(
            "part \"{}\": its {} goes from {:g} to {:g}; a bias belongs to one law, so give the constant at which "
            "draws "
            "are taken",
            part.name, name, low, high);
    if (part.temperature.at(0) == 0)
      throw Error(
          "part \"{}\" has temperature 0, where nothing is sampled; set part.{}.temperature, for example "
          "\"posterior\"",
          part.name, part.name);
    bool noise = false;
    for (const Move& move : part.scheme.moves) {
      noise |= move.letter->normals > 0;
      if (move.letter->normals && move.share * double(move.occurrences) != 1)
        throw Error("part \"{}\": '{}' has unequal weights in \"{}\", which two chains cannot share noise for",
                    part.name, move.letter->symbol, part.scheme.text);
    }
    if (!noise)
      throw Error(
          "part \"{}\": scheme \"{}\" draws no noise, so it has no law to be biased from; use one such as "
          "BAOAB",
          part.name, part.scheme.text);
  }
}

template <class Real>
CoupledPair<Real>::CoupledPair(const Problem<Real>& problem, std::uint32_t walker, const Noise<Real>& noise) {
  check_coupling(problem.recipe);
  const auto seed = std::uint64_t(problem.settings.seed);
  const auto chain = [&](const Recipe& recipe, const Noise<Real>& from, std::string_view rows) {
    return std::make_unique<Chain<Real>>(
        *problem.energy, recipe,
        Batches(problem.settings.batch, problem.energy->rows(), stream_key(seed, rows), walker), from, seed, walker);
  };
  noise_ = std::make_unique<SharedNoise<Real>>(problem.recipe, seed, noise);
  coarse_ = chain(problem.recipe, *noise_, "rows of the coarse chain");
  fine_ = chain(halved(problem.recipe), noise, "rows of the fine chain");
}

template <class Real>
void CoupledPair<Real>::start(std::span<const Real> q) {
  coarse_->start(q);
  fine_->start(q);
}

template <class Real>
void CoupledPair<Real>::step() {
  coarse_->step();
  fine_->step();
  fine_->step();
}

template <class Real>
void CoupledPair<Real>::step_and_read() {
  coarse_->step_and_read();
  fine_->step();
  fine_->step_and_read();
}

template class SharedNoise<float>;
template class SharedNoise<double>;
template class CoupledPair<float>;
template class CoupledPair<double>;

}  // namespace kelvin
