"""Reads and writes at index vectors, as Nx has them: the last axis of `indices` runs over x's leading axes.

Indices are never negative. One outside its axis is `IndexRangeError` with `mode="error"`, moved to the nearest
end with `"clip"`, and with `"fill"` reads zero and writes nothing. Errors: `ShapeError`, `NamesError`,
`DTypeError`, `ArgumentError` for another mode.
"""

from __future__ import annotations

from ...accuracy import SUM
from ...dispatch import primitive
from ...protocol.indexing import Mode
from ...rules.indexing import check_indices, gathered, scattered
from ...rules.plan import Plan
from ...template import Template


@primitive
def gather(x: Template, indices: Template, /, *, mode: Mode = "error") -> Plan:
    """The entries of x at index vectors; the result has the indices' leading axes, then x's remaining ones.

    x of shape (5, 6, 7) with indices of shape (2, 3, 2) gives (2, 3, 7).

    >>> import tensorbackend as tb
    >>> tb.gather(tb.asarray([[1, 2], [3, 4]]), tb.asarray([[1, 0], [0, 0]])).tolist()
    [3, 1]
    """
    check_indices(indices, mode)
    shape, names = gathered(x, indices)
    return Plan(Template(shape, x.dtype, names), (x.dtype, indices.dtype), {"mode": mode})


@primitive.within(SUM)
def indexed_add(x: Template, indices: Template, updates: Template, /, *, mode: Mode = "error") -> Plan:
    """x with updates added at index vectors as in `gather`; where an index stands twice both are added.

    The updates have the shape that `gather` would give; floats are added in order, in float32 or wider.

    >>> import tensorbackend as tb
    >>> tb.indexed_add(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, 2.0, 3.0])).tolist()
    [2.0, 0.0, 4.0]
    """
    return scattered(x, indices, updates, mode, "numeric")


@primitive
def indexed_put(x: Template, indices: Template, updates: Template, /, *, mode: Mode = "error") -> Plan:
    """x with updates written at index vectors as in `gather`; where an index stands twice the last one stays.

    >>> import tensorbackend as tb
    >>> tb.indexed_put(tb.zeros(3), tb.asarray([[2], [0], [2]]), tb.asarray([1.0, 2.0, 3.0])).tolist()
    [2.0, 0.0, 3.0]
    """
    return scattered(x, indices, updates, mode, "any")
