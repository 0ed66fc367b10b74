"""Controls: backends with one fault each, and the kind of failure by which tests must detect it.

A control is the reference with some methods replaced; for faults of memory, and some others, it is NumPy's backend.
Controls test the tests of backends: each must be detected within 200 drawn calls, by a failure of the kind in its row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy

import tensorbackend as tb

from ..backends.binary import BinaryBackend
from ..backends.numpy_backend import NumpyBackend
from ..declarations.op_specs import CALLBACKS
from ..dtypes import bfloat16, float32, int8
from ..dtypes.packing import pack, unpack
from ..errors import IndexRangeError
from ..protocol import Backend, Payload
from ..protocol.callbacks import CompositeCall
from ..protocol.core import Core
from ..protocol.planned import is_planned
from ..template import Template
from ..tensor import Tensor
from .compare import unit
from .failures import Kind
from .partial import as_planned
from .subnormals import flush_subnormals
from .transport import TRANSPORT

Callback = Callable[..., Any]

# Callbacks with one fault each: the right callback with something changed


def elementwise(function: Callable[..., Any]) -> Callback:
    """A callback that broadcasts its inputs and applies a function to their elements."""

    def callback(self: BinaryBackend, out: Template, *inputs: Tensor) -> Payload:
        columns = [tb.broadcast_to(x, out.shape) if x.shape != out.shape else x for x in inputs]
        return pack(list(map(function, *(unpack(x.data, x.dtype) for x in columns))), out.dtype)

    return callback


def alter_options(callback: str, **changed: Any) -> dict[str, Callback]:
    """The right callback with other values for some options, by its name."""
    right: Callback = getattr(BinaryBackend, callback)
    return {callback: lambda self, out, *inputs, **options: right(self, out, *inputs, **{**options, **changed})}


def then(callback: str, function: Callable[[list[Any], Template], list[Any]]) -> dict[str, Callback]:
    """A callback, by its name, that returns a function of the right elements and the output template."""
    right: Callback = getattr(BinaryBackend, callback)

    def wrong(self: BinaryBackend, out: Template, *inputs: Tensor, **options: Any) -> Payload:
        return pack(function(list(unpack(right(self, out, *inputs, **options), out.dtype)), out), out.dtype)

    return {callback: wrong}


def shift(elements: list[Any], out: Template) -> list[Any]:
    """Moves each element one place forward, and the first one to the end."""
    return elements[1:] + elements[:1]


def farther(steps: float) -> Callable[[list[Any], Template], list[Any]]:
    """A function that moves elements away from zero by `steps` ulps."""

    def move(x: float, out: Template) -> float:
        return x + math.copysign(steps * unit(x, out.dtype), x) if x and math.isfinite(x) else x

    return lambda elements, out: [move(x, out) for x in elements]


def identity(self: BinaryBackend, out: Template, x: Tensor, /, **options: Any) -> Payload:
    """The input's bytes unchanged."""
    return x.data


@as_planned
def wrong_plain_form(self: BinaryBackend, out: Template, x: Tensor, /) -> Payload:
    """A planned callback with the right kernel, to which `plain_form` adds a wrong plain form."""
    return BinaryBackend.negate(self, out, x)


def plain_form(planned_callback: Callback, plain: Callback) -> Callback:
    """A planned callback whose plain form is another function."""
    return wraps(planned_callback)(lambda *inputs, **options: plain(*inputs, **options))


def another_error(self: BinaryBackend, out: Template, /, *inputs: Tensor, **options: Any) -> Payload:
    """The right result, but an error text of its own for an index out of range."""
    try:
        return BinaryBackend.take(self, out, *inputs, **options)
    except IndexRangeError:
        raise IndexRangeError("index out of bounds") from None


def exchange_words(self: BinaryBackend, out: Any, /, *inputs: Tensor) -> Payload:
    """The right words in the wrong order."""
    first, second = BinaryBackend.threefry2x32(self, out, *inputs)
    return second, first


