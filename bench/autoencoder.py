#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stacked denoising autoencoder, 784-500-500-2000-10, trained layer by layer by several methods at equal steps.

Each layer learns to give back its inputs, a fifth of which are left out at every step; then the next one learns on what it makes of
the data. Of three steps each method gets the one with the lowest training loss after a fifth of the steps of the first layer.
Prints a table of mean squared errors per number on training and test rows, and writes bench/autoencoder.svg. From the top of the tree:
  python3 bench/autoencoder.py build/kelvin FOLDER_OF_MNIST [steps per layer] [training rows]
To add a method, add its row to `methods`.
"""
import json, math, pathlib, subprocess, sys, tempfile

kelvin, folder = str(pathlib.Path(sys.argv[1]).resolve()), str(pathlib.Path(sys.argv[2]).resolve())
steps = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
rows = int(sys.argv[4]) if len(sys.argv) > 4 else 10000
sizes, batch, temperature = [784, 500, 500, 2000, 10], 128, 1e-7
mask = 'mask = { name = "dropout", share = 0.2 }'

# label, steps to choose from, what stands in a run file for a part with `mask` and with the step h
plain = lambda more: lambda h, half: f'[part.first]\nblocks = ["layer1.*"]\n{mask}\nstep = {h}\n{more}\n[part.second]\nblocks = ["layer2.*"]\nstep = {h}\n{more}\n'
methods = [
    ("SGD, momentum 0.9", [0.3, 0.1, 0.03], plain('scheme = "heavy_ball"\nmomentum = 0.9')),
    ("RMSprop", [3e-3, 1e-3, 3e-4], plain('scheme = "rmsprop"')),
    ("Adam", [3e-3, 1e-3, 3e-4], plain('scheme = "adam"')),
    ("AnnealSGD", [0.3, 0.1, 0.03], plain('scheme = "heavy_ball"\nmomentum = 0.9\ngradient_noise = { name = "polynomial", from = 1e-6, delay = 1.0, power = 0.55 }')),
    ("Santa", [1.0, 0.3, 0.1], plain(f'scheme = "santa"\ntemperature = {{ name = "linear", from = {temperature}, to = 0.0 }}')),
    ("CTLD, then descent", [1.0, 0.5, 0.2],
     lambda h, half: f'[part.first]\nblocks = ["layer1.*"]\n{mask}\n[part.second]\nblocks = ["layer2.*"]\n'
     + f'[tempering]\nform = "potential"\nstrength = 0.3\npilot = 200\n'
     + "".join(f"[[phase]]\nsteps = {half}\n" + "".join(f"[phase.part.{name}]\nscheme = \"OBAB\"\nstep = {h}\nfriction = {0.1 / h}\ntemperature = {T}\n"
                                                        for name in ["first", "second"]) for T in [temperature, 0.0])),
]


def trained(place, data, widths, text, count):
    """Trains one layer; returns its directory and the lines of its log."""
    run = place / "run"
    settings = (f"seed = 1\nsteps = {count}\nlog_every = {max(1, count // 50)}\n[data]\n{data}\ntargets_are = \"inputs\"\n"
                f"[model]\nlayers = [{widths[0]}, {widths[1]}, {widths[0]}]\nloss = \"mean_squared\"\n[batch]\nsize = {batch}\n{text}")
    (place / "run.toml").write_text(settings)
    made = subprocess.run([kelvin, "train", place / "run.toml", "-q", "--force", "-o", run, "--threads", "1"], capture_output=True, text=True)
    if made.returncode:
        return None, made.stderr
    return run, [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def stack(label, choices, text):
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        first = f'file = "{folder}"\nrows = {rows}'
        tries = {}
        for h in choices:
            run, log = trained(place, first, sizes[:2], text(h, max(1, steps // 10)), max(2, steps // 5))
            if run:
                tries[log[-1]["train"]["loss"]] = h
        h, data, found = tries[min(tries)], first, []
        for k in range(len(sizes) - 1):
            run, log = trained(place, data, sizes[k:k + 2], text(h, steps // 2), steps)
            if not run:
                return h, found, log
            found.append(log)
            codes = place / f"codes{k}"
            subprocess.run([kelvin, "encode", run, "-o", codes], check=True, stdout=subprocess.DEVNULL)
            data = f'file = "{codes / "train.npy"}"\ntest_file = "{codes / "test.npy"}"'
        return h, found, ""


colours = ["#1b6ca8", "#c0392b", "#8e44ad", "#1e8449", "#b9770e", "#17202a"]
print(f"{steps} steps of batch {batch} per layer, {rows} training rows; mean squared error, training / test\n")
print("| method | step | " + " | ".join(f"{a}-{b}" for a, b in zip(sizes, sizes[1:])) + " |\n| --- | --- |" + " --- |" * (len(sizes) - 1), flush=True)
curves = []
for label, choices, text in methods:
    h, found, fault = stack(label, choices, text)
    cells = [f"{log[-1]['train']['rmse'] ** 2:.5f} / {log[-1]['test']['rmse'] ** 2:.5f}" for log in found] + ["-"] * (len(sizes) - 1 - len(found))
    print(f"| {label} | {h:g} | " + " | ".join(cells) + " |" + (f" {fault.strip()}" if fault else ""), flush=True)
    curves.append([(line["step"], line["train"]["rmse"] ** 2) for line in found[0]])
low = math.log10(min(y for curve in curves for _, y in curve))
high = math.log10(max(y for curve in curves for _, y in curve))
x = lambda step: 60 + 420 * step / steps
y = lambda error: 300 - 260 * (math.log10(error) - low) / (high - low)
svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="700" height="350" font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="white"/>',
       '<text x="60" y="20">first layer: mean squared error on training rows against steps</text>', f'<text x="440" y="325">{steps} steps</text>',
       f'<text x="5" y="304">{10**low:.2g}</text>', f'<text x="5" y="44">{10**high:.2g}</text>']
for k, curve in enumerate(curves):
    points = " ".join(f"{x(step):.1f},{y(error):.1f}" for step, error in curve)
    svg.append(f'<polyline points="{points}" fill="none" stroke="{colours[k]}" stroke-width="2"/><text x="500" y="{60 + 22 * k}" fill="{colours[k]}">{methods[k][0]}</text>')
(pathlib.Path(__file__).parent / "autoencoder.svg").write_text("\n".join(svg + ["</svg>"]) + "\n")
