"""Reads by index and searches for positions, by methods of NumPy's arrays, which check the indices themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from operator import getitem, methodcaller
from typing import Any, Final, NamedTuple, cast

from ...declarations.op_specs import OPS
from ...dtypes import uint64
from ...expr.composite_programs import program_of
from ...interchange import numpy_dtype
from ...protocol import Kernel, kernel_of, planned
from ...protocol.callbacks import CompositeCall
from ...protocol.indexing import Mode, Write
from ...protocol.workspace import takes
from ...rules.indexing import is_mask
from ...template import Shape, Template
from ..array_module.base import Array, flagless_kernel
from ..array_module.indexing import ArrayIndexing, gathered_space, merged_space, order_keys
from ..array_module.precision import accumulator_dtype
from ..array_module.workspace_bytes import nbytes
from .writing import put_block_kernel, write, write_at_positions

POINTS: Final = 1 << 14
"""The number of points that are sampled together: their intermediate arrays stay in a second-level cache."""

LEAST_POINTS_AT_ONCE: Final = 1 << 8
"""The minimum number of points that are sampled together, for any number of channels: all steps must pay."""


_MOST_MASK_ELEMENTS: Final = 1 << 10
"""For masks of more elements than this, it is quicker to find the positions first and then read there."""


class _Blocks(NamedTuple):
    """How points are sampled: several examples at a time, or some of the points of one example."""

    space: Shape
    channels: Shape
    of_grid: int
    """The number of examples that the grid has; below, that of the coordinates. Either may be 1, for all examples."""
    of_points: int
    examples: int
    points: int
    """The number of points of each example."""
    some_examples: int
    some_points: int


def _blocks(out: Template, grid: Template, coordinates: Template, axes: tuple[int, ...]) -> _Blocks:
    first = min(axes)
    channels = tuple(grid.shape[axis] for axis in range(first, grid.ndim) if axis not in axes)
    examples, points = prod(out.shape[:first]), prod(coordinates.shape[first:-1])
    most = max(POINTS // max(prod(channels), 1), LEAST_POINTS_AT_ONCE)
    return _Blocks(
        tuple(grid.shape[axis] for axis in axes),
        channels,
        prod(grid.shape[:first]),
        prod(coordinates.shape[:first]),
        examples,
        points,
        min(max(most // max(points, 1), 1), examples),
        min(points, most),
    )


def _sampling_space(
    out: Template, grid: Template, coordinates: Template, /, *, axes: tuple[int, ...], order: int, **_: Any
) -> int:
    """The bytes of the entries in order, and of positions, weights and entries of each point's corners in a block."""
    blocks = _blocks(out, grid, coordinates, axes)
    count, element = len(axes), max(out.dtype.bits // 8, 4) * max(prod(blocks.channels), 1)
    corners = 1 << count - 1 if order < 3 else 1 << 2 * count
    a_point = 8 + 24 * count + (count + 1 + corners) * element  # as measured
    return (0 if axes == tuple(sorted(axes)) else grid.nbytes) + a_point * blocks.some_examples * blocks.some_points


def _indexed_max_space(out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> int:
    """The bytes of positions, and of updates and results as integers that have the order of the numbers."""
    width = prod(x.shape[indices.shape[-1] :])
    count = prod(indices.shape[:-1]) * width
    positions = merged_space(indices, mode).kept + (8 * count if width != 1 else 0)
    return positions + 2 * nbytes(count, out.dtype) + 2 * out.nbytes


def _reads_by_own_indexing(x: Template, indices: Template, mode: Mode) -> bool:
    """Whether NumPy's own indexing reads at index vectors: along several axes, in the mode that raises an error."""
    return bool(mode == "error" and indices.shape[-1] > 1 and x.size and indices.size and indices.dtype is not uint64)


class NumpyIndexing(ArrayIndexing):
    """Callbacks that read and write by index."""

    def indexing(self, x: Template, structure: tuple[Any, ...], /) -> Kernel | None:
        """NumPy's indexing, except for masks without axes and for uint64: NumPy takes its largest for negative."""
        tensors = [kind for kind in structure if isinstance(kind, Template)]
        masks = [place for place, kind in enumerate(structure) if is_mask(kind)]
        if any(kind.dtype is uint64 for kind in tensors) or not all(structure[place].shape for place in masks):
            return None
        if any(structure[place].size > _MOST_MASK_ELEMENTS for place in masks):
            return _mask_kernel(masks)
        alone = len(tensors) == 1 and not masks
        if alone and structure[-1] is tensors[0] and structure.count(slice) == len(structure) - 1:
            # `take` checks no index where x has no elements.
            return _entries_along(len(structure) - 1) if x.ndim > 1 and x.size else getitem
        return getitem

    def assignment(self, x: Template, structure: tuple[Any, ...], value: Template | type, /) -> Write | None:
        """NumPy's assignment, which checks a key before it writes; not for the keys that `indexing` leaves out."""
        return write(x, structure, value)

    def overwriting(self, name: str, out: Any, inputs: Sequence[Any], options: Mapping[str, Any], /) -> Kernel | None:
        """Kernels of `put_slice`, `indexed_put` and `indexed_add` that take the time of the update, whatever x is."""
        if name == "put_slice":
            return put_block_kernel(inputs[1], options["starts"])
        if name not in ("indexed_put", "indexed_add") or inputs[0].dtype is not out.dtype:
            return None
        x, indices, updates = inputs
        depth = indices.shape[-1]
        written, table = self._writes(x, indices, options["mode"]), (prod(x.shape[:depth]), *x.shape[depth:])
        if name == "indexed_put":
            return write_at_positions(written, self.put_at, table)
        # Of several updates the sum is rounded once, from a wider dtype; and rows are quicker added as elements.
        simple = updates.dtype is accumulator_dtype(out.dtype, prod(indices.shape[:-1])) is out.dtype
        return write_at_positions(written, self.add_at, (x.size,)) if simple and prod(table[1:]) == 1 else None

    def positions(self, x: Template, /) -> Kernel | None:
        """NumPy's `nonzero`."""
        return methodcaller("nonzero")

    def counts(self, x: Template, /) -> Kernel | None:
        """NumPy's `bincount`, which counts in int64 and does not take uint64."""
        if x.dtype is uint64:
            return None
        bincount = self.xp.bincount
        if len(x.shape) == 1:
            return lambda values, least: bincount(values, None, least)
        return lambda values, least: bincount(values.reshape(-1), None, least)

    @takes(
        lambda out, x, indices, *, mode: (
            0 if _reads_by_own_indexing(x, indices, mode) else gathered_space(out, x, indices, mode=mode)
        )
    )
    @planned
    def gather(self, out: Template, x: Template, indices: Template, /, *, mode: Mode) -> Kernel:
        """NumPy's own indexing for several axes, unless an index is negative, which NumPy would count from the end."""
        careful, depth = kernel_of(super().gather, out, x, indices, mode=mode), indices.shape[-1]
        if not _reads_by_own_indexing(x, indices, mode):
            return careful

        def entries(values: Array, places: Array) -> Array:
            if places.item(places.argmin()) >= 0:  # quicker than a reduction
                try:
                    return values[tuple([places[..., axis] for axis in range(depth)])]
                except IndexError:
                    pass  # so that no error below has this one as its context
            return careful(values, places)

        return entries

    @planned
    def repeat(self, out: Template, x: Template, /, *, repeats: int, axis: int) -> Kernel:
        """NumPy's `repeat`."""
        return flagless_kernel(lambda values: values.repeat(repeats, axis))

    def largest_index(self, indices: Array) -> int:
        """The largest of some unsigned integers, which `argmax` finds in half the time of a reduction."""
        return cast(int, indices.item(indices.argmax()))

    @takes(_sampling_space)
    @planned
    def grid_sample(
        self, out: Template, grid: Template, coordinates: Template, /, *, axes: tuple[int, ...],
        boundary: tuple[Any, ...], order: int,
    ) -> Kernel:  # fmt: skip
        """The default on blocks of points, so that the intermediate arrays of its many steps stay in a cache."""
        xp, dtype, shape = self.xp, numpy_dtype(out.dtype), out.shape
        space, channels, of_grid, of_points, examples, points, several, many = _blocks(out, grid, coordinates, axes)
        if not out.size:
            return lambda values, places: xp.empty(shape, dtype)
        first, leading = min(axes), shape[: min(axes)]
        behind = tuple(axis for axis in range(first, grid.ndim) if axis not in axes)
        turned = (*range(first), *axes, *behind)
        # Where only some leading axes have size 1, these are repeated, so that all examples are along one axis.
        spread_grid, spread_points = (count not in (1, examples) for count in (of_grid, of_points))
        of_grid, of_points = (count if count == 1 else examples for count in (of_grid, of_points))
        inputs = (
            Template((min(several, of_grid), *space, *channels), grid.dtype),
            Template((min(several, of_points), many, len(axes)), coordinates.dtype),
        )
        part = program_of(
            cast(Any, self),
            lambda _, inputs, options: OPS["grid_sample"].function(*inputs, **options),
            CompositeCall(
                Template((several, many, *channels), out.dtype),
                cast(Any, inputs),
                {"axes": tuple(range(1, 1 + len(axes))), "boundary": boundary, "order": order},
            ),
        )
        assert part is not None  # the default reads no data

        def sample(values: Array, places: Array) -> Array:
            if spread_grid:
                values = xp.broadcast_to(values, leading + values.shape[first:])
            if spread_points:
                places = xp.broadcast_to(places, leading + places.shape[first:])
            values = values.transpose(turned).reshape(of_grid, *space, *channels)
            places = places.reshape(of_points, points, len(axes))
            result = xp.empty((examples, points, *channels), dtype)
            for start in range(0, examples, several):
                example = min(start, examples - several)  # the last block may overlap the one before
                of_these = slice(example, example + several)
                grids = values if of_grid == 1 else values[of_these]
                coordinates = places if of_points == 1 else places[of_these]
                for begin in range(0, points, many):
                    point = min(begin, points - many)
                    these = slice(point, point + many)
                    result[of_these, these] = part(grids, coordinates[:, these])
            return result.reshape(shape)

        return sample

    @takes(_indexed_max_space)
    @planned
    def indexed_max(self, out: Template, x: Template, indices: Template, updates: Template, /, *, mode: Mode) -> Kernel:
        """Finds the maxima of integers that have the order of the numbers: `maximum.at` takes them one by one, without
        the sort of the default."""
        depth, xp, maximum = indices.shape[-1], self.xp, self.xp.maximum
        written, width = self._writes(x, indices, mode), prod(x.shape[depth:])
        updates_shape = indices.shape[:-1] + x.shape[depth:]
        of_x, of_updates = (self.caster(operand.dtype, out.dtype) for operand in (x, updates))
        ordered, numbers = order_keys(xp, out.dtype)

        def largest(values: Array, places: Array, others: Array) -> Array:
            positions, rows = written(places, xp.broadcast_to(of_updates(others), updates_shape))
            if width != 1:
                positions = (positions[:, None] * width + xp.arange(width)).reshape(-1)
            result = ordered(of_x(values)).reshape(-1)
            maximum.at(result, positions, ordered(rows).reshape(-1))
            return numbers(result).reshape(out.shape)

        return largest


def _mask_kernel(masks: list[int]) -> Kernel:
    """A kernel that reads the entries at keys with masks, by the positions where the masks are true."""

    def entries(values: Array, key: tuple[Any, ...]) -> Array:
        for place in reversed(masks):
            key = (*key[:place], *key[place].nonzero(), *key[place + 1 :])
        return values[key]

    return entries


def _entries_along(axis: int) -> Kernel:
    """A kernel for keys of whole slices and one index array: `take` needs a quarter of the time for few entries."""
    whole = (slice(None),) * axis

    def entries(values: Array, key: tuple[Any, ...]) -> Array:
        return values.take(key[axis], axis) if key[:axis] == whole else values[key]

    return entries
