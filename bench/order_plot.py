#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The order of the bias of P(true class) in the step, for multinomial regression on Fashion-MNIST (784-10, 7850 weights,
l2 50, friction sqrt(50)), by pairs of chains at h and h/2. Steps and friction are given in the units of the summed loss of
N = 60000 rows; ours are those of the mean loss: step sqrt(N) h, friction / sqrt(N), penalty 50/N, temperature 1/N. With
fewer rows these stay as they are, so that only the data are fewer. From the top of the tree:
    python3 bench/order_plot.py build/kelvin [training rows] [time in the source's units, after one unit of warm-up] [folder for what is measured]
What has been measured is kept in the folder and not measured again; docs/order.md and docs/order.png are made at the end.
"""
import json, math, os, pathlib, subprocess, sys

kelvin = sys.argv[1]
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 60000
time = float(sys.argv[3]) if len(sys.argv) > 3 else 20.0
kept = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else "runs/order") / f"{rows}_{time:g}"
data = "/usr/share/datasets/fashion-mnist"
batches, N = 10, 60000
power = {"full": 2, "symmetric": 2, "with_replacement": 1}  # of the bias, as certify takes it
# Within the range of the source, where each can be told from its error; noise of minibatches needs the shorter ones.
steps = {True: [2e-3, 1e-3, 0.5e-3], False: [5e-4, 2.5e-4, 1.25e-4]}
# The orders that the source proves or names; it gives no fitted numbers.
arms = [("BAOAB", "BAOAB", "full", 2), ("UBU", "UBU", "full", 2), ("BAOAB, symmetric sweeps", "BAOAB", "symmetric", 2),
        ("UBU, symmetric sweeps", "UBU", "symmetric", 2), ("BAOAB, random batches", "BAOAB", "with_replacement", 1),
        ("SG-HMC", "OBA", "with_replacement", 1)]


def certificate(scheme, order, h):
    out = kept / f"{scheme}_{order}_{h:g}.json"
    if out.exists():
        return json.load(open(out))
    root = math.sqrt(N)
    batch = 'size = "full"' if order == "full" else f'size = {rows // batches}\norder = "{order}"'
    text = f"""seed = 1
steps = {max(640, round(time / h))}
warmup = {round(1 / h)}
data = {{ file = "{data}", rows = {rows} }}
model = {{ layers = [784, 10], loss = "softmax_cross_entropy" }}
[batch]
{batch}
[part.all]
scheme = "{scheme}"
step = {root * h}
friction = {math.sqrt(50) / root}
temperature = {1 / N}
penalty = {{ name = "l2", strength = {50 / N} }}
start = 0.0
"""
    kept.mkdir(parents=True, exist_ok=True)
    file, part = out.with_suffix(".toml"), out.with_suffix(".part")
    file.write_text(text)
    subprocess.run([kelvin, "certify", file, "--pairs", "1", "--threads", "1", "-q", "-o", part], check=True, stdout=subprocess.DEVNULL)
    os.rename(part, out)
    return json.load(open(out))


def differences(found, order):
    """<f>_h - <f>_h/2 for the mean of U, and of P(true class) over 50 test rows, from what certify makes of them."""
    share = 1 - 2.0 ** -power[order]
    lines = {line["average"]: line for table in found["tables"] for line in table["rows"]}
    return [(share * lines[name]["bias"], share * lines[name]["error"]) for name in ("U", "probability of the true class")]


def slope(points):
    """Of log |y| over log h, weighted by the errors, and its own; points within two errors of zero tell nothing."""
    clear = [(math.log(h), math.log(abs(y)), (y / e) ** 2) for h, (y, e) in points if abs(y) > 2 * e]
    if len(clear) < 2:
        return None
    total = sum(w for _, _, w in clear)
    middle = sum(w * x for x, _, w in clear) / total
    square = sum(w * (x - middle) ** 2 for x, _, w in clear)
    return sum(w * (x - middle) * y for x, y, w in clear) / square, 1 / math.sqrt(square)


table = []
for name, scheme, order, published in arms:
    hs = steps[order == "full"]
    found = [differences(certificate(scheme, order, h), order) for h in hs]
    for k, of in enumerate(("U", "P(true class)")):
        points = [(h, f[k]) for h, f in zip(hs, found)]
        table.append((name, of, points, slope(points), published))
        print(f"{name:<26}{of:<15}", "  ".join(f"h {h:g}: {y:+.2e} +- {e:.0e}" for h, (y, e) in points), "slope", table[-1][3], flush=True)

lines = [f"""# The order of the bias

Multinomial regression on Fashion-MNIST (784-10, 7850 weights, l2 50, friction sqrt(50)), {rows} rows in {batches} batches, as in Paulin,
Whalley, Chada and Leimkuhler 2024. Each number is <f> at h minus <f> at h/2, from one pair of chains on the same noise over a time of
{time:g} in the source's units; the slope is that of its logarithm over log h, fitted where it exceeds two of its errors. Made by
`python3 bench/order_plot.py build/kelvin {rows} {time:g}`; `kelvin certify` takes the orders from the rows of schemes and batch orders.

| method | average | published order | our slope | differences at h |
| --- | --- | --- | --- | --- |"""]
for name, of, points, s, published in table:
    shown = "; ".join(f"{h:g}: {y:.2e} +- {e:.0e}" for h, (y, e) in points)
    lines.append(f"| {name} | {of} | {published} | {'cannot be told' if s is None else f'{s[0]:.2f} +- {s[1]:.2f}'} | {shown} |")
pathlib.Path("docs/order.md").write_text("\n".join(lines) + "\n\n![order](order.png)\n")

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), dpi=110)
for axis, of in zip(axes, ("U", "P(true class)")):
    for name, what, points, _, _ in table:
        if what == of:
            axis.errorbar([h for h, _ in points], [abs(y) for _, (y, _) in points], [e for _, (_, e) in points], marker="o", ms=4, label=name)
    axis.set(xscale="log", yscale="log", xlabel="h, units of the summed loss", ylabel=f"|difference of <{of}>, h and h/2|")
axes[0].legend(fontsize=7)
figure.tight_layout()
figure.savefig("docs/order.png")
