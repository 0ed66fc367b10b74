"""Decides where tensors are cut into blocks: by rules for axis names, and by the maximum size of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

from tensorbackend import Template
from tensorbackend.errors import ArgumentError, expected

Chunks: TypeAlias = tuple[tuple[int, ...], ...]
"""The sizes of the blocks along each axis, as in Dask."""

Rules: TypeAlias = tuple[tuple[str, int | None], ...]
"""Pairs of an axis name and a block size; `None` keeps the axis whole."""


def rules_of(chunks: object) -> Rules:
    """Checks the rules that a user gave, and sorts them by name.

    >>> rules_of({"time": 1000, "feature": None})
    (('feature', None), ('time', 1000))
    """
    try:
        sizes_by_name: Mapping[Any, Any] = dict(chunks)  # type: ignore[call-overload] # pairs are accepted too
    except (TypeError, ValueError):
        remedy = 'such as {"time": 1000}'
        raise ArgumentError(expected("a mapping from axis names to block sizes", remedy, chunks=chunks)) from None
    for name, size in sizes_by_name.items():
        if not isinstance(name, str) or not name:
            raise ArgumentError(expected("the name of an axis", "name the axes that chunks are for", chunks=name))
        positive_or_none(f"chunks[{name!r}]", size)
    return tuple(sorted(sizes_by_name.items()))


def positive_or_none(what: str, size: object) -> None:
    """Raises `ArgumentError` unless a block size is a positive int or `None`."""
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise ArgumentError(expected("a block size of at least 1, or None to keep the axis whole", **{what: size}))


def bytes_of(what: str, size: object) -> int:
    """Returns a number of bytes; raises `ArgumentError` unless it is a positive int."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ArgumentError(expected("at least 1 byte", **{what: size}))
    return size


def cut(size: int, step: int) -> tuple[int, ...]:
    """Cuts an axis into blocks of size `step`; the last block may be smaller.

    >>> cut(5, 2), cut(0, 2)
    ((2, 2, 1), (0,))
    """
    whole, rest = divmod(size, max(step, 1))
    return (step,) * whole + ((rest,) if rest or not whole else ())


def chunks_of(out: Template, rules: Mapping[str, int | None], most: int) -> Chunks:
    """Returns the chunks of a tensor.

    Rules cut the axes that have one. The other axes are cut, beginning with the first, until a block has at most `most`
    bytes.

    >>> chunks_of(Template((4, 6), "f32", ("time", None)), {"time": 2}, 16)
    ((2, 2), (2, 2, 2))
    """
    steps = [
        size if rule is None else min(rule, size)
        for size, rule in zip(out.shape, (rules.get(name) if name else None for name in out.names), strict=True)
    ]
    free = [axis for axis, name in enumerate(out.names) if name is None or name not in rules]
    room = most // max(out.dtype.bits // 8, 1)
    for axis in free:
        count = 1
        for step in steps:
            count *= max(step, 1)
        if count <= room:
            break
        steps[axis] = max(1, room * max(steps[axis], 1) // count)
    return tuple(map(cut, out.shape, steps))


def common(chunks: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Returns the coarsest common refinement of the blocks of several tensors along one axis.

    >>> common([(2, 2), (3, 1)])
    (2, 1, 1)
    """
    first, *others = chunks
    if all(sizes == first for sizes in others):
        return first
    ends = sorted({end for sizes in chunks for end in accumulate(sizes)})
    return tuple(end - start for start, end in zip([0, *ends], ends, strict=False) if end > start)


def starts_of(sizes: Sequence[int]) -> list[int]:
    """Returns the index at which each block begins.

    >>> starts_of((2, 2, 1))
    [0, 2, 4]
    """
    return [0, *accumulate(sizes)][: len(sizes)]
