"""Strings of handwritten digits, read by a convolution, an LSTM and CTC, with named axes and a length for each string.

A string joins one to four digits from images of 8 x 8, so the widths of strings differ, and nothing says where a digit
begins. The same source trains on NumPy and on JAX, and reads 0.96 of the digits right. It prints the cost of a step
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

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices of this size are slower with several threads

import tensorbackend as tb
from tensorbackend import ragged
from tensorbackend.ragged import Ragged

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
STEPS, BATCH, RATE = 250, 64, 0.006
CHANNELS, UNITS, CLASSES = 32, 64, 11
"""The classes are the blank, which comes first, and the digits."""
MOST = 4
"""The most digits in a string."""

Parameters = dict[str, Any]
Image = tuple[list[list[int]], int]


class Batch(NamedTuple):
    """Strings, and the digits that they show plus 1, as class 0 is the blank."""

    images: Ragged  # f32[string][time][row], a column of pixels at each time
    digits: Ragged  # s64[string][place]


# Data


def load() -> tuple[list[Image], list[Image]]:
    """Return images as columns of pixels, each with its digit: those to train on, and every fifth to test on."""
    with gzip.open(DATA, "rt") as file:
        rows = [list(map(int, line.split(","))) for line in file]
    images = [([row[column:64:8] for column in range(8)], row[64]) for row in rows]
    return [image for number, image in enumerate(images) if number % 5], images[::5]


def strings(images: list[Image], count: int, chosen: random.Random) -> Batch:
    """Join random images to strings of digits, padded to the longest possible string."""
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
    """Draw small random weights."""

    def normal(number: int, shape: tuple[int, ...], inputs: int, names: tuple[str | None, ...]) -> tb.Tensor:
        return tb.random.normal(tb.random.fold_in(key, number), shape, names=names) / math.sqrt(inputs)

    def memory(number: int) -> Parameters:
        return {
            "input": normal(number, (CHANNELS, 4 * UNITS), CHANNELS, ("channel", None)),
            "recurrent": normal(number + 1, (UNITS, 4 * UNITS), UNITS, ("unit", None)),
            "bias": tb.concat([tb.zeros(UNITS), tb.ones(UNITS), tb.zeros(2 * UNITS)]),  # forget gates start at 1
        }

    return {
        "kernel": normal(0, (CHANNELS, 8, 5), 40, ("channel", "row", None)),
        "shift": tb.zeros(CHANNELS, names=("channel",)),
        "forward": memory(1),
        "backward": memory(3),
        "output": normal(5, (2 * UNITS, CLASSES), 2 * UNITS, ("unit", "class")),
    }


def logits(parameters: Parameters, images: Ragged) -> Ragged:
    """f32[string][time][class], with one frame for every two columns."""
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
    """Return the mean of the CTC losses."""
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
    """Parameters, running means of gradients and of their squares, and the step count (Kingma and Ba, 2015)."""

    parameters: Parameters
    first: Parameters
    second: Parameters
    steps: tb.Tensor


@tb.jit
def step(state: Adam, batch: Batch) -> tuple[Adam, tb.Tensor]:
    """Take one step of Adam; return the new state, and the loss before the step."""
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
    """Return the digits of the most likely class of each frame, and the log probabilities of the classes."""
    frames = logits(parameters, images)
    path = tb.nn.ctc_best_path(frames.filled(0), lengths=frames.lengths["time"], time="time", axis="class")
    spelt = ragged.with_lengths(path.labels.rename("string", "place"), place=path.lengths)
    return spelt, ragged.apply(lambda values: tb.log_softmax(values, axis="class"), frames)


def beam_search(frames: list[list[float]], beams: int) -> list[int]:
    """Return the most likely digits for log probabilities [time][class], over all alignments (Hannun et al., 2014).

    Each prefix has two probabilities: that of the paths that end in a blank, and that of the paths that end in the
    prefix's last digit.
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
    """Return one minus the number of edits per digit."""
    edits = tb.nn.edit_distance(
        hypotheses.filled(0),
        references.filled(0),
        hypothesis_lengths=hypotheses.lengths["place"],
        reference_lengths=references.lengths["place"],
    )
    return 1 - float(tb.sum(edits)) / float(tb.sum(references.lengths["place"]))


def run(backend: str) -> float:
    """Train on a backend, and return the share of the digits that it reads right."""
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
    """Runs on the named backends, by default NumPy and JAX."""
    for backend in sys.argv[1:] or ["numpy", "jax"]:
        assert run(backend) >= 0.9


if __name__ == "__main__":
    main()
