# SPDX-License-Identifier: Apache-2.0
"""Any torch module: its parameters sampled or trained by Kelvin's dynamics."""

from __future__ import annotations

import os
import queue
import tempfile
import threading
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

try:
    import torch
except ImportError:
    raise ImportError("kelvin.torch needs PyTorch; install the package torch") from None

from . import _kelvin
from ._settings import Settings, merged
from .own import Arrays, OwnPotential
from .own import potential as _potential
from .run import Run, _start
from .step import Chain, Potential, Recipe


def _tensor(array: np.ndarray) -> Any:
    """A tensor on the memory of an array."""
    return torch.from_dlpack(array)


class ModulePotential:
    """A module and a loss as a potential. While U is evaluated, the module's parameters are the chain's own arrays.

    Running means and variances (batch norm) are of role buffer: kept with every draw, never sampled.
    """

    def __init__(self, module: Any, loss: Callable[[Any, Any], Any], rows: Any) -> None:
        self.module, self.loss = module, loss
        self.parameters = {name: p for name, p in module.named_parameters() if p.requires_grad}
        if not self.parameters:
            raise _kelvin.Error("the module has no parameters that require a gradient; there is nothing to sample")
        kinds = {p.dtype for p in self.parameters.values()}
        if len(kinds) > 1 or not kinds <= {torch.float32, torch.float64}:
            raise _kelvin.Error(f"parameters must be all float32 or all float64, not {', '.join(sorted(map(str, kinds)))}")
        if any(p.device.type != "cpu" for p in self.parameters.values()):
            raise _kelvin.Error("the module must be on the CPU; move it there by module.cpu()")
        self.precision = "float" if kinds == {torch.float32} else "double"
        self.buffers = {name: b for name, b in module.named_buffers()
                        if b.dtype in kinds and name.rpartition(".")[2] in ("running_mean", "running_var")}
        self.tensors = {**self.parameters, **self.buffers}
        self.loader = None if isinstance(rows, (tuple, list)) else rows
        self.batches: Any = iter(())
        if self.loader is None:
            self.inputs, self.targets = (torch.as_tensor(x) for x in rows)
            self.count = len(self.inputs)
            if self.count != len(self.targets):
                raise _kelvin.Error(f"there are {self.count} rows of inputs and {len(self.targets)} of targets; "
                                    f"each row needs one target")
        else:
            self.count = len(rows.dataset)
        self.random = self.loader is not None or any(
            "Dropout" in type(m).__name__ and getattr(m, "p", 0) > 0 for m in module.modules())
        self._lent: dict[int, tuple[Arrays, Arrays, list[Any], list[Any]]] = {}
        self._here: int | None = None
        self._turn = threading.Lock()  # walkers on several threads share the module

    def own(self) -> OwnPotential:
        depth: dict[str, int] = {}  # modules in their order, from 1
        for name in self.tensors:
            depth.setdefault(name.rpartition(".")[0], len(depth) + 1)
        return OwnPotential(
            type(self.module).__name__, self, {name: tuple(t.shape) or (1,) for name, t in self.tensors.items()},
            rows=self.count, random=self.random, views=True, buffers=frozenset(self.buffers),
            layers={name: depth[name.rpartition(".")[0]] for name in self.tensors})

    def _rows(self, rows: np.ndarray | None) -> tuple[Any, Any]:
        if self.loader is None:
            if rows is None:
                return self.inputs, self.targets
            chosen = _tensor(rows.astype(np.int64))
            return self.inputs[chosen], self.targets[chosen]
        batch = next(self.batches, None)
        if batch is None:
            self.batches = iter(self.loader)
            batch = next(self.batches)
        return batch[0], batch[1]

    def __call__(self, q: Arrays, rows: Any, g: Arrays, randomness: int | None = None) -> float:
        with self._turn:
            slopes = self._place(q, g)
            if randomness is not None:
                torch.manual_seed(randomness % 2**63)
            before = {name: b.clone() for name, b in self.buffers.items()}
            inputs, targets = self._rows(rows)
            with torch.enable_grad():
                U = self.loss(self.module(inputs), targets)
                if U.ndim != 0:
                    raise TypeError(f"the loss must be one number, the mean over the rows, not a tensor of shape "
                                    f"{tuple(U.shape)}")
                for name, p in self.parameters.items():
                    p.grad = slopes[name].zero_()
                U.backward()
            with torch.no_grad():
                for name, b in self.buffers.items():  # the slope of a buffer is what an evaluation takes from it
                    slopes[name].copy_(before[name] - b)
                    b.copy_(before[name])
            return float(U.detach())

    def _place(self, q: Arrays, g: Arrays) -> dict[str, Any]:
        if id(q) not in self._lent:  # the arrays are kept, so that no others get their ids
            shapes = {name: t.shape for name, t in self.tensors.items()}
            self._lent[id(q)] = (q, g, [_tensor(q[name]).view(s) for name, s in shapes.items()],
                                 [_tensor(g[name]).view(s) for name, s in shapes.items()])
        _, _, values, slopes = self._lent[id(q)]
        if self._here != id(q):
            for t, value in zip(self.tensors.values(), values):
                t.data = value
            self._here = id(q)
        return dict(zip(self.tensors, slopes))

    def take_back(self) -> None:
        """Gives the module memory of its own again, with the values it has now."""
        for t in self.tensors.values():
            t.data = t.data.clone()
            t.grad = None
        self._lent.clear()
        self._here = None


