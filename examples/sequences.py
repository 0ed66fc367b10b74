"""Strings of handwritten digits read by a convolution, an LSTM and CTC, with named axes and a length for each string.

Strings of one to four digits are put together from images of 8 x 8, so their widths differ, and nothing says where a
digit begins. One source trains on NumPy and on JAX, to 0.96 of the digits right; it says what a step takes
before it runs:

    python examples/sequences.py [backend ...]
"""

from __future__ import annotations

import gzip
import math
import os
import random
import sys
from collections import defaultdict
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # several threads take longer for matrices of this size

import tensorbackend as tb
from tensorbackend import ragged
from tensorbackend.ragged import Ragged

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
STEPS, BATCH, RATE = 250, 64, 0.006
CHANNELS, UNITS, CLASSES = 32, 64, 11
"""The classes are the digits and, first, the blank."""
MOST = 4
"""Digits in a string."""

Parameters = dict[str, Any]
Image = tuple[list[list[int]], int]


class Batch(NamedTuple):
    """Strings, and the digits that they show, counted from 1."""

    images: Ragged  # f32[string][time][row], a column of pixels at each time
    digits: Ragged  # s64[string][place]


# Data


def load() -> tuple[list[Image], list[Image]]:
    """Columns of pixels with the digit that they show: those to train on, and every fifth to test on."""
    with gzip.open(DATA, "rt") as file:
        rows = [list(map(int, line.split(","))) for line in file]
    images = [([row[column:64:8] for column in range(8)], row[64]) for row in rows]
    return [image for number, image in enumerate(images) if number % 5], images[::5]


def strings(images: list[Image], count: int, chosen: random.Random) -> Batch:
    """Strings of digits drawn from images, all of them with room for the longest."""
    drawn = [chosen.choices(images, k=chosen.randint(1, MOST)) for _ in range(count)]
    columns = [[column for image, _ in string for column in image] for string in drawn]
    room = 8 * MOST
    padded = [string + [[0] * 8] * (room - len(string)) for string in columns]
    pixels = tb.tensor(padded, dtype="f32", names=("string", "time", "row")) / 16
    digits = [[digit + 1 for _, digit in string] for string in drawn]
    return Batch(
        ragged.with_lengths(pixels, time=[len(string) for string in columns]),
        ragged.from_list(digits, axis="place", batch="string", size=MOST),
    )


# Model


def initial(key: tb.Tensor) -> Parameters:
    """Small random weights."""

    def normal(number: int, shape: tuple[int, ...], inputs: int, names: tuple[str | None, ...]) -> tb.Tensor:
        return tb.random.normal(tb.random.fold_in(key, number), shape, names=names) / math.sqrt(inputs)

    def memory(number: int) -> Parameters:
        return {
            "input": normal(number, (CHANNELS, 4 * UNITS), CHANNELS, ("channel", None)),
            "recurrent": normal(number + 1, (UNITS, 4 * UNITS), UNITS, ("unit", None)),
            "bias": tb.concat([tb.zeros(UNITS), tb.ones(UNITS), tb.zeros(2 * UNITS)]),  # what is forgotten is learned
        }

    return {
        "kernel": normal(0, (CHANNELS, 8, 5), 40, ("channel", "row", None)),
        "shift": tb.zeros(CHANNELS, names=("channel",)),
        "forward": memory(1),
        "backward": memory(3),
        "output": normal(5, (2 * UNITS, CLASSES), 2 * UNITS, ("unit", "class")),
    }


def logits(parameters: Parameters, images: Ragged) -> Ragged:
    """f32[string][time][class], one frame for two columns."""
    x = ragged.apply(lambda values: tb.permute_dims(values, ("string", "row", "time")), images)
    x = ragged.conv(x, parameters["kernel"], strides={"time": 2}, padding="same")
    x = ragged.apply(lambda values: tb.permute_dims(values, ("string", "time", "channel")), x)
    x = ragged.apply(tb.nn.relu, x + parameters["shift"])
    lengths = x.lengths["time"]
    both = [
        tb.nn.lstm(
            x.filled(0), parameters[way], time="time", axis="channel", lengths=lengths, reverse=way == "backward"
        ).outputs
        for way in ("forward", "backward")
    ]
    hidden = tb.concat(both, axis="unit")
    return ragged.with_lengths(tb.dot(hidden, parameters["output"], contract=(["unit"], ["unit"])), time=lengths)


def loss(parameters: Parameters, batch: Batch) -> tb.Tensor:
    """The mean of the CTC losses."""
    frames, digits = logits(parameters, batch.images), batch.digits
    losses = tb.nn.ctc_loss(
        frames.filled(0),
        digits.filled(0),
        logit_lengths=frames.lengths["time"],
        label_lengths=digits.lengths["place"],
        time="time",
        axis="class",
    )
    return tb.mean(losses)


