# SPDX-License-Identifier: Apache-2.0
"""A convolutional network of one's own in PyTorch: trained, then sampled, by Kelvin's dynamics."""
import torch

import kelvin
import kelvin.torch

# ---- pictures of 8 x 8 with a bar that lies (class 0) or stands (class 1), in noise

torch.manual_seed(1)
torch.set_num_threads(1)


def pictures(count):
    images, classes = 0.7 * torch.randn(count, 1, 8, 8), torch.randint(0, 2, (count,))
    for image, stands, place in zip(images, classes, torch.randint(1, 7, (count,))):
        image[0, :, place] += stands
        image[0, place, :] += 1 - stands
    return images, classes


train, test = pictures(300), pictures(200)

# ---- any module

module = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(36, 2))
loss = torch.nn.functional.cross_entropy

# ---- trained at temperature 0, and from there sampled: the convolution and the head as parts of their own

trained = kelvin.torch.train(module, loss, train, scheme="adam", step=0.01, batch=50, steps=300, walkers=1, progress=False)
kelvin.torch.load(trained, module)
with torch.no_grad():
    point = torch.softmax(module(test[0]), dim=1)

run = kelvin.torch.sample(
    module, loss, train, batch=100, prior={"name": "gaussian", "scale": 1.0}, steps=2000, warmup=500, every=20, walkers=2,
    progress=False, parts={"convolution": {"blocks": ["0.*"], "scheme": "BAOAB", "step": 0.05},
                           "head": {"blocks": ["4.*"], "scheme": "BAOAB", "step": 0.05}})
print(run.samples)
mean = kelvin.torch.predict(run, module, test[0])


# ---- what the average over draws gains

def told(name, probabilities):
    right = (probabilities.argmax(dim=1) == test[1]).double().mean()
    surprise = -probabilities[torch.arange(len(test[1])), test[1]].log().mean()
    print(f"{name}: {100 * right:.1f} % right, log loss {surprise:.3f}")


told("the trained network", point)
told("averaged over draws", mean)
