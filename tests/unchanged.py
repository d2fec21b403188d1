#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# The net under the redesign: draws and log of eleven kinds of runs, on two instruction sets, are what they were before.
#   unchanged.py KELVIN            compares with reference/unchanged.json
#   unchanged.py KELVIN --write    writes it
import hashlib, json, os, subprocess, sys, tempfile
import zarr

spiral = ('data = { generator = { name = "spiral", rows = 100 } }\n'
          'model = { layers = [2, 12, 1], activation = "tanh", loss = "binary_cross_entropy", prior = 1.0 }\n')
kinds = {
    "nuts": 'steps = 200\nwarmup = 500\nevery = 1\nwalkers = 2\nstore.keep_warmup = true\n' + spiral +
            'adapt = { step = true, metric = "dense" }\npart.all = { scheme = "nuts", step = 0.1, temperature = 0.01 }\n',
    "ccadl": 'steps = 2000\nwarmup = 2000\nevery = 2\nbatch = { size = 7, anchor_every = 40 }\n' + spiral +
             'adapt = { step = true, metric = "diagonal" }\npart.all = { scheme = "ccadl", step = 0.02 }\n',
    "full batch": 'steps = 6000\nevery = 3\nlog_every = 500\n' + spiral + 'part.all = { step = 0.05 }\n',
    "minibatches": 'steps = 4000\nwarmup = 1000\nevery = 2\nwalkers = 3\nbatch = 7\nstore.keep_warmup = true\n' + spiral +
                   '[part.a]\nblocks = ["layer1.*"]\nstep = 0.05\n[part.b]\nblocks = ["layer2.*"]\nscheme = "ABOBA"\n'
                   'step = { name = "linear", from = 0.05, to = 0.01 }\n',
    "metropolis": 'steps = 1500\nevery = 1\nwalkers = 2\nstore = { weights = "half", log_likelihood = true, predictions = true }\n' +
                  spiral + 'part.all = { scheme = "R{(BAB)3}", step = 1.2 }\n',
    "toy": 'steps = 120000\nevery = 1\nwalkers = 3\nmodel = { toy = "double_well" }\npart.all = { step = 0.2, temperature = 0.5 }\n',
    "halves": 'steps = 4000\nevery = 3\nwalkers = 4\nbatch = 20\ncoupling = { method = "halves", blending = 100, refresh = 90 }\n' +
              spiral + 'part.all = { step = 0.05 }\n',
    "tempered": 'steps = 1500\nwarmup = 2500\nevery = 3\nwalkers = 2\nbatch = 20\ntempering = { pilot = 500 }\n' + spiral +
                'part.all = { step = 0.05 }\n',
    "two ensembles": 'steps = 4000\nevery = 3\nwalkers = 6\ncoupling = { method = "ensemble", blending = 10, refresh = 150, '
                     'ensembles = 2, over = "block" }\n' + spiral + 'part.all = { step = 0.05 }\n',
    "ladders": 'steps = 2500\nwarmup = 1500\nevery = 3\nbatch = 20\nexchange = { rungs = 3, highest = 3.0, every = 15, '
               'ladders = 2, adapt = true, batches = 4 }\n' + spiral + 'part.all = { step = 0.05 }\n',
    "switch": 'steps = 40000\nwarmup = 20000\nevery = 2\nwalkers = 2\nswitching = 5.0\nmodel = { toy = "double_well" }\n'
              'part.all = { step = 0.1, temperature = 0.5 }\n',
}


def digest(run):
    out = {}
    def visit(name, item):
        if isinstance(item, zarr.Array) and name.split("/")[-1] != "time":
            out[name] = hashlib.sha256(str(item.shape).encode() + item[...].tobytes()).hexdigest()[:16]
    zarr.open(os.path.join(run, "samples.zarr"), "r").visititems(visit)
    lines = []
    for line in open(os.path.join(run, "log.jsonl")):
        state = json.loads(line)
        for key in ("seconds", "rate"):
            state.pop(key, None)
        lines.append(json.dumps(state, sort_keys=True))
    out["log"] = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    return out


reference = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference", "unchanged.json")
now = {}
for isa in ("portable", "avx2"):
    for name, text in kinds.items():
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as there:
            with open(os.path.join(there, "run.toml"), "w") as file:
                file.write(text)
            subprocess.run([os.path.abspath(sys.argv[1]), "sample", "run.toml", "-q", "-o", "run", "--threads", "2"], cwd=there, check=True,
                           env=dict(os.environ, KELVIN_ISA=isa))
            now[isa + " " + name] = digest(os.path.join(there, "run"))
if "--write" in sys.argv:
    json.dump(now, open(reference, "w"), indent=1, sort_keys=True)
    sys.exit()
before = json.load(open(reference))
different = [f"{kind}: {array}" for kind in before for array in sorted(set(before[kind]) | set(now[kind]))
             if before[kind].get(array) != now[kind].get(array)]
print("\n".join(different) or f"{len(before)} runs are what they were")
sys.exit(bool(different))
