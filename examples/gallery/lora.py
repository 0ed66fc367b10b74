# %% [markdown]
# # Mixed precision, and LoRA
#
# A classifier of digits meets digits that lie on their side. Its matrices stay
# as they are, and small factors of a low rank, next to each of them, learn the
# difference. Products run in bfloat16.
#
# What is learned here:
#
# - `tb.autocast` runs products in a narrow dtype, while parameters, sums and
#   gradients stay in float32,
# - `tb.grad` is by the first argument: what is frozen is another argument,
# - a dry run counts what a step of adaptation needs next to one of everything.

# %%
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

HIDDEN, RANK = 128, 4
STEPS = 100

# %% [markdown]
# ## Digits, and digits on their side

# %%
here = Path(__file__).parent if "__file__" in globals() else Path()
path = here.parent / "data" / "digits.csv.gz"
table = np.loadtxt(path, delimiter=",", dtype="f4")
upright = tb.asarray(table[:, :64] / 16, names=("image", "pixel"))
on_side = np.rot90(table[:, :64].reshape(-1, 8, 8) / 16, axes=(1, 2))
turned = tb.asarray(on_side.reshape(-1, 64), names=("image", "pixel"))
digits = tb.asarray(table[:, 64], dtype="s64", names=("image",))

# %% [markdown]
# ## The model
#
# A layer multiplies by its matrix, and by two thin ones if it is given a
# change.

# %%
Parameters = dict[str, Any]
random = tb.random.generator(6)
shapes = {
    "first": (64, HIDDEN),
    "second": (HIDDEN, HIDDEN),
    "last": (HIDDEN, 10),
}
names = {
    "first": ("pixel", "a"),
    "second": ("a", "b"),
    "last": ("b", "digit"),
}
base: Parameters = {
    name: random.draw(tb.nn.he_normal, shape, names=names[name])
    for name, shape in shapes.items()
}


def product(x: tb.Tensor, weight: tb.Tensor, change: Any) -> tb.Tensor:
    """Return x times a matrix, plus x times its change of a low rank."""
    y = x @ weight
    return y if change is None else y + x @ change["down"] @ change["up"]


def model(
    base: Parameters, changes: Parameters, pixels: tb.Tensor
) -> tb.Tensor:
    """Return logits, `f32[image][digit]`, with products in bfloat16."""
    with tb.autocast("bfloat16"):
        x = tb.nn.relu(product(pixels, base["first"], changes.get("first")))
        x = tb.nn.relu(product(x, base["second"], changes.get("second")))
        return product(x, base["last"], changes.get("last"))


def loss(base: Parameters, changes: Parameters, pixels: tb.Tensor) -> tb.Tensor:
    """Return the mean cross entropy."""
    logits = model(base, changes, pixels)
    return tb.mean(tb.nn.sparse_cross_entropy(logits, digits, axis="digit"))


def correct(
    base: Parameters, changes: Parameters, pixels: tb.Tensor
) -> tb.Tensor:
    """Return the share of images whose digit is found."""
    return tb.mean(
        tb.argmax(model(base, changes, pixels), axis="digit") == digits
    )


# %% [markdown]
# ## Upright digits
#
# The gradient is by `base`. The loss is multiplied by a factor before, and the
# gradients are divided by it after: with float16, small gradients would be 0
# without it. bfloat16 has the range of float32, so the factor is only shown
# here.

# %%
adam = tb.optimize.scale_loss(tb.optimize.adam(0.01), initial=1024.0)


@tb.jit
def train(base: Parameters, state: Any, pixels: tb.Tensor) -> tuple[Any, Any]:
    """Return the parameters and the state after a step."""
    gradient = tb.grad(lambda base: state.scale * loss(base, {}, pixels))(base)
    updates, state = adam.update(gradient, state, base)
    return tb.optimize.apply_updates(base, updates), state


start, before = base, loss(base, {}, upright)
state = adam.init(base)
for _ in range(STEPS):
    base, state = train(base, state, upright)
print(f"upright: {correct(base, {}, upright):.1%}")
print(f"on their side: {correct(base, {}, turned):.1%}")
print({name: str(weight.template) for name, weight in base.items()})

# %% [markdown]
# ## Digits on their side
#
# The changes begin as 0, since `up` does. The gradient is by them alone.


# %%
def change(name: str) -> Parameters:
    """Return the factors of a change, whose product is 0."""
    (inputs, outputs), (before, after) = shapes[name], names[name]
    down = random.draw(tb.nn.he_normal, (inputs, RANK), names=(before, "rank"))
    return {
        "down": down,
        "up": tb.zeros((RANK, outputs), names=("rank", after)),
    }


def adapted(
    changes: Parameters, base: Parameters, pixels: tb.Tensor
) -> tb.Tensor:
    """Return the loss as a function of the changes first."""
    return loss(base, changes, pixels)


@tb.jit
def adapt(
    changes: Parameters, state: Any, base: Parameters
) -> tuple[Any, Any, Any]:
    """Return the changes, the state and the loss after a step."""
    value, gradient = tb.value_and_grad(adapted)(changes, base, turned)
    updates, state = small.update(gradient, state, changes)
    return tb.optimize.apply_updates(changes, updates), state, value


small = tb.optimize.adam(0.01)
changes = {name: change(name) for name in shapes}
first, frozen = changes, base
state = small.init(changes)
losses = []
for _ in range(STEPS):
    changes, state, value = adapt(changes, state, frozen)
    losses.append(value.item())
print(f"on their side: {correct(frozen, changes, turned):.1%} with the changes")

# %% [markdown]
# ## What it takes
#
# For a network with matrices of 8,192 x 8,192, by a dry run of the gradient and
# of Adam's means:


# %%
def matrix(before: str, after: str) -> tb.Tensor:
    """Return the template of a matrix."""
    sizes = {"a": 8192, "b": 8192, "rank": 8}
    return tb.template((sizes[before], sizes[after]), "f32", (before, after))


def squares(weights: Any, frozen: Any, x: tb.Tensor) -> tb.Tensor:
    """Return a loss of one layer, with or without a frozen matrix."""
    with tb.autocast("bfloat16"):
        if frozen is None:
            return tb.mean(tb.square(x @ weights))
        down, up = weights
        return tb.mean(tb.square(x @ frozen + x @ down @ up))


def whole_step(weights: Any, state: Any, frozen: Any, x: tb.Tensor) -> Any:
    """Return the weights and the state after a step."""
    gradient = tb.grad(squares)(weights, frozen, x)
    updates, state = small.update(gradient, state, weights)
    return tb.optimize.apply_updates(weights, updates), state


wide, x = matrix("a", "b"), tb.template((64, 8192), "f32", ("image", "a"))
thin = (matrix("a", "rank"), matrix("rank", "b"))
for name, weights, rest in (("all", wide, None), ("the changes", thin, wide)):
    report = tb.dry_run(whole_step, weights, small.init(weights), rest, x)
    print(f"a step of {name}: {report.peak.memory / 1e6:.0f} MB")

# %%
figure, axes = plt.subplots(figsize=(7, 3))
axes.semilogy(losses)
axes.set(xlabel="step", ylabel="nats per digit")
axes.set_title("the loss of digits on their side")
plt.show()
