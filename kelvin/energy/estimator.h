// SPDX-License-Identifier: Apache-2.0
// How the energy of the data is estimated: with masks on some entries (dropout), with control variates, in shares of
// its rows, and with noise added to its gradient. They apply in the order of this file's functions, the first one
// outermost.
#pragma once
#include <functional>

#include "kelvin/core/noise.h"
#include "kelvin/core/parallel.h"
#include "kelvin/energy/mask.h"
#include "kelvin/energy/potential.h"

namespace kelvin {

struct BlockNoise {
  std::string block;
  std::function<double(double evaluation)> variance;  // of each entry's noise
};

// Processes that evaluate the same points in the same order, each with some of the rows. They outlive the estimator.
struct RowTeam {
  std::size_t rank = 0, size = 1;
  std::function<std::vector<std::string>(const std::string&)> everyone;  // what each has to say, by rank
};

template <class Real>
class Estimator {
 public:
  void add(const BlockMask&, std::span<const Block>);
  void add(BlockNoise, std::span<const Block>);
  // Control variates (Johnson and Zhang 2013): the gradient of a minibatch, less its own at an anchor, plus that of all
  // rows there. Its mean over batches is the gradient of all rows, its noise that of a difference, which is small as
  // long as q is near the anchor. The anchor is put to q at evaluations 0, every, 2 every, ...
  void anchor(std::uint64_t every) { anchor_every_ = every; }
  // Rows are taken in shares, a power of two, and their gradients added pairwise, as a tree: ranks that each take a
  // branch of it get the same bytes as one that takes them all. The size of the team is a power of two, too, and not
  // larger. So do threads, which need not be: the largest power of two of them is used.
  void share_rows(std::size_t shares, std::size_t rows, RowTeam);
  void use_threads(std::size_t threads) { threads_ = threads; }

  bool noisy() const { return !masks_.empty() || !noises_.empty() || anchor_every_ > 0; }
  void arrange(std::span<const Block>);
  void prepare(const Stream&);                    // draws what the next evaluations see; its step counts them
  std::span<Real> memory() { return anchored_; }  // numbers that last from evaluation to evaluation

  // U at q, its gradient in g; `offsets` are those of the potential's blocks.
  double operator()(Potential<Real>&, std::span<const Real> q, const Evaluation&, std::span<Real> g);
  void add_noise(std::span<Real> g);

  std::vector<std::size_t> offsets;  // of the potential's blocks in q

 private:
  double with_masks(Potential<Real>&, std::span<const Real> q, const Evaluation&, std::span<Real> g);
  double with_anchor(Potential<Real>&, std::span<const Real> q, const Evaluation&, std::span<Real> g);
  double in_shares(Potential<Real>&, std::span<const Real> q, const Evaluation&, std::span<Real> g);
  double my_branch(Potential<Real>&, std::span<const Real> q, const Evaluation&, std::span<Real> g);
  double trunk(const std::vector<std::string>& ranks, std::span<Real> g) const;
  double plain(Potential<Real>& U, std::span<const Real> q, const Evaluation& e, std::span<Real> g) {
    return U({q.data(), offsets.data()}, e, {g.data(), offsets.data()});
  }

  struct Masked {
    Block block;
    DrawnMask mask;
  };
  struct Noisy {
    Block block;
    BlockNoise noise;
  };
  std::vector<Masked> masks_;
  std::vector<Real> masked_;
  std::vector<Noisy> noises_;
  std::vector<Real> normals_;
  Stream stream_{};

  std::uint64_t anchor_every_ = 0;
  bool anchor_due_ = false;
  std::size_t size_ = 0;        // numbers that the anchor has
  std::vector<Real> anchored_;  // the anchor, the slope there, U there, and whether there is one
  std::vector<Real> correction_;

  // What evaluates a branch of the tree, on a thread of its own where there are several.
  struct BranchWork {
    std::unique_ptr<Potential<Real>> U;     // its own one; null: the chain's
    std::vector<std::vector<Real>> levels;  // the right branch at each height
    std::vector<Real> g;
    double energy = 0;
  };
  // Copies of an estimator begin without.
  struct BranchThreads {
    std::unique_ptr<Threads> threads;
    std::vector<BranchWork> works;
    BranchThreads() = default;
    BranchThreads(const BranchThreads&) {}
    BranchThreads(BranchThreads&&) = default;
    BranchThreads& operator=(BranchThreads&&) = default;
  };
  double branch(Potential<Real>&, std::span<const Real> q, const Evaluation&, std::size_t first, std::size_t count,
                BranchWork&, std::span<Real> g);

  std::size_t shares_ = 1, threads_ = 1;
  RowTeam team_;
  std::vector<std::uint32_t> all_rows_;
  BranchThreads branches_;
};

}  // namespace kelvin
