# %% [markdown]
# # A contrastive loss with accumulated gradients
#
# Two views of a digit, each shifted and noisy, shall have codes that are near
# each other and far from those of all other digits of the batch. More others
# are better, but a large batch needs memory. This program gets the exact
# gradient of a large batch from small ones.
#
# What is learned here:
#
# - the codes of a batch are small: the gradient by the codes comes first, and
#   then `tb.vjp` takes it through the network, part by part,
# - `tb.scan` accumulates gradients as a loop, whose memory is that of one part,
# - a dry run proves it, without measuring.

# %%
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

HIDDEN, CODES, PARTS, PART = 256, 16, 8, 64
STEPS = 60
TEMPERATURE = 0.2

# %% [markdown]
# ## The views
#
# A view is an image that is shifted by up to a pixel, with noise. The shift is
# a slice of a padded image whose start is drawn.

# %%
here = Path(__file__).parent if "__file__" in globals() else Path()
path = here.parent / "data" / "digits.csv.gz"
table = np.loadtxt(path, delimiter=",", dtype="f4")
pixels = table[:, :64].reshape(-1, 8, 8) / 16
images = tb.asarray(pixels, names=("image", "row", "column"))
digits = table[:, 64]


def view(key: tb.Tensor, image: tb.Tensor) -> tb.Tensor:
    """Draw a view of an image, `f32[pixel]`."""
    for_shift, for_noise = tb.random.split(key)
    y, x = tb.random.randint(for_shift, (2,), 0, 3)
    wide = tb.pad(image, ((1, 1), (1, 1)))
    moved = tb.slice_along_axis(wide, y, 8, axis="row")
    moved = tb.slice_along_axis(moved, x, 8, axis="column")
    noise = tb.random.normal(for_noise, (8, 8), names=("row", "column"))
    return tb.merge_axes(moved + 0.2 * noise, ("row", "column"), name="pixel")


views = tb.vmap(view, in_axes=(0, "image"))

# %% [markdown]
# ## The network and the loss

# %%
Parameters = dict[str, tb.Tensor]
random = tb.random.generator(4)
names = {"first": ("pixel", "hidden"), "last": ("hidden", "code")}
shapes = {"first": (64, HIDDEN), "last": (HIDDEN, CODES)}
parameters: Parameters = {
    name: random.draw(tb.nn.he_normal, shapes[name], names=names[name])
    for name in names
}


def encode(parameters: Parameters, pixels: tb.Tensor) -> tb.Tensor:
    """Return codes of length 1."""
    hidden = tb.nn.relu(pixels @ parameters["first"])
    code = hidden @ parameters["last"]
    return code / tb.linalg.vector_norm(code, axis="code", keepdims=True)


def contrast(one: tb.Tensor, other: tb.Tensor) -> tb.Tensor:
    """Return the mean cross entropy of finding an image by its other view."""
    scores = one @ other.rename("other", "code").T / TEMPERATURE
    right = tb.arange(scores.shape[0])
    rows = tb.nn.sparse_cross_entropy(
        scores, right.rename("image"), axis="other"
    )
    columns = tb.nn.sparse_cross_entropy(
        scores, right.rename("other"), axis="image"
    )
    return (tb.mean(rows) + tb.mean(columns)) / 2


def loss(parameters: Parameters, one: tb.Tensor, other: tb.Tensor) -> tb.Tensor:
    """Return the loss of a whole batch at once."""
    return contrast(encode(parameters, one), encode(parameters, other))


# %% [markdown]
# ## The gradient in parts
#
# First all codes, which are small, and nothing of how they came about. Then the
# gradient of the loss by the codes. Then, part by part, the codes once more,
# with their gradient by the parameters.


