# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

GAP = {
    "steps": 2000, "warmup": 200, "every": 10, "walkers": 2,
    "data": {"generator": {"name": "gap", "rows": 40}},
    "model": {"layers": [1, 8, 1], "activation": "tanh", "loss": "gaussian", "scale": 0.1, "prior": "gaussian"},
    "part": {"all": {"scheme": "BAOAB", "step": 0.03}},
}


@pytest.fixture
def gap():
    return GAP


@pytest.fixture
def program():
    """The command line, as a function of its words; returns what it prints."""
    binary = os.environ.get("KELVIN", os.path.join(os.path.dirname(__file__), "../../build/kelvin"))

    def call(*words, code=0):
        done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout

    return call


def in_a_process(script):
    """What a script of its own prints: without the threads and the memory of the others."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(script)], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def agrees(values, exact, errors=4.0):
    """Whether the mean of independent values is exact to within so many of its standard errors."""
    values = np.asarray(values, float)
    return abs(values.mean() - exact) < errors * values.std(ddof=1) / np.sqrt(len(values))