def negate_factors(callback: str) -> dict[str, Callback]:
    """The right factors, by the callback's name, with the other sign: their product is right, that of each is not."""
    right: Callback = getattr(BinaryBackend, callback)

    def wrong(self: BinaryBackend, out: tuple[Template, ...], x: Tensor, /, **options: Any) -> Payload:
        parts = right(self, out, x, **options)
        return tuple(
            pack([-value for value in unpack(part, template.dtype)], template.dtype)
            for part, template in zip(parts, out, strict=True)
        )

    return {callback: wrong}


def unstable(self: BinaryBackend, out: Template, x: Tensor, /, *, axis: int, **options: Any) -> Payload:
    """Puts the last of equal elements first: the order of the reversed axis, counted from its end."""
    size = x.shape[axis]
    order = BinaryBackend.argsort(self, out, tb.flip(x, axis=axis), axis=axis, **options)
    return pack([size - 1 - place for place in unpack(order, out.dtype)], out.dtype)


def nan_first(self: BinaryBackend, out: Template, x: Tensor, /, *, axis: int, **options: Any) -> Payload:
    """Sorts NaN to the front in tensors of one axis."""
    elements = list(unpack(BinaryBackend.sort(self, out, x, axis=axis, **options), out.dtype))
    ordered = sorted(elements, key=lambda value: value == value) if x.ndim == 1 else elements
    return pack(ordered, out.dtype)


def swap_sides(self: BinaryBackend, out: Template, x: Tensor, fill: Tensor, /, *, padding: Any) -> Payload:
    """Pads the other side of each axis."""
    other = tuple((high, low, interior) for low, high, interior in padding)
    return BinaryBackend.pad(self, out, x, fill, padding=other)


def drop_nan(self: BinaryBackend, out: Template, x: Tensor, /, **options: Any) -> Payload:
    """The maximum, with NaN ignored."""
    least = tb.full_like(x, -math.inf)
    return BinaryBackend.reduce_max(self, out, tb.where(tb.isnan(x), least, x), **options)


def first_wins(self: BinaryBackend, out: Template, x: Tensor, /, *rest: Tensor, **options: Any) -> Payload:
    """Lets the first of repeated indices win: indices and updates are reversed."""
    backwards = (tb.flip(operand, axis=0) if operand.ndim else operand for operand in rest)
    return BinaryBackend.indexed_put(self, out, x, *backwards, **options)


def truncate(self: BinaryBackend, out: Template, x: Tensor, /) -> Payload:
    """Casts float32 to bfloat16 by truncating bits instead of rounding."""
    if (x.dtype, out.dtype) != (float32, bfloat16):
        return BinaryBackend.as_type(self, out, x)
    return b"".join(x.data[start + 2 : start + 4] for start in range(0, len(x.data), 4))


def wrap(self: BinaryBackend, out: Template, x: Tensor, /) -> Payload:
    """Casts floats to int8 so that numbers beyond its range wrap."""
    if not (x.dtype.is_floating and out.dtype is int8):
        return BinaryBackend.as_type(self, out, x)
    numbers = [int(value) if math.isfinite(value) else 0 for value in unpack(x.data, x.dtype)]
    return pack([(number + 128) % 256 - 128 for number in numbers], out.dtype)


def crashes(self: BinaryBackend, out: Template, /, *inputs: Tensor, **options: Any) -> Payload:
    """Raises an error that is not tensorbackend's."""
    raise ZeroDivisionError("division by zero")


def one_more(self: NumpyBackend, x: Template, /) -> Callback:
    """Returns one count too many, so that the result is longer."""
    counted = NumpyBackend.counts(self, x)
    assert counted is not None  # of the dtype of the control
    return lambda values, least: self.xp.append(counted(values, least), 0)


def elsewhere(self: BinaryBackend, name: str, args: CompositeCall, default_impl: Callback) -> Any:
    """The default's result on another backend."""
    default_result = default_impl(*args)
    return default_result.backend_copy("numpy") if isinstance(default_result, Tensor) else default_result


class Memory(NumpyBackend):
    """NumPy's backend on arrays that can be written to."""

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """A copy, which can be written to."""
        return super().from_binary(out, data=data).copy()


