# SPDX-License-Identifier: Apache-2.0
# The order of the bias of P(true class) in the step, for multinomial regression on Fashion-MNIST (784-10, 7850 weights, l2
# 50, friction sqrt(50)), by pairs of chains at h and h/2. Steps and friction are given in the units of the summed loss of
# N = 60000 rows; ours are those of the mean loss: step sqrt(N) h, friction / sqrt(N), penalty 50/N, temperature 1/N. With
# fewer rows these stay as they are, so that only the data are fewer. From the top of the tree:
#   python3 bench/order_plot.py build/kelvin [training rows] [time in source units]
import json, math, os, subprocess, sys, tempfile

kelvin = sys.argv[1]
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 60000
time = float(sys.argv[3]) if len(sys.argv) > 3 else 20.0
data = "/usr/share/datasets/fashion-mnist"
batches, N = 10, 60000
# Within the range of the source, where each can be told from its error; noise of minibatches needs the shorter ones.
steps = {True: [2e-3, 1e-3, 0.5e-3], False: [5e-4, 2.5e-4, 1.25e-4, 6.25e-5]}
arms = [("baoab", "BAOAB", "full"), ("ubu", "UBU", "full"), ("baoab, sweeps", "BAOAB", "symmetric"),
        ("ubu, sweeps", "UBU", "symmetric"), ("baoab, random batches", "BAOAB", "with_replacement"), ("sg-hmc", "OBA", "with_replacement")]


def certificate(scheme, order, h):
    root = math.sqrt(N)
    batch = 'size = "full"' if order == "full" else f'size = {rows // batches}\norder = "{order}"'
    text = f"""seed = 1
steps = {max(200, round(time / h))}
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
    with tempfile.TemporaryDirectory() as folder:
        file, out = os.path.join(folder, "run.toml"), os.path.join(folder, "found.json")
        open(file, "w").write(text)
        subprocess.run([kelvin, "certify", file, "--pairs", "1", "--threads", "1", "-q", "-o", out], check=True, stdout=subprocess.DEVNULL)
        return json.load(open(out))


def differences(found, order):
    """<f>_h - <f>_h/2 for the mean of U, and of P(true class) over 50 test rows, from what certify makes of them."""
    share = 1 - 2.0 ** (-2 if order == "full" else -1)
    lines = {line["average"]: line for table in found["tables"] for line in table["rows"]}
    return [(share * lines[name]["bias"], share * lines[name]["error"]) for name in ("U", "probability of the true class")]


for name, scheme, order in arms:
    table = [differences(certificate(scheme, order, h), order) for h in steps[order == "full"]]
    for k, of in enumerate(("U", "P(true class)")):
        line, last = f"{name:<22} {of:<14}", None
        for h, found in zip(steps[order == "full"], table):
            value, error = found[k]
            slope = "" if last is None else f" slope {math.log2(abs(last / value)):.1f}"
            line += f"  h {h:g}: {value:+.2e} +- {error:.0e}{slope}"
            last = value
        print(line, flush=True)
