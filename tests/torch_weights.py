# SPDX-License-Identifier: Apache-2.0
# State dicts of small modules written as torchvision and PyTorch write them, and what they make of some inputs:
#   python3 tests/torch_weights.py              writes tests/reference/weights/NAME.safetensors and rows.npz
#   python3 tests/torch_weights.py check        has build/kelvin start a run from each of them and write its weights by
#                                               PyTorch's names, and compares what PyTorch makes of these with what Kelvin does
# Needs torch and safetensors from PyPI. tests/trajectory/state_file_test.cpp says which network of ours each one is.
import pathlib
import subprocess
import sys
import tempfile

import numpy
import safetensors.torch
import torch
from torch import nn
from torch.nn import functional

folder = pathlib.Path(__file__).parent / "reference" / "weights"


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = shortcut(before, width, stride)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return torch.relu(y + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = shortcut(before, 4 * width, stride)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = torch.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return torch.relu(y + (x if self.downsample is None else self.downsample(x)))


def shortcut(before, after, stride):
    if stride == 1 and before == after:
        return None
    return nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))


class ResNet(nn.Module):
    def __init__(self, block, depths, width, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        before = width
        for stage, depth in enumerate(depths):
            blocks = []
            for place in range(depth):
                blocks.append(block(before, width << stage, 2 if stage > 0 and place == 0 else 1))
                before = block.expansion * width << stage
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.stages = len(depths)
        self.fc = nn.Linear(before, classes)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        for stage in range(self.stages):
            x = getattr(self, f"layer{stage + 1}")(x)
        return self.fc(x.mean(dim=(2, 3)))


class Vgg(nn.Module):
    def __init__(self, width, hidden, classes):
        super().__init__()
        features, before = [], 1
        for channels in (width, "M", 2 * width, "M", 4 * width, 4 * width, "M", 8 * width, 8 * width, "M", 8 * width, 8 * width, "M"):
            if channels == "M":
                features.append(nn.MaxPool2d(2))
                continue
            features += [nn.Conv2d(before, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()]
            before = channels
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(
            nn.Linear(before, hidden), nn.ReLU(), nn.Dropout(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(), nn.Linear(hidden, classes)
        )

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class Residual(nn.Module):
    def __init__(self, layers, past):
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.shortcut = nn.Sequential(*past)

    def forward(self, x):
        return self.layers(x) + self.shortcut(x)


def plain():
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        Residual([nn.Conv2d(4, 5, 3, stride=2, padding=1), nn.BatchNorm2d(5)], [nn.Conv2d(4, 5, 1, stride=2)]),
        nn.GroupNorm(5, 5), nn.Flatten(), nn.Linear(20, 3),
    )


class CharLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 3)
        self.lstm = nn.LSTM(3, 4, num_layers=2, batch_first=True)
        self.fc = nn.Linear(4, 7)

    def forward(self, x):
        return self.fc(self.lstm(self.embedding(x))[0])


class Transformer(nn.Module):
    def __init__(self, words=7, steps=5, width=4, depth=2, heads=2, units=6):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.positions = nn.Embedding(steps, width)
        layer = nn.TransformerEncoderLayer(width, heads, units, dropout=0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, norm=nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, words)
        self.head.weight = self.embedding.weight

    def forward(self, x):
        steps = x.shape[1]
        unseen = torch.triu(torch.ones(steps, steps, dtype=torch.bool), diagonal=1)
        return self.head(self.encoder(self.embedding(x) + self.positions.weight, mask=unseen))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_proj = nn.Conv2d(2, 4, 2, stride=2)
        self.class_token = nn.Parameter(torch.randn(4))
        self.pos_embedding = nn.Parameter(torch.randn(5, 4))
        layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(4), enable_nested_tensor=False)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        x = self.conv_proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(len(x), 1, -1), x], dim=1)
        return self.head(self.encoder(x + self.pos_embedding)[:, 0])


# As transformers writes it.
class BertAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.self = nn.ModuleDict({name: nn.Linear(width, width) for name in ("query", "key", "value")})
        self.output = nn.ModuleDict({"dense": nn.Linear(width, width), "LayerNorm": nn.LayerNorm(width, eps=1e-12)})

    def forward(self, x):
        q, k, v = (layer(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for layer in self.self.values())
        mixed = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return self.output["LayerNorm"](x + self.output["dense"](mixed))


class BertBlock(nn.Module):
    def __init__(self, width, heads, units):
        super().__init__()
        self.attention = BertAttention(width, heads)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, units)})
        self.output = nn.ModuleDict({"dense": nn.Linear(units, width), "LayerNorm": nn.LayerNorm(width, eps=1e-12)})

    def forward(self, x):
        x = self.attention(x)
        hidden = functional.gelu(self.intermediate["dense"](x))
        return self.output["LayerNorm"](x + self.output["dense"](hidden))


class Bert(nn.Module):
    def __init__(self, words=9, width=6, depth=2, heads=3, units=8, positions=7):
        super().__init__()
        tables = {"word": words, "position": positions, "token_type": 2}
        self.embeddings = nn.ModuleDict({f"{name}_embeddings": nn.Embedding(rows, width) for name, rows in tables.items()})
        self.embeddings["LayerNorm"] = nn.LayerNorm(width, eps=1e-12)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(BertBlock(width, heads, units) for _ in range(depth))})

    def forward(self, x):
        table = self.embeddings
        rows = table["word_embeddings"](x) + table["position_embeddings"].weight[: x.shape[1]]
        x = table["LayerNorm"](rows + table["token_type_embeddings"].weight[0])
        for block in self.encoder["layer"]:
            x = block(x)
        return x


