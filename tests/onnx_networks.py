# SPDX-License-Identifier: Apache-2.0
# Small networks in ONNX, and what they make of some inputs:
#   python3 tests/onnx_networks.py   writes tests/reference/onnx/NAME.onnx and rows.npz, and some of fuzz/corpus/onnx
# Needs torch, onnx and onnxscript from PyPI. Those of PyTorch are written by its exporter; `operators` has what that one
# does not write, and the outputs of ONNX's reference evaluator. tests/io/onnx_test.cpp reads them.
import pathlib
import shutil

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from torch import nn

here = pathlib.Path(__file__).parent
folder = here / "reference" / "onnx"
torch.manual_seed(3)
numbers = numpy.random.default_rng(3)


class Residual(nn.Module):
    def __init__(self, layers, past=()):
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.shortcut = nn.Sequential(*past)

    def forward(self, x):
        return self.layers(x) + self.shortcut(x)


class Concatenate(nn.Module):
    def __init__(self, *branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], dim=1)


class View(nn.Module):
    def forward(self, x):
        return x.view(x.size(0), -1)


class Words(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.embedding = nn.Embedding(7, 3)
        self.recurrent = kind(3, 4, num_layers=2, batch_first=True)
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.recurrent(self.embedding(x))[0][:, -1])


modules = {
    "sizes": (nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)), torch.randn(3, 5)),
    "images": (
        nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
            Residual([nn.Conv2d(4, 4, 3, padding=1), nn.ReLU(), Residual([nn.Conv2d(4, 4, 1)])]),
            Residual([nn.Conv2d(4, 5, 3, stride=2, padding=1)], [nn.Conv2d(4, 5, 1, stride=2)]),
            Concatenate(nn.Conv2d(5, 2, 1), nn.Sequential(nn.Conv2d(5, 3, 3, padding=1), nn.ELU()), nn.Sequential()),
            nn.AvgPool2d(2), View(), nn.Linear(10, 3),
        ),
        torch.randn(3, 2, 8, 8),
    ),
    "lstm": (Words(nn.LSTM), torch.randint(7, (3, 5))),
    "gru": (Words(nn.GRU), torch.randint(7, (3, 5))),
}


def weight(*shape):
    return (numbers.standard_normal(shape) / numpy.sqrt(numpy.prod(shape[1:]) if len(shape) > 1 else 1)).astype(numpy.float32)


def operators():
    rnn = {"W": weight(1, 5, 4), "R": weight(1, 5, 5), "B": weight(1, 10)}
    constants = {
        "conv": weight(6, 1, 3, 2), "conv_bias": weight(6),
        "gain": 1 + 0.2 * weight(6), "offset": weight(6), "mean": weight(6), "variance": 1 + weight(6) ** 2,
        "up": weight(6, 2, 3, 3), "product": weight(4, 4), "bias": weight(4), "places": weight(1, 4, 4),
        "norm": 1 + 0.2 * weight(4), "shift": weight(4), "gemm": weight(5, 3), "gemm_bias": weight(3),
        "shape": numpy.array([-1, 96]), "image": numpy.array([-1, 4, 4, 6]), "axes": numpy.array([2, 3]),
        "six": numpy.array(6, numpy.float32), "zero": numpy.array(0, numpy.float32), "one": numpy.array([1]), **rnn,
    }
    node = helper.make_node
    nodes = [
        node("Cast", ["x"], ["cast"], to=TensorProto.FLOAT),
        node("Conv", ["cast", "conv", "conv_bias"], ["a"], group=2, dilations=[1, 2], strides=[2, 1], pads=[1, 0, 1, 0]),
        node("BatchNormalization", ["a", "gain", "offset", "mean", "variance"], ["b"], epsilon=1e-3),
        node("LeakyRelu", ["b"], ["c"]),
        node("AveragePool", ["c"], ["d"], kernel_shape=[2, 1], strides=[2, 1], pads=[1, 0, 1, 0], count_include_pad=1),
        node("ConvTranspose", ["d", "up"], ["e"], strides=[2, 1], pads=[1, 1, 1, 1], output_padding=[1, 0]),
        node("Clip", ["e", "zero", "six"], ["f"]),
        node("Sigmoid", ["f"], ["g"]),
        node("Reshape", ["g", "shape"], ["h"]),
        node("Reshape", ["h", "image"], ["i"]),
        node("Identity", ["i"], ["j"]),
        node("ReduceMean", ["j", "axes"], ["k"], keepdims=0),
        node("MatMul", ["k", "product"], ["l"]),
        node("Add", ["bias", "l"], ["m"]),
        node("Softplus", ["m"], ["n"]),
        node("LayerNormalization", ["n", "norm", "shift"], ["o"], axis=-1),
        node("Gelu", ["o"], ["p"]),
        node("Dropout", ["p"], ["q"]),
        node("Gemm", ["q", "sequel", "sequel_bias"], ["s"], alpha=0.5, beta=2.0),
        node("Softsign", ["s"], ["y"]),
    ]
    constants |= {"sequel": weight(4, 3), "sequel_bias": weight(3)}
    for unused in ("gemm", "gemm_bias", "places", "one", *rnn):
        del constants[unused]
    return model(nodes, constants, [2, 8, 10], 3, 20)


