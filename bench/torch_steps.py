# SPDX-License-Identifier: Apache-2.0
"""The steps of bench/cases.cpp and bench/networks.cpp in PyTorch on one thread, written the ordinary way. Networks have a case for each
form that may be the fastest: eager, channels last, compiled. Reads "case seconds" lines, answers seconds per step."""
import functools
import math
import os
import sys
import time

os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"

import torch
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)
torch.manual_seed(1)
vocabulary, sequence_steps = 65, 64


def perceptron(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def small_conv_net():
    return nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(800, 10))


class CharLstm(nn.Module):
    def __init__(self, numbers, units, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, numbers)
        self.lstm = nn.LSTM(numbers, units, layers, batch_first=True)
        self.last = nn.Linear(units, vocabulary)

    def forward(self, words):
        return self.last(self.lstm(self.embedding(words))[0])


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.forwards = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x):
        rows, steps, width = x.shape
        q, k, v = (part.view(rows, steps, self.heads, -1).transpose(1, 2) for part in self.into(self.norm1(x)).chunk(3, -1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(rows, steps, width))
        return x + self.forwards(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, width, depth, heads):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(0.02 * torch.randn(sequence_steps, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm, self.last = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, words):
        return self.last(self.norm(self.blocks(self.embedding(words) + self.positions)))


class Residual(nn.Module):
    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(inputs, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(inplace=True),
                                    nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels))
        self.past = nn.Sequential()
        if inputs != channels:
            self.past = nn.Sequential(nn.Conv2d(inputs, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return functional.relu(self.layers(x) + self.past(x), inplace=True)


def resnet_18(width):
    layers, last = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)], width
    for stage in range(4):
        for block in range(2):
            layers.append(Residual(last, width << stage, 2 if stage > 0 and block == 0 else 1))
            last = width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, 10))


def table(inputs, outputs, rows):
    x = torch.randn(rows, inputs)
    if outputs == 1:
        return x, (torch.rand(rows, 1) > 0.5).float(), functional.binary_cross_entropy_with_logits
    return x, torch.randint(0, outputs, (rows,)), functional.cross_entropy


def images(channels, side, rows=1024):
    return torch.randn(rows, channels, side, side), torch.randint(0, 10, (rows,)), functional.cross_entropy


def words(rows=1024):
    some = lambda: torch.randint(0, vocabulary, (rows, sequence_steps))
    return some(), some(), lambda outputs, targets: functional.cross_entropy(outputs.flatten(0, 1), targets.flatten())


def batches(rows, size):
    while True:
        order = torch.randperm(rows)
        for first in range(0, rows - rows % size, size):
            yield order[first:first + size]


def baoab(net, data, batch, form="eager", step=1e-3, friction=1.0, temperature=1e-4):
    x, y, criterion = data
    if form == "channels last":
        net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    parameters = list(net.parameters())
    momenta = [torch.zeros_like(q) for q in parameters]
    rows_of = batches(len(x), batch)
    keep = math.exp(-friction * step)
    spread = math.sqrt(temperature * (1 - keep * keep))
    loss = lambda x, y: criterion(net(x), y)
    if form == "compiled":
        loss = torch.compile(loss)

    def gradient():
        index = next(rows_of)
        net.zero_grad()
        loss(x[index], y[index]).backward()

    @torch.no_grad()
    def before():
        torch._foreach_add_(momenta, [q.grad for q in parameters], alpha=-step / 2)
        torch._foreach_add_(parameters, momenta, alpha=step / 2)
        torch._foreach_mul_(momenta, keep)
        torch._foreach_add_(momenta, [torch.randn_like(p) for p in momenta], alpha=spread)
        torch._foreach_add_(parameters, momenta, alpha=step / 2)

    @torch.no_grad()
    def after():
        torch._foreach_add_(momenta, [q.grad for q in parameters], alpha=-step / 2)

    gradient()

    def advance():
        before()
        gradient()
        after()

    return advance


def momentum_sgd(net, data, batch):
    x, y, criterion = data
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-6, momentum=0.9)
    rows_of = batches(len(x), batch)

    def advance():
        index = next(rows_of)
        optimizer.zero_grad()
        criterion(net(x[index]), y[index]).backward()
        optimizer.step()

    return advance


perceptrons = {
    "baoab 2-100-1 batch 20": lambda form: baoab(perceptron([2, 100, 1]), table(2, 1, 1000), 20, form),
    "baoab 2-500-1 batch 20": lambda form: baoab(perceptron([2, 500, 1]), table(2, 1, 1000), 20, form),
    "baoab 784-100-10 batch 550": lambda form: baoab(perceptron([784, 100, 10]), table(784, 10, 55000), 550, form),
    "baoab 784-100-10 batch 55": lambda form: baoab(perceptron([784, 100, 10]), table(784, 10, 55000), 55, form),
    "sgd-momentum 2-100-1 batch 20": lambda form: momentum_sgd(perceptron([2, 100, 1]), table(2, 1, 1000), 20),
}
of_images = {
    "baoab small conv net": lambda form: baoab(small_conv_net(), images(1, 28), 32, form),
    "baoab resnet 18 width 16": lambda form: baoab(resnet_18(16), images(3, 32), 128, form),
    "baoab resnet 18 width 64": lambda form: baoab(resnet_18(64), images(3, 32), 32, form),
}
of_words = {
    "baoab lstm 32": lambda form: baoab(CharLstm(32, 32, 1), words(), 32, form),
    "baoab 2 x lstm 128": lambda form: baoab(CharLstm(128, 128, 2), words(), 32, form),
    "baoab transformer 32": lambda form: baoab(Transformer(32, 2, 4), words(), 32, form),
    "baoab transformer 128": lambda form: baoab(Transformer(128, 2, 4), words(), 32, form),
}


@functools.cache
def ready(case):
    name, form = case.rsplit(", ", 1)
    return (perceptrons | of_images | of_words)[name](form)


for line in sys.stdin:
    case, seconds = line.rsplit(" ", 1)
    advance = ready(case)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < float(seconds):
        advance()
        steps += 1
    print((time.perf_counter() - start) / steps, flush=True)
