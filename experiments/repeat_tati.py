#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Figures 6, 10 and 11 of the TATi paper: runs of many walkers, or from one start, that `kelvin experiment` does not make.

Usage, from the project's root:
    experiments/repeat_tati.py KELVIN spectrum FOLDER       # Figure 6
    experiments/repeat_tati.py KELVIN gaussian              # Figure 10
    experiments/repeat_tati.py KELVIN digits FOLDER         # Figure 11
FOLDER has the four files of MNIST (train-images-idx3-ubyte.gz and so on), which no Debian package brings; without it
there is a sentence and nothing is done. Runs are kept in runs/tati and not made twice; results go to experiments/.
"""
import gzip
import json
import math
import pathlib
import struct
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


def finding(what, out, *options):
    """What an analysis finds."""
    return json.loads(subprocess.run([kelvin, "analyse", what, out, *options, "--json"], check=True, capture_output=True).stdout)


def analyse(what, out, *options):
    """The rows of its first table."""
    return finding(what, out, *options)["tables"][0]["rows"]


def blending_left(out):
    """What a run's blending has been halved to."""
    logged = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    return min(b for entry in logged for b in entry.get("blending", [math.nan]))


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
    rows = []
    for k in [0, 1, 2, 3, 4, 7, 15, 31, 63]:
        values = [f[k]["eigenvalue"] for f in found]
        m, _, sd = mean(values)
        rows.append({"number": k + 1, **{f"seed {s + 1}": short(v) for s, v in enumerate(values)}, "sd over mean": short(sd / m),
                     "number^2 times it, over the first": short((k + 1) ** 2 * m / mean([f[0]["eigenvalue"] for f in found])[0])})
    apart, falls = mean([r["sd over mean"] for r in rows])[0], rows[-1]["number^2 times it, over the first"]
    worst = max(r["sd over mean"] for r in rows[:3])
    claims = [{"claim": "the spectra of three seeds agree to about 1 %: the first three eigenvalues to 2 % at most", "ours": worst,
               "verdict": "reproduced" if worst < 0.02 else "not reproduced"},
              {"claim": "all of them to 2 % on average", "ours": short(apart), "verdict": "reproduced" if apart < 0.02 else "not reproduced"},
              {"claim": "they fall by three orders from the first eigenvalue to the 64th", "ours": short(rows[0]["seed 1"] / rows[-1]["seed 1"]),
               "verdict": "reproduced" if rows[0]["seed 1"] > 1000 * rows[-1]["seed 1"] else "not reproduced"},
              {"claim": "they tell the shape of the loss (a free walk has 1/number^2, whatever the loss: off by a factor 2 at the 64th)", "ours": falls,
               "verdict": "reproduced" if not 0.5 < falls < 2 else "not reproduced"}]
    store("mnist_spectrum", "Covariance of softmax regression on MNIST, three seeds from one start",
          [counted(claims), source + "Figure 6.",
           f"784-10, BAOAB, h = 0.125, friction 10, T = 0.1, batches of 550 of 55 000 rows, {steps} steps (the source: a million), "
           "every 100th kept, from one start that SGD (3000 steps of 0.5, batches of 550) had found. At this temperature and without a prior "
           "the walker is nearly free: the eigenvalues are those of a free walk of this length, n T/friction 2 t / (pi number)^2 with n parameters (199 000 "
           "for the first), and so grow with the run (the source, ten times as long: 2.1e6). Made by "
           "`experiments/repeat_tati.py build/kelvin spectrum FOLDER`; FOLDER has the four files of MNIST, which no Debian package brings."],
          [("Claims", claims), ("Eigenvalues", rows)], seeds, began)


def interval_means(curve, length):
    """Means over intervals of so many draws, from a running mean."""
    sums = [(0, 0)] + [(x, x * m) for x, m in zip(curve["x"], curve["y"]) if x % length == 0]
    return [(s - before) / (x - first) for (first, before), (x, s) in zip(sums, sums[1:])]


