// SPDX-License-Identifier: Apache-2.0
#include "apps/python/source/own.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "apps/python/source/arrays.h"
#include "kelvin/core/error.h"

namespace kelvin::python {
namespace {

nb::object no_owner() { return nb::none(); }

// ---- potentials

// The arrays that a function is given for one walker, by name.
template <class Real>
struct Lent {
  const Real* q = nullptr;
  Real* g = nullptr;
  nb::object values, slopes;  // dicts
};

template <class Real>
class PythonPotential final : public Potential<Real> {
 public:
  PythonPotential(OwnPotentialSettings settings, std::shared_ptr<Raised> raised)
      : settings_(std::move(settings)), raised_(std::move(raised)) {
    lay_out(settings_.blocks);
  }
  PythonPotential(const PythonPotential& other) : settings_(other.settings_), raised_(other.raised_) {}
  ~PythonPotential() override {
    if (!has_arrays_) return;
    const Locked lock;
    lent_ = {};
    own_ = {};
  }

  const std::vector<Block>& blocks() const override { return settings_.blocks; }
  std::size_t rows() const override { return settings_.rows; }
  bool random() const override { return settings_.random; }
  std::unique_ptr<Potential<Real>> clone() const override { return std::make_unique<PythonPotential>(*this); }

  double operator()(Weights<const Real> q, const Evaluation& evaluation, Weights<Real> g) override {
    const Locked lock;
    has_arrays_ = true;
    try {
      if (settings_.lending == Lending::views) return call(lent(q, g), evaluation);
      if (!own_.values.is_valid()) make_own();
      for (std::size_t b = 0; b < blocks().size(); ++b)
        std::copy_n(q[b], blocks()[b].size(), q_.data() + blocks()[b].offset);
      std::ranges::fill(g_, Real(0));
      const double U = call(own_, evaluation);
      for (std::size_t b = 0; b < blocks().size(); ++b)
        std::copy_n(g_.data() + blocks()[b].offset, blocks()[b].size(), g[b]);
      return U;
    } catch (nb::python_error& error) {
      raised_->keep(std::move(error), fmt::format("potential \"{}\"", settings_.name));
    } catch (const nb::cast_error&) {
      throw Error("potential \"{}\" must return U, one number", settings_.name);
    }
  }

 private:
  double call(const Lent<Real>& arrays, const Evaluation& evaluation) {
    nb::object rows = nb::none();
    if (!evaluation.rows.empty()) {
      const std::size_t count = evaluation.rows.size();
      LargeArray<std::uint32_t> numbers(evaluation.rows.begin(), evaluation.rows.end());
      rows = own_array<std::uint32_t>(std::move(numbers), std::span(&count, 1));
    }
    nb::object draw = nb::none();
    if (settings_.random) draw = nb::int_(random_bits(evaluation.stream, 0));
    const nb::object U = (*settings_.function)(arrays.values, rows, arrays.slopes, draw);
    return nb::cast<double>(nb::float_(U));
  }

  Lent<Real> dicts(const auto& values, const auto& slopes) {
    nb::dict q, g;
    for (std::size_t b = 0; b < blocks().size(); ++b) {
      const auto shape = blocks()[b].shape.list();
      const char* const name = blocks()[b].name.c_str();
      // Tensors of torch know no read-only memory.
      if (settings_.lending == Lending::views) q[name] = view<Real>(const_cast<Real*>(values[b]), shape, no_owner());
      else q[name] = view<const Real>(values[b], shape, no_owner());
      g[name] = view<Real>(slopes[b], shape, no_owner());
    }
    return {values[0], slopes[0], q, g};
  }

  void make_own() {
    std::vector<std::size_t> offsets;
    for (const Block& block : blocks()) offsets.push_back(block.offset);
    const std::size_t size = parameter_count(blocks());
    q_.resize(size);
    g_.resize(size);
    own_ = dicts(Weights<const Real>{q_.data(), offsets.data()}, Weights<Real>{g_.data(), offsets.data()});
    if (!settings_.flat) return;
    own_.values["*"] = view<const Real>(q_.data(), std::span(&size, 1), no_owner());
    own_.slopes["*"] = view<Real>(g_.data(), std::span(&size, 1), no_owner());
  }

  // A chain has few places for q and g; their arrays are made once.
  const Lent<Real>& lent(Weights<const Real> q, Weights<Real> g) {
    for (const Lent<Real>& known : lent_)
      if (known.q == q[0] && known.g == g[0]) return known;
    Lent<Real>& oldest = lent_[next_++ % lent_.size()];
    oldest = dicts(q, g);
    return oldest;
  }

