// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/diffusion_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kelvin/analysis/posterior/selection.h"
#include "kelvin/analysis/stored_run.h"
#include "kelvin/function/gemm.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

// |x_i - x_j|^2 = G_ii + G_jj - 2 G_ij with the products G of centred points.
std::vector<double> squared_distances(std::span<const double> points, std::size_t width) {
  const std::size_t n = points.size() / width;
  std::vector<double> mean(width, 0.0);
  add_column_sums({points, width}, mean);
  for (double& x : mean) x /= double(n);
  const std::vector<double> X = less({points, width}, mean);
  std::vector<double> d(n * n);
  const Factor<double> left{X.data(), n, width, width};
  Factor<double> right = left;
  right.turned = true;
  gemm(1, left, right, 0, d.data(), n);
  std::vector<double> squares(n);
  for (std::size_t i = 0; i < n; ++i) squares[i] = d[i * n + i];
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      d[i * n + j] = d[j * n + i] = i == j ? 0 : std::max(0.0, squares[i] + squares[j] - 2 * d[i * n + j]);
  return d;
}

// d log S / d log eps, over some of the rows.
double slope_at(double eps, std::span<const double> d, std::size_t n) {
  constexpr std::size_t most_rows = 200;
  double sum = 0, moment = 0;
  for (std::size_t i = 0; i < n; i += std::max<std::size_t>(1, n / most_rows))
    for (std::size_t j = 0; j < n; ++j) {
      const double x = d[i * n + j] / (4 * eps);
      if (x > 40) continue;
      const double k = std::exp(-x);
      sum += k;
      moment += x * k;
    }
  return moment / sum;
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + long(x.size() / 2), x.end());
  return x[x.size() / 2];
}

double remoteness(const std::vector<double>& d, std::size_t n) {
  std::vector<double> nearest(n, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j) nearest[i] = std::min(nearest[i], d[i * n + j]);
  return median(nearest) / median(d);
}

}  // namespace

Bandwidth chosen_bandwidth(std::span<const double> d, std::size_t n) {
  constexpr double nearly = 0.9, faintest = 30;  // exp(-faintest): how weakly a lone point may be tied to the others
  double least = std::numeric_limits<double>::infinity(), most = 0, loneliest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < n; ++j) {
      const double x = d[i * n + j];
      most = std::max(most, x);
      if (i != j) nearest = std::min(nearest, x);
      if (x > 0) least = std::min(least, x);
    }
    loneliest = std::max(loneliest, nearest);
  }
  std::vector<Bandwidth> tried;
  for (double eps = std::max(least, 1e-14 * most) / 4; eps <= most; eps *= std::pow(2, 0.25))
    tried.push_back({eps, 2 * slope_at(eps, d, n)});
  auto best = std::max_element(tried.begin(), tried.end(),
                               [](const Bandwidth& a, const Bandwidth& b) { return a.dimension < b.dimension; });
  const double enough = nearly * best->dimension;
  while (best + 1 != tried.end() && (best + 1)->dimension >= enough) ++best;
  while (best + 1 != tried.end() && best->value < loneliest / (4 * faintest)) ++best;
  return *best;
}

namespace {

// What each point counts: q^-alpha, or pi^(1/2) / q.
std::vector<double> weights_of(const std::vector<double>& q, const DiffusionMapSettings& settings) {
  std::vector<double> w;
  if (settings.log_target.empty()) {
    for (const double x : q) w.push_back(std::pow(x, -settings.alpha));
    return w;
  }
  const double highest = *std::max_element(settings.log_target.begin(), settings.log_target.end());
  for (std::size_t i = 0; i < q.size(); ++i) w.push_back(std::exp((settings.log_target[i] - highest) / 2) / q[i]);
  return w;
}

}  // namespace

