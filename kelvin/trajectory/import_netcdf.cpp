// SPDX-License-Identifier: Apache-2.0
// Draws in netCDF: the groups posterior and sample_stats, as ArviZ writes them, or arrays without groups.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "kelvin/core/error.h"
#include "kelvin/trajectory/import.h"
#include "kelvin/trajectory/netcdf_library.h"

namespace kelvin {
namespace {

class NetcdfReader {
 public:
  explicit NetcdfReader(const std::string& file) : file_(file) {
    if (!std::filesystem::is_regular_file(file)) throw Error("\"{}\" is not there, or is no file", file);
    if (netcdf().open(file.c_str(), NC_NOWRITE, &id_) != NC_NOERR)
      throw Error("\"{}\" cannot be read as netCDF; is it whole?", file);
  }
  NetcdfReader(const NetcdfReader&) = delete;
  ~NetcdfReader() { netcdf().close(id_); }

  void check(int status) const {
    if (status != NC_NOERR) throw Error("\"{}\" is damaged: its arrays cannot be read", file_);
  }
  std::optional<int> group(const char* name) const {
    int found = 0;
    if (netcdf().inq_grp_ncid(id_, name, &found) != NC_NOERR) return {};
    return found;
  }
  int root() const { return id_; }

  std::vector<int> arrays(int group) const {
    int count = 0;
    check(netcdf().inq_varids(group, &count, nullptr));
    std::vector<int> ids(std::size_t(count), 0);
    check(netcdf().inq_varids(group, &count, ids.data()));
    return ids;
  }

 private:
  std::string file_;
  int id_ = 0;
};

struct Extent {
  std::string name;
  std::size_t length;
};

struct NetcdfArray {
  std::string name;
  nc_type type = NC_NAT;
  std::vector<Extent> extents;
};

NetcdfArray array_in(const NetcdfReader& file, int group, int id) {
  char name[NC_MAX_NAME + 1] = {};
  int rank = 0, dimensions[NC_MAX_VAR_DIMS] = {}, attributes = 0;
  NetcdfArray out;
  file.check(netcdf().inq_var(group, id, name, &out.type, &rank, dimensions, &attributes));
  out.name = name;
  for (int d = 0; d < rank; ++d) {
    std::size_t length = 0;
    file.check(netcdf().inq_dim(group, dimensions[d], name, &length));
    out.extents.push_back({name, length});
  }
  return out;
}

bool holds_numbers(nc_type type) { return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR; }

// Adds every array of numbers that has draws; one chain where there is no dimension of that name.
void add_draws_of(ImportedDraws& out, std::vector<ImportedArray>& to, const NetcdfReader& file, int group,
                  const std::string& path) {
  for (const int id : file.arrays(group)) {
    const NetcdfArray array = array_in(file, group, id);
    const auto& extents = array.extents;
    const auto at = [&](std::string_view name) {
      return std::ranges::find(extents, name, &Extent::name) - extents.begin();
    };
    const std::size_t draw = std::size_t(at("draw")), chain = std::size_t(at("chain"));
    if (draw == extents.size() || array.name == "draw" || !holds_numbers(array.type)) continue;
    const bool has_chain = chain < extents.size();
    const std::size_t first = has_chain ? 2 : 1;
    if (draw != first - 1 || (has_chain && chain != 0))
      throw Error("\"{}\": the dimensions of \"{}\" must begin with chain and draw; transpose it first", path,
                  array.name);
    const std::size_t chains = has_chain ? extents[0].length : 1, draws = extents[draw].length;
    if (out.chains == 0) {
      out.chains = chains;
      out.draws = draws;
    }
    if (chains != out.chains || draws != out.draws)
      throw Error("\"{}\": \"{}\" has {} draws of {} chains where others have {} of {}; all need equally many", path,
                  array.name, draws, chains, out.draws, out.chains);
    ImportedArray read{array.name, {}, {}};
    for (std::size_t d = first; d < extents.size(); ++d) {
      read.shape.push_back(extents[d].length);
      read.dimensions.push_back(extents[d].name);
    }
    read.values.resize(chains * draws * read.size());
    file.check(netcdf().get_var_double(group, id, read.values.data()));
    to.push_back(std::move(read));
  }
}

}  // namespace

ImportedDraws read_netcdf_draws(const std::string& path) {
  const NetcdfReader file(path);
  ImportedDraws out;
  add_draws_of(out, out.blocks, file, file.group("posterior").value_or(file.root()), path);
  if (const auto statistics = file.group("sample_stats")) add_draws_of(out, out.statistics, file, *statistics, path);
  return out;
}

}  // namespace kelvin
