# SPDX-License-Identifier: Apache-2.0
# Gradients that one walker needs until its averages are known: b^2 = (average - exact)^2 / variance, its mean over walkers
# and the worst of a target's averages, falls below 0.01 and stays there. Warm-ups are not counted. For strings that learn
# nothing, the best of a grid of steps and frictions is shown. Needs nothing but Python. From the top of the tree:
#   python3 bench/gradients_to_error.py build/kelvin [walkers]
import csv, math, os, subprocess, sys, tempfile

kelvin = sys.argv[1]
walkers = int(sys.argv[2]) if len(sys.argv) > 2 else 16
bound = 0.01

stiffness = [10 ** (2 * i / 19) for i in range(20)]  # condition 100
targets = {  # toy, averages as (function of the coordinates, exact mean, exact variance), steps of a run, steps to try
    "Gaussian": ("{ name = 'gaussian', stiffness = [%s] }" % ", ".join(map(str, stiffness)),
                 [(lambda q, i=i: q[i] ** 2, 1 / k, 2 / k ** 2) for i, k in enumerate(stiffness)], 12000, [0.05, 0.1, 0.15]),
    "funnel": ("{ name = 'funnel', scale = 1.5 }", [(lambda q: q[0], 0, 2.25), (lambda q: q[0] ** 2, 2.25, 2 * 2.25 ** 2)],
               60000, [0.05, 0.1, 0.2]),
    "banana": ("{ name = 'banana' }", [(lambda q: q[0] ** 2, 100, 2e4), (lambda q: q[1], 0, 19)], 60000, [0.1, 0.2, 0.4]),
}
frictions = [0.1, 0.3, 1.0]
tempo = "[tempo]\nleast = 0.1\nmost = 5.0\n"
adapted = "[adapt]\nstep = true\nfriction = true\nenergy_variance = %g\n"
samplers = {  # string, what the run file says besides, gradients a step, whether step and friction are tried
    "baoab": ("BAOAB", "", 1, True),
    "samadams": ("samadams", tempo, 1, True),
    "mclmc, 2e-5": ("mclmc", adapted % 2e-5, 1, False),
    "mclmc, 5e-4": ("mclmc", adapted % 5e-4, 1, False),
    "mclmc_2, 2e-5": ("mclmc_2", adapted % 2e-5, 2, False),
    "nuts": ("nuts", "[adapt]\nstep = true\n", 0, False),
}


def draws(toy, scheme, more, steps, step, friction):
    """The draws of each walker: (log weight, gradients so far, q)."""
    nuts = scheme == "nuts"
    steps, every = (steps // 10, 1) if nuts else (steps, 10)
    text = f"""seed = 1
steps = {steps}
warmup = 3000
every = {every}
walkers = {walkers}
model.toy = {toy}
{more}
[part.all]
scheme = "{scheme}"
step = {step}
friction = {friction}
temperature = 1.0
"""
    with tempfile.TemporaryDirectory() as folder:
        file, run, table = (os.path.join(folder, name) for name in ("run.toml", "run", "draws.csv"))
        open(file, "w").write(text)
        for command in (["sample", file, "-o", run, "--threads", "1", "-q"], ["export", run, "--to", "csv", "-o", table]):
            done = subprocess.run([kelvin, *command], capture_output=True, text=True)
            if done.returncode:
                return None  # a step that blew up
        out = [[] for _ in range(walkers)]
        for line in csv.DictReader(open(table)):
            chain = out[int(line["chain"])]
            q = [float(value) for name, value in line.items() if name.startswith("q[")]
            cost = int(line["n_steps"]) if nuts else every
            chain.append((float(line.get("log_weight", 0)), (chain[-1][1] if chain else 0) + cost, q))
        return out


def gradients(chains, averages, each):
    """Gradients after which b^2 stays below the bound, and b^2 at the end."""
    length = min(map(len, chains))
    worst = [0.0] * length
    for f, mean, variance in averages:
        square = [0.0] * length
        for chain in chains:
            weight = total = 0.0
            for n in range(length):
                w = math.exp(chain[n][0])
                weight += w
                total += w * f(chain[n][2])
                square[n] += (total / weight - mean) ** 2 / variance / walkers
        worst = [max(a, b) for a, b in zip(worst, square)]
    above = max((n for n in range(length) if worst[n] > bound), default=0)
    cost = sum(chain[above][1] for chain in chains) / walkers * max(each, 1)
    return (cost if above < length - 1 else math.inf), worst[-1]


for target, (toy, averages, steps, tried) in targets.items():
    for sampler, (scheme, more, each, grid) in samplers.items():
        best = (math.inf, math.inf, "")
        for step, friction in ((s, f) for s in (tried if grid else [0.1]) for f in (frictions if grid else [1.0])):
            chains = draws(toy, scheme, more, steps, step, friction)
            if chains:
                best = min(best, (*gradients(chains, averages, each), f"step {step:g}, friction {friction:g}" if grid else ""))
        cost, left, how = best
        said = f"{cost:.0f}" if math.isfinite(cost) else "never"
        print(f"{target:<9} {sampler:<14} {said:>8} gradients  b^2 at the end {left:.1e}  {how}", flush=True)
