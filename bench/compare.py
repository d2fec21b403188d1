#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Takes turns between Kelvin, its bounds, PyTorch and JAX, and writes bench/RESULTS.md and bench/growth.svg.

Every row is the median of the ratios of interleaved turns of one run; the spread is the middle half of them.
Usage, from the project's root:  bench/compare.py [turns] [seconds per turn]
The peers run under build/peers/bin/python, which `./run bench` makes from bench/requirements.txt.
"""
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys

here = pathlib.Path(__file__).parent
turns = int(sys.argv[1]) if len(sys.argv) > 1 else 9
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0.3
if turns < 2:
    sys.exit(f"compare.py: {turns} turns have no spread; give at least 2")

# Peers, and Kelvin beside them, have one core; beside itself Kelvin has all, because runs write their files on a thread.
torch, jax, kelvin, one_core_kelvin, twice = "torch", "jax", "kelvin", "kelvin on one core", "two programs at once"


def eager(case):
    return (torch, f"{case}, eager")


def forms(case, *names):
    """The forms in which PyTorch runs a case; the fastest is the peer."""
    return [(torch, f"{case}, {name}") for name in names]


# (what, whose time is divided, by whose, wanted; "<" wants at most); of a list of peers the fastest counts
rows = [
    ("BAOAB step, 2-100-1 relu, BCE, batch 20, float", eager("baoab 2-100-1 batch 20"), [(one_core_kelvin, "baoab 2-100-1 batch 20")], ">", 150),
    ("BAOAB step, 2-500-1, batch 20", eager("baoab 2-500-1 batch 20"), [(one_core_kelvin, "baoab 2-500-1 batch 20")], ">", 45),
    ("BAOAB step, 784-100-10, cross-entropy, batch 550", eager("baoab 784-100-10 batch 550"), [(one_core_kelvin, "baoab 784-100-10 batch 550")], ">", 1.6),
    ("the same step against its matrix products alone", (kelvin, "baoab 784-100-10 batch 550"), [(kelvin, "products 784-100-10 batch 550")], "<", 1.25),
    ("BAOAB step, 784-100-10, batch 55", eager("baoab 784-100-10 batch 55"), [(one_core_kelvin, "baoab 784-100-10 batch 55")], ">", 2.3),
    ("SGD with momentum (`OBA` at T = 0), 2-100-1, batch 20", eager("sgd-momentum 2-100-1 batch 20"), [(one_core_kelvin, "sgd-momentum 2-100-1 batch 20")], ">", 150),
    ("BAOAB step, 784-1000-10, batch 128, weights on circles, against the free step", (kelvin, "baoab 784-1000-10 batch 128 on circles"), [(kelvin, "baoab 784-1000-10 batch 128")], "<", 2),
    ("the same with rows on spheres", (kelvin, "baoab 784-1000-10 batch 128 on spheres"), [(kelvin, "baoab 784-1000-10 batch 128")], "<", 2),
    ("SGD step, 100-100, batch 25, orthogonal weights, against the free step", (kelvin, "sgd 100-100 batch 25, orthogonal"), [(kelvin, "sgd 100-100 batch 25")], "<", 1.25),
    ("normals, float, against std::normal_distribution with mt19937", (kelvin, "std::normal_distribution"), [(kelvin, "normals")], ">", 8),
    ("BAOAB on 10 million harmonic coordinates, against one memory pass over q, p, g and its noise", (kelvin, "baoab 10 million harmonic coordinates"),
     [(kelvin, "memory pass over q, p, g of 10 million"), (kelvin, "normals for 10 million")], "<", 1.5),
    ("run of 2-100-1 with every draw stored, against the run without", (kelvin, "run 2-100-1, every draw stored"), [(kelvin, "run 2-100-1, nothing stored")], "<", 2),
    ("summary of 100000 draws of 1000 parameters, against one pass over the same bytes", (kelvin, "summary of 100000 draws of 1000 parameters"),
     [(kelvin, "reading 100000 draws of 1000 parameters")], "<", 3),
    ("predict of 1000 draws on 10 000 rows (measured with 100), 784-100-10, against the forward passes alone", (kelvin, "predict 784-100-10"), [(kelvin, "forward passes 784-100-10")], "<", 1.3),
    ("eight coupled walkers of 784-10, batch 550, refreshed every 1000 steps, against independent ones", (kelvin, "eight walkers of 784-10, coupled"),
     [(kelvin, "eight walkers of 784-10, independent")], "<", 1.05),
    ("two walkers, two threads against one", (kelvin, "two walkers on one thread"), [(kelvin, "two walkers on two threads")], ">", 1.9),
    ("two walkers on two threads, against two programs with a walker each (what this machine gives)", (kelvin, "two walkers on two threads"),
     [(twice, "one walker on one thread")], "<", 1.05),
]
for hidden in ["2-100-1", "784-100-10"]:
    rows += [(f"BAOAB step, {hidden}, batch {batch}, tanh against relu", (kelvin, f"tanh {hidden} batch {batch}"), [(kelvin, f"relu {hidden} batch {batch}")], "<", 1.3)
             for batch in [20, 100, 500]]

# (what, case, forms that PyTorch has besides eager, wanted of PyTorch's time over Kelvin's and of JAX's)
networks = [
    ("small conv net, 28 x 28, batch 32", "baoab small conv net", ["channels last", "compiled"], 3.5),
    ("LSTM-32, 64 characters, batch 32", "baoab lstm 32", ["compiled"], 3.2),
    ("2 x LSTM-128, 64 characters, batch 32", "baoab 2 x lstm 128", ["compiled"], 1.25),
    ("transformer, d = 32, 64 characters, batch 32", "baoab transformer 32", ["compiled"], 2.4),
    ("transformer, d = 128, 64 characters, batch 32", "baoab transformer 128", ["compiled"], 1.2),
    ("ResNet-18 of width 16, 32 x 32, batch 128", "baoab resnet 18 width 16", ["channels last", "compiled"], 1.15),
    ("ResNet-18 of width 64, 32 x 32, batch 32", "baoab resnet 18 width 64", ["channels last", "compiled"], 1.0),
]
for what, case, others, wanted in networks:
    rows.append((f"BAOAB step, {what}", forms(case, "eager", *others), [(one_core_kelvin, case)], ">", wanted))
    rows.append((f"the same against JAX, {what}", (jax, case), [(one_core_kelvin, case)], ">", wanted))
growth = ["hidden units of 2-100-1", "layers of 2-100-..-1", "batch of 2-100-1", "walkers of 2-100-1"]
factors = [1, 2, 4, 8]
# where the work is not in proportion to what grows: parameters, which also count the multiplications of a row of data
work = {"layers of 2-100-..-1": [401 + 10100 * (k - 1) for k in factors]}



def server(command, cores):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
                            preexec_fn=lambda: os.sched_setaffinity(0, cores))


peers = here / "../build/peers/bin/python"
commands = {kelvin: [here / "../build/bench/steps_bench", "--serve"], torch: [peers, here / "torch_steps.py"], jax: [peers, here / "jax_steps.py"]}
# Each program chooses the loops of its BLAS itself.
environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
all_cores = os.sched_getaffinity(0)
one_core = {max(all_cores)}
programs = {kelvin: server(commands[kelvin], all_cores), "another": server(commands[kelvin], all_cores)}
programs |= {one_core_kelvin: server(commands[kelvin], one_core)} | {name: server(commands[name], one_core) for name in [torch, jax]}


def ask(who, what, time):
    asked = [programs[name] for name in ([kelvin, "another"] if who == twice else [who])]
    for program in asked:
        program.stdin.write(f"{what} {time}\n")
        program.stdin.flush()
    return max(float(program.stdout.readline()) for program in asked)


def note(text):
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def measured(cases):
    """case -> its times, one per turn; all cases take turns, fewer where one takes very long."""
    times = {case: [] for case in cases}
    for case in cases:
        note(f"preparing {case[1]}")
        ask(*case, 0.05)
    longest = max(ask(*case, 0.001) for case in cases)
    rounds = turns if longest < 40 * seconds else 2
    for turn in range(rounds):
        for case in cases:
            note(f"turn {turn + 1} of {rounds}: {case[1]}")
            times[case].append(ask(*case, seconds))
    return times


def peak_memory(who, case):
    """Megabytes that a program of its own holds at most while it does the case."""
    program = server(commands[who], one_core)
    status = pathlib.Path(f"/proc/{program.pid}/status")
    for round in range(2):
        if round == 1:  # what it works on is made
            (status.parent / "clear_refs").write_text("5")  # forgets the peak so far
        program.stdin.write(f"{case} 0.01\n")
        program.stdin.flush()
        program.stdout.readline()
    most = int(next(line for line in open(status) if line.startswith("VmHWM")).split()[1]) / 1024
    program.stdin.close()
    program.wait()
    return most


def shown(x):
    for unit, scale in [("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)]:
        if x >= scale:
            return f"{x / scale:.3g} {unit}"
    return f"{x:.3g} s"


def named(who, case):
    """The program, with the form in which it ran."""
    form = case.rsplit(", ", 1)[-1]
    return f"{who} {form}" if who == torch and form != "eager" else kelvin if who == one_core_kelvin else who


processor = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
text = f"""# Benchmarks

