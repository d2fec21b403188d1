// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/netcdf_library.h"

#include <dlfcn.h>

#include <string>

#include "kelvin/core/error.h"

namespace kelvin {
namespace {

constexpr const char* advice = "install Debian's libnetcdf19, or use another format";

void* open_netcdf() {
  std::string reason;
  for (const char* name : {"libnetcdf.so.19", "libnetcdf.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (reason.empty()) reason = dlerror();
  }
  throw Error("cannot load netCDF ({}); {}", reason, advice);
}

NetcdfLibrary load_netcdf() {
  void* library = open_netcdf();
  const auto named = [&]<class F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    if (!function) throw Error("the installed netCDF has no {}; {}", name, advice);
  };
  NetcdfLibrary loaded;
  named(loaded.create, "nc_create");
  named(loaded.close, "nc_close");
  named(loaded.strerror, "nc_strerror");
  named(loaded.inq_dimid, "nc_inq_dimid");
  named(loaded.def_dim, "nc_def_dim");
  named(loaded.def_grp, "nc_def_grp");
  named(loaded.def_var, "nc_def_var");
  named(loaded.def_var_fill, "nc_def_var_fill");
  named(loaded.put_att_text, "nc_put_att_text");
  named(loaded.put_var_double, "nc_put_var_double");
  named(loaded.put_var_longlong, "nc_put_var_longlong");
  named(loaded.put_var_string, "nc_put_var_string");
  named(loaded.put_vara_double, "nc_put_vara_double");
  named(loaded.put_vara_float, "nc_put_vara_float");
  named(loaded.open, "nc_open");
  named(loaded.inq_grp_ncid, "nc_inq_grp_ncid");
  named(loaded.inq_varids, "nc_inq_varids");
  named(loaded.inq_var, "nc_inq_var");
  named(loaded.inq_dim, "nc_inq_dim");
  named(loaded.get_var_double, "nc_get_var_double");
  return loaded;
}

}  // namespace

const NetcdfLibrary& netcdf() {
  static const NetcdfLibrary loaded = load_netcdf();
  return loaded;
}

}  // namespace kelvin
