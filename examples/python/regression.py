# SPDX-License-Identifier: Apache-2.0
"""Regression with uncertainty: arrays in, predictions with intervals out.

The rows leave a gap between -1 and 1. There the draws of the posterior disagree, and the intervals are wide.
"""
import numpy as np

import kelvin

# ---- rows

rng = np.random.default_rng(1)
x = np.concatenate([rng.uniform(-3, -1, 40), rng.uniform(1, 3, 40)])
y = np.sin(2 * x) + 0.1 * rng.normal(size=80)

# ---- a network and its posterior. "gaussian" learns the width of the noise as well.

settings = {
    "steps": 300000, "warmup": 30000, "every": 100, "walkers": 4,
    "data": {"standardise": "both"},
    "model": {"layers": [1, 20, 1], "activation": "tanh", "loss": "gaussian"},
    "part": {
        "weights": {"blocks": ["layer*"], "scheme": "BAOAB", "step": 0.03, "prior": {"name": "gaussian", "scale": 1.0}},
        "noise": {"blocks": ["noise.*"], "scheme": "BAOAB", "step": 0.03, "prior": {"name": "gaussian", "scale": 1.0}},
    },
}
run = kelvin.sample(settings, data=(x.reshape(-1, 1), y), progress=False)
print(run.diagnose().words[0])

# ---- predictions: mean, standard deviation and quantiles of the predictive distribution

grid = np.linspace(-4, 4, 81)
found = run.predict(grid.reshape(-1, 1), quantiles=(0.05, 0.95))
low, high = found.quantiles.T
print("     x     mean       5 %      95 %   noise  not knowing")
for k in range(0, len(grid), 10):
    print(f"{grid[k]:6.1f} {found.mean[k]:8.3f} {low[k]:9.3f} {high[k]:9.3f} {np.sqrt(found.aleatoric[k]):7.3f} "
          f"{np.sqrt(found.epistemic[k]):12.3f}")

inside, gap = np.abs(np.abs(grid) - 2) < 0.8, np.abs(grid) < 0.5
print(f"width of the interval where there are rows: {np.mean((high - low)[inside]):.2f}, in the gap: "
      f"{np.mean((high - low)[gap]):.2f}")

# ---- a picture

try:
    import matplotlib
except ImportError:
    print("for a picture, install matplotlib")
else:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.fill_between(grid, low, high, alpha=0.3, label="90 % of new rows")
    plt.plot(grid, found.mean, label="mean")
    plt.plot(x, y, "k.", label="rows")
    plt.legend()
    plt.savefig("regression.png", dpi=100)
    print("wrote regression.png")
