// SPDX-License-Identifier: Apache-2.0
// One energy to be evaluated, and one walker to be moved step by step.
#include "kelvin/chain/chain.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "apps/python/source/module.h"
#include "apps/python/source/own.h"
#include "apps/python/source/value.h"
#include "kelvin/energy/hessian.h"
#include "kelvin/run/problem.h"
#include "kelvin/trajectory/inputs.h"

namespace kelvin::python {
namespace {

// Of one thread at a time: a second one is refused, not made to wait.
class InUse {
 public:
  InUse(std::atomic<bool>& flag, const char* what) : flag_(flag) {
    if (flag_.exchange(true))
      throw Error("this {} is being used by another thread; give each thread one of its own", what);
  }
  ~InUse() { flag_ = false; }

 private:
  std::atomic<bool>& flag_;
};

// `given`: directory, from which files are named; data: file that is read in place of data.file, if there is one.
template <class Real>
Problem<Real> problem_of(const RunSettings& settings, const nb::dict& given, std::shared_ptr<const Model> model,
                         RunEnvironment& environment) {
  environment = inputs_from(nb::cast<std::string>(given["directory"]));
  if (given.contains("data")) {
    const std::string file = nb::cast<std::string>(given["data"]);
    const LoadData load = environment.data;
    environment.data = [=](const DataSettings& data, bool classes, std::uint64_t seed, const Remark& remark) {
      DataSettings there = data;
      there.file = file;
      return load(there, classes, seed, remark);
    };
  }
  const nb::gil_scoped_release unlocked;
  return make_problem<Real>(settings, environment.data, [](std::string_view) {}, Slack::kept, std::move(model));
}

RunSettings settings_of(nb::dict given, const RunKind& kind) {
  RunSettings settings = read_run_settings(to_value(given, "settings"));
  complete(settings, kind);
  return settings;
}

nb::list told_blocks(const std::vector<Block>& blocks) {
  nb::list out;
  for (const Block& block : blocks) {
    nb::dict about;
    about["name"] = nb::str(block.name.c_str());
    about["shape"] = nb::tuple(nb::cast(block.shape.list()));
    about["offset"] = block.offset;
    about["layer"] = block.layer;
    out.append(about);
  }
  return out;
}

template <class Real>
std::vector<Real> flat(nb::handle array, std::size_t size, const char* what) {
  Given<Real> numbers;
  if (!nb::try_cast(array, numbers))
    throw Error("{} must be an array of {} numbers, not {}", what, size, nb::repr(array.type()).c_str());
  if (numbers.size() != size)
    throw Error("{} has {} numbers; {} are needed, one for each parameter", what, numbers.size(), size);
  return {numbers.data(), numbers.data() + size};
}

std::vector<std::uint32_t> rows_of(nb::handle rows, std::size_t count) {
  if (rows.is_none()) return {};
  std::vector<std::uint32_t> out;
  for (nb::handle row : nb::iter(rows)) {
    const auto number = nb::cast<long>(nb::int_(nb::borrow(row)));
    if (number < 0 || number >= long(count)) throw Error("row {} is not one of the rows 0 to {}", number, count - 1);
    out.push_back(std::uint32_t(number));
  }
  if (out.empty()) throw Error("rows must name at least one row; leave it out for all of them");
  return out;
}

// ---- potentials

class PythonPotentialOf {
 public:
  virtual ~PythonPotentialOf() = default;
  virtual nb::tuple evaluate(nb::handle q, nb::handle rows) = 0;
  virtual nb::list blocks() const = 0;
  virtual nb::object start(std::uint32_t walker) const = 0;
  virtual nb::dict score(nb::handle q, const std::string& split) = 0;
  virtual nb::object predict(nb::handle q, const std::string& split) = 0;
  virtual nb::object hessian(nb::handle q) = 0;
  virtual std::size_t size() const = 0;
  virtual std::size_t rows() const = 0;
};

template <class Real>
class Evaluated final : public PythonPotentialOf {
 public:
  Evaluated(const RunSettings& settings, const nb::dict& given, std::shared_ptr<const Model> model,
            std::shared_ptr<Raised> raised)
      : raised_(std::move(raised)),
        problem_(problem_of<Real>(settings, given, std::move(model), environment_)),
        energy_(*problem_.energy) {}

  std::size_t size() const override { return problem_.recipe.size; }
  std::size_t rows() const override { return energy_.rows(); }
  nb::list blocks() const override { return told_blocks(problem_.recipe.blocks); }

  nb::tuple evaluate(nb::handle given, nb::handle rows) override {
    const InUse use(in_use_, "potential");
    const std::vector<Real> q = flat<Real>(given, size(), "q");
    const std::vector<std::uint32_t> chosen = rows_of(rows, energy_.rows());
    LargeArray<Real> g(size());
    const double U = guarded([&] { return energy_(q, {.rows = chosen}, g); });
    const std::size_t shape = size();
    return nb::make_tuple(U, own_array<Real>(std::move(g), std::span(&shape, 1)));
  }

