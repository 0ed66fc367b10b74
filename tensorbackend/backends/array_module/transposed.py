"""Transposed convolution: each element of a dilated image times the kernel, added where it belongs.

The zeros between the elements of a dilated image need not be multiplied. One product gives what each element adds
through each tap of the kernel. With a dilation of D, tap q * D + r of element i belongs to place (i + q) * D + r of the
result. So all taps with one q are added at once to the places in D phases, each of which is contiguous; at the end the
phases are interleaved.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

from ...protocol.convolution import Correlation
from ...protocol.window import Sizes
from ...template import Template
from .base import Array


class Run(NamedTuple):
    """Taps along one axis that are added at once."""

    taps: slice
    phases: slice
    shift: int
    """The number of elements of the image by which they lie further on."""


class Spread(NamedTuple):
    """How the taps of a kernel are spread; each field has one entry for each spatial axis."""

    size: Sizes
    """The sizes of the image."""
    window: Sizes
    apart: Sizes
    """The distance between the elements of the dilated image."""
    dilations: Sizes
    """The distance between the taps of the kernel."""
    lows: tuple[int, ...]
    places: Sizes

    @property
    def columns(self) -> Sizes:
        """The number of places of each phase."""
        rows = zip(self.size, self.window, self.apart, self.dilations, strict=True)
        return tuple(size + (taps - 1) * dilation // apart for size, taps, apart, dilation in rows)

    @property
    def sums(self) -> int:
        """The number of elements of the places in phases, for one feature of an image."""
        return prod(self.columns) * prod(self.apart)

    @property
    def products(self) -> int:
        """The number of products for one feature of an image."""
        return prod(self.size) * prod(self.window)

    def runs(self) -> Iterator[tuple[Run, ...]]:
        """All taps, in runs along each axis."""
        return product(*map(_runs, self.window, self.apart, self.dilations))


def spread_of(x: Template, places: Sizes, correlation: Correlation) -> Spread | None:
    """How a convolution of x is computed by parts; `None` for one that is not of a dilated image, or has strides."""
    windows, apart, _, _ = correlation
    if not any(step > 1 for step in apart) or any(stride != 1 for stride in windows.strides) or not prod(x.shape[2:]):
        return None
    lows = tuple(low for low, _ in windows.padding)
    return Spread(tuple(x.shape[2:]), windows.sizes, apart, windows.dilations, lows, tuple(places))


def _runs(taps: int, apart: int, dilation: int) -> list[Run]:
    if dilation == 1:
        starts = range(0, taps, apart)
        return [Run(slice(start, start + apart), slice(min(apart, taps - start)), start // apart) for start in starts]
    places = (divmod(tap * dilation, apart) for tap in range(taps))
    return [Run(slice(tap, tap + 1), slice(rest, rest + 1), whole) for tap, (whole, rest) in enumerate(places)]


def block_sizes(block: int, batch: int, groups: int, features: int, spread: Spread) -> tuple[int, int]:
    """The number of images that are worked on at once, and the number of their features."""
    each = groups * (spread.sums + spread.products)
    images = min(max(1, block // (features * each)), batch)
    return images, features if images > 1 else min(max(1, block // each), features)


def space(spread: Spread, block: int, batch: int, groups: int, features: int) -> int:
    """The elements of the products and sums of a block, or of the sums twice, while they are interleaved."""
    images, many = block_sizes(block, batch, groups, features, spread)
    return images * groups * many * max(spread.products + spread.sums, 2 * spread.sums)


def transposed(xp: Any, values: Array, weights: Array, spread: Spread, block: int, result: Array, cast: Any) -> Array:
    """Writes the convolution of images (batch, groups, channels, *spatial) that are dilated into the result.

    The kernel is (groups, features, channels, *window); the result is (batch, groups, features, places). `cast` takes
    sums to the dtype of the result.
    """
    (batch, groups, channels), features, ndim = values.shape[:3], weights.shape[1], len(spread.size)
    flipped = weights[(slice(None),) * 3 + (slice(None, None, -1),) * ndim]
    taps = xp.ascontiguousarray(xp.moveaxis(flipped, 2, -1))  # (groups, features, *window, channels)
    target = result.reshape((batch, groups, features, *spread.places))
    images, many = block_sizes(block, batch, groups, features, spread)
    for first in range(0, batch, images):
        columns = values[first : first + images].astype(weights.dtype, copy=False)
        columns = columns.reshape((*columns.shape[:3], -1))
        for feature in range(0, features, many):
            chosen = taps[:, feature : feature + many]
            rows = chosen.reshape((groups, -1, channels))
            shape = (*columns.shape[:2], chosen.shape[1], *spread.window, *spread.size)
            sums = _added(xp, xp.matmul(rows, columns).reshape(shape), spread)
            _interleave(xp, sums, target[first : first + images, :, feature : feature + many], spread, cast)
    return result


def _added(xp: Any, products: Array, spread: Spread) -> Array:
    """The sums (images, groups, features, *phases, *columns) of products (images, groups, features, *window, *size)."""
    sums = xp.zeros((*products.shape[:3], *spread.apart, *spread.columns), products.dtype)
    lead = (slice(None),) * 3
    for runs in spread.runs():
        phases = tuple(run.phases for run in runs)
        shifted = tuple(slice(run.shift, run.shift + size) for run, size in zip(runs, spread.size, strict=True))
        sums[(*lead, *phases, *shifted)] += products[(*lead, *(run.taps for run in runs))]
    return sums


def _interleave(xp: Any, sums: Array, target: Array, spread: Spread, cast: Any) -> None:
    """Writes the sums of all phases to their places; places that no element reaches are 0."""
    ndim, lead = len(spread.size), (slice(None),) * 3
    order = [axis for column in range(ndim) for axis in (3 + ndim + column, 3 + column)]
    lengths = [count * apart for count, apart in zip(spread.columns, spread.apart, strict=True)]
    whole = sums.transpose((0, 1, 2, *order)).reshape((*sums.shape[:3], *lengths))
    read, written = [], []
    rows = zip(spread.lows, spread.window, spread.dilations, lengths, spread.places, strict=True)
    for low, taps, dilation, length, places in rows:
        first = low - (taps - 1) * dilation  # the place of the first sum
        begin, end = min(max(first, 0), places), min(max(first + length, 0), places)
        read.append(slice(begin - first, end - first))
        written.append(slice(begin, end))
    if any((part.start, part.stop) != (0, places) for part, places in zip(written, spread.places, strict=True)):
        target[...] = 0
    if all(part.stop > part.start for part in written):
        target[(*lead, *written)] = cast(whole[(*lead, *read)])
