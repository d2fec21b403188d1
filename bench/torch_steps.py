# SPDX-License-Identifier: Apache-2.0
"""The steps of bench/steps.cpp in PyTorch, eager, written the ordinary way. Reads "case seconds" lines, answers seconds per step."""
import math
import sys
import time

import torch

torch.set_num_threads(1)
torch.manual_seed(1)


def network(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def data(sizes, loss, rows):
    x = torch.randn(rows, sizes[0])
    if loss == "bce":
        return x, (torch.rand(rows, 1) > 0.5).float(), torch.nn.BCEWithLogitsLoss()
    return x, torch.randint(0, sizes[-1], (rows,)), torch.nn.CrossEntropyLoss()


def batches(rows, size):
    while True:
        order = torch.randperm(rows)
        for first in range(0, rows, size):
            yield order[first:first + size]


def baoab(sizes, loss, rows, batch, step=1e-3, friction=1.0, temperature=1e-4):
    net = network(sizes)
    x, y, criterion = data(sizes, loss, rows)
    parameters = list(net.parameters())
    momenta = [torch.zeros_like(q) for q in parameters]
    rows_of = batches(rows, batch)
    keep = math.exp(-friction * step)
    spread = math.sqrt(temperature * (1 - keep * keep))

    def gradient():
        index = next(rows_of)
        net.zero_grad()
        criterion(net(x[index]), y[index]).backward()

    gradient()

    def advance():
        with torch.no_grad():
            for q, p in zip(parameters, momenta):
                p.add_(q.grad, alpha=-step / 2)
                q.add_(p, alpha=step / 2)
                p.mul_(keep).add_(torch.randn_like(p), alpha=spread)
                q.add_(p, alpha=step / 2)
        gradient()
        with torch.no_grad():
            for q, p in zip(parameters, momenta):
                p.add_(q.grad, alpha=-step / 2)

    return advance


def momentum_sgd(sizes, loss, rows, batch):
    net = network(sizes)
    x, y, criterion = data(sizes, loss, rows)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-6, momentum=0.9)
    rows_of = batches(rows, batch)

    def advance():
        index = next(rows_of)
        optimizer.zero_grad()
        criterion(net(x[index]), y[index]).backward()
        optimizer.step()

    return advance


cases = {
    "baoab 2-100-1 batch 20": lambda: baoab([2, 100, 1], "bce", 1000, 20),
    "baoab 2-500-1 batch 20": lambda: baoab([2, 500, 1], "bce", 1000, 20),
    "baoab 784-100-10 batch 550": lambda: baoab([784, 100, 10], "ce", 55000, 550),
    "baoab 784-100-10 batch 55": lambda: baoab([784, 100, 10], "ce", 55000, 55),
    "sgd-momentum 2-100-1 batch 20": lambda: momentum_sgd([2, 100, 1], "bce", 1000, 20),
}
ready = {}

for line in sys.stdin:
    name, seconds = line.rsplit(" ", 1)
    advance = ready.setdefault(name, None) or cases[name]()
    ready[name] = advance
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < float(seconds):
        advance()
        steps += 1
    print((time.perf_counter() - start) / steps, flush=True)
