// SPDX-License-Identifier: Apache-2.0
// Minibatches: which rows evaluation n uses is a pure function of (seed, walker, n). To add an order, add a row to
// `orders` in batch.cpp.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kelvin/core/value.h"

namespace kelvin {

// A number of rows, or a share of them: 50 or "5%"; "full" (or "100%") is every row at every evaluation.
struct BatchSize {
  std::string text = "full";
  std::uint32_t of(std::size_t rows) const;  // at least 1, at most rows
};
void assign(BatchSize&, const Value&, const std::string& key);
Value as_value(const BatchSize&);

struct BatchSettings {
  static constexpr const char* shorthand = "size";
  BatchSize size;
  std::string order = "shuffled";
  long anchor_every = 0;
  template <class Visit>
  void fields(Visit&& field) {
    field("size", size, "rows per gradient: a number, a share such as \"5%\", or \"full\"");
    field("order", order,
          "how rows are chosen: shuffled, with_replacement, without_replacement, sequential or symmetric");
    field("anchor_every", anchor_every,
          "control variates (SVRG): gradients of a batch are corrected by its difference from all rows at a point that "
          "is taken anew after so many evaluations; 0 does not");
  }
};

// What an order works with. `order` is a permutation of all rows: that of `epoch`, once an epoch has been shuffled.
struct BatchState {
  std::uint64_t key = 0;
  std::uint32_t walker = 0, rows = 0, size = 0;
  std::uint64_t epoch = ~std::uint64_t(0);
  std::vector<std::uint32_t> order, swaps, batch;
  std::vector<std::uint64_t> bits;  // of the shuffle, one per row
  std::uint64_t slices() const { return (std::uint64_t(rows) + size - 1) / size; }
};

struct BatchOrder {
  std::string_view name, meaning;
  std::span<const std::uint32_t> (*rows)(BatchState&, std::uint64_t n);
  bool replaces;   // a row may come twice in a batch
  int bias_order;  // the power of h in what the noise of batches adds to averages; lower for words of lower order
};
std::span<const BatchOrder> batch_orders();

class Batches {
 public:
  Batches(const BatchSettings&, std::size_t rows, std::uint64_t seed, std::uint32_t walker);
  bool full() const { return state_.size == state_.rows; }
  // Variance of the mean over a batch, in units of the variance of one row: 1/S, or (1 - S/N)/S if no row comes twice.
  double share_of_variance() const {
    const double S = state_.size, N = state_.rows;
    return full() ? 0 : order_->replaces ? 1 / S : (1 - S / N) / S;
  }
  double bias_order() const { return full() ? std::numeric_limits<double>::infinity() : order_->bias_order; }
  // Rows of evaluation n, valid until the next call; empty means every row (full batch or no data).
  std::span<const std::uint32_t> operator()(std::uint64_t n);

 private:
  const BatchOrder* order_;
  BatchState state_;
};

}  // namespace kelvin
