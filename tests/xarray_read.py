# Reads a run with xarray, as its users do. `finished RUN DUMP` compares everything with what the C++ side dumped;
# `growing RUN EVERY` reads again and again while another process writes, until the run has grown three times.
import json
import sys
import time

import numpy as np
import xarray as xr


def opened(run, group):
    return xr.open_zarr(run + "/samples.zarr", group=group)


def finished(run, dump):
    expected = json.load(open(dump))
    for group, arrays in expected["groups"].items():
        data = opened(run, group)
        assert sorted(data.data_vars) == sorted(arrays), (group, sorted(data.data_vars))
        for name, array in arrays.items():
            found = data[name]
            assert list(found.dims) == array["dimensions"], (name, found.dims)
            assert list(found.shape) == array["shape"], (name, found.shape)
            assert str(found.dtype) == array["type"], (name, found.dtype)
            values = np.array([np.nan if x is None else x for x in array["values"]], dtype="float64")
            assert np.array_equal(found.values.astype("float64").ravel(), values, equal_nan=True), name
        for name, values in expected["coordinates"].get(group, {}).items():
            assert list(data.coords[name].values) == values, (group, name, data.coords[name].values)
    attributes = opened(run, None).attrs
    for name, value in expected["attributes"].items():
        assert attributes[name] == value, (name, attributes)
        assert opened(run, "posterior").attrs[name] == value


def growing(run, every):
    seen, grown, last = None, 0, 0
    deadline = time.time() + 60
    while grown < 3:
        assert time.time() < deadline, "the run does not grow"
        try:
            posterior, stats = opened(run, "posterior").load(), opened(run, "sample_stats").load()
        except (FileNotFoundError, KeyError):  # not begun
            continue
        draws = posterior.sizes["draw"]
        assert draws >= last
        assert list(posterior.coords["draw"].values) == list(range(draws))
        for name in posterior.data_vars:
            assert not np.isnan(posterior[name].values).any(), "a draw that is shown is not there"
        steps = stats["step"].values
        assert (steps == every * (1 + np.arange(steps.shape[1]))).all()
        if seen is not None and draws > last:
            grown += 1
            for name in seen.data_vars:
                assert np.array_equal(posterior[name].values[:, :last], seen[name].values), "a draw has changed"
        if draws > 0:
            seen, last = posterior, draws
    print(last)


{"finished": finished, "growing": lambda run, every: growing(run, int(every))}[sys.argv[1]](*sys.argv[2:])
