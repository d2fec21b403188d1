// SPDX-License-Identifier: Apache-2.0
#include "kelvin/energy/prior.h"

#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kelvin/energy/likelihood.h"
#include "kelvin/energy/loss.h"
#include "kelvin/energy/quadratic.h"
#include "kelvin/function/activation.h"
#include "kelvin/function/gemm.h"
#include "kelvin/function/network.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {
namespace {

double sign(double x) { return double((x > 0) - (x < 0)); }
std::string_view none_wrong(const double*) { return ""; }
std::string_view scale_above_0(const double* a) { return a[1] > 0 ? "" : "scale must be above 0"; }

// a: the numbers of the row, in the order of its parameters.
struct Flat {
  static double energy(double, const double*) { return 0; }
  static double slope(double, const double*) { return 0; }
  static bool proper(const double*) { return false; }
  static constexpr auto fault = none_wrong;
};

// (q - mean)^2 / (2 scale^2)
struct Gaussian {
  static double energy(double q, const double* a) { return (q - a[0]) * (q - a[0]) / (2 * a[1] * a[1]); }
  static double slope(double q, const double* a) { return (q - a[0]) / (a[1] * a[1]); }
  static double stiffness(const double* a) { return 1 / (a[1] * a[1]); }
  static bool proper(const double* a) { return std::isfinite(a[1]); }
  static constexpr auto fault = scale_above_0;
};

// q^2 / (2 scale^2), with a scale for each block
struct ByFanIn {
  static double energy(double q, const double* a) { return q * q / (2 * a[0] * a[0]); }
  static double slope(double q, const double* a) { return q / (a[0] * a[0]); }
  static double stiffness(const double* a) { return 1 / (a[0] * a[0]); }
  static constexpr double centre = 0;
  static bool proper(const double* a) { return std::isfinite(a[0]); }
  static std::string_view fault(const double* a) { return a[0] > 0 ? "" : "scale must be above 0"; }
  static constexpr bool by_fan_in = true;
};

// The same where the scale is what the layer's own is expected to be. With a scale e^t: q^2 e^(-2 t) / 2 + t for each
// weight, added in terms.cpp.
struct Hierarchical : ByFanIn {
  static std::string_view fault(const double* a) {
    return a[0] > 0 && a[1] > 0 ? "" : "scale and spread must be above 0";
  }
  static constexpr bool learned = true;
};

// |q - mean| / scale
struct Laplace {
  static double energy(double q, const double* a) { return std::abs(q - a[0]) / a[1]; }
  static double slope(double q, const double* a) { return sign(q - a[0]) / a[1]; }
  static bool proper(const double* a) { return std::isfinite(a[1]); }
  static constexpr auto fault = scale_above_0;
};

// strength * d^power, d the distance beyond the nearer wall
struct Walls {
  static double beyond(double q, const double* a) { return std::max(q - a[1], 0.0) - std::max(a[0] - q, 0.0); }
  static double energy(double q, const double* a) { return a[2] * std::pow(std::abs(beyond(q, a)), a[3]); }
  static double slope(double q, const double* a) {
    const double d = beyond(q, a);
    return d == 0 ? 0 : a[2] * a[3] * std::pow(std::abs(d), a[3] - 1) * sign(d);
  }
  static bool proper(const double* a) { return std::isfinite(a[0]) && std::isfinite(a[1]); }
  static std::string_view fault(const double* a) {
    if (!(a[0] <= a[1])) return "lower must not be above upper";
    return a[2] > 0 && a[3] >= 1 ? "" : "strength must be above 0 and power at least 1";
  }
};

// strength * |q - center|^power
struct Tether {
  static double energy(double q, const double* a) { return a[1] * std::pow(std::abs(q - a[0]), a[2]); }
  static double slope(double q, const double* a) {
    return a[1] * a[2] * std::pow(std::abs(q - a[0]), a[2] - 1) * sign(q - a[0]);
  }
  static bool proper(const double*) { return true; }
  static std::string_view fault(const double* a) {
    return a[1] > 0 && a[2] >= 1 ? "" : "strength must be above 0 and power at least 1";
  }
};

template <class P, class Real>
double add(std::span<const Real> q, const double* numbers, double share, std::span<Real> g) {
  if constexpr (requires { P::stiffness(numbers); }) {  // that of a spring tied to the first number
    const double k = P::stiffness(numbers);
    double centre = numbers[0];
    if constexpr (requires { P::centre; }) centre = P::centre;
    return k / 2 * add_springs(share * k, centre, q, g);
  }
  constexpr std::size_t apart = 8;  // sums that do not wait for each other
  double sums[apart] = {};
  for (std::size_t i = 0; i < q.size(); ++i) {
    sums[i % apart] += P::energy(double(q[i]), numbers);
    g[i] += Real(share * P::slope(double(q[i]), numbers));
  }
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

template <class P>
constexpr Prior row(std::string_view name, std::span<const Parameter> parameters, std::string_view meaning) {
  return {name, parameters, P::energy, P::slope, P::proper, P::fault, add<P, float>, add<P, double>,
          requires {P::by_fan_in;
}
, requires { P::learned; }
, meaning
};  // namespace
}  // namespace kelvin

constexpr Parameter location_scale[] = {{"mean", "0.0", "where the density is highest"}, {"scale", "1.0", "its width"}};
constexpr Parameter wall_numbers[] = {{"lower", "-inf", "no force above this"},
                                      {"upper", "inf", "no force below this"},
                                      {"strength", "1.0", "energy at distance 1 beyond a wall"},
                                      {"power", "2.0", "of the distance"}};
constexpr Parameter tether_numbers[] = {{"center", "0.0", "where it is tied"},
                                        {"strength", "1.0", "energy at distance 1"},
                                        {"power", "2.0", "of the distance"}};

constexpr Parameter fan_in_numbers[] = {{"scale", "1.0", "standard deviation of what a unit's weights add up to"}};
constexpr Parameter hierarchical_numbers[] = {{"scale", "1.0", "the same, about which learned scales lie"},
                                              {"spread", "1.0", "standard deviation of their logarithm about its own"}};

constexpr Prior all_priors[] = {
    row<Flat>("flat", {}, "no prior at all; cannot be normalised by itself"),
    row<Gaussian>("gaussian", location_scale,
                  "normal with that mean and standard deviation: (q - mean)^2 / (2 scale^2)"),
    row<Laplace>("laplace", location_scale, "double exponential: |q - mean| / scale"),
    row<Walls>("walls", wall_numbers, "soft walls: strength (distance beyond lower or upper)^power"),
    row<ByFanIn>(
        "fan_in", fan_in_numbers,
        "normal about 0; weights with the standard deviation scale / sqrt(inputs of their unit), others scale"),
    row<Hierarchical>("hierarchical", hierarchical_numbers,
                      "as fan_in, the scale of the weights of each layer learned in a block layerN.log_scale"),
    row<Tether>("tether", tether_numbers, "strength |q - center|^power"),
};

// A bare number was read as the value of a row "constant", which here means the scale of a gaussian.
Choice with_name(const Choice& given) {
  if (given.name != "constant") return given;
  Choice choice("gaussian", {{"scale", given.values.at("value")}});
  choice.where = given.where;
  return choice;
}

// "*.bias" and "layer2.bias=0.5" freeze whole blocks, "layer1.weight[0,2]" does not.
bool frozen(const std::string& block, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) {
    return p.find('[') == p.npos && fnmatch(p.substr(0, p.find('=')).c_str(), block.c_str(), 0) == 0;
  });
}

