#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stacked denoising autoencoder, 784-500-500-2000-10, trained layer by layer by several methods at equal steps.

Each layer learns to give back its inputs, a fifth of which are left out at every step; then the next one learns on what it
makes of the data. Of its steps each method gets the one with the lowest training error after a fifth of the steps of the first layer.
Prints a table of mean squared errors per number on training and test rows, and writes bench/autoencoder.svg. Runs are kept in
runs/autoencoder, and what is there already is not computed again. From the top of the tree:
  python3 bench/autoencoder.py build/kelvin FOLDER_OF_MNIST [steps per layer] [training rows]
To add a method, add its row to `methods`.
"""
import json, math, pathlib, re, subprocess, sys

kelvin, folder = str(pathlib.Path(sys.argv[1]).resolve()), str(pathlib.Path(sys.argv[2]).resolve())
steps = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
rows = int(sys.argv[4]) if len(sys.argv) > 4 else 10000
sizes, batch, temperature = [784, 500, 500, 2000, 10], 128, 1e-8
place = pathlib.Path("runs/autoencoder") / f"{steps}_{rows}"


def parts(more, under=""):
    """Both layers by the same settings; the first one's inputs are masked."""
    mask = '' if under else 'mask = { name = "dropout", share = 0.2 }\n'
    name = lambda part: f"[{under}part.{part}]\n"
    blocks = lambda k: '' if under else f'blocks = ["layer{k}.*"]\n'
    return name("first") + blocks(1) + mask + more + "\n" + name("second") + blocks(2) + more + "\n"


def heated_then_not(h, count, tempering=""):
    """Langevin dynamics for half of the steps, then the same without noise: SGD with rate h^2 and momentum 0.9."""
    return parts("") + tempering + "".join(
        f"[[phase]]\nsteps = {count // 2}\n" + parts(f"step = {h}\nfriction = {0.105 / h}\ntemperature = {T}", "phase.")
        for T in [temperature, 0.0])


momentum = 'scheme = "heavy_ball"\nmomentum = 0.9\n'
noise = 'gradient_noise = { name = "polynomial", from = 1e-9, power = 0.55 }\n'
rates = [1.0, 3.0, 10.0]
# Hills are a tenth of U/T at the start, and alpha as light as lets it cross its range in some twenty steps.
tempering = lambda h: ('[tempering]\nform = "paper"\npilot = 0\n'
                       f'mass = {3e7 * h * h}\nbias = {{ name = "metadynamics", height = 2e5, sigma = 0.1, every = 1 }}\n')
# label, steps to choose from, whether half of the run is a warm-up in which a bias is learnt, and what the run file says of
# the parts for the step h and so many steps in all
methods = [
    ("CTLD, then descent", [rate**0.5 for rate in rates], True, lambda h, count: heated_then_not(h, count, tempering(h))),
    ("Langevin, then descent", [rate**0.5 for rate in rates], False, heated_then_not),
    ("Santa", [0.01, 0.02, 0.04], False, lambda h, count: parts(
        f'scheme = "santa"\nstep = {h}\nfriction = {0.1 / h}\nxi = {0.1 / h}\nfloor = 1e-4\n'
        f'temperature = {{ name = "polynomial", from = 1e-7, power = 0.5, until = {count // 2} }}')),
    ("Adam", [3e-4, 1e-3, 3e-3], False, lambda h, count: parts(f'scheme = "adam"\nstep = {h}')),
    ("SGD, momentum 0.9", rates, False, lambda h, count: parts(momentum + f"step = {h}")),
    ("RMSprop", [1e-4, 3e-4, 1e-3], False, lambda h, count: parts(f'scheme = "rmsprop"\nbeta2 = 0.99\nstep = {h}')),
    ("AnnealSGD", rates, False, lambda h, count: parts(momentum + noise + f"step = {h}")),
]


