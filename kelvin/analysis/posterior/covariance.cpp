// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/posterior/covariance.h"

#include <algorithm>
#include <cmath>

#include "kelvin/analysis/posterior/ensembles.h"
#include "kelvin/function/gemm.h"
#include "kelvin/numeric/sums.h"

namespace kelvin {
namespace {

constexpr std::size_t most_for_matrix = 1000;

struct CovarianceOptions : ParameterSelection {
  bool per_walker = false;
  long count = 10;
  template <class Visit>
  void fields(Visit&& field) {
    ParameterSelection::fields(field);
    field("per_walker", per_walker, "each walker alone besides all of them together");
    field("count", count, "number of leading eigenvalues");
  }
};

std::vector<double> mean_row(const Rows& rows) {
  std::vector<double> sum(rows.width, 0.0);
  rows.each([&](std::span<const double> piece) { add_column_sums({piece, rows.width}, sum); });
  for (double& x : sum) x /= double(rows.count);
  return sum;
}

Eigenpairs from_matrix(const Rows& rows, const std::vector<double>& mean, std::size_t vectors) {
  const std::size_t n = rows.width;
  std::vector<double> C(n * n, 0.0);
  rows.each([&](std::span<const double> piece) {
    const std::vector<double> X = less({piece, n}, mean);
    const Factor<double> right{X.data(), X.size() / n, n, n};
    Factor<double> left = right;
    left.turned = true;
    gemm(1 / double(rows.count - 1), left, right, 1, C.data(), n);
  });
  return all_eigenpairs(C, n, vectors);
}

// Each row along a direction, measured from the mean.
std::vector<double> along_of(const RowsView& X, std::span<const double> mean, std::span<const double> v) {
  const double shift = dot(mean, v);
  std::vector<double> along = product(X, v);
  for (double& x : along) x -= shift;
  return along;
}

// C v = X^T (X v - mean.v) / (rows - 1), a piece of X at a time; the mean need not be taken from X^T too, because the
// entries of X v - mean.v add up to 0.
Eigenpairs from_products(const Rows& rows, const std::vector<double>& mean, std::size_t count) {
  const auto times = [&](std::span<const double> v, std::span<double> Cv) {
    std::ranges::fill(Cv, 0.0);
    rows.each([&](std::span<const double> piece) {
      const RowsView X{piece, rows.width};
      add_turned_product(X, along_of(X, mean, v), Cv);
    });
    for (double& x : Cv) x /= double(rows.count - 1);
  };
  return leading_eigenpairs({rows.width, times}, count);
}

// One series per direction and walker.
std::vector<Chains> along_directions(const Chosen& chosen, const Covariance& c) {
  std::vector<Chains> out(c.pairs.vectors.size(), Chains(chosen.walkers.size()));
  for (std::size_t w = 0; w < chosen.walkers.size(); ++w)
    each_piece(chosen, chosen.walkers[w], [&](std::span<const double> piece) {
      for (std::size_t k = 0; k < out.size(); ++k) {
        const auto along = along_of({piece, chosen.size}, c.mean, c.pairs.vectors[k]);
        out[k][w].insert(out[k][w].end(), along.begin(), along.end());
      }
    });
  return out;
}

struct Spectrum {
  std::string whose;
  Covariance covariance;
  std::vector<Chains> along;
  std::size_t together;  // walkers that count as one chain
};

Spectrum spectrum_of(const Chosen& chosen, const std::string& whose, std::size_t count) {
  if (chosen.rows() < 2) throw Error("a covariance needs at least 2 draws; there is 1 of {}", whose);
  const bool small = chosen.size <= most_for_matrix;
  const std::size_t most = std::min(chosen.rows() - 1, small ? chosen.size : chosen.size - 1);
  Covariance c =
      covariance(rows_of(chosen), std::min(count, most), small ? CovarianceWay::matrix : CovarianceWay::applied);
  auto along = along_directions(chosen, c);
  return {whose, std::move(c), std::move(along), walkers_together(chosen.samples, chosen.walkers.size())};
}

Chains squares_of(Chains chains) {
  for (auto& x : chains)
    for (double& v : x) v *= v;
  return chains;
}

// One row per direction; `refusals` counts directions whose chains are too short for an autocorrelation time.
NamedTable table_of(const Spectrum& s, std::size_t& refusals) {
  NamedTable named{"Leading directions, " + s.whose, {}};
  double sum = 0;
  for (std::size_t k = 0; k < s.along.size(); ++k) {
    const double value = s.covariance.pairs.values[k];
    const Chains along = ensemble_means(s.along[k], s.together);
    const auto windowed = windowed_autocorrelation_time(along), reduced = reduced_autocorrelation_time(along);
    const std::size_t missing = std::max(windowed.missing, reduced.missing);
    refusals += missing > 0;
    sum += value;
    named.table.row({{"direction", fmt::format("v{}", k)},
                     {"eigenvalue", cell(value)},
                     {"error", cell(mcse_mean(ensemble_means(squares_of(s.along[k]), s.together)))},
                     {"share", cell(value / s.covariance.trace)},
                     {"together", cell(sum / s.covariance.trace)},
                     {"tau_windowed", missing ? Table::Cell() : cell(windowed.tau)},
                     {"tau_reduced", missing ? Table::Cell() : cell(reduced.tau)},
                     {"draws_missing", missing}});
  }
  return named;
}

Curve curve_of(const Spectrum& s) {
  Curve curve{.name = s.whose, .style = "points"};
  for (const double value : s.covariance.pairs.values)
    if (value > 1e-12 * s.covariance.pairs.values.front()) {  // the rest is rounding: fewer draws than parameters
      curve.x.push_back(double(curve.x.size() + 1));
      curve.y.push_back(value);
    }
  return curve;
}

// A vector over the chosen blocks, put into one over all parameters.
Array spread(const Chosen& chosen, const std::vector<double>& values) {
  Array out{{chosen.parameters}, std::vector<double>(chosen.parameters, 0.0)};
  std::size_t at = 0;
  for (const ChosenBlock& b : chosen.blocks) {
    std::copy_n(values.begin() + long(at), b.size, out.values.begin() + long(b.offset));
    at += b.size;
  }
  return out;
}

}  // namespace

Covariance covariance(const Rows& rows, std::size_t count, CovarianceWay way) {
  Covariance c;
  c.mean = mean_row(rows);
  rows.each([&](std::span<const double> piece) {
    c.trace += square_norm(less({piece, rows.width}, c.mean)) / double(rows.count - 1);
  });
  if (!std::isfinite(c.trace))
    throw Error("some draws are not finite, so they have no covariance; leave them out with --skip");
  if (!(c.trace > 0)) throw Error("all draws are the same, so they have no covariance; choose parameters that move");
  c.whole = way == CovarianceWay::matrix;
  c.pairs = c.whole ? from_matrix(rows, c.mean, count) : from_products(rows, c.mean, count);
  return c;
}

namespace {

Found find_covariance(const Subject& subject, const CovarianceOptions& options, const Progress&) {
  const Samples& samples = subject.run();
  if (options.count < 1) throw Error("--count must be at least 1, not {}", options.count);
  const Chosen chosen = choose(samples, options);
  std::vector<Spectrum> spectra = {spectrum_of(chosen, "all draws", std::size_t(options.count))};
  if (options.per_walker)
    for (const std::size_t w : chosen.walkers) {
      Chosen alone = chosen;
      alone.walkers = {w};
      spectra.push_back(spectrum_of(alone, fmt::format("walker {}", w), std::size_t(options.count)));
    }
  const Covariance& c = spectra.front().covariance;
  double together = 0;
  for (std::size_t k = 0; k < c.pairs.vectors.size(); ++k) together += c.pairs.values[k];
  Found out{{"", "Covariance of the parameters", {}, {}, {}}, {}};
  std::size_t refusals = 0;
  for (const Spectrum& s : spectra) out.finding.tables.push_back(table_of(s, refusals));
  out.finding.words = {
      fmt::format("The {} leading of {} directions hold {:.3g} % of the variance of {}.", c.pairs.vectors.size(),
                  chosen.size, 100 * together / c.trace, chosen.words()),
      c.whole
          ? "All eigenvalues of the covariance matrix were found."
          : fmt::format("Only the leading eigenvalues were found, without forming the {0} x {0} matrix.", chosen.size)};
  if (chosen.rows() <= chosen.size)
    out.finding.words.push_back(
        fmt::format("{} draws span no more than {} of {} directions; small eigenvalues mean nothing.", chosen.rows(),
                    chosen.rows() - 1, chosen.size));
  if (const std::string words = words_on_ensembles(spectra.front().together); !words.empty())
    out.finding.words.push_back(words);
  if (refusals)
    out.finding.words.push_back(fmt::format(
        "{} directions have fewer than 50 autocorrelation times of draws: their errors are guesses, draws_missing says "
        "how many each walker lacks.",
        refusals));
  Figure figure{.name = "spectrum",
                .title = "Spectrum of the covariance",
                .x_label = "number",
                .y_label = "eigenvalue",
                .caption = "A few directions far above the others are soft: the posterior is wide there.",
                .log_y = true};
  for (const Spectrum& s : spectra) figure.curves.push_back(curve_of(s));
  out.finding.figures.push_back(std::move(figure));

  auto& directions = out.arrays["directions.npz"];
  for (std::size_t k = 0; k < c.pairs.vectors.size(); ++k)
    directions[fmt::format("v{}", k)] = spread(chosen, c.pairs.vectors[k]);
  ParameterSelection all = options;
  all.part.clear();
  all.blocks.clear();
  directions["mean"] = {{chosen.parameters}, mean_row(rows_of(choose(samples, all)))};
  return out;
}

}  // namespace

Question ask_covariance() { return ask(find_covariance); }

}  // namespace kelvin
