// SPDX-License-Identifier: Apache-2.0
// One walker: parts, schemes and a potential; takes steps. All parts advance together from one joint letter to the
// next; between two joint letters they touch disjoint coordinates, so their order cannot matter and no order is
// defined.
#pragma once
#include <memory>

#include "kelvin/chain/adaptation.h"
#include "kelvin/chain/gradient_noise.h"
#include "kelvin/chain/held.h"
#include "kelvin/chain/no_u_turn.h"
#include "kelvin/core/noise.h"
#include "kelvin/core/pages.h"
#include "kelvin/data/batch.h"
#include "kelvin/energy/energy.h"
#include "kelvin/energy/metric.h"
#include "kelvin/energy/tempered.h"

namespace kelvin {

// What can be read off a chain at a draw. Energies are those of U as the chain sees it (mean loss plus prior/N).
struct PartReading {
  double kinetic_energy = 0;               // p.p/2m at the end of the step; nan, as the next, if the scheme uses no p
  double kinetic_temperature = 0;          // p.p/m per degree of freedom, read where the scheme's row says it is exact
  double virial = 0;                       // q.g/2
  double configurational_temperature = 0;  // q.g per degree of freedom; of the entries without a constraint, if any
  double xi = 0;                           // friction found by a thermostat; nan if the scheme has none
  double residual = 0;                     // largest |g| of its constraints; nan, as the next, if it has none
  double tangency = 0;                     // largest part of p that points off them
  double fallbacks = 0;                    // projections so far that had to be done another way
};
struct Reading {
  std::uint64_t step = 0;
  double energy =
      0;  // U, and below q.g, at the step's last gradient: for strings that end by moving q, before that move
  double acceptance = 0;      // share of proposals accepted so far; 1 without braces
  bool diverging = false;     // a proposal of this step raised H by more than 1000 T
  double statistic = 1;       // mean of min(1, exp(-(H' - H)/T)) over the proposals of this step
  int depth = 0;              // of N: how often its path doubled
  std::uint64_t leaps = 0;    // of N: leapfrog steps
  double taken = 0;           // the first part's step, with all that changes it
  double alpha = 0;           // the tempering variable
  double energy_error = 0;    // of this step, in units of T, with p of unit length and no braces; else nan
  double log_weight = 0;      // of the draw, up to a constant; -infinity if it is none of the law that is asked for
  std::uint32_t replica = 0;  // the walker whose start this position goes back to
  std::vector<PartReading> parts;
  template <class Visit>
  void fields(Visit&& field) {
    field(step), field(energy), field(acceptance), field(diverging), field(statistic), field(depth), field(leaps);
    field(taken), field(alpha), field(energy_error), field(log_weight), field(replica), field(parts);
  }
};

// Everything the next step needs besides the settings. Noise and minibatches need no state: they are functions of it.
template <class Real>
struct ChainState {
  std::uint64_t steps = 0, evaluations = 0, proposals = 0, accepted = 0;
  std::uint64_t fresh_at = 0;  // the meeting whose readers have the gradient of q
  double energy = 0, zeta = 0;
  std::uint8_t stale = 1;
  std::vector<Real> q, p, g;             // in the coordinates of `factor`, if there are any
  std::vector<double> xi;                // of each part
  std::vector<Real> memory;              // of optimizers
  std::vector<double> fallbacks;         // of each part's projections
  double statistics = 0;                 // sum of the acceptance statistics of all steps
  std::vector<Real> covariance, anchor;  // of the gradient's noise; what the potential remembers
  std::vector<double> bias;              // that a tempered potential has learnt
  std::vector<double> learnt, factor;    // of the warm-up: see Adaptation, and the coordinates q is given in
  std::uint32_t replica = 0;             // see Replica
  Reading reading;                       // the last one: a walker that rests is still told of in the log
  template <class Visit>
  void fields(Visit&& field) {
    field(steps), field(evaluations), field(proposals), field(accepted), field(fresh_at), field(energy), field(zeta);
    field(stale);
    field(q), field(p), field(g), field(xi), field(memory), field(fallbacks);
    field(statistics), field(covariance), field(anchor), field(bias), field(learnt), field(factor), field(replica);
    reading.fields(field);
  }
};

// What walkers at different temperatures exchange: a position and all that belongs to it. Momenta travel as those of
// the temperature set, p over the root of the walker's heat, so that they stay tangent to constraints.
template <class Real>
struct Replica {
  std::uint32_t number = 0;
  std::vector<Real> q, p, memory, anchor;  // of optimizers; of the potential
  template <class Visit>
  void fields(Visit&& field) {
    field(number), field(q), field(p), field(memory), field(anchor);
  }
};

template <class Real>
class Chain {
 public:
  Chain(Energy<Real>, const Recipe&, Batches, const Noise<Real>&, std::uint64_t seed,
        std::uint32_t walker);

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

