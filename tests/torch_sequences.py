# SPDX-License-Identifier: Apache-2.0
# What PyTorch makes of layers of sequences, one list of numbers for each "layers @ shape of a row of rows": inputs x,
# weights in the order of our blocks, outputs y, slopes dy of the outputs, those of the weights, and of the inputs.
#   python3 tests/torch_sequences.py tests/reference/sequences.npz
import sys

import numpy
import torch
from torch import nn

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
arrays = {}


def rounded(t):
    return t.float().double()


def add(layers, x, weights, y):
    dy = rounded(torch.randn_like(y))
    words = not x.requires_grad
    slopes = list(torch.autograd.grad((y * dy).sum(), weights + ([] if words else [x])))
    if layers.startswith("patches"):  # channels last
        x, slopes[-1] = x.permute(0, 2, 3, 1), slopes[-1].permute(0, 2, 3, 1)
    name = "%s @ %s of %d" % (layers, " ".join(str(n) for n in x.shape[1:]), x.shape[0])
    numbers = [t.detach().reshape(-1) for t in [x, *weights, y, dy, *slopes]]
    arrays[name] = torch.cat(numbers).numpy().astype(numpy.float32)


def drawn(module):
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(rounded(0.5 * torch.randn_like(p) + (1 if p.dim() == 1 and "Norm" in type(module).__name__ else 0)))
    return list(module.parameters())


def inputs(*shape):
    return rounded(torch.randn(*shape)).requires_grad_()


def hidden(steps, causal):
    return torch.triu(torch.full((steps, steps), float("-inf")), diagonal=1) if causal else None


for rows, steps, d, units, layers in [(1, 1, 1, 5, 2), (5, 7, 3, 5, 2), (1, 7, 17, 3, 1), (5, 1, 5, 1, 2)]:
    for name, kind in {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}.items():
        module = kind(d, units, layers, batch_first=True)
        weights, x = drawn(module), inputs(rows, steps, d)
        add("%s %d %d" % (name, units, layers), x, weights, module(x)[0])
        add("%s %d %d last" % (name, units, layers), x, weights, module(x)[0][:, -1])

for rows, steps, d, heads in [(1, 1, 1, 1), (5, 7, 3, 3), (1, 7, 17, 1), (5, 1, 5, 1), (2, 7, 6, 2)]:
    for causal in [0, 1]:
        module = nn.MultiheadAttention(d, heads, batch_first=True)
        weights, x = drawn(module), inputs(rows, steps, d)
        y = module(x, x, x, attn_mask=hidden(steps, causal))[0]
        add("attention %d %d" % (heads, causal), x, weights, y)

for rows, steps, d in [(1, 1, 3), (5, 7, 5), (1, 7, 17)]:
    module = nn.LayerNorm(d)
    weights, x = drawn(module), inputs(rows, steps, d)
    add("layer_norm", x, weights, module(x))

for rows, steps, d, heads, units in [(1, 1, 3, 1, 5), (5, 7, 6, 2, 7)]:
    for causal, first in [(0, True), (1, True), (0, False), (1, False)]:
        module = nn.TransformerEncoderLayer(d, heads, units, 0.0, batch_first=True, norm_first=first)
        drawn(module)
        norms = [drawn(module.norm1), drawn(module.norm2)]
        attention = list(module.self_attn.parameters())
        forward = list(module.linear1.parameters()) + list(module.linear2.parameters())
        weights = norms[0] + attention + norms[1] + forward if first else attention + norms[0] + forward + norms[1]
        x = inputs(rows, steps, d)
        y = module(x, src_mask=hidden(steps, causal))
        norm = "first" if first else "last"
        add("transformer_block %d %d causal %d norm %s" % (heads, units, causal, norm), x, weights, y)

for rows, steps, words, d in [(1, 1, 3, 1), (5, 7, 11, 5)]:
    E, b, W, c = (rounded(torch.randn(*s)).requires_grad_() for s in [(words, d), (words,), (d, d), (d,)])
    x = torch.randint(words, (rows, steps))
    y = nn.functional.linear(torch.tanh(nn.functional.linear(E[x], W, c)), E, b)
    add("embedding %d %d, dense %d, tanh, tied" % (words, d, d), x, [E, W, c, b], y)

module = nn.Conv2d(2, 3, (2, 3), stride=(2, 3))
weights, x = drawn(module), inputs(5, 2, 4, 6)
add("patches 2x3 3", x, weights, module(x).flatten(2).transpose(1, 2))

numpy.savez_compressed(sys.argv[1], **arrays)
