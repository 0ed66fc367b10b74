"""Handwritten digits: dry-run a training step, catch an axis mix-up, train, check on BinaryBackend.

A softmax regression on 8 x 8 images, whose gradient `tb.grad` derives. It runs on the default backend: NumPy, or the
one that `TENSORBACKEND_DEFAULT` names. It needs nothing but the library. Run it with `make demo`.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import tensorbackend as tb
from tensorbackend.errors import NamesError

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
STEPS = 300
RATE = 2.0


class Model(NamedTuple):
    """The parameters: the logits are images times weight, plus bias."""

    weight: tb.Tensor  # f32[pixel: 64][digit: 10]
    bias: tb.Tensor  # f32[digit: 10]


class Digits(NamedTuple):
    """Images, and the digits that they show."""

    images: tb.Tensor  # f32[image: n][pixel: 64], from 0 to 1
    labels: tb.Tensor  # s64[image: n]


def load() -> tuple[Digits, Digits]:
    """Return the images to train on, and every fifth image to test on."""
    with gzip.open(DATA, "rt") as file:
        rows = [list(map(int, line.split(","))) for line in file]
    held_out = rows[::5]
    rest = [row for number, row in enumerate(rows) if number % 5]
    return as_digits(rest), as_digits(held_out)


def as_digits(rows: list[list[int]]) -> Digits:
    """Convert rows of 64 pixels and a label to tensors."""
    pixels = tb.tensor([row[:64] for row in rows], dtype="f32", names=("image", "pixel"))
    return Digits(pixels / 16, tb.tensor([row[64] for row in rows], names=("image",)))


def logits(model: Model, images: tb.Tensor) -> tb.Tensor:
    """f32[image][digit] from f32[image][pixel]."""
    return tb.dot(images, model.weight, contract="pixel") + model.bias


def loss(model: Model, batch: Digits) -> tb.Tensor:
    """The mean cross entropy of the labels."""
    targets = tb.nn.one_hot(batch.labels, 10, name="digit")
    return tb.mean(tb.nn.cross_entropy(logits(model, batch.images), targets, axis="digit"))


def step(model: Model, batch: Digits) -> Model:
    """Return the model after one step down the gradient."""
    slope = tb.grad(loss)(model, batch)
    return Model(model.weight - RATE * slope.weight, model.bias - RATE * slope.bias)


def predictions(model: Model, images: tb.Tensor) -> tb.Tensor:
    """s64[image]: the digit with the largest logit."""
    return tb.argmax(logits(model, images), axis="digit")


def dry_run(count: int) -> None:
    """Prints what a training step would cost, and the templates of its results; no image has been read."""
    model = Model(tb.template((64, 10), "f32", ("pixel", "digit")), tb.template((10,), "f32", ("digit",)))
    batch = Digits(tb.template((count, 64), "f32", ("image", "pixel")), tb.template((count,), "s64", ("image",)))
    print("1. a training step on templates, without data")
    for name, result in zip(Model._fields, step(model, batch), strict=True):
        print(f"   {name}: {result.template}")
    report = tb.dry_run(loss, model, batch, gradient=True)
    print(f"   {report.flops:,} FLOPs, {report.peak.memory:,} bytes at its peak, in {report.peak.op}")


def mix_up() -> None:
    """Ten images of ten digits: a transposed target has the same shape, and only its axis names show the mistake."""
    predicted = tb.template((10, 10), "f32", ("image", "digit"))
    transposed = tb.template((10, 10), "f32", ("digit", "image"))
    print("\n2. an axis mix-up that shapes do not show, caught without data")
    try:
        print(predicted - transposed)
    except NamesError as error:
        print(f"   NamesError: {error}")


def main() -> None:
    """Runs all four parts."""
    dry_run(count=1437)
    mix_up()

    train, test = load()
    name = tb.get_backend().name
    print(f"\n3. training on {name}, {train.labels.size} images, {STEPS} steps of gradient descent")
    model = Model(tb.zeros((64, 10), names=("pixel", "digit")), tb.zeros(10, names=("digit",)))
    start = perf_counter()
    for count in range(1, STEPS + 1):
        model = step(model, train)
        if count % 100 == 0:
            print(f"   step {count}: loss {float(loss(model, train)):.4f}")
    seconds = perf_counter() - start
    predicted = predictions(model, test.images)
    accuracy = float(tb.mean(predicted == test.labels))
    print(f"   {seconds:.2f} s; {accuracy:.4f} of {test.labels.size} other images are read right")

    print("\n4. the trained model moved to binary, the pure-Python reference")
    moved = Model(*(x.backend_transfer("binary") for x in model))
    start = perf_counter()
    checked = predictions(moved, test.images.backend_copy("binary"))
    slow = perf_counter() - start
    equal = int(tb.sum(checked.backend_copy(predicted.backend) == predicted))
    print(f"   {slow:.2f} s; {equal} of {predicted.size} predictions equal {name}'s")
    if accuracy < 0.93 or equal != predicted.size:
        raise SystemExit("demo: the accuracy is below 0.93, or binary predicts otherwise")
    print(f"\ndemo: accuracy {accuracy:.3f} on {name}, {equal} of {predicted.size} predictions equal on binary")


if __name__ == "__main__":
    main()
