"""Checks of the parameters of distributions: Python numbers at once, tensors whenever their data can be read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from ....dtypes import REAL_OF, finfo, scalar_kind
from ....errors import ArgumentError, DataError, expected
from ....tensor import Tensor, TensorLike
from ...creation.filled import asarray
from ...elementwise.basic import imag, isnan, real, where
from ...elementwise.binary import less_equal, logical_and, subtract
from ...indexing.slices import slice_basic
from ...reduction import all as all_of
from ...reduction import argmax
from ...reduction import max as max_of
from ...reduction import min as min_of
from ...shape import laid_flat
from ..elementwise.functions import logical_not, stop_gradient
from ..reduction import count_nonzero
from ..shape.arranging import broadcast_arrays

Parameter: TypeAlias = "tuple[TensorLike, Tensor]"
"""A parameter as the user gave it, and as a tensor of the sample's dtype."""


def readable(*tensors: Tensor) -> bool:
    """Whether all tensors have data that can be read; none has in a trace."""
    return all(x.backend.is_concrete(x) for x in tensors)


def in_ascending_order(low: Any, high: Any, most: float = math.inf) -> bool:
    """Whether two Python numbers are in ascending order, and no farther apart than `most`: the quick check."""
    kinds = scalar_kind(low), scalar_kind(high)
    return kinds[0] in ("int", "float") and kinds[1] in ("int", "float") and low < high and high - low <= most


def require(expectation: str, holds: Callable[..., Any], /, **parameters: Parameter) -> None:
    """Raises an error unless a condition, in words and as a function of tensors, holds for each element of parameters.

    It is an `ArgumentError` if all parameters are Python numbers, and a `DataError` if some are tensors; in a trace or
    a dry run, where there is no data, tensors are not checked.
    """
    numbers = all(scalar_kind(given) is not None for given, _ in parameters.values())
    if numbers:  # which can be read whatever the backend is
        tensors = [asarray(given, dtype=x.dtype, backend="binary") for given, x in parameters.values()]
    else:
        tensors = [stop_gradient(x) for _, x in parameters.values()]
        if not readable(*tensors):
            return
    good = holds(*tensors)
    if not good.size or all_of(good).item():
        return
    if numbers:
        raise ArgumentError(expected(expectation, **{name: given for name, (given, _) in parameters.items()}))
    place = argmax(laid_flat(where(good, 0, 1))).item()
    elements = {
        name: slice_basic(laid_flat(x), place).item()
        for name, x in zip(parameters, broadcast_arrays(*tensors), strict=True)
    }
    raise DataError(expected(expectation, **elements))


def require_bounds(minval: TensorLike, maxval: TensorLike, low: Tensor, high: Tensor) -> None:
    """Raises an error for bounds in the wrong order, and for a difference that their dtype does not hold."""
    dtype = REAL_OF.get(low.dtype, low.dtype)
    most = finfo(dtype).max
    parts = (real, imag) if low.dtype.is_complex else (lambda x: x,)
    for part in parts:
        require(
            "minval of at most maxval",
            lambda low, high, part=part: less_equal(part(low), part(high)),
            minval=(minval, low),
            maxval=(maxval, high),
        )
        require(
            f"a finite maxval - minval, of at most {most:.4g} in {dtype}",
            lambda low, high, part=part: subtract(part(high), part(low)) <= most,
            minval=(minval, low),
            maxval=(maxval, high),
        )


def is_probability(p: Tensor) -> Tensor:
    """Whether numbers are from 0 to 1, which NaN is not."""
    return logical_and(less_equal(0, p), p <= 1)


def is_weight(p: Tensor) -> Tensor:
    """Whether numbers are finite and not below 0."""
    return logical_and(less_equal(0, p), p <= finfo(p.dtype).max)


# Two quick checks, which NaN does not pass; where they fail, the errors are found one by one.


def _are_weights(p: Tensor) -> bool:
    """Whether all numbers are weights and one is above 0."""
    return min_of(p).item() >= 0 and 0 < max_of(p).item() < math.inf  # type: ignore[operator] # numbers


def _have_chances(logits: Tensor, axis: int) -> bool:
    """Whether each example has a class with a logit above -inf."""
    return min_of(max_of(logits, axis=axis)).item() > -math.inf  # type: ignore[operator] # a number


def require_weights(p: Tensor, count: int) -> None:
    """Raises `DataError` unless probabilities are finite, none is negative, and at least `count` are above 0."""
    if count == 1 and readable(p) and p.size and _are_weights(stop_gradient(p)):
        return
    require("finite probabilities of at least 0", is_weight, p=(p, p))
    if readable(p):
        possible = int(count_nonzero(stop_gradient(p)).item())  # type: ignore[arg-type] # an int
        if possible < count:
            raise DataError(expected(f"at least {count} entries with a probability above 0", possible=possible))


def require_classes(logits: Tensor, axis: int, count: int) -> None:
    """Raises `DataError` unless no logit is NaN and at least `count` classes along an axis have one above -inf."""
    if count == 1 and readable(logits) and logits.size and _have_chances(stop_gradient(logits), axis):
        return
    require("logits without NaN", lambda x: logical_not(isnan(x)), logits=(logits, logits))
    if readable(logits) and logits.size:
        chances = count_nonzero(stop_gradient(logits) > -math.inf, axis=axis)
        possible = int(min_of(chances).item())  # type: ignore[arg-type] # an int
        if possible < count:
            raise DataError(expected(f"at least {count} classes with a logit above -inf", possible=possible))
