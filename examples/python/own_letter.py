# SPDX-License-Identifier: Apache-2.0
"""A new letter, and the order of the schemes it is used in.

Letter O solves the bath, dp = -gamma p dt + sqrt(2 gamma m T) dW, exactly. Here are two others for the same equation:
K with noise that is +1 or -1 in place of normal, and E, one Euler step. What do they do to a scheme?
"""
import math

import numpy as np

import kelvin


@kelvin.letter("K", moves="p", normals=1, forgets="at infinite friction")
def coins(part, h, z):
    """p = c p + sqrt(m T (1 - c^2)) times a coin, c = exp(-gamma h): mean and variance are those of O."""
    c = math.exp(-part.gamma * h)
    part.p *= c
    part.p += math.sqrt(part.m * part.T * (1 - c * c)) * np.sign(z)


@kelvin.letter("E", moves="p", normals=1)
def euler(part, h, z):
    """p = p - gamma h p + sqrt(2 gamma m T h) z: right to first order in h."""
    part.p *= 1 - part.gamma * h
    part.p += math.sqrt(2 * part.gamma * part.m * part.T * h) * z


# ---- the error of <q^2> on the harmonic oscillator, as the step grows

steps, length = (0.2, 0.3, 0.45, 0.65), 150.0
for scheme, letters in [("OBABO", ()), ("KBABK", [coins]), ("BAOAB", ()), ("BAKAB", [coins]), ("BAEAB", [euler])]:
    print(kelvin.check_order(scheme, letters=letters, steps=steps, length=length))

# ---- the letter in a run, which is stored and judged as any other

run = kelvin.sample({"model": {"toy": {"name": "gaussian", "stiffness": 2.0}}}, letters=[coins], steps=20000, every=5,
                    warmup=500, walkers=2, progress=False,
                    part={"all": {"scheme": "BAKAB", "step": 0.4, "temperature": 1.0}})
print(run.diagnose())
print(f"<q^2> = {np.mean(run.samples['q'] ** 2):.3f}, exact 0.5")
