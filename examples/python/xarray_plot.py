# SPDX-License-Identifier: Apache-2.0
"""A run read in xarray, and plotted."""
import kelvin

settings = {
    "steps": 20000, "warmup": 2000, "every": 20, "walkers": 4,
    "model": {"toy": {"name": "gaussian", "covariance": [2.5, 1.5, 1.5, 2.5]}},
    "part": {"all": {"scheme": "BAOAB", "step": 0.3, "temperature": 1.0}},
}
run = kelvin.sample(settings, out="oscillator", force=True, progress=False)

# ---- draws, and statistics of each draw, with names for their dimensions

posterior, statistics = run.to_xarray(), run.statistics.to_xarray()
print(posterior)
q = posterior["q"]
print("mean of each walker:", q.mean("draw").values.round(2).tolist())
print("variances:", q.var(["chain", "draw"]).values.round(2).tolist(), "exact 2.5")
hot = q.where(statistics["potential"] > statistics["potential"].quantile(0.9))  # the draws of highest energy
print("variances of a tenth of the draws, those of highest energy:", hot.var(["chain", "draw"]).values.round(2).tolist())

# ---- and a picture

try:
    import matplotlib
except ImportError:
    print("for a picture, install matplotlib")
else:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    statistics["potential"].isel(draw=slice(0, 200)).plot.line(x="draw", ax=left)
    q.isel(q_row=0).plot.hist(bins=60, density=True, ax=right)
    left.set_title("the first draws")
    right.set_title("one coordinate")
    figure.savefig("xarray_plot.png", dpi=100)
    print("wrote xarray_plot.png")
