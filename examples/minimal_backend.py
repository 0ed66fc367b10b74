"""A whole backend on Python's `array` module, and the digits of `digits.py` learnt on it.

It defines the callbacks that the page "What each backend supports" names as the minimum; what else runs is a fall-back
or a composite. docs/write-a-backend.md builds it step by step. Run it with `python examples/minimal_backend.py`.
"""

from __future__ import annotations

import math
import operator
from array import array
from collections.abc import Callable, Iterable
from typing import Any

import tensorbackend as tb
from tensorbackend.dtypes import bool_, float32, float64, int64
from tensorbackend.extending import element_type, index_out_of_range, limited_to
from tensorbackend.protocol import Payload

LETTERS = {bool_: "B", int64: "q", float32: "f", float64: "d"}


class ArrayTransport(tb.Backend):
    """A payload is a flat `array.array`, row-major."""

    name = "array"
    dtypes = frozenset(LETTERS)

    def from_binary(self, out: tb.Template, /, *, data: bytes) -> Payload:
        return array(LETTERS[out.dtype], data)

    def to_binary(self, x: tb.Tensor, limit: int, /) -> bytes:
        return bytes(x.data[:limit])

    def violation(self, out: tb.Template, data: Any, /) -> str | None:
        right = isinstance(data, array) and data.typecode == LETTERS[out.dtype] and len(data) == out.size
        return None if right else repr(data)[:80]


def stored(values: Iterable[Any], dtype: tb.DType) -> Payload:
    """Python numbers as a payload: floats are rounded, integers wrap."""
    if dtype is int64:
        values = ((value + 2**63) % 2**64 - 2**63 for value in values)
    return array(LETTERS[dtype], values)


def spread(x: tb.Tensor, shape: tuple[int, ...]) -> Any:
    """The elements of a tensor broadcast to a shape."""
    elements, sizes = x.data, (1,) * (len(shape) - x.ndim) + x.shape
    for axis in reversed(range(len(shape))):
        if sizes[axis] != shape[axis]:
            inner = math.prod(shape[axis + 1 :])
            starts = range(0, len(elements), inner or 1)
            elements = [element for start in starts for element in elements[start : start + inner] * shape[axis]]
    return elements


def elementwise(function: Callable[..., Any]) -> Callable[..., Payload]:
    """A callback that applies a function of Python numbers to the elements."""

    def callback(self: tb.Backend, out: tb.Template, /, *inputs: tb.Tensor) -> Payload:
        return stored(map(function, *(spread(x, out.shape) for x in inputs)), out.dtype)

    return callback


def quiet(function: Callable[[float], float]) -> Callable[[float], float]:
    """A function that returns infinity or NaN where Python raises."""

    def call(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return call


def quotient(a: float, b: float) -> float:
    """a / b by IEEE 754: 1 / -0.0 is -inf."""
    return a / b if b else a * math.copysign(math.inf, b)


def truncated(x: float) -> int:
    """Towards zero; NaN becomes 0, and a number out of range the nearest end."""
    return int(min(max(x, -(2.0**63)), 2.0**63 - 1024)) if x == x else 0


class ArrayElementwise(tb.Backend):
    """Functions of elements."""

    add = elementwise(operator.add)
    multiply = elementwise(operator.mul)
    divide = elementwise(quotient)
    floor_divide = limited_to("int64")(elementwise(lambda a, b: a // b if b else 0))
    bitwise_and = elementwise(operator.and_)
    equal = elementwise(operator.eq)
    less = elementwise(operator.lt)
    select = elementwise(lambda condition, a, b: a if condition else b)
    exp = elementwise(quiet(math.exp))
    log = elementwise(quiet(lambda x: math.log(x) if x else -math.inf))
    sqrt = elementwise(quiet(math.sqrt))
    sin = elementwise(quiet(math.sin))
    cos = elementwise(quiet(math.cos))
    atan2 = elementwise(math.atan2)

    def as_type(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        whole = out.dtype is int64 and x.dtype.is_floating
        return stored(map(truncated if whole else element_type(out.dtype), x.data), out.dtype)


class ArrayMovement(tb.Backend):
    """What moves elements."""

    def reshape(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        return x.data

    def take(self, out: tb.Template, x: tb.Tensor, indices: tb.Tensor, /, *, axis: int, mode: str) -> Payload:
        size, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
        taken = array(x.data.typecode)
        for first in range(math.prod(x.shape[:axis])):
            for index in indices.data:
                if mode == "error" and not 0 <= index < size:
                    raise index_out_of_range(index, size)
                place = min(max(index, 0), size - 1) if mode == "clip" else index
                start = (first * size + place) * inner
                inside = 0 <= place < size
                taken.extend(x.data[start : start + inner] if inside else array(x.data.typecode, [0] * inner))
        return taken


class ArrayBackend(ArrayTransport, ArrayElementwise, ArrayMovement):
    """The whole backend."""


def main() -> None:
    """Learns digits, and says what the backend did itself."""
    from digits import Digits, Model, load, predictions, step

    try:
        from rich.console import Console
        from rich.progress import track
        from rich.table import Table
    except ModuleNotFoundError:
        raise SystemExit("this program needs rich: pip install '.[examples]' in a checkout") from None

    from tensorbackend.declarations.op_specs import CALLBACKS
    from tensorbackend.extending import support_of

    console = Console(width=110)
    with tb.default_backend(ArrayBackend):
        train, test = load()
        batch = Digits(train.images.isel(image=slice(300)), train.labels.isel(image=slice(300)))
        model = Model(tb.zeros((64, 10), names=("pixel", "digit")), tb.zeros(10, names=("digit",)))
        for _ in track(range(30), description="steps of gradient descent", console=console):
            model = step(model, batch)
        predicted = predictions(model, test.images)
        accuracy = float(tb.mean(predicted == test.labels))
    on_numpy = predictions(Model(*(x.backend_copy("numpy") for x in model)), test.images.backend_copy("numpy"))
    equal = int(tb.sum(predicted.backend_copy("numpy") == on_numpy))

    ways: dict[str, list[str]] = {}
    for name, callback in CALLBACKS.items():
        if not callback.optional:
            ways.setdefault(support_of(ArrayBackend, name), []).append(name)
    table = Table("primitives", "", title=f"the backend {ArrayBackend.name!r}")
    for way, names in ways.items():
        table.add_row(f"{len(names)} {way}", " ".join(names))
    console.print(table)
    print(f"minimal backend: accuracy {accuracy:.3f}, {equal} of {predicted.size} predictions equal to numpy's")
    if accuracy < 0.8 or equal != predicted.size:
        raise SystemExit("minimal backend: the accuracy is below 0.8, or numpy predicts otherwise")


if __name__ == "__main__":
    main()
