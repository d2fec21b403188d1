# SPDX-License-Identifier: Apache-2.0
"""What TATi's ``simulation`` offered: loss, gradients and parameters as flat arrays, and runs from where they are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from . import _kelvin
from ._settings import Settings, merged, read_settings, write_rows
from .draws import import_draws
from .own import OwnPotential
from .run import Run
from .run import sample as _sample
from .run import train as _train
from .step import Dataset, Potential, named


class Vectors(Sequence[np.ndarray]):
    """One flat array for each walker; what is assigned to one is copied into it."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, walker: Any) -> Any:
        return self._arrays[walker]

    def __setitem__(self, walker: int, values: Any) -> None:
        array, given = self._arrays[walker], np.asarray(values, float).reshape(-1)
        if given.size != array.size:
            raise _kelvin.Error(f"there are {array.size} parameters, and {given.size} numbers were given for them")
        array[:] = given

    def assign(self, values: Any) -> None:
        """One vector for all walkers, or one for each."""
        given = np.asarray(values, float)
        each = given if given.ndim == 2 else [given] * len(self)
        if len(each) != len(self):
            raise _kelvin.Error(f"there are {len(self)} walkers, and vectors of {len(each)} were given")
        for walker, vector in enumerate(each):
            self[walker] = vector

    def __repr__(self) -> str:
        return repr(self._arrays)


def _frame(columns: dict[str, np.ndarray]) -> Any:
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


