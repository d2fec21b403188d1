// SPDX-License-Identifier: Apache-2.0
// One walker, moved step by step.
#include "kelvin/chain/chain.h"

#include <nanobind/stl/unique_ptr.h>

#include <chrono>
#include <cstring>

#include "apps/python/source/module.h"
#include "apps/python/source/problem.h"

namespace kelvin::python {
namespace {

class PythonChain {
 public:
  virtual ~PythonChain() = default;
  virtual void step(std::uint64_t n, bool read) = 0;
  virtual nb::object array(char which, nb::handle self) = 0;
  virtual nb::object gradient() = 0;
  virtual double energy() = 0;
  virtual std::uint64_t steps() const = 0;
  virtual std::uint64_t evaluations() const = 0;
  virtual nb::list blocks() const = 0;
  virtual nb::list parts() const = 0;
  virtual nb::dict reading() = 0;
  virtual void start(nb::handle q) = 0;
  virtual void place(nb::handle q, nb::handle p) = 0;
};

template <class Real>
class Moved final : public PythonChain {
 public:
  Moved(const RunSettings& settings, const nb::dict& given, std::shared_ptr<const Model> model,
        std::shared_ptr<Raised> raised)
      : raised_(std::move(raised)),
        problem_(problem_of<Real>(settings, given, std::move(model), environment_)),
        chain_(problem_.chain(nb::cast<std::uint32_t>(given["walker"]), noise_)) {
    const std::vector<Real> q = start_of(problem_, environment_, chain_.walker());
    guarded(*raised_, [&] { chain_.start(q); });
  }

  std::uint64_t steps() const override { return chain_.steps(); }
  std::uint64_t evaluations() const override { return chain_.evaluations(); }
  nb::list blocks() const override { return told_blocks(problem_.recipe.blocks); }

  nb::list parts() const override {
    nb::list out;
    for (const PartRecipe& part : problem_.recipe.parts) {
      nb::dict about;
      about["name"] = nb::str(part.name.c_str());
      about["offset"] = part.offset;
      about["size"] = part.size;
      about["degrees_of_freedom"] = part.freedom();
      out.append(about);
    }
    return out;
  }

  // In pieces of some hundredths of a second, between which signals are looked for.
  void step(std::uint64_t n, bool read) override {
    const InUse use(in_use_, "chain");
    take_writes();
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds long_enough(20);
    for (std::uint64_t done = 0, piece = 16; done < n;) {
      const std::uint64_t count = std::min(piece, n - done);
      const auto began = Clock::now();
      guarded(*raised_, [&] {
        for (std::uint64_t k = 0; k < count; ++k) {
          if (read && done + k + 1 == n) chain_.step_and_read();
          else chain_.step();
        }
        chain_.now();  // arrays that show q and p see them as they are
      });
      done += count;
      if (Clock::now() - began < long_enough) piece *= 2;
      if (done < n && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    if (shown_) remember();
  }

  // Views of the state itself. What is written into them counts at the next step.
  nb::object array(char which, nb::handle self) override {
    const InUse use(in_use_, "chain");
    take_writes();
    ChainState<Real>& state = chain_.now();
    if (!shown_) {
      shown_ = true;
      remember();
    }
    const std::size_t size = state.q.size();
    return view<Real>(which == 'q' ? state.q.data() : state.p.data(), std::span(&size, 1), self);
  }

  double energy() override {
    const InUse use(in_use_, "chain");
    take_writes();
    return evaluated([](double U, LargeArray<Real>&) { return U; });
  }

  nb::object gradient() override {
    const InUse use(in_use_, "chain");
    take_writes();
    LargeArray<Real> g;
    evaluated([&](double U, LargeArray<Real>& slopes) {
      g = std::move(slopes);
      return U;
    });
    const std::size_t size = g.size();
    return own_array<Real>(std::move(g), std::span(&size, 1));
  }

  nb::dict reading() override {
    const Reading& now = chain_.reading();
    nb::dict out;
    out["step"] = now.step;
    out["potential"] = now.energy;
    out["acceptance_rate"] = now.statistic;
    out["step_size"] = now.taken;
    out["log_weight"] = now.log_weight;
    nb::dict parts;
    for (std::size_t k = 0; k < now.parts.size(); ++k) {
      const PartReading& part = now.parts[k];
      nb::dict of;
      of["kinetic_energy"] = part.kinetic_energy;
      of["kinetic_temperature"] = part.kinetic_temperature;
      of["configurational_temperature"] = part.configurational_temperature;
      of["xi"] = part.xi;
      parts[problem_.recipe.parts[k].name.c_str()] = of;
    }
    out["parts"] = parts;
    return out;
  }

  void start(nb::handle q) override {
    const InUse use(in_use_, "chain");
    const std::vector<Real> from = flat<Real>(q, problem_.recipe.size, "q");
    guarded(*raised_, [&] {
      chain_.start(from);
      chain_.now();
    });
    remember();
  }

  void place(nb::handle q, nb::handle p) override {
    const InUse use(in_use_, "chain");
    const std::vector<Real> to = flat<Real>(q, problem_.recipe.size, "q"),
                            momenta = flat<Real>(p, problem_.recipe.size, "p");
    chain_.now();
    chain_.place(to, momenta);
    remember();
  }

 private:
  // U and its gradient at q, on the rows of the next evaluation; the chain is not changed.
  template <class Take>
  double evaluated(Take&& take) {
    LargeArray<Real> g(problem_.recipe.size);
    double U = 0;
    guarded(*raised_, [&] {
      const LargeArray<Real> x(chain_.now().q);
      U = chain_.gradient_at(x, g);
    });
    return take(U, g);
  }

  void remember() {
    const ChainState<Real>& state = chain_.now();
    q_ = state.q;
    p_ = state.p;
  }

  // What was written into q or p since the last step: the chain is put there.
  void take_writes() {
    if (!shown_) return;
    const ChainState<Real>& state = chain_.now();
    const auto same = [](const LargeArray<Real>& a, const LargeArray<Real>& b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
    };
    if (same(state.q, q_) && same(state.p, p_)) return;
    const LargeArray<Real> q(state.q), p(state.p);
    chain_.place(q, p);
    remember();
  }

  std::shared_ptr<Raised> raised_;
  RunEnvironment environment_;
  Problem<Real> problem_;
  Noise<Real> noise_;
  Chain<Real> chain_;
  LargeArray<Real> q_, p_;  // as they were when the chain moved last
  bool shown_ = false;
  std::atomic<bool> in_use_ = false;
};

}  // namespace

void add_chain(nb::module_& module) {
  nb::class_<PythonChain>(module, "Chain")
      .def(nb::new_(&make<PythonChain, Moved>), nb::arg("settings"), nb::arg("given"), nb::arg("potential").none(),
           nb::arg("letters"))
      .def("step", &PythonChain::step, nb::arg("n") = 1, nb::arg("read") = false)
      .def("start", &PythonChain::start)
      .def("place", &PythonChain::place)
      .def("gradient", &PythonChain::gradient)
      .def("reading", &PythonChain::reading)
      .def_prop_ro("q", [](nb::handle self) { return nb::cast<PythonChain&>(self).array('q', self); })
      .def_prop_ro("p", [](nb::handle self) { return nb::cast<PythonChain&>(self).array('p', self); })
      .def_prop_ro("energy", &PythonChain::energy)
      .def_prop_ro("steps", &PythonChain::steps)
      .def_prop_ro("evaluations", &PythonChain::evaluations)
      .def_prop_ro("blocks", &PythonChain::blocks)
      .def_prop_ro("parts", &PythonChain::parts);
}

}  // namespace kelvin::python
