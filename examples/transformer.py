"""A decoder with named axes, trained on a book, from one source on every backend.

    python examples/transformer.py                          # on the default backend
    python examples/transformer.py --compare numpy jax      # the same training on two, and how their losses differ

It predicts the next character of Lewis Carroll's "Alice's Adventures in Wonderland" (1865, in the public domain).
`tb.random` draws parameters and batches, so they are the same numbers on every backend; `tb.value_and_grad`
differentiates, and `tb.jit` compiles a whole step.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path
from time import perf_counter

import tensorbackend as tb

try:
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table
except ModuleNotFoundError:
    raise SystemExit("this program needs rich: pip install '.[examples]' in a checkout") from None

TEXT = (Path(__file__).parent / "data" / "alice.txt").read_text()
ALPHABET = sorted(set(TEXT))

LAYERS, HEADS, WIDTH, CONTEXT, BATCH = 2, 4, 64, 64, 16
RATE, MOMENTUM = 0.05, 0.9


@dataclass(frozen=True)
class Layer:
    """One block: attention to earlier characters, then a feed-forward network applied to each position."""

    scale: tb.Tensor  # f32[part: 2][feature], of the two layer norms
    queries: tb.Tensor  # f32[feature][head][key]
    keys: tb.Tensor  # f32[feature][head][key]
    values: tb.Tensor  # f32[feature][head][key]
    gathered: tb.Tensor  # f32[head][key][feature]
    up: tb.Tensor  # f32[feature][hidden]
    down: tb.Tensor  # f32[hidden][feature]


@dataclass(frozen=True)
class Model:
    """The parameters."""

    characters: tb.Tensor  # f32[character][feature]
    positions: tb.Tensor  # f32[time][feature]
    layers: list[Layer]
    scale: tb.Tensor  # f32[feature]
    logits: tb.Tensor  # f32[feature][character]


def initial(key: tb.Tensor) -> Model:
    """Draw a model from a key; the scale of each weight keeps the variance of activations."""
    keys = iter(tb.random.split(key, 3 + 6 * LAYERS))
    part = WIDTH // HEADS

    def weight(shape: tuple[int, ...], names: tuple[str, ...], fan: int) -> tb.Tensor:
        return tb.random.normal(next(keys), shape, names=names) / sqrt(fan)

    def projection() -> tb.Tensor:
        return weight((WIDTH, HEADS, part), ("feature", "head", "key"), WIDTH)

    layers = [
        Layer(
            tb.ones((2, WIDTH), names=("part", "feature")),
            projection(),
            projection(),
            projection(),
            weight((HEADS, part, WIDTH), ("head", "key", "feature"), WIDTH),
            weight((WIDTH, 4 * WIDTH), ("feature", "hidden"), WIDTH),
            weight((4 * WIDTH, WIDTH), ("hidden", "feature"), 4 * WIDTH),
        )
        for _ in range(LAYERS)
    ]
    return Model(
        weight((len(ALPHABET), WIDTH), ("character", "feature"), WIDTH),
        weight((CONTEXT, WIDTH), ("time", "feature"), WIDTH),
        layers,
        tb.ones(WIDTH, names=("feature",)),
        weight((WIDTH, len(ALPHABET)), ("feature", "character"), WIDTH),
    )


def normalised(x: tb.Tensor, scale: tb.Tensor) -> tb.Tensor:
    """Layer normalisation: features with mean 0 and variance 1, times a scale."""
    centred = x - tb.mean(x, axis="feature", keepdims=True)
    return centred / tb.sqrt(tb.mean(tb.square(centred), axis="feature", keepdims=True) + 1e-5) * scale


def attention(layer: Layer, x: tb.Tensor) -> tb.Tensor:
    """For each position, a mean of the values up to it, weighted by how well its query matches their keys."""
    features, heads = (["feature"], ["feature"]), (["batch", "head"], ["batch", "head"])
    queries = tb.dot(x, layer.queries, contract=features)
    keys = tb.dot(x, layer.keys, contract=features).rename(time="source")
    values = tb.dot(x, layer.values, contract=features).rename(time="source")
    scores = tb.dot(queries, keys, contract=(["key"], ["key"]), batch=heads) / sqrt(WIDTH // HEADS)
    time = tb.arange(x.shape[1], name="time")
    earlier = tb.greater_equal(time.align_to("time", "source"), time.rename("source"))
    weights = tb.softmax(tb.where(earlier, scores, -inf), axis="source")
    mixed = tb.dot(weights, values, contract=(["source"], ["source"]), batch=heads)
    return tb.dot(mixed, layer.gathered, contract=(["head", "key"], ["head", "key"]))


def predicted(model: Model, characters: tb.Tensor) -> tb.Tensor:
    """f32[batch][time][character], the logits of the next character, from s64[batch][time]."""
    x = tb.take(model.characters, characters, axis="character") + model.positions
    for layer in model.layers:
        before, between = layer.scale
        x = x + attention(layer, normalised(x, before))
        hidden = tb.dot(normalised(x, between), layer.up, contract=(["feature"], ["feature"]))
        x = x + tb.dot(tb.maximum(hidden, 0.0), layer.down, contract=(["hidden"], ["hidden"]))
    return tb.dot(normalised(x, model.scale), model.logits, contract=(["feature"], ["feature"]))


def loss(model: Model, characters: tb.Tensor) -> tb.Tensor:
    """The mean cross entropy, in nats per character; s64[batch][time] has one character more than the model reads."""
    inputs, targets = characters.isel(time=slice(0, -1)), characters.isel(time=slice(1, None))
    logits = tb.log_softmax(predicted(model, inputs), axis="character")
    return -tb.mean(tb.take_along_axis(logits, tb.expand_dims(targets, axis=-1), axis="character"))


@tb.jit
def step(model: Model, velocity: Model, text: tb.Tensor, key: tb.Tensor) -> tuple[tb.Tensor, Model, Model]:
    """One step down the gradient, on a batch drawn from a key."""
    starts = tb.random.randint(key, (BATCH, 1), 0, text.size - CONTEXT)
    characters = tb.take(text, starts + tb.arange(CONTEXT + 1), axis=0).rename("batch", "time")
    value, gradient = tb.value_and_grad(loss)(model, characters)
    velocity = tb.tree_map(lambda v, g: MOMENTUM * v + g, velocity, gradient)
    return value, tb.tree_map(lambda x, v: x - RATE * v, model, velocity), velocity


def train(backend: str, steps: int, console: Console) -> tuple[Model, list[float], float]:
    """Return the trained model, the loss at each step, and the seconds per step without compilation."""
    with tb.default_backend(backend):
        text = tb.asarray([ALPHABET.index(character) for character in TEXT])
        key = tb.random.key(0)
        model = initial(key)
        velocity = tb.tree_map(tb.zeros_like, model)
        losses, start = [], perf_counter()
        for number in track(range(steps), description=f"{backend!s:8}", console=console):
            value, model, velocity = step(model, velocity, text, tb.random.fold_in(key, number + 1))
            losses.append(float(value))
            if number == 0:
                start = perf_counter()
        return model, losses, (perf_counter() - start) / max(1, steps - 1)


def sample(model: Model, beginning: str, length: int) -> str:
    """Continue a text with characters drawn from the model's predictions."""
    with tb.default_backend(model.scale.backend):
        logits = tb.jit(predicted)
        for number in range(length):
            read = beginning[-CONTEXT:].rjust(CONTEXT)
            prompt = tb.asarray([[ALPHABET.index(character) for character in read]]).rename("batch", "time")
            last = logits(model, prompt)[0, -1]
            drawn = tb.random.categorical(tb.random.fold_in(tb.random.key(1), number), last)
            beginning += ALPHABET[int(drawn)]
    return beginning


