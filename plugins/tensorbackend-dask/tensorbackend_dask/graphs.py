"""Builds payloads: Dask arrays with known dtype and chunks, so that Dask runs no function to infer them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, TypeAlias
from uuid import uuid4

from dask import blockwise as dask_blockwise
from dask._task_spec import Alias, DataNode, Task, TaskRef
from dask.blockwise import BlockwiseDep
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from tensorbackend import Template
from tensorbackend.dtypes import DType, as_dtype
from tensorbackend.extending import numpy_dtype

from .blocks import Array, Finished, Labels, WithoutLast, restored
from .chunks import Chunks, common, starts_of
from .library import da, np

Lazy: TypeAlias = Any
"""A `dask.array.Array`. Its attribute `known`, if present, holds all values as a NumPy array."""

IMMEDIATE_BYTES = 1 << 16
"""Ops on known data of at most this many bytes run now, because a task takes longer."""

LITERAL = 1 << 12
"""Known data of at most this many bytes are embedded in each task that needs them."""

TOGETHER = 1 << 26
"""Blocks are combined in groups of at most this many bytes, but at least two blocks."""


def named(op: str) -> str:
    """Returns a new name for a layer, which shows its op on a dashboard."""
    return f"{op.strip('_')}-{uuid4().hex}"


@lru_cache
def meta(dtype: DType, ndim: int) -> Array:
    """Returns the empty array that tells Dask the dtype and the number of axes."""
    return np.empty((0,) * ndim, numpy_dtype(dtype))


def array(name: str, layer: Any, dependencies: Sequence[Lazy], chunks: Chunks, dtype: DType) -> Lazy:
    """Returns the Dask array of a layer."""
    graph = HighLevelGraph.from_collections(name, layer, dependencies=dependencies)
    return da.Array(graph, name, chunks, meta=meta(dtype, len(chunks)))


# Known data


def known(values: Array, chunks: Chunks | None = None) -> Lazy:
    """Makes a payload of a NumPy array; the blocks are views of the array."""
    chunks = tuple((size,) for size in values.shape) if chunks is None else chunks
    name = named("known")
    tasks = {(name, *place): DataNode((name, *place), values[key]) for place, key in cuts(chunks)}
    payload = array(name, MaterializedLayer(tasks), (), chunks, as_dtype(values.dtype))
    payload.known = values
    return payload


def cuts(chunks: Chunks) -> Iterable[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """Yields the place of each block, and the slices that select it from the whole array."""
    starts = list(map(starts_of, chunks))
    for place in product(*(range(len(sizes)) for sizes in chunks)):
        key = tuple(slice(start[i], start[i] + sizes[i]) for i, start, sizes in zip(place, starts, chunks, strict=True))
        yield place, (*key, ...)


def value_of(x: Lazy) -> Array | None:
    """Returns all values of a payload as a NumPy array, or `None` if they are not known."""
    values: Array | None = x.__dict__.get("known")
    if values is None and (stage := x.__dict__.get("stage")) is not None and stage.value is not None:
        values = x.known = stage.value
    return values


def few(x: Lazy) -> Array | None:
    """Returns all values of a payload if they are known, few and in one block, otherwise `None`."""
    values = value_of(x)
    return values if values is not None and values.nbytes <= IMMEDIATE_BYTES and x.npartitions == 1 else None


# Blocks by labels


class Place(BlockwiseDep):
    """Passes the start and the shape of each block to a function of blocks."""

    produces_tasks = False

    def __init__(self, chunks: Chunks) -> None:
        self.chunks, self.numblocks = chunks, tuple(map(len, chunks))
        self.starts = list(map(starts_of, chunks))

    def __getitem__(self, place: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        starts = tuple([start[i] for i, start in zip(place, self.starts, strict=True)])
        return starts, tuple([sizes[i] for i, sizes in zip(place, self.chunks, strict=True)])

    def __dask_tokenize__(self) -> Any:
        return "tensorbackend_dask.Place", self.chunks


def layer(
    function: Callable[..., Any],
    name: str,
    labels: Labels,
    chunks: Chunks,
    dtype: DType,
    operands: Sequence[tuple[Any, Labels | None]],
) -> Lazy:
    """Returns a Dask array whose blocks are a function of blocks of other arrays, selected by labels.

    An operand is a pair: a Dask array or a `Place` with its labels, or a literal with `None`.
    """
    pairs: list[Any] = []
    numblocks: dict[str, tuple[int, ...]] = {}
    arrays = []
    met: set[int] = set()
    for operand, its in operands:
        if its is None:
            pairs += [operand, None]
            continue
        met.update(its)
        if isinstance(operand, BlockwiseDep):
            pairs += [operand, its]
            continue
        numblocks[operand.name] = operand.numblocks
        arrays.append(operand)
        pairs += [operand.name, its]
    new = {label: sizes for label, sizes in zip(labels, chunks, strict=True) if label not in met}
    if new:
        # Not as `new_axes`: where Dask fuses the layer with one that broadcasts the axis, these keep their one block.
        function, pairs = WithoutLast(function), [*pairs, Place(tuple(new.values())), tuple(new)]
    blockwise_layer = dask_blockwise.blockwise(function, name, labels, *pairs, numblocks=numblocks)
    return array(name, blockwise_layer, arrays, chunks, dtype)


def aligned(operands: Sequence[Lazy], labels: Sequence[Labels], whole: Iterable[int] = ()) -> list[Lazy]:
    """Rechunks operands so that axes with the same label have the same blocks; axes of size 1 are unchanged.

    An axis whose label is in `whole` is merged into one block.
    """
    sizes: dict[int, list[tuple[int, ...]]] = {}
    for x, its in zip(operands, labels, strict=True):
        for label, blocks, size in zip(its, x.chunks, x.shape, strict=True):
            if size != 1:
                sizes.setdefault(label, []).append(blocks)
    common_blocks = {label: common(candidates) for label, candidates in sizes.items()}
    for label in whole:
        if label in common_blocks:
            common_blocks[label] = (sum(common_blocks[label]),)
    return [
        rechunked(x, tuple(blocks if size == 1 else common_blocks[label]
                           for label, blocks, size in zip(its, x.chunks, x.shape, strict=True)))
        for x, its in zip(operands, labels, strict=True)
    ]  # fmt: skip


def rechunked(x: Lazy, chunks: Chunks) -> Lazy:
    """Returns a Dask array with these chunks."""
    if x.chunks == chunks:
        return x
    values = value_of(x)
    if values is not None:
        return known(values, chunks)
    if not prod(x.shape):
        return known(np.empty(x.shape, x.dtype), chunks)
    return x.rechunk(chunks)


def by_labels(
    op: str,
    out: Template | Sequence[Template],
    inputs: Sequence[tuple[Lazy, DType, Labels]],
    outputs: Sequence[Labels],
    *,
    whole: Iterable[int] = (),
    more: Labels = (),
    options: Mapping[str, Any] = {},
) -> Any:
    """Applies a callback of NumpyBackend to each block.

    Returns a Dask array, or a tuple of them if `out` is a sequence of templates. Axes with a label in `whole` are
    merged into one block. Axes with a label in `more` are appended to the single result, with one entry for each block
    along them, so that the caller can combine the blocks.
    """
    outs = (out,) if isinstance(out, Template) else tuple(out)
    whole = set(whole)
    operands = aligned([x for x, _, _ in inputs], [its for _, _, its in inputs], whole)
    blocks: dict[int, tuple[int, ...]] = {}
    for x, (_, _, its) in zip(operands, inputs, strict=True):
        for label, sizes, size in zip(its, x.chunks, x.shape, strict=True):
            if size != 1 or label not in blocks:
                blocks[label] = sizes
    fixed = {}
    for template, its in zip(outs, outputs, strict=True):
        for label, size in zip(its, template.shape, strict=True):
            if label in whole or label not in blocks:
                fixed[label], blocks[label] = size, (size,)
    function = restored(
        op,
        tuple((its, str(dtype)) for _, dtype, its in inputs),
        tuple((its, str(template.dtype)) for template, its in zip(outs, outputs, strict=True)),
        tuple(sorted(fixed.items())),
        tuple(sorted(options.items())),
        not isinstance(out, Template),
        len(more),
    )
    labelled_operands = [_literally(x, its, blocks) for x, (_, _, its) in zip(operands, inputs, strict=True)]
    labels = (*outputs[0], *more)
    chunks = (*(blocks[label] for label in outputs[0]), *((1,) * len(blocks[label]) for label in more))
    if isinstance(out, Template):
        return layer(function, named(op), labels, chunks, out.dtype, labelled_operands)
    rows = tuple(dict.fromkeys(label for its in outputs for label in its if len(blocks[label]) > 1))
    both = layer(function, named(op), rows, tuple(blocks[label] for label in rows), outs[0].dtype, labelled_operands)
    return parts(both, rows, outs, outputs, blocks)


def parts(
    both: Lazy, rows: Labels, outs: Sequence[Template], outputs: Sequence[Labels], blocks: Mapping[int, tuple[int, ...]]
) -> tuple[Lazy, ...]:
    """Returns a Dask array for each of the results that the tasks of `both` return together."""
    arrays = []
    for number, (out, its) in enumerate(zip(outs, outputs, strict=True)):
        name = named("part")
        tasks = {}
        for place in product(*(range(len(blocks[label])) for label in its)):
            at = dict(zip(its, place, strict=True))
            source = (both.name, *(at.get(label, 0) for label in rows))
            tasks[(name, *place)] = Task((name, *place), _item, TaskRef(source), number)
        part_layer = MaterializedLayer(tasks)
        arrays.append(array(name, part_layer, [both], tuple(blocks[label] for label in its), out.dtype))
    return tuple(arrays)


def _item(results: Sequence[Array], number: int) -> Array:
    return results[number]


def _literally(x: Lazy, its: Labels, blocks: Mapping[int, tuple[int, ...]]) -> tuple[Any, Labels | None]:
    """Returns an operand with its labels, or its values with `None` if they are known and small enough to be embedded
    in each task.
    """
    values = value_of(x)
    if values is None or values.nbytes > LITERAL or x.npartitions > 1:
        return x, its
    if any(size != 1 and len(blocks[label]) > 1 for label, size in zip(its, x.shape, strict=True)):
        return x, its
    return values, None


# Other graphs


def single(x: Lazy) -> Lazy:
    """Merges a Dask array into one block."""
    return rechunked(x, tuple((size,) for size in x.shape))


def put_together(grid: Mapping[tuple[int, ...], tuple[Any, ...]], sources: Sequence[Lazy], chunks: Chunks,
                 dtype: DType) -> Lazy:  # fmt: skip
    """Returns a Dask array of unchanged blocks of others; `grid` maps each place to the key of its block."""
    name = named("blocks")
    tasks = {(name, *place): Alias((name, *place), key) for place, key in grid.items()}
    return array(name, MaterializedLayer(tasks), sources, chunks, dtype)


class Stage(MaterializedLayer):
    """The last layer of a reduction, whose result is usually much smaller than its source.

    A computation that needs both the result and the source would keep the whole source in memory until the result is
    known. So if the source is large, the result is computed first, and the blocks of the source are computed again.
    """

    def __init__(self, tasks: Mapping[Any, Any], name: str, chunks: Chunks, dtype: DType, held: int) -> None:
        super().__init__(tasks)
        self.name, self.chunks, self.dtype, self.held = name, chunks, dtype, held
        self.value: Array | None = None

    @property
    def small(self) -> bool:
        """Whether the result is small enough to be part of a graph as data."""
        return prod(map(sum, self.chunks)) * self.dtype.itemsize <= EARLY_BYTES


EARLY_BYTES = 1 << 23
"""The result of a reduction may be computed before its other uses if it has at most this many bytes."""


def tree(
    op: str, partial: Lazy, kept: int, combine: Callable[..., Any], out: Template, *, added: tuple[int, ...], held: int
) -> Lazy:
    """Combines the blocks along all axes after the first `kept` axes, in order and in groups, until one block is left.

    `combine` takes any number of parts and returns one part. `added` lists the axes of size 1 that the result has and
    the parts lack. `held` is the number of bytes of the data from which the parts are computed.
    """
    chunks = list(partial.chunks[:kept])
    for axis in added:
        chunks.insert(axis, (1,))
    block = 2 * out.dtype.itemsize * prod(max(sizes) for sizes in chunks)
    group = max(2, min(16, TOGETHER // max(block, 1)))
    finish = Finished(combine, str(out.dtype), kept, added)
    name = named(op)
    tasks: dict[Any, Any] = {}
    inner = list(product(*map(range, partial.numblocks[kept:])))
    for rest in product(*map(range, partial.numblocks[:kept])):
        keys: list[Any] = [(partial.name, *rest, *place) for place in inner]
        level = 0
        while len(keys) > group:
            level += 1
            above = []
            for start in range(0, len(keys), group):
                key = (f"{name}-{level}", *rest, start)
                tasks[key] = Task(key, combine, *map(TaskRef, keys[start : start + group]))
                above.append(key)
            keys = above
        place = list(rest)
        for axis in added:
            place.insert(axis, 0)
        tasks[(name, *place)] = Task((name, *place), finish, *map(TaskRef, keys))
    stage = Stage(tasks, name, tuple(chunks), out.dtype, held)
    reduced = array(name, stage, [partial], tuple(chunks), out.dtype)
    if out.nbytes <= EARLY_BYTES:
        reduced.stage = stage
    return reduced
