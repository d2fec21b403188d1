// SPDX-License-Identifier: Apache-2.0
#include "kelvin/data/batch.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "kelvin/core/choice.h"
#include "kelvin/core/noise.h"

namespace kelvin {
namespace {

// A share of the rows, or a number of them if the share is 0.
struct Size {
  double share = 0, count = 0;
};

Size parsed(const std::string& text, const std::string& where) {
  if (text == "full") return {.share = 1};
  double x = 0;
  const char* last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, x);
  const bool percent = std::string_view(end, last) == "%";
  if (status != std::errc() || !(percent || end == last) || !(x > 0) || !std::isfinite(x) || (percent && x > 100) ||
      (!percent && x != std::floor(x)))
    throw Error(
        "{} is \"{}\"; it must be a whole number of rows above 0, a share such as \"5%\" up to \"100%\", or "
        "\"full\"",
        where, text);
  return percent ? Size{.share = x / 100} : Size{.count = x};
}

Stream stream(const BatchState& d, std::uint64_t step) { return {.key = d.key, .walker = d.walker, .step = step}; }

// Fisher-Yates: every permutation equally likely.
void shuffle(BatchState& d, std::uint64_t epoch) {
  if (d.epoch == epoch) return;
  std::iota(d.order.begin(), d.order.end(), 0u);
  random_bits(stream(d, epoch), d.bits);
  for (std::uint32_t i = d.rows; i-- > 1;) std::swap(d.order[i], d.order[below(i + 1, d.bits[i])]);
  d.epoch = epoch;
}

std::span<const std::uint32_t> slice(const BatchState& d, std::uint64_t k) {
  return std::span(d.order).subspan(k * d.size, std::min<std::uint64_t>(d.size, d.rows - k * d.size));
}

std::span<const std::uint32_t> shuffled(BatchState& d, std::uint64_t n) {
  shuffle(d, n / d.slices());
  return slice(d, n % d.slices());
}

std::span<const std::uint32_t> symmetric(BatchState& d, std::uint64_t n) {
  const std::uint64_t m = d.slices(), k = n % (2 * m);
  shuffle(d, n / (2 * m));
  return slice(d, k < m ? k : 2 * m - 1 - k);
}

std::span<const std::uint32_t> sequential(BatchState& d, std::uint64_t n) { return slice(d, n % d.slices()); }

std::span<const std::uint32_t> with_replacement(BatchState& d, std::uint64_t n) {
  for (std::uint32_t i = 0; i < d.size; ++i) d.batch[i] = below(d.rows, stream(d, n), i);
  return d.batch;
}

// The first steps of a Fisher-Yates shuffle, undone afterwards, so that a call costs the batch and not the rows.
std::span<const std::uint32_t> without_replacement(BatchState& d, std::uint64_t n) {
  for (std::uint32_t i = 0; i < d.size; ++i) {
    d.swaps[i] = i + below(d.rows - i, stream(d, n), i);
    std::swap(d.order[i], d.order[d.swaps[i]]);
    d.batch[i] = d.order[i];
  }
  for (std::uint32_t i = d.size; i-- > 0;) std::swap(d.order[i], d.order[d.swaps[i]]);
  return d.batch;
}

constexpr BatchOrder orders[] = {
    {"shuffled", "slices of a fresh permutation each epoch; the last slice may be short", shuffled, false, 1},
    {"with_replacement", "every row drawn independently, so a row may come twice", with_replacement, true, 1},
    {"without_replacement", "a fresh set of different rows each time, independent of the last", without_replacement,
     false, 1},
    {"sequential", "slices in the order of the file, from the start again at its end", sequential, false, 1},
    {"symmetric", "slices of a permutation forwards, then backwards, then a fresh permutation", symmetric, false, 2},
};

}  // namespace

std::uint32_t BatchSize::of(std::size_t rows) const {
  const Size size = parsed(text, "batch size");
  const double wanted = size.share > 0 ? std::round(size.share * double(rows)) : size.count;
  return std::uint32_t(std::min(double(rows), std::max(1.0, wanted)));
}

void assign(BatchSize& size, const Value& v, const std::string& key) {
  double number = 0;
  std::string text;
  if (std::holds_alternative<std::string>(v.is)) {
    assign(text, v, key);
  } else {
    assign(number, v, key);
    text = fmt::format("{}", number);
  }
  parsed(text, v.where.empty() ? key : v.where + ": " + key);
  size.text = text;
}

Value as_value(const BatchSize& size) {
  const Size is = parsed(size.text, "batch size");
  if (is.share > 0) return size.text;
  return long(std::min(is.count, 0x1p53));
}

std::span<const BatchOrder> batch_orders() { return orders; }

Batches::Batches(const BatchSettings& settings, std::size_t rows, std::uint64_t seed, std::uint32_t walker)
    : order_(&row_named(settings.order, batch_orders(), "batch order")) {
  if (rows > std::numeric_limits<std::uint32_t>::max())
    throw Error("a dataset of {} rows is too large for minibatches; {} is the most", rows,
                std::numeric_limits<std::uint32_t>::max());
  state_.key = stream_key(seed, "batch");
  state_.walker = walker;
  state_.rows = std::uint32_t(rows);
  state_.size = settings.size.of(rows);
  if (full()) return;
  state_.order.resize(rows);
  state_.bits.resize(rows);
  std::iota(state_.order.begin(), state_.order.end(), 0u);
  state_.swaps.resize(state_.size);
  state_.batch.resize(state_.size);
}

std::span<const std::uint32_t> Batches::operator()(std::uint64_t n) {
  if (full()) return {};
  return order_->rows(state_, n);
}

}  // namespace kelvin
