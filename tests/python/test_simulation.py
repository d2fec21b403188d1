# SPDX-License-Identifier: Apache-2.0
"""What TATi's simulation offered, and TATi's names answered by ours."""
import re
from pathlib import Path

import numpy as np
import pytest

import kelvin
from conftest import agrees

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 2))
y = np.tanh(X[:, 0]) - 0.5 * X[:, 1]
NETWORK = {"model": {"layers": [2, 3, 1], "activation": "tanh", "loss": "mean_squared"},
           "part": {"all": {"scheme": "BAOAB", "step": 0.05, "temperature": 0.001}}}


@pytest.fixture
def nn():
    return kelvin.Simulation(NETWORK, data=(X, y), walkers=2)


def outputs(nn, walker, inputs):
    q = nn.named(walker)
    hidden = np.tanh(inputs @ q["layer1.weight"].T + q["layer1.bias"])
    return hidden @ q["layer2.weight"].T + q["layer2.bias"]


def test_loss_gradients_and_hessians_have_the_order_of_the_parameters(nn):
    assert nn.num_parameters() == 13 and nn.num_walkers() == 2 and len(nn.parameters) == 2
    nn.parameters[1] = rng.normal(size=13)
    assert nn.loss(1) == pytest.approx(((outputs(nn, 1, X)[:, 0] - y) ** 2).mean(), rel=1e-12)
    q, g, H = nn.parameters[1].copy(), nn.gradients(1), nn.hessians(1)
    assert H.shape == (13, 13)
    for i in range(13):
        for sign in (1, -1):
            nn.parameters[1] = q + sign * 1e-5 * np.eye(13)[i]
            if sign == 1:
                up, slope_up = nn.loss(1), nn.gradients(1)
            else:
                down, slope_down = nn.loss(1), nn.gradients(1)
        assert (up - down) / 2e-5 == pytest.approx(g[i], rel=1e-6, abs=1e-9)
        assert (slope_up - slope_down) / 2e-5 == pytest.approx(H[i], rel=1e-4, abs=1e-7)
    nn.parameters[1] = q
    assert nn.score(1)["rmse"] == pytest.approx(np.sqrt(nn.loss(1)), rel=1e-9)
    new = rng.normal(size=(4, 2))
    assert nn.predict(new, 1) == pytest.approx(outputs(nn, 1, new), rel=1e-12)


def test_priors_are_part_of_the_loss():
    nn = kelvin.Simulation(NETWORK, data=(X, y))
    with_prior = kelvin.Simulation(NETWORK, data=(X, y), **{"part.all.prior": {"name": "gaussian", "scale": 2.0}})
    q = rng.normal(size=13)
    nn.parameters = q
    with_prior.parameters = q
    assert with_prior.loss() - nn.loss() == pytest.approx(q @ q / (2 * 2.0**2) / 60, rel=1e-9)


def test_parameters_are_set_for_all_or_one(nn):
    nn.parameters = np.arange(13.0)
    assert (nn.parameters[0] == nn.parameters[1]).all()
    nn.parameters[0] += 1
    assert nn.parameters[0][0] == 1 and nn.parameters[1][0] == 0
    nn.parameters = np.stack([np.zeros(13), np.ones(13)])
    assert nn.parameters[1].sum() == 13
    with pytest.raises(kelvin.Error, match="there are 13 parameters, and 3 numbers"):
        nn.parameters[0] = [1, 2, 3]
    with pytest.raises(kelvin.Error, match="there are 2 walkers"):
        nn.parameters = np.ones((3, 13))


def test_momenta_have_the_variance_of_their_temperature(nn):
    assert not nn.momenta[0].any()
    squares = []
    for seed in range(300):
        nn.init_momenta(0.25, seed)  # a factor of beta in place of its root would give 16
        squares += [np.mean(p**2) for p in nn.momenta]
    assert agrees(squares, 0.25) and not agrees(squares, 0.28)


