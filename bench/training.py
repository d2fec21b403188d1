#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the same networks with Kelvin and with PyTorch, with the same settings, and compares what they reach.

Usage, from the project's root, in the peers' environment that `./run bench` makes:
    build/peers/bin/python bench/training.py resnet DIRECTORY_OF_CIFAR10 [seeds] [epochs]
    build/peers/bin/python bench/training.py char_lstm TEXT [seeds] [epochs]
    build/peers/bin/python bench/training.py transformer TEXT [seeds] [epochs]
Every seed of each program is one thread. Prints one line of JSON a run.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch

here = pathlib.Path(__file__).parent
torch.set_num_threads(1)


def kelvin(run_file, seed):
    """The last line of the log of a run."""
    with tempfile.TemporaryDirectory() as there:
        path = pathlib.Path(there)
        (path / "run.toml").write_text(f"seed = {seed}\n" + run_file)
        subprocess.run([here / "../build/kelvin", "train", path / "run.toml", "-q", "-o", path / "run"], check=True)
        return json.loads((path / "run/log.jsonl").read_text().splitlines()[-1])


# ---- ResNet-18 of width 16 on 10 000 images of CIFAR-10

means, deviations = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


class ResidualBlock(torch.nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(outputs)
        self.conv2 = torch.nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(outputs)
        self.shortcut = torch.nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = torch.nn.Sequential(torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                                torch.nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


def resnet18(width):
    layers, inputs = [torch.nn.Conv2d(3, width, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(width), torch.nn.ReLU()], width
    for stage in range(4):
        for block in range(2):
            outputs = width << stage
            layers.append(ResidualBlock(inputs, outputs, 2 if stage > 0 and block == 0 else 1))
            inputs = outputs
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(inputs, 10))


def cifar(file):
    rows = numpy.fromfile(file, numpy.uint8).reshape(-1, 3073)
    x = torch.tensor(rows[:, 1:].reshape(-1, 3, 32, 32), dtype=torch.float32) / 255
    x = (x - torch.tensor(means).view(3, 1, 1)) / torch.tensor(deviations).view(3, 1, 1)
    return x, torch.tensor(rows[:, 0], dtype=torch.long)


def flipped_and_shifted(x):
    """Each image by itself: flipped with probability 1/2, shifted by up to 4 pixels; what comes in is black."""
    black = -torch.tensor(means).view(1, 3, 1, 1) / torch.tensor(deviations).view(1, 3, 1, 1)
    padded = torch.nn.functional.pad(x - black, (4, 4, 4, 4)) + black
    out = torch.empty_like(x)
    for i in range(len(x)):
        down, along = torch.randint(0, 9, (2,)).tolist()
        image = padded[i, :, down:down + 32, along:along + 32]
        out[i] = image.flip(-1) if torch.rand(()) < 0.5 else image
    return out


def resnet_torch(directory, seed, epochs):
    torch.manual_seed(seed)
    x, y = cifar(directory / "data_batch_1.bin")
    test_x, test_y = cifar(directory / "test_batch.bin")
    net = resnet18(16).to(memory_format=torch.channels_last)
    steps = epochs * math.ceil(len(x) / 128)
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, 1e-4)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for first in range(0, len(x), 128):
            rows = order[first:first + 128]
            optimizer.zero_grad()
            inputs = flipped_and_shifted(x[rows]).contiguous(memory_format=torch.channels_last)
            torch.nn.functional.cross_entropy(net(inputs), y[rows]).backward()
            optimizer.step()
            schedule.step()
    net.eval()
    with torch.no_grad():
        right = sum(int((net(test_x[k:k + 500]).argmax(1) == test_y[k:k + 500]).sum()) for k in range(0, len(test_x), 500))
    return right / len(test_x)


def resnet_kelvin(directory, seed, epochs):
    steps = epochs * math.ceil(10000 / 128)
    line = kelvin(f"""
precision = "float"
steps = {steps}
log_every = {steps}
batch.size = 128
[data]
file = "{(directory / "data_batch_1.bin").resolve()}"
test_file = "{(directory / "test_batch.bin").resolve()}"
channel_means = {list(means)}
channel_deviations = {list(deviations)}
augment = ["flip", "crop 4"]
[model]
layers = ["resnet 18 10 width 16"]
loss = "softmax_cross_entropy"
[part.all]
scheme = "heavy_ball"
step = {{ name = "cosine", from = 0.1, to = 1e-4 }}
momentum = 0.9
weight_decay = 5e-4
start = "pytorch"
""", seed)
    return line["test"]["accuracy"]


# ---- characters

steps_of_row, rows_of_batch = 64, 32


def characters(file):
    """Rows of 64 characters and the character that follows each; the last twentieth of the text is for tests."""
    text = pathlib.Path(file).read_text()
    number = {c: i for i, c in enumerate(sorted(set(text)))}
    codes = torch.tensor([number[c] for c in text])
    cut = len(codes) - len(codes) // 20

    def rows(part):
        count = (len(part) - 1) // steps_of_row
        return part[:count * steps_of_row].view(count, -1), part[1:count * steps_of_row + 1].view(count, -1)
    return len(number), rows(codes[:cut]), rows(codes[cut:])


class CharLstm(torch.nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, 32)
        self.lstm = torch.nn.LSTM(32, 128, 1, batch_first=True)
        self.output = torch.nn.Linear(128, vocabulary)

    def forward(self, x):
        return self.output(self.lstm(self.embedding(x))[0])


class Transformer(torch.nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, 64)
        self.position = torch.nn.Parameter(torch.empty(steps_of_row, 64).uniform_(-64 ** -0.5, 64 ** -0.5))
        block = torch.nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = torch.nn.TransformerEncoder(block, 2, torch.nn.LayerNorm(64), enable_nested_tensor=False)
        self.output = torch.nn.Linear(64, vocabulary)
        self.mask = torch.nn.Transformer.generate_square_subsequent_mask(steps_of_row)

    def forward(self, x):
        return self.output(self.blocks(self.embedding(x) + self.position, mask=self.mask, is_causal=True))


def start_as_kelvin(net):
    """Weights and biases uniform between -1/sqrt(fan) and 1/sqrt(fan); fan: inputs, or the numbers of a word."""
    for module in net.modules():
        if isinstance(module, torch.nn.Embedding):
            torch.nn.init.uniform_(module.weight, -module.embedding_dim ** -0.5, module.embedding_dim ** -0.5)
        if isinstance(module, torch.nn.MultiheadAttention):
            for weights in (module.in_proj_weight, module.in_proj_bias):
                torch.nn.init.uniform_(weights, -module.embed_dim ** -0.5, module.embed_dim ** -0.5)


def text_torch(make, file, seed, epochs):
    torch.manual_seed(seed)
    vocabulary, (x, y), (test_x, test_y) = characters(file)
    net = make(vocabulary)
    start_as_kelvin(net)
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for first in range(0, len(x), rows_of_batch):
            rows = order[first:first + rows_of_batch]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x[rows]).flatten(0, 1), y[rows].flatten()).backward()
            optimizer.step()
    net.eval()
    with torch.no_grad():
        loss = sum(float(torch.nn.functional.cross_entropy(net(test_x[k:k + 100]).flatten(0, 1), test_y[k:k + 100].flatten(),
                                                           reduction="sum")) for k in range(0, len(test_x), 100))
    return math.exp(loss / test_y.numel())