def gaussian():
    """U = w'Cw, eigenvalues of C from 1 to 100; the walkers' metric knows no axes, so C may be diagonal."""
    began, steps, seeds, length, rows = time.time(), 10000, 5, 250, []
    alone = 4 * math.tanh(0.125 / 2) / (0.125 ** 2 * 2)  # the slowest direction's time without a metric
    for n in (4, 64):
        stiffness = [2 * (1 + 99 * k / (n - 1)) for k in range(n)]
        for walkers in (1, 4, 8, 16, 32):
            squares, variances, blending = ([], []), [], []
            for seed in range(1, seeds + 1):
                coupling = 'coupling = { method = "ensemble", blending = 10.0, refresh = 1000 }\n' if walkers > 1 else ""
                out = run(f"gaussian_{n}_{walkers}_{seed}", f"seed = {seed}\nsteps = {steps}\nwarmup = 1000\nevery = 1\n"
                          f"walkers = {walkers}\nprecision = \"float\"\n{coupling}"
                          f"model.toy = {{ name = \"gaussian\", stiffness = {stiffness} }}\n"
                          "part.all = { scheme = \"BAOAB\", step = 0.125, friction = 1.0, temperature = 1.0 }\n")
                averages = finding("averages", out, "--quantities", "q[0]", "--quantities", f"q[{n - 1}]")
                for k, found, row, curve in zip((0, n - 1), squares, averages["tables"][0]["rows"], averages["figures"][0]["curves"]):
                    found += [stiffness[k] * m * m for m in interval_means(curve, length)]
                    variances.append(stiffness[k] * row["sd"] ** 2)
                if walkers > 1:
                    blending.append(blending_left(out))
            # the mean of independent walkers over an interval has the variance tau T / (a length walkers)
            slow, fast = (length * walkers * mean(found)[0] for found in squares)
            rows.append({"parameters": n, "walkers": walkers, "slowest": short(slow), "gain": short(alone / slow), "fastest": short(fast),
                         "variances over exact": short(mean(variances)[0]), "least blending": short(min(blending)) if blending else None})
    row = lambda n, w: next(r for r in rows if r["parameters"] == n and r["walkers"] == w)
    claim = lambda says, ours, holds: {"claim": says, "ours": short(ours), "verdict": "reproduced" if holds else "not reproduced"}
    # the law: alone <((1 + blending S)^-1)_slowest> over sample covariances S of the other walkers
    claims = [claim(f"{w} walker{'s' * (w > 1)} of {n} parameters: {law} steps for the slowest direction, to 25 %", row(n, w)["slowest"],
                    abs(row(n, w)["slowest"] / law - 1) < 0.25)
              for n, w, law in ((4, 1, 7.99), (4, 16, 1.57), (4, 32, 1.45), (64, 1, 7.99), (64, 16, 2.29), (64, 32, 1.75))]
    best = max(r["gain"] for r in rows)
    claims.append(claim("a gain of 10 (the law allows 1 + blending T/a = 6)", best, best > 10))
    fast = max((r["fastest"] for r in rows), key=lambda f: abs(f * 100 / alone - 1))
    claims.append(claim("the fastest direction keeps its time, 0.08 steps, to 50 %", fast, abs(fast * 100 / alone - 1) < 0.5))
    left = row(64, 8)["least blending"]
    claims.append(claim("8 walkers of 64 parameters blow up: that is seen before, and their blending halved", left, 0 < left < 10))
    worst = max(abs(r["variances over exact"] - 1) for r in rows)
    claims.append(claim("variances are those of the law, to 2 %", worst, worst < 0.02))
    store("gaussian_walkers", "Walkers that share their covariance, on a Gaussian",
          [counted(claims), source + "Figure 10.",
           f"U = w'Cw with curvatures 2 to 200, BAOAB, h = 0.125, friction 1, T = 1, blending 10, a look every 1000 steps, {steps} steps "
           f"(the source: 50 000) after 1000. Times are steps per independent draw of a walker, from the variance of means over {length} steps ({seeds * steps // length} of "
           "them: known to 10 %); correlations oscillate, and estimators that add them up until they fade fail. Two walkers have no "
           "covariance but each other's position, so three are the fewest. Made by `experiments/repeat_tati.py build/kelvin gaussian`."],
          [("Claims", claims), ("Steps per independent draw", rows)], seeds, began)


def sevens_and_nines(folder):
    """The same four files with these digits only, without the 5000 first rows, as the source has them."""
    out = runs / "sevens_and_nines"
    out.mkdir(parents=True, exist_ok=True)
    for part, first in (("train", 5000), ("t10k", 0)):
        images, labels = f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"
        pixels, digits = gzip.open(pathlib.Path(folder) / images).read()[16:], gzip.open(pathlib.Path(folder) / labels).read()[8:]
        chosen = [k for k in range(first, len(digits)) if digits[k] in (7, 9)]
        with gzip.open(out / images, "wb", 1) as file:
            file.write(struct.pack(">4i", 2051, len(chosen), 28, 28) + b"".join(pixels[784 * k:784 * (k + 1)] for k in chosen))
        with gzip.open(out / labels, "wb", 1) as file:
            file.write(struct.pack(">2i", 2049, len(chosen)) + bytes(digits[k] for k in chosen))
    return out