Made by `./run bench` ({turns} turns of {seconds} s each, taken in turn) on: {processor}. One core unless said otherwise. Medians
of the ratios of single turns, with the middle half of them: a machine that slows down does so for both sides of a turn. PyTorch
and JAX are those of `bench/requirements.txt` on the same core, with the same update written the ordinary way (`bench/torch_steps.py`,
`bench/jax_steps.py`). PyTorch is eager; where a row names another form, that was its fastest of eager, channels last and compiled.
JAX's loop is compiled as a whole.

| what | ratio | middle half | wanted | times |
| --- | --- | --- | --- | --- |
"""
missed = []
for what, above, below, sign, wanted in rows:
    alternatives = above if isinstance(above, list) else [above]
    times = measured(dict.fromkeys(alternatives + below))
    above = min(alternatives, key=lambda case: statistics.median(times[case]))
    single = [times[above][k] / sum(times[b][k] for b in below) for k in range(len(times[above]))]
    low, ratio, high = statistics.quantiles(single, n=4)
    met = ratio >= wanted if sign == ">" else ratio <= wanted
    if not met:
        missed.append(what)
    spent = " / ".join(" + ".join(f"{named(*case)} {shown(statistics.median(times[case]))}" for case in group) for group in [[above], below])
    text += f"| {what} | {ratio:.3g}{'' if met else ' (missed)'} | {low:.3g} to {high:.3g} | {'at least' if sign == '>' else 'at most'} {wanted} | {spent} |\n"

text += "\n## Growth\n\nTime of a BAOAB step over that of the first column.\n\n| what grows | " + " | ".join(f"x{k}" for k in factors) + " |\n| --- |" + " --- |" * len(factors) + "\n"
curves = {}
for what in growth:
    times = measured([(kelvin, f"growth {what} x{k}") for k in factors])
    medians = [statistics.median(t) for t in times.values()]
    curves[what] = [m / medians[0] for m in medians]
    text += f"| {what} | " + " | ".join(f"{r:.2f}" for r in curves[what]) + " |\n"
    if what in work:
        text += "| (its parameters) | " + " | ".join(f"{w / work[what][0]:.2f}" for w in work[what]) + " |\n"
text += "\n![growth](growth.svg)\n\nNothing may grow faster than its work. A second hidden layer of 100 units brings 26 times the parameters of the first, hence the\nfirst step of that row. [Where the time goes](../docs/speed.md).\n"
text += "\n## Memory\n\nThe most that a program holds while it works, data and buffers included.\n"
for case in ["summary of 100000 draws of 1000 parameters", "predict 784-100-10"]:
    text += f"\n- {case}: {peak_memory(kelvin, case):.0f} MB"
text += "\n\nOf the networks; PyTorch eager or channels last, whichever needs less (compiled, it holds its compiler too).\n\n| what | kelvin | torch | jax |\n| --- | --- | --- | --- |\n"
for what, case, others, _ in networks:
    note(f"memory: {case}")
    own = peak_memory(kelvin, case)
    least = min(peak_memory(*peer) for peer in forms(case, "eager", *others) if not peer[1].endswith("compiled"))
    if own > least:
        missed.append(f"memory of {what}")
    text += f"| {what} | {own:.0f} MB{'' if own <= least else ' (missed)'} | {least:.0f} MB | {peak_memory(jax, case):.0f} MB |\n"
note("")
(here / "RESULTS.md").write_text(text)

# A plain picture: both axes logarithmic, the dashed line is proportional growth.
colours = ["#1b6ca8", "#c0392b", "#218c5a", "#8e44ad"]
highest = max(max(c) for c in curves.values())
x = lambda k: 60 + 150 * math.log2(k)
y = lambda r: 300 - 250 * math.log2(max(r, 0.9)) / math.log2(max(8, highest))
svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="760" height="350" font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="white"/>']
for k in factors:
    svg.append(f'<text x="{x(k) - 8}" y="325">x{k}</text><line x1="{x(k)}" y1="300" x2="{x(k)}" y2="{y(max(8, highest))}" stroke="#ddd"/>')
for r in [1, 2, 4, 8]:
    svg.append(f'<text x="20" y="{y(r) + 5}">{r}</text><line x1="60" y1="{y(r)}" x2="{x(8)}" y2="{y(r)}" stroke="#ddd"/>')
svg.append(f'<line x1="{x(1)}" y1="{y(1)}" x2="{x(8)}" y2="{y(8)}" stroke="#888" stroke-dasharray="5"/>')
for n, (what, curve) in enumerate(curves.items()):
    points = " ".join(f"{x(k):.1f},{y(r):.1f}" for k, r in zip(factors, curve))
    svg.append(f'<polyline points="{points}" fill="none" stroke="{colours[n]}" stroke-width="2"/><text x="530" y="{60 + 22 * n}" fill="{colours[n]}">{what}</text>')
svg.append('<text x="530" y="150" fill="#888">dashed: in proportion</text><text x="60" y="20">time of a step, relative, against growth of the problem</text></svg>')
(here / "growth.svg").write_text("\n".join(svg) + "\n")
print(text)
if missed:
    print("missed: " + "; ".join(missed), file=sys.stderr)
