"""Products of two vectors with all shifts against each other, written with `conv`."""

from __future__ import annotations

from typing import Literal

from ...dispatch import composite
from ...dtypes import float32, promote_types
from ...errors import ShapeError, expected
from ...rules.accuracy import SUM
from ...rules.broadcasting import check_dtype, result_type
from ...rules.plan import choice
from ...template import merge_names
from ...tensor import Tensor
from ..convolution import conv
from ..elementwise.basic import astype, conj
from ..indexing.slices import entries
from ..padding import pad
from ..reduction import sum
from ..shape import concatenate, flip, reshape
from .shape.arranging import as_vector

Overlap = Literal["full", "same", "valid"]

_MOST_KERNEL_ELEMENTS = 512
"""A kernel of more elements is divided into parts, as the products at the ends take the square of its size."""

_PARTS = 16
"""The number of parts into which a long kernel is divided: then the ends take an eighth of all products."""


@composite.within(SUM)
def convolve(x1: Tensor, x2: Tensor, /, *, mode: Overlap = "full") -> Tensor:
    """The convolution of two vectors: entry n is the sum of x1[k] * x2[n - k].

    Parameters
    ----------
    mode : {"full", "same", "valid"}, default "full"
        Which entries: all, as many as the longer vector has about the middle, or those where the vectors overlap whole.

    Notes
    -----
    Nothing is multiplied beyond the ends of the vectors: an infinity or a NaN affects the sums that it takes part in.

    Examples
    --------
    >>> tb.convolve(tb.asarray([1, 2, 3]), tb.asarray([0, 1, 2])).tolist()
    [0, 1, 4, 7, 6]
    """
    return sums_of_shifted(x1, x2, mode).rename(*merge_names(x1.template, x2.template))


def sums_of_shifted(x1: Tensor, x2: Tensor, mode: Overlap) -> Tensor:
    """The convolution without the name of its axis."""
    longer, shorter = sorted(_vectors(x1, x2), key=_length, reverse=True)
    low, high = overhang(mode, shorter.shape[0])
    return shifted_products(longer, flip(shorter), low, high)


@composite.within(SUM)
def correlate(x1: Tensor, x2: Tensor, /, *, mode: Overlap = "valid") -> Tensor:
    """The cross-correlation of two vectors: the sums of x1[n + k] * conj(x2[k]), for all shifts n.

    Beyond the ends of the vectors nothing is multiplied, as in `convolve`.

    Parameters
    ----------
    mode : {"full", "same", "valid"}, default "valid"
        Which shifts: all, as many as the longer vector has about the middle, or those where the vectors overlap whole.

    Examples
    --------
    >>> tb.correlate(tb.asarray([1, 2, 3]), tb.asarray([0, 1, 2]), mode="full").tolist()
    [2, 5, 8, 3, 0]
    """
    names = merge_names(x1.template, x2.template)
    first, second = _vectors(x1, conj(x2) if x2.dtype.is_complex else x2)
    if _length(second) <= _length(first):
        return convolve(first, flip(second), mode=mode).rename(*names)
    return flip(convolve(second, flip(first), mode=mode)).rename(*names)


def _length(x: Tensor) -> int:
    return x.shape[0]


def _vectors(x1: Tensor, x2: Tensor) -> list[Tensor]:
    """Two vectors with elements, in their common dtype and without names."""
    dtype = check_dtype(result_type([x1.template, x2.template]), "numeric")
    remedy = "vmap() over the others, or write tb.conv(x[None, None], y[None, None])[0, 0] for grids"
    vectors = [astype(as_vector(x, "samples", remedy), dtype) for x in (x1, x2)]
    if 0 in (x1.shape[0], x2.shape[0]):
        raise ShapeError(expected("vectors with elements", x1=x1.template, x2=x2.template))
    return vectors


def overhang(mode: Overlap, count: int) -> tuple[int, int]:
    """How many of `count` elements are beyond the start at the first shift, and beyond the end at the last."""
    word = choice(("full", "same", "valid"), mode=mode)
    return {"full": (count - 1, count - 1), "same": (count // 2, (count - 1) // 2), "valid": (0, 0)}[word]


def shifted_products(x: Tensor, kernel: Tensor, low: int, high: int) -> Tensor:
    """The sums of x[n - low + k] * kernel[k] for a kernel that is not longer than x, over all k for which x has that
    element. The first n leaves `low` elements of the kernel before x, the last one `high` behind it."""
    length, count = x.shape[0], kernel.shape[0]
    if not x.dtype.is_inexact or not (low or high):
        return _products(x, kernel, low, high)
    # Zeros around x would make infinities and NaN of the kernel NaN: the sums at the ends are made without padding.
    first, places = count - 1 - low, length + low + high - count + 1
    most = max(_MOST_KERNEL_ELEMENTS, -(-count // _PARTS))
    if count > most:
        total = None
        for start in range(0, count, most):
            size = min(most, count - start)
            sums = shifted_products(x, entries(kernel, 0, start, size), size - 1, size - 1)
            moved = pad(sums, [(count - start - size, start)])
            total = moved if total is None else total + moved
        assert total is not None
        return entries(total, 0, first, places)
    if length <= 2 * count or length * count <= _MOST_KERNEL_ELEMENTS:
        return entries(_sheared_sums(x, flip(kernel)), 0, first, places)
    edges = concatenate([entries(x, 0, 0, count - 1), entries(x, 0, length - count + 1, count - 1)])
    sums = _sheared_sums(edges, flip(kernel))
    whole = _products(x, kernel, 0, 0)
    return concatenate([entries(sums, 0, first, low), whole, entries(sums, 0, 2 * count - 2, high)])


def _sheared_sums(x: Tensor, factors: Tensor) -> Tensor:
    """The sums of factors[k] * x[n - k] for each n, over all k for which x has that element: each row of products is
    moved by one element more than the row before."""
    length, count = x.shape[0], factors.shape[0]
    work = promote_types(x.dtype, float32)
    rows = reshape(astype(factors, work), (count, 1)) * reshape(astype(x, work), (1, length))
    padded = reshape(pad(rows, [(0, 0), (0, count)]), (-1,))
    moved = reshape(entries(padded, 0, 0, count * (length + count - 1)), (count, length + count - 1))
    return astype(sum(moved, axis=0), x.dtype)


def _products(x: Tensor, kernel: Tensor, low: int, high: int) -> Tensor:
    """The sums of x[n + k] * kernel[k], for x with zeros around it."""
    kernels = reshape(kernel, (1, 1, kernel.shape[0]))
    return reshape(conv(reshape(x, (1, 1, x.shape[0])), kernels, padding=((low, high),)), (-1,))
