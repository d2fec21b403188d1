// SPDX-License-Identifier: Apache-2.0
// Second derivatives of U over all parameters that move: their spectrum, and the largest steps it allows.
#include "kelvin/energy/hessian.h"

#include <cmath>
#include <mutex>
#include <optional>

#include "kelvin/analysis/landscape/landscape.h"
#include "kelvin/numeric/spectrum.h"

namespace kelvin {
namespace {

struct HessianOptions {
  std::string at, split = "train";
  long count = 5, products = 200, probes = 10, depth = 40, seed = 1;
  template <class Visit>
  void fields(Visit&& field) {
    field("at", at, meaning_of_at);
    field("split", split, "rows: train (with the prior), validation or test");
    field("count", count, "eigenvalues at either end");
    field("products", products, "at most so many products with vectors to find them");
    field("probes", probes, "random vectors for the trace and the density");
    field("depth", depth, "products for each random vector of the density");
    field("seed", seed, "of random directions and vectors");
  }
};

constexpr std::size_t most_for_all = 500;  // parameters of which all eigenvalues are computed

// The Hessian at a point over some entries of q, row and column i multiplied by factors[i].
class Curvature {
 public:
  Curvature(const EvaluatedRun& run, const HessianOptions& o)
      : problem_(run.problem),
        view_(view_named(problem_, o.split)),
        q_(point_at(run, o.at.empty() ? run.samples.run.string() : o.at)),
        progress_(run.progress) {
    for (const PartRecipe& part : problem_.recipe.parts) {
      std::vector<char> frozen(part.size, 0);
      for (const std::uint32_t i : part.frozen) frozen[i] = 1;
      auto& entries = parts_.emplace_back();
      for (std::size_t i = 0; i < part.size; ++i)
        if (!frozen[i]) entries.push_back(part.offset + i);
      all_.insert(all_.end(), entries.begin(), entries.end());
    }
  }

  const std::vector<std::size_t>& all() const { return all_; }
  const std::vector<std::size_t>& part(std::size_t k) const { return parts_[k]; }

  MakeOperator over(const std::vector<std::size_t>& entries, const std::vector<double>& factors = {}) const {
    return [=, this, &entries] {
      struct Own {  // of a thread
        Energy<double> U;
        std::optional<HessianAt> H = {};
        std::vector<double> v = {}, Hv = {};
      };
      auto own = std::make_shared<Own>(Own{energy_of(problem_, view_)});
      own->H.emplace(own->U, q_, Batch{});
      own->v.resize(q_.size());
      own->Hv.resize(q_.size());
      return Operator{entries.size(), [=, this, &entries](std::span<const double> v, std::span<double> Hv) {
                        const auto factor = [&](std::size_t i) { return factors.empty() ? 1 : factors[i]; };
                        for (std::size_t i = 0; i < entries.size(); ++i) own->v[entries[i]] = factor(i) * v[i];
                        own->H->times(own->v, own->Hv);
                        for (std::size_t i = 0; i < entries.size(); ++i) Hv[i] = factor(i) * own->Hv[entries[i]];
                        tell();
                      }};
    };
  }
  bool of_potential() const { return view_ == View::potential; }
  void expect(double products) { expected_ = products; }

  std::vector<double> all_eigenvalues() const {
    const Operator H = over(all_)();
    const std::size_t n = H.size;
    std::vector<double> matrix(n * n), unit(n), column(n);
    for (std::size_t i = 0; i < n; ++i) {
      unit[i] = 1;
      H.times(unit, column);
      unit[i] = 0;
      for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] += column[j] / 2, matrix[j * n + i] += column[j] / 2;
    }
    return eigenvalues(matrix);
  }

 private:
  void tell() const {
    const std::lock_guard lock(telling_);
    if (progress_) progress_(std::min(++made_, expected_), expected_, "points");
  }