def test_batches_change_when_asked_and_see_every_row_once():
    nn = kelvin.Simulation(NETWORK, data=(X, y), batch={"size": 20}, walkers=2)
    nn.parameters = rng.normal(size=13)
    losses, seen, epochs = [], [], []
    for _ in range(2):
        for _ in range(3):
            assert nn.loss() == nn.loss(1)  # asking again changes nothing
            inputs, targets = nn.dataset
            assert nn.loss() == pytest.approx(((outputs(nn, 0, inputs)[:, 0] - targets) ** 2).mean(), rel=1e-9)
            losses.append(nn.loss())
            seen += nn.rows.tolist()
            nn.next_batch()
        assert sorted(seen[-60:]) == list(range(60))
        epochs.append(seen[-60:])
    assert epochs[0] != epochs[1]
    whole = kelvin.Simulation(NETWORK, data=(X, y))
    whole.parameters = nn.parameters[0]
    assert np.mean(losses[:3]) == pytest.approx(whole.loss(), rel=1e-9)


def test_runs_begin_where_the_parameters_are_and_end_there(nn):
    pandas = pytest.importorskip("pandas")
    nn.parameters = np.stack([np.full(13, 0.5), np.full(13, -0.5)])
    before = [nn.loss(0), nn.loss(1)]
    still = nn.sample(steps=1, every=1, part={"all": {"step": 1e-9}})
    assert still.trajectory["layer1.weight[0,0]"].to_numpy() == pytest.approx([0.5, -0.5], abs=1e-6)
    fitted = nn.fit(1, steps=800, part={"all": {"scheme": "adam", "step": 0.01}})
    assert nn.loss(1) < 0.1 * before[1] and nn.loss(0) == pytest.approx(before[0], rel=1e-5)
    assert fitted.run.record["command"] == "train"
    done = nn.sample(steps=200, every=2)
    assert isinstance(done.run_info, pandas.DataFrame) and len(done.run_info) == len(done.trajectory) == 200
    last = done.trajectory[done.trajectory["walker"] == 1].iloc[-1]
    assert last["layer2.bias[0]"] == nn.named(1)["layer2.bias"][0]
    averages = done.averages[done.averages["walker"] == 0]["average potential"].to_numpy()
    potential = done.run_info[done.run_info["walker"] == 0]["potential"].to_numpy()
    assert averages == pytest.approx([potential[:k + 1].mean() for k in range(100)])


def test_each_run_has_noise_of_its_own(nn):
    start = np.full(13, 0.5)

    def sampled(simulation):
        simulation.parameters = start
        return simulation.sample(steps=20, every=1).run.samples["layer1.bias"]

    first = sampled(nn)
    assert (sampled(nn) != first).any()
    assert (sampled(kelvin.Simulation(NETWORK, data=(X, y), walkers=2)) == first).all()


def test_an_integrator_of_ones_own_samples_the_law():
    """BAOAB written with gradients() and momenta, on an oscillator: <q^2> = T at any step."""
    nn = kelvin.Simulation({"model": {"toy": {"name": "gaussian", "dimension": 50}}, "part": {"all": {"temperature": 1.0}}})
    noise, h, T = np.random.default_rng(1), 0.5, 0.7
    nn.parameters = noise.normal(size=50)
    nn.init_momenta(T, 2)
    q, p, squares = nn.parameters[0], nn.momenta[0], []
    for step in range(4000):
        p -= h / 2 * nn.gradients()
        q += h / 2 * p
        p *= np.exp(-h)
        p += np.sqrt(T * (1 - np.exp(-2 * h))) * noise.normal(size=50)
        q += h / 2 * p
        p -= h / 2 * nn.gradients()
        squares.append(q**2)
    means = np.mean(squares[100:], axis=0)
    assert agrees(means, T) and not agrees(means, 1.1 * T)


def test_settings_change_or_stay(nn):
    nn.parameters = np.arange(13.0)
    with pytest.raises(kelvin.Error):
        nn.change(model={"loss": "nosuch"})
    assert nn.options["model"]["loss"] == "mean_squared" and nn.parameters[0][2] == 2
    nn.change(model={"loss": "absolute"})
    assert nn.parameters[0][2] == 2
    assert nn.loss() == pytest.approx(np.abs(outputs(nn, 0, X)[:, 0] - y).mean(), rel=1e-9)
    nn.dataset = (X[:10], y[:10])
    assert nn.loss() == pytest.approx(np.abs(outputs(nn, 0, X[:10])[:, 0] - y[:10]).mean(), rel=1e-9)


