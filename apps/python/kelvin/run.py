# SPDX-License-Identifier: Apache-2.0
"""Runs: started, steered, resumed, read and analysed."""

from __future__ import annotations

import datetime
import html
import os
import platform
import shutil
import signal
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from . import _kelvin
from ._progress import Progress
from ._settings import Settings, as_toml, merged, read_settings, write_rows
from .finding import Diagnosis, Finding, html_table
from .samples import Samples, Statistics

if TYPE_CHECKING:
    from .own import Letter, OwnPotential

Draw = Callable[[int, int, dict[str, np.ndarray], float], None]
_SAVE_EVERY = 30.0  # seconds between checkpoints where the settings do not say; no result depends on it


def all_threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Scratch:
    """A temporary directory, which lasts as long as somebody holds it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="kelvin_")
        weakref.finalize(self, Scratch._remove, self.path, os.getpid())

    @staticmethod
    def _remove(path: str, process: int) -> None:
        if os.getpid() == process:  # not in a fork
            shutil.rmtree(path, ignore_errors=True)


class _Interrupts:
    """While a run is waited for, Ctrl-C stops it in good order; a second one at once."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self.caught = False
        self._before: Any = None

    def __enter__(self) -> _Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, self._on_signal)
        return self

    def _on_signal(self, number: int, frame: Any) -> None:
        if self.caught:
            raise KeyboardInterrupt
        self.caught = True
        self._stop()

    def __exit__(self, *exception: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


class Run:
    """A run: a directory with settings, draws and what was found, which may still be growing.

    Made by :func:`sample`, :func:`train`, :func:`start` and :func:`open`.
    """

    def __init__(self, path: str | os.PathLike[str], *, potential: OwnPotential | None = None,
                 letters: Sequence[Letter] = (), scratch: Scratch | None = None) -> None:
        self.path = Path(path)
        self._scratch = scratch  # where the run is, if it has no place of its own
        self.remarks: list[str] = []
        self._potential = potential
        self._letters = tuple(letters)
        self._live: Any = None
        self._samples: Samples | None = None
        self._waiting = threading.Lock()

    # ---- while it goes on

    @property
    def now(self) -> dict[str, Any]:
        """Its state ("running", "paused", "stopped", "finished"), step, last step planned, and last line of the log."""
        if self._live is not None:
            now: dict[str, Any] = self._live.now()
            return now
        record = self.record
        return {"state": "finished" if record.get("finished") else "stopped", "until": record["until"],
                "step": (record.get("final") or {}).get("step", 0), "line": record.get("final")}

    def _command(self, name: str, argument: Any = None) -> None:
        if self._live is None:
            raise _kelvin.Error(f'"{self.path}" is not under way here; resume(steps=N) goes on with it')
        self._live.post(name, argument)

    def pause(self) -> None:
        """Holds all walkers at the end of their step, until :meth:`proceed`."""
        self._command("pause")

    def proceed(self) -> None:
        """Goes on after a pause."""
        self._command("continue")

    def stop(self) -> None:
        """Stops with a checkpoint, from which it can be resumed."""
        self._command("stop")

    def add_steps(self, steps: int) -> None:
        """So many steps more than were planned."""
        self._command("steps", int(steps))

    def change(self, **part: Mapping[str, Any]) -> None:
        """New settings of parts from the next step on: ``run.change(all={"step": 0.1})``.

        The change is recorded with its step, so that the run repeats bit for bit.
        """
        self._command("part", dict(part))

    def wait(self, progress: bool | None = False) -> Run:
        """Waits until the run has ended. Ctrl-C stops it in good order and raises KeyboardInterrupt, whose ``run`` it is."""
        if self._live is None:
            return self
        if not self._waiting.acquire(blocking=False):
            raise _kelvin.Error("another thread waits for this run already")
        live, bar, saved = self._live, Progress(progress), time.monotonic()
        try:
            with _Interrupts(lambda: live.post("stop")) as interrupts:
                while not live.wait(0.1):
                    bar.show(live.now())
                    if time.monotonic() - saved > _SAVE_EVERY:
                        saved = time.monotonic()
                        live.post("save")
                bar.show(live.now(), end=True)
        finally:
            if live.now()["state"] in ("stopped", "finished"):
                self._live = None
            self._waiting.release()
            self._samples = None
        if interrupts.caught:
            interruption = KeyboardInterrupt(f"stopped; to go on: kelvin.resume({str(self.path)!r})")
            interruption.run = self  # type: ignore[attr-defined]
            raise interruption
        return self

    # ---- what it is and has

    @property
    def record(self) -> dict[str, Any]:
        """run.json: all settings resolved, parts, blocks, and at the end scores."""
        record: dict[str, Any] = _kelvin.read_record(str(self.path))
        return record

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        lines: list[dict[str, Any]] = _kelvin.read_log(str(self.path))
        return lines

    @property
    def finished(self) -> bool:
        return bool(self.record.get("finished"))

    @property
    def samples(self) -> Samples:
        """Draws by block, ``samples["layer1.weight"]``, of shape (chain, draw, ...)."""
        if self._samples is None:
            self._samples = Samples(self.path, holds=self._scratch)
        return self._samples

    @property
    def statistics(self) -> Statistics:
        """Statistics of each draw, ``statistics["potential"]``, of shape (chain, draw) or (chain, draw, part)."""
        return self.samples.statistics

    def to_xarray(self) -> Any:
        """The draws as an xarray Dataset with dimensions chain, draw and those of each block."""
        return self.samples.to_xarray()

    def to_arviz(self) -> Any:
        """What the installed ArviZ takes: InferenceData, or a DataTree from version 1 on."""
        return self.samples.to_arviz()

    # ---- what is found in it

    def analyse(self, name: str, *, threads: int | None = None, **options: Any) -> Finding:
        """Any analysis of :func:`kelvin.analyses` with its options, as on the command line."""
        return analyse_runs(name, [self], threads=threads, **options)

    def summary(self, parameters: bool = False) -> Any:
        """Moments, quantiles, errors, effective sample sizes and R-hat: a DataFrame if pandas is there, else a Finding."""
        few = self.record["parameters"] <= 20
        found = Finding(_kelvin.summary(str(self.path), parameters or few))
        try:
            return found.to_frame()
        except ImportError:
            return found

    def diagnose(self, **options: Any) -> Diagnosis:
        """What is wrong with the run and what to change; ``.healthy`` says whether anything is."""
        return Diagnosis(_analyse("diagnose", [self], {}, options))

    def predict(self, X: Any = None, *, y: Any = None, quantiles: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95),
                every: int = 1, threads: int | None = None, split: str | None = None) -> Predictions:
        """Predictions averaged over the draws, in probability space, for rows X (without: the run's own test rows).

        ``mean`` (probabilities for classes), ``total`` = ``aleatoric`` + ``epistemic`` (variances; for classes entropies
        in nats), ``quantiles`` of numeric targets, in the units of the targets.
        """
        with tempfile.TemporaryDirectory(prefix="kelvin_") as scratch:
            out = os.path.join(scratch, "predictions.npz")
            options: Settings = {"every": every, "quantiles": list(quantiles), "out": out}
            if X is not None:
                options["data"] = self._rows_for_prediction(scratch, X, y)
            elif split is not None:
                options["split"] = split
            found = Finding(_analyse("predict", [self], {}, options, threads=threads))
            with np.load(out) as arrays:
                return Predictions({name: arrays[name] for name in arrays.files}, found, list(quantiles))

    def _rows_for_prediction(self, scratch: str, X: Any, y: Any) -> str:
        if y is None and not hasattr(X, "columns"):  # arrays by their order: a file of inputs alone
            path = os.path.join(scratch, "rows.npy")
            rows = np.asarray(X)
            np.save(path, np.ascontiguousarray(rows))
            return path
        return write_rows(os.path.join(scratch, "rows"), X, y)[0]

    def report(self, file: str | os.PathLike[str] | None = None) -> Path:
        """Writes one self-contained page about the run, and returns its path."""
        path = Path(file) if file is not None else self.path / "report.html"
        made = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        _kelvin.report([str(self.path)], str(path), made)
        return path

    def export(self, format: str, file: str | os.PathLike[str] | None = None, **options: Any) -> list[Path]:
        """Writes the run in the format of another tool: "netcdf", "csv", "stan-csv", "npz", "safetensors"."""
        if file is not None:
            options["file"] = os.fspath(file)
        return [Path(p) for p in _kelvin.export(str(self.path), format, options)]

    def resume(self, steps: int = 0, *, threads: int | None = None, progress: bool | None = None, wait: bool = True,
               on_line: Any = None, on_draw: Draw | None = None, on_remark: Any = None) -> Run:
        """Goes on where it was stopped, or has ended, as if it had never been interrupted; ``steps`` more than were planned."""
        if self._live is not None:
            raise _kelvin.Error(f'"{self.path}" is under way; add_steps(N) adds N steps to it')
        given = {"out": str(self.path), "threads": _threads(threads, self._potential), "steps": int(steps)}
        self._live = _kelvin.Run(given, _potential(self._potential), _letters(self._letters),
                                 self._callbacks(on_line, on_draw, on_remark))
        return self._go(wait, progress)

    def _callbacks(self, on_line: Any, on_draw: Any, on_remark: Any) -> dict[str, Any]:
        remarks = self.remarks  # not the run itself, which would then hold itself

        def remark(text: str) -> None:
            remarks.append(text)
            if on_remark is not None:
                on_remark(text)

        return {"line": on_line, "draw": on_draw, "remark": remark}

    def _go(self, wait: bool, progress: bool | None) -> Run:
        self._samples = None
        self._live.start()
        return self.wait(progress) if wait else self

    def __repr__(self) -> str:
        try:
            now = self.now
        except _kelvin.Error:
            return f"<kelvin.Run {str(self.path)!r}>"
        return f"<kelvin.Run {str(self.path)!r}: {now['state']}, step {now['step']} of {now['until']}>"

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(str(self.path))}</b>: {self.now['state']}, step {self.now['step']} of "
                 f"{self.now['until']}</p>"]
        try:
            diagnosis = self.diagnose()
        except _kelvin.Error as error:
            return "\n".join(parts + [f"<p>{html.escape(str(error))}</p>"])
        parts += [f"<p>{html.escape(word)}</p>" for word in diagnosis.words]
        parts += [_svg(figure) for figure in diagnosis.figures[:2]]
        scores = [dict(rows=split, **score) for split in ("train", "validation", "test")
                  if (score := (self.record.get("final") or {}).get(split))]
        if scores:
            parts.append(html_table("scores", scores))
        return "\n".join(parts)


