#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/gap.png from a run of examples/gap.toml: the data, the posterior mean and its bands.

Needs Debian's python3-matplotlib, python3-xarray and python3-zarr.  Usage, from the project's root:
    build/kelvin sample examples/gap.toml -o build/gap
    build/kelvin data examples/gap.toml --rows train | /usr/bin/python3 docs/make_pictures.py build/gap
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

run = pathlib.Path(sys.argv[1])
record = json.loads((run / "run.json").read_text())
posterior = xr.open_zarr(str(run / "samples.zarr"), group="posterior")


def block(name):
    """All draws of a block, walkers one after another."""
    values = posterior[name].values
    return values.reshape((-1,) + values.shape[2:])


inputs, targets = record["inputs"]["units"], record["targets"]["units"]
x = np.linspace(-4, 4, 400)
z = (x - inputs["mean"][0]) / inputs["scale"][0]
hidden = np.tanh(block("layer1.weight")[:, :, 0, None] * z + block("layer1.bias")[:, :, None])
mean = np.einsum("dh,dhx->dx", block("layer2.weight")[:, 0], hidden) + block("layer2.bias")
noise = np.exp(block("noise.log_scale")) * np.random.default_rng(1).standard_normal(mean.shape)
to_original = lambda y: targets["mean"][0] + targets["scale"][0] * y

fig, ax = plt.subplots(figsize=(7.5, 3.4), dpi=110)
for low, shade in [(2.5, 0.18), (25, 0.30)]:
    a, b = np.percentile(to_original(mean + noise), [low, 100 - low], axis=0)
    ax.fill_between(x, a, b, color="tab:blue", alpha=shade, lw=0, label=f"{100 - 2 * low:g} % of predictions")
ax.plot(x, to_original(mean.mean(0)), color="tab:blue", lw=1.5, label="posterior mean")
data = np.loadtxt(sys.stdin, delimiter=",", skiprows=1)
ax.plot(data[:, 0], data[:, 1], ".", color="black", ms=5, label="data")
ax.set(xlabel="x1", ylabel="y", xlim=(-4, 4), ylim=(-4, 4))
ax.legend(loc="upper right", fontsize=8, framealpha=0.9, ncol=2)
fig.tight_layout()
fig.savefig(pathlib.Path(__file__).parent / "gap.png")