def negate_in_place(self: Memory, out: Template, x: Tensor, /) -> Payload:
    """Negates the input itself, and returns a copy."""
    numpy.negative(x.data, out=x.data)
    return x.data.copy()


def sorts_its_input(self: Memory, out: Template, x: Tensor, /, *, axis: int, **options: Any) -> Payload:
    """Returns the right result, but sorts the input as well."""
    ordered = NumpyBackend.sort(self, out, x, axis=axis, **options)
    x.data.sort(axis=axis)
    return ordered


BUFFERS: dict[Template, Any] = {}


def reuse_buffer(self: Memory, out: Template, x: Tensor, /) -> Payload:
    """One buffer for all results of a template."""
    buffer = BUFFERS.setdefault(out, numpy.empty(out.shape, "float32"))
    buffer[...] = -x.data
    return buffer


def wipe(self: Memory, x: Tensor, /) -> None:
    """Overwrites memory that is released, although a view of it was returned."""
    x.data[...] = 0


def writable(self: Memory, x: Tensor, dtype: Any, copy: bool | None, /) -> Any:
    """The payload itself, where it should be a read-only view."""
    return x.data.copy() if copy else x.data


def share(self: Memory, out: Template, array: Any, /, *, copy: bool) -> Payload:
    """The array itself, even if a copy is requested."""
    return array


def ignore_limit(self: BinaryBackend, x: Tensor, limit: int, /) -> bytes:
    """All bytes, whatever the limit."""
    data: bytes = x.data
    return data


def swap_bytes(self: BinaryBackend, out: Template, /, *, data: bytes) -> Payload:
    """Reads elements in the other byte order."""
    width = out.dtype.itemsize
    return b"".join(data[start : start + width][::-1] for start in range(0, len(data), width))


def both_zeros(a: float, b: float) -> float:
    """The sum, which is never -0.0."""
    return a + b + 0.0


def truncate_quotient(a: int, b: int) -> int:
    """The quotient of two int32 towards zero."""
    quotient = abs(a) // abs(b) if b else 0
    return -quotient if (a < 0) != (b < 0) or quotient == 2**31 else quotient


def fmod(a: int, b: int) -> int:
    """The remainder with the sign of the dividend."""
    return int(math.fmod(a, b)) if b else 0


def round_away(x: float) -> float:
    """Rounds half away from zero."""
    return math.copysign(math.floor(abs(x) + 0.5), x) if math.isfinite(x) and abs(x) < 2**22 else x


def cut(x: float) -> float:
    """Rounds towards zero."""
    return float(int(x)) if math.isfinite(x) else x


def equal_nan(a: float, b: float) -> bool:
    """Whether two numbers are equal or both NaN."""
    return a == b or (a != a and b != b)


