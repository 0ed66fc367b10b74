"""Templates of contractions."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from ..annotations import Axis
from ..errors import ArgumentError, AxisError, ShapeError, expected
from ..template import Names, Template, check_meeting, check_unique, intern_template, merge_names
from .axes import normalize_axes
from .broadcasting import broadcast_two, check_dtype, result_type
from .plan import Plan
from .shape import template_of_axes

Pairs: TypeAlias = str | AbstractSet[str] | tuple[Sequence[Axis], Sequence[Axis]]
"""Axes of two operands that are paired: a name or a set of names that both have, or the axes of each operand."""


def contraction(x1: Template, x2: Template, contract: Pairs, batch: Pairs | None) -> Plan:
    """The plan of a dot: batch axes, then the free axes of x1, then those of x2, each with its name.

    For f32[b: 2][n: 3][k: 4] and f32[b: 2][k: 4][m: 5], contracting k and batching b, it is f32[b: 2][n: 3][m: 5].
    Raises `ShapeError` for paired axes of different sizes, `NamesError` for a name that would occur twice.
    """
    dtype = check_dtype(result_type([x1, x2]), "numeric")
    contract1, contract2 = _pair_axes(x1, x2, contract)
    if batch is None:
        named = isinstance(contract, str | AbstractSet)
        left = [name for axis, name in enumerate(x1.names) if axis not in contract1] if named else []
        batch = {name for name in left if name is not None and name in x2.names}
    batch1, batch2 = _pair_axes(x1, x2, batch)
    for first, second in ((contract1, contract2), (batch1, batch2)):
        sizes1, sizes2 = [x1.shape[axis] for axis in first], [x2.shape[axis] for axis in second]
        if sizes1 != sizes2:
            raise ShapeError(expected("paired axes of the same sizes", left=x1, right=x2, axes=(first, second)))
    for contracted, batched in ((contract1, batch1), (contract2, batch2)):
        if set(contracted) & set(batched):
            raise ShapeError(
                expected("axes that are contracted or batched, not both", contract=contracted, batch=batched)
            )
    part1, part2 = template_of_axes(x1, batch1), template_of_axes(x2, batch2)
    merged = intern_template(part1.shape, dtype, merge_names(part1, part2, (x1, x2)))
    free1 = template_of_axes(x1, tuple(axis for axis in range(x1.ndim) if axis not in contract1 + batch1))
    free2 = template_of_axes(x2, tuple(axis for axis in range(x2.ndim) if axis not in contract2 + batch2))
    shape = merged.shape + free1.shape + free2.shape
    names = check_unique(merged.names + free1.names + free2.names, "y")
    options = {"contract1": contract1, "batch1": batch1, "contract2": contract2, "batch2": batch2}
    return Plan(intern_template(shape, dtype, names), (dtype, dtype), options)


def _pair_axes(x1: Template, x2: Template, axes: Pairs) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions of paired axes in each operand; axes given by names are in the order of the first operand."""
    if isinstance(axes, str):
        axes = {axes}
    if isinstance(axes, AbstractSet):
        lacking = next((x for x in (x1, x2) if not axes <= {*x.names}), None)
        if lacking is not None:
            if None not in lacking.names:
                other = next(name for name in sorted(axes, key=repr) if name not in lacking.names)
                remedy = "rename() one operand, or pair axes of each, as in ([axis of the first], [axis of the second])"
                raise AxisError(expected(f"an axis name of {lacking!r}", remedy, axis=other))
            normalize_axes(lacking, sorted(axes, key=repr))  # raises an error with the name
        shared = [name for name in x1.names if name is not None and name in axes]
        return normalize_axes(x1, shared), normalize_axes(x2, shared)
    several: Sequence[Sequence[Axis]] = axes
    names = sorted({name for name in several if isinstance(name, str)})
    # A pair of names that each operand has: elsewhere, as in `sum(x, axis=("height", "width"))`, these are two axes.
    ambiguous = len(several) == len(names) == 2 and all({*names} <= {*x.names} for x in (x1, x2))
    if len(several) != 2 or ambiguous:
        expectation = "a name, a set of names, or a pair (axes of the first operand, axes of the second)"
        remedy = f"write {{{', '.join(map(repr, names))}}} to sum over each of these names" if names else ""
        if not several:
            remedy = "write set() to sum over no axis"
        if ambiguous:
            remedy += f", or ([{several[0]!r}], [{several[1]!r}]) to pair one with the other"
        raise ArgumentError(expected(expectation, remedy, axes=tuple(several)))
    return normalize_axes(x1, several[0]), normalize_axes(x2, several[1])


def _contracting(x1: Template, x2: Template) -> str:
    """What to write for a sum over the axis that both operands have: by its name, or by its size for a vector."""
    sizes = [dict(zip(x.names, x.shape, strict=True)) for x in (x1, x2)]
    shared = [name for name, size in sizes[0].items() if name is not None and sizes[1].get(name) == size]
    if len(shared) == 1:
        return f"tb.dot(x, y, contract={shared[0]!r}) sums over the axis of that name"
    if 1 not in (x1.ndim, x2.ndim) or (None not in x1.names and None not in x2.names):
        return ""
    vector, other = (x2, x1) if x2.ndim == 1 else (x1, x2)
    places = [axis for axis, size in enumerate(other.shape) if size == vector.shape[0]]
    if len(places) != 1:
        return ""
    pairs = ((*places,), (0,)) if vector is x2 else ((0,), (*places,))
    return f"tb.dot(x, y, contract={pairs}) sums over the axis of that size"


