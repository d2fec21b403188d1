// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/size.h"

#include <algorithm>

#include "kelvin/data/generators.h"
#include "kelvin/function/dense.h"
#include "kelvin/function/network.h"

namespace kelvin {
namespace {

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t k = 0;
  for (; bytes >= 1000 && k + 1 < std::size(units); ++k) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, units[k]);
}

double bytes_of_rows(const Dataset& data) {
  return double(data.inputs.size()) + double(data.targets.size()) * sizeof(double);  // inputs may lie in bytes
}

}  // namespace

std::string RunSize::text() const {
  return fmt::format("{} of memory and {} of disk", bytes_text(memory), bytes_text(disk));
}

double parameters_of(const ModelSettings& model, const Shape& input) {
  double sum = 0;
  for (const Block& block : model.layers.are_sizes() ? dense_blocks(model) : network_blocks(model, input))
    sum += double(block.size());
  return sum;
}

// A walker has q, p, g and what its noise or optimizer needs, at least four times the parameters, and two numbers of
// its running moments for each; a store gathers at least a draw of each walker, at most 2^20 to 2^22 bytes of draws.
RunSize size_of(const RunSettings& s, double parameters, const Splits& data) {
  const double real = s.precision == "float" ? sizeof(float) : sizeof(double);
  const auto& way = row_named(s.store.weights, stored_weights(), "way to store weights");
  const double width = way.from_float.empty() ? 0 : s.store.weights == "half" ? 2 : real;
  const Dataset& predicted = data.test.rows > 0 ? data.test : data.train;
  constexpr double statistics = 20 * sizeof(double);  // of a draw
  RunSize out;
  out.parameters = parameters;
  out.walkers = double(s.walkers);
  out.draws = double(s.steps) / double(std::max(1L, s.every)) +
              (s.store.keep_warmup ? double(s.warmup) / double(std::max(1L, s.every)) : 0);
  out.draw = parameters * width + statistics;
  if (s.store.predictions && predicted.rows > 0) out.draw += double(predicted.rows) * real;
  if (s.store.log_likelihood) out.draw += double(predicted.rows) * sizeof(double);
  const double gathered = std::clamp(double(1 << 26) / out.walkers, double(1 << 20), double(1 << 22));
  const double buffer = std::max(out.draw, std::min(gathered, out.draw * out.draws));
  const double rows = bytes_of_rows(data.train) + bytes_of_rows(data.validation) + bytes_of_rows(data.test);
  out.memory = out.walkers * (4 * parameters * real + 2 * parameters * sizeof(double) + buffer) + rows;
  out.disk = out.walkers * out.draws * out.draw + bytes_of_rows(predicted);
  return out;
}

Splits planned_rows(const DataSettings& data) {
  Splits planned;
  const auto count = [&](const char* split) {
    const bool told = data.generator.given() && data.generator.has(split);
    return told ? std::size_t(std::clamp(data.generator.number(split), 0.0, 1e18)) : 0;
  };
  planned.train.rows = count("rows");
  planned.validation.rows = count("validation");
  planned.test.rows = count("test");
  return planned;
}

void check_generated_rows(const DataSettings& data, const Room& room) {
  const Splits planned = planned_rows(data);
  const double rows = double(planned.train.rows) + double(planned.validation.rows) + double(planned.test.rows);
  const double least = rows * 2 * sizeof(double);  // an input and a target
  if (least > room.memory)
    throw Error("{:.6g} rows of data.generator = \"{}\" take at least {}, but {} of memory are left; ask for fewer",
                rows, data.generator.name, bytes_text(least), bytes_text(room.memory));
}

void check_size(const RunSize& size, const Room& room) {
  const std::string of = fmt::format("{:.6g} parameters, {:.6g} walker{}, {:.6g} draws of {} each", size.parameters,
                                     size.walkers, size.walkers == 1 ? "" : "s", size.draws, bytes_text(size.draw));
  if (size.memory > room.memory)
    throw Error(
        "this run needs at least {} of memory ({}), but {} are left; take fewer walkers or parameters, or ask for it "
        "--anyway",
        bytes_text(size.memory), of, bytes_text(room.memory));
  if (size.disk > room.disk)
    throw Error(
        "this run writes about {} ({}), but the disk has room for {}; keep fewer draws with `every`, store.weights = "
        "\"half\", or ask for it --anyway",
        bytes_text(size.disk), of, bytes_text(room.disk));
}

}  // namespace kelvin