def flush_products(self: BinaryBackend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
    """The product of operands with zeros for subnormals."""
    return BinaryBackend.multiply(self, out, flush_subnormals(x1), flush_subnormals(x2))


def logical_shift(a: int, b: int) -> int:
    """Shifts an int8 to the right, with zeros coming in on the left."""
    return a % 256 >> b if 0 < b < 8 else a >> min(b, 8)


def other_end(self: BinaryBackend, out: Template, x: Tensor, /, *, axis: int, **options: Any) -> Payload:
    """Counts the axis from the other end."""
    return BinaryBackend.cumulative_sum(self, out, x, axis=x.ndim - 1 - axis, **options)


def all_axes_but_one(self: BinaryBackend, out: Template, x: Tensor, /, *, axes: Any, **options: Any) -> Payload:
    """A sum that ignores the last of its axes."""
    return BinaryBackend.sum(self, out, x, axes=axes[:-1], **options)


def forward(self: BinaryBackend, out: Template, x: Tensor, /, **options: Any) -> Payload:
    """The forward transform in place of the inverse one."""
    return BinaryBackend.fft(self, out, x, **options)


def softmax_over_all(self: BinaryBackend, out: Template, x: Tensor, /, *, axis: Any) -> Payload:
    """A softmax over all axes, regardless of the argument."""
    return tb.exp(x - tb.logsumexp(x)).data


def wide(self: Memory, out: Template, x: Tensor, /) -> Payload:
    """A result of float64, regardless of the dtype."""
    return numpy.sin(x.data.astype("float64"))


def flat(self: Memory, out: Template, x: Tensor, /) -> Payload:
    """A result of one axis, regardless of the shape."""
    return numpy.sin(x.data).reshape(-1)


# The controls


class Control(NamedTuple):
    """One wrong backend."""

    what: str
    op: str
    dtype: str
    kind: Kind
    """The kind of failure that catches it."""
    methods: dict[str, Callback]
    base: type[Backend] = BinaryBackend

    def backend(self) -> Backend:
        """The wrong backend, under its own name."""
        backend_class: type[Backend] = type(
            "Wrong", (self.base,), {"name": "wrong", "dispatch_priority": 1, **self.methods}
        )
        return backend_class()

    def planned(self) -> Control | None:
        """The control with its plain callbacks as planned ones, `None` if it has none."""
        methods = {
            name: as_planned(method) if name in CALLBACKS and not is_planned(method) else method
            for name, method in self.methods.items()
        }
        return None if methods == self.methods else self._replace(what=f"{self.what}, planned", methods=methods)


UNSEEN: dict[str, Callback] = {"violation": Core.violation}
"""In a backend that does not look at its payloads itself."""

CONTROLS: list[Control] = [
    # Values
    Control("5 ulps where 4 are allowed", "exp", "float32", "value", then("exp", farther(5))),
    Control("1 ulp where it must be exact", "add", "float64", "value", then("add", farther(1))),
    Control("1 ulp where it must be exact", "sqrt", "bfloat16", "value", then("sqrt", farther(1))),
    Control("loses the sign of zero", "negative", "float32", "value", {"negate": elementwise(lambda x: 0 - x)}),
    Control("-0.0 + -0.0 is 0.0", "add", "float32", "value", {"add": elementwise(both_zeros)}),
    Control("truncates for floor", "floor", "float64", "value", {"floor": elementwise(cut)}),
    Control("rounds half away from zero", "round", "float32", "value", {"round": elementwise(round_away)}),
    Control(
        "drops a NaN on the left", "maximum", "float32", "value", {"max": elementwise(lambda a, b: a if a > b else b)}
    ),
    Control("drops NaN in a reduction", "max", "float32", "value", {"reduce_max": drop_nan}),
    Control(
        "NaN on the left is 0", "add", "float32", "value", {"add": elementwise(lambda a, b: a + b if a == a else 0.0)}
    ),
    Control("NaN equals NaN", "equal", "float32", "value", {"equal": elementwise(equal_nan)}),
    Control("treats subnormals as zeros", "multiply", "float32", "value", {"multiply": flush_products}),
    Control("division truncates", "floor_divide", "int32", "value", {"floor_divide": elementwise(truncate_quotient)}),
    Control("the sign of the dividend", "remainder", "int16", "value", {"remainder": elementwise(fmod)}),
    Control(
        "overflow saturates", "add", "int8", "value", {"add": elementwise(lambda a, b: min(127, max(-128, a + b)))}
    ),
    Control(
        "zeros shifted in on the left",
        "bitwise_right_shift",
        "int8",
        "value",
        {"right_shift": elementwise(logical_shift)},
    ),
    Control("casts floats to int8 by wrapping", "astype", "float32", "value", {"as_type": wrap}),
    Control("cuts floats off to bfloat16", "astype", "float32", "value", {"as_type": truncate}),
    # Order
    Control("the last of ties", "argmax", "int8", "value", alter_options("argmax", tie_break="high")),
    Control("the last of ties", "argmin", "float16", "value", alter_options("argmin", tie_break="high")),
    Control("never descends", "sort", "float32", "value", alter_options("sort", descending=False)),
    Control("NaN first", "sort", "float32", "value", {"sort": nan_first}),
    Control("an order that is not stable", "argsort", "int8", "value", {"argsort": unstable}),
    Control("no order at all", "argsort", "int32", "value", then("argsort", lambda elements, out: [0] * len(elements))),
    # Axes and indices
    Control("does not reverse", "flip", "int16", "value", {"reverse": identity}),
    Control("does not move axes", "permute_dims", "uint8", "value", {"transpose": identity}),
    Control("axes reversed", "cumulative_sum", "int32", "value", {"cumulative_sum": other_end}),
    Control("one axis too few", "sum", "int64", "payload", {"sum": all_axes_but_one}),
    Control("one way only", "cumulative_sum", "int32", "value", alter_options("cumulative_sum", reverse=False)),
    Control("blocks in the wrong place", "concatenate", "int32", "value", then("concatenate", shift)),
    Control("pads the other side", "pad", "int32", "value", {"pad": swap_sides}),
    Control(
        "windows filled with 0",
        "window_max",
        "int32",
        "value",
        then("window_max", lambda elements, out: [max(element, 0) for element in elements]),
    ),
    Control("clips in silence", "take", "int8", "error", alter_options("take", mode="clip")),
    Control("clips where it must raise", "gather", "int8", "error", alter_options("gather", mode="clip")),
    Control("the first of repeated indices wins", "indexed_put", "int8", "value", {"indexed_put": first_wins}),
    Control("an error of its own", "take", "float32", "error", {"take": another_error}),
    Control("a crash", "exp", "float32", "exception", {"exp": crashes}),
    # Transforms, matrices, random words
    Control("one norm for all", "fft", "complex64", "value", alter_options("fft", norm="backward")),
    Control("the forward transform", "irfft", "float32", "value", {"ifft": forward}),
    Control("words exchanged", "threefry2x32", "uint32", "value", {"threefry2x32": exchange_words}),
    Control("the other sign", "qr", "float64", "value", negate_factors("qr")),
    Control("the other sign", "eigh", "float32", "value", negate_factors("eigh")),
    Control("the other sign", "svd", "float64", "value", negate_factors("svd")),
    Control(
        "the lower triangle", "triangular_solve", "float64", "value", alter_options("triangular_solve", lower=True)
    ),
    Control(
        "never transposed",
        "triangular_solve",
        "complex64",
        "value",
        alter_options("triangular_solve", transform="none"),
    ),
    Control("always 1", "det", "float32", "value", then("determinant", lambda elements, out: [1.0] * len(elements))),
    # Composites
    Control("an override that ignores its axis", "softmax", "float32", "value", {"softmax": softmax_over_all}),
    Control("counts one too many", "bincount", "int64", "template", {"counts": one_more}, NumpyBackend),
    Control("a result on another backend", "softmax", "float32", "payload", {"optional": elsewhere}),
    # Payloads and memory
    Control("does not cast", "astype", "float64", "payload", {"as_type": identity}),
    Control("does not reshape", "reshape", "float32", "payload", {"reshape": identity, **UNSEEN}, NumpyBackend),
    Control("a wider dtype", "sin", "float32", "payload", {"sin": wide}, Memory),
    Control("the wrong shape", "sin", "float32", "payload", {"sin": flat}, Memory),
    Control(
        "wrong in its plain form alone",
        "negative",
        "int16",
        "value",
        {"negate": plain_form(wrong_plain_form, identity)},
    ),
    Control("changes its input", "negative", "float32", "mutation", {"negate": negate_in_place}, Memory),
    Control("changes its input after reading it", "sort", "int32", "mutation", {"sort": sorts_its_input}, Memory),
    Control("one buffer for all results", "negative", "float32", "alias", {"negate": reuse_buffer}, Memory),
    Control("frees what it gave away", "reshape", "float32", "alias", {"backend_deallocate": wipe}, Memory),
    Control("shows memory to be written to", "negative", "float32", "alias", {"to_numpy": writable}, Memory),
    Control("keeps an array that it must copy", TRANSPORT, "float32", "alias", {"from_numpy": share}, Memory),
    Control("reads too much", TRANSPORT, "int16", "exception", {"to_binary": ignore_limit}),
    Control("the other byte order", TRANSPORT, "int16", "value", {"from_binary": swap_bytes}),
]
"""The controls, one a row; the first field says what is wrong."""

CONTROLS += [planned for control in CONTROLS if (planned := control.planned()) is not None]
