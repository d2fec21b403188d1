# SPDX-License-Identifier: Apache-2.0
"""What an analysis has found: words, tables and figures."""

from __future__ import annotations

import html
from typing import Any, Iterator

import numpy as np

Row = dict[str, Any]


class Finding:
    """Words (the first is the verdict), tables, figures and arrays; print it, or look at it in a notebook."""

    def __init__(self, found: dict[str, Any]) -> None:
        finding = found["finding"]
        self.name: str = finding.get("name", "")
        self.title: str = finding.get("title", "")
        self.words: list[str] = list(finding.get("words") or [])
        self.tables: dict[str, list[Row]] = dict(finding.get("tables") or {})
        self.figures: list[dict[str, Any]] = list(finding.get("figures") or [])
        self.arrays: dict[str, np.ndarray] = dict(found.get("arrays") or {})
        self._text: str = found.get("text", "")

    @property
    def table(self) -> list[Row]:
        """The rows of the first table."""
        return next(iter(self.tables.values()), [])

    def to_frame(self, title: str | None = None) -> Any:
        """A table as a pandas DataFrame; the first one without a title."""
        import pandas as pd

        return pd.DataFrame(self.table if title is None else self.tables[title])

    def figure(self, name: str) -> dict[str, Any]:
        """A figure by its name, with its curves as lists of x and y."""
        for figure in self.figures:
            if figure["name"] == name:
                return figure
        known = ", ".join(figure["name"] for figure in self.figures)
        raise KeyError(f"no figure {name!r}; there are: {known}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = [f"<p>{html.escape(word)}</p>" for word in self.words]
        for title, rows in self.tables.items():
            parts.append(html_table(title, rows))
        return "\n".join(parts)


class Diagnosis(Finding):
    """A finding that says whether a run is healthy."""

    @property
    def healthy(self) -> bool:
        return bool(self.words) and self.words[0].startswith("Healthy")


def html_table(title: str, rows: list[Row]) -> str:
    names: list[str] = []
    for row in rows:
        names += [name for name in row if name not in names]

    def cell(x: Any) -> str:
        return "" if x is None else f"{x:.6g}" if isinstance(x, float) else html.escape(str(x))

    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{cell(row.get(name))}</td>" for name in names) + "</tr>" for row in rows)
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
