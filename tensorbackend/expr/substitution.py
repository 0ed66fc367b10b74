"""Sparse triangular systems, solved by sweeps.

Rows that do not depend on each other are solved together. A row's level is 1 more than the maximum level of the rows
that it needs. After as many sweeps over all rows as there are levels, each row has its final value (Saad, Iterative
Methods for Sparse Linear Systems, section 12.4.3). A sweep that changes nothing is the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final

from ..dispatch import perform
from ..dispatch.narrow import composite_method
from ..ops.composite.linalg.sparse import Format, places, sparse_matmul
from ..ops.creation.filled import full, zeros
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import divide, equal, greater, less, not_equal, subtract
from ..ops.reduction import any as any_
from ..ops.shape import broadcast_shapes
from ..protocol.callbacks import CompositeCall
from ..select import common_backend, move
from ..template import Template
from ..tensor import Tensor
from .while_loops import while_loop


def find_fixed_point(step: Callable[[Tensor], Tensor], start: Tensor, limit: int) -> Tensor:
    """The fixed point of a step, found by iteration. At most `limit` steps must reach it from any start."""

    def goes_on(state: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        return state[2] & less(state[1], limit)

    def iteration(state: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        before, count, _ = state
        after = step(before)
        # A NaN that stays NaN is not a change.
        changed = not_equal(after, before) & (equal(after, after) | equal(before, before))
        return after, count + 1, any_(changed)

    count = full((), 0, dtype="int64", backend=start.backend)
    return while_loop(goes_on, iteration, (start, count, equal(count, 0)))[0]


NAME: Final = "sparse_triangular_solve"


def substitute(
    values: Tensor, first: Tensor, second: Tensor, b: Tensor, *, format: Format, lower: bool, unit_diagonal: bool
) -> Tensor:
    """The x with a @ x = b for a sparse triangular a, as in the callback `sparse_triangular_solve`, without names."""
    backend = common_backend([values, first, second, b])
    batch = broadcast_shapes(values.shape[:-1], first.shape[:-1], second.shape[:-1], b.shape[:-2])
    out = Template((*batch, *b.shape[-2:]), b.dtype)
    inputs = tuple(move(x, backend) for x in (values, first, second, b))
    options = MappingProxyType({"format": format, "lower": lower, "unit_diagonal": unit_diagonal})
    solution: Tensor = perform(
        backend,
        NAME,
        CompositeCall(out, inputs, options),
        composite_method(backend, NAME, out, [x.template for x in inputs], options),
        _solve_by_sweeps,
    )
    return solution


def _solve_by_sweeps(out: Any, inputs: tuple[Tensor, ...], options: Any) -> Tensor:
    values, first, second, b = inputs
    rows, columns = places(first, second, options["format"])
    size = b.shape[-2]
    strict = greater(rows, columns) if options["lower"] else less(rows, columns)
    rest = where(strict, values, 0)
    divisor = None
    if not options["unit_diagonal"]:
        # Elements off the diagonal add 0 to the first row.
        on = equal(rows, columns)
        one = zeros((1, 1), dtype=values.dtype, backend=values.backend) + 1
        nothing = zeros(rows.shape, dtype=rows.dtype, backend=rows.backend)
        divisor = sparse_matmul(where(on, values, 0), where(on, rows, 0), nothing, one, format="coo", rows=size)

    def sweep(x: Tensor) -> Tensor:
        right_side = subtract(b, sparse_matmul(rest, rows, columns, x, format="coo", rows=size))
        return right_side if divisor is None else divide(right_side, divisor)

    start = zeros(out.shape, dtype=out.dtype, backend=b.backend)
    return find_fixed_point(sweep, start, size + 1) if out.size else start
