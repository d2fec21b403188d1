# SPDX-License-Identifier: Apache-2.0
# Trajectories of PyTorch's optimizers on the coupled potential of tests/coupled.h, in double:
#   python3 tests/torch_reference.py > tests/torch_reference.csv
import torch

torch.set_default_dtype(torch.float64)
CASES = {
    "sgd": lambda q: torch.optim.SGD(q, lr=0.05),
    "momentum": lambda q: torch.optim.SGD(q, lr=0.05, momentum=0.9),
    "dampening": lambda q: torch.optim.SGD(q, lr=0.05, momentum=0.8, dampening=0.3, weight_decay=0.1),
    "nesterov": lambda q: torch.optim.SGD(q, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1),
    "adam": lambda q: torch.optim.Adam(q, lr=0.05),
    "adam_decay": lambda q: torch.optim.Adam(q, lr=0.05, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1),
    "adamw": lambda q: torch.optim.AdamW(q, lr=0.05, weight_decay=0.1),
    "rmsprop": lambda q: torch.optim.RMSprop(q, lr=0.05, alpha=0.99, weight_decay=0.1),
    "adagrad": lambda q: torch.optim.Adagrad(q, lr=0.1, eps=1e-10),
}


def energy(x, y):
    return torch.sum(torch.cosh(x) + y**2 / 2 + y**4 / 4 + x * torch.roll(y, -1))


print("case,step,x0,x1,x2,y0,y1,y2")
for name, make in CASES.items():
    x = torch.tensor([0.3, -0.5, 0.2], requires_grad=True)
    y = torch.tensor([-0.4, 0.1, 0.6], requires_grad=True)
    optimizer = make([x, y])
    for step in range(1, 51):
        optimizer.zero_grad()
        energy(x, y).backward()
        optimizer.step()
        if step in (1, 2, 3, 10, 50):
            print(name, step, *("%.17g" % v for v in [*x.tolist(), *y.tolist()]), sep=",")
