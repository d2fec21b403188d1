// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/generators.h"

#include <array>
#include <cmath>
#include <numbers>

#include "kelvin/core/noise.h"
#include "kelvin/core/text.h"
#include "kelvin/numeric/linear.h"

namespace kelvin {
namespace {

using std::numbers::pi;

Dataset empty_set(std::size_t rows, std::size_t inputs) {
  Dataset data;
  data.rows = rows;
  data.input_names = column_names(inputs, "x");
  data.target_names = {"y"};
  return data;
}

struct Point {
  double x1, x2;
};

// Classes alternate row by row, so any run of rows is balanced.
template <class PointOf>
Dataset two_classes(const Draws& draws, PointOf&& point_of) {
  Dataset data = empty_set(draws.rows, 2);
  std::vector<double>& x = data.inputs.doubles();
  for (std::size_t i = 0; i < draws.rows; ++i) {
    const int label = i % 2;
    const Point at = point_of(i, label);
    x.insert(x.end(), {at.x1, at.x2});
    data.targets.push_back(label);
  }
  return data;
}

// (x1, x2) = a t^p (cos, sin)(2 pi b t^p + pi y) + c N, t ~ U(0, 1)
Dataset spiral(const Choice& is, const Draws& z) {
  const double a = is.number("a"), b = is.number("b"), p = is.number("p"), c = is.number("c");
  return two_classes(z, [&](std::size_t i, int label) {
    const double r = std::pow(z.uniform(0, i), p), angle = 2 * pi * b * r + pi * label;
    return Point{a * r * std::cos(angle) + c * z.normal(1, i), a * r * std::sin(angle) + c * z.normal(2, i)};
  });
}

// x1 ~ U(0, a), x2 = cos(b pi x1) + c N for y = 0, sin for y = 1
Dataset trigonometric(const Choice& is, const Draws& z) {
  const double a = is.number("a"), b = is.number("b"), c = is.number("c");
  return two_classes(z, [&](std::size_t i, int label) {
    const double x = a * z.uniform(0, i), angle = b * pi * x;
    return Point{x, (label ? std::sin(angle) : std::cos(angle)) + c * z.normal(1, i)};
  });
}

// (x1, x2) ~ N(+-(d, d), s^2 I), s = 0.5 + 7 noise, + for y = 1
Dataset clusters(const Choice& is, const Draws& z) {
  const double d = is.number("d"), s = 0.5 + 7 * is.number("noise");
  return two_classes(z, [&](std::size_t i, int label) {
    const double centre = label ? d : -d;
    return Point{centre + s * z.normal(0, i), centre + s * z.normal(1, i)};
  });
}

// distance from 0 ~ U(0, r/2) for y = 1, U(0.7 r, r) for y = 0; each coordinate + noise r U(-1, 1)
Dataset circles(const Choice& is, const Draws& z) {
  const double r = is.number("r"), shift = r * is.number("noise");
  return two_classes(z, [&](std::size_t i, int label) {
    const double u = z.uniform(0, i), distance = r * (label ? 0.5 * u : 0.7 + 0.3 * u),
                 angle = 2 * pi * z.uniform(1, i);
    return Point{distance * std::cos(angle) + shift * (2 * z.uniform(2, i) - 1),
                 distance * std::sin(angle) + shift * (2 * z.uniform(3, i) - 1)};
  });
}

// |x1|, |x2| ~ U(padding, r), the signs equal for y = 1 and opposite for y = 0; each coordinate + noise r U(-1, 1)
Dataset squares(const Choice& is, const Draws& z) {
  const double r = is.number("r"), padding = is.number("padding"), shift = r * is.number("noise");
  return two_classes(z, [&](std::size_t i, int label) {
    const double side = z.uniform(2, i) < 0.5 ? -1 : 1, other = label ? side : -side;
    return Point{side * (padding + (r - padding) * z.uniform(0, i)) + shift * (2 * z.uniform(3, i) - 1),
                 other * (padding + (r - padding) * z.uniform(1, i)) + shift * (2 * z.uniform(4, i) - 1)};
  });
}

// (cos t, sin t) for y = 0, (1 - cos t, 1/2 - sin t) for y = 1, t ~ U(0, pi); each coordinate + noise N
Dataset moons(const Choice& is, const Draws& z) {
  const double s = is.number("noise");
  return two_classes(z, [&](std::size_t i, int label) {
    const double t = pi * z.uniform(0, i), x = std::cos(t), y = std::sin(t);
    return Point{(label ? 1 - x : x) + s * z.normal(1, i), (label ? 0.5 - y : y) + s * z.normal(2, i)};
  });
}

// |x1| ~ U(gap, reach), either sign, y = sin(b x1) + noise N
Dataset gap(const Choice& is, const Draws& z) {
  const double reach = is.number("reach"), hole = is.number("gap"), b = is.number("b"), s = is.number("noise");
  Dataset data = empty_set(z.rows, 1);
  for (std::size_t i = 0; i < z.rows; ++i) {
    const double x = (z.uniform(1, i) < 0.5 ? -1 : 1) * (hole + (reach - hole) * z.uniform(0, i));
    data.inputs.doubles().push_back(x);
    data.targets.push_back(std::sin(b * x) + s * z.normal(2, i));
  }
  return data;
}

std::size_t whole(const Choice& is, std::string_view parameter, double least) {
  const double x = is.number(parameter);
  if (x != std::floor(x) || x < least || x > 1e9)
    throw Error("{}{}{} of \"{}\" is {}; it must be a whole number from {} to 1e9", is.where,
                is.where.empty() ? "" : ": ", parameter, is.name, x, least);
  return std::size_t(x);
}

// x ~ N(0, I), y = x.w + noise N with w ~ N(0, I)
Dataset linear(const Choice& is, const Draws& z) {
  const std::size_t d = whole(is, "dimension", 1);
  const double s = is.number("noise");
  std::vector<double> w(d);
  normals({.key = z.shared}, 0, w);
  Dataset data = empty_set(z.rows, d);
  std::vector<double>& x = data.inputs.doubles();
  x.resize(z.rows * d);
  normals({.key = z.own}, 0, x);
  for (std::size_t i = 0; i < z.rows; ++i) {
    double y = s * z.normal(1, i);
    for (std::size_t j = 0; j < d; ++j) y += w[j] * x[i * d + j];
    data.targets.push_back(y);
  }
  return data;
}

// The mean of (w.x)^2 over the n = dimension rows is w' C w, with C = V diag(l) V': row i is x = sqrt(n l_i) V_i, y =
// 0. V are the eigenvectors of a random symmetric matrix, l is equally spaced from `smallest` to `largest`.
Dataset factor(const Choice& is, const Draws& z) {
  const std::size_t n = whole(is, "dimension", 1);
  const double low = is.number("smallest"), high = is.number("largest");
  std::vector<double> numbers(n * n);
  normals({.key = z.shared}, 0, numbers);
  std::vector<double> symmetric(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) symmetric[i * n + j] = numbers[i * n + j] + numbers[j * n + i];
  const SymmetricEigen solved = symmetric_eigen(symmetric);
  Dataset data = empty_set(n, n);
  data.targets.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double l = n == 1 ? low : low + (high - low) * double(i) / double(n - 1);
    for (const double v : solved.vector(i)) data.inputs.doubles().push_back(std::sqrt(double(n) * l) * v);
  }
  return data;
}

// ---- the lines of sets whose geometry is known

// t from low to high through f(t).
template <class PointOf>
Path path(std::string name, double low, double high, PointOf&& f) {
  constexpr int n = 2000;
  Path out{std::move(name), {}, {}, false};
  for (int i = 0; i <= n; ++i) {
    const Point at = f(low + (high - low) * i / n);
    out.x.push_back(at.x1);
    out.y.push_back(at.x2);
  }
  return out;
}

Path between(Path line) {
  line.name = "true boundary";
  line.between = true;
  return line;
}

// The boundary is half a half turn behind each arm, one line through 0.
std::vector<Path> spiral_paths(const Choice& is) {
  const double a = is.number("a"), b = is.number("b");
  const auto arm = [=](double turn) {
    return [=](double r) {
      const double angle = 2 * pi * b * std::abs(r) + turn;
      return Point{a * r * std::cos(angle), a * r * std::sin(angle)};
    };
  };
  return {path("arm of class 0", 0, 1, arm(0)), path("arm of class 1", 0, 1, arm(pi)),
          between(path("", -1, 1, arm(pi / 2)))};
}

std::vector<Path> trigonometric_paths(const Choice& is) {
  const double a = is.number("a"), b = is.number("b");
  return {path("cosine of class 0", 0, a,
               [=](double x) {
                 return Point{x, std::cos(b * pi * x)};
               }),
          path("sine of class 1", 0, a, [=](double x) {
            return Point{x, std::sin(b * pi * x)};
          })};
}

std::vector<Path> clusters_paths(const Choice& is) {
  const double far = 2 * is.number("d");
  return {between(path("", -far, far, [](double t) { return Point{t, -t}; }))};
}

// The middle of the empty ring.
std::vector<Path> circles_paths(const Choice& is) {
  const double r = 0.6 * is.number("r");
  return {between(path("", 0, 2 * pi, [=](double t) { return Point{r * std::cos(t), r * std::sin(t)}; }))};
}

std::vector<Path> squares_paths(const Choice& is) {
  const double r = is.number("r");
  return {between(path("", -r, r,
                       [](double t) {
                         return Point{t, 0};
                       })),
          between(path("", -r, r, [](double t) {
            return Point{0, t};
          }))};
}

std::vector<Path> moons_paths(const Choice&) {
  return {path("half circle of class 0", 0, pi,
               [](double t) {
                 return Point{std::cos(t), std::sin(t)};
               }),
          path("half circle of class 1", 0, pi, [](double t) {
            return Point{1 - std::cos(t), 0.5 - std::sin(t)};
          })};
}

constexpr Parameter seed_parameter = {"seed", "-1", "of the random numbers; below 0 the seed of the run"};

// A generator's own parameters, then those that all sampled sets take.
template <std::size_t n>
constexpr std::array<Parameter, n + 4> sampled(const Parameter (&own)[n]) {
  std::array<Parameter, n + 4> all;
  std::copy(own, own + n, all.begin());
  all[n] = {"rows", "1000", "training rows"};
  all[n + 1] = {"validation", "0", "further rows for validation"};
  all[n + 2] = {"test", "0", "further rows for testing"};
  all[n + 3] = seed_parameter;
  return all;
}

constexpr auto spiral_takes = sampled({
    {"a", "2", "radius"},
    {"b", "1", "turns"},
    {"p", "0.5", "power of t: 0.5 spreads points evenly along the arm's area"},
    {"c", "0.02", "standard deviation of the noise"},
});
constexpr auto trigonometric_takes = sampled({
    {"a", "3", "x1 runs from 0 to a"},
    {"b", "2", "half periods per unit of x1"},
    {"c", "0.02", "standard deviation of the noise on x2"},
});
constexpr auto clusters_takes = sampled({
    {"d", "2", "the centres are (d, d) and (-d, -d)"},
    {"noise", "0", "the standard deviation is 0.5 + 7 noise"},
});
constexpr auto circles_takes = sampled({
    {"r", "5", "outer radius"},
    {"noise", "0", "each coordinate moves by up to noise r"},
});
constexpr auto squares_takes = sampled({
    {"r", "5", "half the side"},
    {"padding", "0.3", "half the width of the empty cross"},
    {"noise", "0", "each coordinate moves by up to noise r"},
});
constexpr auto moons_takes = sampled({
    {"noise", "0.1", "standard deviation of the noise"},
});
constexpr auto gap_takes = sampled({
    {"reach", "3", "largest distance of x1 from 0"},
    {"gap", "1", "smallest distance of x1 from 0"},
    {"b", "2", "frequency"},
    {"noise", "0.1", "standard deviation of the noise on y"},
});
constexpr auto linear_takes = sampled({
    {"dimension", "2", "number of inputs"},
    {"noise", "0.1", "standard deviation of the noise on y"},
});
constexpr Parameter factor_takes[] = {
    {"dimension", "2", "number of inputs, and of rows"},
    {"smallest", "1", "smallest eigenvalue of C"},
    {"largest", "100", "largest eigenvalue of C"},
    seed_parameter,
};

constexpr Generator all_generators[] = {
    {"spiral", spiral_takes, "two interlocking spiral arms (classes)", spiral, spiral_paths},
    {"trigonometric", trigonometric_takes, "points on a cosine and on a sine (classes)", trigonometric,
     trigonometric_paths},
    {"clusters", clusters_takes, "two Gaussian clusters (classes)", clusters, clusters_paths},
    {"circles", circles_takes, "a disc of radius r/2 within a ring from 0.7 r to r (classes)", circles, circles_paths},
    {"squares", squares_takes, "four squares, opposite ones alike (classes)", squares, squares_paths},
    {"moons", moons_takes, "two interlocking half circles (classes)", moons, moons_paths},
    {"gap", gap_takes, "a sine with no data in the middle (numbers)", gap},
    {"linear", linear_takes, "linear regression with Gaussian inputs, weights and noise (numbers)", linear},
    {"factor", factor_takes, "rank-one factors: the mean squared loss of a linear network without bias is w' C w",
     factor},
};

}  // namespace

