"""Matrices that oracles of linear algebra draw: singular and regular ones, of all scales, in stacks, with names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import REAL_OF, DType, finfo, float32
from tensorbackend.protocol import Backend
from tensorbackend.testing.strategies import Draw

from .table import wide

SIDES = st.sampled_from([2, 3, 1, 2, 3, 5, 2, 3, 0])


FEWEST = st.sampled_from([1, 1, 1, 0])
"""The minimum size of axes: few tensors are empty."""


def eps(dtype: DType) -> float:
    """The distance from 1 to the next number of a dtype."""
    return finfo(REAL_OF.get(dtype, dtype)).eps


def steps(dtype: DType, count: float) -> float:
    """The rounding errors of some steps; float16 and bfloat16 are computed in float32, and their results rounded."""
    if dtype.name in ("float16", "bfloat16"):
        return count * eps(float32) + 4 * eps(dtype)
    return count * eps(dtype)


def placed(x: tb.Tensor, backend: Backend) -> tb.Tensor:
    """The tensor on a backend."""
    return tb.backend_copy(x, backend)


def names_for(draw: Draw, count: int) -> tuple[str | None, ...]:
    """Names of axes, or none, for batch axes and the two of the matrix."""
    names = (*(f"batch{axis}" for axis in range(count - 2)), "row", "column")[-count:]
    return draw(st.sampled_from([names, (None,) * count, (*names[:-1], None)]))


def tensor(draw: Draw, array: Any, dtype: DType) -> tb.Tensor:
    """The array as a tensor with names, on BinaryBackend."""
    names = names_for(draw, array.ndim) if array.ndim > 1 else (None,) * array.ndim
    return tb.asarray(numpy.asarray(array), dtype=dtype, names=names, backend="binary")


def numbers(draw: Draw, dtype: DType, rows: int, columns: int) -> Any:
    """A matrix of small whole numbers or eighths."""
    count = rows * columns * (2 if dtype.is_complex else 1)
    drawn = draw(st.lists(st.integers(0 if dtype.kind == "uint" else -3, 3), min_size=count, max_size=count))
    parts = numpy.array(drawn, float).reshape(-1, rows, columns) if count else numpy.zeros((2, rows, columns))
    if dtype.is_inexact and draw(st.booleans()):
        parts = parts / 8
    return parts[0] + 1j * parts[1] if dtype.is_complex else parts[0]


def matrix(draw: Draw, dtype: DType, rows: int, columns: int, *, regular: bool) -> Any:
    """A matrix of one of several kinds, far from singular if `regular`."""
    plain = numbers(draw, dtype, rows, columns)
    if regular:
        return plain + 16 * numpy.eye(rows, columns)[draw(st.permutations(range(rows)))] if rows else plain
    kind = draw(st.sampled_from(["plain", "plain", "low rank", "zeros", "alike", "dominant"]))
    if kind == "low rank" and min(rows, columns) > 1:
        return numbers(draw, dtype, rows, 1) @ numbers(draw, dtype, 1, columns)
    one: Any = numpy.eye(rows, columns)
    if kind == "zeros":
        return plain * (numpy.arange(columns) % 2 if draw(st.booleans()) else 0)
    if kind == "alike":
        shape = draw(st.sampled_from([one, one[::-1], one * 0 + 1]))
        return numpy.zeros_like(plain) + draw(st.integers(1, 3)) * shape
    return (
        plain + 12 * numpy.diag(numpy.arange(1, max(rows, columns) + 1))[:rows, :columns]
        if kind == "dominant"
        else plain
    )


def matrices(
    draw: Draw, dtype: DType, *, square: bool = False, regular: bool = False, scaled: bool = False
) -> tb.Tensor:
    """A stack of matrices, at any scale if `scaled`."""
    rows = draw(SIDES)
    columns = rows if square else draw(SIDES)
    batch = draw(st.sampled_from([(), (), (), (2,), (1, 2), (0,)]))
    drawn = [matrix(draw, dtype, rows, columns, regular=regular) for _ in range(math.prod(batch))]
    array = numpy.array(drawn).reshape(*batch, rows, columns)
    if scaled and dtype.is_inexact:
        array = array * scale(draw, dtype)
    return tensor(draw, array, dtype)


def scale(draw: Draw, dtype: DType) -> float:
    """A power of two, whose square is out of the range of the dtype in some draws."""
    far = {"float16": 4, "float32": 100, "bfloat16": 100, "complex64": 100}.get(dtype.name, 800)
    return 2.0 ** draw(st.sampled_from([0, 0, 0, far // 4, -(far // 4), far, -far]))


def batched(array: Any) -> Any:
    """The array as one stack of matrices."""
    return array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def spoilt(draw: Draw, x: tb.Tensor) -> tuple[tb.Tensor, Any]:
    """The tensor, seldom with NaN or infinity in one of its matrices, and which of them are finite."""
    array = wide(x)
    if array.size and x.dtype.is_inexact and draw(st.integers(0, 7)) == 0:
        places = draw(st.integers(0, array.size - 1))
        array.reshape(-1)[places] = draw(st.sampled_from([math.nan, math.inf, -math.inf]))
        x = tb.asarray(array, dtype=x.dtype, names=x.names, backend="binary")
    return x, numpy.isfinite(array).all(axis=(-2, -1))


def close(got: tb.Tensor, want: Any, allowed: Any, what: str) -> None:
    """Assert that a result has a shape, and elements within an error of those wanted, or equal infinities and NaN."""
    assert got.shape == want.shape, f"{what}: expected the shape {want.shape}, got {got.template}"
    near(
        wide(got),
        want,
        allowed,
        what,
        largest=finfo(REAL_OF.get(got.dtype, got.dtype)).max if got.dtype.is_inexact else 0,
    )


def near(result: Any, want: Any, allowed: Any, what: str, *, largest: float = 0) -> None:
    """Assert that elements are within an error of those wanted; larger ones than `largest` may be infinite."""
    with numpy.errstate(all="ignore"):
        fine = (abs(result - want) <= allowed) | (result == want) | (numpy.isnan(result) & numpy.isnan(want))
        if largest:
            fine |= ~numpy.isfinite(result) & (abs(want) + allowed >= largest)
    assert numpy.all(fine), f"{what}: expected {want!r} within {allowed!r}, got {result!r}"


def pairs(x: tb.Tensor, *results: tb.Tensor) -> Iterator[tuple[Any, ...]]:
    """The matrices of a stack, each with its parts of the results; a vector of each matrix as a column."""
    count = math.prod(x.shape[:-2])
    arrays = [wide(each).reshape(count, *each.shape[x.ndim - 2 :]) for each in (x, *results)]
    yield from zip(*arrays, strict=True)
