"""What reads by index or finds positions, by methods of NumPy's arrays, which look at the indices themselves."""

from __future__ import annotations

from operator import getitem, methodcaller
from typing import Any

from ...dtypes import uint64
from ...protocol import Calm, Kernel, kernel_of, planned
from ...protocol.indexing import Mode
from ...protocol.planned import bare
from ...template import Template
from ..array_module.base import Array
from ..array_module.indexing import ArrayIndexing


class NumpyIndexing(ArrayIndexing):
    """What reads and writes by index."""

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """NumPy's own, but for masks without axes and for uint64, the greatest of which it takes for negative."""
        tensors = [kind for kind in structure if isinstance(kind, Template)]
        if any(kind.dtype is uint64 or (kind.dtype.kind == "bool" and not kind.shape) for kind in tensors):
            return None
        alone = len(tensors) == 1 and tensors[0].dtype.kind != "bool"
        if alone and structure[-1] is tensors[0] and structure.count(slice) == len(structure) - 1:
            # `take` looks at no index where nothing is to be taken.
            return _entries_along(len(structure) - 1) if x.ndim > 1 and x.size else getitem
        return getitem

    def positions(self, x: Template, /) -> Kernel | None:
        """NumPy's own."""
        return methodcaller("nonzero")

    def counts(self, x: Template, /) -> Kernel | None:
        """NumPy's own, which counts in int64."""
        if x.dtype is uint64:
            return None
        bincount = self.xp.bincount
        if len(x.shape) == 1:
            return lambda values, least: bincount(values, None, least)
        return lambda values, least: bincount(values.reshape(-1), None, least)

    @planned
    def gather(self, out: Template, x: Template, indices: Template, /, *, mode: Mode) -> Kernel:
        """NumPy's own for several axes, which takes negative indices for such from the end."""
        careful, depth = kernel_of(super().gather, out, x, indices, mode=mode), indices.shape[-1]
        if mode != "error" or depth < 2 or not x.size or not indices.size or indices.dtype is uint64:
            return careful
        least, rare = self.xp.minimum.reduce, bare(careful)

        def entries(values: Array, places: Array) -> Array:
            if least(places, None) >= 0:
                try:
                    return values[tuple([places[..., axis] for axis in range(depth)])]
                except IndexError:
                    pass  # so that no error below has this one as its context
            return rare(values, places)

        return Calm(entries)


def _entries_along(axis: int) -> Kernel:
    """The entries of whole slices at one index array: `take` needs a quarter of the time where they are few."""
    whole = (slice(None),) * axis

    def entries(values: Array, key: tuple[Any, ...]) -> Array:
        return values.take(key[axis], axis) if key[:axis] == whole else values[key]

    return entries
