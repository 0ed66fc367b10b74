"""Products of two vectors with all shifts against each other, written with `conv`."""

from __future__ import annotations

from typing import Literal

from ...dispatch import composite
from ...errors import ShapeError, expected
from ...rules.accuracy import SUM
from ...rules.broadcasting import check_dtype, result_type
from ...rules.plan import choice
from ...template import merge_names
from ...tensor import Tensor
from ..convolution import conv
from ..elementwise.conversion import astype
from ..elementwise.unary import conj
from ..shape import flip, reshape
from .shape.arranging import as_vector

Overlap = Literal["full", "same", "valid"]


@composite.within(SUM)
def convolve(x1: Tensor, x2: Tensor, /, *, mode: Overlap = "full") -> Tensor:
    """The convolution of two vectors: entry n is the sum of x1[k] * x2[n - k].

    Parameters
    ----------
    x1 : Tensor
        A vector of at least one element.
    x2 : Tensor
        Another vector.
    mode : {"full", "same", "valid"}, default "full"
        Which entries: all, as many as the longer vector has about the middle, or those where the vectors overlap whole.

    Returns
    -------
    Tensor
        A vector, in the dtype to which x1 and x2 are promoted. Its axis has the name that it has in x1 or x2.

    Raises
    ------
    ShapeError
        For operands without elements or of more axes.

    Notes
    -----
    Beyond their ends the vectors are 0, so that an infinity or a NaN of the shorter one is NaN where it meets them, as
    in JAX and PyTorch, and other than in NumPy.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.convolve(tb.asarray([1, 2, 3]), tb.asarray([0, 1, 2])).tolist()
    [0, 1, 4, 7, 6]
    """
    names = merge_names(x1.template, x2.template)
    longer, shorter = _longer_first(x1, x2)
    return _products(longer, flip(shorter), mode).rename(*names)


@composite.within(SUM)
def correlate(x1: Tensor, x2: Tensor, /, *, mode: Overlap = "valid") -> Tensor:
    """The cross-correlation of two vectors: the sums of x1[n + k] * conj(x2[k]), for all shifts n.

    Parameters
    ----------
    x1 : Tensor
        A vector of at least one element.
    x2 : Tensor
        Another vector.
    mode : {"full", "same", "valid"}, default "valid"
        Which shifts: all, as many as the longer vector has about the middle, or those where the vectors overlap whole.

    Returns
    -------
    Tensor
        A vector, in the dtype to which x1 and x2 are promoted. Its axis has the name that it has in x1 or x2.

    Raises
    ------
    ShapeError
        For operands without elements or of more axes.

    Notes
    -----
    Beyond their ends the vectors are 0, so that an infinity or a NaN of the shorter one is NaN where it meets them, as
    in JAX and PyTorch, and other than in NumPy.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.correlate(tb.asarray([1, 2, 3]), tb.asarray([0, 1, 2]), mode="full").tolist()
    [2, 5, 8, 3, 0]
    """
    names = merge_names(x1.template, x2.template)
    x2 = conj(x2) if x2.dtype.is_complex else x2
    longer, shorter = _longer_first(x1, x2)
    products = _products(longer, shorter, mode)
    return (products if x2.shape[0] <= x1.shape[0] else flip(products)).rename(*names)


def _longer_first(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    """Two vectors with elements, the longer one first, in their common dtype."""
    dtype = check_dtype(result_type([x1.template, x2.template]), "numeric")
    remedy = "vmap() over the others, or write tb.conv(x[None, None], y[None, None])[0, 0] for grids"
    vectors = [astype(as_vector(x, "samples", remedy), dtype) for x in (x1, x2)]
    if 0 in (x1.shape[0], x2.shape[0]):
        raise ShapeError(expected("vectors with elements", x1=x1.template, x2=x2.template))
    first, second = vectors
    return (second, first) if second.shape[0] > first.shape[0] else (first, second)


def _products(longer: Tensor, shorter: Tensor, mode: Overlap) -> Tensor:
    """The sums of longer[n + k] * shorter[k]."""
    length, count = longer.shape[0], shorter.shape[0]
    word = choice(("full", "same", "valid"), mode=mode)
    low, high = {"full": (count - 1, count - 1), "same": (count // 2, (count - 1) // 2), "valid": (0, 0)}[word]
    kernel = reshape(shorter, (1, 1, count))
    return reshape(conv(reshape(longer, (1, 1, length)), kernel, padding=((low, high),)), (-1,))