  nb::object start(std::uint32_t walker) const override {
    const std::vector<Real> q =
        problem_.starting_point(walker, [&](const std::string& place, const Block& block) {
          return environment_.block(place, block, 0, 1);
        });
    const std::size_t shape = q.size();
    return own_array<Real>(LargeArray<Real>(q.begin(), q.end()), std::span(&shape, 1));
  }

  nb::dict score(nb::handle given, const std::string& split) override {
    const InUse use(in_use_, "potential");
    const std::vector<Real> q = flat<Real>(given, size(), "q");
    const Score score = guarded([&] { return likelihood(split).score(q, {}); });
    nb::dict out;
    for (const auto& [name, value] : {std::pair{"loss", score.loss},
                                      {"accuracy", score.accuracy},
                                      {"rmse", score.rmse},
                                      {"perplexity", score.perplexity}})
      if (!std::isnan(value)) out[name] = value;
    return out;
  }

  nb::object predict(nb::handle given, const std::string& split) override {
    const InUse use(in_use_, "potential");
    const std::vector<Real> q = flat<Real>(given, size(), "q");
    PlacedLikelihood<Real>& rows = likelihood(split);
    LargeArray<Real> out(rows.rows() * rows.outputs());
    guarded([&] {
      rows.predict(q, {}, out);
      return 0.0;
    });
    const std::array<std::size_t, 2> shape = {rows.rows(), rows.outputs()};
    return own_array<Real>(std::move(out), shape);
  }

  nb::object hessian(nb::handle given) override {
    if constexpr (std::is_same_v<Real, double>) {
      const InUse use(in_use_, "potential");
      const std::vector<double> q = flat<double>(given, size(), "q");
      std::vector<double> H;
      guarded([&] {
        H = kelvin::hessian(energy_, q, {});
        return 0.0;
      });
      const std::array<std::size_t, 2> shape = {size(), size()};
      return own_array<double>(LargeArray<double>(H.begin(), H.end()), shape);
    } else {
      throw Error("second derivatives need precision=\"double\": differences of gradients lose half the digits");
    }
  }

 private:
  template <class Work>
  auto guarded(Work&& work) {
    std::exception_ptr failure;
    decltype(work()) out{};
    {
      const nb::gil_scoped_release unlocked;
      try {
        out = work();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    raised_->raise_again();
    if (failure) std::rethrow_exception(failure);
    return out;
  }

  PlacedLikelihood<Real>& likelihood(const std::string& split) {
    PlacedLikelihood<Real>* const rows = split == "train"        ? problem_.train.get()
                                         : split == "validation" ? problem_.validation.get()
                                         : split == "test"       ? problem_.test.get()
                                                                 : nullptr;
    if (!rows)
      throw Error("there are no \"{}\" rows; a potential of data has \"train\" rows, and \"validation\" and \"test\" "
                  "rows if the data settings keep some",
                  split);
    return *rows;
  }

  std::shared_ptr<Raised> raised_;
  RunEnvironment environment_;
  Problem<Real> problem_;
  Energy<Real> energy_;
  std::atomic<bool> in_use_ = false;
};

// ---- chains

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
    const std::vector<Real> q = problem_.starting_point(
        chain_.walker(),
        [&](const std::string& place, const Block& block) { return environment_.block(place, block, 0, 1); });
    guarded([&] { chain_.start(q); });
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
      guarded([&] {
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
    guarded([&] {
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
  template <class Work>
  void guarded(Work&& work) {
    std::exception_ptr failure;
    {
      const nb::gil_scoped_release unlocked;
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    raised_->raise_again();
    if (failure) std::rethrow_exception(failure);
  }

  // U and its gradient at q, on the rows of the next evaluation; the chain is not changed.
  template <class Take>
  double evaluated(Take&& take) {
    LargeArray<Real> g(problem_.recipe.size);
    double U = 0;
    guarded([&] {
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

template <class Base, template <class> class Of>
std::unique_ptr<Base> make(nb::dict settings, nb::dict given, nb::object potential, nb::object letters) {
  const RunSettings read = settings_of(settings, run_kind(nb::cast<std::string>(given["command"])));
  const auto raised = std::make_shared<Raised>();
  std::shared_ptr<const Model> model = model_of(potential, letters, raised);
  if (read.precision == "float") return std::make_unique<Of<float>>(read, given, std::move(model), raised);
  return std::make_unique<Of<double>>(read, given, std::move(model), raised);
}

}  // namespace

void add_chain(nb::module_& module) {
  nb::class_<PythonPotentialOf>(module, "Potential")
      .def(nb::new_(&make<PythonPotentialOf, Evaluated>), nb::arg("settings"), nb::arg("given"),
           nb::arg("potential").none(), nb::arg("letters"))
      .def("evaluate", &PythonPotentialOf::evaluate, nb::arg("q"), nb::arg("rows").none())
      .def("start", &PythonPotentialOf::start)
      .def("score", &PythonPotentialOf::score)
      .def("predict", &PythonPotentialOf::predict)
      .def("hessian", &PythonPotentialOf::hessian)
      .def_prop_ro("blocks", &PythonPotentialOf::blocks)
      .def_prop_ro("size", &PythonPotentialOf::size)
      .def_prop_ro("rows", &PythonPotentialOf::rows);
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
