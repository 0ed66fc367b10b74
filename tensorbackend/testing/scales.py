"""The absolute errors that bounds allow: a number of roundings of the quantity of their scale."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import tensorbackend

from ..dtypes import COMPLEX_OF, complex128, finfo, float64
from ..dtypes.packing import pack, unpack
from ..errors import TensorBackendError
from ..expr.trees import flatten
from ..ops.creation.filled import from_binary
from ..rules.accuracy import Bound, Scale
from ..tensor import Tensor
from .calls import Invocation

Allowance: TypeAlias = float | list[float]
"""An absolute error, one for all elements or one for each."""


def allowances(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> list[Allowance]:
    """The absolute error that a bound allows, for each result."""
    sizes = _SIZES[bound.scale](call, bound, results)
    return [_roundings(size, bound, result) for size, result in zip(sizes, results, strict=True)]


def _roundings(size: Allowance, bound: Bound, result: Tensor) -> Allowance:
    if not result.dtype.is_inexact:
        return 0.0
    rounding = bound.ulps * (finfo(float64).eps if bound.scale == "exponent" else finfo(result.dtype).eps)
    return [rounding * one for one in size] if isinstance(size, list) else rounding * size


Sizes: TypeAlias = Callable[[Invocation, Bound, Sequence[Tensor]], Sequence[Allowance]]


def _constant(size: float) -> Sizes:
    return lambda call, bound, results: [size] * len(results)


def _operand(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> Sequence[Allowance]:
    """The largest magnitude of a finite element of the operands, at least 1."""
    binary = [x for x in call.on("binary").tensors if x.dtype.is_numeric]
    return [max([1.0, *(_largest(unpack(x.to_binary(), x.dtype)) for x in binary)])] * len(results)


def _square(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> Sequence[Allowance]:
    return [size * size for size in _operand(call, bound, results) if isinstance(size, float)]


def _result(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> Sequence[Allowance]:
    """The largest magnitude of a finite element of each result."""
    return [_largest(unpack(x.to_binary(), x.dtype)) for x in results]


def _magnitudes(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> Sequence[Allowance]:
    """The results of the op for the absolute values of its operands, in 64 bits."""
    if not any(result.dtype.is_inexact for result in results):
        return [0.0] * len(results)
    for absolute in _magnitude_calls(call.on("binary")):
        try:
            magnitudes = absolute.run()
        except TensorBackendError:
            continue
        return [
            [_size(value) for value in unpack(magnitude.to_binary(), magnitude.dtype)]
            for magnitude in flatten(magnitudes)[0]
        ]
    return [0.0] * len(results)


def _magnitude_calls(call: Invocation) -> Iterator[Invocation]:
    """The call with absolute values in 64 bits for all operands except indices.

    Integers next to floats are indices. If all operands are integers, up to two of them may be indices: all choices
    are yielded, as the op refuses floats in place of indices.
    """
    integers = [number for number, x in enumerate(call.tensors) if x.dtype.is_integer]
    if any(x.dtype.is_inexact for x in call.tensors):
        yield _but(call, integers)
        return
    for count in range(3):
        for indices in combinations(integers, count):
            yield _but(call, indices)


def _but(call: Invocation, kept: Sequence[int]) -> Invocation:
    return call.with_tensors(x if number in kept else _absolute(x) for number, x in enumerate(call.tensors))


def _norm(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> Sequence[Allowance]:
    return [max(size, default=0.0) if isinstance(size, list) else size for size in _magnitudes(call, bound, results)]


def _exponent(call: Invocation, bound: Bound, results: Sequence[Tensor]) -> Sequence[Allowance]:
    """abs(y * log(x)) times the magnitude of the power, element by element.

    If the exponent may be wrong by more than 2**-10, few digits of the power are correct: then it may be anything. For
    an infinite y the power only depends on whether x is inside the unit circle; if x is so near the circle that its
    magnitude rounds to 1, the power may be anything too.
    """
    operands = (tensorbackend.asarray(argument, backend="binary") for argument in call.on("binary").arguments)
    x, y = (tensorbackend.astype(operand, "complex128") for operand in operands)
    bases, powers = (
        unpack(tensorbackend.broadcast_to(operand, results[0].shape).to_binary(), complex128) for operand in (x, y)
    )
    exponents = unpack(tensorbackend.abs(y * tensorbackend.log(x)).to_binary(), float64)
    (power,) = results
    sizes = []
    values = unpack(power.to_binary(), power.dtype)
    for base, y_element, exponent, value in zip(bases, powers, exponents, values, strict=True):
        if exponent < math.inf:
            lost = bound.ulps * finfo(float64).eps * exponent > 2**-10
        else:
            beside = max(abs(base.real), abs(base.imag)) < 2 and abs(_size(base) - 1) < 2**-40
            lost = cmath.isfinite(y_element) or beside
        if lost:
            sizes.append(math.inf)
        else:
            size = 0.0 if exponent == math.inf or cmath.isnan(value) else _size(value)
            sizes.append(exponent * min(size, finfo(power.dtype).max) if size else 0.0)
    return [sizes]


_SIZES: Mapping[Scale, Sizes] = {
    "element": _constant(0.0),
    "one": _constant(1.0),
    "operand": _operand,
    "square": _square,
    "magnitudes": _magnitudes,
    "norm": _norm,
    "result": _result,
    "exponent": _exponent,
}


def _size(value: Any) -> float:
    """The absolute value. `abs` of a complex number raises if that is beyond the largest float, and in Python 3.11 for
    NaN too, if an earlier C function has overflowed or underflowed."""
    return math.hypot(value.real, value.imag)


def _largest(values: Iterable[Any]) -> float:
    return max((size for size in map(_size, values) if size < math.inf), default=0.0)


def _absolute(x: Tensor) -> Tensor:
    """The absolute values of a tensor in 64 bits; 0 for infinity and NaN."""
    sizes = [_size(value) for value in unpack(x.to_binary(), x.dtype)]
    wide = COMPLEX_OF[float64] if x.dtype.is_complex else float64
    finite = [size if size < math.inf else 0.0 for size in sizes]
    return from_binary(pack(finite, wide), x.template.replace(dtype=wide), "binary")
