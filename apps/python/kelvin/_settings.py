# SPDX-License-Identifier: Apache-2.0
"""Settings of a run, from run files, dicts and keywords; and arrays as the files that a run reads."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from . import _kelvin

Settings = dict[str, Any]


def merged(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> Settings:
    """The settings with changes: dicts are merged, everything else is replaced; "part.all.step" reaches inside."""
    out = dict(settings)
    for name, value in changes.items():
        head, _, rest = name.partition(".")
        if rest:
            value = {rest: value}
        inside = out.get(head)
        if isinstance(value, Mapping) and (rest or isinstance(inside, Mapping)):
            out[head] = merged(inside if isinstance(inside, Mapping) else {}, value)
        else:
            out[head] = value
    return out


def read_settings(settings: Any, changes: Mapping[str, Any]) -> tuple[Settings, str]:
    """Settings from a run file or a dict, with changes, and the text that is kept as run.toml."""
    if isinstance(settings, Mapping):
        out = merged(merged({}, settings), changes)
        return out, as_toml(out)
    if isinstance(settings, (str, os.PathLike)):
        path = os.fspath(settings)
        out = merged(_kelvin.read_toml(path), changes)
        return out, Path(path).read_text() if not changes else as_toml(out)
    raise TypeError(f"settings are a dict, or the path of a run file, not {type(settings).__name__}")


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _toml_value(x: Any) -> str:
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    if isinstance(x, (float, np.floating)):
        x = float(x)
        return "inf" if x == np.inf else "-inf" if x == -np.inf else "nan" if x != x else repr(x)
    if isinstance(x, str):
        return json.dumps(x, ensure_ascii=False)
    if isinstance(x, os.PathLike):
        return json.dumps(os.fspath(x), ensure_ascii=False)
    if isinstance(x, Mapping):
        return "{ " + ", ".join(f"{_toml_key(k)} = {_toml_value(v)}" for k, v in x.items() if v is not None) + " }"
    if isinstance(x, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_toml_value(item) for item in x) + "]"
    raise TypeError(f"a setting is a number, a text, a list or a dict, not {type(x).__name__}")


def as_toml(settings: Mapping[str, Any]) -> str:
    """The settings as the text of a run file."""
    return "".join(f"{_toml_key(name)} = {_toml_value(value)}\n" for name, value in settings.items() if value is not None)


def _is_frame(x: Any) -> bool:
    return hasattr(x, "columns") and hasattr(x, "to_numpy")


def _checked(numbers: np.ndarray, what: str) -> np.ndarray:
    if numbers.dtype.kind not in "fiub":
        raise TypeError(f"{what} must hold numbers, not {numbers.dtype}")
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        raise ValueError(f"{what} holds numbers that are not finite; fill or leave out missing values first")
    return np.ascontiguousarray(numbers)


def _write_csv(path: str, names: list[str], columns: list[np.ndarray]) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    def cells(column: np.ndarray) -> list[str]:
        if column.dtype.kind in "fiub":
            return [repr(x) for x in column.tolist()] if column.dtype.kind != "b" else [str(int(x)) for x in column]
        return [quoted(str(x)) for x in column.tolist()]

    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(quoted(name) for name in names) + "\n")
        for row in zip(*(cells(column) for column in columns)):
            file.write(",".join(row) + "\n")


def write_rows(base: str, X: Any, y: Any = None) -> tuple[str, Settings]:
    """Writes rows where a run reads them: NPZ for arrays of numbers, CSV for data frames and named classes.

    Returns the file and what [data] says of it.
    """
    targets = None if y is None else np.asarray(y)
    texts = targets is not None and targets.dtype.kind in "OUS"
    if _is_frame(X) or texts:
        names = [str(c) for c in X.columns] if _is_frame(X) else [f"x{i + 1}" for i in range(np.asarray(X).shape[1])]
        table = X.to_numpy() if _is_frame(X) else np.asarray(X)
        if table.ndim != 2:
            raise ValueError(f"rows with named classes are a table, not an array of shape {table.shape}; number the classes")
        columns = [_checked(np.asarray(table[:, i].tolist()), f"column {names[i]!r}") for i in range(table.shape[1])]
        target_names: list[str] = []
        if targets is not None:
            name = str(getattr(y, "name", None) or "y")
            several = targets.reshape(len(targets), -1)
            target_names = [str(c) for c in y.columns] if _is_frame(y) else [name] if several.shape[1] == 1 else [
                f"{name}{i + 1}" for i in range(several.shape[1])]
            while set(target_names) & set(names):
                target_names = [n + "_" for n in target_names]
            columns += [several[:, i] for i in range(several.shape[1])]
            _check_lengths(len(table), len(targets))
        path = base + ".csv"
        _write_csv(path, names + target_names, columns)
        return path, {"targets": target_names} if target_names else {}
    inputs = _checked(np.asarray(X), "X")
    path = base + ".npz"
    if targets is None:
        np.savez(path, x=inputs)
        return path, {}
    targets = _checked(targets, "y")
    _check_lengths(len(inputs), len(targets))
    np.savez(path, x=inputs, y=targets)
    return path, {}


def _check_lengths(rows: int, targets: int) -> None:
    if rows != targets:
        raise ValueError(f"X has {rows} rows and y has {targets}; each row needs one target")
