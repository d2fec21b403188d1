# SPDX-License-Identifier: Apache-2.0
"""Draws of other programs: what is found in them is what is found in a run that has the same."""
import numpy as np
import pytest

import kelvin

TURNED = {"steps": 8000, "warmup": 500, "every": 2, "walkers": 2,
          "model": {"toy": {"name": "gaussian", "covariance": [2.5, 1.5, 1.5, 2.5], "mean": [3.0]}},
          "part": {"all": {"temperature": 1.0, "step": 0.5}}}


@pytest.fixture(scope="module")
def turned():
    return kelvin.sample(TURNED, progress=False)


def same(one, other):
    assert len(one) == len(other) > 0
    for a, b in zip(one, other):
        assert a.keys() == b.keys()
        for name, x in a.items():
            assert b[name] == (pytest.approx(x, rel=1e-9, abs=1e-12) if isinstance(x, float) else x), name


def forms(run):
    import arviz
    import xarray

    yield run.samples.flat()
    yield dict(run.samples)
    yield run.to_xarray()
    yield run.to_xarray().transpose("q_row", "draw", "chain")
    yield run.to_arviz()
    yield xarray.DataTree.from_dict({"/posterior": run.to_xarray(), "/sample_stats": run.statistics.to_xarray()})
    assert arviz.__version__


def test_every_form_of_draws_is_analysed_alike(turned):
    covariance = turned.analyse("covariance").table
    slow = turned.analyse("diffusion_map", points=200).table
    well = turned.analyse("free_energy", coordinate="q[0]", bins=20).table
    summary = [row for row in kelvin.analyse(turned, "summary").table if row["quantity"].startswith("q")]
    count = 0
    for draws in forms(turned):
        same(covariance, kelvin.analyse(draws, "covariance").table)
        same(slow, kelvin.analyse(draws, "diffusion_map", points=200).table)
        name = "x[0]" if isinstance(draws, np.ndarray) else "q[0]"
        same(well, kelvin.analyse(draws, "free_energy", coordinate=name, bins=20, temperature=1.0).table)
        rows = [{**row, "quantity": row["quantity"].replace("x", "q")}
                for row in kelvin.analyse(draws, "summary").table if row["quantity"][0] in "qx"]
        same(summary, rows)
        count += 1
    assert count == 6
    other = kelvin.sample(TURNED, seed=2, progress=False)  # negative control
    assert kelvin.analyse(other.samples.flat(), "covariance").table != covariance


def test_files_of_exports_are_analysed_alike(turned, tmp_path):
    times = turned.analyse("autocorrelation", quantities=["potential", "q?0?"]).table
    for format, file in (("netcdf", "draws.nc"), ("csv", "draws.csv")):
        turned.export(format, tmp_path / file)
        same(times, kelvin.analyse(tmp_path / file, "autocorrelation", quantities=["potential", "q?0?"]).table)
    files = turned.export("stan-csv", tmp_path / "stan.csv")
    run = kelvin.import_draws(files, out=tmp_path / "kept")
    assert run.samples["q"] == pytest.approx(turned.samples["q"], rel=1e-7)
    assert run.statistics["lp"] == pytest.approx(turned.statistics["lp"], rel=1e-7)
    assert kelvin.open(tmp_path / "kept").samples.chains == 2


def test_a_diagnosis_says_what_it_cannot_judge(turned):
    known = kelvin.analyse(turned.to_arviz(), "diagnose")
    assert known.healthy and "as far as can be judged" in known.words[0]
    assert any('check "step" cannot be made' in word for word in known.words)
    assert not any("without energy" in word for word in known.words)
    alone = kelvin.analyse(turned.samples.flat(), "diagnose")
    assert any('check "drift" cannot be made: these draws come without energy' in word for word in alone.words)
    rows = {row["check"]: row["verdict"] for row in alone.tables["Checks"]}
    assert rows["agreement"] == rows["length"] == "fine"
    apart = turned.samples.flat() + np.array([0.0, 9.0]).reshape(2, 1, 1)
    assert any("disagree" in word for word in kelvin.analyse(apart, "diagnose").words)


def test_statistics_may_be_given_with_the_draws(turned):
    run = kelvin.import_draws(turned.samples.flat(), statistics={"lp": turned.statistics["lp"]})
    assert run.statistics["potential"] == pytest.approx(turned.statistics["potential"])
    row = {r["quantity"]: r for r in kelvin.analyse(run, "summary").table}["potential"]
    assert row["mean"] == pytest.approx(turned.statistics["potential"].mean())
    assert (run.statistics["step"] == np.arange(1, 4001)).all()  # draws are counted, in each chain
    assert run.samples.dimensions("x") == ["chain", "draw", "x_0"]
    assert run.now["state"] == "finished"


def test_a_temporary_import_goes_with_its_object(turned):
    run = kelvin.import_draws(turned.samples.flat())
    path = run.path
    assert path.exists()
    del run
    assert not path.exists()


def test_mistakes_are_one_sentence(turned, tmp_path):
    with pytest.raises(ValueError, match="need the dimensions chain, draw"):
        kelvin.analyse(np.ones(5), "covariance")
    with pytest.raises(TypeError, match="draws are an array, a dict of arrays"):
        kelvin.analyse(object(), "covariance")
    with pytest.raises(TypeError, match="must be numbers"):
        kelvin.analyse({"x": np.array([["a", "b"]])}, "covariance")
    with pytest.raises(kelvin.Error, match='array "b" has 3 draws of 2 chains where others have 2 of 3'):
        kelvin.analyse({"a": np.ones((3, 2)), "b": np.ones((2, 3))}, "covariance")
    with pytest.raises(kelvin.Error, match="holds draws alone; predict needs a run"):
        kelvin.import_draws(turned.samples.flat()).predict()
    with pytest.raises(kelvin.Error, match="no analysis"):
        kelvin.analyse(turned.samples.flat(), "nosuch")
    with pytest.raises(kelvin.Error, match="tells no temperature"):
        kelvin.analyse(turned.samples.flat(), "free_energy", coordinate="x[0]")
    with pytest.raises(kelvin.Error, match="is no file of draws"):
        kelvin.import_draws(tmp_path / "draws.txt")
    with pytest.raises(kelvin.Error, match="holds no draws"):
        kelvin.import_draws({})


def test_many_parameters_are_judged_by_some_of_them():
    draws = np.random.default_rng(1).normal(size=(2, 300, 2500))
    found = kelvin.analyse(draws, "diagnose")
    judged = [row["quantity"] for row in found.tables["Convergence"]]
    assert judged[:2] == ["x[0]", "x[3]"] and len(judged) == 834
    draws[1] += 3.0
    assert any("disagree" in word for word in kelvin.analyse(draws, "diagnose").words)
