// SPDX-License-Identifier: Apache-2.0
// Outputs of inputs and weights: what a network is, without data, loss or dynamics. A kind of network is one file.
#pragma once
#include <memory>

#include "kelvin/core/noise.h"
#include "kelvin/core/pages.h"
#include "kelvin/data/dataset.h"
#include "kelvin/function/weights.h"

namespace kelvin {

// Rows of inputs where they lie: `count` of them from `first` on, or those that `chosen` names. Vectors may read
// `widest_vector` numbers beyond the last one (Inputs leaves room).
template <class Real>
struct InputRows {
  const Real* inputs;  // of row 0
  std::size_t width;   // numbers of a row
  std::size_t first, count;
  Batch chosen;           // count of them, or none
  bool in_order = false;  // chosen rows have been put one after another: they are rows 0, 1, ... of `inputs`
};

// Where rows that do not lie anywhere as numbers are put.
template <class Real>
struct InputRoom {
  LargeArray<Real> values;
  std::vector<std::uint32_t> order;  // 0, 1, ...
};

// More rows than this are taken so many at a time: they stay in the cache, memory stays bounded, and how a batch is cut
// is a function of its size alone.
inline constexpr std::size_t most_rows_at_once = 1024, chunk_rows = 512;
inline std::size_t rows_at_once(std::size_t rows) { return rows <= most_rows_at_once ? rows : chunk_rows; }

// What a backward pass writes: keep g + share dL/dw of the blocks that are wanted, or of all if none is named.
template <class Real>
struct Slopes {
  Weights<Real> g;
  Real share = 1, keep = 0;
  std::span<const char> wanted;
};

template <class Real>
bool wants(const Slopes<Real>& slopes, std::size_t block) {
  return slopes.wanted.empty() || slopes.wanted[block];
}

// What a forward pass is told besides weights and rows. Training: what is drawn at random is drawn anew, as a pure
// function of the stream and of which row of the data it is for; statistics are those of the rows at hand.
template <class Real>
struct Pass {
  bool training = false;
  Stream stream{};
  Batch chosen{};         // the rows of the data that these are, or
  std::size_t first = 0;  // the first of them
  // Where a training pass puts what buffers are to lose, as a backward pass puts slopes; null: nowhere.
  const Slopes<Real>* buffers = nullptr;
  bool anew = false;  // buffers lose all of what they are, less what these rows give
  std::size_t row(std::size_t i) const { return chosen.empty() ? first + i : chosen[i]; }
};

template <class Real>
struct Function {
  virtual ~Function() = default;
  virtual const std::vector<Block>& blocks() const = 0;  // one after another
  virtual std::size_t inputs() const = 0;                // numbers of a row
  virtual std::size_t outputs() const = 0;
  virtual Shape output() const { return {outputs()}; }  // of one row
  // Outputs of the rows, one after another, valid until the next call. Never allocates after the first call with as
  // many rows.
  virtual std::span<const Real> forward(Weights<const Real>, const InputRows<Real>&, const Pass<Real>&) = 0;
  // Where dL/d(outputs) of the last forward pass is to be put; the backward pass uses the place for its own work.
  virtual std::span<Real> output_slopes() = 0;
  virtual void backward(Weights<const Real>, const Slopes<Real>&) = 0;
  virtual std::unique_ptr<Function> clone() const = 0;  // shares shapes, not workspace
  virtual bool random() const { return false; }         // whether training passes draw anything at random
  // How many of so many rows are taken at once. How a batch is cut is a function of its size alone.
  virtual std::size_t rows_at_once(std::size_t rows) const { return kelvin::rows_at_once(rows); }
};

// Inputs as a function reads them. What came in bytes stays in bytes, shared with the dataset; rows of it become
// numbers when they are asked for.
template <class Real>
class Inputs {
 public:
  Inputs() = default;
  Inputs(std::span<const double> values, std::size_t rows);
  Inputs(const InputValues&, std::size_t first, std::size_t rows, std::size_t width);
  std::size_t rows() const { return rows_; }
  std::size_t width() const { return width_; }
  // Valid until the room is used again.
  InputRows<Real> some(std::size_t first, std::size_t count, InputRoom<Real>& room) const {
    return bytes_ ? copied(first, count, room) : InputRows<Real>{values_.data(), width_, first, count, {}};
  }
  InputRows<Real> some(Batch chosen, InputRoom<Real>& room) const {
    return bytes_ ? copied(chosen, room) : InputRows<Real>{values_.data(), width_, 0, chosen.size(), chosen};
  }
  // The same, in the room, where they may be changed.
  InputRows<Real> copied(std::size_t first, std::size_t count, InputRoom<Real>& room) const;
  InputRows<Real> copied(Batch chosen, InputRoom<Real>& room) const;

 private:
  void copy_row(std::size_t row, Real* to) const;

  std::size_t rows_ = 0, width_ = 0;
  LargeArray<Real> values_;
  std::shared_ptr<const std::vector<std::uint8_t>> bytes_;  // or these, from row `first_` on
  std::size_t first_ = 0, period_ = 1;
  std::vector<Real> levels_;  // what a byte of each of `period_` columns stands for
  Real white_ = 0;            // every byte stands for byte / white_, exactly; 0: they do not
};

// Outputs of those rows, all if none is named, in chunks.
template <class Real>
void predict(Function<Real>&, Weights<const Real>, const Inputs<Real>&, Batch rows, std::span<Real> out,
             InputRoom<Real>&);

// A function whose blocks lie somewhere in q.
template <class Real>
class PlacedFunction {
 public:
  PlacedFunction(std::unique_ptr<Function<Real>> function, std::span<const Block> arranged)
      : function_(std::move(function)), offsets_(offsets_of(function_->blocks(), arranged)) {}
  std::size_t outputs() const { return function_->outputs(); }
  void predict(std::span<const Real> q, const Inputs<Real>& inputs, std::span<Real> out) {
    kelvin::predict<Real>(*function_, {q.data(), offsets_.data()}, inputs, {}, out, room_);
  }

 private:
  std::unique_ptr<Function<Real>> function_;
  std::vector<std::size_t> offsets_;
  InputRoom<Real> room_;
};

}  // namespace kelvin
