"""What a symbolic trace decided: for which sizes of the open axes it holds, and where it was decided.

A guard that holds for all sizes in question is no matter. One that fails for some sizes leaves exceptions, at which the
model is compared with the function. All others are refused, with the line of the user's program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from tensorbackend.errors import UnsupportedOp, expected
from tensorbackend.expr.node import here
from tensorbackend.sizes import Size, SizeTrace

from .expressions import Box, Prover, Range, evaluated, variables

EXAMPLES = (37, 41, 43, 47, 53, 59, 61, 67)
"""The sizes of the open axes at which a function is traced: larger than most numbers in a program, and different."""

FARTHEST = 64
"""Guards may have exceptions below this size."""

TRIED_SIZES = 6
"""Up to this size, sizes are tried that happen to satisfy an equation of several axes."""

COMPARISONS = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
"""Each comparison, and its opposite."""


class Guard(NamedTuple):
    """A comparison that holds where the trace does, and the place in the program that made it."""

    left: str
    symbol: str
    right: str
    where: str

    def __str__(self) -> str:
        return f"{self.left} {self.symbol} {self.right}"


class OpenTrace(SizeTrace):
    """A symbolic trace that knows where each guard was noted."""

    __slots__ = ("history", "names", "where")

    def __init__(self, names: tuple[str, ...], ranges: Mapping[str, Range]) -> None:
        self.history: list[Guard] = []
        self.where = ""
        """The op that is written; empty while the function is traced, where the user's line says it."""
        super().__init__(numbers=True)
        examples = [_example(size, ranges[name]) for name, size in zip(names, EXAMPLES, strict=False)]
        sizes: Any = self.shape(examples)
        self.names: dict[str, Size] = dict(zip(names, sizes, strict=True))

    def noted(self, name: str) -> None:
        """Keep a guard with its place."""
        where = self.where or str(here() or "")
        if not name:
            self.history.append(Guard("a number", "", "", where))
        elif name in self.bounds:
            low, high = self.bounds[name]
            if low == high:
                self.history.append(Guard(name, "==", str(low), where))
                return
            self.history += [
                Guard(name, symbol, str(bound), where)
                for symbol, bound in ((">=", low), ("<=", high))
                if bound is not None
            ]
        else:
            (left, symbol, right), answer = _split(name), self.guards[name]
            self.history.append(Guard(left, symbol if answer else COMPARISONS[symbol], right, where))

    @property
    def last(self) -> str:
        """The line of the user's that noted the last guard."""
        return self.history[-1].where if self.history else "the function"

    def readable(self, text: str) -> str:
        """A guard with the names of axes."""
        for name, size in self.names.items():
            text = text.replace(size.source, name)
        return text

    def refusal(self, guard: Guard, different: Sequence[Mapping[str, int]] = ()) -> UnsupportedOp:
        """The error for what depends on the size of an open axis; at the sizes `different` it is another thing."""
        what = "which needs the number" if not guard.symbol else f"which holds where {self.readable(str(guard))}"
        remedy = "leave the axis out of open="
        if different and len({*different[0]}) == 1 and all(sizes.keys() == different[0].keys() for sizes in different):
            ((name, _),) = different[0].items()
            remedy += f", or leave small sizes out: open={{{name!r}: ({max(s[name] for s in different) + 1}, None)}}"
        return UnsupportedOp(
            expected(
                f"steps that are the same at every size, got one that depends on the size of an open axis, {what}, at "
                f"{guard.where}",
                remedy,
            )
        )

    def exceptions(self, ranges: Mapping[str, Range]) -> list[tuple[dict[str, int], Guard]]:
        """The sizes that the guards leave out, by the names of axes, each with the guard.

        Raises
        ------
        UnsupportedOp
            For a guard with more exceptions than can be tried.
        """
        box = {size.source: ranges[name] for name, size in self.names.items()}
        found: dict[tuple[tuple[str, int], ...], Guard] = {}
        for guard in dict.fromkeys(self.history):
            if not guard.symbol:
                raise self.refusal(guard)
            for sizes in self._left_out(guard, box):
                found.setdefault(tuple(sorted(sizes.items())), guard)
        sources = {size.source: name for name, size in self.names.items()}
        return [({sources[key]: size for key, size in sizes}, guard) for sizes, guard in found.items()]

    def _left_out(self, guard: Guard, box: Box) -> list[dict[str, int]]:
        """The sizes at which a guard does not hold."""
        if Prover(box, self.functions).holds(*guard[:3]):
            return []
        names = sorted(variables(guard.left) | variables(guard.right))
        reaches = [self._reach(guard, name, box) for name in names]
        if all(reaches):
            grids = [range(box[name].least, reach) for name, reach in zip(names, reaches, strict=True) if reach]
        elif guard.symbol == "!=" and len(names) > 1:
            grids = [range(box[name].least, box[name].least + TRIED_SIZES) for name in names]
        else:
            raise self.refusal(guard)
        each = [dict(zip(names, sizes, strict=True)) for sizes in product(*grids)]
        return [sizes for sizes in each if not evaluated(str(guard), sizes, self.functions)]

    def _reach(self, guard: Guard, name: str, box: Box) -> int | None:
        """The size of an axis from which on a guard holds; `None` if there is none, or it is far."""
        own, reach = box[name], 2
        while reach <= FARTHEST and (own.most is None or reach <= own.most):
            if Prover({**box, name: own._replace(least=own.least + reach)}, self.functions).holds(*guard[:3]):
                return own.least + reach
            reach *= 2
        if own.most is not None and own.most - own.least < FARTHEST:
            return own.most + 1
        return None


def _example(size: int, own: Range) -> int:
    """A size to trace at: far from the ends of the range, if it is wide."""
    if own.most is None:
        return own.least - 1 + size
    return own.least + (own.most - own.least) * 2 // 3


def _split(name: str) -> tuple[str, str, str]:
    """The sides of a comparison."""
    left, symbol, right = re.split(f" ({'|'.join(COMPARISONS)}) ", name)
    return left, symbol, right
