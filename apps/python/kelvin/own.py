# SPDX-License-Identifier: Apache-2.0
"""Potentials and letters that are Python functions."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _kelvin

Arrays = dict[str, np.ndarray]


@dataclass
class OwnPotential:
    """An energy U of named arrays, and its gradient; made by :func:`potential`. Callable as the function it is."""

    name: str
    function: Callable[..., Any]
    shapes: dict[str, tuple[int, ...]]
    rows: int = 0
    random: bool = False
    views: bool = False  # the arrays are the chain's own memory, good during the call
    flat: bool = False  # under the name "*" it is given all of them as one array
    buffers: frozenset[str] = frozenset()
    layers: dict[str, int] = field(default_factory=dict)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    def told(self) -> dict[str, Any]:
        blocks = [{"name": name, "shape": list(shape), "buffer": name in self.buffers, "layer": self.layers.get(name, 0)}
                  for name, shape in self.shapes.items()]
        return {"name": self.name, "function": _adapted(self), "blocks": blocks, "rows": self.rows,
                "random": self.random, "views": self.views, "flat": self.flat}


def _adapted(own: OwnPotential) -> Callable[[Arrays, Any, Arrays, Any], float]:
    """The function as a chain calls it: (q, rows, g, randomness) -> U."""
    function = own.function
    takes = [p.name for p in inspect.signature(function).parameters.values()
             if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    if len(takes) not in (1, 2, 3):
        raise _kelvin.Error(f'potential "{own.name}" must be a function of (q), (q, rows) or (q, rows, g), not of '
                            f"({', '.join(takes)})")
    writes = len(takes) == 3

    def call(q: Arrays, rows: Any, g: Arrays, draw: Any) -> float:
        arguments: list[Any] = [q, rows, g][:len(takes)]
        if own.random:
            found = function(*arguments, randomness=draw)
        else:
            found = function(*arguments)
        if writes:
            return _energy(found, own.name)
        if not isinstance(found, tuple) or len(found) != 2:
            raise TypeError(f'potential "{own.name}" must return U and its gradient, (U, {{"w": ...}}), '
                            f"or take g as its third argument and write there")
        U, slopes = found
        for name, to in g.items():
            if name not in slopes:
                raise KeyError(f'potential "{own.name}" returned no gradient of "{name}"')
            slope = np.asarray(slopes[name])
            if slope.shape != to.shape and slope.size != to.size:
                raise ValueError(f'potential "{own.name}" returned a gradient of shape {slope.shape} for "{name}", '
                                 f"whose shape is {to.shape}")
            to[...] = slope.reshape(to.shape)
        return _energy(U, own.name)

    return call


def _energy(U: Any, name: str) -> float:
    try:
        return float(U)
    except (TypeError, ValueError):
        raise TypeError(f'potential "{name}" must return U as one number, not {type(U).__name__}') from None


def potential(shapes: Mapping[str, Sequence[int] | int], *, name: str | None = None, rows: int = 0,
              random: bool = False) -> Callable[[Callable[..., Any]], OwnPotential]:
    """Makes a potential of a function of (parameters, rows) that returns U and its gradient by each block.

    ::

        @kelvin.potential(shapes={"w": (3, 2)})
        def springs(q, rows):
            return 0.5 * (q["w"] ** 2).sum(), {"w": q["w"]}

    With a third argument the function writes the gradient in place: ``g["w"][...] = q["w"]``, and returns U alone.
    U is sampled as exp(-U/T). With ``rows`` = N above 0 it is the mean over the rows of a minibatch, whose numbers it is
    given as an array (None: all of them). A ``random`` one takes the keyword ``randomness``: an integer that is a pure
    function of the seed and the evaluation.
    """
    named = {block: (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
             for block, shape in shapes.items()}

    def make(function: Callable[..., Any]) -> OwnPotential:
        own = OwnPotential(name or function.__name__, function, named, rows, random)
        _adapted(own)  # refuses what takes other arguments
        return own

    return make


@dataclass
class Letter:
    """A flow of one part for a time h; made by :func:`letter`."""

    symbol: str
    function: Callable[..., Any]
    moves: str
    normals: int
    thermal: bool
    gradient: bool
    forgets: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    def told(self) -> dict[str, Any]:
        function = self.function

        def call(q: np.ndarray, p: np.ndarray, g: np.ndarray, h: float, z: Any, constants: dict[str, float]) -> None:
            function(SimpleNamespace(q=q, p=p, g=g, **constants), h, z)

        return {"symbol": self.symbol, "function": call, "moves": self.moves, "normals": self.normals,
                "thermal": self.thermal, "gradient": self.gradient, "forgets": self.forgets}


def letter(symbol: str, *, moves: str, normals: int = 0, thermal: bool = True, gradient: bool = False,
           forgets: str = "never") -> Callable[[Callable[..., Any]], Letter]:
    """Makes a letter of a function of (part, h, z), which changes part.q or part.p in place.

    ::

        @kelvin.letter("Q", moves="p", normals=1)
        def bath(part, h, z):
            keep = math.exp(-part.gamma * h)
            part.p *= keep
            part.p += math.sqrt(part.m * part.T * (1 - keep**2)) * z

    part: arrays q, p, g (the gradient, if ``gradient``) and numbers gamma, T, m, sigma, eps, step (the whole step) and count.
    z: ``normals`` standard normals for each entry. thermal: its noise vanishes at T = 0. forgets: whether p afterwards
    depends on p before: "never", "always" or "at infinite friction".
    """

    def make(function: Callable[..., Any]) -> Letter:
        return Letter(symbol, function, moves, normals, thermal, gradient, forgets)

    return make


# ---- the order of a scheme


@dataclass
class Order:
    """How the error of <q^2> of a scheme grows with its step on the harmonic oscillator: as h^order."""

    scheme: str
    steps: list[float]
    errors: list[float]  # relative, of <q^2>, with their standard errors
    deviations: list[float]
    order: float  # nan where no error can be told from 0
    exact: bool

    def __str__(self) -> str:
        lines = [f"{h:10.4g} {e:+.3e} +- {d:.1e}" for h, e, d in zip(self.steps, self.errors, self.deviations)]
        verdict = "exact to within its errors" if self.exact else f"order {self.order:.2f}"
        return "\n".join([f"{self.scheme}: {verdict}", "      step  error of <q^2>", *lines])


def check_order(scheme: str, *, letters: Sequence[Letter] = (), steps: Sequence[float] = (0.2, 0.3, 0.45, 0.65),
                friction: float = 1.0, temperature: float = 1.0, walkers: int = 4000, length: float = 300.0,
                seed: int = 1) -> Order:
    """Measures the order of a scheme: its error of <q^2> on the harmonic oscillator, U = q^2/2, at several steps.

    The oscillator has ``walkers`` independent coordinates, each followed for the time ``length``; the standard errors
    follow from the spread between them. See ``kelvin list schemes`` for the orders of the named ones.
    """
    from .step import Chain, Potential, Recipe

    @potential({"q": (walkers,)}, name="oscillators")
    def oscillators(q: Arrays, rows: Any, g: Arrays) -> float:
        x = q["q"]
        g["q"][...] = x
        return float(x @ x) / 2

    errors, deviations = [], []
    for h in steps:
        part = {"scheme": scheme, "step": float(h), "friction": friction, "temperature": temperature}
        chain = Chain(Potential(oscillators), Recipe(part, letters=letters), seed=seed)
        chain.step(max(1, int(20 / h)))
        count = max(10, int(length / h))
        sums = np.zeros(walkers)
        q = chain.q
        for _ in range(count):
            chain.step()
            sums += q * q
        each = sums / count / temperature - 1
        errors.append(float(each.mean()))
        deviations.append(float(each.std(ddof=1) / math.sqrt(walkers)))
    told = [(h, e, d) for h, e, d in zip(steps, errors, deviations) if abs(e) > 4 * d]
    exact = not told
    order = math.nan
    if len(told) >= 2:
        x = np.log([h for h, _, _ in told])
        weights = np.array([abs(e) / d for _, e, d in told])
        order = float(np.polyfit(x, np.log([abs(e) for _, e, _ in told]), 1, w=weights)[0])
    return Order(scheme, [float(h) for h in steps], errors, deviations, order, exact)
