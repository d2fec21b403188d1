# SPDX-License-Identifier: Apache-2.0
# Outputs and gradients of PyTorch's layers for odd sizes, in double, kept as float:
#   python3 tests/torch_layers.py   writes tests/reference/torch_layers.npz
# Each case is one list of numbers: x (rows x channels x height x width, or rows x numbers), y, the slope dy that its
# outputs are given, dx, and for each block its values and its slope. Buffers are blocks whose "slope" is what a
# training pass takes from them. tests/energy/torch_layers_test.cpp says which layer of ours each case is.
import pathlib

import numpy
import torch
from torch import nn
from torch.nn import functional

torch.set_default_dtype(torch.float64)
torch.manual_seed(1)
kept = {}


def coarse(tensor):  # few digits, so that the file is small
    return torch.round(16 * tensor) / 16


def record(name, module, x, blocks=None, buffers=(), training=True):
    blocks = list(module.parameters()) if blocks is None else blocks
    for block in blocks:
        block.data = coarse(block.data + 0.3 * torch.randn_like(block))
    buffers = list(buffers)
    for buffer in buffers:
        buffer.copy_(coarse(buffer + 0.3 * torch.rand_like(buffer)))
    before = [b.clone() for b in buffers]
    x = coarse(x).requires_grad_(True)
    if isinstance(module, nn.Module):
        module.train(training)
    y = module(x)
    dy = coarse(torch.randn_like(y))
    y.backward(dy)
    parts = [x, y, dy, x.grad]
    for block in blocks:
        parts += [block, block.grad]
    for old, new in zip(before, buffers):
        parts += [old, old - new]
    kept[name] = numpy.concatenate([part.detach().numpy().ravel() for part in parts]).astype(numpy.float32)


class FilterResponseNorm(nn.Module):
    def __init__(self, channels, floor):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.threshold = nn.Parameter(torch.zeros(channels))
        self.floor = floor

    def forward(self, x):
        nu2 = (x**2).mean(dim=(2, 3), keepdim=True)
        wide = lambda v: v.view(1, -1, 1, 1)
        z = x / torch.sqrt(nu2 + abs(self.floor))
        return torch.maximum(wide(self.gain) * z + wide(self.bias), wide(self.threshold))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(5)
        self.past = nn.Conv2d(3, 5, 1, stride=2)

    def forward(self, x):
        return self.norm(self.conv(x)) + self.past(x)


class Concatenate(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 1, 1)
        self.b = nn.Conv2d(3, 5, 3, padding=1)

    def forward(self, x):
        return torch.cat([self.a(x), self.b(x), x], dim=1)


image = lambda rows, *shape: torch.randn(rows, *shape)

for rows in (1, 5):
    convs = {
        "conv_1_3": (nn.Conv2d(1, 3, 3), (1, 5, 7)),
        "conv_3_17": (nn.Conv2d(3, 17, (3, 2), stride=2, padding=(1, 0)), (3, 8, 5)),
        "conv_17_5": (nn.Conv2d(17, 5, 1, bias=False), (17, 3, 5)),
        "conv_17_1": (nn.Conv2d(17, 1, 3, padding=1), (17, 5, 3)),
        "conv_dilated": (nn.Conv2d(5, 3, 3, dilation=2, padding=2), (5, 7, 6)),
        "conv_wide_steps": (nn.Conv2d(3, 5, 2, stride=3), (3, 7, 9)),
        "conv_same": (nn.Conv2d(3, 5, (2, 5), padding="same", dilation=(1, 2)), (3, 6, 7)),
        "conv_groups": (nn.Conv2d(6, 15, 3, stride=(2, 1), padding=1, groups=3), (6, 7, 5)),
        "conv_depthwise": (nn.Conv2d(17, 17, 3, padding=1, groups=17), (17, 5, 5)),
        "transposed_1_3": (nn.ConvTranspose2d(1, 3, 3), (1, 3, 4)),
        "transposed_3_17": (nn.ConvTranspose2d(3, 17, 4, stride=2, padding=1), (3, 3, 2)),
        "transposed_17_5": (nn.ConvTranspose2d(17, 5, (3, 2), stride=2, padding=1, output_padding=1), (17, 2, 3)),
        "transposed_groups": (nn.ConvTranspose2d(6, 9, 3, groups=3, dilation=2, bias=False), (6, 2, 3)),
        "transposed_far": (nn.ConvTranspose2d(3, 5, 2, stride=3, output_padding=(2, 1)), (3, 3, 2)),
        "max_pool": (nn.MaxPool2d(2), (5, 5, 6)),
        "max_pool_padded": (nn.MaxPool2d((3, 2), stride=2, padding=1), (17, 5, 7)),
        "average_pool": (nn.AvgPool2d(2), (3, 5, 6)),
        "average_pool_padded": (nn.AvgPool2d((3, 2), stride=(1, 2), padding=1), (17, 5, 7)),
        "global_pool": (lambda x: x.mean(dim=(2, 3)), (17, 3, 5)),
        "flatten": (nn.Flatten(), (5, 3, 2)),
        "reshape": (lambda x: x.view(-1, 3, 5, 2), (30,)),
        "upsample": (nn.Upsample(scale_factor=(2, 3), mode="nearest"), (5, 3, 2)),
        "group_norm": (nn.GroupNorm(3, 15), (15, 3, 5)),
        "instance_norm": (nn.GroupNorm(5, 5), (5, 5, 3)),
        "group_norm_list": (nn.GroupNorm(3, 15), (15,)),
        "filter_response_norm": (FilterResponseNorm(5, 1e-6), (5, 3, 5)),
        "concatenate": (Concatenate(), (3, 3, 5)),
    }
    for name, (module, shape) in convs.items():
        record(f"{name}_{rows}", module, image(rows, *shape), None if isinstance(module, nn.Module) else [])
    for training in (True, False):
        kind = "training" if training else "prediction"
        for channels in (1, 3, 17):
            norm = nn.BatchNorm2d(channels, momentum=0.3)
            record(
                f"batch_norm_{channels}_{kind}_{rows}",
                norm,
                2 + 3 * image(rows, channels, 3, 5),
                buffers=[norm.running_mean, norm.running_var],
                training=training,
            )
norm = nn.BatchNorm1d(5)
record("batch_norm_list_training_5", norm, image(5, 5), buffers=[norm.running_mean, norm.running_var])
block = Residual()
record(
    "residual_5",
    block,
    image(5, 3, 5, 6),
    blocks=[block.conv.weight, block.conv.bias, block.norm.weight, block.norm.bias, block.past.weight, block.past.bias],
)
numpy.savez_compressed(pathlib.Path(__file__).parent / "reference" / "torch_layers.npz", **kept)
