# SPDX-License-Identifier: Apache-2.0
"""JAX functions sampled and minimised by Kelvin."""
import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
import kelvin
import kelvin.jax
from conftest import agrees


def test_a_log_density_of_a_pytree_is_sampled():
    scales = {"a": jnp.array([1.0, 2.0]), "b": {"c": jnp.array(0.5)}}

    def energy(params):
        return 0.5 * (((params["a"] / scales["a"]) ** 2).sum() + (params["b"]["c"] / scales["b"]["c"]) ** 2)

    start = jax.tree_util.tree_map(jnp.zeros_like, scales)
    run = kelvin.jax.sample(energy, start, steps=40000, warmup=500, every=20, walkers=2, step=0.6)
    assert run.samples["a"].shape == (2, 2000, 2) and run.samples["b.c"].shape == (2, 2000, 1)
    draws = kelvin.jax.draws(run, start)
    assert draws["a"].shape == (2, 2000, 2) and draws["b"]["c"].shape == (2, 2000)
    for values, scale in ((draws["a"][..., 0], 1.0), (draws["a"][..., 1], 2.0), (draws["b"]["c"], 0.5)):
        batches = (np.asarray(values, float) ** 2).reshape(40, 100).mean(axis=1)
        assert agrees(batches, scale**2)
        assert not agrees(batches, 1.3 * scale**2)  # negative control


def test_rows_are_the_minibatches_of_the_seed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)).astype(np.float32), rng.normal(size=50).astype(np.float32)

    def loss(params, rows):
        x, targets = rows
        return 0.5 * ((x @ params["w"] - targets) ** 2).mean()

    start = {"w": np.zeros(2, np.float32)}
    runs = [kelvin.jax.sample(loss, start, (X, y), steps=40, every=1, batch=8, step=0.05) for _ in range(2)]
    assert (runs[0].samples["w"] == runs[1].samples["w"]).all()

    @kelvin.potential({"w": 2}, rows=50, name="loss")
    def by_hand(q, rows):
        rows = slice(None) if rows is None else rows
        residual = X[rows] @ q["w"] - y[rows]
        return 0.5 * (residual**2).mean(), {"w": X[rows].T @ residual / len(residual)}

    ours = kelvin.sample(by_hand, steps=40, every=1, precision="float", batch={"size": 8},
                         part={"all": {"step": 0.05, "temperature": "posterior"}})
    assert ours.samples["w"] == pytest.approx(runs[0].samples["w"], abs=1e-5)


def test_training_minimises():
    target = jnp.array([1.0, -2.0, 3.0])
    run = kelvin.jax.train(lambda q: ((q["x"] - target) ** 2).sum(), {"x": np.zeros(3, np.float32)}, steps=2000, step=0.05)
    assert run.samples["x"][0, -1] == pytest.approx(np.asarray(target), abs=1e-3)


def test_mistakes_are_one_sentence():
    with pytest.raises(kelvin.Error, match="all float32 or all float64"):
        kelvin.jax.sample(lambda q: 0.0, {"n": np.arange(3)}, steps=3)
    with pytest.raises(kelvin.Error, match="equally many"):
        kelvin.jax.sample(lambda q, rows: 0.0, {"x": np.zeros(2, np.float32)}, (np.zeros(3), np.zeros(4)), steps=3)