def steps():
    constants = {
        "W": weight(1, 5, 4), "R": weight(1, 5, 5), "B": weight(1, 10), "places": weight(1, 6, 4), "one": numpy.array([1]),
        "out": weight(5, 2),
    }
    node = helper.make_node
    nodes = [
        node("Add", ["x", "places"], ["a"]),
        node("Transpose", ["a"], ["b"], perm=[1, 0, 2]),
        node("RNN", ["b", "W", "R", "B"], ["c"], hidden_size=5),
        node("Squeeze", ["c", "one"], ["d"]),
        node("Transpose", ["d"], ["e"], perm=[1, 0, 2]),
        node("ReduceMean", ["e", "one"], ["f"], keepdims=0),
        node("MatMul", ["f", "out"], ["y"]),
    ]
    return model(nodes, constants, [6, 4], 2, 18)


def model(nodes, constants, shape, outputs, opset):
    graph = helper.make_graph(
        nodes, "made",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", *shape])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", outputs])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


# PyTorch has two exporters, which write recurrent layers in different ways.
def export(name, module, x):
    file = folder / f"{name}.onnx"
    about = {"input_names": ["x"], "output_names": ["y"]}
    if name == "lstm":
        torch.onnx.export(module, (x,), file, dynamo=True, external_data=False, **about)
    else:
        rows = {"x": {0: "rows"}} if name == "images" else None
        torch.onnx.export(module, (x,), file, dynamo=False, opset_version=17, dynamic_axes=rows, **about)
    made = onnx.load(file)
    for part in (made, made.graph, *made.graph.node, *made.graph.input, *made.graph.output):  # where it was exported
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    onnx.save(made, file)


def main():
    folder.mkdir(exist_ok=True)
    corpus = here.parent / "fuzz" / "corpus" / "onnx"
    corpus.mkdir(exist_ok=True)
    rows = {}
    for name, (module, x) in modules.items():
        for buffer in module.buffers():
            if buffer.is_floating_point():
                buffer += 0.3 * torch.rand_like(buffer)
        module.eval()
        export(name, module, x)
        with torch.no_grad():
            rows[f"{name}.x"], rows[f"{name}.y"] = x.numpy().astype(numpy.float32), module(x).numpy()
    for name, made in (("operators", operators()), ("steps", steps())):
        onnx.checker.check_model(made, full_check=True)
        onnx.save(made, folder / f"{name}.onnx")
        shape = [3] + [dim.dim_value for dim in made.graph.input[0].type.tensor_type.shape.dim[1:]]
        x = numbers.standard_normal(shape).astype(numpy.float32)
        rows[f"{name}.x"], rows[f"{name}.y"] = x, ReferenceEvaluator(made).run(None, {"x": x})[0]
    numpy.savez_compressed(folder / "rows.npz", **rows)
    for name in ("sizes", "lstm", "operators"):
        shutil.copy(folder / f"{name}.onnx", corpus / f"{name}.onnx")


if __name__ == "__main__":
    main()
