// SPDX-License-Identifier: Apache-2.0
#include "kelvin/analysis/predictive/contour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

constexpr std::size_t none = ~std::size_t(0);

// Sides of cells by number: 2 k leads from node k to its right, 2 k + 1 to the node above it. Each side that is crossed
// carries one point, joined to at most two others: one in each of the two cells it belongs to.
class Tracer {
 public:
  Tracer(const Map& map, double level)
      : map_(map), level_(level), wide_(map.x.size()), joined_(2 * map.z.size(), {none, none}) {
    for (std::size_t j = 0; j + 1 < map.y.size(); ++j)
      for (std::size_t i = 0; i + 1 < wide_; ++i) cross(j * wide_ + i);
  }

  std::vector<Piece> pieces() {
    std::vector<Piece> out;
    for (const bool ends_only : {true, false})  // lines from border to border first: what is left are loops
      for (std::size_t side = 0; side < joined_.size(); ++side) {
        if (joined_[side][0] == none || (ends_only && joined_[side][1] != none)) continue;
        Piece piece = walk(side);
        piece.closed = !ends_only;
        merge(piece);
        if (piece.x.size() > (piece.closed ? 2 : 1)) out.push_back(std::move(piece));
      }
    return out;
  }

 private:
  bool above(std::size_t node) const { return map_.z[node] >= level_; }

  void join(std::size_t a, std::size_t b) {
    for (const auto [from, to] : {std::array{a, b}, std::array{b, a}})
      joined_[from][joined_[from][0] == none ? 0 : 1] = to;
  }

  // The cell whose lower left corner is `node`.
  void cross(std::size_t node) {
    const std::array corners = {node, node + 1, node + wide_ + 1, node + wide_};  // round the cell
    const std::array sides = {2 * node, 2 * (node + 1) + 1, 2 * (node + wide_), 2 * node + 1};
    std::array<std::size_t, 4> crossed;
    std::size_t count = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (above(corners[k]) != above(corners[(k + 1) % 4])) crossed[count++] = sides[k];
    if (count == 2) join(crossed[0], crossed[1]);
    if (count != 4) return;
    double centre = 0;
    for (const std::size_t corner : corners) centre += map_.z[corner] / 4;
    const bool joins_first = (centre >= level_) == above(node);  // the first corner and the one opposite are connected
    join(crossed[0], crossed[joins_first ? 1 : 3]);
    join(crossed[2], crossed[joins_first ? 3 : 1]);
  }

  void add_point(Piece& piece, std::size_t side) const {
    const std::size_t a = side / 2, b = side % 2 ? a + wide_ : a + 1;
    const double t = (level_ - map_.z[a]) / (map_.z[b] - map_.z[a]);
    piece.x.push_back(std::lerp(map_.x[a % wide_], map_.x[b % wide_], t));
    piece.y.push_back(std::lerp(map_.y[a / wide_], map_.y[b / wide_], t));
  }

  // From a side along those joined to it; they are taken out on the way.
  Piece walk(std::size_t side) {
    Piece piece;
    while (side != none) {
      add_point(piece, side);
      std::size_t next = none;
      for (const std::size_t to : std::exchange(joined_[side], {none, none}))
        if (to != none && joined_[to][0] != none) next = to;
      side = next;
    }
    return piece;
  }

  // A node that lies on the level carries the points of all its sides.
  void merge(Piece& piece) const {
    const double tiny = 1e-9 * std::hypot(map_.x[1] - map_.x[0], map_.y[1] - map_.y[0]);
    Piece kept{{}, {}, piece.closed};
    const auto same = [&](double x, double y, std::size_t k) {
      return std::hypot(x - kept.x[k], y - kept.y[k]) < tiny;
    };
    for (std::size_t k = 0; k < piece.x.size(); ++k) {
      if (k > 0 && same(piece.x[k], piece.y[k], kept.x.size() - 1)) continue;
      kept.x.push_back(piece.x[k]);
      kept.y.push_back(piece.y[k]);
    }
    while (kept.closed && kept.x.size() > 1 && same(kept.x.back(), kept.y.back(), 0)) {
      kept.x.pop_back();
      kept.y.pop_back();
    }
    piece = std::move(kept);
  }

  const Map& map_;
  double level_;
  std::size_t wide_;
  std::vector<std::array<std::size_t, 2>> joined_;
};

double distance(const Piece& piece, std::size_t a, std::size_t b) {
  return std::hypot(piece.x[b] - piece.x[a], piece.y[b] - piece.y[a]);
}

