# SPDX-License-Identifier: Apache-2.0
"""Chains moved step by step, potentials evaluated, and functions of one's own."""
import math
import threading

import numpy as np
import pytest

import kelvin
from conftest import agrees, in_a_process

PART = {"scheme": "BAOAB", "step": 0.1, "temperature": 1.0}


def test_a_chain_has_the_bytes_of_the_run(gap):
    run = kelvin.sample(gap)
    for walker in (0, 1):
        chain = kelvin.Chain.of(gap, walker=walker)
        chain.step(200)
        for draw in range(3):
            chain.step(10)
            for name, block in chain.named().items():
                assert (block == run.samples[name][walker, draw]).all()


def test_q_and_p_are_the_memory_of_the_chain(gap):
    chain = kelvin.Chain(kelvin.Potential.toy("gaussian"), PART)
    q, p = chain.q, chain.p
    assert np.shares_memory(q, chain.q) and np.shares_memory(p, chain.p) and not np.shares_memory(q, p)
    before = q.copy()
    chain.step(5)
    assert (q != before).all() and np.shares_memory(q, chain.q)
    one, other = (kelvin.Chain(kelvin.Potential.toy("gaussian"), PART) for _ in range(2))
    one.step(3)
    other.step(3)
    one.q[:] = 2.0  # what is written counts
    other.q[:] = 2.0
    one.step()
    other.step()
    assert (one.q == other.q).all() and one.energy == other.energy
    assert one.gradient() == pytest.approx(kelvin.Potential.toy("gaussian")(one.q)[1])


def test_memory_stays_flat():
    grown = in_a_process("""
        import resource, kelvin
        chain = kelvin.Chain(kelvin.Potential.toy("gaussian"), {"scheme": "BAOAB", "step": 0.1, "temperature": 1.0})
        def calls(n):
            for _ in range(n):
                chain.step()
                chain.q, chain.p, chain.energy, chain.gradient()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        first = calls(20000)
        print(calls(100000) - first)
    """)
    assert int(grown) < 512  # kB


def test_potentials_have_the_gradient_of_their_energy():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    U = kelvin.Potential({"layers": [2, 4, 1], "activation": "tanh", "loss": "gaussian", "scale": 0.5, "prior": "gaussian"},
                         kelvin.Dataset(X, y, standardise="both"), precision="double")
    assert U.rows == 30 and U.size == 17
    q = U.start() + 0.1 * rng.normal(size=U.size)
    _, g = U(q)
    for i in range(U.size):
        e = np.zeros(U.size)
        e[i] = 1e-5
        assert (U(q + e)[0] - U(q - e)[0]) / 2e-5 == pytest.approx(g[i], rel=1e-6, abs=1e-9)
    halves = [U(q, rows=list(range(15))), U(q, rows=list(range(15, 30)))]
    assert (halves[0][0] + halves[1][0]) / 2 == pytest.approx(U(q)[0], rel=1e-12)
    H = U.hessian(q)
    assert H == pytest.approx(H.T) and H.shape == (17, 17)
    assert set(U.score(q)) == {"loss", "rmse"}
    assert U.predict(q).shape == (30, 1)


def springs_of(k):
    @kelvin.potential({"w": (3, 2), "b": ()}, name="springs")
    def springs(q, rows):
        U = 0.5 * (k * q["w"] ** 2).sum() + 2 * float(q["b"][0] ** 2)
        return U, {"w": k * q["w"], "b": 4 * q["b"]}

    return springs


def test_own_potentials_are_sampled_by_their_law():
    k = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    run = kelvin.sample(springs_of(k), walkers=4, steps=20000, every=10, warmup=200,
                        part={"all": {"scheme": "BAOAB", "step": 0.4, "temperature": 0.5}})
    assert run.samples["w"].shape == (4, 2000, 3, 2) and run.samples["b"].shape == (4, 2000, 1)
    w = run.samples["w"].astype(float)
    batches = (w**2).reshape(4, 20, 100, 3, 2).mean(axis=2).reshape(80, 3, 2)
    for i in range(3):
        for j in range(2):  # BAOAB has exactly the right positions of a Gaussian
            assert agrees(batches[:, i, j], 0.5 / k[i, j])
            assert not agrees(batches[:, i, j], 1.2 * 0.5 / k[i, j])  # negative control
    assert run.diagnose().words


def test_gradients_may_be_written_in_place():
    k = 3.0

    @kelvin.potential({"x": 4})
    def written(q, rows, g):
        g["x"][...] = k * q["x"]
        return k / 2 * (q["x"] ** 2).sum()

    @kelvin.potential({"x": 4}, name="written")
    def returned(q, rows):
        return k / 2 * (q["x"] ** 2).sum(), {"x": k * q["x"]}

    part = {"all": {"step": 0.3, "temperature": 1.0}}
    runs = [kelvin.sample(f, steps=300, part=part) for f in (written, returned)]
    assert (runs[0].samples["x"] == runs[1].samples["x"]).all()


