"""Handwritten digits: dry-run a training step, catch an axis mix-up, train, check on BinaryBackend.

A softmax regression on 8 x 8 images, with the gradient written by hand. It runs on the default backend: NumPy, or the
one that `TENSORBACKEND_DEFAULT` names. Run it with `make demo`.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import tensorbackend as tb
from tensorbackend.errors import NamesError

if TYPE_CHECKING:
    from rich.console import Console

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
    return tb.dot(images, model.weight, contract=(["pixel"], ["pixel"])) + model.bias


def one_hot(labels: tb.Tensor) -> tb.Tensor:
    """pred[image][digit], true where the digit is the label."""
    return tb.equal(labels.align_to("image", "digit"), tb.arange(10, name="digit"))


def gradient(model: Model, batch: Digits) -> Model:
    """The gradient of the mean cross entropy; for p = softmax(logits), the gradient of the logits is p - one_hot."""
    error = tb.softmax(logits(model, batch.images), axis="digit") - tb.astype(one_hot(batch.labels), "f32")
    error = error / batch.labels.size
    weight = tb.dot(batch.images, error, contract=(["image"], ["image"]))
    return Model(weight, tb.sum(error, axis="image"))


def step(model: Model, batch: Digits) -> Model:
    """Return the model after one step down the gradient."""
    slope = gradient(model, batch)
    return Model(model.weight - RATE * slope.weight, model.bias - RATE * slope.bias)


def predictions(model: Model, images: tb.Tensor) -> tb.Tensor:
    """s64[image]: the digit with the largest logit."""
    return tb.argmax(logits(model, images), axis="digit")


def dry_run(console: Console, count: int) -> None:
    """Prints shapes, dtypes and names of all values of a training step on templates, without data."""
    from rich.table import Table

    model = Model(tb.template((64, 10), "f32", ("pixel", "digit")), tb.template((10,), "f32", ("digit",)))
    batch = Digits(tb.template((count, 64), "f32", ("image", "pixel")), tb.template((count,), "s64", ("image",)))
    computed = {
        "images": batch.images,
        "logits": logits(model, batch.images),
        "one_hot": one_hot(batch.labels),
        "gradient of weight": gradient(model, batch).weight,
        "gradient of bias": gradient(model, batch).bias,
        "weight after the step": step(model, batch).weight,
        "predictions": predictions(model, batch.images),
    }
    table = Table("computed", "template", "bytes", title="1. a training step on templates")
    for name, x in computed.items():
        table.add_row(name, str(x.template).replace("[", r"\["), f"{x.nbytes:,}")
    console.print(table)


def mix_up(console: Console) -> None:
    """Ten images of ten digits: a transposed target has the same shape, and only its axis names show the mistake."""
    predicted = tb.template((10, 10), "f32", ("image", "digit"))
    transposed = tb.template((10, 10), "f32", ("digit", "image"))
    console.print("\n2. an axis mix-up that shapes do not show, caught in the dry run:")
    try:
        console.print(predicted - transposed)
    except NamesError as error:
        console.print(f"   NamesError: {error}", style="bold", markup=False)


def main() -> None:
    """Runs all five steps."""
    try:
        from rich.console import Console
        from rich.progress import track
        from rich.table import Table
    except ModuleNotFoundError:
        raise SystemExit("this program needs rich: pip install 'tensorbackend[examples]'") from None
    console = Console(width=110)
    train, test = load()
    dry_run(console, train.labels.size)
    mix_up(console)

    name = tb.get_backend().name
    console.print(f"\n3. training on {name}")
    model = Model(tb.zeros((64, 10), names=("pixel", "digit")), tb.zeros(10, names=("digit",)))
    start = perf_counter()
    for _ in track(range(STEPS), description="   steps of gradient descent", console=console):
        model = step(model, train)
    seconds = perf_counter() - start
    predicted = predictions(model, test.images)
    accuracy = float(tb.mean(predicted == test.labels))

    console.print("4. the trained model moved to binary, the pure-Python reference")
    moved = Model(*(x.backend_transfer("binary") for x in model))
    start = perf_counter()
    checked = predictions(moved, test.images.backend_copy("binary"))
    slow = perf_counter() - start
    equal = int(tb.sum(checked.backend_copy(predicted.backend) == predicted))

    table = Table("", name, "binary", title="\n5. all of it")
    table.add_row("images to train on", str(train.labels.size), "")
    table.add_row("images to test on", str(test.labels.size), str(checked.size))
    table.add_row(f"{STEPS} steps", f"{seconds:.2f} s", "")
    table.add_row("predictions of the test images", "", f"{slow:.2f} s")
    table.add_row("test accuracy", f"{accuracy:.4f}", f"{float(tb.mean(checked == test.labels)):.4f}")
    table.add_row(f"predictions equal to {name}'s", "", f"{equal} of {predicted.size}")
    console.print(table)
    if accuracy < 0.93 or equal != predicted.size:
        raise SystemExit("demo: the accuracy is below 0.93, or binary predicts otherwise")
    print(f"demo: accuracy {accuracy:.3f} on {name}, {equal} of {predicted.size} predictions equal on binary")


if __name__ == "__main__":
    main()
