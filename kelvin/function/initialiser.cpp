// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/initialiser.h"

#include <cmath>

#include "kelvin/numeric/linear.h"

namespace kelvin {
namespace {

using Values = std::vector<double>;

// Rules for layers leave gains, biases and blocks outside layers (fan_in 0), for which they have no scale, neutral.
bool is_weight(const Block& b) { return b.fan_in > 0 && b.is_matrix(); }

Values neutral(const Block& b) { return Values(b.size(), b.neutral); }

Values between(double lower, double upper, const Block& b, const Stream& stream) {
  Values out(b.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = lower + (upper - lower) * uniform(stream, i);
  return out;
}

Values normal(double mean, double sd, const Block& b, const Stream& stream) {
  Values out(b.size());
  normals(stream, 0, out);
  for (double& x : out) x = mean + sd * x;
  return out;
}

Values pytorch(const Choice&, const Block& b, const Stream& stream, const ReadBlock&) {
  if (b.fan_in == 0) return neutral(b);
  const double bound = 1 / std::sqrt(double(b.fan_in));
  return between(-bound, bound, b, stream);
}

Values gaussian(const Choice& c, const Block& b, const Stream& stream, const ReadBlock&) {
  const double sd = c.number("scale");
  if (!(sd >= 0)) throw Error("initialiser \"{}\": scale is {:g}; it must not be negative", c.name, sd);
  return normal(c.number("mean"), sd, b, stream);
}

Values uniformly(const Choice& c, const Block& b, const Stream& stream, const ReadBlock&) {
  const double lower = c.number("lower"), upper = c.number("upper");
  if (!(lower <= upper))
    throw Error("initialiser \"{}\": lower {:g} is above upper {:g}; swap them", c.name, lower, upper);
  return between(lower, upper, b, stream);
}

Values xavier(const Choice&, const Block& b, const Stream& stream, const ReadBlock&) {
  if (!is_weight(b)) return neutral(b);
  const double bound = std::sqrt(6 / double(b.fan_in + b.rows()));
  return between(-bound, bound, b, stream);
}

Values he(const Choice&, const Block& b, const Stream& stream, const ReadBlock&) {
  return is_weight(b) ? normal(0, std::sqrt(2 / double(b.fan_in)), b, stream) : neutral(b);
}

double outputs_of(const Block& b) { return double(b.fan_out > 0 ? b.fan_out : b.rows()); }

double gain_of(const Choice& c) {
  const double gain = c.number("gain");
  if (!(gain >= 0 && std::isfinite(gain)))
    throw Error("initialiser \"{}\": gain is {:g}; give a number from 0 on, such as 5/3 for tanh", c.name, gain);
  return gain;
}

// gain / sqrt(fan): values keep their variance on the way forth (fan_in), or slopes on the way back (fan_out).
double kaiming_scale(const Choice& c, const Block& b) {
  const std::string mode = c.text("mode");
  if (mode != "fan_in" && mode != "fan_out")
    throw Error("initialiser \"{}\": mode is \"{}\"; give \"fan_in\" or \"fan_out\"", c.name, mode);
  return gain_of(c) / std::sqrt(mode == "fan_in" ? double(b.fan_in) : outputs_of(b));
}

Values kaiming_normal(const Choice& c, const Block& b, const Stream& stream, const ReadBlock&) {
  return is_weight(b) ? normal(0, kaiming_scale(c, b), b, stream) : neutral(b);
}

Values kaiming_uniform(const Choice& c, const Block& b, const Stream& stream, const ReadBlock&) {
  if (!is_weight(b)) return neutral(b);
  const double bound = std::sqrt(3.0) * kaiming_scale(c, b);
  return between(-bound, bound, b, stream);
}

Values xavier_normal(const Choice& c, const Block& b, const Stream& stream, const ReadBlock&) {
  if (!is_weight(b)) return neutral(b);
  return normal(0, gain_of(c) * std::sqrt(2 / (double(b.fan_in) + outputs_of(b))), b, stream);
}

Values xavier_uniform(const Choice& c, const Block& b, const Stream& stream, const ReadBlock&) {
  if (!is_weight(b)) return neutral(b);
  const double bound = gain_of(c) * std::sqrt(6 / (double(b.fan_in) + outputs_of(b)));
  return between(-bound, bound, b, stream);
}

// Q of a tall normal matrix = QR is uniformly (Haar) distributed. A wide block is the transpose of a tall one, whose
// columns are its rows.
Values orthogonal(const Choice& c, const Block& b, const Stream& stream, const ReadBlock&) {
  if (!is_weight(b)) return neutral(b);
  const std::size_t tall = std::max(b.rows(), b.columns()), narrow = std::min(b.rows(), b.columns());
  Values columns = normal(0, 1, b, stream), z(b.size());
  make_orthonormal(tall, narrow, columns.data());
  for (std::size_t j = 0; j < narrow; ++j)
    for (std::size_t i = 0; i < tall; ++i)
      z[b.columns() > b.rows() ? j * tall + i : i * narrow + j] = c.number("gain") * columns[j * tall + i];
  return z;
}

Values constant(const Choice& c, const Block& b, const Stream&, const ReadBlock&) {
  return Values(b.size(), c.number("value"));
}

Values file(const Choice& c, const Block& b, const Stream&, const ReadBlock& read) {
  const std::string path = c.text("path");
  if (!read) throw Error("initialiser \"{}\" reads \"{}\", but nothing here can read files", c.name, path);
  Values out = read(path, b);
  if (out.size() != b.size())
    throw Error("\"{}\" has {} numbers for block \"{}\", which is {} x {}", path, out.size(), b.name, b.rows(),
                b.columns());
  return out;
}

constexpr Parameter gaussian_parameters[] = {{"scale", "1.0", "standard deviation"}, {"mean", "0.0", "mean"}};
constexpr Parameter uniform_parameters[] = {{"lower", "-0.5", "lower end"}, {"upper", "0.5", "upper end"}};
constexpr Parameter kaiming_parameters[] = {{"gain", "1.4142135623730951", "of the activation: sqrt(2) for relu"},
                                            {"mode", "\"fan_in\"", "or \"fan_out\": what the weights are scaled by"}};
constexpr Parameter xavier_parameters[] = {{"gain", "1.0", "of the activation: 5/3 for tanh"}};
constexpr Parameter orthogonal_parameters[] = {{"gain", "1.0", "length of the rows or columns"}};
constexpr Parameter constant_parameters[] = {{"value", "0.0", "of every entry"}};
constexpr Parameter file_parameters[] = {{"path", "", "a file with a block of the same name"}};

constexpr Initialiser all_initialisers[] = {
    {"pytorch", {}, pytorch, "weights and biases uniform between -1/sqrt(inputs) and 1/sqrt(inputs)"},
    {"gaussian", gaussian_parameters, gaussian, "weights and biases normal"},
    {"uniform", uniform_parameters, uniformly, "weights and biases uniform between two numbers"},
    {"xavier", {}, xavier, "weights uniform between -+sqrt(6 / (inputs + outputs)), biases 0"},
    {"he", {}, he, "weights normal with variance 2 / inputs, biases 0"},
    {"xavier_uniform", xavier_parameters, xavier_uniform,
     "weights uniform between -+gain sqrt(6 / (fan_in + fan_out)), biases 0"},
    {"xavier_normal", xavier_parameters, xavier_normal,
     "weights normal with variance gain^2 2 / (fan_in + fan_out), biases 0"},
    {"kaiming_uniform", kaiming_parameters, kaiming_uniform, "weights uniform between -+gain sqrt(3 / fan), biases 0"},
    {"kaiming_normal", kaiming_parameters, kaiming_normal, "weights normal with variance gain^2 / fan, biases 0"},
    {"orthogonal", orthogonal_parameters, orthogonal,
     "weights, as outputs x the rest, with orthogonal rows or columns, uniformly, biases 0"},
    {"constant", constant_parameters, constant, "one number everywhere; what a bare number means"},
    {"file", file_parameters, file, "read from a file"},
};

}  // namespace

std::span<const Initialiser> initialisers() { return all_initialisers; }

std::vector<double> initial_values(const Choice& choice, const Block& block, const Stream& stream,
                                   const ReadBlock& read) {
  const Initialiser& row = row_named(choice.name, initialisers(), "initialiser", choice.where);
  return row.values(choice.completed(row.parameters, "initialiser"), block, stream, read);
}

}  // namespace kelvin
