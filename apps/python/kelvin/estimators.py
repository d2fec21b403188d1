# SPDX-License-Identifier: Apache-2.0
"""Estimators with scikit-learn's conventions."""

from __future__ import annotations

import io
import zipfile
from typing import Any, Mapping, Sequence

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError("kelvin.Regressor and kelvin.Classifier need scikit-learn; install the package scikit-learn") from None

from .run import Predictions, Run, Scratch, sample, train


class _Network(BaseEstimator):  # type: ignore[misc]
    """What regressors and classifiers share: a network that is trained, then sampled from there by several walkers."""

    run_: Run

    def __init__(self, hidden: Sequence[int] = (50,), *, activation: str = "tanh", scheme: str = "BAOAB", step: float = 0.03,
                 steps: int = 4000, warmup: int = 1000, draws: int = 100, walkers: int = 4, training_steps: int = 2000,
                 batch: int = 100, prior_scale: float = 1.0, settings: Mapping[str, Any] | None = None,
                 random_state: Any = None, threads: int | None = None) -> None:
        self.hidden = hidden
        self.activation = activation
        self.scheme = scheme
        self.step = step
        self.steps = steps
        self.warmup = warmup
        self.draws = draws
        self.walkers = walkers
        self.training_steps = training_steps
        self.batch = batch
        self.prior_scale = prior_scale
        self.settings = settings
        self.random_state = random_state
        self.threads = threads

    def _model(self, inputs: int, targets: int) -> dict[str, Any]:
        raise NotImplementedError

    def _fit(self, X: np.ndarray, y: np.ndarray, outputs: int) -> None:
        from sklearn.utils import check_random_state

        random = self.random_state
        seed = int(random) if isinstance(random, (int, np.integer)) else int(check_random_state(random).randint(2**31))
        model = self._model(X.shape[1], outputs)
        common = {
            "seed": seed, "walkers": self.walkers, "model": model,
            "data": {"standardise": self._standardised, "targets_are": self._targets_are},
            "batch": {"size": min(self.batch, len(X)) if len(X) > 2 * self.batch else "full"},
        }
        trained = train(common, data=(X, y), steps=self.training_steps, progress=False, threads=self.threads,
                        part={"all": {"scheme": "adam", "step": 0.01}})
        settings = {
            **common, "from": str(trained.path), "steps": self.steps, "warmup": self.warmup,
            "every": max(1, self.steps // self.draws), "part": {"all": {"scheme": self.scheme, "step": self.step}},
        }
        self.run_ = sample(settings, data=(X, y), progress=False, threads=self.threads, **(self.settings or {}))
        self.n_iter_ = self.training_steps + self.warmup + self.steps

    def _predicted(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Predictions:
        check_is_fitted(self, "run_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self.run_.predict(X, quantiles=quantiles, threads=self.threads)

    def diagnose(self) -> Any:
        """What is wrong with the run behind this estimator, and what to change."""
        check_is_fitted(self, "run_")
        return self.run_.diagnose()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "run_" in state:
            state = {**state, "run_": _packed(state["run_"])}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "run_" in state:
            state = {**state, "run_": _unpacked(state["run_"])}
        super().__setstate__(state)


def _packed(run: Run) -> bytes:
    """A run's directory as the bytes of an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for file in sorted(run.path.rglob("*")):
            if file.is_file() and file.name != "lock":
                archive.write(file, file.relative_to(run.path))
    return out.getvalue()


def _unpacked(packed: bytes) -> Run:
    scratch = Scratch()
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(scratch.path)
    return Run(scratch.path, scratch=scratch)


class Regressor(RegressorMixin, _Network):  # type: ignore[misc]
    """Regression with honest uncertainty: a network's posterior under Gaussian noise whose width is learned.

    ``predict(X, return_std=True)`` gives the standard deviation of the predictive distribution, noise included;
    ``predict_quantiles`` its quantiles. ``settings`` are any settings of a run file, which replace those made here.
    ``run_`` is the run, ``diagnose()`` its verdict.
    """

    _standardised, _targets_are = "both", "numbers"

    def _model(self, inputs: int, targets: int) -> dict[str, Any]:
        return {"layers": [inputs, *self.hidden, targets], "activation": self.activation, "loss": "gaussian",
                "prior": {"name": "gaussian", "scale": self.prior_scale}}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Regressor:
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2)
        y = np.asarray(y, float)
        self._fit(X, y, 1 if y.ndim == 1 else y.shape[1])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        found = self._predicted(X)
        return (found.mean, found.sd) if return_std else found.mean

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the predictive distribution, rows x levels."""
        return self._predicted(X, quantiles).quantiles


class Classifier(ClassifierMixin, _Network):  # type: ignore[misc]
    """Classification by probabilities averaged over a network's posterior.

    ``predict_proba`` gives those; the run behind it is ``run_``, and ``diagnose()`` its verdict.
    """

    _standardised, _targets_are = "inputs", "classes"

    def _model(self, inputs: int, targets: int) -> dict[str, Any]:
        return {"layers": [inputs, *self.hidden, targets], "activation": self.activation, "loss": "softmax_cross_entropy",
                "prior": {"name": "gaussian", "scale": self.prior_scale}}

    def fit(self, X: Any, y: Any) -> Classifier:
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds one class only, {self.classes_[0]!r}; a classifier needs at least two")
        self._fit(X, numbers, len(self.classes_))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self._predicted(X).mean

    def predict(self, X: Any) -> np.ndarray:
        chosen = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_)[chosen]
