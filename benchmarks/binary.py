"""Times of BinaryBackend's callbacks, alone and through the public op, compared with Nx's BinaryBackend: `make bench`.

Each figure is the best of several repeats. `--json` prints the seconds, so that a program can compare two runs.
"""

from __future__ import annotations

import json
import math
import sys
import timeit
from collections.abc import Callable, Iterator
from typing import NamedTuple

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import as_dtype
from tensorbackend.protocol import kernel_of
from tensorbackend.protocol.planned import is_planned

SMALL, LARGE = 10, 100_000

NX = {
    ("add", SMALL): 1.9e-6,
    ("astype float32 to int32", LARGE): 6.4e-3,
    ("exp", LARGE): 5.5e-3,
    ("argmax", LARGE): 7.3e-3,
}
"""Seconds of Nx's BinaryBackend: Nx 0.13 on OTP, two cores, 2026-11."""


class Case(NamedTuple):
    """A call of a callback or of its kernel, and the call of the public op."""

    name: str
    callback: Callable[[], object]
    op: Callable[[], object]


def best(function: Callable[[], object]) -> float:
    """Return the seconds of one call, the minimum of several repeats of some milliseconds each."""
    once = min(timeit.repeat(function, number=1, repeat=3))
    number = max(1, int(0.004 / once))
    return min(timeit.repeat(function, number=number, repeat=7)) / number


def cases(size: int) -> Iterator[Case]:
    """Yield calls on tensors of that many elements."""
    with tb.default_backend("binary"):
        waves = [math.sin(index) * 3 for index in range(size)]
        x = tb.tensor(waves, dtype="f32")
        y = tb.tensor([math.cos(index) + 2 for index in range(size)], dtype="f32")
        whole = tb.tensor([int(wave * 30) for wave in waves], dtype="s32")
        few = tb.tensor([index % 7 + 1 for index in range(size)], dtype="s32")
        flags = tb.greater(x, 0)
        one = tb.tensor(1.0, dtype="f32")
        row, column = tb.reshape(x, (-1, 10)), tb.reshape(x[: size // 10], (-1, 1))

        def case(name: str, op: Callable[..., Tensor], *inputs: Tensor, callback: str = "", **options: object) -> Case:
            out = op(*inputs).template
            method = getattr(inputs[0].backend, callback or op.__name__)
            if not is_planned(method):
                return Case(name, lambda: method(out, *inputs, **options), lambda: op(*inputs))
            kernel = kernel_of(method, out, *[x.template for x in inputs], **options)
            payloads = [x.data for x in inputs]
            return Case(name, lambda: kernel(*payloads), lambda: op(*inputs))

        def cast(x: Tensor, dtype: str) -> Case:
            return case(f"astype {x.dtype} to {as_dtype(dtype)}", lambda x: tb.astype(x, dtype), x, callback="as_type")

        for source, targets in (
            (x, ("s32", "u8", "s64", "f64", "f16", "bf16", "c64", "pred")),
            (whole, ("f32", "s8", "s64", "bf16", "pred")),
            (tb.astype(x, "f64"), ("f32",)),
            (tb.astype(x, "bf16"), ("f32",)),
            (tb.astype(x, "c64"), ("c128",)),
            (flags, ("f32", "s64")),
        ):
            yield from (cast(source, dtype) for dtype in targets)
        for name in ("exp", "log1p", "sin", "tanh", "sqrt", "sigmoid", "rsqrt", "floor", "round", "sign", "abs"):
            yield case(name, getattr(tb, name), y if name in ("sqrt", "rsqrt", "log1p") else x)
        yield case("negative", tb.negative, x, callback="negate")
        yield case("isnan", tb.isnan, x, callback="is_nan")
        yield case("logical_not", tb.logical_not, flags)
        yield case("bitwise_invert", tb.bitwise_invert, whole, callback="bitwise_not")
        for name in ("add", "multiply", "divide", "remainder", "floor_divide", "atan2"):
            yield case(name, getattr(tb, name), x, y)
        yield case("add of bfloat16", tb.add, tb.astype(x, "bf16"), tb.astype(y, "bf16"))
        yield case("add of complex64", tb.add, tb.astype(x, "c64"), tb.astype(y, "c64"))
        yield case("maximum", tb.maximum, x, y, callback="max")
        yield case("add of a number", tb.add, x, one)
        yield case("add of a column to rows", tb.add, row, column)
        yield case("less", tb.less, x, y)
        yield case("equal of int32", tb.equal, whole, few)
        for name in ("add", "floor_divide", "remainder", "bitwise_and"):
            yield case(f"{name} of int32", getattr(tb, name), whole, few)
        yield case("minimum of int32", tb.minimum, whole, few, callback="min")
        yield case("shift of int32", tb.bitwise_left_shift, whole, few, callback="left_shift")
        yield case("where", tb.where, flags, x, y, callback="select")
        yield case(
            "clip", lambda x, low, high: tb.clip(x, low, high), x, one, tb.tensor(2.0, dtype="f32"), callback="clip"
        )
        everything = {"axes": (0,), "keepdims": False}
        for name, callback in (("sum", "sum"), ("max", "reduce_max"), ("all", "all"), ("any", "any")):
            yield case(name, getattr(tb, name), flags if name in ("all", "any") else x, callback=callback, **everything)
        for name in ("sum", "max"):
            op = getattr(tb, name)
            yield case(
                f"{name} of rows of 10", lambda x, op=op: op(x, axis=1), row,
                callback="sum" if name == "sum" else "reduce_max", axes=(1,), keepdims=False,
            )  # fmt: skip
        yield case("argmax", tb.argmax, x, axis=None, keepdims=False, tie_break="low")
        yield case("argmin", tb.argmin, x, axis=None, keepdims=False, tie_break="low")
        yield case("cumulative_sum", tb.cumulative_sum, x, axis=0, dtype=None, include_initial=False, reverse=False)
        yield case("sort", tb.sort, x, axis=0, descending=False)
        yield case("transpose", lambda x: x.T, row, callback="transpose", axes=(1, 0))
        yield case(
            "broadcast of a column", lambda x: tb.broadcast_to(x, row.shape), column, callback="broadcast", axes=(0, 1)
        )
        yield case("take", tb.take, x, tb.remainder(tb.abs(whole), size), axis=0, mode="error")


def measured() -> dict[str, dict[int, tuple[float, float]]]:
    """Return the seconds of the callback and of the op, by name and size."""
    seconds: dict[str, dict[int, tuple[float, float]]] = {}
    for size in (SMALL, LARGE):
        for name, callback, op in cases(size):
            seconds.setdefault(name, {})[size] = best(callback), best(op)
    return seconds


def main() -> None:
    """Prints one line for each callback."""
    seconds = measured()
    if "--json" in sys.argv:
        print(json.dumps(seconds))
        return
    print(f"{'BinaryBackend, callback (op)':<32}{f'{SMALL} elements':>22}{f'{LARGE} elements':>26}")
    for name, times in seconds.items():
        (small, small_op), (large, large_op) = times[SMALL], times[LARGE]
        beside = ", ".join(
            f"Nx {NX[name, size] * unit:.1f} {word}"
            for size, unit, word in ((SMALL, 1e6, "µs"), (LARGE, 1e3, "ms"))
            if (name, size) in NX
        )
        figures = f"{small * 1e6:9.2f} ({small_op * 1e6:7.2f}) µs{large * 1e3:13.2f} ({large_op * 1e3:7.2f}) ms"
        print(f"{name:<32}{figures}  {beside}")


if __name__ == "__main__":
    main()
