# SPDX-License-Identifier: Apache-2.0
"""Runs from Python: the same bytes as those of the command line, and what can be asked of them."""
import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import kelvin
from conftest import in_a_process


def draws_of(path):
    """The bytes of all chunks of weights."""
    root = os.path.join(path, "samples.zarr", "posterior")
    out = {}
    for folder, _, files in sorted(os.walk(root)):
        for name in sorted(set(files) - {".zattrs", ".zarray", ".zgroup", ".zmetadata"}):
            with open(os.path.join(folder, name), "rb") as file:
                out[os.path.relpath(os.path.join(folder, name), root)] = file.read()
    return out


def write_run_file(path, settings):
    from kelvin._settings import as_toml

    path.write_text(as_toml(settings))
    return path


def test_bytes_are_those_of_the_command_line(gap, program, tmp_path):
    file = write_run_file(tmp_path / "gap.toml", gap)
    program("sample", file, "-o", tmp_path / "line", "--quiet")
    for threads in (1, 2):
        run = kelvin.sample(gap, out=tmp_path / f"python{threads}", threads=threads)
        assert draws_of(run.path) == draws_of(tmp_path / "line")
    assert draws_of(kelvin.sample(gap, seed=2).path) != draws_of(tmp_path / "line")  # negative control


def test_each_resumes_what_the_other_began(gap, program, tmp_path):
    file = write_run_file(tmp_path / "gap.toml", gap)
    program("sample", file, "-o", tmp_path / "line", "--quiet")
    program("resume", tmp_path / "line", "--steps", 1000, "--quiet")
    whole = draws_of(tmp_path / "line")
    begun = kelvin.sample(gap, out=tmp_path / "python")
    program("resume", begun.path, "--steps", 1000, "--quiet")
    assert draws_of(begun.path) == whole
    program("sample", file, "-o", tmp_path / "line2", "--quiet")
    assert draws_of(kelvin.resume(tmp_path / "line2", steps=1000).path) == whole


def test_arrays_as_data_are_the_rows_of_files(program, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3)).astype(np.float32)
    y = X.sum(axis=1) + 0.1 * rng.normal(size=50)
    settings = {"steps": 400, "walkers": 2, "data": {"standardise": "both", "test": 0.2},
                "model": {"layers": [3, 5, 1], "loss": "gaussian", "scale": 0.2, "prior": "gaussian"},
                "part": {"all": {"step": 0.02}}}
    run = kelvin.sample(settings, data=(X, y), out=tmp_path / "arrays")
    np.savez(tmp_path / "rows.npz", x=X, y=y)
    file = write_run_file(tmp_path / "run.toml", {**settings, "data": {**settings["data"], "file": str(tmp_path / "rows.npz")}})
    program("sample", file, "-o", tmp_path / "line", "--quiet")
    assert draws_of(run.path) == draws_of(tmp_path / "line")
    program("resume", run.path, "--steps", 100, "--quiet")  # its rows are with it


def test_samples_have_the_shapes_of_blocks_and_one_memory(gap):
    run = kelvin.sample(gap)
    weight = run.samples["layer1.weight"]
    assert weight.shape == (2, 200, 8, 1) and weight.dtype == np.float32
    assert np.shares_memory(weight, run.samples["layer1.weight"])
    assert weight.ctypes.data % 64 == 0
    assert run.samples.dimensions("layer1.weight")[:2] == ["chain", "draw"]
    assert set(run.samples) == set(run.record["blocks"])
    assert run.statistics["potential"].shape == (2, 200)
    assert run.samples.flat().shape == (2, 200, 25)
    assert run.statistics["kinetic_temperature"].shape == (2, 200, 1)


