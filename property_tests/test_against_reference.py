"""Every declared elementwise op and reduction: NumPy against BinaryBackend on drawn data, in ulps."""

from __future__ import annotations

import math
import os
import re
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.dtypes import ALL_DTYPES, DType, bfloat16, finfo, float16, iinfo
from tensorbackend.elements import pack, unpack
from tensorbackend.errors import DTypeError, TensorBackendError
from tensorbackend.opspec import OPS, OpSpec
from tensorbackend.protocol import Payload

# The same examples every time, unless a number of them is asked for: then random ones.
EXAMPLES = os.environ.get("TENSORBACKEND_EXAMPLES")
profile = settings(max_examples=int(EXAMPLES or 40), deadline=None, derandomize=not EXAMPLES)
REAL = [dtype for dtype in ALL_DTYPES if not dtype.is_complex]

# Bound in ulps of the dtype where a result is not exact on both backends, with the reason. An op that is not
# here must agree to the bit. float16 and bfloat16 are computed wider and rounded, so one ulp is what is left.
INEXACT = {
    **dict.fromkeys(["acos", "asin", "atan", "cos", "sin", "exp", "log", "log1p", "expm1", "cbrt"], 4),
    **dict.fromkeys(["acosh", "asinh", "atanh", "cosh", "sinh", "tanh", "tan", "atan2", "pow"], 4),
    **dict.fromkeys(["erf", "erfc", "erf_inv", "rsqrt", "sigmoid"], 4),
}
ELEMENTWISE = [spec for spec in OPS.values() if spec.kind == "primitive" and spec.family.startswith("elementwise")]
# Sums depend on the order of additions: tested by their own bound below.
EXACT_REDUCTIONS = ["all", "any", "max", "min", "argmax", "argmin"]


def values(dtype: DType) -> st.SearchStrategy[Any]:
    """Python numbers that a dtype holds, special ones often."""
    if dtype.kind == "bool":
        return st.booleans()
    if dtype.is_integer:
        limits = iinfo(dtype)
        edges = [0, 1, limits.min, limits.max, *([-1] if limits.min else [])]
        return st.sampled_from(edges) | st.integers(limits.min, limits.max) | st.integers(0, 9)
    limit = finfo(dtype).max
    edge = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, math.inf, -math.inf, math.nan, limit, -limit]
    drawn = st.sampled_from(edge) | st.floats(-10, 10, width=32) | st.floats(-limit, limit)
    return drawn.map(lambda value: next(iter(unpack(pack([value], dtype), dtype))))


@st.composite
def tensors(draw: st.DrawFn, dtype: DType, shape: tuple[int, ...] | None = None) -> tb.Tensor:
    """Tensors on BinaryBackend with named axes, empty and size-1 ones among them."""
    if shape is None:
        shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    size = math.prod(shape)
    elements = draw(st.lists(values(dtype), min_size=size, max_size=size))
    template = tb.Template(shape, dtype, [f"axis{axis}" for axis in range(len(shape))])
    return tb.from_binary(pack(elements, dtype), template, "binary")


@st.composite
def operands(draw: st.DrawFn, dtype: DType, count: int) -> list[tb.Tensor]:
    """Tensors that broadcast together."""
    first = draw(tensors(dtype))
    rest = []
    for _ in range(count - 1):
        shape = tuple(draw(st.sampled_from([size, 1])) for size in first.shape)
        start = draw(st.integers(0, len(shape)))
        names = first.names[start:]
        rest.append(draw(tensors(dtype, shape[start:])).rename(*names) if names else draw(tensors(dtype, ())))
    return [first, *rest]


def ordered(value: float, dtype: DType) -> int:
    """The position of a float among those of its dtype, so that differences count ulps."""
    bits_of = {16: "h", 32: "i", 64: "q"}[dtype.bits]
    (bits,) = struct.unpack(bits_of, pack([value], dtype))
    least = -(1 << (dtype.bits - 1))
    return int(bits) if bits >= 0 else least - int(bits) - 1


def ulps(left: float, right: float, dtype: DType) -> float:
    """Distance in ulps; 0 for two NaNs, infinite for a NaN and a number."""
    if left != left or right != right:
        return 0 if left != left and right != right else math.inf
    return abs(ordered(left, dtype) - ordered(right, dtype))


def check_equal(left: tb.Tensor, right: tb.Tensor, bound: float) -> None:
    """Raises `AssertionError` with the first bad element unless two results agree."""
    assert left.template is right.template, f"templates {left.template} and {right.template}"
    flat = (unpack(x.to_binary(), x.dtype) for x in (left, right))
    for index, (a, b) in enumerate(zip(*flat, strict=True)):
        if left.dtype.is_floating:
            # Zeros of two signs are one ulp apart by their bits, so a bound of 0 tells them apart.
            apart = ulps(a, b, left.dtype)
            assert apart <= bound, f"{left.dtype} at {index}: {a!r} and {b!r}, {apart} ulps"
        else:
            assert a == b, f"{left.dtype} at {index}: {a!r} and {b!r}"