def _run(command: str, module: Any, loss: Callable[[Any, Any], Any], rows: Any, parts: Any, part: Settings, prior: Any,
         batch: Any, settings: Any, out: Any, progress: bool | None, threads: int | None, letters: Any,
         changes: Settings) -> Run:
    potential = ModulePotential(module, loss, rows)
    made: Settings = {"precision": potential.precision, "part": parts if parts is not None else {"all": part}}
    if prior is not None:
        made["model"] = {"prior": prior}
    if batch is not None and potential.loader is None:
        made["batch"] = {"size": batch}
    with tempfile.TemporaryDirectory(prefix="kelvin_") as scratch:
        start = os.path.join(scratch, "start.npz")
        np.savez(start, **{name: t.detach().numpy().reshape(t.shape or (1,)) for name, t in potential.tensors.items()})
        made = merged(merged({**made, "from": start}, settings or {}), changes)
        try:
            return _start(made, command, out, None, potential.own(), letters, False, threads, (None, None, None), {},
                          wait=True, progress=progress)
        finally:
            potential.take_back()


def sample(module: Any, loss: Callable[[Any, Any], Any], rows: Any, *, prior: Any = None,
           parts: Mapping[str, Any] | None = None, scheme: str = "BAOAB", step: Any = 0.01, friction: Any = 1.0,
           temperature: Any = "posterior", batch: Any = None, settings: Mapping[str, Any] | None = None,
           out: str | os.PathLike[str] | None = None, progress: bool | None = None, threads: int | None = None,
           letters: Sequence[Any] = (), **changes: Any) -> Run:
    """Samples the posterior of a module's parameters, from where they are: exp(-U/T), U = loss + prior/N.

    loss(outputs, targets): the mean over the rows, such as ``torch.nn.functional.cross_entropy``.
    rows: (inputs, targets), of which each evaluation takes ``batch`` as a pure function of the seed; or a DataLoader, whose
    batches come as it gives them (such a run does not repeat).
    parts: settings of parts as in a run file, by the module's own names, ``{"head": {"blocks": ["fc.*"], ...}}``.
    changes: any settings of a run, ``steps=1000, walkers=4``. Draws are ``run.samples["fc.weight"]``; see also
    :func:`load` and :func:`predict`. Frozen parameters (``requires_grad=False``) stay as they are.
    """
    part = {"scheme": scheme, "step": step, "friction": friction, "temperature": temperature}
    return _run("sample", module, loss, rows, parts, part, prior, batch, settings, out, progress, threads, letters, changes)


def train(module: Any, loss: Callable[[Any, Any], Any], rows: Any, *, parts: Mapping[str, Any] | None = None,
          scheme: str = "adam", step: Any = 0.001, batch: Any = None, settings: Mapping[str, Any] | None = None,
          out: str | os.PathLike[str] | None = None, progress: bool | None = None, letters: Sequence[Any] = (),
          **changes: Any) -> Run:
    """Trains a module by any scheme at temperature 0, and leaves it at the last state. Arguments as for :func:`sample`."""
    run = _run("train", module, loss, rows, parts, {"scheme": scheme, "step": step}, None, batch, settings, out, progress,
               1, letters, changes)
    load(run, module)
    return run


def load(run: Run, module: Any, draw: int = -1, chain: int = 0) -> Any:
    """Puts a draw into the module, its running statistics with it; returns the module."""
    known = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    with torch.no_grad():
        for name, values in run.samples.items():
            if name not in known:
                raise _kelvin.Error(f'the run has a block "{name}", which the module has not; load it into the module that '
                                    f"was sampled")
            known[name].copy_(torch.as_tensor(np.array(values[chain, draw])).view(known[name].shape))
    return module


