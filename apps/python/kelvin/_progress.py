# SPDX-License-Identifier: Apache-2.0
"""A bar on a terminal, or a table in a notebook; nothing anywhere else."""

from __future__ import annotations

import html
import sys
import time
from typing import Any


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


class Progress:
    """Shows how far a run is, at most ten times a second."""

    def __init__(self, shown: bool | None) -> None:
        notebook = _in_notebook()
        if shown is None:
            shown = notebook or sys.stderr.isatty()
        self._notebook = shown and notebook
        self._terminal = shown and not notebook
        self._handle: Any = None
        self._began = self._last = time.monotonic()

    def show(self, now: dict[str, Any], end: bool = False) -> None:
        if not (self._notebook or self._terminal):
            return
        time_now = time.monotonic()
        if not end and time_now - self._last < 0.1:
            return
        self._last = time_now
        step, until = now["step"], max(1, now["until"])
        line, passed = now["line"], time_now - self._began
        note = f"U {line['potential']:.4g}" if line else ""
        if line and line.get("train"):
            note = f"loss {line['train']['loss']:.4g}"
        share = min(1.0, step / until)
        if self._terminal:
            filled = int(30 * share)
            bar = "#" * filled + "-" * (30 - filled)
            sys.stderr.write(f"\r[{bar}] {step}/{until} steps {passed:.0f} s {note}\x1b[K" + ("\n" if end else ""))
            sys.stderr.flush()
        else:
            self._draw(f"<progress value='{share:.4f}' max='1'></progress> {step}/{until} steps, {passed:.0f} s, "
                       + html.escape(note))

    def _draw(self, text: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(text), display_id=True)
        else:
            self._handle.update(HTML(text))
