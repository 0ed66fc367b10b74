"""Controls: backends that are wrong in one thing, each with the check that must catch it.

A control is the reference, or NumPy's backend where it is memory that is wrong, with some methods exchanged. What tests
backends is tested by them: each must be caught within 200 drawn calls, by a failure of the kind that its row says.
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
from ..dtypes import bfloat16, float32, int8
from ..elements import pack, unpack
from ..errors import IndexRangeError
from ..opspec import CALLBACKS
from ..protocol import Backend, Payload
from ..protocol.core import CompositeCall
from ..protocol.planned import is_planned
from ..template import Template
from ..tensor import Tensor
from .compare import unit
from .failures import Kind
from .forms import as_planned
from .subnormals import flushed
from .transport import TRANSPORT

Callback = Callable[..., Any]


class Control(NamedTuple):
    """One wrong backend."""

    what: str
    op: str
    dtype: str
    kind: Kind
    """What catches it."""
    methods: dict[str, Callback]
    base: type[Backend] = BinaryBackend

    def backend(self) -> Backend:
        """It, under a name of its own."""
        made: type[Backend] = type("Wrong", (self.base,), {"name": "wrong", "dispatch_priority": 1, **self.methods})
        return made()

    def planned(self) -> Control | None:
        """The control with its plain callbacks as planned ones, `None` where it has none."""
        methods = {
            name: as_planned(method) if name in CALLBACKS and not is_planned(method) else method
            for name, method in self.methods.items()
        }
        return None if methods == self.methods else self._replace(what=f"{self.what}, planned", methods=methods)


def elementwise(function: Callable[..., Any]) -> Callback:
    """A callback from a function of elements whose tensors have one shape, else the right one."""

    def callback(self: BinaryBackend, out: Template, *inputs: Tensor) -> Payload:
        columns = [tb.broadcast_to(x, out.shape) if x.shape != out.shape else x for x in inputs]
        return pack(list(map(function, *(unpack(x.data, x.dtype) for x in columns))), out.dtype)

    return callback


def altered(callback: str, **changed: Any) -> Callback:
    """The right callback with options exchanged."""
    right: Callback = getattr(BinaryBackend, callback)
    return lambda self, out, *inputs, **options: right(self, out, *inputs, **{**options, **changed})


def then(callback: str, function: Callable[[list[Any], Template], list[Any]]) -> Callback:
    """The right elements, changed by a function of them and the template."""
    right: Callback = getattr(BinaryBackend, callback)

    def wrong(self: BinaryBackend, out: Template, *inputs: Tensor, **options: Any) -> Payload:
        return pack(function(list(unpack(right(self, out, *inputs, **options), out.dtype)), out), out.dtype)

    return wrong


def shifted(elements: list[Any], out: Template) -> list[Any]:
    """One place on."""
    return elements[1:] + elements[:1]


def farther(steps: float) -> Callable[[list[Any], Template], list[Any]]:
    """Away from zero by so many ulps."""

    def move(x: float, out: Template) -> float:
        return x + math.copysign(steps * unit(x, out.dtype), x) if x and math.isfinite(x) else x

    return lambda elements, out: [move(x, out) for x in elements]


def unchanged(self: BinaryBackend, out: Template, x: Tensor, /, **options: Any) -> Payload:
    """The input's bytes as they are."""
    return x.data


@as_planned
def in_plain_form(self: BinaryBackend, out: Template, x: Tensor, /) -> Payload:
    """The right kernel; the plain form below leaves the input as it is."""
    return BinaryBackend.negate(self, out, x)


def plain_form(planned_callback: Callback, plain: Callback) -> Callback:
    """A planned callback whose plain form is another function."""
    made: Callback = wraps(planned_callback)(lambda *inputs, **options: plain(*inputs, **options))
    return made


