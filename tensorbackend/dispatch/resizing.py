"""Kernels for other sizes: what a kernel keeps of symbolic sizes is replaced by numbers.

A planner that gets symbolic sizes returns a function whose closure may hold them:

    shape = out.shape                                   # (a0_0, 1)
    return lambda values: values.reshape(shape)

For each new shape, the function is made again with the numbers in its closure, which takes a microsecond. The planner
does not run again. Closures of closures, default values, variables of generated functions, tuples, lists and partial
functions are followed. A size that is kept elsewhere stays symbolic, and raises `NeedsSizes` when it is used.

What a kernel fills as it runs, such as a dictionary of kernels by the order of strides, is of one shape. So each shape
gets an empty one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from threading import local
from types import CellType, FunctionType
from typing import Any, Final, TypeAlias

from ..protocol.planned import QuickKernel
from ..sizes import Size
from ..template import Template, is_symbolic_template, template_of_kind

Builder: TypeAlias = Callable[[Sequence[Any]], Any]
"""Makes a value from the numbers of the symbolic sizes in it."""

_FILLED: Final = dict, list, set
"""What a kernel may fill as it runs, if a planner leaves it empty."""

DEEP: Final = 12
"""Closures are followed to this depth."""


class Leaves:
    """The symbolic values that kernels keep, in the order in which builders expect their numbers."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        """Sizes and shapes; a function of shapes computes the number of each."""

    def builder(self, value: Any, depth: int = 0) -> Builder | None:
        """What makes `value` for other sizes; `None` if it keeps no symbolic size."""
        kind = value.__class__
        if kind is Size:
            return self._leaf(value)
        if depth > DEEP:
            return None
        if kind is local or (kind in _FILLED and not value):
            return lambda numbers: kind()
        if kind is Template:
            if not is_symbolic_template(value):
                return None
            place, template_kind = self._place(value.shape), value.kind
            return lambda numbers: template_of_kind(template_kind, numbers[place])
        if kind is tuple or kind is list:
            if kind is tuple and {part.__class__ for part in value} in ({Size}, {Size, int}):
                return self._leaf(value)
            return self._make(lambda *parts: kind(parts), value, depth)
        if issubclass(kind, tuple) and hasattr(kind, "_make"):  # a named tuple, such as `Windows`
            return self._make(kind, value, depth)
        if kind is FunctionType:
            return self._function(value, depth)
        if kind is partial:
            if len(value.args) == 1 and not value.keywords and not isinstance(value.func, FunctionType):
                part = self.builder(value.args[0], depth + 1)  # a kernel in a context
                return part and _partial_of_one(value.func, part)
            return self._make(_partial, (value.func, value.args, value.keywords), depth)
        if kind is QuickKernel:
            return self._make(QuickKernel, (value.quick, value.spare), depth)
        if kind is dict:
            return self._make(lambda *parts: dict(zip(value, parts, strict=True)), tuple(value.values()), depth)
        return None

    def _make(self, make: Callable[..., Any], values: Sequence[Any], depth: int) -> Builder | None:
        """What makes a value of several parts."""
        parts = [self.builder(value, depth + 1) for value in values]
        if not any(parts):
            return None
        return lambda numbers: make(*[
            value if part is None else part(numbers) for value, part in zip(values, parts, strict=True)
        ])  # fmt: skip

    def _leaf(self, value: Any) -> Builder:
        return itemgetter(self._place(value))

    def _place(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _function(self, function: FunctionType, depth: int) -> Builder | None:
        cells = function.__closure__ or ()
        parts = [self.builder(_contents(cell, function), depth + 1) for cell in cells]
        defaults = self.builder(function.__defaults__, depth + 1)
        variables = self._variables(function, depth)
        if not any(parts) and defaults is None and not variables:
            return None
        code, names, name, given = function.__code__, function.__globals__, function.__name__, function.__defaults__
        changed = [(place, part) for place, part in enumerate(parts) if part is not None]
        if len(changed) == 1 and defaults is None and not variables:  # most kernels keep one shape
            ((place, make),) = changed
            first, last = cells[:place], cells[place + 1 :]
            return lambda numbers: FunctionType(code, names, name, given, (*first, CellType(make(numbers)), *last))

        def build(numbers: Sequence[Any]) -> Any:
            closure = list(cells)
            for place, part in changed:
                closure[place] = CellType(part(numbers))
            known = names
            if variables:
                known = {**names}
                for variable, part in variables.items():
                    known[variable] = part(numbers)
            return FunctionType(code, known, name, given if defaults is None else defaults(numbers), tuple(closure))

        return build

    def _variables(self, function: FunctionType, depth: int) -> dict[str, Builder]:
        """What makes the global variables of a generated function, which has a namespace of its own."""
        names = function.__globals__
        if "__name__" in names:  # a module's
            return {}
        used = {name: self.builder(names[name], depth + 1) for name in function.__code__.co_names if name in names}
        return {name: part for name, part in used.items() if part is not None}


def _contents(cell: CellType, function: FunctionType) -> Any:
    """What a cell holds; `None` where it is empty or holds the function itself."""
    try:
        contents = cell.cell_contents
    except ValueError:
        return None
    return None if contents is function else contents


def _partial_of_one(function: Any, part: Builder) -> Builder:
    return lambda numbers: partial(function, part(numbers))


def _partial(function: Any, arguments: Any, keywords: Any) -> Any:
    return partial(function, *arguments, **keywords)
