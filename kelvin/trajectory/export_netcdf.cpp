// SPDX-License-Identifier: Apache-2.0
// netCDF-4 as ArviZ lays it out: a group for each of the run's, dimensions chain, draw and those of the array.
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "kelvin/core/choice.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/export.h"
#include "kelvin/trajectory/netcdf_library.h"

namespace kelvin {
namespace {

// An open file; every call goes through `check`.
class NetcdfFile {
 public:
  explicit NetcdfFile(const std::string& name) : name_(name) {
    check(netcdf().create(name.c_str(), NC_NETCDF4 | NC_CLOBBER, &id));
  }
  ~NetcdfFile() {
    if (open_) netcdf().close(id);
  }
  void check(int status) const {
    if (status != NC_NOERR)
      throw Error("cannot write \"{}\": {}; check that its directory exists and has room", name_,
                  netcdf().strerror(status));
  }
  void close() {
    open_ = false;
    check(netcdf().close(id));
  }
  int id = 0;

 private:
  std::string name_;
  bool open_ = true;
};

// A dimension, and its coordinates: the given texts, or the given numbers.
using Labels = std::vector<std::string>;
int add_dimension(const NetcdfFile& file, int group, const std::string& name, std::size_t size, const Labels& labels,
                  const std::vector<std::size_t>& numbers = {}) {
  int dimension = 0, coordinate = 0;
  if (netcdf().inq_dimid(group, name.c_str(), &dimension) == NC_NOERR) return dimension;
  file.check(netcdf().def_dim(group, name.c_str(), size, &dimension));
  const bool named = labels.size() == size;
  file.check(netcdf().def_var(group, name.c_str(), named ? NC_STRING : NC_INT64, 1, &dimension, &coordinate));
  if (named) {
    std::vector<const char*> texts;
    for (const std::string& label : labels) texts.push_back(label.c_str());
    file.check(netcdf().put_var_string(group, coordinate, texts.data()));
  } else {
    std::vector<long long> places(size);
    std::iota(places.begin(), places.end(), 0);
    if (!numbers.empty()) places.assign(numbers.begin(), numbers.end());
    file.check(netcdf().put_var_longlong(group, coordinate, places.data()));
  }
  return dimension;
}

// How netCDF spells a type of ours, and the type that xarray is to make of it if that differs.
struct Spelling {
  std::string_view name;
  nc_type type;
  std::string_view as;
};
constexpr Spelling spellings[] = {
    {"<f2", NC_FLOAT, ""}, {"<f4", NC_FLOAT, ""},    {"<f8", NC_DOUBLE, ""},
    {"<i8", NC_INT64, ""}, {"|b1", NC_BYTE, "bool"},
};

void put(const NetcdfFile& file, int group, int variable, const std::vector<std::size_t>& start,
         const std::vector<std::size_t>& count, const std::vector<double>& values, bool narrow) {
  if (!narrow) return file.check(netcdf().put_vara_double(group, variable, start.data(), count.data(), values.data()));
  const std::vector<float> floats(values.begin(), values.end());  // the library's own conversion refuses inf
  file.check(netcdf().put_vara_float(group, variable, start.data(), count.data(), floats.data()));
}

void add_text(const NetcdfFile& file, int group, int variable, const std::string& key, std::string_view text) {
  file.check(netcdf().put_att_text(group, variable, key.c_str(), text.size(), text.data()));
}

void write_variable(const NetcdfFile& file, int group, const Selection& s, const Variable& v,
                    const std::vector<int>& dimensions) {
  const Spelling& spelling = row_named<Spelling>(v.type->name, spellings, "type in netCDF");
  int variable = 0;
  file.check(
      netcdf().def_var(group, v.name.c_str(), spelling.type, int(dimensions.size()), dimensions.data(), &variable));
  file.check(netcdf().def_var_fill(group, variable, NC_NOFILL, nullptr));  // every number is written below
  if (!spelling.as.empty()) add_text(file, group, variable, "dtype", spelling.as);
  std::vector<std::size_t> start(dimensions.size(), 0), count = {1, 0};
  count.insert(count.end(), v.shape.begin(), v.shape.end());
  for (std::size_t w = 0; w < s.walkers.size(); ++w)
    in_pieces(s.draws_in(v.group), v.size(), [&](std::size_t first, std::size_t draws) {
      start[0] = w;
      start[1] = first;
      count[1] = draws;
      put(file, group, variable, start, count, s.values(v, s.walkers[w], first, draws), spelling.type == NC_FLOAT);
    });
}

// An array that is not one of draws: data, coordinates.
struct Plain {
  std::string name, type;
  std::vector<std::size_t> shape;
  std::vector<std::string> dimensions;
  std::string at;     // in the run
  std::size_t chunk;  // along the first dimension
  std::string bytes(const Samples& samples, std::size_t width) const {
    const std::size_t each = std::accumulate(shape.begin() + 1, shape.end(), width, std::multiplies());
    std::string all;
    for (std::size_t first = 0; first < shape.front(); first += chunk) {
      const std::string file = zarr_chunk(at, shape.size(), first / chunk, 0).string();
      all += unpack(read_named(samples.run, samples.manifest, file), chunk * each, (samples.run / file).string());
    }
    all.resize(shape.front() * each);  // the last chunk is a whole one
    return all;
  }
};

// Those of a group, by name: the manifest names them.
std::vector<Plain> plain_arrays(const Samples& samples, const std::string& group) {
  const std::string in = "samples.zarr/" + group + "/", about = "/.zarray";
  const auto read = [&](const std::string& file) {
    return parse_json(read_named(samples.run, samples.manifest, file), (samples.run / file).string());
  };
  std::vector<Plain> arrays;
  for (const auto& [file, sum] : samples.manifest.files) {
    if (!file.starts_with(in) || !file.ends_with(about)) continue;
    const std::string at = file.substr(0, file.size() - about.size());
    const Value told = read(file);
    Plain array{at.substr(in.size()),
                told.as<std::string>("dtype"),
                told.as<std::vector<std::size_t>>("shape"),
                read(at + "/.zattrs").as<std::vector<std::string>>("_ARRAY_DIMENSIONS"),
                at,
                1};
    if (array.shape.empty() || array.shape.size() != array.dimensions.size())
      throw damaged(samples.run / file,
                    fmt::format("it names {} dimensions of {}", array.dimensions.size(), array.shape.size()));
    auto chunks = told.as<std::vector<std::size_t>>("chunks");
    array.chunk = std::exchange(chunks.at(0), array.shape[0]);
    if (chunks == array.shape && array.chunk > 0) arrays.push_back(std::move(array));
  }
  return arrays;
}

// Coordinates that are texts, four bytes a letter.
std::map<std::string, Labels> labels_of(const Samples& samples, const std::vector<Plain>& arrays) {
  std::map<std::string, Labels> labels;
  for (const Plain& array : arrays) {
    if (!array.type.starts_with("<U") || array.dimensions.size() != 1) continue;
    const std::size_t letters = std::size_t(std::atoi(array.type.c_str() + 2));
    const std::string bytes = array.bytes(samples, 4 * letters);
    Labels& texts = labels[array.name];
    texts.resize(array.shape[0]);
    for (std::size_t i = 0; i < texts.size() * letters; ++i)
      if (bytes[4 * i]) texts[i / letters] += bytes[4 * i];
  }
  return labels;
}

int add_group(const NetcdfFile& file, const std::string& name, const Selection& s) {
  int group = 0;
  file.check(netcdf().def_grp(file.id, name.c_str(), &group));
  for (const auto& [key, text] : s.about()) add_text(file, group, NC_GLOBAL, key, text);
  return group;
}

std::vector<int> add_dimensions(const NetcdfFile& file, int group, const std::vector<std::string>& names,
                                const std::vector<std::size_t>& shape, const std::map<std::string, Labels>& labels) {
  std::vector<int> dimensions;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto known = labels.find(names[d]);
    dimensions.push_back(
        add_dimension(file, group, names[d], shape[d], known == labels.end() ? Labels() : known->second));
  }
  return dimensions;
}

void write_draws(const NetcdfFile& file, const std::string& name, const Selection& s,
                 const std::vector<Variable>& variables) {
  const int group = add_group(file, name, s);
  const auto labels = labels_of(s.samples, plain_arrays(s.samples, name));
  const int chain = add_dimension(file, group, "chain", s.walkers.size(), {}, s.walkers);
  const int draw = add_dimension(file, group, "draw", s.draws_in(name), {});
  for (const Variable& v : variables) {
    std::vector<int> dimensions = add_dimensions(file, group, v.dimensions, v.shape, labels);
    dimensions.insert(dimensions.begin(), {chain, draw});
    write_variable(file, group, s, v, dimensions);
  }
}

void write_data(const NetcdfFile& file, const std::string& name, const Selection& s) {
  const int group = add_group(file, name, s);
  const auto arrays = plain_arrays(s.samples, name);
  const auto labels = labels_of(s.samples, arrays);
  for (const Plain& array : arrays) {
    if (labels.contains(array.name) || array.name == array.dimensions.front()) continue;  // a coordinate
    const auto dimensions = add_dimensions(file, group, array.dimensions, array.shape, labels);
    const ZarrType& type = zarr_type(array.type);
    const std::string bytes = array.bytes(s.samples, type.width);
    std::vector<double> numbers(bytes.size() / type.width);
    type.numbers(bytes.data(), numbers);
    int variable = 0;
    file.check(
        netcdf().def_var(group, array.name.c_str(), NC_DOUBLE, int(dimensions.size()), dimensions.data(), &variable));
    file.check(netcdf().put_var_double(group, variable, numbers.data()));
  }
}

}  // namespace

void write_netcdf(const Selection& s, const std::string& name) {
  NetcdfFile file(name);
  for (const auto& [name, variables] : s.groups) write_draws(file, name, s, variables);
  for (const char* name : {"observed_data", "constant_data"})
    if (s.samples.manifest.files.contains(fmt::format("samples.zarr/{}/.zgroup", name))) write_data(file, name, s);
  file.close();
}

}  // namespace kelvin
