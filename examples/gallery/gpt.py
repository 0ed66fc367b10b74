# %% [markdown]
# # A GPT that writes with a cache
#
# A small decoder learns to write like Lewis Carroll, one character at a time.
# Then it writes: each new character attends to keys and values that are kept,
# so that none is computed twice.
#
# What is learned here:
#
# - parameters are dictionaries and lists of tensors, drawn by keys,
# - `tb.jit` compiles a whole step: batch, gradient, Adam,
# - `tb.nn.incremental_attention` and its cache work inside `tb.scan`, so that
#   writing is one compiled program.

# %%
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import tensorbackend as tb

LAYERS, HEADS, WIDTH, CONTEXT, BATCH = 2, 4, 32, 32, 16
STEPS = 150
WRITTEN = 60

# %% [markdown]
# ## The text

# %%
here = Path(__file__).parent if "__file__" in globals() else Path()
text = (here.parent / "data" / "alice.txt").read_text()
alphabet = sorted(set(text))
codes = tb.asarray([alphabet.index(letter) for letter in text])
print(f"{len(text)} characters, {len(alphabet)} different ones")

# %% [markdown]
# ## The parameters
#
# A generator splits its key at each draw. The weights of `multi_head_attention`
# are a dictionary of four matrices.

# %%
Parameters = dict[str, Any]
random = tb.random.generator(0)


def matrix(inputs: int, outputs: int) -> tb.Tensor:
    """Draw a matrix that keeps the variance of what it multiplies."""
    return random.draw(tb.nn.lecun_normal, (inputs, outputs))


def layer() -> Parameters:
    """Draw the parameters of a layer."""
    names = ("query", "key", "value", "output")
    return {
        "attention": {name: matrix(WIDTH, WIDTH) for name in names},
        "up": matrix(WIDTH, 4 * WIDTH),
        "down": matrix(4 * WIDTH, WIDTH),
    }


parameters = {
    "letters": random.draw(tb.random.normal, (len(alphabet), WIDTH)),
    "layers": [layer() for _ in range(LAYERS)],
    "logits": matrix(WIDTH, len(alphabet)),
}

# %% [markdown]
# ## The model
#
# Attention is a parameter of the model: the one for training looks at a whole
# text, and the one for writing at a cache.


# %%
def model(
    parameters: Parameters, letters: tb.Tensor, attention: Any
) -> tb.Tensor:
    """Return the logits of the next letters, `f32[batch][time][letter]`."""
    x = tb.take(parameters["letters"], letters, axis=0)
    for i, layer in enumerate(parameters["layers"]):
        x = x + attention(i, layer["attention"], tb.nn.rms_norm(x))
        hidden = tb.nn.gelu(tb.nn.rms_norm(x) @ layer["up"])
        x = x + hidden @ layer["down"]
    return tb.nn.rms_norm(x) @ parameters["logits"]


def whole(_: int, weights: Parameters, x: tb.Tensor) -> tb.Tensor:
    """Attend to all letters before, of a text that is known."""
    return tb.nn.multi_head_attention(
        weights, x, heads=HEADS, causal=True, rotate=tb.nn.rotary
    )


def loss(parameters: Parameters, letters: tb.Tensor) -> tb.Tensor:
    """Return the cross entropy of a letter, in nats."""
    logits = model(parameters, letters[:, :-1], whole)
    return tb.mean(tb.nn.sparse_cross_entropy(logits, letters[:, 1:]))


# %% [markdown]
# ## Training
#
# A step is a function of parameters, state and key. The old parameters are
# given up, so that their memory is free for the new ones.

# %%
adam = tb.optimize.adam(tb.optimize.cosine_decay(0.01, STEPS))


@tb.jit(donate=("parameters", "state"))
def step(
    parameters: Parameters, state: Any, key: tb.Tensor
) -> tuple[Any, Any, Any]:
    """Return parameters, state and loss after a step."""
    starts = tb.random.randint(key, (BATCH, 1), 0, len(text) - CONTEXT)
    letters = codes[starts + tb.arange(CONTEXT + 1)]
    value, gradient = tb.value_and_grad(loss)(parameters, letters)
    updates, state = adam.update(gradient, state, parameters)
    return tb.optimize.apply_updates(parameters, updates), state, value


sample = codes[100 : 100 + 4 * (CONTEXT + 1)].reshape(4, CONTEXT + 1)
before = loss(parameters, sample)
first = tb.tree_map(lambda x: x + 0, parameters)
state = adam.init(parameters)
losses = []
for _ in range(STEPS):
    parameters, state, value = step(parameters, state, random.next_key())
    losses.append(value.item())
print(f"loss {losses[0]:.2f} at first, {np.mean(losses[-10:]):.2f} at the end")

# %% [markdown]
# ## Writing
#
# `incremental_attention` takes the keys and values of earlier letters from a
# cache and adds its own. The caches of all layers are carried by `scan`, next
# to the letter.


# %%
def write(
    parameters: Parameters, prompt: tb.Tensor, key: tb.Tensor
) -> tuple[tb.Tensor, tb.Tensor]:
    """Return the prompt and what follows, and the logits."""
    size = prompt.size + WRITTEN
    empty = tb.nn.key_value_cache(
        (1,), heads=HEADS, size=size, units=WIDTH // HEADS
    )

    def next_letter(carry: tuple[Any, tb.Tensor], given: Any) -> Any:
        caches, letter = carry
        new = list(caches)

        def cached(i: int, weights: Parameters, x: tb.Tensor) -> tb.Tensor:
            y, new[i] = tb.nn.incremental_attention(
                weights, x, caches[i], heads=HEADS, rotate=tb.nn.rotary
            )
            return y

        logits = model(parameters, letter.reshape(1, 1), cached)[0, 0]
        drawn = tb.random.categorical(given["key"], 1.5 * logits)
        following = tb.where(given["known"], given["letter"], drawn)
        return (new, following), (following, logits)

    rest = size - 1
    given = {
        "key": tb.random.split(key, rest),
        "known": tb.arange(rest) < prompt.size - 1,
        "letter": tb.pad(prompt[1:], (0, WRITTEN)),
    }
    start = ([empty] * LAYERS, prompt[0])
    _, (letters, logits) = tb.scan(next_letter, start, given)
    return tb.concat([prompt[:1], letters]), logits


prompt = tb.asarray([alphabet.index(letter) for letter in "Alice was"])
letters, logits = tb.jit(write)(parameters, prompt, random.next_key())
print("".join(alphabet[code] for code in letters.tolist()))

# %% [markdown]
# The logits with the cache are those of the whole text at once:

# %%
at_once = model(parameters, letters[None, :-1], whole)[0]
print(tb.all_close(logits, at_once, rtol=1e-3, atol=1e-3).item())

# %%
figure, axes = plt.subplots(figsize=(7, 3))
axes.plot(losses)
axes.set(xlabel="step", ylabel="nats per letter")
axes.set_title("the loss of each step")
plt.show()
