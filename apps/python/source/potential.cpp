// SPDX-License-Identifier: Apache-2.0
// Energies to be evaluated.
#include <nanobind/stl/unique_ptr.h>

#include <cmath>

#include "apps/python/source/module.h"
#include "apps/python/source/problem.h"
#include "kelvin/energy/hessian.h"

namespace kelvin::python {

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

namespace {

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
    const double U = guarded(*raised_, [&] { return energy_(q, {.rows = chosen}, g); });
    const std::size_t shape = size();
    return nb::make_tuple(U, own_array<Real>(std::move(g), std::span(&shape, 1)));
  }

  nb::object start(std::uint32_t walker) const override {
    const std::vector<Real> q = start_of(problem_, environment_, walker);
    const std::size_t shape = q.size();
    return own_array<Real>(LargeArray<Real>(q.begin(), q.end()), std::span(&shape, 1));
  }

  nb::dict score(nb::handle given, const std::string& split) override {
    const InUse use(in_use_, "potential");
    const std::vector<Real> q = flat<Real>(given, size(), "q");
    const Score score = guarded(*raised_, [&] { return likelihood(split).score(q, {}); });
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
    guarded(*raised_, [&] { rows.predict(q, {}, out); });
    const std::array<std::size_t, 2> shape = {rows.rows(), rows.outputs()};
    return own_array<Real>(std::move(out), shape);
  }

  nb::object hessian(nb::handle given) override {
    if constexpr (std::is_same_v<Real, double>) {
      const InUse use(in_use_, "potential");
      const std::vector<double> q = flat<double>(given, size(), "q");
      std::vector<double> H;
      guarded(*raised_, [&] { H = kelvin::hessian(energy_, q, {}); });
      const std::array<std::size_t, 2> shape = {size(), size()};
      return own_array<double>(LargeArray<double>(H.begin(), H.end()), shape);
    } else {
      throw Error("second derivatives need precision=\"double\": differences of gradients lose half the digits");
    }
  }

 private:
  PlacedLikelihood<Real>& likelihood(const std::string& split) {
    PlacedLikelihood<Real>* const rows = split == "train"        ? problem_.train.get()
                                         : split == "validation" ? problem_.validation.get()
                                         : split == "test"       ? problem_.test.get()
                                                                 : nullptr;
    if (!rows)
      throw Error(
          "there are no \"{}\" rows; a potential of data has \"train\" rows, and \"validation\" and \"test\" "
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

}  // namespace

void add_potential(nb::module_& module) {
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
}

}  // namespace kelvin::python
