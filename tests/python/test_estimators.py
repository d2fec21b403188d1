# SPDX-License-Identifier: Apache-2.0
"""Estimators: scikit-learn's conventions, and predictions that are better than chance and know it."""
import pickle
import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
import kelvin
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

QUICK = {"hidden": (8,), "steps": 400, "warmup": 100, "draws": 20, "walkers": 2, "training_steps": 300, "random_state": 0,
         "threads": 1}


def curve(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(rows, 1))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=rows)


def test_regression_knows_its_uncertainty():
    X, y = curve(400)
    model = kelvin.Regressor(random_state=1, steps=4000).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.85
    mean, sd = model.predict(X[300:], return_std=True)
    inside = np.abs(y[300:] - mean) < 1.645 * sd
    assert 0.78 < inside.mean() <= 1.0  # 90 % of 100 rows, 4 standard errors
    assert 0.15 < np.median(sd) < 0.35
    far = model.predict(np.array([[6.0]]), return_std=True)[1]
    assert far[0] > 1.2 * np.median(sd)
    bands = model.predict_quantiles(X[300:], [0.1, 0.5, 0.9])
    assert bands.shape == (100, 3) and (np.diff(bands, axis=1) > 0).all()
    assert model.diagnose().words


def test_classification_keeps_the_names_of_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = kelvin.Classifier(random_state=1).fit(X, names)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]
    p = model.predict_proba(X)
    assert p.shape == (150, 3) and p.sum(axis=1) == pytest.approx(np.ones(150), abs=1e-6)
    assert model.score(X, names) > 0.93


def test_they_work_where_estimators_do():
    X, y = curve()
    model = kelvin.Regressor(**QUICK)
    assert clone(model).get_params() == model.get_params()
    assert len(cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3)) == 3
    search = GridSearchCV(model, {"hidden": [(4,), (8,)]}, cv=2).fit(X, y)
    assert search.best_params_["hidden"] in [(4,), (8,)]
    fitted = model.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(X) == fitted.predict(X)).all()
    assert (kelvin.Regressor(**QUICK).fit(X, y).predict(X) == fitted.predict(X)).all()
    assert (kelvin.Regressor(**{**QUICK, "random_state": 1}).fit(X, y).predict(X) != fitted.predict(X)).any()


# What Kelvin's estimators do not do, by design.
DEVIATIONS: dict[str, str] = {}


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_scikit_learn_finds_no_fault(kind):
    from sklearn.utils.estimator_checks import check_estimator

    quick = {**QUICK, "steps": 100, "warmup": 50, "draws": 10, "training_steps": 200}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(getattr(kelvin, kind)(**quick), on_fail=None, on_skip=None)
    failed = [r["check_name"] for r in results if r["status"] == "failed" and r["check_name"] not in DEVIATIONS]
    assert not failed, {r["check_name"]: str(r["exception"])[:300] for r in results if r["check_name"] in failed}
