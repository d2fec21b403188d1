# SPDX-License-Identifier: Apache-2.0
"""Ensemble quasi-Newton, written step by step.

Walker i moves in coordinates x with q = B_i x, where B_i B_i' = 1 + blending cov(q of the others). In these, U(B_i x) is an
energy like any other, with the gradient B_i' g, and any scheme moves it. Directions that are slow in q are fast in x.
`coupling = { method = "ensemble" }` of a run does the same without forming B.
"""
import numpy as np

import kelvin

U = kelvin.Potential.toy("gaussian", covariance=[1.0, 0.0, 0.0, 0.01])  # or of a network, kelvin.Potential(model, data)
PART = {"scheme": "BAOAB", "step": 0.05, "friction": 1.0, "temperature": 1.0}
WALKERS, REFRESH, STEPS = 6, 500, 10000


def sampled(blending):
    B = [np.eye(U.size) for _ in range(WALKERS)]

    def walker(i):
        @kelvin.potential({"x": U.size})
        def in_coordinates(x, rows, g):
            energy, slope = U(B[i] @ x["x"])
            g["x"][...] = B[i].T @ slope
            return energy

        return kelvin.Chain(kelvin.Potential(in_coordinates), PART, walker=i)

    chains = [walker(i) for i in range(WALKERS)]
    draws = np.empty((WALKERS, STEPS, U.size))
    for step in range(STEPS):
        for i, chain in enumerate(chains):
            chain.step()
            draws[i, step] = B[i] @ chain.q
        if step % REFRESH == REFRESH - 1:
            for i, chain in enumerate(chains):
                others = np.delete(draws[:, step], i, axis=0)
                B[i] = np.linalg.cholesky(np.eye(U.size) + blending * np.cov(others.T, bias=True))
                chain.q[:] = np.linalg.solve(B[i], draws[i, step])
    return draws[:, REFRESH:]


for blending in (0, 100):
    draws = sampled(blending)
    times = kelvin.analyse(draws, "autocorrelation").table
    slow, fast = (row["tau_windowed"] for row in times)
    variances = draws.reshape(-1, U.size).var(axis=0)
    print(f"blending {blending:3}: a new draw every {slow:5.1f} steps in the slow direction, {fast:4.2f} in the fast one; "
          f"variances {variances[0]:.2f} and {variances[1]:.4f}, exact 1 and 0.01")
