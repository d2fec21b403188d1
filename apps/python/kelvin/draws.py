# SPDX-License-Identifier: Apache-2.0
"""Draws that another program made: stored as a run, and analysed as one."""

from __future__ import annotations

import datetime
import os
from typing import Any, Mapping

import numpy as np

from . import _kelvin
from .finding import Finding
from .run import Run, Scratch

_GROUPS = {"posterior": "blocks", "sample_stats": "statistics"}
Named = dict[str, tuple[np.ndarray, list[str]]]


def _plain(draws: Mapping[str, Any]) -> Named:
    return {str(name): (np.asarray(array), []) for name, array in draws.items()}


def _of_dataset(dataset: Any) -> Named:
    """Every array of an xarray Dataset that has draws; one without a dimension chain is one chain."""
    out: Named = {}
    for name, array in dataset.data_vars.items():
        if "draw" not in array.dims or array.dtype.kind not in "fiub":
            continue
        if "chain" not in array.dims:
            array = array.expand_dims("chain")
        array = array.transpose("chain", "draw", ...)
        out[str(name)] = (array.values, [str(d) for d in array.dims[2:]])
    return out


def _group(data: Any, name: str) -> Any:
    """A group of an InferenceData, or of a DataTree, as a Dataset; None if there is none."""
    if hasattr(data, "children"):
        return data.children[name].to_dataset() if name in data.children else None
    return getattr(data, name, None) if name in data.groups() else None


def _named(draws: Any) -> dict[str, Named]:
    """Blocks and statistics of whatever holds draws."""
    if hasattr(draws, "data_vars") and not hasattr(draws, "children"):
        return {"blocks": _of_dataset(draws)}
    if hasattr(draws, "children") or (hasattr(draws, "groups") and hasattr(draws, "_groups")):
        datasets = {to: _group(draws, name) for name, to in _GROUPS.items()}
        if datasets["blocks"] is None:
            raise ValueError('these draws have no group "posterior"; give the Dataset that holds them')
        return {to: _of_dataset(dataset) for to, dataset in datasets.items() if dataset is not None}
    if isinstance(draws, Mapping):
        return {"blocks": _plain(draws)}
    array = np.asarray(draws)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"draws are an array, a dict of arrays, an xarray Dataset, an InferenceData or a DataTree, not "
                        f"{type(draws).__name__}")
    return {"blocks": {"x": (array, [])}}


def _array(name: str, given: tuple[np.ndarray, list[str]]) -> dict[str, Any]:
    array, dimensions = given
    if array.dtype.kind not in "fiub":
        raise TypeError(f"draws of {name!r} must be numbers, not {array.dtype}")
    if array.ndim < 2:
        raise ValueError(f"draws of {name!r} have the shape {array.shape}; they need the dimensions chain, draw, and those "
                         f"of a draw: of a single chain, give draws[None]")
    return {"name": name, "values": np.ascontiguousarray(array, dtype=np.float64), "dimensions": dimensions}


def import_draws(draws: Any, *, statistics: Mapping[str, Any] | None = None,
                 out: str | os.PathLike[str] | None = None) -> Run:
    """Stores draws of another program as a run: its ``samples``, ``summary()``, ``diagnose()`` and ``analyse(name)`` work.

    draws: an array of (chain, draw, ...), a dict of such arrays, an xarray Dataset, an ArviZ InferenceData or DataTree, or
    a file (.npz, .csv, .nc), or a list of files with chains of the same arrays.
    statistics: arrays of (chain, draw) by the names of ``run.statistics``, such as "lp" or "potential".
    out: the directory of the run; without, a temporary one that lasts as long as the Run.
    """
    scratch = Scratch() if out is None else None
    place = os.path.join(scratch.path, "draws") if scratch is not None else os.path.abspath(os.fspath(out or ""))
    run = Run(place, scratch=scratch)
    about = {
        "command_line": "kelvin.import_draws(...)", "directory": os.getcwd(),
        "created_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    if isinstance(draws, (str, os.PathLike)):
        draws = [draws]
    if isinstance(draws, (list, tuple)) and draws and all(isinstance(d, (str, os.PathLike)) for d in draws):
        files = [os.fspath(d) for d in draws]
        _kelvin.import_files(place, files, {"source": files[0], **about})
        return run
    named = _named(draws)
    for name, array in _plain(statistics or {}).items():
        named.setdefault("statistics", {})[name] = array
    blocks, told = ([_array(name, given) for name, given in named.get(kind, {}).items()]
                    for kind in ("blocks", "statistics"))
    _kelvin.import_arrays(place, blocks, told, {"source": type(draws).__name__, **about})
    return run


def analyse(draws: Any, name: str, *, threads: int | None = None, **options: Any) -> Finding:
    """An analysis of draws, whoever made them: ``kelvin.analyse(array, "autocorrelation")``.

    draws: as for :func:`import_draws`, or a :class:`Run`. name: "summary", "diagnose", or a row of
    :func:`kelvin.analyses`. Analyses that need a model need a run of Kelvin.
    """
    run = draws if isinstance(draws, Run) else import_draws(draws)
    if name == "summary":
        return Finding(_kelvin.summary(str(run.path), bool(options.pop("parameters", run.record["parameters"] <= 20))))
    if name == "diagnose":
        return run.diagnose(**options)
    return run.analyse(name, threads=threads, **options)
