#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figures 6 and 10 of the TATi paper: runs of many walkers, or from one start, that `kelvin experiment` does not make.

Usage, from the project's root:
    experiments/repeat_tati.py KELVIN spectrum FOLDER       # Figure 6
    experiments/repeat_tati.py KELVIN gaussian              # Figure 10
FOLDER has the four files of MNIST (train-images-idx3-ubyte.gz and so on), which no Debian package brings; without it
there is a sentence and nothing is done. Runs are kept in runs/tati and not made twice; results go to experiments/.
"""
import json
import math
import pathlib
import subprocess
import sys
import time

kelvin, runs = sys.argv[1], pathlib.Path("runs/tati")
source = "Source: Heber, Trstanova and Leimkuhler 2019 (TATi), "


def run(name, text):
    """The run of a run file; its directory."""
    runs.mkdir(parents=True, exist_ok=True)
    file, out = runs / f"{name}.toml", runs / name
    if not (out / "done").exists():
        file.write_text(text)
        subprocess.run([kelvin, "sample", file, "-o", out, "--force", "--threads", "1", "-q"], check=True)
        (out / "done").touch()
    return out


def analyse(what, out, *options):
    """The rows of the first table of an analysis."""
    found = subprocess.run([kelvin, "analyse", what, out, *options, "--json"], check=True, capture_output=True)
    return json.loads(found.stdout)["tables"][0]["rows"]


def mean(x):
    """With its standard error and the standard deviation."""
    m = sum(x) / len(x)
    sd = math.sqrt(sum((v - m) ** 2 for v in x) / (len(x) - 1)) if len(x) > 1 else math.nan
    return m, sd / math.sqrt(len(x)), sd


def short(x):
    return None if x is None or math.isnan(x) else float(f"{x:.4g}")


def store(name, title, words, tables, seeds, began):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    version = subprocess.run([kelvin, "--version"], capture_output=True, text=True).stdout.strip()
    tables = [{"title": t, "columns": list(rows[0]), "rows": rows} for t, rows in tables]
    result = {"experiment": name, "date": time.strftime("%Y-%m-%d", time.gmtime()), "commit": commit, "kelvin": version,
              "seeds": seeds, "seconds": time.time() - began,
              "finding": {"name": name, "title": title, "words": words, "tables": tables, "figures": []}}
    folder = pathlib.Path("experiments") / name
    folder.mkdir(exist_ok=True)
    (folder / "result.json").write_text(json.dumps(result, separators=(",", ":")) + "\n")


def counted(rows):
    """What the claims come to, as `kelvin experiment` says it."""
    verdicts = [r["verdict"] for r in rows]
    kinds = [f"{verdicts.count(v)} {v}" for v in ("reproduced", "weaker", "not reproduced", "not measured") if v in verdicts]
    return f"Of {len(rows)} claims: {', '.join(kinds)}."


def spectrum(folder):
    """784-10 softmax regression on MNIST at T = 0.1: the spectrum of the covariance, three seeds from one start."""
    began, steps, seeds = time.time(), 100000, 3
    common = f"""data = {{ file = "{folder}", validation = 5000, split_seed = 1 }}
