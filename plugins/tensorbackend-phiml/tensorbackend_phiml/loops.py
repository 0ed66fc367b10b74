"""Loops that run while a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, SupportsIndex

import tensorbackend as tb

from .base import Base


class Loops(Base):
    """Functions that run other functions in a loop."""

    def while_loop(
        self, loop: Callable[..., Any], values: tuple[Any, ...], max_iter: int | Sequence[int] | None
    ) -> tuple[Any, ...]:
        """Repeat `values = loop(*values)` while any element of the first value is true, at most `max_iter` times.

        If `max_iter` is a sequence of numbers, stack the values after each of these numbers of iterations. No gradient
        flows through the loop.
        """
        values = self.stop_gradient_tree(tuple(values))
        if isinstance(max_iter, SupportsIndex):  # NumPy integers too
            max_iter = index(max_iter)
        if all(map(self.is_available, tb.tree_leaves(values))):
            loop_values = self._run(loop, values, max_iter)
        else:
            loop_values = self._traced(loop, values, max_iter)
        ended: tuple[Any, ...] = self.stop_gradient_tree(loop_values)
        return ended

    def _run(self, loop: Callable[..., Any], values: Any, max_iter: int | Sequence[int] | None) -> Any:
        """Run the loop in Python, where it can read data."""
        stops = None if max_iter is None or isinstance(max_iter, int) else sorted(map(int, max_iter))
        limit = stops[-1] if stops else max_iter if isinstance(max_iter, int) else None
        seen = [values] if stops and stops[0] == 0 else []
        iteration = 0
        while (limit is None or iteration < limit) and bool(self.any(values[0])):
            values = tuple(loop(*self.copy_leaves(values)))
            iteration += 1
            if stops and iteration in stops:
                seen.append(values)
        if stops is None:
            return values
        # If the loop ends early, repeat the last values that were recorded, as PhiML does, not those at its end.
        seen += [seen[-1] if seen else values] * (len(stops) - len(seen))
        return self.stack_leaves(seen)

    def _traced(self, loop: Callable[..., Any], values: Any, max_iter: int | Sequence[int] | None) -> Any:
        """Record the loop in a graph."""
        values = self._each_leaf(self._tensor, values)

        def body(values: Any) -> Any:
            next_values = tuple(loop(*values))
            # The dtype of each value must not change, even if PhiML computes it in another precision.
            return self._each_leaf(lambda x, like: self._cast(x, like.dtype), next_values, values)

        def until(values: Any, start: int, stop: int | None) -> Any:
            if stop is None:
                return tb.while_loop(lambda carry: tb.any(carry[0]), body, values)
            iteration = tb.asarray(start, dtype="int64", backend=self.base)
            last_carry = tb.while_loop(
                lambda carry: tb.logical_and(carry[0] < stop, tb.any(carry[1][0])),
                lambda carry: (carry[0] + 1, body(carry[1])),
                (iteration, values),
            )
            return last_carry[1]

        if max_iter is None or isinstance(max_iter, int):
            return until(values, 0, max_iter)
        seen, iterations = [], 0
        for stop in sorted(map(int, max_iter)):
            values, iterations = until(values, iterations, stop), stop
            seen.append(values)
        return self.stack_leaves(seen)
