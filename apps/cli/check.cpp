// SPDX-License-Identifier: Apache-2.0
// `kelvin check`: a conjugate problem, Bayesian linear regression, with the user's scheme, step and temperature. Its
// posterior is a Gaussian known in closed form, so what the scheme does to it can be said exactly.
#include "apps/cli/command.h"
#include "kelvin/chain/affine_map.h"
#include "kelvin/core/toml.h"
#include "kelvin/io/json.h"
#include "kelvin/io/problem.h"
#include "kelvin/numeric/linear.h"
#include "kelvin/numeric/statistics.h"
#include "kelvin/run/problem.h"
#include "kelvin/run/run.h"

namespace kelvin::cli {
namespace {

constexpr int dimension = 4, row_count = 200;

struct CheckArguments {
  std::string file, scheme = "BAOAB", batch = "full";
  std::string step = "0.1", friction = "1", temperature = "posterior";
  double curvature = 1;
  long steps = 200000, seed = 1;
  bool json = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("file", file, "take scheme, step, friction and temperature from the parts of this run file",
          optional_argument);
    field("scheme", scheme, "letters or a name");
    field("step", step, "time of one pass through the scheme");
    field("friction", friction, "coupling to the bath; inf is allowed");
    field("temperature", temperature, "a number, or posterior (1/N)");
    field("batch", batch, "rows per gradient out of 200: full, 20, 10%");
    field("curvature", curvature,
          "curvature of the problem, about; your network's is what `kelvin landscape hessian RUN` shows",
          {.range = positive});
    field("steps", steps, "length of the run", {.range = {.least = 1000, .most = 1e9}});
    field("seed", seed, "seed", {.range = not_negative});
    field("json", json, "print JSON");
  }
};

RunSettings conjugate_problem(const CheckArguments& o, const PartSettings& part) {
  Value file = parse_toml(
      fmt::format(R"(
seed = {}
precision = "double"
data = {{ generator = {{ name = "linear", rows = {}, dimension = {}, noise = {} }} }}
model = {{ layers = [{}, 1], loss = "gaussian", scale = {}, prior = {{ name = "gaussian", scale = 10.0 }} }}
)",
                  o.seed, row_count, dimension, 1 / std::sqrt(o.curvature), dimension, 1 / std::sqrt(o.curvature)),
      "check");
  RunSettings settings = read_run_settings(file);
  settings.steps = o.steps;
  settings.batch.size.text = o.batch;
  settings.part["all"] = part;
  settings.part["all"].blocks = {"*"};
  return settings;
}

// The closed form, from the data and not from the potential: U(w) = mean((y - x.w - b)^2)/2 s^2 + |w, b|^2/(2 S^2 N) +
// const.
struct Posterior {
  std::vector<double> curvature;  // of U
  std::vector<double> mean;
};
Posterior closed_form(const Problem<double>& problem) {
  const Dataset& data = problem.data.train;
  constexpr std::size_t d = dimension, n = d + 1;
  const double N = double(data.rows), s = problem.settings.model.scale, S = 10;
  std::vector<double> X;  // with a last column of ones
  for (std::size_t i = 0; i < data.rows; ++i) {
    X.insert(X.end(), data.inputs.begin() + long(i * d), data.inputs.begin() + long((i + 1) * d));
    X.push_back(1);
  }
  const auto times_X = [&](const std::vector<double>& y) {  // X^T y / s^2 N
    std::vector<double> out(n, 0.0);
    add_turned_product({X, n}, y, out);
    for (double& x : out) x /= s * s * N;
    return out;
  };
  Posterior p;
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<double> column(data.rows);
    for (std::size_t i = 0; i < data.rows; ++i) column[i] = X[i * n + k];
    std::vector<double> slopes = times_X(column);
    slopes[k] += 1 / (S * S * N);
    p.curvature.insert(p.curvature.end(), slopes.begin(), slopes.end());
  }
  p.mean = Cholesky(p.curvature).solve(times_X(data.targets));
  return p;
}

// v^T C v, C of the first numbers of a larger law.
double variance_along(std::span<const double> v, const Matrix& C) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) sum += v[i] * C(i, j) * v[j];
  return sum;
}