class Simulated:
    """What a run of a :class:`Simulation` has made: tables with a row for each draw of each walker, and the run itself.

    The tables are pandas DataFrames, or dicts of columns without pandas.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        samples = run.samples
        self._index = {"walker": np.repeat(np.arange(samples.chains), samples.draws),
                       "step": run.statistics["step"].reshape(-1)}

    def _statistic(self, name: str) -> dict[str, np.ndarray]:
        """Its columns, each of (chain, draw)."""
        array = self.run.statistics[name]
        if array.ndim == 2:
            return {name: array}
        parts = self.run.record["parts"]
        return {f"{name} of {parts[k]}": array[:, :, k] for k in range(array.shape[2])}

    @cached_property
    def run_info(self) -> Any:
        """Energies, temperatures and whatever else is known of each draw."""
        columns = dict(self._index)
        for name in self.run.statistics:
            if name != "step":
                columns.update({key: column.reshape(-1) for key, column in self._statistic(name).items()})
        return _frame(columns)

    @cached_property
    def trajectory(self) -> Any:
        """The parameters at each draw."""
        columns = {**self._index, "potential": self.run.statistics["potential"].reshape(-1)}
        for name, array in self.run.samples.items():
            rows = array.reshape(array.shape[0] * array.shape[1], -1)
            for k, index in enumerate(np.ndindex(*array.shape[2:])):
                columns[f"{name}[{','.join(map(str, index))}]"] = rows[:, k]
        return _frame(columns)

    @cached_property
    def averages(self) -> Any:
        """Plain means over the draws of each walker so far: draws have the law already, and are weighed no more."""
        columns = dict(self._index)
        for name in ("potential", "kinetic_energy", "virial"):
            for key, column in self._statistic(name).items():
                counts = np.arange(1, column.shape[1] + 1)
                columns[f"average {key}"] = (np.cumsum(column, axis=1) / counts).reshape(-1)
        return _frame(columns)


class Simulation:
    """A potential with the parameters of each walker as flat arrays, for samplers and optimizers of one's own.

    ::

        nn = kelvin.Simulation({"model": {"layers": [2, 8, 1], "activation": "tanh"}}, data=(X, y), walkers=2,
                               batch={"size": 50}, part={"all": {"scheme": "BAOAB", "step": 0.1, "temperature": 0.01}})
        nn.parameters[0] -= 0.1 * nn.gradients(0)
        nn.sample(steps=1000, every=10).trajectory

    settings: a run file, a dict with the names of one, or a potential of one's own; changes replace some of them. Arrays
    are double unless ``precision="float"``. Loss, gradients and Hessians have the order of ``parameters``, see ``blocks``.
    """

    def __init__(self, settings: Any, *, data: Any = None, **changes: Any) -> None:
        self._own = settings if isinstance(settings, OwnPotential) else None
        given: Settings = {"model": {"own": self._own.name}} if self._own else settings
        read, _ = read_settings(given, changes)
        self._settings: Settings = {"precision": "double", **read}
        self._data: tuple[Any, Any] | None = data
        self._runs = 0
        self._U = self._made(self._settings, data)
        self._begin()

    def __getattr__(self, name: str) -> Any:
        known: str = _kelvin.name_of_tati(name)
        raise AttributeError(f"a Simulation has no {name!r}" + (f"; {known}" if known else ""))

    def _made(self, settings: Settings, data: Any) -> Potential:
        potential = Potential(self._own or {}, None if data is None else Dataset(*data))
        potential.settings = settings
        potential.size  # noqa: B018 - reads all of it, or says what is wrong
        return potential

    def _begin(self) -> None:
        walkers = int(self._settings.get("walkers", 1))
        self._q = Vectors([np.array(self._U.start(w), float) for w in range(walkers)])
        self._p = Vectors([np.zeros(self._U.size) for _ in range(walkers)])
        self._epoch = self._batch = 0

    # ---- settings

    @property
    def options(self) -> Settings:
        """The settings that were given."""
        return merged({}, self._settings)

    def change(self, **changes: Any) -> None:
        """New settings; where they are refused, the old ones stay. Parameters stay if there are as many."""
        self._renew(merged(self._settings, changes), self._data)

    def _renew(self, settings: Settings, data: Any) -> None:
        potential = self._made(settings, data)
        before, self._settings, self._data, self._U = self._q, settings, data, potential
        self._begin()
        if len(before) == len(self._q) and before[0].size == self._U.size:
            self._q.assign(np.stack(list(before)))

    # ---- rows

    @property
    def dataset(self) -> Any:
        """The rows of the current batch, (X, y); assign (X, y) for other rows."""
        if self._data is None:
            raise _kelvin.Error("the rows are in a file; give them as data=(X, y) to have them here")
        if {"test", "validation", "rows", "classes"} & set(self._settings.get("data", {})):
            raise _kelvin.Error("only some of the rows are for training, by the settings of data; see the numbers in `rows`")
        rows = slice(None) if self.rows is None else self.rows
        return tuple(np.asarray(x)[rows] for x in self._data)

    @dataset.setter
    def dataset(self, data: Any) -> None:
        self._renew(self._settings, data)

    @property
    def rows(self) -> np.ndarray | None:
        """Numbers of the training rows of the current batch, the same for all walkers; None: all of them."""
        size = self._batch_size()
        if size >= self._U.rows:
            return None
        order = np.random.default_rng([int(self._settings.get("seed", 1)), self._epoch]).permutation(self._U.rows)
        return order[self._batch * size:(self._batch + 1) * size]

    def _batch_size(self) -> int:
        size = self._settings.get("batch", {}).get("size", "full")
        rows = self._U.rows
        if isinstance(size, str):
            return max(1, round(float(size[:-1]) / 100 * rows)) if size.endswith("%") else rows
        return min(int(size), rows)

    def next_batch(self) -> None:
        """Goes on to the next rows; nothing else does. Each epoch has an order of its own."""
        self._batch += 1
        if (self._batch + 1) * self._batch_size() > self._U.rows:
            self._epoch, self._batch = self._epoch + 1, 0

    # ---- parameters

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Names, shapes and offsets of the blocks in the flat arrays."""
        return self._U.blocks

    @property
    def parameters(self) -> Vectors:
        """Of each walker; assign a vector to all, or to ``parameters[k]``, or work on it in place."""
        return self._q

    @parameters.setter
    def parameters(self, values: Any) -> None:
        self._q.assign(values)

    @property
    def momenta(self) -> Vectors:
        """Of each walker, at first 0: for integrators of one's own. :meth:`sample` draws its own."""
        return self._p

    @momenta.setter
    def momenta(self, values: Any) -> None:
        self._p.assign(values)

    def init_momenta(self, temperature: float, seed: int | None = None) -> None:
        """Momenta of all walkers from their law at that temperature: normals of variance T, at mass 1."""
        if not temperature >= 0:
            raise _kelvin.Error(f"the temperature must be at least 0, not {temperature}")
        normals = np.random.default_rng(seed).normal(size=(len(self._p), self._U.size))
        self._p.assign(np.sqrt(temperature) * normals)

    def named(self, walker: int = 0) -> dict[str, np.ndarray]:
        """Views of a walker's parameters, block by block."""
        return named(self._U.blocks, self._q[walker])

    def num_parameters(self) -> int:
        return self._U.size

    def num_walkers(self) -> int:
        return len(self._q)

    # ---- what is known at the parameters

    def loss(self, walker: int = 0) -> float:
        """U on the current batch: the mean loss of its rows, and the prior over N."""
        return self._U(self._q[walker], self.rows)[0]

    def gradients(self, walker: int = 0) -> np.ndarray:
        """Of the loss on the current batch."""
        return self._U(self._q[walker], self.rows)[1]

    def hessians(self, walker: int = 0) -> np.ndarray:
        """Second derivatives of the loss on all rows."""
        return self._U.hessian(self._q[walker])

    def score(self, walker: int = 0, split: str = "train") -> dict[str, float]:
        """Loss without the prior, and accuracy, rmse or perplexity, on all rows of a split."""
        return self._U.score(self._q[walker], split)

    def predict(self, X: Any, walker: int = 0) -> np.ndarray:
        """The network's outputs for other rows of inputs, rows x outputs, in the units in which the loss is computed."""
        if self._data is None:
            raise _kelvin.Error("the rows for training are in a file; give them as data=(X, y) to predict for others")
        y = np.asarray(self._data[1])
        with tempfile.TemporaryDirectory(prefix="kelvin_") as scratch:
            file, _ = write_rows(os.path.join(scratch, "rows"), X, np.repeat(y[:1], len(X), axis=0))  # targets of no use
            return self._made(merged(self._settings, {"data": {"test_file": file}}), self._data).predict(
                self._q[walker], "test")

    # ---- runs

    def sample(self, **changes: Any) -> Simulated:
        """Draws from where the parameters are, by the settings; afterwards they are those of the last draw.

        Each call has noise of its own: the seed is one more than that of the call before.
        """
        return self._run(_sample, range(len(self._q)), changes)

    def fit(self, walker: int | None = None, **changes: Any) -> Simulated:
        """Minimises the loss from where the parameters are, of all walkers or of one: ``fit(part={"all": {"scheme":
        "adam", "step": 0.01}})``. Afterwards they are those of the last draw."""
        return self._run(_train, range(len(self._q)) if walker is None else [walker], changes)

    def _run(self, command: Any, walkers: Sequence[int], changes: Settings) -> Simulated:
        start = {block["name"]: np.stack([self.named(w)[block["name"]] for w in walkers])[:, None]
                 for block in self.blocks}
        begun = import_draws(start)
        settings = merged(self._settings, {"seed": int(self._settings.get("seed", 1)) + self._runs, **changes,
                                           "walkers": len(walkers), "from": str(begun.path)})
        run = command(settings, data=self._data, potential=self._own, progress=False)
        self._runs += 1
        for place, walker in enumerate(walkers):
            for name, view in self.named(walker).items():
                view[...] = run.samples[name][place, -1].reshape(view.shape)
        return Simulated(run)
