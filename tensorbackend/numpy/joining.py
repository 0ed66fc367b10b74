"""Arrays joined to one, and one split into parts, which are views."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy

import tensorbackend as tb

from ..dtypes import DType
from ..errors import ArgumentError, ShapeError
from ..tensor import Tensor
from .arrays import fresh, ndarray
from .conversion import asarray, cast, promote
from .dtypes import check_cast
from .functions import Array, Arrays, Dtype, Out, function, public
from .shapes import atleast_1d, atleast_2d, atleast_3d, axis_position, moveaxis, reshaped_view


@function
def concatenate(
    arrays: Arrays, /, axis: Any = 0, out: Out = None, *, dtype: Dtype = None, casting: str = "same_kind"
) -> Array:
    """Arrays joined along an axis that they have."""
    if not arrays:
        raise ArgumentError("need at least one array to concatenate")
    if any(not part.ndim for part in arrays) and axis is not None:
        raise ShapeError("zero-dimensional arrays cannot be concatenated")
    if axis is None:
        arrays, axis = [tb.reshape(part, (-1,)) for part in arrays], 0
    return fresh(tb.concatenate(_in_common(arrays, dtype, casting), axis=axis))


def _in_common(arrays: list[Tensor], dtype: DType | None, casting: str) -> list[Tensor]:
    """Arrays in a dtype, by default the common one, if NumPy's rule of casting allows it."""
    if dtype is None:
        return promote(arrays)
    for part in arrays:
        check_cast(part.dtype, dtype, casting)
    return [cast(part, dtype) for part in arrays]


@function
def stack(arrays: Arrays, axis: int = 0, out: Out = None, *, dtype: Dtype = None, casting: str = "same_kind") -> Array:
    """Arrays of one shape joined along a new axis."""
    if not arrays:
        raise ArgumentError("need at least one array to stack")
    if len({part.shape for part in arrays}) > 1:
        raise ShapeError("all input arrays must have the same shape")
    parts = _in_common(arrays, dtype, casting)
    return tb.stack(parts, axis=axis_position(axis, parts[0].ndim + 1))


def _several(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


@public
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays joined along the second axis, those of one axis along it."""
    parts = _several(atleast_1d(*_sequence(tup)))
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@public
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays joined along the first axis, those of one axis as rows."""
    return concatenate(_several(atleast_2d(*_sequence(tup))), 0, dtype=dtype, casting=casting)


@public
def dstack(tup: Any) -> Any:
    """Arrays joined along the third axis."""
    return concatenate(_several(atleast_3d(*_sequence(tup))), 2)


@public
def column_stack(tup: Any) -> Any:
    """Arrays joined along the second axis, those of one axis as columns."""
    return concatenate([x if x.ndim > 1 else reshaped_view(x, (-1, 1)) for x in map(asarray, _sequence(tup))], 1)


def _sequence(tup: Any) -> Any:
    if not isinstance(tup, Sequence) and tup.__class__ is not ndarray and not isinstance(tup, numpy.ndarray):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return tup


@public
def block(arrays: Any) -> Any:
    """An array from nested lists of blocks."""

    def depth(nested: Any) -> int:
        return 1 + max(map(depth, nested)) if isinstance(nested, list) and nested else 0

    def join(nested: Any, level: int, ndim: int) -> Any:
        if level == 0:
            x = asarray(nested)
            return reshaped_view(x, (1,) * (ndim - x.ndim) + x.shape)
        return concatenate([join(part, level - 1, ndim) for part in nested], axis=-level)

    def most(nested: Any) -> int:
        return max(map(most, nested)) if isinstance(nested, list) else asarray(nested).ndim

    levels = depth(arrays)
    made = join(arrays, levels, max(levels, most(arrays)))
    return made.copy() if levels == 0 else made


@public
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """An array joined with more elements."""
    return concatenate((asarray(arr), asarray(values)), axis)


@public
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Parts of an array along an axis, of sizes that may differ by one: views."""
    x = asarray(ary)
    length = x.shape[axis]
    try:
        cuts = [0, *map(int, indices_or_sections), length]
    except TypeError:
        count = operator.index(indices_or_sections)
        if count <= 0:
            raise ArgumentError("number sections must be larger than 0.") from None
        each, extra = divmod(length, count)
        cuts = [0]
        for number in range(count):
            cuts.append(cuts[-1] + each + (number < extra))
    axis = axis_position(axis, x.ndim)
    return [x[(*(slice(None),) * axis, slice(start, stop))] for start, stop in pairwise(cuts)]


@public
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Parts of an array along an axis: views."""
    try:
        len(indices_or_sections)
    except TypeError:
        if asarray(ary).shape[axis] % operator.index(indices_or_sections):
            raise ArgumentError("array split does not result in an equal division") from None
    return array_split(ary, indices_or_sections, axis)


@public
def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the second axis, or along the only one: views."""
    x = asarray(ary)
    if not x.ndim:
        raise ArgumentError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


@public
def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the first axis: views."""
    if asarray(ary).ndim < 2:
        raise ArgumentError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@public
def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the third axis: views."""
    if asarray(ary).ndim < 3:
        raise ArgumentError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@public
def unstack(x: Any, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """The entries along an axis: views."""
    array = asarray(x)
    if not array.ndim:
        raise ShapeError("Input array must be at least 1-d.")
    return tuple(moveaxis(array, axis, 0))