def text_kelvin(layers, file, seed, epochs):
    vocabulary, (x, _), _ = characters(file)
    steps = epochs * math.ceil(len(x) / rows_of_batch)
    line = kelvin(f"""
precision = "float"
steps = {steps}
log_every = {steps}
batch.size = {rows_of_batch}
[data]
file = "{pathlib.Path(file).resolve()}"
text = {{ unit = "characters", steps = {steps_of_row} }}
test = 0.05
[model]
layers = ["{layers.format(vocabulary)}"]
loss = "softmax_cross_entropy"
[part.all]
scheme = "adam"
step = 2e-3
start = "pytorch"
""", seed)
    return line["test"]["perplexity"]


cases = {
    "resnet": ("accuracy", lambda at, *run: resnet_kelvin(pathlib.Path(at), *run), lambda at, *run: resnet_torch(pathlib.Path(at), *run), 30),
    "char_lstm": ("perplexity", lambda *run: text_kelvin("char_lstm {} 32 128", *run), lambda *run: text_torch(CharLstm, *run), 3),
    "transformer": ("perplexity", lambda *run: text_kelvin("transformer {} 64 2 4 tied 0", *run), lambda *run: text_torch(Transformer, *run), 3),
}


def main():
    case, data = sys.argv[1:3]
    measure, ours, theirs, usual = cases[case]
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    epochs = int(sys.argv[4]) if len(sys.argv) > 4 else usual
    for seed in range(1, seeds + 1):
        for program, run in (("kelvin", ours), ("torch", theirs)):
            print(json.dumps({"case": case, "program": program, "seed": seed, "epochs": epochs, measure: run(data, seed, epochs)}), flush=True)


main()
