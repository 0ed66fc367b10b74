# %% [markdown]
# # A text classifier, and lengths
#
# In "Through the Looking-Glass" a poem is printed backwards. Here half of the
# lines of "Alice's Adventures in Wonderland" are, and a small convolution reads
# the letters to find out which. Lines have different lengths, and what pads the
# short ones must not matter.
#
# What is learned here:
#
# - `tb.ragged.from_list` keeps lines of different lengths in one tensor, with
#   their lengths,
# - `flip`, convolutions and maxima of `tb.ragged` never read the padding, and
#   give it no gradient,
# - lengths are data: one compiled step serves all batches of one size.

# %%
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb
from tensorbackend import ragged

LETTERS, CHANNELS, WIDTH, BATCH = 16, 32, 7, 64
STEPS = 150

# %% [markdown]
# ## The lines

# %%
here = Path(__file__).parent if "__file__" in globals() else Path()
book = (here.parent / "data" / "alice.txt").read_text().lower()
lines = [line.strip() for line in book.splitlines() if len(line.strip()) > 20]
alphabet = sorted(set("".join(lines)))
numbers = [[alphabet.index(letter) for letter in line] for line in lines]
text = ragged.from_list(numbers, axis="letter", batch="line")
print(text.values.template, f"from {lines[0]!r} on")

# %% [markdown]
# `flip` turns each line around within its length; a flip of the padded tensor
# would put the padding first.

# %%
random = tb.random.generator(8)
names = ("line",)
backwards = random.draw(tb.random.bernoulli, 0.5, (len(lines),), names=names)
printed = ragged.apply(
    lambda flipped, line: tb.where(backwards[:, None], flipped, line),
    ragged.flip(text, axis="letter"),
    text,
)
for line in ragged.to_list(ragged.take(printed, [2, 3, 4, 5], axis="line")):
    print("".join(alphabet[letter] for letter in line.tolist()))

# %% [markdown]
# ## The model
#
# Each letter becomes a vector; a kernel slides along the line; the largest
# value of each channel, wherever it is, decides.

# %%
Parameters = dict[str, tb.Tensor]
parameters: Parameters = {
    "letters": random.draw(
        tb.random.normal,
        (len(alphabet), LETTERS),
        names=("alphabet", "feature"),
    ),
    "kernel": random.draw(
        tb.nn.he_normal,
        (CHANNELS, LETTERS, WIDTH),
        names=("channel", "feature", "letter"),
        inputs=1,
        outputs=0,
    ),
    "weight": tb.zeros(CHANNELS, names=("channel",)),
    "bias": tb.zeros(()),
}


def model(parameters: Parameters, text: ragged.Ragged) -> tb.Tensor:
    """Return the logit of being backwards, `f32[line]`."""

    def look_up(codes: tb.Tensor) -> tb.Tensor:
        found = tb.take(parameters["letters"], codes, axis="alphabet")
        return found.align_to("line", "feature", "letter")

    found = ragged.apply(look_up, text)
    found = ragged.conv(found, parameters["kernel"], padding="same")
    most = ragged.max(ragged.apply(tb.nn.relu, found), axis="letter")
    return most @ parameters["weight"] + parameters["bias"]


def loss(
    parameters: Parameters, text: ragged.Ragged, labels: tb.Tensor
) -> tb.Tensor:
    """Return the mean cross entropy, in nats."""
    logits = model(parameters, text)
    return tb.mean(tb.nn.softplus(logits) - tb.where(labels, logits, 0.0))


# %% [markdown]
# ## Padding does not matter
#
# Three lines in a batch, and each of them alone: the logits are equal, whatever
# is in the padding.

# %%
drawn = random.draw(tb.random.normal, (CHANNELS,), names=("channel",))
some = {**parameters, "weight": drawn}
three = ragged.from_list(numbers[:3], axis="letter", batch="line")
each = [
    model(some, ragged.from_list([line], axis="letter", batch="line"))
    for line in numbers[:3]
]
together, alone = model(some, three), tb.concat(each, axis="line")
print(three.lengths["letter"].tolist())
near = tb.all_close(together, alone, rtol=1e-4, atol=1e-4)
print("equal:", near.item())

# %% [markdown]
# ## Training

# %%
adam = tb.optimize.adam(0.01)
held_back = tb.arange(2000, len(lines), name="line")


def part(where: tb.Tensor) -> tuple[ragged.Ragged, tb.Tensor]:
    """Return some of the lines, and their labels."""
    return ragged.take(printed, where, axis="line"), backwards[where]


@tb.jit
def step(
    parameters: Parameters, state: Any, key: tb.Tensor
) -> tuple[Any, Any, Any]:
    """Return parameters, state and loss after a step on random lines."""
    batch = part(tb.random.randint(key, (BATCH,), 0, 2000, names=("line",)))
    value, slope = tb.value_and_grad(loss)(parameters, *batch)
    updates, state = adam.update(slope, state, parameters)
    return tb.optimize.apply_updates(parameters, updates), state, value


state = adam.init(parameters)
losses = []
for _ in range(STEPS):
    parameters, state, value = step(parameters, state, random.next_key())
    losses.append(value.item())
print(f"loss {losses[0]:.3f} at first, {np.mean(losses[-20:]):.3f} at the end")

lines_held, labels_held = part(held_back)
logits = model(parameters, lines_held)
right = tb.mean((logits > 0) == labels_held)
print(f"{right:.1%} of the lines that were held back are right")

# %%
figure, axes = plt.subplots(figsize=(7, 3))
for way, name in ((True, "backwards"), (False, "forwards")):
    values = np.asarray(logits)[np.asarray(labels_held) == way]
    axes.hist(values, bins=40, alpha=0.6, label=name)
axes.legend()
axes.set_title("logits of lines that were held back")
plt.show()