std::string quoted(const std::vector<std::string>& names) { return fmt::format("\"{}\"", fmt::join(names, "\", \"")); }

double norm_of(std::span<const double> x) { return std::sqrt(square_norm(x)); }

void take_off_mean(std::span<double> x) {
  double sum = 0;
  for (const double v : x) sum += v;
  for (double& v : x) v -= sum / double(x.size());
}

// Least squares of the targets on the inputs (and a constant): what a network without hidden layers can do with them.
struct LinearFit {
  std::size_t rows, columns;
  std::vector<double> x;  // inputs, column by column; with a constant: less their means; columns of length 1
  std::string dependent;  // why there is no unique fit; empty if there is one

  LinearFit(const Dataset& data, bool weights, bool constant)
      : rows(data.rows), columns(weights ? data.input_count() : 0) {
    if (rows < columns + constant) {
      dependent = fmt::format("{} rows cannot fix {} weights per output", rows, columns + constant);
      return;
    }
    x.resize(rows * columns);
    for (std::size_t j = 0; j < columns; ++j) {
      const std::span<double> column = std::span(x).subspan(j * rows, rows);
      for (std::size_t i = 0; i < rows; ++i) column[i] = data.inputs[i * data.input_count() + j];
      const double before = norm_of(column);
      if (constant) take_off_mean(column);
      const double after = norm_of(column);
      if (after <= 1e-12 * before) {
        dependent = fmt::format("input \"{}\" is {}", data.input_names[j], constant ? "constant" : "always 0");
        return;
      }
      for (double& v : column) v /= after;
    }
    if (columns == 0) return;
    // Eigenvalues of x^T x are squares of the singular values: 1e-12 here means columns alike to one part in a million.
    const std::vector<double> values = eigenvalues(gram());
    const auto rank = std::ranges::count_if(values, [&](double v) { return v > 1e-12 * values.back(); });
    if (std::size_t(rank) < columns)
      dependent = fmt::format("the {} inputs are linearly dependent (rank {})", columns, rank);
  }

