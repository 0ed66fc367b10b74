"""Where elements are moved to: the positions of padded and of broadcast arrays, for backends over array libraries."""

from __future__ import annotations

from collections.abc import Sequence

from ..template import Shape


def pad_slices(sizes: Shape, padding: Sequence[tuple[int, int, int]]) -> tuple[Shape, list[slice], list[slice]]:
    """Compute where the elements of an array are in the padded array.

    Parameters
    ----------
    sizes : tuple of int
        The shape of the array.
    padding : sequence of triples of int
        For each axis the number of elements before, after, and between neighbouring elements. A negative number before
        or after cuts elements off.

    Returns
    -------
    shape : tuple of int
        The shape of the padded array.
    read : list of slice
        The part of the array that is not cut off.
    written : list of slice
        Where that part is in the padded array.

    Examples
    --------
    f32[2] padded by (1, 2, 1) is `p 0 p 1 p p`: element j moves to 1 + 2 * j.

    >>> from tensorbackend.extending import pad_slices
    >>> pad_slices((2,), [(1, 2, 1)])
    ((6,), [slice(0, 2, None)], [slice(1, 5, 2)])
    """
    shape, read, written = [], [], []
    for size, (low, high, interior) in zip(sizes, padding, strict=True):
        step = interior + 1
        length = low + max(0, size + (size - 1) * interior) + high
        # Element j moves to low + j * step: those from `first` up to `last` are in the result.
        first = max(0, -(low // step))
        last = max(first, min(size, -((low - length) // step)))
        start = low + first * step
        shape.append(length)
        read.append(slice(first, last))
        written.append(slice(start, start + (last - first) * step, step))
    return tuple(shape), read, written


def align_axes(sizes: Shape, axes: Sequence[int], ndim: int) -> tuple[tuple[int, ...], Shape]:
    """Compute the transpose and the shape with which an array broadcasts to one of more axes.

    Parameters
    ----------
    sizes : tuple of int
        The shape of the array.
    axes : sequence of int
        For each axis of the array, the axis of the result.
    ndim : int
        The number of axes of the result.

    Returns
    -------
    order : tuple of int
        The order in which the axes of the array are those of the result.
    shape : tuple of int
        The shape of the result, with size 1 where elements are repeated.

    Examples
    --------
    >>> from tensorbackend.extending import align_axes
    >>> align_axes((2, 3), (2, 0), 3)
    ((1, 0), (3, 1, 2))
    """
    shape = [1] * ndim
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return tuple(sorted(range(len(axes)), key=axes.__getitem__)), tuple(shape)