void check(const Map& map) {
  if (map.x.size() < 2 || map.y.size() < 2 || map.z.size() != map.x.size() * map.y.size())
    throw Error("a contour needs a grid of at least 2 x 2 nodes with a number at each, not {} x {} with {}",
                map.x.size(), map.y.size(), map.z.size());
}

}  // namespace

double Piece::length() const {
  double sum = 0;
  for (std::size_t k = 0; k + 1 < x.size(); ++k) sum += distance(*this, k, k + 1);
  return sum + (closed ? distance(*this, x.size() - 1, 0) : 0);
}

std::vector<Piece> contours(const Map& map, double level) {
  check(map);
  for (const double z : map.z)
    if (!std::isfinite(z)) throw Error("a contour needs finite numbers on the grid, but one of them is {}", z);
  return Tracer(map, level).pieces();
}

Piece evenly_spaced(const Piece& piece, double spacing) {
  constexpr double fewest = 8;  // points that a small loop still bends with
  const double length = piece.length(), count = std::max(fewest, std::round(length / spacing));
  const std::size_t n = piece.x.size();
  Piece out{{}, {}, piece.closed};
  std::size_t k = 0;
  double before = 0, here = distance(piece, 0, 1 % n);  // the piece from point k on covers before ... before + here
  for (std::size_t i = 0; i < std::size_t(count) + (piece.closed ? 0 : 1); ++i) {
    const double at = length * double(i) / count;
    while (before + here < at && k + 2 < n + (piece.closed ? 1 : 0)) {
      before += here;
      ++k;
      here = distance(piece, k, (k + 1) % n);
    }
    const double t = std::clamp((at - before) / here, 0.0, 1.0);
    out.x.push_back(std::lerp(piece.x[k], piece.x[(k + 1) % n], t));
    out.y.push_back(std::lerp(piece.y[k], piece.y[(k + 1) % n], t));
  }
  return out;
}

std::vector<double> curvature(const Piece& piece) {
  const std::size_t n = piece.x.size();
  std::vector<double> out;
  if (n < 3) return out;
  for (std::size_t k = piece.closed ? 0 : 1; k < n - (piece.closed ? 0 : 1); ++k) {
    const std::size_t last = (k + n - 1) % n, next = (k + 1) % n;
    const auto& [x, y, closed] = piece;
    const double x1 = (x[next] - x[last]) / 2, y1 = (y[next] - y[last]) / 2;
    const double x2 = x[next] - 2 * x[k] + x[last], y2 = y[next] - 2 * y[k] + y[last];
    out.push_back(std::abs(x2 * y1 - x1 * y2) / std::pow(x1 * x1 + y1 * y1, 1.5));
  }
  return out;
}

std::vector<double> level_set_curvature(const Map& map, const Piece& piece) {
  check(map);
  const std::size_t wide = map.x.size(), high = map.y.size();
  const double dx = map.x[1] - map.x[0], dy = map.y[1] - map.y[0];
  const auto at = [&](std::size_t i, std::size_t j) -> double {
    if (i == 0 || j == 0 || i + 1 >= wide || j + 1 >= high) return NAN;
    const auto z = [&](long right, long up) { return map.z[(j + std::size_t(up)) * wide + i + std::size_t(right)]; };
    const double zx = (z(1, 0) - z(-1, 0)) / (2 * dx), zy = (z(0, 1) - z(0, -1)) / (2 * dy);
    const double zxx = (z(1, 0) - 2 * z(0, 0) + z(-1, 0)) / (dx * dx);
    const double zyy = (z(0, 1) - 2 * z(0, 0) + z(0, -1)) / (dy * dy);
    const double zxy = (z(1, 1) - z(-1, 1) - z(1, -1) + z(-1, -1)) / (4 * dx * dy);
    return (zxx * zy * zy - 2 * zx * zy * zxy + zyy * zx * zx) / std::pow(zx * zx + zy * zy, 1.5);
  };
  std::vector<double> out;
  for (std::size_t k = 0; k < piece.x.size(); ++k) {
    const double u = (piece.x[k] - map.x[0]) / dx, v = (piece.y[k] - map.y[0]) / dy;
    const std::size_t i = std::min(std::size_t(u), wide - 2), j = std::min(std::size_t(v), high - 2);
    const double s = u - double(i), t = v - double(j);
    out.push_back(std::abs((1 - t) * ((1 - s) * at(i, j) + s * at(i + 1, j)) +
                           t * ((1 - s) * at(i, j + 1) + s * at(i + 1, j + 1))));
  }
  return out;
}

}  // namespace kelvin