def accepted(spec: OpSpec, count: int, dtype: DType) -> bool:
    """Whether an op has a meaning for a dtype, by its own rule."""
    try:
        spec.function(*[tb.Template((1,), dtype)] * count)
    except DTypeError:
        return False
    return True


def cases() -> list[Any]:
    found = []
    for spec in ELEMENTWISE:
        count = len(spec.parameters)
        found += [
            pytest.param(spec, dtype, id=f"{spec.name}-{dtype}") for dtype in REAL if accepted(spec, count, dtype)
        ]
    return found


@pytest.mark.parametrize(("spec", "dtype"), cases())
def test_elementwise(spec: OpSpec, dtype: DType) -> None:
    function = getattr(tb, spec.name)
    bound = INEXACT.get(spec.name, 0)

    @profile
    @given(operands(dtype, len(spec.parameters)))
    def agrees(inputs: list[tb.Tensor]) -> None:
        if "shift" in spec.name:  # a negative amount has no meaning
            inputs[1] = tb.bitwise_and(inputs[1], 63 if dtype.bits == 64 else 15)
        reference = function(*inputs)
        result = function(*(x.backend_copy("numpy") for x in inputs))
        check_equal(reference, result, bound)
        dry = function(*(tb.template(x.shape, x.dtype, x.names) for x in inputs))
        assert dry.template is reference.template

    agrees()


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("name", [*EXACT_REDUCTIONS, "sum"])
def test_reductions(name: str, dtype: DType) -> None:
    function = getattr(tb, name)

    @profile
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        x = data.draw(tensors(dtype))
        axis = data.draw(st.sampled_from([None, *range(x.ndim), *(each for each in x.names)]))
        keepdims = data.draw(st.booleans())
        try:
            reference = function(x, axis=axis, keepdims=keepdims)
        except TensorBackendError as error:
            text = re.escape(str(error))
            with pytest.raises(type(error), match=text):
                function(x.backend_copy("numpy"), axis=axis, keepdims=keepdims)
            return
        result = function(x.backend_copy("numpy"), axis=axis, keepdims=keepdims)
        if name == "sum" and dtype.is_floating:
            return  # the order of additions is the backend's; tested without cancellation below
        check_equal(reference, result, 0)

    agrees()


@pytest.mark.parametrize("dtype", [dtype for dtype in REAL if dtype.is_floating], ids=str)
def test_sums_without_cancellation(dtype: DType) -> None:
    @profile
    @given(st.lists(st.floats(0.0, 10.0, width=32), min_size=1, max_size=40))
    def agrees(numbers: list[float]) -> None:
        x = tb.tensor(numbers, dtype=dtype, names=("n",), backend="binary")
        # float16 and bfloat16 are added in float32 or wider, then rounded: a near tie may fall either way.
        bound = 1 if dtype in (float16, bfloat16) else len(numbers)
        check_equal(tb.sum(x), tb.sum(x.backend_copy("numpy")), bound)

    agrees()


# The harness is tested by backends that are wrong.


class Wrong(BinaryBackend):
    """A backend with mistakes of the kinds that the comparison must find."""

    name = "wrong"
    dispatch_priority = 1

    def exp(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        """A result many ulps away."""
        return pack([math.exp(value) * 1.0001 for value in unpack(x.data, x.dtype)], out.dtype)

    def negate(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        """0 - x loses the sign of zero."""
        return pack([0 - value for value in unpack(x.data, x.dtype)], out.dtype)

    def floor(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
        """Truncation rounds negative numbers the wrong way."""
        return pack([float(int(value)) for value in unpack(x.data, x.dtype)], out.dtype)

    def max(self, out: tb.Template, x1: tb.Tensor, x2: tb.Tensor, /) -> Payload:
        """Python's max drops a NaN on the right."""
        return pack(list(map(max, unpack(x1.data, x1.dtype), unpack(x2.data, x2.dtype))), out.dtype)

    def argmax(self, out: tb.Template, x: tb.Tensor, /, **options: Any) -> Payload:
        """The last of ties."""
        found = list(unpack(x.data, x.dtype))
        return pack([len(found) - 1 - found[::-1].index(max(found))], out.dtype)


@pytest.mark.parametrize(
    ("name", "inputs", "bound"),
    [
        ("exp", [[1.0]], 4),
        ("negative", [[0.0]], 0),
        ("floor", [[-1.5]], 0),
        ("maximum", [[1.0], [math.nan]], 0),
        ("argmax", [[1.0, 1.0]], 0),
    ],
)
def test_a_wrong_backend_is_caught(name: str, inputs: list[list[float]], bound: float) -> None:
    function = getattr(tb, name)
    reference, wrong = (function(*(tb.tensor(x, backend=each) for x in inputs)) for each in ("binary", Wrong()))
    with pytest.raises(AssertionError):
        check_equal(reference, wrong, bound)
    check_equal(reference, reference, 0)
