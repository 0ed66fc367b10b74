"""Sizes that depend on open axes, as expressions of a symbolic trace: bounds of them, and nodes that compute them.

An expression is the source that the trace gives: `((a0_0 + 1) // 2)`. It is read as a sum of multiples of variables and
of other parts, such as quotients, which lie between two sums themselves. So a sum is bounded over ranges of the
variables, and a comparison holds for all sizes if the bounds of the difference say so.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy


class Range(NamedTuple):
    """The sizes that an axis may have."""

    least: int
    most: int | None = None

    def __str__(self) -> str:
        return f"at least {self.least}" if self.most is None else f"from {self.least} to {self.most}"


Box = Mapping[str, Range]
"""The range of each variable."""

Sum = dict[str, Fraction]
"""The factor of each variable or other part, by its source; that of "" is a number."""


@lru_cache(4096)
def parsed(source: str) -> ast.expr:
    """The syntax tree of an expression."""
    return ast.parse(source.strip(), mode="eval").body


def variables(source: str) -> set[str]:
    """The open sizes in an expression."""
    calls = {node.func for node in ast.walk(parsed(source)) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(parsed(source)) if isinstance(node, ast.Name) and node not in calls}


def _added(one: Sum, other: Sum, factor: Fraction) -> Sum:
    total = dict(one)
    for name, times in other.items():
        total[name] = total.get(name, Fraction(0)) + times * factor
    return {name: times for name, times in total.items() if times}


def _number(total: Sum) -> Fraction | None:
    """The number that a sum is, if it has no other part."""
    return total.get("", Fraction(0)) if set(total) <= {""} else None


def summed(node: ast.expr, functions: Mapping[str, Any]) -> Sum:
    """An expression as a sum of multiples."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return {"": Fraction(value)} if value else {}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _added({}, summed(operand, functions), Fraction(-1))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            sign = Fraction(1 if isinstance(op, ast.Add) else -1)
            return _added(summed(left, functions), summed(right, functions), sign)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            for one, other in ((left, right), (right, left)):
                factor = _number(summed(one, functions))
                if factor is not None:
                    return _added({}, summed(other, functions), factor)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divisor = _number(summed(right, functions))
            if divisor:
                return _added({}, summed(left, functions), 1 / divisor)
        case ast.Call(func=ast.Name(id=name), args=[argument]) if _keeps(functions.get(name)):
            return summed(argument, functions)
    return {ast.unparse(node): Fraction(1)}


def _keeps(function: Any) -> bool:
    """Whether a function only changes the type of a size."""
    return function is float or (isinstance(function, type) and issubclass(function, numpy.floating))


class Prover:
    """What holds for all sizes in a box."""

    def __init__(self, box: Box, functions: Mapping[str, Any]) -> None:
        self.box, self.functions = box, functions
        # Sizes after several windows hold one another many times over.
        self.bounds = cache(self._bounds)
        self._least_of = cache(self._least)

    def holds(self, left: str, symbol: str, right: str) -> bool:
        """Whether a comparison is certain."""
        difference = _added(self._sum(left), self._sum(right), Fraction(-1))
        low, high = self.least(difference), -self.least(_added({}, difference, Fraction(-1)))
        return bool({
            "<": high < 0, "<=": high <= 0, ">": low > 0, ">=": low >= 0,
            "==": low == high == 0, "!=": low > 0 or high < 0,
        }[symbol])  # fmt: skip

    def _sum(self, source: str) -> Sum:
        return summed(parsed(source), self.functions)

    def least(self, total: Sum) -> float | Fraction:
        """A number that a sum never falls below."""
        return self._least_of(frozenset(total.items()))

    def _least(self, terms: frozenset[tuple[str, Fraction]]) -> float | Fraction:
        number: float | Fraction
        total = dict(terms)
        parts = [name for name in total if name and name not in self.box]
        if not parts:
            number = total.get("", Fraction(0))
            for name, factor in total.items():
                if name:
                    own = self.box[name]
                    end = own.least if factor > 0 else own.most
                    number = -math.inf if end is None else number + factor * end
                    if number == -math.inf:
                        break
            return number
        part = max(parts, key=len)  # inside which the others may be
        rest = {name: factor for name, factor in total.items() if name != part}
        found: float | Fraction = -math.inf
        for low, high in self.bounds(part):
            replaced = low if total[part] > 0 else high
            if replaced is not None:
                number = self.least(_added(rest, replaced, total[part]))
                found = number if number > found else found
        return found

    def _bounds(self, part: str) -> list[tuple[Sum | None, Sum | None]]:
        """Sums between which a part lies, `None` for no bound."""
        match parsed(part):
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Div() | ast.Mod() as op, right=right):
                top, bottom = (summed(side, self.functions) for side in (left, right))
                divisor = _number(bottom)
                natural, positive = self.least(top) >= 0, self.least(bottom) >= 1
                if isinstance(op, ast.Mod):
                    return [({}, _added(bottom, {"": Fraction(1)}, Fraction(-1)))] if positive else []
                if divisor is not None and divisor > 0:
                    ratio = _added({}, top, 1 / divisor)
                    return [(_added(ratio, {"": Fraction(1) - 1 / divisor}, Fraction(-1)), ratio)]
                return [({}, top)] if natural and positive else []
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                sums = [summed(side, self.functions) for side in (left, right)]
                ends = [self.least(total) for total in sums]
                if min(ends) < 0:
                    return []
                whole = [Fraction(end) for end in ends]
                return [(_added({}, sums[0], whole[1]), None), (_added({}, sums[1], whole[0]), None)]
            case ast.Call(func=ast.Name(id="max"), args=[first, second]):
                sums = [summed(side, self.functions) for side in (first, second)]
                highs: list[Sum | None] = [
                    one for one, other in (sums, sums[::-1]) if self.least(_added(one, other, Fraction(-1))) >= 0
                ]
                numbers = [-self.least(_added({}, total, Fraction(-1))) for total in sums]
                if max(numbers) < math.inf:
                    highs.append({"": Fraction(max(numbers))})
                return [(low, high) for low, high in product(sums, highs or [None])]
        return []


def evaluated(condition: str, sizes: Mapping[str, int], functions: Mapping[str, Any]) -> bool:
    """Whether a comparison holds at some sizes, where nothing divides by 0."""
    try:
        return bool(eval(condition, {"__builtins__": {"max": max}, **functions}, dict(sizes)))
    except ZeroDivisionError:
        return False
