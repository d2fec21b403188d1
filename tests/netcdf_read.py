# SPDX-License-Identifier: Apache-2.0
"""Prints what xarray finds in a netCDF file, group by group, as JSON; numbers as the bytes of doubles in hex."""
import json
import sys

import netCDF4
import numpy
import xarray

with netCDF4.Dataset(sys.argv[1]) as file:
    names = list(file.groups)
groups = {}
for name in names:
    with xarray.open_dataset(sys.argv[1], group=name) as data:
        groups[name] = {
            "attributes": {key: str(value) for key, value in data.attrs.items()},
            "coordinates": {key: [str(x) for x in data.coords[key].values] for key in data.coords},
            "variables": {
                key: {
                    "dimensions": list(v.dims),
                    "shape": list(v.shape),
                    "type": str(v.dtype),
                    "bytes": numpy.ascontiguousarray(v.values, "<f8").tobytes().hex(),
                }
                for key, v in data.data_vars.items()
            },
        }
print(json.dumps(groups))
