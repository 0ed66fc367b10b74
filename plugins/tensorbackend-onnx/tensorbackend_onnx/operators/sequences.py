"""Sequences, which are lists of tensors, and optional values."""

from __future__ import annotations

from itertools import accumulate

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import bool_
from tensorbackend.errors import expected

from ..errors import ModelError
from .registry import Int, Known, Reading, Value, operator, read, rows
from .shape import host

Sequence = list[Value]


rows(
    {
        "ConcatFromSequence": lambda xs, *, axis, new_axis=0: (tb.stack if new_axis else tb.concat)(xs, axis=axis),
        "Optional": lambda x=None, *, type=None: (x,),
        "OptionalHasElement": lambda x=None: host(x is not None, bool_),
        "SequenceConstruct": lambda *xs: (list(xs),),
        "SequenceEmpty": lambda *, dtype=1: ([],),
        "SequenceLength": lambda xs: host(len(xs)),
    }
)
"""A sequence is in a tuple, as a list of results would be taken for several ones."""


@operator("SequenceInsert")
def sequence_insert(xs: Sequence, x: Tensor, position: Int | None = None) -> tuple[Sequence]:
    """A sequence with one tensor more, by default at the end."""
    place = len(xs) if position is None else position
    if not -len(xs) <= place <= len(xs):
        raise ModelError(expected(f"a position within a sequence of {len(xs)}", position=place))
    place = place + len(xs) if place < 0 else place
    return ([*xs[:place], x, *xs[place:]],)


@operator("SequenceErase")
def sequence_erase(xs: Sequence, position: Int | None = None) -> tuple[Sequence]:
    """A sequence without one of its tensors, by default the last."""
    place = range(len(xs))[-1 if position is None else position]
    return ([*xs[:place], *xs[place + 1 :]],)


@operator("SequenceAt")
def sequence_at(xs: Sequence, position: Int) -> Value:
    """One tensor of a sequence."""
    return xs[position]


@operator("SplitToSequence")
def split_to_sequence(x: Tensor, split: Known | None = None, *, axis: int = 0, keepdims: int = 1) -> tuple[Sequence]:
    """Parts along an axis: of given sizes, of one size but for a smaller last, or of size 1."""
    size = x.shape[axis]
    if split is None:
        sizes = [1] * size
    elif split.ndim == 0:
        each = read(split, Reading.INT)
        sizes = [min(each, size - start) for start in range(0, size, each)]
    else:
        sizes = split.tolist()
    parts = [*tb.split(x, [*accumulate(sizes[:-1])], axis=axis)]
    if split is None and not keepdims:
        parts = [tb.squeeze(part, axis=axis) for part in parts]
    return (parts,)


@operator("OptionalGetElement")
def optional_get_element(x: Value) -> tuple[Value]:
    """The value, which must be there."""
    if x is None:
        raise ModelError(expected("a value in the optional", got=None))
    return (x,)