def images(*shape):
    return lambda: torch.randn(3, *shape)


def words(steps, count):
    return lambda: torch.randint(count, (3, steps))


cases = {
    "sizes": (lambda: nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)), images(5)),
    "plain": (plain, images(2, 8, 8)),
    "resnet": (lambda: ResNet(BasicBlock, (1, 1, 1, 1), 2, 3), images(3, 16, 16)),
    "bottleneck": (lambda: ResNet(Bottleneck, (3, 4, 6, 3), 1, 3), images(3, 16, 16)),
    "vgg": (lambda: Vgg(2, 5, 3), images(1, 32, 32)),
    "char_lstm": (CharLstm, words(5, 7)),
    "transformer": (Transformer, words(5, 7)),
    "bert": (Bert, words(5, 9)),
    "vit": (Vit, images(2, 4, 4)),
}


def made(name):
    torch.manual_seed(sum(name.encode()))
    make, inputs = cases[name]
    module = make()
    for buffer_or_weight in module.state_dict().values():  # statistics that are not those of a new module
        if buffer_or_weight.is_floating_point():
            buffer_or_weight += 0.2 * torch.rand_like(buffer_or_weight)
    return module.eval(), inputs()


def outputs(module, x):
    with torch.no_grad():
        return module.double()(x.double() if x.is_floating_point() else x).numpy()


def write():
    folder.mkdir(exist_ok=True)
    rows = {}
    for name in cases:
        module, x = made(name)
        state = {key: value.clone() for key, value in module.state_dict().items()}
        safetensors.torch.save_file(state, folder / f"{name}.safetensors")
        rows[f"{name}.x"] = x.numpy().astype(numpy.float32)
        rows[f"{name}.y"] = outputs(module, x)
    numpy.savez_compressed(folder / "rows.npz", **rows)


# As in tests/trajectory/state_file_test.cpp; of sequences the mean over their steps is a row's output.
networks = {
    "sizes": "[5, 7, 3]\nactivation = 'tanh'",
    "plain": "['conv 3 4 padding 1', 'batch_norm', 'relu', 'max_pool 2', { residual = ['conv 3 5 stride 2 padding 1', "
    "'batch_norm'], shortcut = ['conv 1 5 stride 2'] }, 'group_norm 5', 'flatten', 'dense 3']",
    "resnet": "['resnet 10 3 width 2']",
    "bottleneck": "['resnet 50 3 width 1']",
    "vgg": "['vgg 11 3 width 2 hidden 5']",
    "char_lstm": "[': char_lstm 7 3 4 layers 2', 'mean_over_steps']",
    "transformer": "[': transformer 7 4 2 2 units 6', 'mean_over_steps']",
    "bert": "[': bert 9 6 2 3 8 positions 7', 'mean_over_steps']",
    "vit": "['vit 2 4 2 2 3 units 6 activation gelu']",
}


def kelvin(place, arguments):
    program = pathlib.Path(__file__).parent.parent / "build" / "kelvin"
    done = subprocess.run([program, *arguments.split()], cwd=place, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)


def check(name, place):
    module, x = made(name)
    y = outputs(module, x)
    targets = [f"y{k}" for k in range(y.shape[-1])]
    rows = numpy.hstack([x.reshape(len(x), -1).numpy(), numpy.zeros((len(x), len(targets)))])
    header = ",".join([f"x{k}" for k in range(rows.shape[1] - len(targets))] + targets)
    numpy.savetxt(place / "rows.csv", rows, delimiter=",", header=header, comments="")
    shape = f"shape = {list(x.shape[1:])}\n" if x.dim() == 4 else ""
    (place / "run.toml").write_text(  # one step, too short to move a float
        f"steps = 1\nfrom = '{folder / name}.safetensors'\n[data]\nfile = 'rows.csv'\ntargets = {targets}\n{shape}"
        f"[part.all]\nstep = 1e-30\n[model]\nlayers = {networks[name]}\n"
    )
    kelvin(place, "train run.toml -q --force -o run")
    kelvin(place, "export run --to safetensors --names pytorch --force -o out.safetensors")
    kelvin(place, "predict run --split train --force -o out.npz")
    predictions = numpy.load(place / "out.npz")
    ours = numpy.stack([predictions[f"{target}_mean"] for target in targets], axis=1)
    module = cases[name][0]().eval()
    module.load_state_dict(safetensors.torch.load_file(place / "out.safetensors"), strict=True)
    theirs = outputs(module, x)
    theirs = theirs.mean(axis=1) if theirs.ndim == 3 else theirs
    largest = max(1, numpy.abs(theirs).max())
    print(f"{name}: outputs up to {largest:.3g}, largest difference {numpy.abs(ours - theirs).max() / largest:.2g} of that")


def check_all():
    with tempfile.TemporaryDirectory() as place:
        for name in cases:
            check(name, pathlib.Path(place))


if __name__ == "__main__":
    check_all() if sys.argv[1:] == ["check"] else write()
