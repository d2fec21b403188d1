// SPDX-License-Identifier: Apache-2.0
// The C library of netCDF, loaded when a run is first exported to it, or draws are read from it: it brings some forty
// other libraries with it, which would take longer to load than everything else a start of the program does.
#pragma once
#include <netcdf.h>  // for types and constants; nothing of it is linked

namespace kelvin {

// The functions that we use, each as netcdf.h declares it.
struct NetcdfLibrary {
  decltype(&nc_create) create = nullptr;
  decltype(&nc_close) close = nullptr;
  decltype(&nc_strerror) strerror = nullptr;
  decltype(&nc_inq_dimid) inq_dimid = nullptr;
  decltype(&nc_def_dim) def_dim = nullptr;
  decltype(&nc_def_grp) def_grp = nullptr;
  decltype(&nc_def_var) def_var = nullptr;
  decltype(&nc_def_var_fill) def_var_fill = nullptr;
  decltype(&nc_put_att_text) put_att_text = nullptr;
  decltype(&nc_put_var_double) put_var_double = nullptr;
  decltype(&nc_put_var_longlong) put_var_longlong = nullptr;
  decltype(&nc_put_var_string) put_var_string = nullptr;
  decltype(&nc_put_vara_double) put_vara_double = nullptr;
  decltype(&nc_put_vara_float) put_vara_float = nullptr;
  decltype(&nc_open) open = nullptr;
  decltype(&nc_inq_grp_ncid) inq_grp_ncid = nullptr;
  decltype(&nc_inq_varids) inq_varids = nullptr;
  decltype(&nc_inq_var) inq_var = nullptr;
  decltype(&nc_inq_dim) inq_dim = nullptr;
  decltype(&nc_get_var_double) get_var_double = nullptr;
};

const NetcdfLibrary& netcdf();  // throws if it is not installed

}  // namespace kelvin
