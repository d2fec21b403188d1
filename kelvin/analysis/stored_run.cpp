// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/stored_run.h"

#include "kelvin/io/problem.h"
#include "kelvin/trajectory/inputs.h"

namespace kelvin {

template <class Real>
std::vector<Real> StoredRun<Real>::point(std::size_t draw, std::size_t walker) const {
  std::vector<Real> q(problem.recipe.size);
  for (const Block& b : problem.recipe.blocks) {
    const auto values = samples.array("posterior/" + b.name, walker, draw, 1);
    std::copy(values.begin(), values.end(), q.begin() + long(b.offset));
  }
  if (recomputes_statistics && problem.train) problem.train->retake_statistics(q);
  return q;
}

template <class Real>
std::size_t StoredRun<Real>::each_point(
    std::size_t every,
    const std::function<void(std::size_t draw, std::size_t walker, std::span<const Real> q)>& visit) const {
  constexpr std::size_t numbers_at_once = 1 << 22;
  const std::size_t size = problem.recipe.size, piece = std::max<std::size_t>(1, numbers_at_once / size);
  std::vector<Real> points;
  std::size_t visited = 0;
  for (std::size_t walker = 0; walker < samples.walkers; ++walker)
    for (std::size_t first = 0; first < samples.draws; first += piece) {
      const std::size_t count = std::min(piece, samples.draws - first);
      points.resize(count * size);
      for (const Block& b : problem.recipe.blocks) {
        const auto values = samples.array("posterior/" + b.name, walker, first, count);
        for (std::size_t d = 0; d < count; ++d)
          std::copy_n(values.begin() + long(d * b.size()), b.size(), points.begin() + long(d * size + b.offset));
      }
      for (std::size_t d = 0; d < count; ++d)
        if ((first + d) % every == 0) {
          const auto q = std::span<Real>(points).subspan(d * size, size);
          if (recomputes_statistics && problem.train) problem.train->retake_statistics(q);
          visit(first + d, walker, q);
          ++visited;
        }
    }
  return visited;
}

template <class Real>
std::vector<Real> StoredRun<Real>::start(std::size_t walker) const {
  const RunEnvironment inputs = inputs_from(samples.record.directory);
  return problem.starting_point(std::uint32_t(walker), [&](const std::string& place, const Block& block) {
    return inputs.block(place, block, walker, samples.walkers);
  });
}

template <class Real>
StoredRun<Real> stored_run(const Samples& samples, const RunSettings& settings, const Remark& remark) {
  return {samples, make_problem<Real>(settings, remark, Slack::left_out, samples.record.directory)};
}

template struct StoredRun<float>;
template struct StoredRun<double>;
template StoredRun<float> stored_run(const Samples&, const RunSettings&, const Remark&);
template StoredRun<double> stored_run(const Samples&, const RunSettings&, const Remark&);

}  // namespace kelvin