double Draws::uniform(std::uint16_t place, std::size_t i) const {
  return kelvin::uniform({.key = own, .place = place}, i);
}

double Draws::normal(std::uint16_t place, std::size_t i) const {
  double z = 0;
  normals({.key = own, .place = place}, i, {&z, 1});
  return z;
}

std::span<const Generator> generators() { return all_generators; }

std::vector<Path> known_paths(const Choice& choice) {
  const Generator& row = row_named(choice.name, generators(), "generator", choice.where);
  return row.paths ? row.paths(choice.completed(row.parameters, "generator")) : std::vector<Path>();
}

Splits generate(const Choice& choice, std::uint64_t seed) {
  const Generator& row = row_named(choice.name, generators(), "generator", choice.where);
  const Choice is = choice.completed(row.parameters, "generator");
  if (const double given = is.number("seed"); given >= 0) seed = std::uint64_t(given);
  const auto draw = [&](std::string_view split, std::size_t rows) {
    const auto key = [&](std::string_view purpose) {
      return stream_key(seed, fmt::format("{} {}", row.name, purpose));
    };
    return row.draw(is, {.own = key(split), .shared = key("shared"), .rows = rows});
  };
  // A set that takes no number of rows has but one form, and nothing to test on.
  if (!is.has("rows")) return {.train = draw("train", 0), .validation = {}, .test = {}};
  return {.train = draw("train", whole(is, "rows", 1)),
          .validation = draw("validation", whole(is, "validation", 0)),
          .test = draw("test", whole(is, "test", 0))};
}

}  // namespace kelvin