Table compare_with_closed_form(const CheckArguments& o, const PartSettings& part, std::vector<std::string>& words) {
  const Problem<double> problem = make_problem<double>(conjugate_problem(o, part), [](std::string_view) {});
  const Posterior exact_law = closed_form(problem);
  const double T = problem.recipe.parts[0].temperature.at(0), h = problem.recipe.parts[0].step.at(0);
  if (T <= 0) throw Error("at temperature 0 there is no law to compare with; give a temperature above 0");
  const std::string& text = problem.recipe.parts[0].scheme.text;
  const SymmetricEigen eigen = symmetric_eigen(exact_law.curvature);
  const std::size_t n = exact_law.mean.size();

  // Exactly, where the string is an affine map.
  const bool affine = !problem.recipe.parts[0].scheme.proposes && o.batch == "full";
  Matrix law;
  if (affine) law = stationary_covariance(affine_map(*problem.energy, problem.recipe));

  // And by running it.
  const Noise<double> noise;
  std::vector<Chain<double>> walkers;
  walkers.push_back(problem.chain(0, noise));
  walkers[0].start(exact_law.mean);
  std::vector<std::vector<double>> squares(n);
  std::vector<double> kinetic;
  const std::uint64_t steps = std::uint64_t(o.steps);
  run<double>(
      walkers, {steps / 10, steps, 1, steps, 1},
      [&](const Draw<double>& draw) {
        for (std::size_t k = 0; k < n; ++k) {
          double x = 0;
          for (std::size_t i = 0; i < n; ++i) x += eigen.vector(k)[i] * (draw.q[i] - exact_law.mean[i]);
          squares[k].push_back(x * x);
        }
        kinetic.push_back(draw.reading.parts[0].kinetic_temperature);
      },
      [](std::uint64_t) {});

  Table table;
  double worst_law = 0, worst_run = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double variance = T / eigen.values[k];
    const Chains measured = {std::move(squares[k])};
    Table::Row row = {{"direction", k + 1}, {"curvature", eigen.values[k]}, {"exact variance", variance}};
    if (affine) {
      const double ratio = variance_along(eigen.vector(k), law) / variance;
      row.push_back({"scheme / exact", ratio});
      worst_law = std::abs(ratio - 1) > std::abs(worst_law) ? ratio - 1 : worst_law;
    }
    const double ratio = mean(measured) / variance, error = mcse_mean(measured) / variance;
    row.push_back({"run / exact", ratio});
    row.push_back({"error", error});
    if (std::abs(ratio - 1) / error > std::abs(worst_run)) worst_run = (ratio - 1) / error;
    table.row(std::move(row));
  }
  const auto percent = [](double x) {
    return fmt::format("{:.3g} % too {}", 100 * std::abs(x), x > 0 ? "large" : "small");
  };
  if (affine && std::abs(worst_law) < 1e-9)
    words.push_back(
        fmt::format("{} with step {:.4g} has exactly the right position variances on this problem.", text, h));
  else if (affine)
    words.push_back(
        fmt::format("{} with step {:.4g} settles at a position variance up to {}; the error shrinks with the step.",
                    text, h, percent(worst_law)));
  words.push_back(
      std::abs(worst_run) < 4
          ? fmt::format("A run of {} steps agrees with the exact posterior within its errors (at most {:.2g} standard "
                        "errors off).",
                        o.steps, std::abs(worst_run))
          : fmt::format("A run of {} steps is off by {:.3g} standard errors: the difference is real{}.", o.steps,
                        std::abs(worst_run),
                        o.batch == "full"
                            ? "; use a smaller step or BAOAB"
                            : "; the noise of the minibatches heats it: use larger ones or a smaller step"));
  if (problem.recipe.parts[0].scheme.kinetic_exact) {
    words.push_back(
        fmt::format("Kinetic temperature / T = {:.4f} +- {:.4f}.", mean({kinetic}) / T, mcse_mean({kinetic}) / T));
  }
  return table;
}

std::map<std::string, PartSettings> parts_to_check(const CheckArguments& o) {
  if (!o.file.empty()) return read_run_settings(read_toml(o.file)).part;
  Value value = parse_toml("", "command line");
  for (const auto& [key, text] :
       {std::pair{"scheme", o.scheme}, {"step", o.step}, {"friction", o.friction}, {"temperature", o.temperature}})
    override_with(value, std::string(key) + "=" + text);
  std::map<std::string, PartSettings> parts;
  read(parts["all"], value, "");
  return parts;
}

void check_scheme(const CheckArguments& o) {
  const std::map<std::string, PartSettings> parts = parts_to_check(o);
  Value::Group all;
  for (const auto& [name, part] : parts) {
    std::vector<std::string> words;
    const Table table = compare_with_closed_form(o, part, words);
    if (o.json) {
      all[name] = Value::Group{{"directions", as_value(table)}, {"words", words}};
      continue;
    }
    if (parts.size() > 1) print(fmt::format("part \"{}\"\n", name));
    print(as_text(table));
    for (const auto& w : words) print(w + "\n");
  }
  if (o.json) print(to_json(all, 2) + "\n");
}

}  // namespace

Command check_command() {
  return {.name = "check",
          .summary = "try a scheme, step and temperature on a problem with a known posterior",
          .footer = "Example:  kelvin check --scheme OBABO --step 0.5 --friction 2",
          .call = calls(check_scheme)};
}

}  // namespace kelvin::cli