def another_error(self: BinaryBackend, out: Template, /, *inputs: Tensor, **options: Any) -> Payload:
    """The right result, but a text of its own for an index outside."""
    try:
        return BinaryBackend.take(self, out, *inputs, **options)
    except IndexRangeError:
        raise IndexRangeError("index out of bounds") from None


def exchanged(self: BinaryBackend, out: Any, /, *inputs: Tensor) -> Payload:
    """The right words in the wrong order."""
    first, second = BinaryBackend.threefry2x32(self, out, *inputs)
    return second, first


def negated(callback: str) -> Callback:
    """The right factors, all with the other sign: their product is right, the sign of each is not."""
    right: Callback = getattr(BinaryBackend, callback)

    def wrong(self: BinaryBackend, out: tuple[Template, ...], x: Tensor, /, **options: Any) -> Payload:
        parts = right(self, out, x, **options)
        return tuple(
            pack([-value for value in unpack(part, each.dtype)], each.dtype)
            for part, each in zip(parts, out, strict=True)
        )

    return wrong


def unstable(self: BinaryBackend, out: Template, x: Tensor, /, *, axis: int, **options: Any) -> Payload:
    """Of equal elements the last first: the order of the reversed axis, counted from its end."""
    size = x.shape[axis]
    order = BinaryBackend.argsort(self, out, tb.flip(x, axis=axis), axis=axis, **options)
    return pack([size - 1 - place for place in unpack(order, out.dtype)], out.dtype)


def nan_first(self: BinaryBackend, out: Template, x: Tensor, /, *, axis: int, **options: Any) -> Payload:
    """Sorted with NaN in front, where there is one axis."""
    elements = list(unpack(BinaryBackend.sort(self, out, x, axis=axis, **options), out.dtype))
    ordered = sorted(elements, key=lambda value: value == value) if x.ndim == 1 else elements
    return pack(ordered, out.dtype)


def swapped(self: BinaryBackend, out: Template, x: Tensor, fill: Tensor, /, *, padding: Any) -> Payload:
    """Padding on the other side."""
    other = tuple((high, low, interior) for low, high, interior in padding)
    return BinaryBackend.pad(self, out, x, fill, padding=other)


def dropped_nan(self: BinaryBackend, out: Template, x: Tensor, /, **options: Any) -> Payload:
    """The greatest of what is a number."""
    least = tb.full_like(x, -math.inf)
    return BinaryBackend.reduce_max(self, out, tb.where(tb.isnan(x), least, x), **options)


def first_wins(self: BinaryBackend, out: Template, x: Tensor, /, *rest: Tensor, **options: Any) -> Payload:
    """Of repeated indices the first: both are put in the reverse order."""
    backwards = (tb.flip(each, axis=0) if each.ndim else each for each in rest)
    return BinaryBackend.indexed_put(self, out, x, *backwards, **options)


def truncated(self: BinaryBackend, out: Template, x: Tensor, /) -> Payload:
    """float32 cut off to bfloat16."""
    if (x.dtype, out.dtype) != (float32, bfloat16):
        return BinaryBackend.as_type(self, out, x)
    return b"".join(x.data[start + 2 : start + 4] for start in range(0, len(x.data), 4))


def wrapped(self: BinaryBackend, out: Template, x: Tensor, /) -> Payload:
    """Floats beyond an integer dtype wrap."""
    if not (x.dtype.is_floating and out.dtype is int8):
        return BinaryBackend.as_type(self, out, x)
    numbers = [int(value) if math.isfinite(value) else 0 for value in unpack(x.data, x.dtype)]
    return pack([(number + 128) % 256 - 128 for number in numbers], out.dtype)


def crashes(self: BinaryBackend, out: Template, /, *inputs: Tensor, **options: Any) -> Payload:
    """What a library raises of its own accord."""
    raise ZeroDivisionError("division by zero")