def trained(name, data, widths, text, count, warmup, lines):
    """Trains one layer, unless that was done; returns its directory and the lines of its log, or what went wrong."""
    place.mkdir(parents=True, exist_ok=True)
    file, run = place / f"{name}.toml", place / name
    learns = count // 2 if warmup else 0
    settings = (f"seed = 1\nsteps = {count - learns}\nwarmup = {learns}\nlog_every = {max(1, count // lines)}\n[data]\n{data}\n"
                f'targets_are = "inputs"\n[model]\nlayers = [{widths[0]}, {widths[1]}, {widths[0]}]\nloss = "mean_squared"\n'
                f"[batch]\nsize = {batch}\n{text}")
    log = lambda: [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    if file.exists() and file.read_text() == settings and (run / "log.jsonl").exists() and log()[-1]["step"] == count:
        return run, log()
    file.write_text(settings)
    made = subprocess.run([kelvin, "train", file, "-q", "--force", "-o", run, "--threads", "1"], capture_output=True, text=True)
    return (None, made.stderr) if made.returncode else (run, log())


def error(line, split):
    return line[split]["rmse"] ** 2


def stack(depth, label, choices, warmup, text):
    """The step chosen, the logs of so many layers, and what went wrong."""
    name = re.sub("[^a-z]+", "_", label.lower()).strip("_")
    data, tries, found = f'file = "{folder}"\nrows = {rows}', {}, []
    for k, h in enumerate(choices):
        run, log = trained(f"{name}_try{k}", data, sizes[:2], text(h, steps // 5), steps // 5, warmup, 1)
        if run:
            tries[error(log[-1], "train")] = h
    if not tries:
        return math.nan, found, log
    h = tries[min(tries)]
    for k in range(depth):
        run, log = trained(f"{name}_{k + 1}", data, sizes[k:k + 2], text(h, steps), steps, warmup, 10 if k == 0 else 1)
        if not run:
            return h, found, log
        found.append(log)
        codes = (place / f"{name}_codes{k + 1}").resolve()
        if k + 1 < depth and not (codes.exists() and codes.stat().st_mtime > (run / "log.jsonl").stat().st_mtime):
            subprocess.run([kelvin, "encode", run, "--force", "-o", codes], check=True, stdout=subprocess.DEVNULL)
        data = f'file = "{codes / "train.npy"}"\ntest_file = "{codes / "test.npy"}"'
    return h, found, ""


print(f"{steps} steps of batch {batch} per layer, {rows} training rows; mean squared error, training / test\n")
print("| method | step | " + " | ".join(f"{a}-{b}" for a, b in zip(sizes, sizes[1:])) + " |")
print("| --- | --- |" + " --- |" * (len(sizes) - 1), flush=True)
for method in methods:  # first the layers that the figure shows
    stack(1, *method)
curves = []
for label, *method in methods:
    h, found, fault = stack(len(sizes) - 1, label, *method)
    cells = [f"{error(log[-1], 'train'):.5f} / {error(log[-1], 'test'):.5f}" for log in found] + ["-"] * (len(sizes) - 1 - len(found))
    print(f"| {label} | {h:.3g} | " + " | ".join(cells) + " |" + (f" {fault.strip()}" if fault else ""), flush=True)
    if found:
        curves.append((label, [(line["step"], error(line, "train")) for line in found[0]]))

colours = ["#1b6ca8", "#c0392b", "#8e44ad", "#1e8449", "#b9770e", "#7f8c8d", "#17202a"]
low = math.log10(min(y for _, curve in curves for _, y in curve)) - 0.02
high = math.log10(max(y for _, curve in curves for _, y in curve)) + 0.02
x = lambda step: 60 + 420 * step / steps
y = lambda error: 300 - 260 * (math.log10(error) - low) / (high - low)
svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="700" height="350" font-family="sans-serif" font-size="13">',
       '<rect width="100%" height="100%" fill="white"/>',
       '<text x="60" y="20">first layer: mean squared error on training rows against steps</text>']
for k in range(5):
    at = steps * k // 4
    svg.append(f'<text x="{x(at):.0f}" y="320" text-anchor="middle">{at}</text>'
               f'<line x1="{x(at):.0f}" y1="300" x2="{x(at):.0f}" y2="40" stroke="#ddd"/>')
for at in [m * 10**k for k in range(-4, 0) for m in [1, 1.5, 2, 3, 4, 5, 7]]:
    if low <= math.log10(at) <= high:
        svg.append(f'<text x="55" y="{y(at) + 4:.1f}" text-anchor="end">{at:g}</text>'
                   f'<line x1="60" y1="{y(at):.1f}" x2="480" y2="{y(at):.1f}" stroke="#ddd"/>')
for k, (label, curve) in enumerate(curves):
    points = " ".join(f"{x(step):.1f},{y(error):.1f}" for step, error in curve)
    svg.append(f'<polyline points="{points}" fill="none" stroke="{colours[k]}" stroke-width="2"/>'
               f'<text x="500" y="{60 + 22 * k}" fill="{colours[k]}">{label}</text>')
(pathlib.Path(__file__).parent / "autoencoder.svg").write_text("\n".join(svg + ["</svg>"]) + "\n")
