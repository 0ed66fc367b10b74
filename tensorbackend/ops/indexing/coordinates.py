"""Where a key of `x[...]` writes, as index vectors: by arithmetic, without a position for each element of x."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from types import EllipsisType, NoneType
from typing import NamedTuple

from ...errors import TensorBackendError
from ...protocol.planned import nameless
from ...rules.broadcasting import broadcast
from ...rules.indexing import getitem_template
from ...template import Shape, Template
from ...tensor import Tensor
from ..composite.shape.arranging import stack
from ..creation.filled import full, iota
from ..shape import broadcast_to, reshape
from .keys import Part, count_from_start
from .taking import check_constant

_CLASSES: dict[str, type] = {"int": int, "slice": slice, "new": NoneType, "fill": EllipsisType}


class Places(NamedTuple):
    """Where a key writes."""

    target: Template
    """The template of `x[key]`, to which a value must broadcast."""
    vectors: Tensor
    """Index vectors over x's leading axes, as `indexed_put` takes them; one outside its axis is not changed."""
    shape: Shape
    """The shape of the elements at the vectors: that of the target without new axes."""


def places(x: Tensor, parts: Sequence[Part]) -> Places | None:
    """Where a key without masks writes; `None` if its names or ints do not match x.

    Axes that are taken as a whole, after all others, need no index.
    """
    ints = all(-x.shape[part.axis] <= index(part.value) < x.shape[part.axis] for part in parts if part.kind == "int")
    if any(part.kind == "mask" for part in parts) or not ints:
        return None
    # The axes that are sliced, with their entries; those of the others are one block, where `keys` says.
    sliced = [
        (axis, _entries(part, x.shape[axis]))
        for part in parts
        if not part.chooses
        for axis in range(part.axis, part.axis + part.width)
    ]
    chosen = [number for number, part in enumerate(parts) if part.chooses]
    arrays = [part.value.template for part in parts if part.kind == "array"]
    block = max((array.ndim for array in arrays), default=0)
    together = bool(chosen) and chosen[-1] - chosen[0] + 1 == len(chosen)
    before = sum(axis < parts[chosen[0]].axis for axis, _ in sliced) if together else 0
    structure = tuple([part.value.template if part.kind == "array" else _CLASSES[part.kind] for part in parts])
    lengths = [len(_entries(part, x.shape[part.axis])) for part in parts if part.kind == "slice"]
    try:
        target = getitem_template(x.template, structure, lengths)
        spread, _ = broadcast(nameless(arrays)) if arrays else ((), ())
    except TensorBackendError:
        return None

    whole = {axis for axis, entries in sliced if entries == range(x.shape[axis])}
    depth = max((axis + 1 for axis in range(x.ndim) if axis not in whole), default=0)
    leading = [(axis, entries) for axis, entries in sliced if axis < depth]
    sizes = [len(entries) for _, entries in leading]
    shape = (*sizes[:before], *spread, *sizes[before:])
    coordinates = {}
    for number, (axis, entries) in enumerate(leading):
        along = iota(len(entries), backend=x.backend) * entries.step
        along = along + entries.start if entries.start else along
        coordinates[axis] = _append_axes(along, len(leading) - number - 1 + (block if number < before else 0))
    for part in parts:
        if part.kind == "int":
            coordinates[part.axis] = full((), index(part.value) % x.shape[part.axis], dtype="int64", backend=x.backend)
        elif part.kind == "array":
            check_constant("put_at", x, part.value, x.shape[part.axis])
            coordinates[part.axis] = _append_axes(
                count_from_start(part.value, x.shape[part.axis]), len(leading) - before
            )
    if not depth:
        vectors = iota(0, backend=x.backend)  # the one index vector without entries
    elif depth == 1 and coordinates[0].shape == shape:
        vectors = reshape(coordinates[0], (*shape, 1))
    else:
        vectors = stack([broadcast_to(coordinates[axis], shape) for axis in range(depth)], axis=len(shape))
    return Places(target, vectors, (*shape, *x.shape[depth:]))


def _entries(part: Part, size: int) -> range:
    """The entries of an axis that a slice takes, or all."""
    return range(*part.value.indices(size)) if part.kind == "slice" else range(size)


def _append_axes(value: Tensor, after: int) -> Tensor:
    """A tensor without names, with as many axes of size 1 after its own."""
    return reshape(value, (*value.shape, *(1,) * after), names=(None,) * (value.ndim + after))