class Predictions:
    """Predictions of some rows; each column of the file that ``kelvin predict -o`` writes is an array."""

    def __init__(self, columns: dict[str, np.ndarray], found: Finding, levels: list[float]) -> None:
        self.columns = columns
        self.finding = found
        self.levels = levels

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def _of(self, what: str) -> np.ndarray:
        """The column of that name, or those of all targets side by side; a single one as a list of numbers."""
        found = [v for name, v in self.columns.items() if name == what or name.endswith("_" + what)]
        if not found:
            raise KeyError(f"these predictions have no {what!r}; they have {', '.join(self.columns)}")
        return found[0] if len(found) == 1 else np.stack(found, axis=1)

    @property
    def classifies(self) -> bool:
        return any(name.startswith("probability_") for name in self.columns)

    @property
    def mean(self) -> np.ndarray:
        """Of numeric targets: the predictive mean; of classes: the probabilities, rows x classes."""
        if not self.classifies:
            return self._of("mean")
        return np.stack([v for name, v in self.columns.items() if name.startswith("probability_")], axis=1)

    @property
    def sd(self) -> np.ndarray:
        return self._of("sd")

    @property
    def aleatoric(self) -> np.ndarray:
        return self._of("aleatoric")

    @property
    def epistemic(self) -> np.ndarray:
        return self._of("epistemic")

    @property
    def quantiles(self) -> np.ndarray:
        """Of numeric targets, rows x levels; of several targets rows x targets x levels."""
        each = [self._of(f"q{100 * level:.6g}") for level in self.levels]
        return np.stack(each, axis=-1)

    def __repr__(self) -> str:
        return f"<kelvin.Predictions of {len(next(iter(self.columns.values())))} rows: {', '.join(self.columns)}>"


