# SPDX-License-Identifier: Apache-2.0
# The order of the bias of P(true class) in the step, for multinomial regression on Fashion-MNIST (784-10, 7850 weights, l2
# 50, friction sqrt(50)), by pairs of chains at h and h/2. Steps and friction are given in the units of the summed loss;
# ours are those of the mean loss: step sqrt(N) h, friction / sqrt(N). From the top of the tree:
#   python3 bench/order_plot.py build/kelvin [training rows] [time in source units]
import json, math, os, subprocess, sys, tempfile

kelvin = sys.argv[1]
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 60000
time = float(sys.argv[3]) if len(sys.argv) > 3 else 20.0
data = "/usr/share/datasets/fashion-mnist"
batches = 10
steps = [4e-3, 2e-3, 1e-3, 0.5e-3]
arms = [("baoab", "BAOAB", "full"), ("ubu", "UBU", "full"), ("baoab, sweeps", "BAOAB", "symmetric"),
        ("ubu, sweeps", "UBU", "symmetric"), ("baoab, random batches", "BAOAB", "with_replacement"), ("sg-hmc", "OBA", "with_replacement")]


def certificate(scheme, order, h):
    root = math.sqrt(rows)
    batch = 'size = "full"' if order == "full" else f'size = {rows // batches}\norder = "{order}"'
    text = f"""seed = 1
steps = {max(200, round(time / h))}
data = {{ file = "{data}", rows = {rows} }}
model = {{ layers = [784, 10], loss = "softmax_cross_entropy", prior = {{ name = "gaussian", scale = {1 / math.sqrt(50)} }} }}
[batch]
{batch}
[part.all]
scheme = "{scheme}"
step = {root * h}
friction = {math.sqrt(50) / root}
temperature = "posterior"
start = 0.0
"""
    with tempfile.TemporaryDirectory() as folder:
        file, out = os.path.join(folder, "run.toml"), os.path.join(folder, "found.json")
        open(file, "w").write(text)
        subprocess.run([kelvin, "certify", file, "--pairs", "2", "--threads", "1", "-q", "-o", out], check=True, stdout=subprocess.DEVNULL)
        return json.load(open(out))


def bias(found, order):
    """<P>_h - <P>_h/2 of the true class, mean over 50 test rows, from the bias that certify makes of it."""
    for table in found["tables"]:
        for line in table["rows"]:
            if line["average"] == "probability of the true class":
                share = 1 - 2.0 ** (-2 if order == "full" and scheme != "OBA" else -1)
                return share * line["bias"], share * line["error"]


for name, scheme, order in arms:
    line, last = f"{name:<24}", None
    for h in steps:
        value, error = bias(certificate(scheme, order, h), order)
        slope = "" if last is None else f" slope {math.log2(abs(last / value)):.1f}"
        line += f"  h {h:g}: {value:+.2e} +- {error:.0e}{slope}"
        last = value
    print(line, flush=True)