  std::vector<double> gram() const {
    std::vector<double> out(columns * columns);
    // Stored column by column, x is x^T row by row.
    gemm(1, {x.data(), columns, rows, rows}, {x.data(), columns, rows, rows, true}, 0, out.data(), columns);
    return out;
  }
};

bool may_fit_exactly(const Dataset& data, std::span<const double> targets) {
  const LinearFit fit(data, true, true);
  if (!fit.dependent.empty() || data.rows <= data.input_count() + 1) return true;
  const std::size_t width = targets.size() / data.rows;
  const RowsView turned{fit.x, fit.rows};  // x^T row by row
  const Cholesky gram(fit.gram());
  for (std::size_t k = 0; k < width; ++k) {
    std::vector<double> y;
    for (std::size_t i = 0; i < data.rows; ++i) y.push_back(targets[i * width + k]);
    const double before = norm_of(y);
    take_off_mean(y);
    std::vector<double> weights = gram.solve(product(turned, y));
    for (double& w : weights) w = -w;
    add_turned_product(turned, weights, y);
    if (norm_of(y) <= 1e-6 * before) return true;
  }
  return false;
}

}  // namespace

std::span<const Prior> priors() { return all_priors; }

PriorNumbers prior_of(const Choice& given) {
  const Choice choice = with_name(given);
  const Prior& row = row_named(choice.name, priors(), "prior", choice.where);
  const Choice full = choice.completed(row.parameters, "prior");
  PriorNumbers out{&row, {}};
  for (const Parameter& p : row.parameters) out.numbers.push_back(full.number(p.name));
  if (const auto fault = row.fault(out.numbers.data()); !fault.empty())
    throw Error("{}{}prior \"{}\": {}", choice.where, choice.where.empty() ? "" : ": ", row.name, fault);
  return out;
}

PriorNumbers prior_of(const Choice& given, const Block& block) {
  PriorNumbers out = prior_of(given);
  if (out.row->by_fan_in && block.role == Role::weight && block.fan_in > 0)
    out.numbers[0] /= std::sqrt(double(block.fan_in));
  return out;
}