def test_xarray_and_arviz_agree_with_the_summary(gap):
    import arviz

    run = kelvin.sample(gap, store={"log_likelihood": True, "predictions": True})
    summary = run.summary(parameters=True)
    posterior = run.to_xarray()
    assert posterior["layer1.weight"].dims[:2] == ("chain", "draw")
    data = run.to_arviz()
    table = arviz.summary(data, var_names=["layer2.bias"], round_to="none", kind="all")
    row = summary[summary["quantity"] == "layer2.bias[0]"]
    assert len(row) == 1, summary["quantity"].tolist()
    for ours, theirs in (("mean", "mean"), ("sd", "sd"), ("ess_bulk", "ess_bulk"), ("rhat", "r_hat")):
        assert row[ours].iloc[0] == pytest.approx(table[theirs].iloc[0], rel=1e-6)
    import matplotlib

    matplotlib.use("Agg")
    arviz.plot_trace(data, var_names=["layer2.bias"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rows that matter much
        assert np.isfinite(arviz.loo(data).elpd_loo)
    arviz.plot_ppc(data, num_pp_samples=10)


def test_predictions_are_means_over_draws(gap):
    run = kelvin.sample(gap)
    X = np.linspace(-2, 2, 7).reshape(-1, 1)
    found = run.predict(X)
    w1, b1 = run.samples["layer1.weight"].astype(float), run.samples["layer1.bias"].astype(float)
    w2, b2 = run.samples["layer2.weight"].astype(float), run.samples["layer2.bias"].astype(float)
    hidden = np.tanh(np.einsum("cdhi,ni->cdnh", w1, X) + b1[:, :, None, :].reshape(*b1.shape[:2], 1, -1))
    outputs = np.einsum("cdnh,cdoh->cdno", hidden, w2) + b2.reshape(*b2.shape[:2], 1, -1)
    assert found.mean == pytest.approx(outputs.mean(axis=(0, 1))[:, 0], rel=1e-4, abs=1e-5)
    assert found.epistemic == pytest.approx(outputs.var(axis=(0, 1))[:, 0], rel=1e-3, abs=1e-6)
    assert found.aleatoric == pytest.approx(np.full(7, 0.01), rel=1e-3)
    assert found.quantiles.shape == (7, 5)
    assert (np.diff(found.quantiles, axis=1) > 0).all()


def test_what_is_found_is_words_tables_and_figures(gap):
    run = kelvin.sample(gap)
    diagnosis = run.diagnose()
    assert isinstance(diagnosis.healthy, bool) and diagnosis.words
    assert diagnosis.words[0] in str(diagnosis)
    assert run.analyse("covariance").name == "covariance"
    assert "<svg" in run._repr_html_() and diagnosis.words[0].split(":")[0] in run._repr_html_()
    page = run.report()
    assert page.exists() and page.stat().st_size > 10000
    second = kelvin.sample(gap, seed=5)
    assert kelvin.compare(run, second).table


def test_a_run_is_steered_and_repeats(gap, tmp_path):
    run = kelvin.start(gap, steps=10**9, every=100, out=tmp_path / "steered")
    while run.now["step"] < 1000:
        pass
    run.pause()
    while run.now["state"] != "paused":
        pass
    run.change(all={"step": 0.02})
    run.proceed()
    while not kelvin.open(run.path).record.get("steered"):
        pass
    run.stop()
    run.wait()
    assert run.now["state"] == "stopped"
    steered = run.record["steered"]
    assert len(steered) == 1 and steered[0]["phase"]["part"]["all"]["step"] == 0.02
    before = run.samples.draws
    run.resume(wait=False)
    run.stop()
    run.wait()
    assert run.samples.draws >= before


def test_observers_hear_of_lines_and_draws(gap):
    lines, draws = [], []
    lock = threading.Lock()

    def on_draw(walker, index, blocks, U):
        with lock:
            draws.append((walker, index, blocks["layer2.bias"].copy(), U))

    run = kelvin.sample(gap, on_line=lines.append, on_draw=on_draw)
    assert [line["step"] for line in lines] == [line["step"] for line in run.log]
    assert len(draws) == 400
    for walker, index, bias, U in draws:
        assert bias == run.samples["layer2.bias"][walker, index]
        assert U == run.statistics["potential"][walker, index]


def test_what_a_callback_raises_is_raised(gap, tmp_path):
    def on_draw(walker, index, blocks, U):
        if index == 50:
            raise ZeroDivisionError("of mine")

    with pytest.raises(ZeroDivisionError, match="of mine"):
        kelvin.sample(gap, on_draw=on_draw, out=tmp_path / "run")
    run = kelvin.open(tmp_path / "run")
    assert not run.finished
    run.resume()
    assert run.finished and draws_of(run.path) == draws_of(kelvin.sample(gap).path)


def test_mistakes_are_one_sentence(gap, tmp_path):
    with pytest.raises(kelvin.Error, match='did you mean "steps"'):
        kelvin.sample(gap, stepz=3)
    with pytest.raises(TypeError, match="a setting is a number"):
        kelvin.sample(gap, model={"layers": object()})
    with pytest.raises(TypeError, match="a dict, or the path of a run file"):
        kelvin.sample(3)
    with pytest.raises(kelvin.Error, match="nosuch.toml"):
        kelvin.sample(str(tmp_path / "nosuch.toml"))
    with pytest.raises(ValueError, match="X has 3 rows and y has 2"):
        kelvin.sample(gap, data=(np.ones((3, 1)), np.ones(2)))
    with pytest.raises(ValueError, match="not finite"):
        kelvin.sample(gap, data=(np.full((3, 1), np.nan), np.ones(3)))
    with pytest.raises(kelvin.Error):
        kelvin.open(tmp_path / "nothing")
    run = kelvin.sample(gap, out=tmp_path / "run")
    with pytest.raises(kelvin.Error, match="exists|force|there"):
        kelvin.sample(gap, out=tmp_path / "run")
    with pytest.raises(kelvin.Error, match="has finished"):
        run.resume()
    with pytest.raises(kelvin.Error, match="takes no"):
        run.analyse("covariance", nosuch=1)
    with pytest.raises(KeyError, match="layer1.weight"):
        run.samples["nosuch"]


def test_ctrl_c_stops_in_good_order(gap, tmp_path):
    script = f"""
import kelvin, sys
print("ready", flush=True)
try:
    kelvin.sample({gap!r}, steps=10**9, out={str(tmp_path / "run")!r})
except KeyboardInterrupt as stop:
    print(stop.run.now["state"], stop.run.samples.draws > 0, flush=True)
    sys.exit(7)
"""
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    path = tmp_path / "run" / "log.jsonl"
    while not path.exists() or child.poll() is not None:
        assert child.poll() is None
    threading.Event().wait(0.5)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 7 and out == "stopped True\n"
    assert kelvin.open(tmp_path / "run").resume(wait=False).now["state"] in ("ready", "running")


@pytest.mark.parametrize("file", ["posterior/layer1.weight/0.0.0.0", "posterior/layer1.weight/.zattrs", "observed_data/y/0.0"])
def test_what_is_damaged_is_refused_by_name(gap, tmp_path, file):
    run = kelvin.sample(gap, out=tmp_path / "run")
    place = run.path / "samples.zarr" / file
    bytes_ = bytearray(place.read_bytes())
    bytes_[len(bytes_) // 2] ^= 1
    place.write_bytes(bytes_)
    with pytest.raises(kelvin.Error, match=file.split("/")[-1]):
        kelvin.open(run.path).samples.dimensions("layer1.weight")
        kelvin.open(run.path).samples["layer1.weight"]
        kelvin.open(run.path).to_arviz()


def test_a_fork_is_told_that_the_run_is_not_its_own(gap, tmp_path):
    told = in_a_process(f"""
        import os, kelvin
        run = kelvin.start({gap!r}, steps=10**9, out={str(tmp_path / "run")!r})
        child = os.fork()
        if child == 0:
            try:
                run.stop()
            except kelvin.Error as error:
                os._exit(5 if "forked" in str(error) else 6)
            os._exit(7)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        run.stop()
        run.wait()
        print(code, run.now["state"])
    """)
    assert told == "5 stopped"


def test_a_temporary_run_goes_with_its_object(gap):
    run = kelvin.sample(gap, steps=50, warmup=0)
    path = run.path
    assert path.exists()
    del run
    assert not path.exists()