def digits(folder):
    """784-2 on the digits 7 and 9, biases fixed: times along the directions in which a walker moves most, for growing blending."""
    began, steps, refresh, every, count = time.time(), 5000, 1000, 20, 20
    common = f"""data = {{ file = "{sevens_and_nines(folder)}" }}
batch = 550
"""
    model = 'layers = [784, 2], loss = "softmax_cross_entropy"'
    start = run("digits_start", f"steps = 5000\nevery = 5000\n{common}model = {{ {model} }}\n"
                'part.all = { scheme = "S", step = 0.1, temperature = 0.0 }\n')
    rows, draws = [], steps // every
    for blending in (0, 1, 100, 10000):
        out = run(f"digits_{blending}", f"steps = {steps}\nevery = {every}\nwalkers = 8\nfrom = \"{start}\"\n{common}"
                  f'model = {{ {model}, freeze = ["layer1.bias"] }}\n'
                  f'coupling = {{ method = "ensemble", blending = {blending}.0, refresh = {refresh} }}\n'
                  'part.all = { scheme = "BAOAB", step = 0.125, friction = 10.0, temperature = 0.1 }\n')
        tables = finding("covariance", out, "--count", str(count), "--blocks", "layer1.weight", "--per-walker")["tables"]
        walkers = [table["rows"] for table in tables[1:]]
        # 50 times of draws would be enough; draws_missing says how far that is
        time_of = lambda r: every * ((draws + r["draws_missing"]) / 50 if r["draws_missing"] else r["tau_windowed"])
        times = [mean([time_of(w[k]) for w in walkers])[0] for k in range(count)]
        if not rows:
            alone = times
        rows.append({"blending": blending, "left of it": short(blending_left(out)), "slowest": short(max(times)),
                     "gain": short(max(alone) / max(times)), **{f"direction {k + 1}": short(times[k]) for k in (0, 1, 2, 4)}})
    best, left = max(r["gain"] for r in rows), rows[-1]["left of it"]
    verdict = lambda full, part: "reproduced" if full else "weaker" if part else "not reproduced"
    claims = [{"claim": "the slowest time falls when walkers share their covariance: by 1.5 at least", "ours": best, "verdict": verdict(best > 1.5, False)},
              {"claim": "by up to a factor 4", "ours": best, "verdict": verdict(best > 4, best > 1.5)},
              {"claim": "blending may be as large as 10 000 (if not, it is halved: ours is what was left)", "ours": left,
               "verdict": verdict(left == 10000, left > 100)}]
    store("digits_walkers", "Walkers that share their covariance, on the digits 7 and 9",
          [counted(claims), source + "Figure 11.",
           f"784-2 on 11 169 rows, biases fixed where SGD (5000 steps of 0.1) left them, 8 walkers, BAOAB, h = 0.125, friction 10, T = 0.1, "
           f"batches of 550, {steps} steps, a look every {refresh} (the source: 10 000), every {every}th kept. Times in steps, along the {count} leading "
           "directions of each walker's own covariance, as the source has them; mean over walkers. Without a prior the posterior is flat in "
           "half of all directions (the sum of both classes' weights, dark pixels): walkers diffuse there, times grow with the length of the "
           "run, and a gain means that they diffuse faster. Made by `experiments/repeat_tati.py build/kelvin digits FOLDER`."],
          [("Claims", claims), ("Steps per independent draw", rows)], 1, began)


made = {"spectrum": spectrum, "gaussian": gaussian, "digits": digits}
if len(sys.argv) < 3 or sys.argv[2] not in made:
    sys.exit(__doc__)
if sys.argv[2] == "gaussian":
    gaussian()
elif len(sys.argv) < 4 or not (pathlib.Path(sys.argv[3]) / "train-images-idx3-ubyte.gz").exists():
    print("skipped: name a folder with the four files of MNIST (train-images-idx3-ubyte.gz and so on) as the last argument")
else:
    made[sys.argv[2]](sys.argv[3])