def main() -> None:
    """Trains on one or several backends, and prints how far their losses differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--compare", nargs="+", default=[tb.get_backend().name], metavar="BACKEND")
    parser.add_argument("--sample", type=int, default=0, metavar="LENGTH", help="characters to go on with")
    options = parser.parse_args()
    console = Console(width=110)
    runs = {backend: train(backend, options.steps, console) for backend in options.compare}

    table = Table("step", *runs, title="loss in nats a character")
    for number in range(0, options.steps, max(1, options.steps // 10)):
        table.add_row(str(number), *(f"{losses[number]:.6f}" for _, losses, _ in runs.values()))
    table.add_row("last", *(f"{losses[-1]:.6f}" for _, losses, _ in runs.values()))
    table.add_row("ms a step", *(f"{1000 * seconds:.1f}" for _, _, seconds in runs.values()))
    console.print(table)
    curves = [losses for _, losses, _ in runs.values()]
    apart = max(max(losses) - min(losses) for losses in zip(*curves, strict=True))
    if options.sample:
        console.print(sample(next(iter(runs.values()))[0], "Alice was", options.sample), markup=False)
    print(f"transformer: loss {curves[0][0]:.3f} to {curves[0][-1]:.3f}, greatest difference {apart:.1e}")
    if options.steps >= 50 and curves[0][-1] > 0.8 * curves[0][0]:
        raise SystemExit("transformer: it has not learnt")
    if apart > 1e-4:
        raise SystemExit("transformer: the backends part by more than 1e-4")


if __name__ == "__main__":
    main()