def test_own_potentials_have_rows_and_minibatches():
    rng = np.random.default_rng(3)
    y = rng.normal(loc=1.5, size=40)
    seen = []

    @kelvin.potential({"mean": 1}, rows=40)
    def located(q, rows):
        some = y if rows is None else y[rows]
        seen.append(None if rows is None else len(rows))
        return 0.5 * ((q["mean"][0] - some) ** 2).mean(), {"mean": np.array([q["mean"][0] - some.mean()])}

    run = kelvin.sample(located, steps=2000, walkers=2, batch={"size": 10}, part={"all": {"step": 0.05}})
    assert set(seen) <= {10, None} and 10 in seen
    assert run.record["part"]["all"]["temperature"] == pytest.approx(1 / 40)  # of the posterior
    assert abs(run.samples["mean"].mean() - y.mean()) < 0.2


def test_own_potentials_resume_bit_for_bit(tmp_path):
    k = np.ones((3, 2))
    settings = {"steps": 600, "walkers": 2, "every": 3, "part": {"all": {"step": 0.2, "temperature": 1.0}}}
    whole = kelvin.sample(settings, potential=springs_of(k))
    begun = kelvin.sample(settings, potential=springs_of(k), steps=300, out=tmp_path / "begun")
    begun.resume(steps=300)
    assert (begun.samples["w"] == whole.samples["w"]).all()
    again = kelvin.open(tmp_path / "begun")
    with pytest.raises(kelvin.Error, match="springs"):
        again.resume(steps=10)


@kelvin.letter("Q", moves="p", normals=1, forgets="at infinite friction")
def bath(part, h, z):
    keep = math.exp(-part.gamma * h)
    part.p *= keep
    part.p += math.sqrt(part.m * part.T * (1 - keep**2)) * z


def test_own_letters_do_what_those_of_the_table_do():
    part = {"step": 0.3, "temperature": 1.0, "friction": 2.0}
    toy = {"steps": 500, "walkers": 2, "model": {"toy": "gaussian"}}
    ours = kelvin.sample(toy, letters=[bath], part={"all": {**part, "scheme": "BAQAB"}})
    theirs = kelvin.sample(toy, part={"all": {**part, "scheme": "BAOAB"}})
    for name in theirs.samples:
        assert ours.samples[name] == pytest.approx(theirs.samples[name], rel=1e-9, abs=1e-12)


def test_orders_of_schemes_are_measured():
    assert kelvin.check_order("BAOAB").exact
    own = kelvin.check_order("BAQAB", letters=[bath])
    assert own.exact
    second = kelvin.check_order("OBABO")
    assert not second.exact and second.order == pytest.approx(2, abs=0.35)


def test_faults_of_functions_are_one_exception_each(tmp_path):
    def run_of(function, **more):
        made = kelvin.potential({"x": 2}, name="faulty")(function)
        return kelvin.sample(made, steps=100, part={"all": {"step": 0.1, "temperature": 1.0}}, **more)

    with pytest.raises(TypeError, match='potential "faulty" must return U as one number'):
        run_of(lambda q, rows: ("no", {"x": q["x"]}))
    with pytest.raises(TypeError, match="must return U and its gradient"):
        run_of(lambda q, rows: 1.0)
    with pytest.raises(ValueError, match="shape"):
        run_of(lambda q, rows: (1.0, {"x": np.ones(3)}))
    with pytest.raises(KeyError, match='no gradient of \\\\?"x'):
        run_of(lambda q, rows: (1.0, {}))
    with pytest.raises(kelvin.Error, match="nan|finite|diverged"):
        run_of(lambda q, rows: (math.nan, {"x": q["x"] * math.nan}), out=tmp_path / "nan")
    with pytest.raises(RuntimeError, match="my own"):
        def raises(q, rows):
            raise RuntimeError("my own")
        run_of(raises)
    with pytest.raises(kelvin.Error, match=r"must be a function of"):
        kelvin.potential({"x": 2})(lambda: 1)
    with pytest.raises(kelvin.Error, match="one character"):
        kelvin.sample({"model": {"toy": "gaussian"}}, letters=[kelvin.letter("QQ", moves="p")(lambda s, h, z: None)])
    with pytest.raises(kelvin.Error, match='moves must be'):
        kelvin.sample({"model": {"toy": "gaussian"}}, letters=[kelvin.letter("Q", moves="x")(lambda s, h, z: None)])


def test_arrays_of_own_functions_may_be_kept():
    kept = []

    @kelvin.potential({"x": 1000})
    def keeps(q, rows):
        kept.append(q["x"])
        return 0.5 * (q["x"] ** 2).sum(), {"x": q["x"].copy()}

    run = kelvin.sample(keeps, steps=50, part={"all": {"step": 0.1, "temperature": 1.0}})
    del run
    assert np.isfinite(sum(x.sum() for x in kept))


def test_one_chain_is_of_one_thread():
    chain = kelvin.Chain(kelvin.Potential.toy("gaussian"), PART)
    errors = []

    def steps():
        try:
            for _ in range(200):
                chain.step(2000)
        except kelvin.Error as error:
            errors.append(str(error))

    threads = [threading.Thread(target=steps) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors and all("another thread" in error for error in errors)


def test_sizes_are_told():
    U = kelvin.Potential.toy("gaussian")
    with pytest.raises(kelvin.Error, match="numbers"):
        U(np.zeros(U.size + 1))
    with pytest.raises(kelvin.Error, match="row"):
        kelvin.Potential({"layers": [1, 2, 1]}, kelvin.Dataset(np.ones((3, 1)), np.ones(3)))(np.zeros(7), rows=[5])
