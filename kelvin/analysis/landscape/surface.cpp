// SPDX-License-Identifier: Apache-2.0
// Surfaces: point(a, b) = centre + a d0 + b d1. To span one by other directions, add a row to `spans`.
#include <cmath>

#include "kelvin/analysis/landscape/landscape.h"
#include "kelvin/analysis/posterior/covariance.h"
#include "kelvin/io/npy.h"

namespace kelvin {
namespace {

struct SurfaceOptions {
  std::string spanned_by = "covariance", at, from = "start", to, other, directions;
  std::vector<std::string> of;
  MovingBlocks moving;
  std::vector<double> scale = {1};
  double reach = 0;
  long intervals = 0, seed = 1;
  bool log = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("spanned_by", spanned_by, "directions of the surface: covariance, random, optima or given");
    field("of", of, meaning_of_quantities);
    field("at", at, meaning_of_at);
    field("from", from, meaning_of_place);
    field("to", to, meaning_of_end);
    field("other", other, "the second optimum, likewise");
    field("directions", directions,
          ".npz file with the arrays v0 and v1, and perhaps mean; each as long as all blocks together");
    moving.fields(field);
    field("scale", scale, "half-widths of the surface in units of its reach, one surface for each: 0.1,1,10");
    field("reach", reach,
          "half-width at scale 1, in lengths of the directions; by default what holds all draws, 1 for random "
          "directions");
    field("intervals", intervals, "equal intervals of an axis; by default 40");
    field("log", log, "show the logarithm to base 10");
    field("seed", seed, "of random directions and vectors");
  }
};

struct PlanePoint {
  double x, y;
};
PlanePoint same(PlanePoint p) { return p; }

// A plane and the coordinates (x, y) it is drawn in.
struct SurfacePlane {
  std::vector<double> centre, d0, d1;
  std::string x_label, y_label;
  double reach = 0;  // half-width at scale 1; 0: what holds all draws
  bool square = false;
  PlanePoint (*into)(PlanePoint xy) = same;  // -> a, b
  PlanePoint (*from)(PlanePoint ab) = same;
};

std::string run_of(const EvaluatedRun& run) { return run.samples.run.string(); }
std::string or_last(const std::string& place, const EvaluatedRun& run) { return place.empty() ? run_of(run) : place; }

bool has_draws(const EvaluatedRun& run) {
  const Samples& samples = run.samples;
  return samples.draws > 0 && samples.manifest.arrays.contains("posterior/" + samples.blocks.front());
}

// mean, v0, v1 in a file: flat, laid out as the run's blocks are.
SurfacePlane plane_in(const std::string& file, const EvaluatedRun& run, const SurfaceOptions& o) {
  const std::size_t size = run.problem.recipe.size;
  const auto arrays = read_npz(file);
  const auto take = [&](const char* name) {
    const auto at = arrays.find(name);
    if (at == arrays.end()) throw Error("\"{}\" has no array \"{}\"; a surface needs v0 and v1", file, name);
    if (at->second.values.size() != size)
      throw Error("\"{}\": {} holds {} numbers, but the run has {} parameters", file, name, at->second.values.size(),
                  size);
    return at->second.values;
  };
  SurfacePlane plane;
  plane.d0 = take("v0");
  plane.d1 = take("v1");
  plane.centre = o.at.empty() && arrays.contains("mean") ? take("mean") : point_at(run, or_last(o.at, run));
  plane.x_label = "along v0";
  plane.y_label = "along v1";
  return plane;
}

SurfacePlane from_file(const EvaluatedRun& run, const SurfaceOptions& o) {
  if (o.directions.empty()) throw Error("--spanned-by given needs --directions FILE.npz with the arrays v0 and v1");
  return plane_in(o.directions, run, o);
}

constexpr std::size_t most_for_covariance = 1000;

// The draws as rows, in pieces that are worth a product of matrices.
Rows all_draws(const StoredRun<double>& run) {
  const auto each = [&run](const VisitRows& visit) {
    constexpr std::size_t rows_at_once = 256;
    const std::size_t width = run.problem.recipe.size;
    std::vector<double> piece;
    run.each_point(1, [&](std::size_t, std::size_t, std::span<const double> q) {
      piece.insert(piece.end(), q.begin(), q.end());
      if (piece.size() < rows_at_once * width) return;
      visit(piece);
      piece.clear();
    });
    if (!piece.empty()) visit(piece);
  };
  return {run.samples.draws * run.samples.walkers, run.problem.recipe.size, each};
}

// The two directions in which the draws spread most.
SurfacePlane from_covariance(const EvaluatedRun& run, const SurfaceOptions& o) {
  const std::string name = run_of(run), file = name + "/analysis/directions.npz";
  if (std::filesystem::exists(file)) return plane_in(file, run, o);
  const std::size_t n = run.problem.recipe.size;
  if (n < 2) throw Error("a surface needs at least 2 parameters; this run has {}", n);
  if (n > most_for_covariance)
    throw Error("\"{}\" has {} parameters and no analysis/directions.npz; make it with `kelvin analyse covariance {}`",
                name, n, name);
  if (!has_draws(run) || run.samples.draws * run.samples.walkers < 3)
    throw Error("\"{}\" has too few draws for a covariance; keep more of them with `every`, or use --spanned-by random",
                name);
  const Covariance spread = covariance(all_draws(run), 2, CovarianceWay::matrix);
  SurfacePlane plane;
  plane.centre = o.at.empty() ? spread.mean : point_at(run, o.at);
  plane.d0 = spread.pairs.vectors[0];
  plane.d1 = spread.pairs.vectors[1];
  plane.x_label = "along the first eigenvector";
  plane.y_label = "along the second";
  return plane;
}

SurfacePlane from_random(const EvaluatedRun& run, const SurfaceOptions& o) {
  SurfacePlane plane;
  plane.centre = point_at(run, or_last(o.at, run));
  std::vector<Block> blocks;
  for (const Block* b : chosen_blocks(run.problem.recipe.blocks, o.moving)) blocks.push_back(*b);
  plane.d0 = filter_normalised(blocks, plane.centre, std::uint64_t(o.seed), 0);
  plane.d1 = filter_normalised(blocks, plane.centre, std::uint64_t(o.seed), 1);
  plane.x_label = "first direction";
  plane.y_label = "second direction";
  plane.reach = 1;
  return plane;
}

// F_j = theta_0 + alpha (theta_j - theta_0), point = beta F_1 + (1 - beta) F_2: the optima at alpha = 1, beta = 1 and
// 0.
SurfacePlane from_optima(const EvaluatedRun& run, const SurfaceOptions& o) {
  if (o.other.empty()) throw Error("--spanned-by optima needs the second optimum: --other RUN, or RUN:draw:walker");
  SurfacePlane plane;
  plane.centre = point_at(run, o.from);
  plane.d0 = point_at(run, or_last(o.to, run));
  plane.d1 = point_at(run, o.other);
  for (std::size_t i = 0; i < plane.centre.size(); ++i) {
    plane.d0[i] -= plane.centre[i];
    plane.d1[i] -= plane.centre[i];
  }
  plane.x_label = "alpha";
  plane.y_label = "beta";
  plane.square = true;
  plane.into = [](PlanePoint p) -> PlanePoint { return {p.x * p.y, p.x * (1 - p.y)}; };
  plane.from = [](PlanePoint p) -> PlanePoint { return {p.x + p.y, p.x / (p.x + p.y)}; };
  return plane;
}

struct Span {
  std::string_view name;
  SurfacePlane (*plane)(const EvaluatedRun&, const SurfaceOptions&);
  bool chooses_blocks = false;
};
constexpr Span spans[] = {
    {"covariance", from_covariance}, {"random", from_random, true}, {"optima", from_optima}, {"given", from_file}};

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The nearest points of the plane to the draws.
struct Projection {
  std::vector<std::vector<PlanePoint>> walkers;  // in the plane's own coordinates a, b
  double share = NAN;                            // of their squared distances from the centre
  std::size_t draws = 0;
};
Projection projection_of(const SurfacePlane& plane, const EvaluatedRun& run) {
  const double g00 = dot(plane.d0, plane.d0), g01 = dot(plane.d0, plane.d1), g11 = dot(plane.d1, plane.d1);
  const double determinant = g00 * g11 - g01 * g01;
  if (!(determinant > 1e-20 * g00 * g11))
    throw Error("the two directions are parallel or zero, so that they span no surface; choose others");
  Projection projected;
  if (!has_draws(run)) return projected;
  constexpr std::size_t most = 500;  // draws of a walker
  projected.walkers.resize(run.samples.walkers);
  double inside = 0, all = 0;
  std::vector<double> r(plane.centre.size());
  projected.draws = run.each_point(
      (run.samples.draws + most - 1) / most, [&](std::size_t, std::size_t walker, std::span<const double> q) {
        for (std::size_t i = 0; i < r.size(); ++i) r[i] = q[i] - plane.centre[i];
        const double r0 = dot(r, plane.d0), r1 = dot(r, plane.d1);
        const PlanePoint p{(g11 * r0 - g01 * r1) / determinant, (g00 * r1 - g01 * r0) / determinant};
        projected.walkers[walker].push_back(p);
        inside += p.x * r0 + p.y * r1;
        all += dot(r, r);
      });
  if (all > 0) projected.share = inside / all;
  return projected;
}

struct Window {
  double x_low, x_high, y_low, y_high;
  bool holds(PlanePoint p) const { return p.x >= x_low && p.x <= x_high && p.y >= y_low && p.y <= y_high; }
};
Window window_of(const SurfacePlane& plane, const Projection& projected, double scale, double reach) {
  if (plane.square) return {0, 1, 0, 1};
  double x = reach > 0 ? reach : plane.reach, y = x;
  if (x == 0) {
    for (const auto& walker : projected.walkers)
      for (const PlanePoint p : walker) {
        x = std::max(x, 1.1 * std::abs(p.x));
        y = std::max(y, 1.1 * std::abs(p.y));
      }
    if (x == 0) x = 1;
    if (y == 0) y = 1;
  }
  return {-scale * x, scale * x, -scale * y, scale * y};
}

std::vector<double> spaced(double low, double high, std::size_t intervals) {
  std::vector<double> out(intervals + 1);
  for (std::size_t k = 0; k <= intervals; ++k) {
    const double a = double(k) / double(intervals);
    out[k] = (1 - a) * low + a * high;
  }
  return out;
}

// Walkers as curves; where some of their draws lie outside, those that do not as points.
std::vector<Curve> trails(const SurfacePlane& plane, const Projection& projected, const Window& window) {
  std::vector<Curve> curves;
  for (std::size_t w = 0; w < projected.walkers.size(); ++w) {
    Curve curve{.name = fmt::format("walker {}", w)};
    for (const PlanePoint ab : projected.walkers[w]) {
      const PlanePoint p = plane.from(ab);
      if (!window.holds(p)) {
        curve.style = "points";
        continue;
      }
      curve.x.push_back(p.x);
      curve.y.push_back(p.y);
    }
    if (!curve.x.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

void check(const SurfaceOptions& o) {
  if (o.intervals < 0 || o.intervals > 2000) throw Error("--intervals is {}; it must be 1 to 2000", o.intervals);
  if (!(o.reach >= 0) || !std::isfinite(o.reach)) throw Error("--reach is {}; it must be above 0", o.reach);
  for (const double s : o.scale)
    if (!(s > 0) || !std::isfinite(s)) throw Error("--scale is {}; it must be above 0", s);
}

}  // namespace

std::vector<double> filter_normalised(std::span<const Block> blocks, std::span<const double> q, std::uint64_t seed,
                                      std::uint16_t which) {
  std::vector<double> direction(q.size(), 0.0);
  bool some = false;
  for (const Block& b : blocks) {
    if (!b.is_matrix()) continue;
    some = true;
    std::vector<double> row(b.columns());
    for (std::size_t r = 0; r < b.rows(); ++r) {
      const std::size_t at = b.offset + r * b.columns();
      normals({stream_key(seed, "direction " + b.name), 0, 0, which}, r * b.columns(), row);
      const auto weights = q.subspan(at, b.columns());
      const double factor = std::sqrt(dot(weights, weights) / dot(row, row));
      for (std::size_t k = 0; k < b.columns(); ++k) direction[at + k] = factor * row[k];
    }
  }
  if (!some)
    throw Error(
        "random directions are scaled to the rows of weight matrices, and the blocks that move have none; use another "
        "--spanned-by, or choose other blocks");
  return direction;
}

namespace {

Found find_surface(const Subject& subject, const SurfaceOptions& o, const Progress& progress) {
  const EvaluatedRun run = evaluated_run(subject, progress);
  check(o);
  const Span& span = row_named<Span>(o.spanned_by, spans, "way to span a surface", "--spanned-by");
  if (!span.chooses_blocks && !o.moving.all())
    throw Error(
        "--blocks and --group choose the blocks of random directions; use --spanned-by random, or leave them out");
  const SurfacePlane plane = span.plane(run, o);
  if (plane.square && (o.scale != SurfaceOptions().scale || o.reach > 0))
    throw Error("a surface through two optima is drawn for alpha and beta in [0, 1]; leave --scale and --reach out");
  const Projection projected = projection_of(plane, run);
  const std::size_t intervals = o.intervals ? std::size_t(o.intervals) : 40, width = intervals + 1;
  const std::size_t points = width * width;
  Readings readings(run, o.of.empty() ? std::vector<std::string>{"potential"} : o.of, points * o.scale.size());

  Finding finding{.title = fmt::format("Surface spanned by: {}", span.name)};
  Table table;
  for (const double scale : o.scale) {
    const Window window = window_of(plane, projected, scale, o.reach);
    const auto xs = spaced(window.x_low, window.x_high, intervals), ys = spaced(window.y_low, window.y_high, intervals);
    const auto rows = readings.at(points, [&](std::size_t k, std::span<double> q) {
      const PlanePoint p = plane.into({xs[k % width], ys[k / width]});
      for (std::size_t i = 0; i < q.size(); ++i) q[i] = plane.centre[i] + p.x * plane.d0[i] + p.y * plane.d1[i];
    });
    for (std::size_t c = 0; c < readings.quantities().size(); ++c) {
      const std::string& name = readings.quantities()[c].name;
      Map map{.x = xs, .y = ys, .style = "contour", .label = name};
      for (const auto& row : rows) map.z.push_back(row[c]);
      const auto by_size = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
      const auto lowest = std::min_element(map.z.begin(), map.z.end(), by_size) - map.z.begin();
      double highest = -INFINITY;
      for (const double z : map.z) highest = std::max(highest, std::isnan(z) ? highest : z);
      const double least = map.z[std::size_t(lowest)];
      table.row({{"quantity", name},
                 {"scale", scale},
                 {"lowest", least},
                 {plane.x_label, xs[std::size_t(lowest) % width]},
                 {plane.y_label, ys[std::size_t(lowest) / width]},
                 {"highest", highest}});
      if (o.log) {
        if (!(least > 0))
          throw Error("{} is {:.4g} at its lowest, which has no logarithm; leave --log out", name, least);
        for (double& z : map.z) z = std::log10(z);
        map.label = "log10 " + name;
      }
      Figure figure;
      figure.name = fmt::format("{}_scale_{:g}", name, scale);
      figure.title = plane.square ? map.label : fmt::format("{} at scale {:g}", map.label, scale);
      figure.x_label = plane.x_label;
      figure.y_label = plane.y_label;
      figure.caption = fmt::format("Lines: the draws of each walker, projected onto the plane (at most 500).");
      figure.map = map;
      figure.curves = trails(plane, projected, window);
      finding.figures.push_back(figure);
      figure.name += "_3d";
      figure.caption = "";
      figure.curves.clear();
      figure.map->style = "surface";
      finding.figures.push_back(std::move(figure));
    }
  }
  if (!std::isnan(projected.share))
    finding.words.push_back(fmt::format("The plane holds {:.3g} % of the squared distances of {} draws from its {}.",
                                        100 * projected.share, projected.draws, plane.square ? "start" : "centre"));
  const double cosine = dot(plane.d0, plane.d1) / std::sqrt(dot(plane.d0, plane.d0) * dot(plane.d1, plane.d1));
  finding.words.push_back(fmt::format("Its directions have the lengths {:.4g} and {:.4g} and meet at {:.4g} degrees.",
                                      std::sqrt(dot(plane.d0, plane.d0)), std::sqrt(dot(plane.d1, plane.d1)),
                                      std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / M_PI));
  finding.tables.push_back({"surfaces", table});
  return {finding};
}

}  // namespace

Question ask_surface() { return ask(find_surface); }

}  // namespace kelvin
