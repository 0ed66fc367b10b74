"""Linear functions of one argument as sparse matrices that grow op by op.

A value of a traced function that is linear in the argument is a matrix with a row for each of its elements. The stored
entries of the row say which elements of the argument the element is a sum of, and with which factors. The effect of an
op on elements is a list of links: element `source` of an operand, times a weight, is added to element `target` of the
result. A slice links each element that it keeps to its new position, a sum links each element to its total, and a
product with a constant links each element to itself, with a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy

from ..expr.expr_backend import ExprBackend
from ..ops.composite.indexing.segments import segment_sum
from ..ops.creation.filled import ones
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype
from ..ops.elementwise.binary import multiply
from ..ops.indexing.taking import take_at
from ..ops.shape import concatenate
from ..rules.broadcasting import result_type
from ..select import common_backend, get_backend
from ..tensor import Tensor
from .host import Array, index_tensor, to_host_arrays


class Linear(NamedTuple):
    """The elements of a value, flat in row-major order, as sums of elements of the argument."""

    size: int
    """The number of elements."""
    rows: Array
    """The element of the value that each entry belongs to. Entries are sorted by row, then column, without repeats."""
    columns: Array
    """The element of the argument that each entry multiplies."""
    entries: Tensor | None
    """The factors: a tensor, possibly a value of a trace, or `None` if all are 1."""


class Links(NamedTuple):
    """The dependence of elements of a result on those of an operand."""

    source: Array
    target: Array
    weight: Tensor | None = None
    """A number for each link, or `None` if all are 1."""
    op: Callable[[Tensor, Tensor], Tensor] = multiply
    """Combines an entry with its weight: a product or a quotient."""

    def prune(self) -> Links:
        """The links without those that multiply by a weight of 0, if the weights can be read."""
        read = None if self.weight is None or self.op is not multiply else to_host_arrays(self.weight)
        if read is None or read[0].all():
            return self
        kept = numpy.flatnonzero(read[0])
        assert self.weight is not None  # as it was read
        weight = take_at(self.weight, index_tensor(kept, self.weight), axis=0, mode="clip")
        return Links(self.source[kept], self.target[kept], weight, self.op)


def identity(count: int) -> Linear:
    """The argument itself, of `count` elements."""
    every = numpy.arange(count)
    return Linear(count, every, every, None)


def apply_links(value: Linear, links: Links, count: int, width: int) -> Linear:
    """The result, of `count` elements, of applying links to a value, for an argument of `width` elements."""
    source, target, weight, op = links.prune()
    lengths = numpy.bincount(value.rows, minlength=value.size)
    starts = numpy.cumsum(lengths) - lengths
    entry_counts = lengths[source]
    link = numpy.repeat(numpy.arange(len(source)), entry_counts)
    before = numpy.cumsum(entry_counts) - entry_counts
    entry = (starts[source] - before)[link] + numpy.arange(len(link))
    entries = (
        None
        if value.entries is None
        else take_at(value.entries, index_tensor(entry, value.entries), axis=0, mode="clip")
    )
    if weight is not None:
        factor = take_at(weight, index_tensor(link, weight), axis=0, mode="clip")
        entries = op(
            ones(factor.shape, dtype=factor.dtype, backend=factor.backend) if entries is None else entries, factor
        )
    return _sort_and_sum(count, target[link], value.columns[entry], entries, width)


def sum_linear(parts: Sequence[Linear], width: int) -> Linear:
    """The sum of several values with the same number of elements."""
    if len(parts) == 1:
        return parts[0]
    rows = numpy.concatenate([part.rows for part in parts])
    columns = numpy.concatenate([part.columns for part in parts])
    entries = None
    if any(part.entries is not None for part in parts):
        explicit_entries = [part.entries for part in parts if part.entries is not None]
        dtype, backend = result_type([tensor.template for tensor in explicit_entries]), common_backend(explicit_entries)
        entries = concatenate(
            [
                ones(len(part.rows), dtype=dtype, backend=backend)
                if part.entries is None
                else astype(part.entries, dtype)
                for part in parts
            ],
            axis=0,
        )
    return _sort_and_sum(parts[0].size, rows, columns, entries, width)


def _sort_and_sum(count: int, rows: Array, columns: Array, entries: Tensor | None, width: int) -> Linear:
    """The value with its entries sorted by row, then by column; entries at the same place are added."""
    keys = rows * width + columns
    steps = keys[1:] - keys[:-1]
    if (steps > 0).all():
        return Linear(count, rows, columns, entries)
    if (steps < 0).any():
        order = numpy.argsort(keys, kind="stable")
        keys, rows, columns = keys[order], rows[order], columns[order]
        entries = None if entries is None else take_at(entries, index_tensor(order, entries), axis=0, mode="clip")
    begins = numpy.ones(len(keys), bool)
    begins[1:] = keys[1:] != keys[:-1]
    if begins.all():
        return Linear(count, rows, columns, entries)
    groups = numpy.cumsum(begins) - 1
    size = int(groups[-1]) + 1
    if entries is None:
        entries = asarray(numpy.bincount(groups, minlength=size).astype("float32"), backend=home())
    else:
        entries = segment_sum(entries, index_tensor(groups, entries), size=size, mode="clip")
    return Linear(count, rows[begins], columns[begins], entries)


def home() -> str | None:
    """The backend for entries that depend on no traced value: NumPy, or `None` (the trace itself) within a trace."""
    return None if isinstance(get_backend(), ExprBackend) else "numpy"
