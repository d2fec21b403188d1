# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/networks.cpp in JAX, on one core: gradient and BAOAB step, the whole loop in lax.scan under jit, noise by
threefry, rows drawn in the loop. Reads "case seconds" lines, answers seconds per step."""
import functools
import math
import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp

vocabulary, sequence_steps = 65, 64


class Weights:
    """Makes the weights of a network one after another."""

    def __init__(self):
        self.key = jax.random.key(1)

    def normal(self, *shape):
        self.key, key = jax.random.split(self.key)
        return 0.05 * jax.random.normal(key, shape)

    def dense(self, inputs, outputs):
        return {"w": self.normal(inputs, outputs), "b": jnp.zeros(outputs)}

    def norm(self, channels):
        return {"gain": jnp.ones(channels), "bias": jnp.zeros(channels)}


def dense(w, x):
    return x @ w["w"] + w["b"]


def cross_entropy(outputs, targets):
    right = jnp.take_along_axis(jax.nn.log_softmax(outputs), targets[..., None], axis=-1)
    return -right.mean()


def conv(w, x, stride=1, padding="VALID"):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def small_conv_net():
    new = Weights()
    w = {"first": new.normal(3, 3, 1, 16), "b1": jnp.zeros(16), "second": new.normal(3, 3, 16, 32), "b2": jnp.zeros(32),
         "last": new.dense(800, 10)}

    def outputs(w, x, statistics):
        x = max_pool(jax.nn.relu(conv(w["first"], x) + w["b1"]))
        x = max_pool(jax.nn.relu(conv(w["second"], x) + w["b2"]))
        return dense(w["last"], x.reshape(len(x), -1)), statistics

    return w, outputs


def batch_norm(w, x, running):
    mean = x.mean((0, 1, 2))
    variance = x.var((0, 1, 2))
    moved = (0.9 * running[0] + 0.1 * jax.lax.stop_gradient(mean), 0.9 * running[1] + 0.1 * jax.lax.stop_gradient(variance))
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w["gain"] + w["bias"], moved


def resnet_18(width):
    new = Weights()
    w = {"stem": new.normal(3, 3, 3, width), "norm": new.norm(width), "blocks": [], "last": new.dense(8 * width, 10)}
    strides, last = [], width
    for stage in range(4):
        for block in range(2):
            channels, stride = width << stage, 2 if stage > 0 and block == 0 else 1
            one = {"first": new.normal(3, 3, last, channels), "norm1": new.norm(channels),
                   "second": new.normal(3, 3, channels, channels), "norm2": new.norm(channels)}
            if last != channels:
                one |= {"past": new.normal(1, 1, last, channels), "norm3": new.norm(channels)}
            w["blocks"].append(one)
            strides.append(stride)
            last = channels

    def outputs(w, x, statistics):
        old, moved = iter(statistics), []

        def norm(weights, x):
            y, now = batch_norm(weights, x, next(old))
            moved.append(now)
            return y

        x = jax.nn.relu(norm(w["norm"], conv(w["stem"], x, 1, "SAME")))
        for one, stride in zip(w["blocks"], strides):
            y = jax.nn.relu(norm(one["norm1"], conv(one["first"], x, stride, ((1, 1), (1, 1)))))
            y = norm(one["norm2"], conv(one["second"], y, 1, "SAME"))
            past = norm(one["norm3"], conv(one["past"], x, stride)) if "past" in one else x
            x = jax.nn.relu(y + past)
        return dense(w["last"], x.mean((1, 2))), moved

    statistics = [(jnp.zeros(n["gain"].shape), jnp.ones(n["gain"].shape)) for n in norms_of(w)]
    return w, outputs, statistics


def norms_of(w):
    yield w["norm"]
    for one in w["blocks"]:
        yield from (one[name] for name in ("norm1", "norm2", "norm3") if name in one)


def lstm(w, x):
    def cell(state, a):
        h, c = state
        i, f, g, o = jnp.split(a + h @ w["recurrent"], 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[0], w["recurrent"].shape[0]))
    return jax.lax.scan(cell, (zero, zero), dense(w["in"], x).swapaxes(0, 1))[1].swapaxes(0, 1)


def char_lstm(numbers, units, layers):
    new = Weights()
    w = {"embedding": new.normal(vocabulary, numbers), "last": new.dense(units, vocabulary),
         "layers": [{"in": new.dense(units if k else numbers, 4 * units), "recurrent": new.normal(units, 4 * units)}
                    for k in range(layers)]}

    def outputs(w, words, statistics):
        x = w["embedding"][words]
        for layer in w["layers"]:
            x = lstm(layer, x)
        return dense(w["last"], x), statistics

    return w, outputs


def layer_norm(w, x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * w["gain"] + w["bias"]


def attention(w, x, heads):
    rows, steps, width = x.shape
    q, k, v = (part.reshape(rows, steps, heads, -1) for part in jnp.split(dense(w["in"], x), 3, axis=-1))
    return dense(w["out"], jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(rows, steps, width))


def transformer(width, depth, heads):
    new = Weights()
    w = {"embedding": new.normal(vocabulary, width), "positions": new.normal(sequence_steps, width),
         "norm": new.norm(width), "last": new.dense(width, vocabulary),
         "blocks": [{"norm1": new.norm(width), "in": new.dense(width, 3 * width), "out": new.dense(width, width),
                     "norm2": new.norm(width), "up": new.dense(width, 4 * width), "down": new.dense(4 * width, width)}
                    for _ in range(depth)]}

    def outputs(w, words, statistics):
        x = w["embedding"][words] + w["positions"]
        for block in w["blocks"]:
            x = x + attention(block, layer_norm(block["norm1"], x), heads)
            x = x + dense(block["down"], jax.nn.relu(dense(block["up"], layer_norm(block["norm2"], x))))
        return dense(w["last"], layer_norm(w["norm"], x)), statistics

    return w, outputs


def images(channels, side, rows=1024):
    keys = jax.random.split(jax.random.key(2))
    return jax.random.normal(keys[0], (rows, side, side, channels)), jax.random.randint(keys[1], (rows,), 0, 10)


def words(rows=1024):
    keys = jax.random.split(jax.random.key(2))
    return tuple(jax.random.randint(key, (rows, sequence_steps), 0, vocabulary) for key in keys)


def baoab(network, data, batch, at_once, step=1e-3, friction=1.0, temperature=1e-4):
    """Advances a chain by `at_once` steps in one compiled loop; returns their number."""
    w, outputs, *rest = network
    x, y = data
    keep = math.exp(-friction * step)
    spread = math.sqrt(temperature * (1 - keep * keep))

    def loss(w, rows, statistics):
        out, statistics = outputs(w, x[rows], statistics)
        return cross_entropy(out, y[rows]), statistics

    def moved(state, _):
        q, p, g, statistics, key = state
        key, of_rows, of_noise = jax.random.split(key, 3)
        kicked = lambda p, g: jax.tree.map(lambda p, g: p - step / 2 * g, p, g)
        drifted = lambda q, p: jax.tree.map(lambda q, p: q + step / 2 * p, q, p)
        p = kicked(p, g)
        q = drifted(q, p)
        leaves, tree = jax.tree.flatten(p)
        keys = jax.random.split(of_noise, len(leaves))
        p = jax.tree.unflatten(tree, [keep * a + spread * jax.random.normal(k, a.shape) for a, k in zip(leaves, keys)])
        q = drifted(q, p)
        rows = jax.random.randint(of_rows, (batch,), 0, len(x))
        g, statistics = jax.grad(loss, has_aux=True)(q, rows, statistics)
        return (q, kicked(p, g), g, statistics, key), None

    # The state is given away, so that it is changed in place.
    advance = jax.jit(lambda state: jax.lax.scan(moved, state, length=at_once)[0], donate_argnums=0)
    zeros = lambda: jax.tree.map(jnp.zeros_like, w)
    state = [(w, zeros(), zeros(), rest[0] if rest else 0.0, jax.random.key(3))]

    def some():
        state[0] = jax.block_until_ready(advance(state[0]))
        return at_once

    return some


cases = {
    "baoab small conv net": lambda: baoab(small_conv_net(), images(1, 28), 32, 20),
    "baoab lstm 32": lambda: baoab(char_lstm(32, 32, 1), words(), 32, 20),
    "baoab 2 x lstm 128": lambda: baoab(char_lstm(128, 128, 2), words(), 32, 4),
    "baoab transformer 32": lambda: baoab(transformer(32, 2, 4), words(), 32, 10),
    "baoab transformer 128": lambda: baoab(transformer(128, 2, 4), words(), 32, 4),
    "baoab resnet 18 width 16": lambda: baoab(resnet_18(16), images(3, 32), 128, 1),
    "baoab resnet 18 width 64": lambda: baoab(resnet_18(64), images(3, 32), 32, 1),
}


@functools.cache
def ready(name):
    return cases[name]()


for line in sys.stdin:
    name, seconds = line.rsplit(" ", 1)
    some = ready(name)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < float(seconds):
        steps += some()
    print((time.perf_counter() - start) / steps, flush=True)
