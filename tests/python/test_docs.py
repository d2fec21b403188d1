# SPDX-License-Identifier: Apache-2.0
"""The code in docs/python.md and docs/tati.md runs as it stands."""
import math
import re
from pathlib import Path

import numpy as np
import pytest

import kelvin

DOCS = Path(__file__).parents[2] / "docs"
rng = np.random.default_rng(1)


def pieces(page):
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.S)


def test_the_code_of_the_python_page_runs(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    x = rng.normal(size=(40, 1))
    draws = rng.normal(size=(2, 500, 3))
    kelvin.import_draws(draws, out="made").export("netcdf", "fit.nc")
    known = {
        "math": math, "torch": torch, "X": x, "y": np.sin(x[:, 0]), "draws": draws,
        "module": torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(9, 3)),
        "images": torch.randn(200, 1, 3, 3), "classes": torch.randint(0, 3, (200,)), "new_images": torch.randn(5, 1, 3, 3),
    }
    found = pieces("python.md")
    assert len(found) == 5
    for code in found:
        exec(compile(code, "docs/python.md", "exec"), known)
    assert known["mean"].shape == (5, 3) and (tmp_path / "runs" / "fit" / "run.json").exists()


def test_the_code_of_the_page_of_tati_runs():
    x = rng.normal(size=(40, 2))
    for code in pieces("tati.md"):
        exec(compile(code, "docs/tati.md", "exec"), {"X": x, "y": x[:, 0] * x[:, 1]})


def test_links_of_both_pages_lead_somewhere():
    for page in ("python.md", "tati.md"):
        for link in re.findall(r"\]\(([\w.]+)(?:#\w+)?\)", (DOCS / page).read_text()):
            assert (DOCS / link).exists(), f"{page}: {link}"
