#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the stored results about orders: the size of an error over the step, by factors, from result.json.

Needs Debian's python3-matplotlib. Usage, from the project's root: experiments/draw_orders.py
"""
import json
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

folder = pathlib.Path(__file__).parent


def tables(name):
    return json.loads((folder / name / "result.json").read_text())["finding"]["tables"]


def finish(figure, axes, name):
    for axis in axes:
        axis.set(xscale="log", yscale="log", xlabel="step")
    axes[0].set_ylabel("size of the relative error")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(folder / name / "orders.png")


stored = lambda name: (folder / name / "result.json").exists()
for name in filter(stored, ("kinetic_order", "virial_order")):
    grids = [t for t in tables(name) if "means at the end" in t["title"]]
    figure, axes = plt.subplots(1, len(grids), figsize=(10, 3.4), dpi=100, sharey=True)
    for axis, grid in zip(axes, sorted(grids, key=lambda t: float(t["title"].split("=")[1].split(",")[0]))):
        for row in grid["rows"]:
            cells = [(float(key.split()[1]), abs(value)) for key, value in row.items() if key.startswith("step")]
            axis.plot(*zip(*sorted(cells)), marker="o", ms=3, label=f"friction {row['friction']:g}")
        axis.set_title(grid["title"].split(",")[0], fontsize=9)
    finish(figure, axes, name)

if stored("perceptron_order"):
    figure, axis = plt.subplots(figsize=(5.5, 3.8), dpi=100)
    arms = {}
    for row in next(t for t in tables("perceptron_order") if t["title"] == "Numbers")["rows"]:
        arm, step = row["arm"].rsplit(", step ", 1)
        step = float(step) ** 0.5 if arm == "SGLD" else float(step)
        arms.setdefault(arm, []).append((step, abs(row["mean"]), row["error"]))
    for arm, points in arms.items():
        x, y, error = zip(*sorted(points))
        axis.errorbar(x, y, error, marker="o", ms=3, label=arm + (", root of the step" if arm == "SGLD" else ""))
    finish(figure, [axis], "perceptron_order")
