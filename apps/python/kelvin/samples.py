# SPDX-License-Identifier: Apache-2.0
"""Draws of a run as arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from . import _kelvin


class _Arrays(Mapping[str, np.ndarray]):
    """Arrays of one group, read when they are first asked for; asked again, the same memory."""

    def __init__(self, samples: Any, group: str, order: list[str] | None = None, holds: Any = None) -> None:
        names = [place[len(group) + 1:] for place in samples.arrays if place.startswith(group + "/")]
        self._names = sorted(names, key=order.index) if order and set(names) <= set(order) else names
        self._samples = samples
        self._group = group
        self._holds = holds  # a temporary directory, which must last as long as there is something to read
        self._read: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(f"no {name!r}; there are: {', '.join(self._names)}")
        if name not in self._read:
            self._read[name] = self._samples.read(f"{self._group}/{name}")
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def dimensions(self, name: str) -> list[str]:
        """Names of the dimensions, chain and draw first."""
        return ["chain", "draw", *self._samples.dimensions(f"{self._group}/{name}")]

    def to_xarray(self) -> Any:
        import xarray

        variables = {name: (self.dimensions(name), self[name]) for name in self}
        coordinates: dict[str, Any] = {}
        for dimensions, array in variables.values():
            for dimension, extent in zip(dimensions, array.shape):
                if dimension == "part":
                    coordinates[dimension] = list(self._samples.parts)
                else:
                    coordinates.setdefault(dimension, np.arange(extent))
        return xarray.Dataset(variables, coords=coordinates, attrs=_about(self._samples))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(self._names)}>"


class Statistics(_Arrays):
    """Statistics of every draw: potential, lp, energy, temperatures of each part, ..."""

    def __init__(self, samples: Any, holds: Any = None) -> None:
        super().__init__(samples, "sample_stats", holds=holds)


class Samples(_Arrays):
    """Draws of every block, (chain, draw, ...); those of the law that was asked for, where draws carry weights."""

    def __init__(self, path: str | os.PathLike[str], every: bool = False, holds: Any = None) -> None:
        samples = _kelvin.Samples(os.fspath(path), every)
        super().__init__(samples, "posterior", list(samples.blocks), holds)
        self.statistics = Statistics(samples, holds)

    @property
    def chains(self) -> int:
        chains: int = self._samples.walkers
        return chains

    @property
    def draws(self) -> int:
        """Of each chain."""
        draws: int = self._samples.draws
        return draws

    def flat(self) -> np.ndarray:
        """All parameters side by side: (chain, draw, parameter)."""
        return np.concatenate([self[name].reshape(self.chains, self.draws, -1) for name in self], axis=2)

    def group(self, name: str) -> _Arrays:
        """Arrays of another group of the store, such as "log_likelihood"."""
        return _Arrays(self._samples, name, holds=self._holds)

    def to_arviz(self) -> Any:
        import arviz

        groups: dict[str, Any] = {"posterior": self.to_xarray(), "sample_stats": self.statistics.to_xarray()}
        for name in ("posterior_predictive", "log_likelihood"):
            if any(place.startswith(name + "/") for place in self._samples.arrays):
                groups[name] = self.group(name).to_xarray()
        for name, variable, columns in (("observed_data", "y", "target"), ("constant_data", "x", "input")):
            rows = self._samples.rows(name, variable)
            if rows is not None:
                groups[name] = _rows_like(groups, variable, columns, rows)
        if int(arviz.__version__.split(".")[0]) < 1:
            return arviz.InferenceData(**groups)
        import xarray

        return xarray.DataTree.from_dict({"/" + name: dataset for name, dataset in groups.items()})


def _about(samples: Any) -> dict[str, Any]:
    record = samples.record()
    return {"inference_library": "kelvin", "inference_library_version": record["kelvin"],
            "created_at": record["created_at"]}


def _rows_like(groups: dict[str, Any], variable: str, columns: str, rows: np.ndarray) -> Any:
    """Rows that predictions are made for, with the dimensions that those have."""
    import xarray

    predicted = groups.get("posterior_predictive")
    dimensions = list(predicted["y"].dims[2:]) if variable == "y" and predicted is not None else ["row", columns]
    if len(dimensions) == 1:
        rows = rows[:, 0]
    return xarray.Dataset({variable: (dimensions, rows)})