model = {{ layers = [784, 10], loss = "softmax_cross_entropy" }}
batch = 550
"""
    start = run("spectrum_start", f"steps = 3000\nevery = 3000\n{common}part.all = {{ scheme = \"S\", step = 0.5, temperature = 0.0 }}\n")
    found = []
    for seed in range(1, seeds + 1):
        out = run(f"spectrum_{seed}", f"seed = {seed}\nsteps = {steps}\nevery = 100\nfrom = \"{start}\"\n{common}"
                  "part.all = { scheme = \"BAOAB\", step = 0.125, friction = 10.0, temperature = 0.1 }\n")
        found.append(analyse("covariance", out, "--count", "64"))
    rows, worst = [], 0
    for k in [0, 1, 2, 3, 4, 7, 15, 31, 63]:
        values = [f[k]["eigenvalue"] for f in found]
        m, _, sd = mean(values)
        worst = max(worst, sd / m if k < 3 else 0)
        rows.append({"number": k + 1, **{f"seed {s + 1}": short(v) for s, v in enumerate(values)}, "sd over mean": short(sd / m)})
    claims = [{"claim": "the spectra of three seeds agree to about 1 % at the top: at most 2 % for the first three",
               "largest sd over mean": short(worst), "verdict": "reproduced" if worst < 0.02 else "not reproduced"},
              {"claim": "the first eigenvalue stands far above the 64th: by a factor 10 at least",
               "largest sd over mean": None, "verdict": "reproduced" if rows[0]["seed 1"] > 10 * rows[-1]["seed 1"] else "not reproduced"}]
    store("mnist_spectrum", "Covariance of softmax regression on MNIST, three seeds from one start",
          [counted(claims), source + "Figure 6.",
           f"784-10, BAOAB, h = 0.125, friction 10, T = 0.1, batches of 550 of 55 000 rows, {steps} steps (the source: a million), "
           "every 100th kept, from one start that SGD (3000 steps of 0.5, batches of 550) had found. Made by "
           "`experiments/repeat_tati.py build/kelvin spectrum FOLDER`; FOLDER has the four files of MNIST, which no Debian package brings."],
          [("Claims", claims), ("Eigenvalues", rows)], seeds, began)


def gaussian():
    """U = w'Cw, eigenvalues of C from 1 to 100; the walkers' metric knows no axes, so C may be diagonal."""
    began, steps, seeds, rows = time.time(), 10000, 5, []
    for n in (4, 16, 64):
        stiffness = [2 * (1 + 99 * k / (n - 1)) for k in range(n)]
        for walkers in (1, 4, 8, 16):
            slow, fast, variances = [], [], []
            for seed in range(1, seeds + 1):
                coupling = 'coupling = { method = "ensemble", blending = 10.0, refresh = 1000 }\n' if walkers > 1 else ""
                out = run(f"gaussian_{n}_{walkers}_{seed}", f"seed = {seed}\nsteps = {steps}\nwarmup = 1000\nevery = 1\n"
                          f"walkers = {walkers}\nprecision = \"float\"\n{coupling}"
                          f"model.toy = {{ name = \"gaussian\", stiffness = {stiffness} }}\n"
                          "part.all = { scheme = \"BAOAB\", step = 0.125, friction = 1.0, temperature = 1.0 }\n")
                ends = ["--quantities", "q[0]", "--quantities", f"q[{n - 1}]"]
                alone = [r for r in analyse("autocorrelation", out, *ends, "--per-walker") if r["walker"] != "all"]
                slow += [r["tau_in_steps"] for r in alone if r["quantity"] == "q[0]"]
                fast += [r["tau_in_steps"] for r in alone if r["quantity"] != "q[0]"]
                variances += [stiffness[k] * r["sd"] ** 2 for k, r in zip((0, n - 1), analyse("averages", out, *ends))]
            steps_each = mean([t for t in slow if t is not None])[0]
            if walkers == 1:
                first = steps_each
            rows.append({"parameters": n, "walkers": walkers, "slowest": short(steps_each), "gain": short(first / steps_each),
                         "fastest": short(mean([t for t in fast if t is not None])[0]), "variances over exact": short(mean(variances)[0])})
    gain = lambda n, w: next(r["gain"] for r in rows if r["parameters"] == n and r["walkers"] == w)
    claims = [{"claim": f"16 walkers shorten the slowest time of {n} parameters by a factor {least} at least", "ours": gain(n, 16),
               "verdict": "reproduced" if gain(n, 16) > least else "not reproduced"} for n, least in ((4, 4), (16, 3), (64, 3))]
    claims.append({"claim": "a factor 10 for 4 parameters (the law allows 1 + blending T/a = 6)", "ours": gain(4, 16),
                   "verdict": "reproduced" if gain(4, 16) > 10 else "not reproduced"})
    worst = max(abs(r["variances over exact"] - 1) for r in rows)
    claims.append({"claim": "variances are those of one walker, to 3 %", "ours": short(worst),
                   "verdict": "reproduced" if worst < 0.03 else "not reproduced"})
    store("gaussian_walkers", "Walkers that share their covariance, on a Gaussian",
          [counted(claims), source + "Figure 10.",
           f"U = w'Cw with curvatures 2 to 200, BAOAB, h = 0.125, friction 1, T = 1, blending 10, a look every 1000 steps, {steps} steps "
           "(the source: 50 000) after 1000. Times are those of single walkers, in steps. Made by "
           "`experiments/repeat_tati.py build/kelvin gaussian`."],
          [("Claims", claims), ("Steps per independent draw", rows)], seeds, began)


made = {"spectrum": spectrum, "gaussian": gaussian}
if len(sys.argv) < 3 or sys.argv[2] not in made:
    sys.exit(__doc__)
if sys.argv[2] == "gaussian":
    gaussian()
elif len(sys.argv) < 4 or not (pathlib.Path(sys.argv[3]) / "train-images-idx3-ubyte.gz").exists():
    print("skipped: name a folder with the four files of MNIST (train-images-idx3-ubyte.gz and so on) as the last argument")
else:
    made[sys.argv[2]](sys.argv[3])