def one_more(self: NumpyBackend, x: Template, /) -> Callback:
    """Counts with one too many, by which the result is longer."""
    counted = NumpyBackend.counts(self, x)
    assert counted is not None  # of the dtype of the control
    return lambda values, least: self.xp.append(counted(values, least), 0)


def elsewhere(self: BinaryBackend, name: str, args: CompositeCall, default_impl: Callback) -> Any:
    """The default's result on another backend."""
    found = default_impl(*args)
    return found.backend_copy("numpy") if isinstance(found, Tensor) else found


class Memory(NumpyBackend):
    """NumPy's backend on arrays that can be written to."""

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """A copy."""
        return super().from_binary(out, data=data).copy()


def in_place(self: Memory, out: Template, x: Tensor, /) -> Payload:
    """Negates the input itself, and returns a copy."""
    numpy.negative(x.data, out=x.data)
    return x.data.copy()


def sorts_its_input(self: Memory, out: Template, x: Tensor, /, *, axis: int, **options: Any) -> Payload:
    """The right result, and the input sorted by the way."""
    found = NumpyBackend.sort(self, out, x, axis=axis, **options)
    x.data.sort(axis=axis)
    return found


BUFFERS: dict[Template, Any] = {}


def reused(self: Memory, out: Template, x: Tensor, /) -> Payload:
    """One buffer for all results of a template."""
    buffer = BUFFERS.setdefault(out, numpy.empty(out.shape, "float32"))
    buffer[...] = -x.data
    return buffer


def wiped(self: Memory, x: Tensor, /) -> None:
    """Memory that is given back, though a view of it was given away."""
    x.data[...] = 0


def writable(self: Memory, x: Tensor, dtype: Any, copy: bool | None, /) -> Any:
    """The payload itself."""
    return x.data.copy() if copy else x.data


def shared(self: Memory, out: Template, array: Any, /, *, copy: bool) -> Payload:
    """The array itself, whatever is asked for."""
    return array


def unlimited(self: BinaryBackend, x: Tensor, limit: int, /) -> bytes:
    """All bytes."""
    data: bytes = x.data
    return data


def swapped_bytes(self: BinaryBackend, out: Template, /, *, data: bytes) -> Payload:
    """The other byte order."""
    width = out.dtype.itemsize
    return b"".join(data[start : start + width][::-1] for start in range(0, len(data), width))


def both_zeros(a: float, b: float) -> float:
    """The sum, which is never -0.0."""
    return a + b + 0.0


def truncating(a: int, b: int) -> int:
    """The quotient of two int32 towards zero."""
    quotient = abs(a) // abs(b) if b else 0
    return -quotient if (a < 0) != (b < 0) or quotient == 2**31 else quotient


def fmod(a: int, b: int) -> int:
    """The remainder with the sign of the dividend."""
    return int(math.fmod(a, b)) if b else 0


def rounded_away(x: float) -> float:
    """Half away from zero."""
    return math.copysign(math.floor(abs(x) + 0.5), x) if math.isfinite(x) and abs(x) < 2**22 else x


def cut(x: float) -> float:
    """Towards zero."""
    return float(int(x)) if math.isfinite(x) else x


def equal_nan(a: float, b: float) -> bool:
    """Whether they are equal or both are NaN."""
    return a == b or (a != a and b != b)


def without_subnormals(self: BinaryBackend, out: Template, x1: Tensor, x2: Tensor, /) -> Payload:
    """The product of operands with zeros for subnormals."""
    return BinaryBackend.multiply(self, out, flushed(x1), flushed(x2))


def logical_shift(a: int, b: int) -> int:
    """Zeros come in on the left."""
    return a % 256 >> b if 0 < b < 8 else a >> min(b, 8)


def other_end(self: BinaryBackend, out: Template, x: Tensor, /, *, axis: int, **options: Any) -> Payload:
    """Axes counted from the end."""
    return BinaryBackend.cumulative_sum(self, out, x, axis=x.ndim - 1 - axis, **options)


