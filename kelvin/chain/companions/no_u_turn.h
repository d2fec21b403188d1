// SPDX-License-Identifier: Apache-2.0
// The no-U-turn sampler: a path of leapfrog steps that doubles, forwards or backwards at random, until it turns back on
// itself, and one of its points drawn by weight. Hoffman and Gelman 2014; drawing and stopping as in Betancourt 2017,
// with the checks between neighbouring halves that Stan added later.
#pragma once
#include <functional>

#include "kelvin/core/noise.h"
#include "kelvin/core/pages.h"

namespace kelvin {

// What the path leads through: a point (q, p, g, energy), one leapfrog step of it forwards (1) or backwards (-1), its
// H, and the product a.b/m that says whether two momenta still point the same way.
template <class Real>
struct PathSpace {
  std::span<Real> q, p, g;
  double* energy = nullptr;
  std::function<void(int direction)> leap;
  std::function<double()> hamiltonian;
  std::function<double(std::span<const Real>, std::span<const Real>)> product;
};

struct Travelled {
  int depth = 0;            // the path doubled so often
  std::uint64_t leaps = 0;  // leapfrog steps, one gradient each
  double acceptance = 0;    // mean over the path of min(1, exp(-(H' - H)/T))
  bool diverging = false;   // H rose by more than 1000 T
};

// A path doubles at most so often, to 2^10 - 1 leapfrog steps.
inline constexpr int deepest_path = 10;

template <class Real>
class NoUTurn {
 public:
  explicit NoUTurn(std::size_t size, int deepest = deepest_path);
  virtual ~NoUTurn() = default;
  // Leaves the drawn point in the space. Uniforms are taken from places 0, 1, ... of the stream.
  Travelled travel(const PathSpace<Real>&, double T, const Noise<Real>&, Stream);

 protected:
  struct Point {
    LargeArray<Real> q, p, g;
    double energy = 0;
  };
  // A stretch of the path: the momenta at its ends, near being the one built first, their sum over all its points, and
  // the point drawn of it.
  struct Tree {
    LargeArray<Real> near, far, sum;
    double log_weight = 0;
    Point drawn;
  };
  virtual bool goes_on(const Tree& first, const Tree& second) const { return straight(first, second); }
  bool straight(const Tree& first, const Tree& second) const;

 private:
  bool build(int level, int direction, Tree& out);
  bool leaf(int direction, Tree& out);
  double uniform();
  void save(Point&) const;
  void load(const Point&) const;

  const PathSpace<Real>* space_ = nullptr;
  const Noise<Real>* noise_ = nullptr;
  Stream stream_;
  double T_ = 1, start_ = 0;
  Travelled so_far_;
  int deepest_;
  Point ends_[2];            // of the whole path: backwards, forwards
  Tree whole_, grown_;       // the path, and what it is doubled by
  std::vector<Tree> spare_;  // the second half at each level
};

}  // namespace kelvin