def _svg(figure: dict[str, Any]) -> str:
    """The curves of a figure as a small picture."""
    curves = [c for c in figure.get("curves") or [] if len(c.get("x") or []) > 1]
    if not curves:
        return ""
    width, height, margin = 420, 200, 30
    x = np.concatenate([np.asarray(c["x"], float) for c in curves])
    y = np.concatenate([np.asarray(c["y"], float) for c in curves])
    good = np.isfinite(x) & np.isfinite(y)
    if not good.any():
        return ""
    left, right, low, high = x[good].min(), x[good].max(), y[good].min(), y[good].max()
    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
    lines = []
    for number, curve in enumerate(curves[:6]):
        px = margin + (np.asarray(curve["x"], float) - left) / ((right - left) or 1) * (width - 2 * margin)
        py = height - margin - (np.asarray(curve["y"], float) - low) / ((high - low) or 1) * (height - 2 * margin)
        every = max(1, len(px) // 400)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px[::every], py[::every]) if np.isfinite(a) and np.isfinite(b))
        lines.append(f"<polyline fill='none' stroke='{colours[number]}' points='{points}'/>")
    title = html.escape(figure.get("title") or figure["name"])
    text = (f"<text x='{margin}' y='16' font-size='12'>{title}</text>"
            f"<text x='{margin}' y='{height - 8}' font-size='10'>{left:.4g}</text>"
            f"<text x='{width - 2 * margin}' y='{height - 8}' font-size='10'>{right:.4g}</text>"
            f"<text x='2' y='{height - margin}' font-size='10'>{low:.3g}</text>"
            f"<text x='2' y='{margin + 8}' font-size='10'>{high:.3g}</text>")
    return f"<svg width='{width}' height='{height}' xmlns='http://www.w3.org/2000/svg'>{text}{''.join(lines)}</svg>"


# ---- functions


def _analyse(name: str, runs: Iterable[Run], settings: Settings, options: Settings, threads: int | None = None,
             progress: Any = None) -> dict[str, Any]:
    given = {"threads": threads or all_threads(), "remark": None, "progress": progress, "settings": settings}
    found: dict[str, Any] = _kelvin.analyse(name, [str(run.path) for run in runs], options, given)
    return found


def analyse_runs(name: str, runs: Iterable[Run], *, threads: int | None = None, **options: Any) -> Finding:
    """An analysis of one run, or of several side by side."""
    return Finding(_analyse(name, runs, {}, options, threads))


def compare(*runs: Run, **options: Any) -> Finding:
    """Runs side by side: scores, cost and the settings that differ."""
    return analyse_runs("compare", runs, **options)


def certify(settings: Any, *, threads: int | None = None, options: Mapping[str, Any] | None = None, **changes: Any) -> Finding:
    """The discretisation bias of averages, with its error, from coupled chains."""
    read, _ = read_settings(settings, changes)
    return Finding(_analyse("certify", [], read, dict(options or {}), threads))


def _threads(threads: int | None, potential: Any) -> int:
    # Functions in Python take turns: more threads would wait for each other.
    return threads if threads is not None else 1 if potential is not None else all_threads()


def _potential(potential: OwnPotential | None) -> dict[str, Any] | None:
    return None if potential is None else potential.told()


def _letters(letters: Sequence[Letter]) -> list[dict[str, Any]]:
    return [letter.told() for letter in letters]


def start(settings: Any, *, command: str = "sample", out: str | os.PathLike[str] | None = None, data: Any = None,
          potential: OwnPotential | None = None, letters: Sequence[Letter] = (), force: bool = False,
          threads: int | None = None, on_line: Any = None, on_draw: Draw | None = None, on_remark: Any = None,
          **changes: Any) -> Run:
    """Starts a run and returns at once; steer it by its methods, and :meth:`Run.wait` for it. Arguments as for sample."""
    return _start(settings, command, out, data, potential, letters, force, threads, (on_line, on_draw, on_remark),
                  changes, wait=False, progress=False)


def _start(settings: Any, command: str, out: Any, data: Any, potential: OwnPotential | None, letters: Sequence[Letter],
           force: bool, threads: int | None, told: tuple[Any, Any, Any], changes: Settings, *, wait: bool,
           progress: bool | None) -> Run:
    if potential is None and hasattr(settings, "told"):
        potential, settings = settings, {}
    scratch = Scratch()
    out = os.path.abspath(os.path.join(scratch.path, "run") if out is None else os.fspath(out))
    run = Run(out, potential=potential, letters=letters, scratch=scratch)
    read, text = read_settings(settings, changes)
    given: dict[str, Any] = {
        "out": out, "replace": force, "threads": _threads(threads, potential), "directory": os.getcwd(),
        "command": command, "command_line": f"kelvin.{command}(...)",
        "created_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": f"{platform.system()} {platform.machine()}, {all_threads()} threads, Python {platform.python_version()}",
    }
    if data is not None:
        X, y = data if isinstance(data, tuple) else (data, None)
        file, columns = write_rows(os.path.join(scratch.path, "data"), X, y)
        kept = os.path.join(out, os.path.basename(file))  # where the rows will be, with the run
        read = merged({"data": {"file": kept, **columns}}, read)
        given["data"] = (file, kept)
    if potential is not None:
        read = merged(read, {"model.own": potential.name})
    given["text"] = text if data is None and potential is None else as_toml(read)
    run._live = _kelvin.Run(read, given, _potential(potential), _letters(letters), run._callbacks(*told))
    return run._go(wait, progress)


def sample(settings: Any, *, out: str | os.PathLike[str] | None = None, data: Any = None,
           potential: OwnPotential | None = None, letters: Sequence[Letter] = (), force: bool = False,
           threads: int | None = None, progress: bool | None = None, on_line: Any = None, on_draw: Draw | None = None,
           on_remark: Any = None, **changes: Any) -> Run:
    """Draws from the posterior, as ``kelvin sample`` does: from exp(-U/T), T = 1/N unless a part says otherwise.

    settings: a run file, a dict with the names of one, or a potential of one's own.
    changes: settings that replace those, ``steps=1000`` or ``**{"part.all.step": 0.1}``.
    out: the directory of the run; without, a temporary one that lasts as long as the Run.
    data: (X, y) in place of files; NumPy arrays or pandas frames, kept with the run.
    on_draw: called as on_draw(walker, index, {block: array}, U) in the walkers' threads; on_line with each line of the log.
    """
    return _start(settings, "sample", out, data, potential, letters, force, threads, (on_line, on_draw, on_remark),
                  changes, wait=True, progress=progress)


def train(settings: Any, *, out: str | os.PathLike[str] | None = None, data: Any = None,
          potential: OwnPotential | None = None, letters: Sequence[Letter] = (), force: bool = False,
          threads: int | None = None, progress: bool | None = None, on_line: Any = None, on_draw: Draw | None = None,
          on_remark: Any = None, **changes: Any) -> Run:
    """Minimises the loss, as ``kelvin train`` does: the same dynamics at temperature 0. Arguments as for sample."""
    return _start(settings, "train", out, data, potential, letters, force, threads, (on_line, on_draw, on_remark),
                  changes, wait=True, progress=progress)


def open(path: str | os.PathLike[str], *, potential: OwnPotential | None = None, letters: Sequence[Letter] = ()) -> Run:
    """A stored run, finished or still growing. Runs of potentials or letters of one's own need them again to be resumed."""
    _kelvin.read_record(os.fspath(path))
    return Run(path, potential=potential, letters=letters)


def resume(path: str | os.PathLike[str], steps: int = 0, *, potential: OwnPotential | None = None,
           letters: Sequence[Letter] = (), threads: int | None = None, progress: bool | None = None) -> Run:
    """Goes on with a stored run, bit for bit."""
    return open(path, potential=potential, letters=letters).resume(steps, threads=threads, progress=progress)


def analyses() -> list[dict[str, Any]]:
    """Every analysis: name, family, meaning and options."""
    rows: list[dict[str, Any]] = _kelvin.analyses()
    return rows