def all_axes_but_one(self: BinaryBackend, out: Template, x: Tensor, /, *, axes: Any, **options: Any) -> Payload:
    """A sum that leaves the last of its axes alone."""
    return BinaryBackend.sum(self, out, x, axes=axes[:-1], **options)


def forward(self: BinaryBackend, out: Template, x: Tensor, /, **options: Any) -> Payload:
    """The forward transform for the inverse one."""
    return BinaryBackend.fft(self, out, x, **options)


def over_all(self: BinaryBackend, out: Template, x: Tensor, /, *, axis: Any) -> Payload:
    """A softmax over all axes, whatever is asked for."""
    return tb.exp(x - tb.logsumexp(x)).data


def wide(self: Memory, out: Template, x: Tensor, /) -> Payload:
    """float64 in any case."""
    return numpy.sin(x.data.astype("float64"))


def flat(self: Memory, out: Template, x: Tensor, /) -> Payload:
    """One axis in any case."""
    return numpy.sin(x.data).reshape(-1)


CONTROLS: list[Control] = [
    # Values
    Control("5 ulps where 4 are allowed", "exp", "float32", "value", {"exp": then("exp", farther(5))}),
    Control("1 ulp where it must be exact", "add", "float64", "value", {"add": then("add", farther(1))}),
    Control("1 ulp where it must be exact", "sqrt", "bfloat16", "value", {"sqrt": then("sqrt", farther(1))}),
    Control("loses the sign of zero", "negative", "float32", "value", {"negate": elementwise(lambda x: 0 - x)}),
    Control("-0.0 + -0.0 is 0.0", "add", "float32", "value", {"add": elementwise(both_zeros)}),
    Control("truncates for floor", "floor", "float64", "value", {"floor": elementwise(cut)}),
    Control("rounds half away from zero", "round", "float32", "value", {"round": elementwise(rounded_away)}),
    Control(
        "drops a NaN on the left", "maximum", "float32", "value", {"max": elementwise(lambda a, b: a if a > b else b)}
    ),
    Control("drops NaN in a reduction", "max", "float32", "value", {"reduce_max": dropped_nan}),
    Control(
        "NaN on the left is 0", "add", "float32", "value", {"add": elementwise(lambda a, b: a + b if a == a else 0.0)}
    ),
    Control("NaN equals NaN", "equal", "float32", "value", {"equal": elementwise(equal_nan)}),
    Control("takes subnormals for zeros", "multiply", "float32", "value", {"multiply": without_subnormals}),
    Control("division truncates", "floor_divide", "int32", "value", {"floor_divide": elementwise(truncating)}),
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
    Control("casts floats to int8 by wrapping", "astype", "float32", "value", {"as_type": wrapped}),
    Control("cuts floats off to bfloat16", "astype", "float32", "value", {"as_type": truncated}),
    # Order
    Control("the last of ties", "argmax", "int8", "value", {"argmax": altered("argmax", tie_break="high")}),
    Control("the last of ties", "argmin", "float16", "value", {"argmin": altered("argmin", tie_break="high")}),
    Control("never descends", "sort", "float32", "value", {"sort": altered("sort", descending=False)}),
    Control("NaN first", "sort", "float32", "value", {"sort": nan_first}),
    Control("an order that is not stable", "argsort", "int8", "value", {"argsort": unstable}),
    Control(
        "no order at all",
        "argsort",
        "int32",
        "value",
        {"argsort": then("argsort", lambda found, out: [0] * len(found))},
    ),
    # Axes and indices
    Control("does not turn round", "flip", "int16", "value", {"reverse": unchanged}),
    Control("does not move axes", "permute_dims", "uint8", "value", {"transpose": unchanged}),
    Control("axes reversed", "cumulative_sum", "int32", "value", {"cumulative_sum": other_end}),
    Control("one axis too few", "sum", "int64", "payload", {"sum": all_axes_but_one}),
    Control(
        "one way only", "cumulative_sum", "int32", "value", {"cumulative_sum": altered("cumulative_sum", reverse=False)}
    ),
    Control(
        "blocks in the wrong place", "concatenate", "int32", "value", {"concatenate": then("concatenate", shifted)}
    ),
    Control("pads the other side", "pad", "int32", "value", {"pad": swapped}),
    Control(
        "windows filled with 0",
        "window_max",
        "int32",
        "value",
        {"window_max": then("window_max", lambda found, out: [max(each, 0) for each in found])},
    ),
    Control("clips in silence", "take", "int8", "error", {"take": altered("take", mode="clip")}),
    Control("clips where it must raise", "gather", "int8", "error", {"gather": altered("gather", mode="clip")}),
    Control("the first of repeated indices wins", "indexed_put", "int8", "value", {"indexed_put": first_wins}),
    Control("an error of its own", "take", "float32", "error", {"take": another_error}),
    Control("a crash", "exp", "float32", "exception", {"exp": crashes}),
    # Transforms, matrices, random words
    Control("one norm for all", "fft", "complex64", "value", {"fft": altered("fft", norm="backward")}),
    Control("the forward transform", "irfft", "float32", "value", {"ifft": forward}),
    Control("words exchanged", "threefry2x32", "uint32", "value", {"threefry2x32": exchanged}),
    Control("the other sign", "qr", "float64", "value", {"qr": negated("qr")}),
    Control("the other sign", "eigh", "float32", "value", {"eigh": negated("eigh")}),
    Control("the other sign", "svd", "float64", "value", {"svd": negated("svd")}),
    Control(
        "the lower triangle",
        "triangular_solve",
        "float64",
        "value",
        {"triangular_solve": altered("triangular_solve", lower=True)},
    ),
    Control(
        "never transposed",
        "triangular_solve",
        "complex64",
        "value",
        {"triangular_solve": altered("triangular_solve", transform="none")},
    ),
    Control(
        "always 1",
        "det",
        "float32",
        "value",
        {"determinant": then("determinant", lambda found, out: [1.0] * len(found))},
    ),
    # Composites
    Control("an override that ignores its axis", "softmax", "float32", "value", {"softmax": over_all}),
    Control("counts one too many", "bincount", "int64", "template", {"counts": one_more}, NumpyBackend),
    Control("a result on another backend", "softmax", "float32", "payload", {"optional": elsewhere}),
    # Payloads and memory
    Control("does not cast", "astype", "float64", "payload", {"as_type": unchanged}),
    Control("a wider dtype", "sin", "float32", "payload", {"sin": wide}, Memory),
    Control("the wrong shape", "sin", "float32", "payload", {"sin": flat}, Memory),
    Control(
        "wrong in its plain form alone", "negative", "int16", "value", {"negate": plain_form(in_plain_form, unchanged)}
    ),
    Control("changes its input", "negative", "float32", "mutation", {"negate": in_place}, Memory),
    Control("changes its input after reading it", "sort", "int32", "mutation", {"sort": sorts_its_input}, Memory),
    Control("one buffer for all results", "negative", "float32", "alias", {"negate": reused}, Memory),
    Control("frees what it gave away", "reshape", "float32", "alias", {"backend_deallocate": wiped}, Memory),
    Control("shows memory to be written to", "negative", "float32", "alias", {"to_numpy": writable}, Memory),
    Control("keeps an array that it must copy", TRANSPORT, "float32", "alias", {"from_numpy": shared}, Memory),
    Control("reads too much", TRANSPORT, "int16", "value", {"to_binary": unlimited}),
    Control("the other byte order", TRANSPORT, "int16", "value", {"from_binary": swapped_bytes}),
]
"""One a row; in what each is wrong is its first word."""

CONTROLS += [planned for control in CONTROLS if (planned := control.planned()) is not None]
