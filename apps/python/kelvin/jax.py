# SPDX-License-Identifier: Apache-2.0
"""Any JAX function of a pytree, sampled or minimised by Kelvin's dynamics."""

from __future__ import annotations

import functools
import os
import tempfile
from typing import Any, Callable, Mapping, Sequence

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise ImportError("kelvin.jax needs JAX; install the package jax") from None

from . import _kelvin
from ._settings import Settings, merged
from .own import Arrays, OwnPotential
from .run import Run, _start


def _name(path: Any) -> str:
    return ".".join(str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", key)))) for key in path) or "q"


@functools.lru_cache(maxsize=32)
def _compiled(energy: Callable[..., Any], tree: Any, shapes: tuple[tuple[int, ...], ...], of_rows: bool) -> tuple[Any, Any]:
    """U and its gradient by one flat array: of all rows, and of chosen ones. A function is compiled once, however often
    it is sampled."""

    def unflat(flat: Any) -> Any:
        out, at = [], 0
        for shape in shapes:
            size = int(np.prod(shape))
            out.append(flat[at:at + size].reshape(shape))
            at += size
        return jax.tree_util.tree_unflatten(tree, out)

    def of_all(flat: Any, rows: Any) -> Any:
        return energy(unflat(flat), rows) if of_rows else energy(unflat(flat))

    def of_some(flat: Any, rows: Any, chosen: Any) -> Any:
        return energy(unflat(flat), jax.tree_util.tree_map(lambda x: x[chosen], rows))

    return jax.jit(jax.value_and_grad(of_all)), jax.jit(jax.value_and_grad(of_some))


class PytreePotential:
    """U(params) or U(params, rows) as a potential. Its gradient is compiled once; the parameters are one array."""

    def __init__(self, energy: Callable[..., Any], params: Any, rows: Any) -> None:
        found, self.tree = jax.tree_util.tree_flatten_with_path(params)
        leaves = {_name(path): jnp.asarray(leaf) for path, leaf in found}
        if not leaves or len(leaves) != len(found):
            raise _kelvin.Error("the parameters must be a pytree of arrays with names of their own, such as a dict")
        kinds = {leaf.dtype for leaf in leaves.values()}
        if len(kinds) > 1 or not {str(kind) for kind in kinds} <= {"float32", "float64"}:
            raise _kelvin.Error(f"parameters must be all float32 or all float64, not {', '.join(sorted(map(str, kinds)))}")
        self.dtype = kinds.pop()
        self.precision = "float" if str(self.dtype) == "float32" else "double"
        self.shapes = {name: leaf.shape for name, leaf in leaves.items()}
        self.start = {name: np.asarray(leaf).reshape(leaf.shape or (1,)) for name, leaf in leaves.items()}
        self.rows = None if rows is None else jax.tree_util.tree_map(jnp.asarray, rows)
        counts = {len(leaf) for leaf in jax.tree_util.tree_leaves(self.rows)}
        if len(counts) > 1:
            raise _kelvin.Error(f"the arrays of the data have {', '.join(map(str, sorted(counts)))} rows; all need equally many")
        self.count = counts.pop() if counts else 0

        self._all, self._some = _compiled(energy, self.tree, tuple(self.shapes.values()), rows is not None)

    def own(self, name: str) -> OwnPotential:
        shapes = {block: tuple(shape) or (1,) for block, shape in self.shapes.items()}
        return OwnPotential(name, self, shapes, rows=self.count, flat=True)

    def __call__(self, q: Arrays, rows: Any, g: Arrays) -> float:
        flat = jnp.asarray(q["*"])
        U, slope = self._all(flat, self.rows) if rows is None else self._some(flat, self.rows, rows)
        g["*"][...] = slope
        return float(U)


def _run(command: str, energy: Callable[..., Any], params: Any, rows: Any, parts: Any, part: Settings, prior: Any,
         batch: Any, settings: Any, out: Any, progress: bool | None, letters: Any, changes: Settings) -> Run:
    potential = PytreePotential(energy, params, rows)
    made: Settings = {"precision": potential.precision, "part": parts if parts is not None else {"all": part}}
    if prior is not None:
        made["model"] = {"prior": prior}
    if batch is not None:
        made["batch"] = {"size": batch}
    with tempfile.TemporaryDirectory(prefix="kelvin_") as scratch:
        start = os.path.join(scratch, "start.npz")
        np.savez(start, **potential.start)
        made = merged(merged({**made, "from": start}, settings or {}), changes)
        return _start(made, command, out, None, potential.own(getattr(energy, "__name__", "energy")), letters, False, 1,
                      (None, None, None), {}, wait=True, progress=progress)


def sample(energy: Callable[..., Any], params: Any, rows: Any = None, *, prior: Any = None,
           parts: Mapping[str, Any] | None = None, scheme: str = "BAOAB", step: Any = 0.01, friction: Any = 1.0,
           temperature: Any = None, batch: Any = None, settings: Mapping[str, Any] | None = None,
           out: str | os.PathLike[str] | None = None, progress: bool | None = None, letters: Sequence[Any] = (),
           **changes: Any) -> Run:
    """Samples exp(-U/T) of a function U(params), or U(params, rows) whose value is the mean over the rows.

    For a log density give ``lambda params: -log_density(params)``; its temperature is 1 without rows, and 1/N with rows.
    params: a pytree of arrays, where the walkers start. Leaves are blocks, named by their path: "dense.weight".
    Draws come back as a pytree by :func:`draws`.
    """
    if temperature is None:
        temperature = 1.0 if rows is None else "posterior"
    part = {"scheme": scheme, "step": step, "friction": friction, "temperature": temperature}
    return _run("sample", energy, params, rows, parts, part, prior, batch, settings, out, progress, letters, changes)


def train(loss: Callable[..., Any], params: Any, rows: Any = None, *, parts: Mapping[str, Any] | None = None,
          scheme: str = "adam", step: Any = 0.001, batch: Any = None, settings: Mapping[str, Any] | None = None,
          out: str | os.PathLike[str] | None = None, progress: bool | None = None, letters: Sequence[Any] = (),
          **changes: Any) -> Run:
    """Minimises a function by any scheme at temperature 0. Arguments as for :func:`sample`."""
    return _run("train", loss, params, rows, parts, {"scheme": scheme, "step": step}, None, batch, settings, out, progress,
                letters, changes)


def draws(run: Run, params: Any) -> Any:
    """The draws as a pytree of the form of params, each leaf (chain, draw, ...)."""
    found, tree = jax.tree_util.tree_flatten_with_path(params)
    leaves = []
    for path, leaf in found:
        values = run.samples[_name(path)]
        leaves.append(jnp.asarray(values.reshape(*values.shape[:2], *jnp.shape(leaf))))
    return jax.tree_util.tree_unflatten(tree, leaves)
