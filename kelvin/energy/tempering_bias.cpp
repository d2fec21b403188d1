// SPDX-License-Identifier: Apache-2.0
// Biases: energies V(alpha) that make alpha visit all of its range, learnt on the way.
#include <algorithm>
#include <cmath>

#include "kelvin/energy/tempering.h"

namespace kelvin {
namespace {

using In = std::span<const double>;
using Out = std::span<double>;

std::vector<double> nothing(const BiasGround&) { return {}; }
std::string_view no_fault(const BiasGround&) { return ""; }
double zero(const BiasGround&, In, double) { return 0; }
void stay(const BiasGround&, Out, double, double) {}

// ---- mean force. With U' = (U - reference)/T the force on alpha is (g'/g) [c - g U'] if
//   V' = -(g'/g) c - g' reference/T,   c = <g U'> at this alpha.
// c is kept as the mean of g U' in bins of |alpha|, each together with its mean g, and joined by straight lines in g:
// those are exact for a Gaussian, whose <g U'> is linear in g, and integrate to a V in closed form. A bin is drawn to
// the straight line that fits all that has been seen, which is worth `trust` evaluations: so what is learnt on the way
// opens the way to bins not seen yet. Where U/T has a variance of many hundreds, a guess of them that is off by a tenth
// is a wall of many T.

// What is learnt: for each bin the mean of g, the mean of g U' and their count, which starts with `trust` evaluations
// at the bin's middle whose g U' counts as 0 until the line is asked; then the sums of 1, g, g^2, g U' and g^2 U' over
// everything seen, from which the line is found.
struct Node {
  double g, c;
};
constexpr std::size_t sums = 5;

std::size_t bins_of(const BiasGround& b) {
  return std::size_t(std::ceil((b.ramp.width - b.ramp.delta) / b.numbers[0] - 1e-9));
}
std::size_t bins_in(In learnt) { return (learnt.size() - sums) / 3; }

double middle(const BiasGround& b, std::size_t k, std::size_t bins) {
  return b.ramp.value(b.ramp.delta + (b.ramp.width - b.ramp.delta) * (double(k) + 0.5) / double(bins));
}

// c = at + by g.
struct Line {
  double at, by;
};

Line fitted(In learnt) {
  const In s = learnt.last(sums);
  const double by = (s[0] * s[4] - s[1] * s[3]) / (s[0] * s[2] - s[1] * s[1]);
  return {(s[3] - by * s[1]) / s[0], by};
}

Node node(const BiasGround& b, In learnt, const Line& fit, std::size_t k) {
  return {learnt[3 * k],
          learnt[3 * k + 1] + b.numbers[1] / learnt[3 * k + 2] * (fit.at + fit.by * middle(b, k, bins_in(learnt)))};
}

void see(Out learnt, double g, double c, double weight) {
  const Out s = learnt.last(sums);
  s[0] += weight;
  s[1] += weight * g;
  s[2] += weight * g * g;
  s[3] += weight * c;
  s[4] += weight * g * c;
}

std::string_view bins_fault(const BiasGround& b) {
  if (!(b.numbers[0] > 0 && 2 * b.numbers[0] <= b.ramp.width - b.ramp.delta && b.numbers[0] >= 1e-3))
    return "bin must be above 0.001 and fit at least twice between delta and width";
  return b.numbers[1] > 0 ? "" : "trust must be above 0";
}

// Before anything is seen: <U'> g = capacity (1 - g), which a Gaussian of that heat capacity has. A pilot knows it to a
// share of itself, one evaluation to its root: the larger, the less the guess is worth to the fit.
std::vector<double> guess(const BiasGround& b) {
  const std::size_t bins = bins_of(b);
  std::vector<double> learnt(3 * bins + sums, 0.0);
  for (std::size_t k = 0; k < bins; ++k) {
    const double g = middle(b, k, bins);
    learnt[3 * k] = g;
    learnt[3 * k + 2] = b.numbers[1];
    see(learnt, g, b.capacity * (1 - g), b.numbers[1] / (1 + b.capacity));
  }
  return learnt;
}

// Between the nodes k and k + 1, and beyond the first and the last.
Line line(const BiasGround& ground, In learnt, const Line& fit, std::size_t k) {
  const Node a = node(ground, learnt, fit, k), b = node(ground, learnt, fit, k + 1);
  const double by = (b.c - a.c) / (b.g - a.g);
  return {a.c - by * a.g, by};
}

// Which line holds at g: nodes have falling g.
std::size_t segment(In learnt, double g) {
  const std::size_t last = bins_in(learnt) - 2;
  std::size_t k = 0;
  while (k < last && g < learnt[3 * (k + 1)]) ++k;
  return k;
}

double mean_force_slope(const BiasGround& b, In learnt, double alpha) {
  const double falls = b.ramp.slope(alpha);
  if (falls == 0) return 0;
  const double g = b.ramp.value(alpha);
  const auto [at, by] = line(b, learnt, fitted(learnt), segment(learnt, g));
  return -falls * ((at + by * g) / g + b.reference);
}

// V = -(integral of c/g from 1 to g) - (g - 1) reference/T
double mean_force_energy(const BiasGround& b, In learnt, double alpha) {
  const double g = b.ramp.value(alpha);
  const std::size_t last = segment(learnt, g);
  const Line fit = fitted(learnt);
  double sum = 0, from = 1;
  for (std::size_t k = 0; k <= last; ++k) {
    const double to = k == last ? g : learnt[3 * (k + 1)];
    const auto [at, by] = line(b, learnt, fit, k);
    sum += at * std::log(to / from) + by * (to - from);
    from = to;
  }
  return -sum - (g - 1) * b.reference;
}

void learn_mean_force(const BiasGround& b, Out learnt, double alpha, double energy) {
  const double z = (std::abs(alpha) - b.ramp.delta) / (b.ramp.width - b.ramp.delta);
  if (!(z > 0 && z < 1)) return;
  const std::size_t bins = bins_in(learnt), k = std::min(bins - 1, std::size_t(z * double(bins)));
  const double g = b.ramp.value(alpha), c = g * (energy - b.reference), share = 1 / ++learnt[3 * k + 2];
  learnt[3 * k] += share * (g - learnt[3 * k]);
  learnt[3 * k + 1] += share * (c - learnt[3 * k + 1]);
  see(learnt, g, c, 1);
}

// ---- hills: V is the sum of Gaussians left behind, kept at nodes from -width to width and joined by straight lines,
// whose slopes are then its exact gradient.

enum HillNumber { height, sigma, bins, every, mirror, spread };

std::string_view hills_fault(const BiasGround& b) {
  if (!(b.numbers[height] > 0 && b.numbers[sigma] > 0)) return "height and sigma must be above 0";
  if (!(b.numbers[bins] >= 2 && b.numbers[bins] <= 1e5)) return "bins must be from 2 to 100000";
  if (!(b.numbers[every] >= 1)) return "every must be at least 1";
  return b.numbers.size() > spread && !(b.numbers[spread] > 0) ? "spread must be above 0" : "";
}

std::size_t hill_bins(const BiasGround& b) { return std::size_t(b.numbers[bins]); }

// How many evaluations it has seen, then V at the nodes.
std::vector<double> flat(const BiasGround& b) { return std::vector<double>(hill_bins(b) + 2, 0.0); }

struct Place {
  std::size_t k;
  double share;  // of the way from node k to the next
};
Place place(const BiasGround& b, double alpha) {
  const double x = (std::clamp(alpha, -b.ramp.width, b.ramp.width) / b.ramp.width + 1) / 2 * b.numbers[bins];
  const std::size_t k = std::min(hill_bins(b) - 1, std::size_t(x));
  return {k, x - double(k)};
}

double hills_energy(const BiasGround& b, In learnt, double alpha) {
  const auto [k, share] = place(b, alpha);
  return (1 - share) * learnt[k + 1] + share * learnt[k + 2];
}

double hills_slope(const BiasGround& b, In learnt, double alpha) {
  if (std::abs(alpha) > b.ramp.width) return 0;
  const std::size_t k = place(b, alpha).k;
  return (learnt[k + 2] - learnt[k + 1]) * b.numbers[bins] / (2 * b.ramp.width);
}

// Half a hill at alpha, half at -alpha, and their images in the walls: without those the edges would fill more slowly
// than the middle for ever.
void deposit(const BiasGround& b, Out learnt, double alpha, double size) {
  const double w = b.ramp.width;
  if (std::abs(alpha) > w) return;  // a force will drive it back: what is outside is no matter of the bias
  const int images = b.numbers[mirror] != 0 ? 1 : 0;
  for (std::size_t j = 0; j + 1 < learnt.size(); ++j) {
    const double x = -w + 2 * w * double(j) / b.numbers[bins];
    for (const double centre : {alpha, -alpha})
      for (int image = -images; image <= images; ++image) {
        const double d = (x - (image == 0 ? centre : 2 * w * image - centre)) / b.numbers[sigma];
        learnt[j + 1] += size / 2 * std::exp(-d * d / 2);
      }
  }
}

void learn_hills(const BiasGround& b, Out learnt, double alpha, double) {
  if (std::fmod(learnt[0]++, b.numbers[every]) == 0) deposit(b, learnt, alpha, b.numbers[height]);
}

void learn_well_tempered(const BiasGround& b, Out learnt, double alpha, double) {
  if (std::fmod(learnt[0]++, b.numbers[every]) == 0)
    deposit(b, learnt, alpha, b.numbers[height] * std::exp(-hills_energy(b, learnt, alpha) / b.numbers[spread]));
}

constexpr Parameter bin_parameters[] = {
    {"bin", "0.1", "width of the bins of |alpha| between delta and width"},
    {"trust", "500.0", "evaluations that the fit to all of them is worth in a bin"}};
constexpr Parameter hill{"height", "0.01", "of a hill, in units of T"};
constexpr Parameter hill_width{"sigma", "0.04", "width of a hill"};
constexpr Parameter nodes{"bins", "100", "from -width to width"};
constexpr Parameter pace{"every", "10", "evaluations between two hills"};
constexpr Parameter mirrored{"mirror", "1", "0 leaves out the hills' images in the walls, as published"};
constexpr Parameter hill_parameters[] = {hill, hill_width, nodes, pace, mirrored};
constexpr Parameter well_tempered_parameters[] = {
    hill,     hill_width,
    nodes,    pace,
    mirrored, {"spread", "5.0", "hills shrink as exp(-V / spread): alpha ends with the law exp(-F / (1 + spread))"}};

constexpr TemperingBias all_tempering_biases[] = {
    {"none",
     {},
     false,
     no_fault,
     nothing,
     zero,
     zero,
     stay,
     "alpha has the law exp(-F), which for many parameters is one end"},
    {"mean_force", bin_parameters, true, bins_fault, guess, mean_force_energy, mean_force_slope, learn_mean_force,
     "takes away the mean of the force that U exerts on alpha, bin by bin; alpha becomes uniform"},
    {"metadynamics", hill_parameters, true, hills_fault, flat, hills_energy, hills_slope, learn_hills,
     "Gaussian hills where alpha has been; alpha becomes uniform"},
    {"well_tempered", well_tempered_parameters, true, hills_fault, flat, hills_energy, hills_slope, learn_well_tempered,
     "hills that shrink where they pile up; alpha becomes flatter, not flat"},
};

}  // namespace

std::span<const TemperingBias> tempering_biases() { return all_tempering_biases; }

const TemperingBias& bias_of(const TemperingSettings& s) {
  return row_named(s.bias.name, tempering_biases(), "bias", s.bias.where);
}

BiasGround ground_of(const TemperingSettings& s, double temperature) {
  const TemperingBias& row = bias_of(s);
  const Choice full = s.bias.completed(row.parameters, "bias");
  BiasGround ground{Ramp(s), {}, s.reference / temperature, s.capacity};
  for (const Parameter& p : row.parameters) ground.numbers.push_back(full.number(p.name));
  if (const auto fault = row.fault(ground); !fault.empty()) throw Error("tempering.bias = \"{}\": {}", row.name, fault);
  return ground;
}

}  // namespace kelvin