def test_names_of_tati_are_answered_by_ours(nn):
    with pytest.raises(kelvin.Error, match='"max_steps" of TATi is here: steps'):
        kelvin.Simulation(NETWORK, data=(X, y), max_steps=10)
    with pytest.raises(kelvin.Error, match='"step_width" of TATi is here: part.NAME.step'):
        nn.sample(part={"all": {"step_width": 0.1}})
    with pytest.raises(kelvin.Error, match='"GeometricLangevinAlgorithm_1stOrder" of TATi is here: scheme = "gla1"'):
        nn.sample(part={"all": {"scheme": "GeometricLangevinAlgorithm_1stOrder"}})
    with pytest.raises(AttributeError, match=r'"set_options" of TATi is here: change'):
        nn.set_options(loss="absolute")
    with pytest.raises(AttributeError, match='"inverse_temperature" of TATi is here'):
        kelvin.inverse_temperature  # noqa: B018
    with pytest.raises(AttributeError) as error:
        nn.nosuch  # noqa: B018
    assert "TATi" not in str(error.value)


def test_every_name_of_tati_leads_to_something_that_is_there(program):
    """Schemes, settings, losses and commands that the table names are those of the program."""
    import json

    rows = json.loads(program("list", "tati", "--json"))
    assert len(rows) > 80 and len({row["name"] for row in rows}) == len(rows)
    folder = Path(__file__).parents[2] / "docs"
    settings = set(re.findall(r"^\| `([\w.]+)`", (folder / "settings.md").read_text(), re.M))
    schemes = {word for row in json.loads(program("list", "schemes", "--json")) for cell in row.values()
               for word in str(cell).split()}
    losses = {row["name"] for row in json.loads(program("list", "losses", "--json"))}
    for row in rows:
        for name in re.findall(r"\b(?:part|model|data|coupling|batch)\.[\w.]+", row["here"]):
            assert name in settings, row
        for name in re.findall(r'scheme = "(\w+)"', row["here"]):
            assert name in schemes, row
        for name in re.findall(r'loss = "(\w+)"', row["here"]):
            assert name in losses, row
        for command in re.findall(r"`kelvin ([a-z]+(?: [a-z]+)?)", row["here"]):
            words = command.split()
            program(*words[:2 if words[0] in ("landscape", ) else 1], "--help")


def test_the_page_of_tati_maps_every_method():
    page = (Path(__file__).parents[2] / "docs" / "tati.md").read_text()
    for name in ("parameters", "momenta", "dataset", "loss", "gradients", "hessians", "score", "predict", "num_parameters",
                 "num_walkers", "init_momenta", "fit", "sample", "get_options", "set_options", "get_losses",
                 "get_activations", "help", "non_simplified_access"):
        assert f"`{name}" in page, name


def test_classes_have_an_accuracy():
    labels = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    nn = kelvin.Simulation({"model": {"layers": [2, 3], "loss": "softmax_cross_entropy"}}, data=(X, labels))
    nn.parameters = rng.normal(size=9)
    q = nn.named()
    logits = X @ q["layer1.weight"].T + q["layer1.bias"]
    assert nn.score()["accuracy"] == pytest.approx((logits.argmax(axis=1) == labels).mean())
    assert nn.loss() == pytest.approx(-(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))[
        np.arange(60), labels].mean(), rel=1e-9)


def test_a_potential_of_ones_own_is_simulated():
    @kelvin.potential({"w": (3, 2)})
    def springs(q, rows):
        return 0.5 * (q["w"] ** 2).sum(), {"w": q["w"]}

    nn = kelvin.Simulation(springs, walkers=2, part={"all": {"step": 0.2, "temperature": 1.0}})
    nn.parameters = np.arange(6.0)
    assert nn.loss() == pytest.approx(27.5) and nn.gradients() == pytest.approx(np.arange(6.0))
    done = nn.sample(steps=50, every=5)
    assert done.run.samples["w"].shape == (2, 10, 3, 2)
    assert nn.parameters[1].reshape(3, 2) == pytest.approx(done.run.samples["w"][1, -1])
