# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest


def test_types_are_consistent():
    pytest.importorskip("mypy")
    root = os.path.join(os.path.dirname(__file__), "../..")
    checked = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "-p", "kelvin"], cwd=root,
                             capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_every_public_name_says_what_it_is():
    import kelvin

    for name in kelvin.__all__:
        if name not in ("__version__", "Error"):
            assert getattr(kelvin, name).__doc__, name
