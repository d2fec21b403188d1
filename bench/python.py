#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What driving Kelvin from Python costs, and how it compares with samplers in Python; sides of a row take turns.

    PYTHONPATH=build/python-package build/peers/bin/python bench/python.py [ROW]
"""
# ruff: noqa: E731
import os
import statistics
import sys
import time
import warnings

warnings.simplefilter("ignore")  # of the peers
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import numpy as np  # noqa: E402

import kelvin  # noqa: E402

TURNS = 5


def against(name, ours, theirs, wanted):
    """Each side is a function that does some steps and returns seconds a step; the ratio is theirs over ours."""
    ratios, mine, yours = [], [], []
    for turn in range(TURNS + 1):
        a, b = ours(), theirs()
        if turn > 0:  # the first one warms up
            ratios.append(b / a)
            mine.append(a)
            yours.append(b)
    print(f"| {name} | {statistics.median(ratios):.3g} | {wanted} | kelvin {1e6 * statistics.median(mine):.4g} us / "
          f"{1e6 * statistics.median(yours):.4g} us |", flush=True)


def timed(steps, work):
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) / steps


# ---- one step of a chain


def calls():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2)).astype(np.float32)
    U = kelvin.Potential({"layers": [2, 100, 1], "loss": "binary_cross_entropy"}, kelvin.Dataset(X, (X[:, 0] > 0) * 1.0))
    chain = kelvin.Chain(U, {"step": 0.01, "temperature": 1e-3}, batch={"size": 20}, steps=10**8)
    step = chain.step

    def singly():
        for _ in range(20000):
            step()

    one = lambda n: lambda: timed(20000, lambda: [step(n) for _ in range(20000 // n)])
    against("2-100-1, batch 20: step(1000) against step(20000)", one(1000), one(20000), "at least 0.99")
    base = statistics.median(one(20000)() for _ in range(TURNS))
    each = statistics.median(timed(20000, singly) for _ in range(TURNS))
    print(f"| the same, step(1): {1e9 * (each - base):.0f} ns above C++ | | at most 1500 | |", flush=True)


# ---- torch


def baoab_loop(parameters, gradients, h, gamma, T):
    import torch

    momenta = [torch.zeros_like(p) for p in parameters]
    keep = float(np.exp(-gamma * h))
    spread = float(np.sqrt(T * (1 - keep**2)))

    def steps(n):
        for _ in range(n):
            with torch.no_grad():
                for p, v in zip(parameters, momenta):
                    v.add_(p.grad, alpha=-h / 2)
                    p.add_(v, alpha=h / 2)
                    v.mul_(keep).add_(torch.randn_like(v), alpha=spread)
                    p.add_(v, alpha=h / 2)
            gradients()
            with torch.no_grad():
                for p, v in zip(parameters, momenta):
                    v.add_(p.grad, alpha=-h / 2)

    return steps


def torch_network():
    import torch

    import kelvin.torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    X, y = torch.randn(5500, 784), torch.randint(10, (5500,))
    make = lambda: torch.nn.Sequential(torch.nn.Linear(784, 100), torch.nn.ReLU(), torch.nn.Linear(100, 10))
    loss = torch.nn.functional.cross_entropy
    one, other = make(), make()
    parameters = list(other.parameters())

    def gradients():
        rows = torch.randint(5500, (55,))
        for p in parameters:
            p.grad = None
        loss(other(X[rows]), y[rows]).backward()

    gradients()
    loop = baoab_loop(parameters, gradients, 0.01, 1.0, 1 / 5500)
    quiet = {"log_every": 1000, "checkpoint_every": 1000}
    ours = lambda: timed(1000, lambda: kelvin.torch.sample(one, loss, (X, y), steps=1000, every=1000, batch=55, step=0.01,
                                                            settings=quiet))
    against("torch module 784-100-10, batch 55, against an eager BAOAB loop", ours, lambda: timed(1000, lambda: loop(1000)),
            "at least 1.2")


def logistic(rows=500, width=8):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, width)).astype(np.float32)
    p = 1 / (1 + np.exp(-X @ rng.normal(size=width)))
    return X, (rng.uniform(size=rows) < p).astype(np.float32)


def posteriors_baoa():
    import posteriors
    import torch

    import kelvin.torch

    torch.set_num_threads(1)
    X, y = map(torch.tensor, logistic())
    module = torch.nn.Linear(8, 1)
    loss = lambda out, y: torch.nn.functional.binary_cross_entropy_with_logits(out[:, 0], y)
    parameters = {name: p.detach().clone() for name, p in module.named_parameters()}

    def log_posterior(params, batch):
        outputs = torch.func.functional_call(module, params, batch[0])
        return -loss(outputs, batch[1]), outputs

    transform = posteriors.sgmcmc.baoa.build(log_posterior, lr=0.1, alpha=1.0, temperature=1 / 500)
    state = [transform.init(parameters)]

    def theirs():
        for _ in range(1000):
            state[0], _ = transform.update(state[0], (X, y))

    quiet = {"log_every": 1000, "checkpoint_every": 1000}
    ours = lambda: timed(1000, lambda: kelvin.torch.sample(module, loss, (X, y), steps=1000, every=1, scheme="BAOA", step=0.1,
                                                            settings=quiet))
    against("logistic regression, BAOA, against posteriors", ours, lambda: timed(1000, theirs), "at least 1")


# ---- JAX


def jax_peers():
    import jax
    import jax.numpy as jnp

    import kelvin.jax

    X, y = logistic()

    def energy(params):
        z = X @ params["w"] + params["b"]
        return (jnp.logaddexp(0, z) - y * z).sum() + 0.5 * (params["w"] ** 2).sum() + 0.5 * params["b"] ** 2

    start = {"w": np.zeros(8, np.float32), "b": np.float32(0)}
    leaps, draws = 10, 1000
    quiet = {"log_every": draws, "checkpoint_every": draws}
    ours = lambda: timed(draws * leaps, lambda: kelvin.jax.sample(
        energy, start, steps=draws, every=1, scheme="R{(BAB)10}", step=0.05 * leaps, settings=quiet))
    import blackjax

    kernel = blackjax.hmc(lambda p: -energy(p), 0.05, jnp.ones(9), leaps)
    loop = jax.jit(lambda state, keys: jax.lax.scan(lambda s, k: (kernel.step(k, s)[0], s.position), state, keys))
    state = kernel.init(start)
    keys = jax.random.split(jax.random.key(0), draws)
    against("logistic regression, HMC of 10 leaps, against BlackJAX in one compiled loop", ours,
            lambda: timed(draws * leaps, lambda: jax.block_until_ready(loop(state, keys))), "at least 1")


if __name__ == "__main__":
    rows = {"calls": calls, "torch": torch_network, "posteriors": posteriors_baoa, "jax": jax_peers}
    print("| what | ratio | wanted | times a step |\n| --- | --- | --- | --- |")
    for name, row in rows.items():
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            row()
