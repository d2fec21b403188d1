# SPDX-License-Identifier: Apache-2.0
"""Torch modules sampled and trained by Kelvin."""
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import kelvin
import kelvin.torch
from conftest import agrees

F = torch.nn.functional


def linear_regression(rows=60, seed=0):
    """Rows of y = x.w + b + noise, and the exact posterior of (w, b) under unit noise and a flat prior."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    y = X @ [1.0, -2.0] + 0.5 + rng.normal(size=rows)
    A = np.column_stack([X, np.ones(rows)])
    covariance = np.linalg.inv(A.T @ A)
    return X, y, covariance @ A.T @ y, covariance


def half_square(outputs, targets):
    return 0.5 * ((outputs[:, 0] - targets) ** 2).mean()


def test_the_posterior_of_a_linear_module_is_exact():
    X, y, mean, covariance = linear_regression()
    module = torch.nn.Linear(2, 1).double()
    run = kelvin.torch.sample(module, half_square, (torch.tensor(X), torch.tensor(y)), steps=20000, warmup=500, every=10,
                              walkers=2, step=0.6)
    draws = np.concatenate([run.samples["weight"].reshape(2, 2000, 2), run.samples["bias"].reshape(2, 2000, 1)], axis=2)
    assert draws.dtype == np.float64
    batches = draws.reshape(40, 100, 3)
    for i in range(3):  # BAOAB samples the positions of a Gaussian exactly
        assert agrees(batches[:, :, i].mean(axis=1), mean[i])
        assert agrees(((batches[:, :, i] - mean[i]) ** 2).mean(axis=1), covariance[i, i])
        assert not agrees(((batches[:, :, i] - mean[i]) ** 2).mean(axis=1), 1.3 * covariance[i, i])  # negative control


def test_draws_give_the_outputs_of_a_native_network():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)).astype(np.float32), rng.normal(size=40).astype(np.float32)
    module = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    settings = {"steps": 30, "every": 1, "seed": 4, "batch": {"size": 8}}
    theirs = kelvin.torch.sample(module, half_square, (X, y), step=0.02, temperature=1e-3, settings=settings)
    U = kelvin.Potential({"layers": [3, 5, 1], "activation": "tanh", "loss": "gaussian", "scale": 1.0},
                         kelvin.Dataset(X, y))
    native = {"0.weight": "layer1.weight", "0.bias": "layer1.bias", "2.weight": "layer2.weight", "2.bias": "layer2.bias"}
    assert theirs.samples["0.weight"].shape == (1, 30, 5, 3)
    # U at the draws, to within float's rounding: the normal density's constant aside
    for draw in (0, 29):
        flat = U.start()
        blocks = U.named(flat)
        for name, block in native.items():
            blocks[block][...] = theirs.samples[name][0, draw]
        outputs = U.predict(flat)[:, 0]
        kelvin.torch.load(theirs, module, draw)
        assert outputs == pytest.approx(module(torch.tensor(X)).detach().numpy()[:, 0], abs=1e-5)


def test_parameters_are_the_memory_of_the_chain_while_it_moves():
    X, y, _, _ = linear_regression()
    module = torch.nn.Linear(2, 1).double()
    own = kelvin.torch.ModulePotential(module, half_square, (X, y))
    seen = []

    def shared(q, rows, g):
        U = own(q, rows, g)
        seen.append(module.weight.data_ptr() == q["weight"].ctypes.data
                    and module.weight.grad.data_ptr() == g["weight"].ctypes.data)
        return U

    potential = own.own()
    potential.function = shared
    run = kelvin.sample(potential, steps=20, precision="double", part={"all": {"step": 0.1}})
    own.take_back()
    assert len(seen) >= 20 and all(seen)
    del run
    assert torch.isfinite(module.weight).all()  # memory of its own again


def test_runs_repeat_and_walkers_differ():
    X, y, _, _ = linear_regression()

    def run_of(**more):
        torch.manual_seed(0)
        return kelvin.torch.sample(torch.nn.Linear(2, 1), half_square, (X.astype(np.float32), y.astype(np.float32)),
                                   steps=50, batch=10, **more)

    one, other = run_of(walkers=2), run_of(walkers=2)
    assert (one.samples["weight"] == other.samples["weight"]).all()
    assert (one.samples["weight"][0] != one.samples["weight"][1]).any()
    assert (run_of(seed=2).samples["weight"] != one.samples["weight"][:1]).any()


def test_running_statistics_are_kept_with_draws_and_not_sampled():
    rng = np.random.default_rng(2)
    X = torch.tensor(3 + 2 * rng.normal(size=(200, 4)), dtype=torch.float32)
    y = X.sum(dim=1)
    module = torch.nn.Sequential(torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))
    run = kelvin.torch.sample(module, half_square, (X, y), steps=400, every=100, step=0.01, batch=50)
    means = run.samples["0.running_mean"]
    assert means.shape == (1, 4, 4)
    assert means[0, -1] == pytest.approx(X.mean(dim=0).numpy(), abs=0.4)
    assert run.record["parameters"] == 4 + 4 + 4 + 1  # gains, biases, weights: statistics are none
    kelvin.torch.load(run, module, draw=1)
    assert module[0].running_mean.numpy() == pytest.approx(means[0, 1])


def test_training_and_predictions():
    rng = np.random.default_rng(5)
    X = torch.tensor(rng.normal(size=(200, 2)), dtype=torch.float32)
    y = (X[:, 0] * X[:, 1] > 0).long()
    module = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    kelvin.torch.train(module, F.cross_entropy, (X, y), steps=1500, step=0.01, batch=50)
    assert (module(X).argmax(dim=1) == y).float().mean() > 0.95
    run = kelvin.torch.sample(module, F.cross_entropy, (X, y), steps=300, every=30, step=0.02, prior="gaussian")
    before = {k: v.clone() for k, v in module.state_dict().items()}
    mean, spread = kelvin.torch.predict(run, module, X[:5], statistics=True)
    assert all((v == before[k]).all() for k, v in module.state_dict().items())  # left as it was
    by_hand = torch.stack([torch.softmax(kelvin.torch.load(run, module, draw)(X[:5]), -1).detach() for draw in range(10)])
    assert mean.numpy() == pytest.approx(by_hand.mean(dim=0).numpy(), abs=1e-6)
    assert spread.numpy() == pytest.approx(by_hand.std(dim=0, unbiased=False).numpy(), abs=1e-6)


def test_loaders_give_their_own_batches():
    X, y, mean, _ = linear_regression(rows=64)
    rows = torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(y))
    loader = torch.utils.data.DataLoader(rows, batch_size=16, shuffle=True)
    run = kelvin.torch.sample(torch.nn.Linear(2, 1).double(), half_square, loader, steps=3000, warmup=300, step=0.1)
    assert run.samples["weight"].mean(axis=(0, 1))[0] == pytest.approx(mean[:2], abs=0.15)
    assert run.record["part"]["all"]["temperature"] == pytest.approx(1 / 64)


@pytest.mark.parametrize("closed", [False, True])
def test_the_optimizer_makes_the_steps_of_the_chain(closed):
    X, y, _, _ = linear_regression()
    X, y = torch.tensor(X), torch.tensor(y)
    part = {"scheme": "BAOAB", "step": 0.1, "temperature": 0.01}

    @kelvin.potential({"group0.0": (1, 2), "group0.1": (1,)}, name="optimizer")
    def same(q, rows):
        w, b = torch.tensor(q["group0.0"], requires_grad=True), torch.tensor(q["group0.1"], requires_grad=True)
        U = half_square(X @ w.T + b, y)
        U.backward()
        return float(U.detach()), {"group0.0": w.grad.numpy(), "group0.1": b.grad.numpy()}

    module = torch.nn.Linear(2, 1).double()
    chain = kelvin.Chain(kelvin.Potential(same, precision="double"), kelvin.Recipe({"group0": part}), seed=3)
    q = chain.q
    q[:2], q[2] = module.weight.detach().numpy()[0], module.bias.detach().numpy()[0]
    optimizer = kelvin.torch.Optimizer(module.parameters(), seed=3, **part)

    def closure():
        optimizer.zero_grad()
        loss = half_square(module(X), y)
        loss.backward()
        return loss

    where = []
    for _ in range(6):
        if closed:
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
        where.append(module.weight.detach().clone().numpy()[0])
    ours = []
    for _ in range(6):
        chain.step()
        ours.append(chain.q[:2].copy())
    # Without a closure a step ends where the next gradient is wanted, which for BAOAB is where q stands at its end.
    assert np.array(where) == pytest.approx(np.array(ours), rel=1e-9)


def test_optimizers_have_groups():
    module = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Linear(4, 1))
    optimizer = kelvin.torch.Optimizer([{"params": module[0].parameters(), "scheme": "BAOAB", "temperature": 1e-3},
                                        {"params": module[1].parameters(), "scheme": "OBABO", "friction": 5.0}], step=0.05)
    X, y, _, _ = linear_regression()
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    losses = []
    for _ in range(300):
        optimizer.zero_grad()
        loss = half_square(module(X), y)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert np.mean(losses[-50:]) < 0.7 * losses[0]


def test_mistakes_are_one_sentence():
    module = torch.nn.Linear(2, 1)
    X, y = np.ones((4, 2), np.float32), np.ones(4, np.float32)
    with pytest.raises(TypeError, match="must be one number"):
        kelvin.torch.sample(module, lambda out, y: (out[:, 0] - y) ** 2, (X, y), steps=3)
    with pytest.raises(kelvin.Error, match="4 rows of inputs and 3"):
        kelvin.torch.sample(module, half_square, (X, y[:3]), steps=3)
    for p in module.parameters():
        p.requires_grad_(False)
    with pytest.raises(kelvin.Error, match="nothing to sample"):
        kelvin.torch.sample(module, half_square, (X, y), steps=3)
    mixed = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1).double())
    with pytest.raises(kelvin.Error, match="all float32 or all float64"):
        kelvin.torch.sample(mixed, half_square, (X, y), steps=3)