DiffusionMap diffusion_map(std::span<const double> points, std::size_t width, const DiffusionMapSettings& settings) {
  constexpr double nothing = 1e-50;
  const std::size_t n = points.size() / width;
  if (n < settings.count + 2)
    throw Error("{} eigenvalues need at least {} draws, not {}; give a smaller --count", settings.count,
                settings.count + 2, n);
  std::vector<double> k = squared_distances(points, width);
  if (!std::isfinite(*std::max_element(k.begin(), k.end())))
    throw Error("some draws are not finite; leave them out with --skip");
  if (!(*std::max_element(k.begin(), k.end()) > 0))
    throw Error("all draws are the same, so they have no diffusion map");
  DiffusionMap map;
  const Bandwidth bandwidth = settings.bandwidth > 0
                                  ? Bandwidth{settings.bandwidth, 2 * slope_at(settings.bandwidth, k, n)}
                                  : chosen_bandwidth(k, n);
  map.bandwidth = bandwidth.value;
  map.dimension = bandwidth.dimension;
  map.remoteness = remoteness(k, n);
  for (double& x : k) x /= -4 * map.bandwidth;
  to_exponentials(k);
  for (std::size_t i = 0; i < n; ++i) k[i * n + i] = 0;
  const RowsView K{k, n};
  const std::vector<double> q = product(K, std::vector<double>(n, 1.0));
  if (!(*std::min_element(q.begin(), q.end()) > nothing))
    throw Error("--bandwidth {:g} leaves some draws without neighbours; give a larger one", map.bandwidth);
  const std::vector<double> w = weights_of(q, settings), sums = product(K, w);
  // P is similar to the symmetric (w / sums)^(1/2) k (w / sums)^(1/2); its right eigenvectors are those divided by the
  // root of the stationary law, w sums.
  std::vector<double> root(n), law(n);
  double total = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    root[i] = std::sqrt(w[i] / sums[i]);
    law[i] = w[i] * sums[i];
    total += law[i];
    squares += law[i] * law[i];
  }
  map.effective = total * total / squares;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) k[i * n + j] *= root[i] * root[j];
  map.pairs = leading_eigenpairs(k, n, settings.count + 1);
  std::vector<double> over(n, 0.0), under(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) (map.pairs.vectors[1][i] > 0 ? over : under)[i] = 1 / root[i];
  map.ties = dot<double>(over, product(K, under));
  for (auto& v : map.pairs.vectors)
    for (std::size_t i = 0; i < n; ++i) v[i] *= std::sqrt(total / law[i]);
  for (const double value : map.pairs.values) map.rates.push_back(-(1 - value) / map.bandwidth);
  return map;
}

