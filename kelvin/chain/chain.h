// SPDX-License-Identifier: Apache-2.0
// One walker: a program, a state and an energy; takes steps. All parts advance together from one joint letter to the
// next; between two joint letters they touch disjoint coordinates, so their order cannot matter and no order is
// defined.
#pragma once
#include <algorithm>
#include <memory>

#include "kelvin/chain/mover.h"
#include "kelvin/chain/program.h"
#include "kelvin/data/batch.h"
#include "kelvin/energy/energy.h"
#include "kelvin/energy/metric.h"

namespace kelvin {

// What the constants of a step are multiplied by, besides their schedules.
struct StepFactors {
  double pace = 1;          // of all steps
  double tempo = 1;         // likewise, but of the time that the string takes, not of the beat that Z follows
  std::size_t repeats = 0;  // made of those in braces; 0: all
};

// What happens during one step, for those that act in it.
struct StepRecord {
  double acceptance = 0;        // sum of min(1, exp(-(H' - H)/T)) over its proposals
  std::uint64_t proposals = 0;  // their number
  bool diverging = false;       // one of them raised H by more than 1000 T
  bool reading = false;         // readings are taken
  bool may_diverge = false;     // there is a state to return to
  double energy_error = 0;      // with p of unit length: in units of T; nan if it is not known
};

template <class Real>
class Chain {
 public:
  Chain(Energy<Real>, const Recipe&, Batches, const Noise<Real>&, std::uint64_t seed, std::uint32_t walker);
  Chain(Chain&&) noexcept;
  Chain& operator=(Chain&&) noexcept;
  ~Chain();

  // Puts the walker at q with fresh momenta: Gaussian at the part's temperature, and, if the string forgets p and then
  // kicks it (BARAB), kicked as the step before would have left it; else the first step would differ from every other.
  void start(std::span<const Real> q);
  void place(std::span<const Real> q, std::span<const Real> p);  // puts it anywhere

  ChainState<Real> state();               // moves that were put off are made first
  void restore(const ChainState<Real>&);  // goes on bit for bit where `state` was taken

  // Puts the walker at q and lets it move from now on in coordinates x with q = B x; p keeps its numbers. Readings,
  // momenta and states are those of x; q.g is the same for both.
  void move_in(std::unique_ptr<LowRankMetric<Real>>, std::span<const Real> q);
  double gradient_at(std::span<const Real> x, std::span<Real> g);  // of the next evaluation's rows, changing nothing

  void pace(double factor) { outside_.pace = factor; }  // of all steps, besides what their schedules say

  void heat(double factor) { outside_.heat = factor; }  // of all temperatures, likewise
  std::uint32_t replica() const { return state_.replica; }
  Replica<Real> replica_now();
  void take(const Replica<Real>&);  // in place of its own; the gradient is taken anew, on the rows of the last one
  double energy_on(Batch rows);     // U at q, changing nothing

  void use_threads(std::size_t threads);  // for parts of many numbers and shares of rows; bytes do not depend on them

  void step();
  void step_and_read();  // the same step, which also takes the readings that `reading` returns
  const Reading& reading() const { return state_.reading; }

  // Positions and momenta now: moves that were put off are made first.
  std::span<const Real> q() { return energy_.position(now().q); }
  std::span<const Real> x() { return now().q; }  // the coordinates it moves in: q, unless it has a metric
  std::span<const Real> p() { return now().p; }
  std::uint64_t steps() const { return state_.steps; }
  std::uint64_t evaluations() const { return state_.evaluations; }
  const Recipe& recipe() const { return program_->recipe; }
  std::uint32_t walker() const { return workspace_.walker; }
  std::size_t rows() const { return energy_.rows(); }
  const Part<Real>& part(std::size_t k) const { return movers_[k].part; }
  double step_of(std::size_t part) const { return movers_[part].step; }

  // What the law of the energy has learnt; empty without. A walker may begin with that of another.
  std::span<const double> learnt_bias() const {
    return energy_.law ? energy_.law->learnt() : std::span<const double>();
  }
  void begin_with_bias(std::span<const double>);

  // What the warm-up has found so far, 1 without: factors of all steps, of all frictions, and of the coordinates (the
  // diagonal of L or all of it by columns, q = L x; empty for the unit metric).
  double learnt_pace() const { return state_.pace; }
  double learnt_friction() const { return state_.friction; }
  std::uint64_t put_back() const { return state_.put_back; }
  std::uint64_t put_back_later() const { return state_.put_back_later; }
  std::span<const double> learnt_factor() const {
    return energy_.coordinates ? energy_.coordinates->factor() : std::span<const double>();
  }

  // ---- for companions

  const Program& program() const { return *program_; }
  std::span<const Recipe> later() const { return later_; }  // of the phases to come
  template <class Of>
  bool in_some_phase(const Of& of) const {  // of(recipe) is true, now or later
    return of(program_->recipe) || std::ranges::any_of(later_, of);
  }
  Energy<Real>& energy() { return energy_; }
  Batches& batches() { return batches_; }
  std::span<Mover<Real>> movers() { return movers_; }
  ChainState<Real>& now();  // the state itself; moves that were put off are made first
  double last_energy() const { return state_.energy; }
  bool stale() const { return state_.stale; }  // q has moved since
  StepRecord& step_record() { return record_; }
  Workspace<Real>& workspace() { return workspace_; }
  const Noise<Real>& noise() const { return *workspace_.noise; }
  std::uint64_t key(std::string_view stream) const { return stream_key(seed_, stream); }
  double temperature() const { return movers_.front().part.T; }  // of all parts, where it is one
  void evaluate(std::size_t meeting);  // the gradient for those who read it there, if they do not have it
  void schedule();                     // the constants of this step anew
  void read_energy();                  // at the last gradient, if readings are taken
  double hamiltonian() const;
  void stand_on(std::span<const double> factor);  // changes coordinates under a walker that stays where it is

 private:
  void lay_out();
  void begin(std::span<const Real> q, const std::vector<char>& keeps_p);
  void next_recipe();
  void next_phase();
  void run(std::size_t part, std::size_t segment);
  void put_off(std::size_t part, std::size_t first_move, std::size_t last_move);
  void flush();
  bool take_gradient(std::size_t meeting);  // whether it was not there
  void read_whole_energy();
  bool fresh(const Meeting&) const;
  std::pair<std::size_t, std::size_t> left_out(std::size_t part) const;
  void take_reading();
  [[noreturn]] void diverged() const;

  Energy<Real> energy_;
  std::shared_ptr<const Program> program_;
  std::vector<Recipe> later_;  // of the phases to come
  ChainState<Real> state_;
  struct NamedCompanion {
    std::string_view name;
    std::unique_ptr<Companion<Real>> acts;
  };
  std::vector<NamedCompanion> companions_;
  Batches batches_;
  std::uint64_t seed_, evaluation_key_;  // of the noise that each evaluation sees
  std::vector<Mover<Real>> movers_;
  Workspace<Real> workspace_;
  StepFactors factors_;
  StepRecord record_;
  struct {
    double pace = 1, heat = 1;
  } outside_;  // factors that others give
};

}  // namespace kelvin