class Adam(NamedTuple):
    """Parameters, running means of gradients and of their squares, and the number of steps (Kingma and Ba, 2015)."""

    parameters: Parameters
    first: Parameters
    second: Parameters
    steps: tb.Tensor


@tb.jit
def step(state: Adam, batch: Batch) -> tuple[Adam, tb.Tensor]:
    """One step of Adam, and the loss before it."""
    value, slope = tb.value_and_grad(loss)(state.parameters, batch)
    steps = state.steps + 1
    first = tb.tree_map(lambda mean, gradient: 0.9 * mean + 0.1 * gradient, state.first, slope)
    second = tb.tree_map(lambda mean, gradient: 0.99 * mean + 0.01 * gradient * gradient, state.second, slope)
    rate = RATE * tb.minimum(1, 2 - 2 * state.steps / STEPS) * tb.sqrt(1 - 0.99**steps) / (1 - 0.9**steps)
    parameters = tb.tree_map(
        lambda x, mean, square: x - rate * mean / (tb.sqrt(square) + 1e-7), state.parameters, first, second
    )
    return Adam(parameters, first, second, steps), value


# Reading


@tb.jit
def read(parameters: Parameters, images: Ragged) -> tuple[Ragged, Ragged]:
    """The digits of the most likely class of each frame, and the logarithms of the classes' probabilities."""
    frames = logits(parameters, images)
    path = tb.nn.ctc_best_path(frames.filled(0), lengths=frames.lengths["time"], time="time", axis="class")
    spelt = ragged.with_lengths(path.labels.rename("string", "place"), place=path.lengths)
    return spelt, ragged.apply(lambda values: tb.log_softmax(values, axis="class"), frames)


def beam_search(frames: list[list[float]], beams: int) -> list[int]:
    """The most likely digits of log probabilities [time][class], whatever their alignment (Hannun et al., 2014).

    For each beginning there are two probabilities: of the paths that end in a blank, and of those that end in its last
    digit.
    """
    kept: dict[tuple[int, ...], tuple[float, float]] = {(): (1.0, 0.0)}
    for frame in frames:
        shares = [math.exp(logarithm) for logarithm in frame]
        following: dict[tuple[int, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for digits, (blank, last) in kept.items():
            following[digits][0] += (blank + last) * shares[0]
            if digits:
                following[digits][1] += last * shares[digits[-1]]
            for digit in range(1, CLASSES):
                paths = blank if digits and digit == digits[-1] else blank + last
                following[(*digits, digit)][1] += paths * shares[digit]
        best = sorted(following.items(), key=lambda item: -sum(item[1]))[:beams]
        kept = {digits: (blank, last) for digits, (blank, last) in best}
    return list(max(kept.items(), key=lambda item: item[1][0] + item[1][1])[0])


def share_right(hypotheses: Ragged, references: Ragged) -> float:
    """One less the edit distances over the digits."""
    edits = tb.nn.edit_distance(
        hypotheses.filled(0),
        references.filled(0),
        hypothesis_lengths=hypotheses.lengths["place"],
        reference_lengths=references.lengths["place"],
    )
    return 1 - float(tb.sum(edits)) / float(tb.sum(references.lengths["place"]))


def run(backend: str) -> float:
    """Trains on a backend, and gives the share of the digits that it reads right."""
    with tb.default_backend(backend):
        chosen = random.Random(0)
        train, test = load()
        parameters = tb.jit(initial)(tb.random.key(0))
        batches = [strings(train, BATCH, chosen) for _ in range(100)]
        costs = tb.dry_run(loss, parameters, batches[0], gradient=True)
        print(f"{backend}: a step takes {costs.flops / 1e6:.0f} MFLOP and {costs.peak.memory / 1e6:.1f} MB")
        start = perf_counter()
        zeros = tb.tree_map(tb.zeros_like, parameters)
        state = Adam(parameters, zeros, zeros, tb.asarray(0.0))
        for number in range(STEPS):
            state, value = step(state, batches[number % len(batches)])
            if number % 50 == 49:
                print(f"  step {number + 1}: loss {float(value):.3f}, {perf_counter() - start:.0f} s")
        held_out = strings(test, 200, chosen)
        spelt, shares = read(state.parameters, held_out.images)
        right = share_right(spelt, held_out.digits)
        searched = [beam_search(string.tolist(), 8) for string in ragged.to_list(shares)]
        best_strings = ragged.from_list(
            [tb.asarray(labels, dtype="s64") for labels in searched], axis="place", batch="string"
        )
        print(f"  right: {right:.3f} by the best path, {share_right(best_strings, held_out.digits):.3f} by beam search")
        return right


def main() -> None:
    """Runs the backends that are named, NumPy and JAX by default."""
    for backend in sys.argv[1:] or ["numpy", "jax"]:
        assert run(backend) >= 0.9


if __name__ == "__main__":
    main()