namespace {

// U at each row, on all of the run's training data; what a run stores may be that of a minibatch.
template <class Real>
std::vector<double> energies(const Chosen& chosen, std::span<const double> rows, const Remark& remark) {
  const StoredRun<Real> again = stored_run<Real>(chosen.samples, chosen.samples.record.settings, remark);
  Energy<Real> energy = *again.problem.energy;
  std::vector<double> out;
  std::vector<Real> g(chosen.size);
  for (std::size_t r = 0; r < rows.size(); r += chosen.size) {
    const std::vector<Real> q(rows.begin() + long(r), rows.begin() + long(r + chosen.size));
    out.push_back(energy(q, {}, g));
  }
  return out;
}

std::vector<double> log_target(const Chosen& chosen, std::span<const double> rows, double T, const Remark& remark) {
  auto out = chosen.samples.record.settings.precision == "float" ? energies<float>(chosen, rows, remark)
                                                                 : energies<double>(chosen, rows, remark);
  for (double& x : out) x = -x / T;
  return out;
}

Found described(const Chosen& chosen, const DiffusionMap& map, const DiffusionMapSettings& settings) {
  constexpr double few_ties = 20;
  Found out{{"", "Diffusion map", {}, {}, {}}, {}};
  Table table;
  Curve spectrum{.name = "eigenvalues", .style = "points"};
  for (std::size_t k = 0; k < map.rates.size(); ++k) {
    table.row({{"number", k},
               {"eigenvalue", map.pairs.values[k]},
               {"rate", k ? map.rates[k] : 0},
               {"time", map.rates[k] < 0 && k ? cell(-1 / map.rates[k]) : Table::Cell()}});
    spectrum.x.push_back(double(k));
    spectrum.y.push_back(map.rates[k]);
  }
  Figure slow{.name = "coordinates",
              .title = "Slow coordinates",
              .x_label = "first",
              .y_label = "second",
              .caption = "Clusters are metastable states; walkers that share none have not mixed."};
  Figure course{.name = "course",
                .title = "The slowest coordinate along the run",
                .x_label = "draw",
                .y_label = "first coordinate",
                .caption = "Jumps are rare events; their number is what the run knows of them."};
  const auto& psi = map.pairs.vectors;
  for (std::size_t w = 0, i = 0; w < chosen.walkers.size(); ++w) {
    Curve points{.name = fmt::format("walker {}", chosen.walkers[w]), .style = "points"}, line = points;
    for (const std::size_t d : chosen.draws) {
      points.x.push_back(psi[1][i]);
      points.y.push_back(psi.size() > 2 ? psi[2][i] : 0);
      line.x.push_back(double(d));
      line.y.push_back(psi[1][i]);
      ++i;
    }
    slow.curves.push_back(std::move(points));
    course.curves.push_back(std::move(line));
  }
  out.finding.tables.push_back({"Eigenvalues of the chain on the draws, and of its generator", table});
  out.finding.figures = {{"rates",
                          "Rates",
                          "number",
                          "rate",
                          {spectrum},
                          {},
                          "A gap after the first few: so many slow processes.",
                          false,
                          false,
                          false},
                         slow,
                         course};
  auto& arrays = out.arrays["diffusion_map.npz"];
  arrays["eigenvalues"] = {{map.pairs.values.size()}, map.pairs.values};
  arrays["rates"] = {{map.rates.size()}, map.rates};
  Array &vectors = arrays["coordinates"], &draw = arrays["draw"], &walker = arrays["walker"];
  for (const auto& v : psi) vectors.values.insert(vectors.values.end(), v.begin(), v.end());
  vectors.shape = {psi.size(), psi[0].size()};
  for (const std::size_t w : chosen.walkers)
    for (const std::size_t d : chosen.draws) {
      walker.values.push_back(double(w));
      draw.values.push_back(double(d));
    }
  walker.shape = draw.shape = {draw.values.size()};
  if (map.ties < few_ties)
    out.finding.words.push_back(fmt::format(
        "Only {:.2g} pairs of neighbours join the two sides of the slowest coordinate: its rate measures gaps between "
        "draws, not the dynamics; take more --points or a larger --bandwidth.",
        map.ties));
  if (map.remoteness > 0.5)
    out.finding.words.push_back(
        fmt::format("The draws are nearly equally far from each other (the nearest at {:.2g} of the usual squared "
                    "distance): too many "
                    "dimensions for a kernel to see anything; choose few parameters with --blocks.",
                    map.remoteness));
  out.finding.words.push_back(fmt::format("The slowest process among {} points has rate {:.4g}, the next {:.4g}.",
                                          psi[0].size(), map.rates[1], map.rates.size() > 2 ? map.rates[2] : NAN));
  out.finding.words.push_back(
      fmt::format("Bandwidth eps = {:.4g}{}, at which the points look {:.2g}-dimensional.", map.bandwidth,
                  settings.bandwidth > 0 ? "" : " (chosen: the largest at which the kernel's sum still grows fast)",
                  map.dimension));
  return out;
}

struct DiffusionMapOptions : ParameterSelection {
  long count = 10;
  double alpha = 0.5;
  bool target = false;
  long points = 1000;
  double bandwidth = 0, temperature = 0;
  template <class Visit>
  void fields(Visit&& field) {
    ParameterSelection::fields(field);
    field("count", count, "number of leading eigenvalues");
    field("alpha", alpha, "power of the density divided out: 0, 0.5 (Langevin dynamics) or 1 (geometry only)");
    field("target", target, "weigh by the run's own density exp(-U/T), whatever law the draws have");
    field("points", points, "most draws that are compared with each other; evenly spaced ones if there are more");
    field("bandwidth", bandwidth, "eps of the kernel exp(-d^2 / 4 eps); 0 chooses it");
    field("temperature", temperature, "in place of the part's own; 0 takes that");
  }
};

Found find_diffusion_map(const Subject& subject, const DiffusionMapOptions& options, const Progress&) {
  const Samples& samples = subject.run();
  constexpr std::size_t most_points = 5000, most_numbers = std::size_t(1) << 27;
  if (options.count < 1) throw Error("--count must be at least 1, not {}", options.count);
  if (!(options.alpha >= 0 && options.alpha <= 1)) throw Error("--alpha must be from 0 to 1, not {}", options.alpha);
  if (!(options.bandwidth >= 0) || !std::isfinite(options.bandwidth))
    throw Error("--bandwidth must be above 0, not {}", options.bandwidth);
  if (options.points < 3 || options.points > long(most_points))
    throw Error("--points must be from 3 to {}, not {}", most_points, options.points);
  const Chosen all = choose(samples, options);
  if (options.target && samples.record.imported())
    throw Error("\"{}\" holds draws alone; --target needs a run of kelvin, with its model",
                samples.record.source.value());
  if (options.target && all.size != all.parameters)
    throw Error("--target needs all {} parameters, not {}: the density of some of them alone is not known",
                all.parameters, all.size);
  const std::size_t most = std::min(std::size_t(options.points), std::max<std::size_t>(3, most_numbers / all.size));
  const Chosen chosen = thinned(all, most);
  std::vector<double> points;
  for (const std::size_t w : chosen.walkers)
    each_piece(chosen, w, [&](std::span<const double> rows) { points.insert(points.end(), rows.begin(), rows.end()); });
  DiffusionMapSettings settings{options.alpha, {}, options.bandwidth, std::size_t(options.count)};
  std::string what =
      options.alpha == 0.5
          ? "Rates are those of dx = grad log p dt + sqrt(2) dW, p the density of the draws; times T they are those of "
            "dq = -grad U dt + sqrt(2 T) dW."
          : fmt::format("Rates are those of f'' + {:.3g} grad log p . grad f, p the density of the draws.",
                        2 - 2 * options.alpha);
  if (options.target) {
    const double T = options.temperature > 0 ? options.temperature : temperature_of(samples, "");
    settings.log_target = log_target(chosen, points, T, subject.remark);
    what =
        fmt::format("Rates are those of dx = -grad U / T dt + sqrt(2) dW at T = {:g}, whatever law the draws have.", T);
  }
  const DiffusionMap map = diffusion_map(points, chosen.size, settings);
  Found out = described(chosen, map, settings);
  out.finding.words.push_back(what);
  if (options.target)
    out.finding.words.push_back(
        fmt::format("The weights leave {:.3g} effective points of {}.", map.effective, chosen.rows()));
  if (chosen.rows() < all.rows())
    out.finding.words.push_back(
        fmt::format("{} evenly spaced draws of {} were compared; --points takes more.", chosen.rows(), all.rows()));
  return out;
}

}  // namespace

Question ask_diffusion_map() { return ask(find_diffusion_map); }

}  // namespace kelvin
