"""A run on symbolic sizes, and the function of shapes that it gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final, TypeAlias

from ..caching.memos import remembers_calls
from .size import Size, source_of

Shape: TypeAlias = tuple[int, ...]
ShapeFunction: TypeAlias = Callable[..., Any]
"""Takes the shapes of the operands; returns the shape of the result, a tuple of shapes for several results, or `None`
if the shapes give other answers than the example did."""


class SizeTrace:
    """One run on symbolic sizes, with the guards that it noted."""

    __slots__ = ("arguments", "bounds", "failed", "functions", "guards", "naturals", "numbers", "open", "templates")

    def __init__(self, numbers: bool = False) -> None:
        self.numbers: Final = numbers
        """Whether a number that is needed becomes a guard, as in a user's function, rather than an error."""
        self.guards: Final[dict[str, bool]] = {}
        """The answer to each other comparison, by its source."""
        self.bounds: Final[dict[str, list[int | None]]] = {}
        """The least and the largest number that an expression may be, `None` for no bound, by its source."""
        self.naturals: Final[set[str]] = set()
        """The expressions that are never negative, by their sources."""
        self.arguments: Final[list[Sequence[Any]]] = []
        """The symbolic shapes of the arguments of the function of shapes."""
        self.templates: Final[dict[Any, Any]] = {}
        """Symbolic templates by their parts, so that equal expressions give one object."""
        self.functions: Final[dict[str, Callable[[Any], Any]]] = {}
        """The functions that `apply` applied to sizes, by their names in the source."""
        self.open = True
        """Whether sizes may be used; a kernel that uses one later raises `NeedsSizes`."""
        self.failed = False
        """Whether a number was needed, even if the code that asked for it went on without."""

    def shape(
        self, example: Sequence[int], natural: bool = True, fixed: Sequence[bool] | None = None
    ) -> tuple[Any, ...]:
        """Symbolic sizes for one more argument; `natural` says that none of them is negative.

        A size that is `fixed` remains a number, and is the same in all shapes that satisfy the guards.
        """
        place = len(self.arguments)
        sizes = tuple([Size(self, {f"a{place}_{axis}": 1}, 0, value, natural) for axis, value in enumerate(example)])
        self.arguments.append(sizes)
        if fixed is None:
            return sizes
        for size, value, keeps in zip(sizes, example, fixed, strict=True):
            if keeps:
                self.bounds[size.source] = [value, value]
        return tuple([value if keeps else size for size, value, keeps in zip(sizes, example, fixed, strict=True)])

    def within(self, name: str, natural: bool, symbol: str, bound: int, answer: bool) -> bool:
        """Notes the answer to a comparison of an expression and an int, unless earlier answers imply it."""
        low, high = bounds = self.bounds.setdefault(name, [0 if natural else None, None])
        if natural:
            self.naturals.add(name)
        try:
            return self._bounded(name, bounds, symbol, bound, answer)
        finally:
            if bounds != [low, high]:
                self.noted(name)

    def _bounded(self, name: str, bounds: list[int | None], symbol: str, bound: int, answer: bool) -> bool:
        low, high = bounds
        if symbol in ("==", "!="):
            if (low is not None and bound < low) or (high is not None and bound > high):
                return answer
            if answer == (symbol == "=="):
                bounds[:] = bound, bound
            elif bound == low:
                bounds[0] = bound + 1
            elif bound == high:
                bounds[1] = bound - 1
            else:
                self.guard(f"{name} == {bound}", False)
            return answer
        below = bound if symbol in ("<", ">=") else bound + 1  # the expression is less than that, or it is not
        if answer == (symbol in ("<", "<=")):
            bounds[1] = below - 1 if high is None else min(high, below - 1)
        else:
            bounds[0] = below if low is None else max(low, below)
        return answer

    def guard(self, name: str, answer: bool) -> None:
        """Notes the answer to any other comparison."""
        if name not in self.guards:
            self.guards[name] = answer
            self.noted(name)

    def noted(self, name: str) -> None:
        """Called when a guard or a bound of that source is noted, or with "" when a number was needed.

        A subclass may say where that was.
        """

    def function(self, result: Any) -> ShapeFunction:
        """The function of the arguments' shapes that returns `result`, a nested tuple of sizes and ints, or `None`."""
        return FunctionType(_code(self.source(result)), self.functions, "sizes")

    def source(self, result: Any) -> str:
        """The source of that function. It compares whole shapes where it can, and reads the sizes that it needs.

        >>> trace = SizeTrace()
        >>> (rows, columns), other = trace.shape((2, 3)), trace.shape((2, 3))
        >>> rows == other[0] and columns == other[1] and columns < 5
        True
        >>> print(trace.source((rows, columns)))
        def sizes(a0, a1):
            a0_0, a0_1, = a0
            if a0_1 <= 4 and (a0 is a1 or a0 == a1):
                return a0
        """
        guards = [
            _bound_source(name, *bounds)
            for name, (low, high) in self.bounds.items()
            if (bounds := (None if low == 0 and name in self.naturals else low, high)) != (None, None)
        ]
        body = f"return {source_of(result)}"
        guards += self._comparisons()
        if guards:
            body = f"if {' and '.join(guards)}:\n        {body}"
        reads = []
        for place, sizes in enumerate(self.arguments):
            if sizes:
                body = body.replace(source_of(sizes), f"a{place}")
                if any(size.source in body for size in sizes):
                    reads.append(f"{', '.join(size.source for size in sizes)}, = a{place}")
        parameters = ", ".join(f"a{place}" for place in range(len(self.arguments)))
        lines = "\n    ".join([*reads, body])
        if "//" in lines or "%" in lines:  # a size of 0 by which the example divided: the full path says what is wrong
            lines = f"try:\n    {lines}\nexcept ZeroDivisionError:\n    return None".replace("\n", "\n    ")
        return f"def sizes({parameters}):\n    {lines}"

    def _comparisons(self) -> list[str]:
        """The source of all guards but the bounds; shapes whose sizes all have to be equal are compared at once."""
        guards, shapes = dict(self.guards), []
        for place, sizes in enumerate(self.arguments):
            for before, others in enumerate(self.arguments[:place]):
                pairs = [
                    [name for left, right in ((size, other), (other, size)) for name in self._equal(left, right)]
                    for size, other in zip(sizes, others, strict=False)
                ]
                if len(sizes) == len(others) and pairs and all(pairs):
                    shapes.append(f"(a{before} is a{place} or a{before} == a{place})")
                    for name in itertools.chain(*pairs):
                        del guards[name]
                    break
        return [*shapes, *(guard if answer else f"not ({guard})" for guard, answer in guards.items())]

    def _equal(self, left: Size, right: Size) -> list[str]:
        """The guards that say that a size equals another."""
        answers = ((f"{left.source} == {right.source}", True), (f"{left.source} != {right.source}", False))
        return [name for name, answer in answers if self.guards.get(name) is answer]


def _bound_source(name: str, low: int | None, high: int | None) -> str:
    if low is not None and low == high:
        return f"{name} == {low}"
    return (f"{low} <= " if low is not None else "") + name + (f" <= {high}" if high is not None else "")


@lru_cache(4096)
def _code(source: str) -> CodeType:
    (code,) = (code for code in compile(source, __file__, "exec").co_consts if isinstance(code, CodeType))
    return code


remembers_calls("code of functions of shapes", _code)
