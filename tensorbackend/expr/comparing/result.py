"""The results of `compare`: what differs, where, and in what numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...rules.accuracy import Bound
from ...template import Template
from ...tensor.missing_names import explain_missing
from ..graph import Graph
from ..node import Line
from .values import Range


@dataclass(frozen=True)
class Difference:
    """The first op on which two engines differ by more than its stated accuracy."""

    op: str
    """The public name of the op."""
    part: str | None
    """The op inside a composite whose results differ already; `None` where the op itself does, or for a primitive."""
    line: Line | None
    """The line of the program that calls it; for an op of a gradient, the line of what it differentiates."""
    number: int
    """How many ops had been compared, with this one."""
    result: Template
    """The template of the result that differs."""
    operands: tuple[Range, ...]
    """The operands' templates and ranges."""
    bound: Bound
    """The accuracy that the op states."""
    at: tuple[int, ...] = ()
    """The place of the element that is farthest off."""
    values: tuple[object, object] = (None, None)
    """The two engines' values of that element."""
    ulps: float = 0.0
    """Their distance, in units in the last place."""
    wrong: int = 0
    """How many elements differ by more than is allowed."""
    error: str = ""
    """What the second engine raised in place of a result."""
    graph: Graph | None = field(default=None, repr=False)
    """The program up to this op, from the values before it, which it holds: called without arguments it shows the
    difference."""

    def describe(self, names: tuple[str, str]) -> str:
        """The difference in a few lines."""
        inside = f", in its part {self.part}" if self.part is not None else ""
        lines = [f"{self.op}{inside}, at {self.line if self.line is not None else 'an unknown line'}"]
        if self.error:
            lines.append(f"  {names[1]} raises {self.error}")
        else:
            place = f"at {self.at}" if self.at else "is"
            first, second = self.values
            lines.append(f"  result: {self.result} {place} {first} on {names[0]}, {second} on {names[1]}")
            allowed = f"{self.bound.ulps:g} ulps from the reference"
            if self.bound.scale != "element":
                allowed += f", counted in its {self.bound.scale}"
            lines.append(f"    {self.ulps:.6g} ulps apart; the op states {allowed}")
            lines.append(f"    {self.wrong} of {self.result.size} elements are too far apart")
        lines += [f"  operand {number}: {operand}" for number, operand in enumerate(self.operands)]
        return "\n".join(lines)


@dataclass(frozen=True)
@explain_missing
class Comparison:
    """The result of `compare`. As text it says what was found."""

    name: str
    """The name of the function."""
    engines: tuple[str, str]
    """What was compared, such as `("numpy", "jax, compiled")`."""
    ops: int
    """The number of calls of ops that were compared."""
    difference: Difference | None
    """The first difference; `None` if the engines agree."""

    @property
    def agrees(self) -> bool:
        """Whether no difference was found."""
        return self.difference is None

    def __str__(self) -> str:
        first, second = self.engines
        if self.difference is None:
            return (
                f"{self.name}: {first} and {second} agree in {self.ops} calls of ops, each within its stated accuracy"
            )
        return f"{self.name}: {first} and {second} differ first in {self.difference.describe(self.engines)}"

    __repr__ = __str__
