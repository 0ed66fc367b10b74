# %% [markdown]
# # Will a Llama fit, and how should it be divided?
#
# Llama 3 with 8 billion parameters shall be trained on 8 GPUs of 80 GB. What
# does a step take, and along which axes should its tensors be divided? This
# program has no GPU, and allocates nothing.
#
# What is learned here:
#
# - a template such as `"bf16[model=4096, hidden=14336]"` stands for a tensor,
#   and a function of tensors takes it,
# - `tb.dry_run` counts operations, bytes and the peak of memory, with the line
#   of the program that reaches it,
# - with a mesh and a layout by names it says what each device holds and sends;
#   `tb.search_layouts` tries layouts.

# %%
import math
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

LAYERS, MODEL, HIDDEN, WORDS = 32, 4096, 14336, 128256
GROUPS, HEADS, UNITS = 8, 4, 128  # four heads share a key and a value
TIME, BATCH = 2048, 8

# %% [markdown]
# ## The parameters
#
# They are templates: a dtype, and names with sizes.


# %%
def weight(**sizes: int) -> tb.Tensor:
    """Return the template of a parameter."""
    return tb.template(tuple(sizes.values()), "bfloat16", tuple(sizes))


def layer() -> dict[str, tb.Tensor]:
    """Return the parameters of a layer."""
    return {
        "query": weight(model=MODEL, group=GROUPS, head=HEADS, unit=UNITS),
        "key": weight(model=MODEL, group=GROUPS, unit=UNITS),
        "value": weight(model=MODEL, group=GROUPS, unit=UNITS),
        "output": weight(group=GROUPS, head=HEADS, unit=UNITS, model=MODEL),
        "gate": weight(model=MODEL, hidden=HIDDEN),
        "up": weight(model=MODEL, hidden=HIDDEN),
        "down": weight(hidden=HIDDEN, model=MODEL),
        "before": weight(model=MODEL),
        "between": weight(model=MODEL),
    }


parameters: dict[str, Any] = {
    "words": weight(word=WORDS, model=MODEL),
    "layers": [layer() for _ in range(LAYERS)],
    "scale": weight(model=MODEL),
    "logits": weight(model=MODEL, word=WORDS),
}
count = 0


def add_size(x: tb.Tensor) -> tb.Tensor:
    """Add the number of elements of a parameter."""
    global count
    count += x.size
    return x


tb.tree_map(add_size, parameters)
print(f"{count:,} parameters")

# %% [markdown]
# ## The model
#
# Each product says by name what it sums over. Axes that both operands have
# otherwise, such as `batch` and `group`, are batch axes, wherever they are.

# %%
Parameters = dict[str, Any]


def attention(layer: Parameters, x: tb.Tensor) -> tb.Tensor:
    """Attend to all positions before, eight groups of four heads."""
    query = tb.dot(x, layer["query"], contract="model")
    key = tb.dot(x, layer["key"], contract="model").rename(time="seen")
    value = tb.dot(x, layer["value"], contract="model").rename(time="seen")
    scores = tb.dot(query, key, contract="unit") / math.sqrt(UNITS)
    time = tb.arange(x.shape[1], name="time")
    _, now, then = tb.aligned(scores, time, time.rename("seen"))
    shares = tb.softmax(tb.where(then <= now, scores, -math.inf), axis="seen")
    mixed = tb.dot(shares, value, contract="seen")
    return tb.dot(mixed, layer["output"], contract={"group", "head", "unit"})


@tb.checkpoint
def block(layer: Parameters, x: tb.Tensor) -> tb.Tensor:
    """Apply a layer, whose inner values are computed again for the gradient."""
    x = x + attention(layer, tb.nn.rms_norm(x, layer["before"]))
    y = tb.nn.rms_norm(x, layer["between"])
    gate = tb.nn.silu(tb.dot(y, layer["gate"], contract="model"))
    hidden = gate * tb.dot(y, layer["up"], contract="model")
    return x + tb.dot(hidden, layer["down"], contract="hidden")


def loss(
    parameters: Parameters, words: tb.Tensor, following: tb.Tensor
) -> tb.Tensor:
    """Return the mean cross entropy of the following words."""
    x = tb.take(parameters["words"], words, axis="word")
    for layer in parameters["layers"]:
        x = block(layer, x)
    x = tb.nn.rms_norm(x, parameters["scale"])
    logits = tb.dot(x, parameters["logits"], contract="model")
    return tb.mean(tb.nn.sparse_cross_entropy(logits, following, axis="word"))


adam = tb.optimize.adam(1e-4)


def step(parameters: Parameters, state: Any, *batch: tb.Tensor) -> Any:
    """Return the parameters, the state of Adam and the loss after a step."""
    value, gradient = tb.value_and_grad(loss)(parameters, *batch)
    updates, state = adam.update(gradient, state, parameters)
    return tb.optimize.apply_updates(parameters, updates), state, value


# %% [markdown]
# ## On one device
#
# A mistake in an axis would be an error here, at its line. The state of Adam is
# made of templates too, in float32.

# %%
words = tb.template((BATCH, TIME), "s64", ("batch", "time"))
arguments = (step, parameters, adam.init(parameters), words, words)
report = tb.dry_run(*arguments)
print(f"{report.flops / 1e15:.2f} PFLOP")
print(f"peak {report.peak.memory / 1e9:.0f} GB, in {report.peak.op}")
print("fits into 80 GB:", report.fits("80GB"))

# %% [markdown]
# ## On eight devices
#
# The mesh has two axes. A layout says which names are divided along which of
# them: here each pair of devices shares a batch, and splits groups of heads,
# hidden units and words.

# %%
mesh = tb.Mesh({"data": 4, "parts": 2})
layout = {"batch": "data", "group": "parts", "hidden": "parts", "word": "parts"}
report = tb.dry_run(*arguments, mesh=mesh, layout=layout)
on_mesh: Any = report.on_mesh
print(on_mesh.summary())

# %% [markdown]
# More layouts, tried by their dry runs:

# %%
layouts = {
    "by batch": {"batch": "data"},
    "by batch, and hidden": {"batch": "data", "hidden": "parts"},
    "by batch, and all": layout,
    "by batch, all, and model": {**layout, "model": "data"},
}
peaks, sent = {}, {}
for name, rules in layouts.items():
    each: Any = tb.dry_run(*arguments, mesh=mesh, layout=rules).on_mesh
    peaks[name], sent[name] = each.peak / 1e9, each.sent / 1e9
    fits = "fits" if peaks[name] <= 80 else "does not fit"
    print(f"{name}: {peaks[name]:.0f} GB, {sent[name]:.0f} GB sent: {fits}")

# %% [markdown]
# A search tries each of the names that it is given on each axis of the mesh,
# and on none. With two layers, and the gradient alone, it takes seconds.

# %%
few = {**parameters, "layers": parameters["layers"][:2]}
names = ["batch", "hidden", "word"]
ranked = tb.search_layouts(
    loss, few, words, words, gradient=True, mesh=mesh, names=names, fits="80GB"
)
print(ranked.text(3))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 2.6), sharey=True)
places = np.arange(len(layouts))
left.barh(places, list(peaks.values()))
left.axvline(80, color="k", lw=1)
left.set_yticks(places, list(layouts))
left.set_title("peak of a device (GB)")
right.barh(places, list(sent.values()))
right.set_title("sent by a device (GB)")
plt.show()