  const Problem<double>& problem_;
  View view_;
  std::vector<double> q_;
  std::vector<std::vector<std::size_t>> parts_;
  std::vector<std::size_t> all_;
  Progress progress_;
  double expected_ = 1;
  mutable double made_ = 0;
  mutable std::mutex telling_;
};

// How unsymmetric the products are: |u.Hv - v.Hu| / sqrt(|Hu| |Hv| |u| |v|), which a symmetric matrix has at 0.
double asymmetry(const Operator& H, std::uint64_t seed) {
  std::vector<double> u(H.size), v(H.size), Hu(H.size), Hv(H.size);
  normals({stream_key(seed, "asymmetry")}, 0, u);
  normals({stream_key(seed, "asymmetry")}, H.size, v);
  H.times(u, Hu);
  H.times(v, Hv);
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  const double size = std::sqrt(std::sqrt(dot(Hu, Hu) * dot(Hv, Hv) * dot(u, u) * dot(v, v)));
  return size > 0 ? std::abs(dot(u, Hv) - dot(v, Hu)) / size : 0;
}

Figure density_figure(const SpectralDensity& density, const std::vector<double>& dense, std::size_t n) {
  const auto [low, high] = std::minmax_element(density.values.begin(), density.values.end());
  const double range = std::max(*high - *low, 1e-3 * std::abs(*high)), width = range / 100;
  Figure figure;
  figure.name = "density";
  figure.title = "Density of eigenvalues";
  figure.log_y = true;
  figure.x_label = "eigenvalue";
  figure.y_label = "density";
  figure.caption =
      fmt::format("Smoothed with Gaussians of width {:.3g}. Left of 0: directions in which U falls away.", width);
  Curve estimate{.name = "stochastic Lanczos"}, exact_one{.name = "all eigenvalues", .style = "dashed"};
  const SpectralDensity all{dense, std::vector<double>(dense.size(), 1.0 / double(dense.size()))};
  const double least = 1e-3 / (double(n) * width);  // on a logarithmic axis: far below a single eigenvalue
  constexpr int points = 400;
  for (int k = 0; k <= points; ++k) {
    const double x = *low - 0.04 * range + 1.08 * range * k / points;
    estimate.x.push_back(x);
    estimate.y.push_back(std::max(least, density.at(x, width)));
    if (!dense.empty()) {
      exact_one.x.push_back(x);
      exact_one.y.push_back(std::max(least, all.at(x, width)));
    }
  }
  figure.curves.push_back(std::move(estimate));
  if (!dense.empty()) figure.curves.push_back(std::move(exact_one));
  return figure;
}

// Gradients in a step: meetings that read one after q has moved.
double kicks(const Scheme& scheme) {
  double count = 0;
  bool moved = true;
  for (int pass = 0; pass < 2; ++pass) {
    count = 0;
    for (const Move& m : scheme.moves) {
      if (m.letter->joint == Joint::gradient && moved) {
        ++count;
        moved = false;
      }
      moved |= m.letter->moves_q;
    }
  }
  return std::max(1.0, count);
}

// A step h divided over k kicks is stable if a(h) x curvature < 1: a = (h/k)^2 / 4m with momenta, (h/k) / 2m without.
struct Stride {
  double step, mass, kicks;
  bool momentum;
  double factor() const { return momentum ? step * step / (4 * mass * kicks * kicks) : step / (2 * mass * kicks); }
  double limit(double curvature) const {
    if (curvature <= 0) return INFINITY;
    return momentum ? 2 * kicks * std::sqrt(mass / curvature) : 2 * kicks * mass / curvature;
  }
};

void advise(const EvaluatedRun& run, const Curvature& H, const LeadingPlan& plan, Finding& finding) {
  const Recipe& recipe = run.problem.recipe;
  const RunSettings& settings = run.problem.settings;
  const double last = double(settings.warmup + settings.steps);
  Table table;
  std::vector<double> roots;
  bool momenta = true;
  std::string worst;
  double worst_share = 0;
  for (std::size_t k = 0; k < recipe.parts.size(); ++k) {
    const PartRecipe& part = recipe.parts[k];
    const Stride stride{part.step.at(last), part.mass.at(last), kicks(part.scheme), part.scheme.has_momentum};
    const Leading mine = leading_eigenvalues(H.over(H.part(k))(), plan);
    const double curvature = mine.highest.empty() ? 0 : mine.highest[0].value, limit = stride.limit(curvature);
    momenta = momenta && stride.momentum;
    roots.insert(roots.end(), H.part(k).size(), std::sqrt(stride.factor()));
    if (stride.step / limit >= worst_share) {
      worst_share = stride.step / limit;
      worst = part.name;
    }
    table.row({{"part", part.name},
               {"scheme", part.scheme.text},
               {"step", stride.step},
               {"mass", stride.mass},
               {"curvature", curvature},
               {"limit", cell(limit)},
               {"step / limit", stride.step / limit}});
  }
  const Leading together = leading_eigenvalues(H.over(H.all(), roots)(), plan);
  const double joint = together.highest.empty() ? 0 : together.highest[0].value;
  if (joint >= 1)
    finding.words.push_back(fmt::format(
        "The steps are too large for this curvature (part \"{}\" has {:.3g} of its limit): the dynamics cannot stay "
        "here; divide the steps by {:.2g} or more.",
        worst, worst_share, 1.25 * (momenta ? std::sqrt(joint) : joint)));
  else
    finding.words.push_back(fmt::format(
        "The steps are stable at this curvature: part \"{}\" comes nearest, with {:.3g} of its limit; minibatches and "
        "sharper places need some room.",
        worst, worst_share));
  finding.tables.push_back({"steps at the end of the run, and limits", table});
}

Found find_hessian(const Subject& subject, const HessianOptions& o, const Progress& progress) {
  const EvaluatedRun run = evaluated_run(subject, progress);
  if (o.count < 1 || o.products < 2 || o.probes < 2 || o.depth < 2)
    throw Error("--count must be at least 1, --products, --probes and --depth at least 2");
  Curvature H(run, o);
  const std::size_t n = H.all().size(), parts = run.problem.recipe.parts.size();
  const bool dense = n <= most_for_all;
  H.expect(double(o.products) * double(parts + 2) + double(o.probes) * double(o.depth + 1) + (dense ? double(n) : 0));
  const LeadingPlan plan{std::size_t(o.count), std::size_t(o.products), 1e-6, std::uint64_t(o.seed)};
  const Probes probes{std::size_t(o.probes), run.threads, std::uint64_t(o.seed)};
  const Leading leading = leading_eigenvalues(H.over(H.all())(), plan);
  const MeanOf trace = trace_estimate(H.over(H.all()), probes);
  const SpectralDensity density = spectral_density(H.over(H.all()), probes, std::size_t(o.depth));
  const double crooked = asymmetry(H.over(H.all())(), plan.seed);
  const auto values = dense ? H.all_eigenvalues() : std::vector<double>();

  const std::string place = o.at.empty() ? run.samples.run.string() : o.at;
  Finding finding{.title = fmt::format("Second derivatives at {}", place)};
  finding.words.push_back(
      fmt::format("The curvature over {} parameters runs from {:.4g} to {:.4g}; its trace is {:.4g} +- {:.2g}.", n,
                  leading.lowest[0].value, leading.highest[0].value, trace.value, trace.error));
  finding.words.push_back(fmt::format(
      "Products with vectors are symmetric to {:.1g} of their size{}.", crooked,
      crooked < 1e-4 ? ""
                     : ": kinks (relu) or a U that is not finite nearby spoil them, so take the numbers with care"));
  Table ends;
  for (std::size_t k = 0; k < leading.highest.size(); ++k) {
    const auto &high = leading.highest[k], &low = leading.lowest[k];
    Table::Row row = {{"rank", k + 1},
                      {"highest", high.value},
                      {"highest_within", high.error},
                      {"lowest", low.value},
                      {"lowest_within", low.error}};
    if (dense) {
      row.push_back({"exact_highest", values[n - 1 - k]});
      row.push_back({"exact_lowest", values[k]});
    }
    ends.row(std::move(row));
  }
  finding.tables.push_back({"eigenvalues at either end", ends});
  Table sums;
  const auto sum = [&](const char* name, int power, const Table::Cell& estimate, const Table::Cell& error) {
    Table::Row row = {{"quantity", name}, {"estimate", estimate}, {"error", error}};
    double all = 0;
    for (const double x : values) all += std::pow(x, power);
    if (dense) row.push_back({"exact", all});
    sums.row(std::move(row));
  };
  sum("trace", 1, trace.value, trace.error);
  sum("trace of the square, from the density", 2, double(n) * density.moment(2), Table::Cell());
  finding.tables.push_back({"sums over eigenvalues", sums});
  finding.figures.push_back(density_figure(density, values, n));
  if (H.of_potential()) advise(run, H, {1, plan.products, plan.tolerance, plan.seed}, finding);
  return {finding};
}

}  // namespace

Question ask_hessian() { return ask(find_hessian); }

}  // namespace kelvin