std::string name_of_scale(const Block& weights) { return fmt::format("layer{}.log_scale", weights.layer); }

std::vector<Block> learned_scales(const Choice& given, std::span<const Block> blocks) {
  const PriorNumbers prior = prior_of(given);
  std::vector<Block> out;
  if (!prior.row->learned) return out;
  for (const Block& b : blocks)
    if (b.role == Role::weight && (out.empty() || out.back().layer != b.layer))
      out.push_back(
          {.name = name_of_scale(b), .role = Role::scale, .layer = b.layer, .neutral = std::log(prior.numbers[0])});
  return out;
}

Choice prior_of_scales(const Choice& given) {
  const PriorNumbers prior = prior_of(given);
  Choice out("gaussian");
  out.values["mean"].is = std::log(prior.numbers[0]);
  out.values["scale"].is = prior.numbers[1];
  return out;
}

bool PriorNumbers::flat() const { return row->energy == Flat::energy; }

std::string why_improper(const ModelSettings& settings, const Dataset& data, const std::vector<BlockPrior>& given) {
  if (settings.toy.given()) return "";
  std::set<std::string> held;
  for (const BlockPrior& p : given)
    if (prior_of(p.prior).proper()) held.insert(p.block);
  std::vector<std::string> loose;
  std::vector<Block> free_blocks;
  std::uint32_t last = 0;
  for (const Block& b : model_blocks(settings, data.input_shape())) {
    last = std::max(last, b.layer);
    if (b.buffer() || held.contains(b.name) || frozen(b.name, settings.freeze)) continue;
    loose.push_back(b.name);
    free_blocks.push_back(b);
  }
  if (loose.empty()) return "";

  const auto free = [&](Role role) {  // of the last layer, or the scale
    return std::ranges::any_of(
        free_blocks, [&](const Block& b) { return b.role == role && (b.layer == last || role == Role::scale); });
  };
  const std::string cure = fmt::format("give {} a prior, for example prior = 1.0", quoted(loose));
  const Activation& output = activation_named(settings.output);
  const Loss& loss = loss_named(settings.loss);
  const bool scale = free(Role::scale);

  if (last > 1 && loose.size() > std::size_t(free(Role::bias) + scale))
    return fmt::format(
        "the posterior cannot be normalised: units that saturate or die leave their weights free, and larger "
        "weights before a unit can be undone by smaller ones after it; {}",
        cure);
  if (last > 1 && scale)
    return fmt::format(
        "the posterior may not be normalisable: a network that fits the targets exactly lets the learned "
        "scale shrink to 0; {}, or fix model.scale",
        cure);
  if (output.bounded())
    return fmt::format(
        "the posterior cannot be normalised: the output activation \"{}\" is bounded, so large weights cost "
        "nothing; {}",
        output.name, cure);
  if (!loss.confines())
    return fmt::format("the posterior may not be normalisable: with loss \"{}\" {}; {}", loss.name, loss.escape, cure);
  if ((free(Role::weight) || scale) && data.input_count() > 500)
    return fmt::format(
        "the posterior may not be normalisable: whether {} inputs are linearly independent is not checked "
        "beyond 500; {}",
        data.input_count(), cure);
  const LinearFit fit(data, free(Role::weight), free(Role::bias));
  if (!fit.dependent.empty())
    return fmt::format("the posterior cannot be normalised: {}, so some weights are not fixed by the data; {}",
                       fit.dependent, cure);
  // At T = 1/N a learned standard deviation s has the density s^(weights - N) exp(-S / s^2) d log s: normalisable if
  // the smallest sum of squares S is above 0 and there are more rows than weights.
  if (scale && may_fit_exactly(data, encode(loss, data, network_outputs(settings, data.input_shape()), {}).values))
    return fmt::format(
        "the posterior may not be normalisable: some target can be fitted exactly, which lets the learned "
        "scale shrink to 0; {}, or fix model.scale",
        cure);
  return "";
}

}  // namespace kelvin
