# %% [markdown]
# # A U-Net that finds discs
#
# A network looks at noisy images and says for each pixel whether it belongs to
# a disc. It looks at smaller and smaller versions of the image, and back, and
# joins what it saw at each size.
#
# What is learned here:
#
# - convolutions slide along the axes that the kernel names; the batch may be
#   anywhere,
# - `tb.concat` joins channels by name, and an error would show all axes,
# - a dry run says what a step would take for large images, before there are
#   any.

# %%
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

SIZE, CHANNELS, BATCH = 24, 8, 8
STEPS = 80

# %% [markdown]
# ## The images
#
# A disc is drawn by a key: the place, the size, and much noise.


# %%
def example(key: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
    """Draw an image `f32[y][x]`, and where its disc is."""
    for_place, for_size, for_noise = tb.random.split(key, 3)
    at_y, at_x = tb.random.uniform(for_place, (2,), minval=0.25, maxval=0.75)
    radius = tb.random.uniform(for_size, (), minval=0.1, maxval=0.25)
    middle = (tb.arange(SIZE) + 0.5) / SIZE
    y, x = tb.aligned(middle.rename("y"), middle.rename("x"), outer=True)
    disc = tb.hypot(y - at_y, x - at_x) < radius
    noise = tb.random.normal(for_noise, disc.shape, names=disc.names)
    return tb.where(disc, 1.0, 0.0) + 0.8 * noise, disc


examples = tb.vmap(example, axis_name="image")
random = tb.random.generator(2)
images, discs = examples(tb.random.split(random.next_key(), 32))
print(images.template)

# %% [markdown]
# ## The network
#
# A kernel has the axes (out, in, y, x). Names pair `channel` with `channel` and
# slide along `y` and `x`.

# %%
Parameters = dict[str, tb.Tensor]


def kernel(outputs: int, inputs: int, width: int = 3) -> tb.Tensor:
    """Draw a kernel that keeps the variance."""
    shape = (outputs, inputs, width, width)
    names = (None, "channel", "y", "x")
    return random.draw(tb.nn.he_normal, shape, names=names, inputs=1, outputs=0)


parameters: Parameters = {
    "first": kernel(CHANNELS, 1),
    "down": kernel(2 * CHANNELS, CHANNELS),
    "middle": kernel(2 * CHANNELS, 2 * CHANNELS),
    "up": kernel(2 * CHANNELS, CHANNELS, 2),
    "joined": kernel(CHANNELS, 2 * CHANNELS),
    "last": kernel(1, CHANNELS, 1),
}


def conv(x: tb.Tensor, weight: tb.Tensor, strides: int = 1) -> tb.Tensor:
    """Convolve, with images of the same size or a fraction of it."""
    y = tb.nn.conv(x, weight, axis="channel", strides=strides, padding="same")
    return y.rename(*x.names)


def model(parameters: Parameters, images: tb.Tensor) -> tb.Tensor:
    """Return the logit of each pixel, `f32[image][y][x]`."""
    x = tb.expand_dims(images, axis=-1).rename("image", "y", "x", "channel")
    fine = tb.nn.relu(conv(x, parameters["first"]))
    coarse = tb.nn.relu(conv(fine, parameters["down"], strides=2))
    coarse = tb.nn.relu(conv(coarse, parameters["middle"]))
    wide = tb.nn.conv_transpose(
        coarse, parameters["up"], axis="channel", strides=2
    )
    both = tb.concat([fine, wide.rename(*fine.names)], axis="channel")
    both = tb.nn.relu(conv(both, parameters["joined"]))
    return tb.squeeze(conv(both, parameters["last"]), axis="channel")


def loss(
    parameters: Parameters, images: tb.Tensor, discs: tb.Tensor
) -> tb.Tensor:
    """Return the mean cross entropy of a pixel."""
    logits = model(parameters, images)
    return tb.mean(tb.nn.softplus(logits) - tb.where(discs, logits, 0.0))


# %% [markdown]
# ## Would it fit?
#
# A step with a batch of 64 images of 4,096 x 4,096 pixels, on a machine that we
# do not have:

# %%
shape = "image=64, y=4096, x=4096"
report = tb.dry_run(
    loss, parameters, f"f32[{shape}]", f"bool[{shape}]", gradient=True
)
peak = report.peak
print(
    f"{report.flops / 1e12:.1f} TFLOP, {peak.memory / 1e9:.0f} GB at {peak.op}"
)
print("fits into 141 GB:", report.fits("141GB"))

# %% [markdown]
# ## Training

# %%
adam = tb.optimize.adam(0.005)


@tb.jit
def step(
    parameters: Parameters, state: Any, key: tb.Tensor
) -> tuple[Any, Any, Any]:
    """Return parameters, state and loss after a step on new images."""
    images, discs = examples(tb.random.split(key, BATCH))
    value, slope = tb.value_and_grad(loss)(parameters, images, discs)
    updates, state = adam.update(slope, state, parameters)
    return tb.optimize.apply_updates(parameters, updates), state, value


first, before = parameters, loss(parameters, images, discs)
state = adam.init(parameters)
losses = []
for _ in range(STEPS):
    parameters, state, value = step(parameters, state, random.next_key())
    losses.append(value.item())
print(f"loss {losses[0]:.3f} at first, {np.mean(losses[-10:]):.3f} at the end")


def overlap(found: tb.Tensor, true: tb.Tensor) -> tb.Tensor:
    """Return the intersection over the union of each image."""
    both = tb.sum(found & true, axis=("y", "x"))
    return both / tb.sum(found | true, axis=("y", "x"))


found = model(parameters, images) > 0
print(f"overlap {tb.mean(overlap(found, discs)):.2f};", end=" ")
print(f"of a threshold {tb.mean(overlap(images > 0.5, discs)):.2f}")

# %%
figure, rows = plt.subplots(3, 6, figsize=(8, 4))
for column in range(6):
    for axes, field in zip(
        rows[:, column], (images, found, discs), strict=True
    ):
        axes.imshow(np.asarray(field[column]), cmap="gray")
        axes.set_axis_off()
figure.suptitle("images, what the network finds, and the discs")
plt.show()
