# SPDX-License-Identifier: Apache-2.0
"""Every example runs, in a directory of its own and with warnings as errors, and finds what it says."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"


def told(name, scratch):
    environment = {**os.environ, "MPLCONFIGDIR": str(scratch / "matplotlib")}
    done = subprocess.run([sys.executable, "-W", "error", EXAMPLES / name], cwd=scratch, capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(pattern, text):
    found = re.search(pattern, text)
    assert found, f"{pattern} is not in\n{text}"
    return [float(x) for x in found.groups()]


def test_every_example_is_tested():
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == [
        "own_letter.py", "quasi_newton.py", "regression.py", "torch_conv.py", "xarray_plot.py"]


def test_regression_is_uncertain_where_there_are_no_rows(tmp_path):
    text = told("regression.py", tmp_path)
    inside, gap = numbers(r"are rows: ([\d.]+), in the gap: ([\d.]+)", text)
    assert 0.3 < inside < 0.45  # 2 x 1.645 x 0.1 of noise, and a little of not knowing
    assert gap > 1.7 * inside
    assert (tmp_path / "regression.png").stat().st_size > 5000


def test_an_own_letter_has_the_order_of_its_equation(tmp_path):
    text = told("own_letter.py", tmp_path)
    for scheme in ("BAOAB", "BAKAB"):
        assert f"{scheme}: exact to within its errors" in text
    for scheme in ("OBABO", "KBABK"):
        assert abs(numbers(rf"{scheme}: order ([\d.]+)", text)[0] - 2) < 0.4
    assert abs(numbers(r"BAEAB: order ([\d.]+)", text)[0] - 1) < 0.4
    assert abs(numbers(r"<q\^2> = ([\d.]+)", text)[0] - 0.5) < 0.05


def test_quasi_newton_makes_slow_directions_fast(tmp_path):
    text = told("quasi_newton.py", tmp_path)
    # 40 steps without it; the law of Wishart covariances of 7 others at blending 100 gives about 1.3.
    plain = numbers(r"blending +0: a new draw every +([\d.]+) steps.*?, ([\d.]+) in.*variances ([\d.]+) and ([\d.]+)", text)
    coupled = numbers(r"blending +100: a new draw every +([\d.]+) steps.*?, ([\d.]+) in.*variances ([\d.]+) and ([\d.]+)", text)
    assert 28 < plain[0] < 56
    assert coupled[0] < plain[0] / 10
    for variances in (plain[2:], coupled[2:]):
        assert abs(variances[0] - 1) < 0.25 and abs(variances[1] - 0.01) < 0.001


def test_a_run_is_read_in_xarray(tmp_path):
    text = told("xarray_plot.py", tmp_path)
    assert all(abs(x - 2.5) < 0.35 for x in numbers(r"variances: \[([\d.]+), ([\d.]+)\] exact", text))
    assert (tmp_path / "xarray_plot.png").stat().st_size > 5000


def test_a_network_in_torch_gains_by_averaging(tmp_path):
    pytest.importorskip("torch")
    text = told("torch_conv.py", tmp_path)
    point, mean = (numbers(rf"{name}: ([\d.]+) % right, log loss ([\d.]+)", text)
                   for name in ("the trained network", "averaged over draws"))
    assert mean[0] > 80 and mean[1] < point[1]