def check_pairs(
    x1: Template, x2: Template, axes1: Sequence[int], axes2: Sequence[int], *, contracted: bool = True
) -> None:
    """Raises if axes that are paired by their order differ: `ShapeError` in size, `NamesError` in name.

    The other axes of a product must broadcast, except in `matmul` with a vector; see `broadcast_pairs`.
    """
    first, second = template_of_axes(x1, axes1), template_of_axes(x2, axes2)
    if first.shape != second.shape:
        remedy = _contracting(x1, x2) if contracted else ""
        raise ShapeError(expected("paired axes of the same sizes", remedy, left=x1, right=x2, axes=(axes1, axes2)))
    check_meeting(first.names, second.names, x1, x2, _contracting if contracted and 1 in (x1.ndim, x2.ndim) else None)


class BroadcastPairs(NamedTuple):
    """How one `dot` multiplies operands whose leading axes broadcast, without repeating either.

    A leading axis that both operands have is a batch axis. Where one has size 1 or lacks the axis, it is a free axis of
    the other: in (7, 5, n, k) by (5, k, m), and by (1, 5, k, m), the axis of 7 is a free axis of the left operand.
    """

    dropped: tuple[tuple[int, ...], tuple[int, ...]]
    """The axes of size 1 that each operand loses first."""
    contract: tuple[tuple[int, ...], tuple[int, ...]]
    """The axis of each operand to sum over, without the dropped ones."""
    batch: tuple[tuple[int, ...], tuple[int, ...]]
    """The batch axes of each operand, without the dropped ones."""
    order: tuple[int, ...] | None
    """The axes of the product in the order of the result, `None` if they are in it."""
    names: Names
    """The names of the result's axes."""


def broadcast_pairs(
    x1: Template, x2: Template, contract: tuple[int, int], leading: tuple[Sequence[int], Sequence[int]]
) -> BroadcastPairs:
    """Pair the axes of a product over one axis of each operand, whose leading axes broadcast.

    Parameters
    ----------
    x1, x2 : Template
        The operands.
    contract : tuple of int
        The axis of each operand to sum over.
    leading : tuple of sequences of int
        The axes of each operand that broadcast, aligned from the right.

    Returns
    -------
    BroadcastPairs
        The axes for one `dot`, whose product, with its axes put in order, has the leading axes, then the other axes of
        x1, then those of x2.

    Raises
    ------
    ShapeError
        For leading axes that do not broadcast.
    NamesError
        For matching axes of two names, and for a name that would occur twice in the result.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x1, x2 = tb.template((7, 5, 3, 4), "f32"), tb.template((1, 5, 4, 2), "f32")
    >>> pairs = broadcast_pairs(x1, x2, (3, 2), ((0, 1), (0, 1)))
    >>> pairs.dropped, pairs.batch  # the product has the axes 5, 7, 3 and 2
    (((), (0,)), ((1,), (0,)))
    >>> pairs.order
    (1, 0, 2, 3)
    """
    parts = template_of_axes(x1, leading[0]), template_of_axes(x2, leading[1])
    broadcast_two(*parts, (x1, x2))
    names = merge_names(*parts, (x1, x2))
    count = len(names)
    # Each axis has a number: leading axes their place, then the other axes of x1 and of x2 in order.
    places = [{count - number: axis for number, axis in enumerate(reversed(axes), start=1)} for axes in leading]
    for side, x in enumerate((x1, x2)):
        for axis in range(x.ndim):
            if axis != contract[side] and axis not in leading[side]:
                places[side][len(names)] = axis
                names += (x.names[axis],)
    names = check_unique(names, "y")
    shared = [place for place in places[0] if place in places[1]]
    differ = [place for place in shared if x1.shape[places[0][place]] != x2.shape[places[1][place]]]
    dropped: tuple[list[int], list[int]] = [], []
    for place in differ:
        side = 0 if x1.shape[places[0][place]] == 1 else 1
        dropped[side].append(places[side].pop(place))
    batch = sorted(place for place in shared if place not in differ)
    kept = [[axis for axis in range(x.ndim) if axis not in dropped[side]] for side, x in enumerate((x1, x2))]
    product = list(batch)
    for found in places:
        product += sorted((place for place in found if place not in batch), key=found.__getitem__)
    order = tuple(map(product.index, range(len(names))))
    return BroadcastPairs(
        (tuple(dropped[0]), tuple(dropped[1])),
        ((kept[0].index(contract[0]),), (kept[1].index(contract[1]),)),
        (
            tuple(kept[0].index(places[0][place]) for place in batch),
            tuple(kept[1].index(places[1][place]) for place in batch),
        ),
        None if order == tuple(range(len(order))) else order,
        names,
    )
