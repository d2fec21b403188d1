# SPDX-License-Identifier: Apache-2.0
"""Energies to be evaluated and walkers to be moved step by step."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Mapping, Sequence

import numpy as np

from . import _kelvin
from ._settings import Settings, merged, read_settings, write_rows
from .own import Letter, OwnPotential


class Dataset:
    """Rows of inputs and targets: arrays or frames, and what [data] says of them (test=0.2, standardise="both", ...)."""

    def __init__(self, X: Any, y: Any = None, **settings: Any) -> None:
        self.X, self.y, self.settings = X, y, settings

    def __len__(self) -> int:
        return len(self.X)


class Potential:
    """U of the parameters, and its gradient; ``U, g = potential(q)`` with flat arrays in the order of ``blocks``.

    model: what a run file says in [model], a dict; or a potential made by :func:`kelvin.potential`.
    data: a :class:`Dataset`, or what [data] says, a dict. U is the mean loss plus the prior over N.
    """

    def __init__(self, model: Mapping[str, Any] | OwnPotential, data: Dataset | Mapping[str, Any] | None = None, *,
                 precision: str | None = None, seed: int = 1) -> None:
        self.own = model if isinstance(model, OwnPotential) else None
        about = {"own": model.name} if isinstance(model, OwnPotential) else dict(model)
        settings: Settings = {"model": about, "seed": seed}
        if precision is not None:
            settings["precision"] = precision
        if data is not None:
            settings["data"] = dict(data.settings if isinstance(data, Dataset) else data)
        self.settings = settings
        self.data = data if isinstance(data, Dataset) else None
        self._made: Any = None

    @classmethod
    def toy(cls, name: str, **numbers: float) -> Potential:
        """A potential with known answers: a row of ``kelvin list toys``."""
        return cls({"toy": {"name": name, **numbers}})

    def make(self, kind: Any, settings: Settings, given: Settings, letters: Sequence[Letter] = ()) -> Any:
        """One of the extension's objects on this potential, whose rows are written where it reads them."""
        given = {"directory": os.getcwd(), "command": "sample", **given}
        own = None if self.own is None else self.own.told()
        told = [letter.told() for letter in letters]
        if self.data is None:
            return kind(settings, given, own, told)
        with tempfile.TemporaryDirectory(prefix="kelvin_") as scratch:
            file, columns = write_rows(os.path.join(scratch, "data"), self.data.X, self.data.y)
            given["data"] = file
            return kind(merged({"data": {"file": file, **columns}}, settings), given, own, told)

    @property
    def _evaluated(self) -> Any:
        if self._made is None:
            self._made = self.make(_kelvin.Potential, self.settings, {})
        return self._made

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Names, shapes and offsets of the blocks in the flat array."""
        blocks: list[dict[str, Any]] = self._evaluated.blocks
        return blocks

    @property
    def size(self) -> int:
        size: int = self._evaluated.size
        return size

    @property
    def rows(self) -> int:
        rows: int = self._evaluated.rows
        return rows

    @property
    def precision(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._evaluated.start(0).dtype
        return dtype

    def start(self, walker: int = 0) -> np.ndarray:
        """Where a walker begins."""
        q: np.ndarray = self._evaluated.start(walker)
        return q

    def _flat(self, q: Any) -> np.ndarray:
        return np.ascontiguousarray(q, dtype=self.precision).reshape(-1)

    def __call__(self, q: Any, rows: Any = None) -> tuple[float, np.ndarray]:
        """U averaged over those rows (all without), and dU/dq."""
        found: tuple[float, np.ndarray] = self._evaluated.evaluate(self._flat(q), rows)
        return found

    def score(self, q: Any, split: str = "train") -> dict[str, float]:
        """Loss without the prior, and accuracy, rmse or perplexity."""
        score: dict[str, float] = self._evaluated.score(self._flat(q), split)
        return score

    def predict(self, q: Any, split: str = "train") -> np.ndarray:
        """The network's outputs, rows x outputs, in the units in which U is computed."""
        outputs: np.ndarray = self._evaluated.predict(self._flat(q), split)
        return outputs

    def hessian(self, q: Any) -> np.ndarray:
        """Second derivatives of U, for precision="double"."""
        H: np.ndarray = self._evaluated.hessian(self._flat(q))
        return H

    def named(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """Views of a flat array, block by block."""
        return named(self.blocks, q)


def named(blocks: list[dict[str, Any]], q: np.ndarray) -> dict[str, np.ndarray]:
    out = {}
    for block in blocks:
        size = int(np.prod(block["shape"]))
        out[block["name"]] = q[block["offset"]:block["offset"] + size].reshape(block["shape"])
    return out


class Recipe:
    """Which blocks form which part, and how each part moves.

    One dict of settings for all blocks, ``Recipe({"scheme": "BAOAB", "step": 0.1})``, or one for each part by name,
    ``Recipe({"hidden": {"blocks": ["layer1.*"], ...}, "output": {...}})``; or ``Recipe(preset="adlala")``.
    """

    def __init__(self, parts: Mapping[str, Any] | None = None, *, preset: Any = None, letters: Sequence[Letter] = (),
                 **settings: Any) -> None:
        parts = dict(parts or {})
        if parts and not all(isinstance(part, Mapping) for part in parts.values()):
            parts = {"all": parts}
        self.letters = tuple(letters)
        self.settings: Settings = dict(settings)
        if parts:
            self.settings["part"] = parts
        if preset is not None:
            self.settings["preset"] = preset


class Chain:
    """One walker: ``chain.step(n)``.

    q and p are arrays in the chain's own memory: read them, or write into them between steps. Bytes equal those of the
    same walker in a run with the same settings.
    """

    def __init__(self, potential: Potential, recipe: Recipe | Mapping[str, Any], *, seed: int = 1, walker: int = 0,
                 steps: int = 10000, batch: Any = None) -> None:
        recipe = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
        settings = merged(merged(potential.settings, recipe.settings), {"seed": seed, "steps": steps})
        if batch is not None:
            settings["batch"] = batch
        self._chain = potential.make(_kelvin.Chain, settings, {"walker": walker}, recipe.letters)
        self.potential = potential
        self.step = self._chain.step

    @classmethod
    def of(cls, settings: Any, *, walker: int = 0, **changes: Any) -> Chain:
        """A walker of the run that these settings describe: a run file or a dict."""
        read, _ = read_settings(settings, changes)
        chain = cls.__new__(cls)
        given = {"directory": os.getcwd(), "command": "sample", "walker": walker}
        chain._chain = _kelvin.Chain(read, given, None, [])
        chain.step = chain._chain.step
        return chain

    @property
    def q(self) -> np.ndarray:
        """Positions: the parameters, one block after another."""
        q: np.ndarray = self._chain.q
        return q

    @property
    def p(self) -> np.ndarray:
        """Momenta."""
        p: np.ndarray = self._chain.p
        return p

    @property
    def energy(self) -> float:
        """U at q, on the rows of the next evaluation."""
        U: float = self._chain.energy
        return U

    def gradient(self) -> np.ndarray:
        """dU/dq at q, on the rows of the next evaluation."""
        g: np.ndarray = self._chain.gradient()
        return g

    @property
    def steps(self) -> int:
        steps: int = self._chain.steps
        return steps

    @property
    def evaluations(self) -> int:
        """Gradients so far."""
        evaluations: int = self._chain.evaluations
        return evaluations

    @property
    def blocks(self) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = self._chain.blocks
        return blocks

    @property
    def parts(self) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = self._chain.parts
        return parts

    @property
    def reading(self) -> dict[str, Any]:
        """Temperatures and energies of the last ``step(n, read=True)``."""
        reading: dict[str, Any] = self._chain.reading()
        return reading

    def start(self, q: Any) -> None:
        """Puts the walker at q with fresh momenta."""
        self._chain.start(np.ascontiguousarray(q, dtype=self.q.dtype).reshape(-1))

    def named(self) -> dict[str, np.ndarray]:
        """Views of q, block by block."""
        return named(self.blocks, self.q)
