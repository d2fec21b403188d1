// SPDX-License-Identifier: Apache-2.0
// Draws of a stored run as NumPy arrays: (chain, draw, ...).
#include "kelvin/trajectory/samples.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "apps/python/source/module.h"
#include "apps/python/source/value.h"
#include "kelvin/core/settings.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin::python {
namespace {

// What an array of a run holds for one draw.
struct Layout {
  std::vector<std::size_t> shape;
  std::vector<std::string> dimensions;
  std::string type;
};

Value named_json(const Samples& samples, const std::string& file) {
  return parse_json(read_named(samples.run, samples.manifest, file), (samples.run / file).string());
}

Layout layout_of(const Samples& samples, const std::string& place) {
  const std::string about = "samples.zarr/" + place + "/.zattrs";
  const ZarrShape shape = samples.shape(place);
  auto names = named_json(samples, about).as<std::vector<std::string>>("_ARRAY_DIMENSIONS");
  if (names.size() != 2 + shape.each.size())
    throw damaged(samples.run / about, fmt::format("it names {} dimensions of {}", names.size(), 2 + shape.each.size()));
  names.erase(names.begin(), names.begin() + 2);
  return {shape.each, names, std::string(shape.type->name)};
}

template <class Number>
nb::object read_as(const Samples& samples, const std::string& place, const Layout& layout, std::size_t draws) {
  std::size_t each = 1;
  for (const std::size_t extent : layout.shape) each *= extent;
  LargeArray<std::conditional_t<std::is_same_v<Number, bool>, std::uint8_t, Number>> numbers(samples.walkers * draws *
                                                                                             each);
  {
    const nb::gil_scoped_release unlocked;
    constexpr std::size_t at_once = std::size_t(1) << 22;  // numbers that are held as doubles besides
    const std::size_t piece = std::max<std::size_t>(1, at_once / std::max<std::size_t>(1, each));
    for (std::size_t walker = 0; walker < samples.walkers; ++walker)
      for (std::size_t first = 0; first < draws; first += piece) {
        const std::size_t count = std::min(piece, draws - first);
        const std::vector<double> some = samples.array(place, walker, first, count);
        std::transform(some.begin(), some.end(), numbers.begin() + long((walker * draws + first) * each),
                       [](double x) { return Number(x); });
      }
  }
  std::vector<std::size_t> shape = {samples.walkers, draws};
  shape.insert(shape.end(), layout.shape.begin(), layout.shape.end());
  return own_array<Number>(std::move(numbers), shape);
}

// "posterior/layer1.weight": every draw of every walker.
nb::object read_array(const Samples& samples, const std::string& place) {
  if (!samples.manifest.arrays.contains(place)) throw Error("\"{}\" has no array \"{}\"", samples.run.string(), place);
  const Layout layout = layout_of(samples, place);
  const std::size_t draws = place.starts_with("warmup_")    ? std::ranges::min(samples.manifest.warmup_draws)
                            : place.starts_with("moments/") ? 2
                                                            : samples.draws;
  if (layout.type == "<i8") return read_as<std::int64_t>(samples, place, layout, draws);
  if (layout.type == "|b1") return read_as<bool>(samples, place, layout, draws);
  if (layout.type == "<f8") return read_as<double>(samples, place, layout, draws);
  return read_as<float>(samples, place, layout, draws);
}

// "observed_data", "y": the rows that predictions are made for, (row, target), in original units; None if there are
// none.
nb::object read_rows(const Samples& samples, const std::string& group, const std::string& name) {
  const std::string at = "samples.zarr/" + group + "/" + name;
  if (!samples.manifest.files.contains(at + "/.zarray")) return nb::none();
  const Value about = named_json(samples, at + "/.zarray");
  const auto shape = about.as<std::vector<std::size_t>>("shape"), chunks = about.as<std::vector<std::size_t>>("chunks");
  const ZarrType& type = zarr_type(about.as<std::string>("dtype"));
  if (shape.size() != 2 || chunks.size() != 2 || chunks[1] != shape[1] || chunks[0] == 0)
    throw damaged(samples.run / at, "rows of numbers are not laid out so");
  LargeArray<double> numbers(shape[0] * shape[1]);
  for (std::size_t first = 0; first < shape[0]; first += chunks[0]) {
    const std::string file = fmt::format("{}/{}.0", at, first / chunks[0]);
    const std::string bytes = unpack(read_named(samples.run, samples.manifest, file),
                                     chunks[0] * shape[1] * type.width, (samples.run / file).string());
    type.numbers(bytes.data(),
                 std::span(numbers).subspan(first * shape[1], std::min(chunks[0], shape[0] - first) * shape[1]));
  }
  return own_array<double>(std::move(numbers), shape);
}

nb::list arrays_of(const Samples& samples) {
  nb::list out;
  for (const auto& [place, fingerprint] : samples.manifest.arrays) out.append(nb::str(place.c_str()));
  return out;
}

}  // namespace

void add_samples(nb::module_& module) {
  nb::class_<Samples>(module, "Samples")
      .def("__init__",
           [](Samples* samples, const std::string& run, bool every) {
             new (samples) Samples(open_samples(run, every ? Which::every : Which::asked_for));
           })
      .def_prop_ro("walkers", [](const Samples& s) { return s.walkers; })
      .def_prop_ro("draws", [](const Samples& s) { return s.draws; })
      .def_prop_ro("blocks", [](const Samples& s) { return s.blocks; })
      .def_prop_ro("parts", [](const Samples& s) { return s.parts; })
      .def_prop_ro("arrays", arrays_of)
      .def("record", [](const Samples& s) { return to_dict(recorded(s.record)); })
      .def("dimensions", [](const Samples& s, const std::string& place) { return layout_of(s, place).dimensions; })
      .def("read", read_array)
      .def("rows", read_rows);
  module.def("read_record", [](const std::string& run) { return to_dict(recorded(read_record(run))); });
  module.def("read_log", [](const std::string& run) {
    nb::list out;
    for (const LogLine& line : read_log(run)) out.append(to_python(recorded(line)));
    return out;
  });
}

}  // namespace kelvin::python
