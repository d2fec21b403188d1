# SPDX-License-Identifier: Apache-2.0
"""Kelvin trains networks and samples their Bayesian posteriors with stochastic dynamics from statistical physics.

::

    import kelvin
    run = kelvin.sample({"model": {"layers": [1, 40, 1], "activation": "tanh", "loss": "gaussian"},
                         "part": {"all": {"scheme": "BAOAB", "step": 0.01}}}, data=(X, y), steps=20000, walkers=4)
    print(run.diagnose())
    run.predict(X_new).mean
"""

from importlib import import_module as _import_module
from typing import Any

from ._kelvin import Error, name_of_tati as _name_of_tati, version as __version__
from .draws import analyse, import_draws
from .finding import Diagnosis, Finding
from .own import Letter, Order, OwnPotential, check_order, letter, potential
from .run import Predictions, Run, analyses, analyse_runs, certify, compare, open, resume, sample, start, train
from .samples import Samples
from .simulation import Simulated, Simulation
from .step import Chain, Dataset, Potential, Recipe

__all__ = [
    "Chain", "Dataset", "Diagnosis", "Error", "Finding", "Letter", "Order", "OwnPotential", "Potential", "Predictions",
    "Recipe", "Run", "Samples", "Simulated", "Simulation", "__version__",
    "analyse", "analyse_runs", "analyses", "certify", "check_order", "compare",
    "import_draws", "letter", "open", "potential", "resume", "sample", "start", "train",
]


def __getattr__(name: str) -> Any:
    """Estimators need scikit-learn, and kelvin.torch and kelvin.jax their libraries: they are loaded when asked for."""
    if name in ("Regressor", "Classifier"):
        return getattr(_import_module(".estimators", __name__), name)
    if name in ("torch", "jax"):
        return _import_module(f".{name}", __name__)
    known = _name_of_tati(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}" + (f"; {known}" if known else ""))