  void pace(double factor) { pace_ = factor; }  // of all steps, besides what their schedules say

  void heat(double factor) { heat_ = factor; }  // of all temperatures, likewise
  std::uint32_t replica() const { return replica_; }
  Replica<Real> replica_now();
  void take(const Replica<Real>&);  // in place of its own; the gradient is taken anew, on the rows of the last one
  double energy_on(Batch rows);     // U at q, changing nothing

  void use_threads(std::size_t threads);  // for parts of many numbers; bytes do not depend on them

  void step();
  void step_and_read();  // the same step, which also takes the readings that `reading` returns
  const Reading& reading() const { return reading_; }

  // Positions and momenta now: moves that were put off are made first.
  std::span<const Real> q() {
    flush();
    return energy_.position(q_);
  }
  std::span<const Real> x() { return flush(), q_; }  // the coordinates it moves in: q, unless it has a metric
  std::span<const Real> p() { return flush(), p_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t evaluations() const { return evaluations_; }
  const Recipe& recipe() const { return recipe_; }
  std::uint32_t walker() const { return walker_; }
  std::size_t rows() const { return energy_.rows(); }
  const Part<Real>& part(std::size_t k) const { return movers_[k].part; }
  double step_of(std::size_t part) const { return movers_[part].step; }

  // What the bias of a tempered potential has learnt; empty without. A walker may begin with that of another.
  std::span<const double> learnt_bias() const {
    return tempered_ ? std::span<const double>(tempered_->learnt()) : std::span<const double>();
  }
  void begin_with_bias(std::span<const double>);

  // What the warm-up has found so far, 1 without: factors of all steps, of all frictions, and of the coordinates (the
  // diagonal of L or all of it by columns, q = L x; empty for the unit metric).
  double learnt_pace() const { return tuner_ ? tuner_->pace() : 1; }
  double learnt_friction() const { return tuner_ ? tuner_->friction() : 1; }
  std::span<const double> learnt_factor() const {
    return energy_.coordinates ? energy_.coordinates->factor() : std::span<const double>();
  }

 private:
  static constexpr std::size_t block_length = 1024;  // numbers that pass through all pending letters while in L1

  // Moves are put off until a gradient or the state is asked for, so that those of one step's end and the next one's
  // beginning pass over memory together.
  struct Pending {
    std::size_t first_move, last_move;
    Part<Real> part;  // with the constants of its step
    double step;
    std::uint64_t steps;
  };
  struct Mover {
    Part<Real> part;
    double step = 0, beat = 0;  // beat: the step before the tempo changes it
    std::vector<Pending> pending;
    std::uint64_t key = 0;
    std::vector<std::size_t> segments;  // moves[segments[k]] ... moves[segments[k + 1] - 1] lie between two meetings
    std::vector<Real> frozen;           // values of the frozen entries
    double kinetic = 0;                 // p.p/m where the scheme reads it
    Held<Real> held;                    // its constraints
  };

  void lay_out();
  void begin(std::span<const Real> q, const std::vector<char>& keeps_p);
  void next_recipe();
  void next_phase();
  void schedule();
  void run(std::size_t part, std::size_t segment);
  void put_off(std::size_t part, std::size_t first_move, std::size_t last_move);
  void move_whole(std::size_t part, std::size_t move);
  void flush();
  void flush(std::size_t part);
  void advance(const PartRecipe&, Mover&, const Stretch<Real>&, std::size_t thread);
  template <class Apply>
  void advance_held(const PartRecipe&, Mover&, const Stretch<Real>&, std::size_t thread, const Apply&);
  void count_fallbacks(std::size_t part);
  void restore_frozen(std::size_t part);
  void meet(std::size_t meeting);
  void evaluate(std::size_t meeting);
  void read_whole_energy();
  void read_energy();
  bool fresh(std::size_t meeting) const;
  void propose();
  void decide();
  void tune();
  void draw_jitter();
  void travel();
  void leap(int direction);
  void learn();
  double gradient_square() const;
  void start_tempo();
  double weight_of_time() const;
  void follow_tempo(const Move&);
  void watch_energy();
  void read_energy_error();
  void learn_by_energy();
  void guess_pace();
  void stay_stable();
  void stand_on(std::span<const double> factor);
  PathSpace<Real> path_space();
  // The moves [first, second) of a part that this step leaves out; without jitter none.
  std::pair<std::size_t, std::size_t> left_out(std::size_t part) const {
    if (repeats_ == 0) return {0, 0};
    const Repeats& r = recipe_.parts[part].scheme.repeats;
    return {r.first + repeats_ * r.letters, r.first + r.times * r.letters};
  }
  void take_reading();
  void let_learn();
  void temper(std::size_t meeting);
  void leave_room();
  double bath_temperature(std::size_t part) const;
  Joint joint_at(std::size_t part, std::size_t meeting) const {
    return recipe_.parts[part].scheme.moves[movers_[part].segments[meeting]].letter->joint;
  }
  double alpha() const { return double(movers_.back().part.q.front()); }
  double momentum_square(const Part<Real>&) const;
  double hamiltonian() const;
  [[noreturn]] void diverged() const;

  Energy<Real> energy_;
  Recipe recipe_;
  Batches batches_;
  const Noise<Real>* noise_;
  std::uint64_t seed_, metropolis_key_, evaluation_key_;
  std::uint32_t walker_, replica_;

  LargeArray<Real> q_, p_, g_;
  LargeArray<Real> normals_;
  std::vector<double> xi_;         // of each part
  std::vector<Real> memory_;       // u and v of the parts whose letters need them, one part after another
  std::vector<double> fallbacks_;  // of each part's projections
  std::vector<Tally> tallies_;     // of each thread
  std::vector<Real> from_;         // room for the last point on a manifold, for each thread
  std::size_t from_each_ = 0;
  std::vector<Mover> movers_;
  std::vector<std::vector<char>> readers_;  // at each meeting, per part: whether it reads the gradient there
  std::vector<std::vector<char>> wanted_;   // the same per block, for the potential
  std::vector<int> pieces_;                 // at each meeting: the piece of U whose gradient is read
  std::size_t fresh_at_ = 0;                // the meeting whose readers have the gradient of q
  std::size_t threads_ = 1, normals_each_ = 0;
  double U_ = 0, pace_ = 1, heat_ = 1;
  bool tempo_ = false, unit_speed_ = false;
  double zeta_ = 0, taken_ = 0;          // what the tempo follows, and the step that it gave last
  double work_ = 0, energy_before_ = 0;  // of p of unit length, over T, since the step began; U there
  bool stale_ = true, reading_now_ = false;
  std::uint64_t steps_ = 0, evaluations_ = 0;
  std::size_t meetings_ = 0;
  bool starts_still_ = true;  // no part moves before the first meeting, so the gradient there may be taken a step early

  LargeArray<Real> old_q_, old_p_, old_g_;  // the state at '{'
  double old_energy_ = 0, old_hamiltonian_ = 0;
  bool proposing_ = false, irreversible_ = false;
  std::uint64_t proposals_ = 0, accepted_ = 0;

  bool proposes_ = false;
  double leap_share_ = 1;  // of the step, that one leapfrog takes
  double statistic_ = 0, statistics_ = 0, pace_now_ = 1;
  std::uint64_t proposals_now_ = 0, jitter_key_, path_key_, covariance_key_;
  std::size_t repeats_ = 0;  // made of those in braces; 0: all
  std::unique_ptr<NoUTurn<Real>> no_u_turn_;
  std::unique_ptr<Adaptation> tuner_;
  std::unique_ptr<NoiseEstimate<Real>> gradient_noise_;  // if a letter needs it

  Tempered<Real>* tempered_ = nullptr;  // the law of energy_, if it is
  std::uint64_t learns_until_ = 0;      // its bias

  Reading reading_;
};

}  // namespace kelvin