  OwnPotentialSettings settings_;
  std::shared_ptr<Raised> raised_;
  LargeArray<Real> q_, g_;  // where its arrays are its own
  Lent<Real> own_;
  std::array<Lent<Real>, 4> lent_;
  std::size_t next_ = 0;
  bool has_arrays_ = false;
};

// ---- letters

struct OwnLetterSettings {
  std::string name;
  Shared function;
  bool moves_q, moves_p;
  int normals;
};

// One function for all parts of all walkers; each call has arrays of its own, which it may keep.
template <class Real>
void flow(const OwnLetterSettings& letter, Raised& raised, const Part<Real>& part, double h, std::span<const Real> z) {
  const Locked lock;
  try {
    const std::size_t size = part.size();
    const auto copy = [&](auto numbers, std::size_t width) {
      const std::array<std::size_t, 2> shape = {size, width};
      return own_array<Real>(LargeArray<Real>(numbers.begin(), numbers.end()),
                             std::span(shape).first(width == 1 ? 1 : 2));
    };
    nb::object q = copy(part.q, 1), p = copy(part.p, 1), g = copy(part.g, 1);
    nb::object normals = letter.normals > 0 ? copy(z, std::size_t(letter.normals)) : nb::none();
    nb::dict constants;
    for (const auto& [name, value] : {std::pair{"gamma", part.gamma},
                                      {"T", part.T},
                                      {"m", part.m},
                                      {"sigma", part.sigma},
                                      {"eps", part.eps},
                                      {"step", part.h},
                                      {"count", part.count}})
      constants[name] = value;
    (*letter.function)(q, p, g, h, normals, constants);
    const auto take = [&](nb::handle from, std::span<Real> to) {
      const auto moved = nb::cast<NumPy<const Real>>(from);
      std::copy_n(static_cast<const Real*>(moved.data()), to.size(), to.data());
    };
    if (letter.moves_q) take(q, part.q);
    if (letter.moves_p) take(p, part.p);
  } catch (nb::python_error& error) {
    raised.keep(std::move(error), fmt::format("letter \"{}\"", letter.name));
  }
}

Forgets forgets_named(const std::string& name) {
  if (name == "never") return Forgets::never;
  if (name == "always") return Forgets::always;
  if (name == "at infinite friction") return Forgets::at_infinite_friction;
  throw Error("forgets must be \"never\", \"always\" or \"at infinite friction\", not \"{}\"", name);
}

}  // namespace

OwnPotentialSettings read_potential(nb::dict given) {
  OwnPotentialSettings settings;
  settings.name = nb::cast<std::string>(given["name"]);
  settings.function = Shared(nb::borrow(given["function"]));
  settings.rows = nb::cast<std::size_t>(given["rows"]);
  settings.random = nb::cast<bool>(given["random"]);
  settings.lending = nb::cast<bool>(given["views"]) ? Lending::views : Lending::copies;
  settings.flat = nb::cast<bool>(given["flat"]);
  for (nb::handle item : nb::iter(given["blocks"])) {
    const auto block = nb::borrow<nb::dict>(item);
    Block made;
    made.name = nb::cast<std::string>(block["name"]);
    const auto extents = nb::cast<std::vector<std::size_t>>(block["shape"]);
    if (extents.size() > Shape::most)
      throw Error("block \"{}\" has {} extents; at most {} are possible", made.name, extents.size(), Shape::most);
    if (std::ranges::find(extents, 0u) != extents.end()) throw Error("block \"{}\" has no numbers", made.name);
    made.shape = extents.empty() ? Shape{1} : Shape(std::span<const std::size_t>(extents));
    if (block.contains("layer")) made.layer = nb::cast<std::uint32_t>(block["layer"]);
    if (block.contains("buffer") && nb::cast<bool>(block["buffer"])) made.role = Role::buffer;
    settings.blocks.push_back(std::move(made));
  }
  if (settings.blocks.empty())
    throw Error("potential \"{}\" has no parameters; name at least one block", settings.name);
  return settings;
}

void add_potential(Model& model, const OwnPotentialSettings& settings, std::shared_ptr<Raised> raised) {
  model.with_float.potential = std::make_shared<PythonPotential<float>>(settings, raised);
  model.with_double.potential = std::make_shared<PythonPotential<double>>(settings, raised);
}

void add_letter(OwnLetters& letters, nb::dict given, std::shared_ptr<Raised> raised) {
  const auto symbol = nb::cast<std::string>(given["symbol"]);
  if (symbol.size() != 1) throw Error("a letter is one character, such as \"Q\", not \"{}\"", symbol);
  const auto moves = nb::cast<std::string>(given["moves"]);
  if (moves != "q" && moves != "p" && moves != "qp")
    throw Error("letter \"{}\": moves must be \"q\", \"p\" or \"qp\", not \"{}\"", symbol, moves);
  Letter row{};
  row.symbol = symbol[0];
  row.moves_q = moves.find('q') != std::string::npos;
  row.moves_p = moves.find('p') != std::string::npos;
  row.normals = nb::cast<int>(given["normals"]);
  if (row.normals < 0 || row.normals > 8)
    throw Error("letter \"{}\": normals must be from 0 to 8 for each entry, not {}", symbol, row.normals);
  row.thermal = nb::cast<bool>(given["thermal"]);
  row.joint = nb::cast<bool>(given["gradient"]) ? Joint::gradient : Joint::no;
  row.forgets_p = forgets_named(nb::cast<std::string>(given["forgets"]));
  row.whole = true;
  row.meaning = "of a program";
  const OwnLetterSettings settings{symbol, Shared(nb::borrow(given["function"])), row.moves_q, row.moves_p,
                                   row.normals};
  letters.add(
      row,
      {[=](const Part<float>& s, double h, std::span<const float> z) { flow<float>(settings, *raised, s, h, z); },
       [=](const Part<double>& s, double h, std::span<const double> z) { flow<double>(settings, *raised, s, h, z); }});
}

std::shared_ptr<const Model> model_of(nb::handle potential, nb::handle letters, std::shared_ptr<Raised> raised) {
  const auto model = std::make_shared<Model>();
  if (!potential.is_none()) add_potential(*model, read_potential(nb::borrow<nb::dict>(potential)), raised);
  if (nb::len(letters) > 0) {
    const auto own = std::make_shared<OwnLetters>();
    for (nb::handle letter : nb::iter(letters)) add_letter(*own, nb::borrow<nb::dict>(letter), raised);
    model->letters = own;
  }
  return potential.is_none() && !model->letters ? nullptr : model;
}

}  // namespace kelvin::python
