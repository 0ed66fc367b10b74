# %% [markdown]
# # A variational autoencoder
#
# An encoder says which numbers may stand for an image, a decoder draws an image
# from numbers. Trained together on digits, they put similar digits near each
# other.
#
# What is learned here:
#
# - random numbers inside a loss come from a key that is an argument, so a loss
#   is a function of its arguments,
# - names say what a matrix maps to what: `feature` to `hidden` to `code`,
# - the loss is written for one image, and `tb.vmap` makes it one of a batch.

# %%
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

HIDDEN, CODES, BATCH = 64, 2, 128
STEPS = 600

# %% [markdown]
# ## The images

# %%
here = Path(__file__).parent if "__file__" in globals() else Path()
path = here.parent / "data" / "digits.csv.gz"
table = np.loadtxt(path, delimiter=",", dtype="f4")
images = tb.asarray(table[:, :64] / 16, names=("image", "pixel"))
print(images.template)

# %% [markdown]
# ## The model

# %%
Parameters = dict[str, tb.Tensor]
random = tb.random.generator(1)
sizes = {"pixel": 64, "hidden": HIDDEN, "back": HIDDEN, "code": CODES}


def weight(inputs: str, outputs: str) -> tb.Tensor:
    """Draw a matrix from one axis to another."""
    shape, names = (sizes[inputs], sizes[outputs]), (inputs, outputs)
    return random.draw(tb.nn.glorot_normal, shape, names=names)


parameters: Parameters = {
    "hidden": weight("pixel", "hidden"),
    "mean": weight("hidden", "code"),
    "spread": weight("hidden", "code"),
    "back": weight("code", "back"),
    "pixel": weight("back", "pixel"),
    "bias": tb.zeros(64, names=("pixel",)),
}


def encode(
    parameters: Parameters, image: tb.Tensor
) -> tuple[tb.Tensor, tb.Tensor]:
    """Return the mean and the logarithm of the deviation of the code."""
    hidden = tb.tanh(image @ parameters["hidden"])
    return hidden @ parameters["mean"], hidden @ parameters["spread"]


def decode(parameters: Parameters, code: tb.Tensor) -> tb.Tensor:
    """Return the logits of the pixels."""
    hidden = tb.tanh(code @ parameters["back"])
    return hidden @ parameters["pixel"] + parameters["bias"]


# %% [markdown]
# ## The loss of one image
#
# The code is drawn, the image is drawn from the code, and the loss says how
# surprising the true image is, plus how far the distribution of the code is
# from a standard normal one.


# %%
def loss_of(
    parameters: Parameters, image: tb.Tensor, key: tb.Tensor
) -> tb.Tensor:
    """Return the negative evidence lower bound, in nats."""
    mean, spread = encode(parameters, image)
    noise = tb.random.normal(key, mean.shape, names=mean.names)
    logits = decode(parameters, mean + tb.exp(spread) * noise)
    surprise = tb.sum(tb.nn.softplus(logits) - image * logits)
    divergence = tb.sum(tb.exp(2 * spread) + mean**2 - 1 - 2 * spread) / 2
    return surprise + divergence


def loss(
    parameters: Parameters, images: tb.Tensor, keys: tb.Tensor
) -> tb.Tensor:
    """Return the mean over a batch, each image with a key of its own."""
    losses = tb.vmap(loss_of, in_axes=(None, "image", 0))
    return tb.mean(losses(parameters, images, keys))


# %% [markdown]
# ## Training

# %%
adam = tb.optimize.adam(0.005)


@tb.jit
def step(
    parameters: Parameters, state: Any, key: tb.Tensor
) -> tuple[Any, Any, Any]:
    """Return parameters, state and loss after a step on random images."""
    for_batch, for_noise = tb.random.split(key)
    batch = tb.random.choice(for_batch, images, (BATCH,), axis="image")
    keys = tb.random.split(for_noise, BATCH)
    value, slope = tb.value_and_grad(loss)(parameters, batch, keys)
    updates, state = adam.update(slope, state, parameters)
    return tb.optimize.apply_updates(parameters, updates), state, value


keys = tb.random.split(random.next_key(), 8)
first, before = parameters, loss(parameters, images[:8], keys)
state = adam.init(parameters)
losses = []
for _ in range(STEPS):
    parameters, state, value = step(parameters, state, random.next_key())
    losses.append(value.item())
print(f"loss {losses[0]:.1f} at first, {np.mean(losses[-20:]):.1f} at the end")

# %% [markdown]
# ## What the code means
#
# A digit for each pair of numbers, and where the images of each digit lie:

# %%
line = tb.linspace(-2.0, 2.0, 12)
grid = tb.stack(tb.meshgrid(line, line), axis=2, name="code")
drawn = tb.sigmoid(decode(parameters, grid.rename("row", "column", "code")))
means = encode(parameters, images)[0]
print(drawn.template, means.template)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
tiles = tb.split_axis(drawn, "pixel", {"y": 8, "x": 8}).align_to(
    "row", "y", "column", "x"
)
left.imshow(np.asarray(tiles).reshape(96, 96), cmap="gray_r")
left.set_title("a digit for each code")
left.set_axis_off()
dots = right.scatter(*np.asarray(means.T), c=table[:, 64], cmap="tab10", s=4)
right.set_title("the codes of the images")
figure.colorbar(dots, ax=right)
plt.show()
