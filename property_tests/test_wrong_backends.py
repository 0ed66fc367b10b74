"""The harness is tested by backends that are wrong in one thing: it must catch each, by drawn calls alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.dtypes import as_dtype
from tensorbackend.elements import pack, unpack
from tensorbackend.errors import IndexRangeError
from tensorbackend.protocol import Payload
from tensorbackend.testing import Invocation, calls, check

Callback = Callable[..., Payload]


def wrong_backend(callback: str, method: Callback) -> BinaryBackend:
    """BinaryBackend with one callback exchanged."""
    made: type[BinaryBackend] = type(
        "Wrong", (BinaryBackend,), {"name": "wrong", "dispatch_priority": 1, callback: method}
    )
    return made()


def elementwise(function: Callable[..., Any]) -> Callback:
    """A callback from a function of elements whose tensors have one shape, else the right one."""

    def callback(self: BinaryBackend, out: tb.Template, *inputs: tb.Tensor) -> Payload:
        columns = [tb.broadcast_to(x, out.shape) if x.shape != out.shape else x for x in inputs]
        return pack(list(map(function, *(unpack(x.data, x.dtype) for x in columns))), out.dtype)

    return callback


def altered(callback: str, **changed: Any) -> Callback:
    """The right callback with options exchanged."""
    right: Callback = getattr(BinaryBackend, callback)
    return lambda self, out, *inputs, **options: right(self, out, *inputs, **{**options, **changed})


def unchanged(self: BinaryBackend, out: tb.Template, x: tb.Tensor, /, **options: Any) -> Payload:
    """The input's bytes as they are."""
    return x.data


def shifted(callback: str) -> Callback:
    """The right elements, one place on."""
    right: Callback = getattr(BinaryBackend, callback)

    def wrong(self: BinaryBackend, out: tb.Template, *inputs: tb.Tensor, **options: Any) -> Payload:
        data, width = right(self, out, *inputs, **options), out.dtype.itemsize
        return data[width:] + data[:width]

    return wrong


def another_error(self: BinaryBackend, out: tb.Template, /, *inputs: tb.Tensor, **options: Any) -> Payload:
    """The right result, but a text of its own for an index outside."""
    try:
        return BinaryBackend.take(self, out, *inputs, **options)
    except IndexRangeError:
        raise IndexRangeError("index out of bounds") from None


def conjugated(self: BinaryBackend, out: tb.Template, x: tb.Tensor, /, **options: Any) -> Payload:
    """The forward transform for the inverse one."""
    return BinaryBackend.fft(self, out, x, **options)


def exchanged(self: BinaryBackend, out: Any, /, *inputs: tb.Tensor) -> Payload:
    """The right words in the wrong order."""
    first, second = BinaryBackend.threefry2x32(self, out, *inputs)
    return second, first


def negated(callback: str) -> Callback:
    """The right factors, all with the other sign: their product is right, the sign of each is not."""
    right: Callback = getattr(BinaryBackend, callback)

    def wrong(self: BinaryBackend, out: tuple[tb.Template, ...], x: tb.Tensor, /, **options: Any) -> Payload:
        parts = right(self, out, x, **options)
        return tuple(
            pack([-value for value in unpack(part, each.dtype)], each.dtype)
            for part, each in zip(parts, out, strict=True)
        )

    return wrong


WRONG: list[tuple[str, str, str, Callback]] = [
    ("exp", "exp", "float32", elementwise(lambda x: math.exp(min(x, 80.0)) * (1 + 2e-6))),
    ("negative", "negate", "float32", elementwise(lambda x: 0 - x)),  # loses the sign of zero
    ("floor", "floor", "float64", elementwise(lambda x: float(int(x)) if math.isfinite(x) else x)),
    ("maximum", "max", "float32", elementwise(lambda a, b: a if a > b else b)),  # drops a NaN on the left
    ("floor_divide", "floor_divide", "int32", elementwise(lambda a, b: math.trunc(a / b) if b else 0)),
    ("add", "add", "float32", elementwise(lambda a, b: a + b if a == a else 0.0)),
    ("argmax", "argmax", "int8", altered("argmax", tie_break="high")),  # the last of ties
    ("sort", "sort", "float32", altered("sort", descending=False)),
    ("argsort", "argsort", "int32", lambda self, out, x, **options: pack([0] * out.size, as_dtype("int64"))),
    ("flip", "reverse", "int16", unchanged),
    ("permute_dims", "transpose", "uint8", unchanged),
    ("sum", "sum", "int64", altered("sum", axes=(0,))),
    ("concatenate", "concatenate", "int32", shifted("concatenate")),
    ("take", "take", "float32", another_error),
    ("take", "take", "int8", altered("take", mode="clip")),  # raises nothing
    ("astype", "as_type", "float64", elementwise(lambda x: x)),
    ("cumulative_sum", "cumulative_sum", "int32", altered("cumulative_sum", reverse=False)),
    ("fft", "fft", "complex64", altered("fft", norm="backward")),
    ("irfft", "ifft", "float32", conjugated),
    ("threefry2x32", "threefry2x32", "uint32", exchanged),
    ("qr", "qr", "float64", negated("qr")),
    ("eigh", "eigh", "float32", negated("eigh")),
    ("svd", "svd", "float64", negated("svd")),
    ("triangular_solve", "triangular_solve", "float64", altered("triangular_solve", lower=True)),
    ("triangular_solve", "triangular_solve", "complex64", altered("triangular_solve", transform="none")),
    ("det", "determinant", "float32", lambda self, out, x: pack([1.0] * out.size, out.dtype)),
]


@pytest.mark.parametrize(("name", "callback", "dtype", "method"), WRONG, ids=[f"{row[0]}-{row[2]}" for row in WRONG])
def test_a_wrong_backend_is_caught(name: str, callback: str, dtype: str, method: Callback) -> None:
    backend = wrong_backend(callback, method)

    @settings(
        max_examples=200,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(calls(name, as_dtype(dtype)))
    def agrees(call: Invocation) -> None:
        check(call, backend)

    # Whatever a wrong backend raises of its own accord catches it as well.
    with pytest.raises(Exception):  # noqa: B017, PT011
        agrees()


def test_the_right_backend_is_not_caught() -> None:
    backend = wrong_backend("exp", BinaryBackend.exp)

    @settings(max_examples=50, deadline=None, derandomize=True)
    @given(calls("exp", as_dtype("float32")))
    def agrees(call: Invocation) -> None:
        check(call, backend)

    agrees()