# %%
def accumulated(
    parameters: Parameters, one: tb.Tensor, other: tb.Tensor
) -> tuple[tb.Tensor, Parameters]:
    """Return the loss and its gradient, as `value_and_grad(loss)` does."""
    parts = [
        tb.split_axis(x, "image", {"part": PARTS, "image": -1})
        for x in (one, other)
    ]

    def codes_of(_: None, pixels: Any) -> Any:
        return None, [encode(parameters, x) for x in pixels]

    _, codes = tb.scan(codes_of, None, parts, axis="part")
    whole = [tb.merge_axes(x, ("part", "image"), name="image") for x in codes]
    value, slopes = tb.value_and_grad(contrast, (0, 1))(*whole)
    slopes = [
        tb.split_axis(x, "image", {"part": PARTS, "image": -1}) for x in slopes
    ]

    def add(total: Parameters, part: Any) -> tuple[Parameters, None]:
        pixels, slopes = part
        _, pull_back = tb.vjp(
            lambda p: [encode(p, x) for x in pixels], parameters
        )
        (gradient,) = pull_back(slopes)
        return tb.tree_map(tb.add, total, gradient), None

    zeros = tb.tree_map(tb.zeros_like, parameters)
    gradient, _ = tb.scan(add, zeros, (parts, slopes), axis="part")
    return value, gradient


# %% [markdown]
# ## The same gradient, in less memory
#
# The dry run takes templates of a wider network. The whole batch at once keeps
# all hidden values, the loop those of a part.


# %%
def batch(key: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
    """Draw two views of random images."""
    for_images, for_one, for_other = tb.random.split(key, 3)
    size = PARTS * PART
    drawn = tb.random.choice(for_images, images, (size,), axis="image")
    keys = (tb.random.split(key, size) for key in (for_one, for_other))
    one, other = (views(key, drawn) for key in keys)
    return one, other


one, other = batch(random.next_key())
at_once, gradient = tb.value_and_grad(loss)(parameters, one, other)
in_parts, same = accumulated(parameters, one, other)
first_weights, last_weights = parameters["first"], parameters["last"]
print(f"loss {at_once:.5f} at once, {in_parts:.5f} in parts")
for name in names:
    near = tb.all_close(same[name], gradient[name], rtol=1e-3, atol=1e-6)
    print(f"the gradients of {name!r} agree: {near.item()}")

wide = {
    "first": "f32[pixel=64, hidden=50000]",
    "last": "f32[hidden=50000, code=16]",
}
ways: dict[str, Any] = {
    "at once": tb.value_and_grad(loss),
    "in parts": accumulated,
}
for name, way in ways.items():
    report = tb.dry_run(way, wide, one, other)
    memory, flops = report.peak.memory / 1e6, report.flops / 1e9
    print(f"{name}: {memory:.0f} MB, {flops:.0f} GFLOP")

# %% [markdown]
# ## Training

# %%
adam = tb.optimize.adam(0.003)


@tb.jit
def step(
    parameters: Parameters, state: Any, key: tb.Tensor
) -> tuple[Any, Any, Any]:
    """Return parameters, state and loss after a step."""
    value, gradient = accumulated(parameters, *batch(key))
    updates, state = adam.update(gradient, state, parameters)
    return tb.optimize.apply_updates(parameters, updates), state, value


def neighbours(parameters: Parameters) -> tb.Tensor:
    """Return the nearest other image of each image, `s64[image]`."""
    flat = tb.merge_axes(images, ("row", "column"), name="pixel")
    codes = encode(parameters, flat)
    alike = codes @ codes.rename("other", "code").T
    alike = alike - 9 * tb.eye(len(digits), names=alike.names)
    return tb.argmax(alike, axis="other")


def right(parameters: Parameters) -> float:
    """Return how many images have a neighbour of their digit."""
    return float(np.mean(digits[np.asarray(neighbours(parameters))] == digits))


before, untrained = at_once, right(parameters)
state = adam.init(parameters)
for _ in range(STEPS):
    parameters, state, value = step(parameters, state, random.next_key())
print(f"loss {before:.2f} at first, {value:.2f} at the end")
print(
    f"a neighbour is of the same digit: {untrained:.0%} before training,",
    end=" ",
)
print(f"{right(parameters):.0%} after; no label was used")

# %%
nearest = np.asarray(neighbours(parameters))
figure, rows = plt.subplots(2, 8, figsize=(8, 2.2))
for column in range(8):
    rows[0, column].imshow(pixels[column], cmap="gray_r")
    rows[1, column].imshow(pixels[nearest[column]], cmap="gray_r")
for axes in rows.flat:
    axes.set_axis_off()
figure.suptitle("digits, and the images whose codes are nearest")
plt.show()
