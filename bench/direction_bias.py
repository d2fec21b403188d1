# SPDX-License-Identifier: Apache-2.0
# The bias of MCLMC in single directions: variances of a Gaussian of 100 directions, condition 100, by the energy error that
# the warm-up aims at. From the top of the tree:
#   python3 bench/direction_bias.py build/kelvin [steps]
import json, os, subprocess, sys, tempfile

kelvin = sys.argv[1]
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
stiffness = [100 ** (i / 99) for i in range(100)]


def variances(scheme, target, metric):
    text = f"""seed = 1
steps = {steps}
warmup = 10000
every = 10
walkers = 4
model.toy = {{ name = "gaussian", stiffness = [{", ".join(map(str, stiffness))}] }}
[adapt]
step = true
friction = true
metric = "{metric}"
energy_variance = {target}
[part.all]
scheme = "{scheme}"
step = 0.1
temperature = 1.0
"""
    with tempfile.TemporaryDirectory() as folder:
        file, run = os.path.join(folder, "run.toml"), os.path.join(folder, "run")
        open(file, "w").write(text)
        subprocess.run([kelvin, "sample", file, "-o", run, "--threads", "1", "-q"], check=True, capture_output=True)
        found = json.loads(subprocess.run([kelvin, "summary", run, "--parameters", "--json"], check=True, capture_output=True, text=True).stdout)
    rows = [row for row in found if row["quantity"].startswith("q[")]
    assert len(rows) == len(stiffness)
    return [(k * row["mean_square"], k * row["its_error"]) for k, row in zip(stiffness, rows)]


for metric in ("unit", "diagonal"):
    for target in (5e-3, 5e-4, 5e-5):
        for scheme in ("mclmc", "mclmc_2"):
            found = variances(scheme, target, metric)
            mean = sum(x for x, _ in found) / len(found) - 1
            x, error = found[-1]
            print(f"{metric:<9} {scheme:<8} {target:<7g} stiffest {100 * (x - 1):+6.1f} % ({100 * error:.1f})  mean {100 * mean:+5.1f} %", flush=True)