def predict(run: Run, module: Any, inputs: Any, *, probabilities: Callable[[Any], Any] | None = None, every: int = 1,
            statistics: bool = False) -> Any:
    """Outputs averaged over the draws: the mean of ``probabilities(outputs)``, by default softmax of classes.

    For regression give ``probabilities=lambda y: y``. With ``statistics`` it returns mean and standard deviation over the
    draws. The module is used in eval mode and left as it was.
    """
    if probabilities is None:
        def probabilities(outputs: Any) -> Any:
            return torch.softmax(outputs, dim=-1)

    before = {name: t.detach().clone() for name, t in module.state_dict().items()}
    training = module.training
    module.eval()
    mean: Any = None
    square: Any = None
    count = 0
    try:
        with torch.no_grad():
            for chain in range(run.samples.chains):
                for draw in range(0, run.samples.draws, every):
                    load(run, module, draw, chain)
                    found = probabilities(module(inputs)).double()
                    if mean is None:
                        mean, square = torch.zeros_like(found), torch.zeros_like(found)
                    count += 1
                    change = found - mean
                    mean += change / count
                    square += change * (found - mean)
    finally:
        module.load_state_dict(before)
        module.train(training)
    if mean is None:
        raise _kelvin.Error(f'"{run.path}" has no draws to average')
    return (mean, (square / count).sqrt()) if statistics else mean


class Optimizer(torch.optim.Optimizer):  # type: ignore[misc]
    """Any scheme in the shape of an optimizer: ``zero_grad``, ``backward``, ``step``.

    ::

        optimizer = kelvin.torch.Optimizer(module.parameters(), scheme="BAOAB", step=0.01, temperature=1 / N)

    One call of ``step()`` takes one gradient, where the parameters are, and moves on to where the scheme needs the next
    one: for BAOAB one step of the scheme. ``step(closure)`` calls the closure instead, which computes loss and gradients.
    Parameter groups may differ in scheme, step, friction, temperature and whatever a part of a run file has.
    """

    def __init__(self, params: Any, *, scheme: str = "BAOAB", step: Any = 0.01, seed: int = 1, **part: Any) -> None:
        super().__init__(params, {"scheme": scheme, "step": step, **part})
        tensors: dict[str, Any] = {}
        parts: Settings = {}
        for number, group in enumerate(self.param_groups):
            names = [f"group{number}.{k}" for k in range(len(group["params"]))]
            tensors.update(zip(names, group["params"]))
            parts[f"group{number}"] = {"blocks": names, **{k: v for k, v in group.items() if k != "params" and v is not None}}
        kinds = {t.dtype for t in tensors.values()}
        if len(kinds) > 1 or not kinds <= {torch.float32, torch.float64}:
            raise _kelvin.Error(f"parameters must be all float32 or all float64, not {', '.join(sorted(map(str, kinds)))}")
        self._tensors = tensors
        self._closure: Any = None
        own = _potential({name: tuple(t.shape) or (1,) for name, t in tensors.items()}, name="optimizer")(self._gradient)
        own.views = True
        for settings in parts.values():
            settings.setdefault("temperature", 0.0)
        precision = "float" if kinds == {torch.float32} else "double"
        self._chain = Chain(Potential(own, precision=precision), Recipe(parts), seed=seed)
        views = self._chain.named()
        with torch.no_grad():
            for name, t in tensors.items():
                view = _tensor(views[name]).view(t.shape)
                view.copy_(t)
                t.data = view
        self._asked: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._given: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def _gradient(self, q: Arrays, rows: Any, g: Arrays) -> float:
        if self._closure is not None:
            with torch.enable_grad():
                U = float(self._closure())
        else:
            self._asked.put(None)  # the parameters are where the gradient is wanted
            U = 0.0
            if self._given.get() is None:
                raise StopIteration("the optimizer is gone")
        for name, t in self._tensors.items():
            to = g[name]
            if t.grad is None:
                to[...] = 0
            else:
                _tensor(to).view(t.shape).copy_(t.grad)
        return U

    def _go(self) -> None:
        try:
            while True:
                self._chain.step()
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever calls step()
            self._asked.put(error)

    def step(self, closure: Any = None) -> Any:
        """Takes a gradient and moves on."""
        if closure is not None:
            if self._thread is not None:
                raise _kelvin.Error("this optimizer is used without a closure; go on so, or make another one")
            self._closure = closure
            self._chain.step()
            return None
        if self._closure is not None:
            raise _kelvin.Error("this optimizer is used with a closure; go on so, or make another one")
        if self._thread is None:
            self._thread = threading.Thread(target=self._go, daemon=True)
            self._thread.start()
            self._asked.get()  # for the first gradient, where the parameters are
        self._given.put(True)
        failure = self._asked.get()
        if failure is not None:
            raise failure
        return None

    @property
    def chain(self) -> Chain:
        """The walker that moves the parameters, where a closure is used."""
        return self._chain

    def __del__(self) -> None:
        if getattr(self, "_thread", None) is not None:
            self._given.put(None)
