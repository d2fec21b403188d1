#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Modes of a mixture of 25 Gaussians found against gradients spent, by several ways to get over barriers of 12 T.

A mode is found once a draw of the law that was asked for lies within two standard deviations of its centre. Gradients
are those of all walkers; all start in the middle. Writes bench/modes.svg. From the top of the tree:
  python3 bench/modes.py build/kelvin [seeds]
To add a way, add its row to `ways`.
"""
import csv, io, math, pathlib, subprocess, sys, tempfile

kelvin = sys.argv[1]
seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
budget, sd, spacing = 400_000, 0.2, 2.0
cycle = 5000
# label, walkers, settings, whether the draw at this step and of this weight counts
ways = [
    ("BAOAB", 1, "part.all = { step = 0.1, temperature = 1.0 }", lambda step, weight: True),
    ("cyclical SGLD", 1, 'part.all = { scheme = "S", temperature = 1.0, step = { name = "cyclical", from = 0.075, '
     f"to = 0.001, every = {cycle}.0 }} }}", lambda step, weight: (step - 1) % cycle >= cycle // 2),
    ("infinite switch", 1, "warmup = 20000\nswitching = { highest = 16.0, nodes = 20 }\n"
     "part.all = { step = 0.1, temperature = 1.0 }", lambda step, weight: weight > 0.1),
    ("SamAdams", 1, 'tempo = { most = 5.0, scale = 25.0 }\npart.all = { scheme = "samadams", step = 0.05, temperature = 1.0 }', lambda step, weight: True),
    ("continuous tempering", 1, 'warmup = 20000\ntempering = { form = "potential", strength = 0.94 }\n'
     "part.all = { step = 0.1, temperature = 1.0 }", lambda step, weight: weight > 0.1),
    ("replica exchange", 5, "exchange = { rungs = 5, highest = 16.0, every = 5 }\n"
     "part.all = { step = 0.1, temperature = 1.0 }", lambda step, weight: True),
]


def found(walkers, settings, counts, seed):
    """Gradients spent when each mode was first found, in order."""
    steps = budget // walkers
    warmup = 20000 if "warmup" in settings else 0
    text = (f"seed = {seed}\nsteps = {steps - warmup}\nevery = 10\n{settings}\n"
            f'model.toy = {{ name = "mixture", sd = {sd}, spacing = {spacing} }}\n')
    with tempfile.TemporaryDirectory() as folder:
        file, out = pathlib.Path(folder) / "run.toml", pathlib.Path(folder) / "run"
        file.write_text(text)
        subprocess.run([kelvin, "sample", file, "-q", "-o", out, "--threads", "1"], check=True)
        table = subprocess.run([kelvin, "export", out, "--to", "csv", "--walker", "0", "-o", out / "draws.csv"], check=True,
                               capture_output=True)
        rows = csv.DictReader(io.StringIO((out / "draws.csv").read_text()))
        first = {}
        for row in rows:
            step, weight = int(row["step"]), math.exp(float(row.get("log_weight", 0)))
            q = [float(row["q[0]"]), float(row["q[1]"])]
            mode = tuple(max(-2, min(2, round(x / spacing))) for x in q)
            near = math.hypot(*(x - spacing * m for x, m in zip(q, mode))) < 2 * sd
            if near and counts(step, weight):
                first.setdefault(mode, step * walkers)
        return sorted(first.values())


places = [budget * 10 ** (-3 + k / 20) for k in range(61)]
colours = ["#1b6ca8", "#c0392b", "#8e44ad", "#1e8449", "#b9770e", "#17202a"]
x = lambda n: 60 + 420 * (math.log10(n / places[0]) / 3)
y = lambda m: 300 - 10.5 * m
svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="700" height="350" font-family="sans-serif" font-size="13">',
       '<rect width="100%" height="100%" fill="white"/>', '<text x="60" y="20">modes found of 25, against gradients spent</text>']
for k in range(4):
    n = places[0] * 10**k
    svg.append(f'<text x="{x(n) - 15:.0f}" y="325">{n:g}</text><line x1="{x(n):.0f}" y1="300" x2="{x(n):.0f}" y2="{y(25)}" stroke="#ddd"/>')
for m in range(0, 26, 5):
    svg.append(f'<text x="30" y="{y(m) + 5}">{m}</text><line x1="60" y1="{y(m)}" x2="480" y2="{y(m)}" stroke="#ddd"/>')
for k, (label, walkers, settings, counts) in enumerate(ways):
    times = [found(walkers, settings, counts, seed) for seed in range(1, seeds + 1)]
    mean = [sum(sum(t <= n for t in run) for run in times) / seeds for n in places]
    whole = [run[24] for run in times if len(run) == 25]
    print(f"{label:<18} {mean[-1]:5.1f} modes after {budget} gradients; all 25 in {len(whole)} of {seeds} runs"
          + (f", after {sum(whole) / len(whole):.0f} gradients on average" if whole else ""), flush=True)
    points = " ".join(f"{x(n):.1f},{y(m):.1f}" for n, m in zip(places, mean))
    svg.append(f'<polyline points="{points}" fill="none" stroke="{colours[k]}" stroke-width="2"/>'
               f'<text x="500" y="{60 + 22 * k}" fill="{colours[k]}">{label}</text>')
svg.append("</svg>")
(pathlib.Path(__file__).parent / "modes.svg").write_text("\n".join(svg) + "\n")
