"""Symbolic sizes: the sizes of axes as expressions, so that what holds for one shape is known to hold for others.

A rule, a planner or a user's function runs once on an example whose sizes are `Size`s. Arithmetic on them makes
expressions. A comparison is answered by the example and noted as a *guard*. Whatever was decided then holds for every
shape that gives the same answers:

    f32[5][3] + f32[3]     the rule asks 5 == 3 and 3 == 3 of the sizes a0_0, a0_1 and a1_0
    guards                 a0_0 != a1_0, a0_1 == a1_0
    result                 (a0_0, a0_1)

`SizeTrace.function` is that knowledge as a compiled function of shapes. A use that needs the number itself, such as
`range(size)`, raises `NeedsSizes`: what is decided then depends on more than comparisons.

A `Size` is not an `int`: code in C would read the number of an int without a trace.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final, NoReturn, TypeAlias

Shape: TypeAlias = tuple[int, ...]
ShapeFunction: TypeAlias = Callable[..., Any]
"""Takes the shapes of the operands; returns the shape of the result, a tuple of shapes for several results, or `None`
if the shapes give other answers than the example did."""


class NeedsSizes(TypeError):
    """A number was needed where only an expression of sizes is known."""


class SizeTrace:
    """One run on symbolic sizes, with the guards that it noted."""

    __slots__ = ("arguments", "failed", "functions", "guards", "open", "templates")

    def __init__(self) -> None:
        self.guards: Final[dict[str, bool]] = {}
        """The answer to each comparison, by its source."""
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

    def shape(self, example: Sequence[int], natural: bool = True) -> tuple[Size, ...]:
        """Symbolic sizes for one more argument; `natural` says that none of them is negative."""
        place = len(self.arguments)
        sizes = tuple([Size(self, f"a{place}_{axis}", value, natural) for axis, value in enumerate(example)])
        self.arguments.append(sizes)
        return sizes

    def function(self, result: Any) -> ShapeFunction:
        """The function of the arguments' shapes that returns `result`, a nested tuple of sizes and ints, or `None`."""
        return FunctionType(_code(self.source(result)), self.functions, "sizes")

    def source(self, result: Any) -> str:
        """The source of that function."""
        lines = [f"def sizes({', '.join(f'a{place}' for place in range(len(self.arguments)))}):"]
        for place, sizes in enumerate(self.arguments):
            if sizes:
                lines.append(f"    {', '.join(f'a{place}_{axis}' for axis in range(len(sizes)))}, = a{place}")
        guards = [guard if answer else f"not {guard}" for guard, answer in self.guards.items()]
        if guards:
            lines.append(f"    if {' and '.join(guards)}:")
        lines.append(f"    {'    ' * bool(guards)}return {source_of(result)}")
        return "\n".join(lines)


@lru_cache(4096)
def _code(source: str) -> CodeType:
    (code,) = (code for code in compile(source, __file__, "exec").co_consts if isinstance(code, CodeType))
    return code


def source_of(value: Any) -> str:
    """The source of a size, an int, or a tuple of these."""
    if isinstance(value, tuple):
        return f"({''.join(f'{source_of(part)}, ' for part in value)})"
    return value.source if value.__class__ is Size else repr(value)


def index(value: Any) -> int:
    """What `operator.index` returns; a symbolic size itself."""
    return value if value.__class__ is Size else operator.index(value)


def apply(function: Callable[[Any], Any], size: Any) -> Any:
    """`function(size)`; for a symbolic size, what stands for that result until the size is known.

    >>> apply(float, 3)
    3.0
    """
    if size.__class__ is not Size:
        return function(size)
    functions = size.trace.functions
    name = f"f{len(functions)}"
    functions[name] = function
    return Size(size.trace, f"{name}({size.source})", function(size.value), False)


def is_symbolic(value: object) -> bool:
    """Whether a value is a symbolic size, or a nested tuple or list that holds one."""
    if value.__class__ is Size:
        return True
    return isinstance(value, tuple | list) and any(map(is_symbolic, value))


class Size:
    """A size as an expression of the sizes of a call's operands, with the example's number.

    Arithmetic with numbers and sizes gives sizes; comparisons give the example's answer and note it as a guard. All else
    raises `NeedsSizes`.
    """

    __slots__ = ("natural", "source", "trace", "value")

    __array_ufunc__ = None  # NumPy then leaves arithmetic with a size to the size, which refuses it

    def __init__(self, trace: SizeTrace, source: str, value: int | float, natural: bool = True) -> None:
        self.trace, self.source, self.value, self.natural = trace, source, value, natural

    def _refuse(self, *others: object, **options: object) -> NoReturn:
        self.trace.failed = True
        raise NeedsSizes

    def payload(self, template_only: bool) -> None:
        """The payload of the number on a backend without data; other backends need the number."""
        if not template_only:
            self._refuse()

    def __hash__(self) -> int:  # a memo that is keyed by sizes does without; that alone decides nothing
        raise NeedsSizes

    def __bool__(self) -> bool:
        return self != 0


_REFUSED: Final = """
array bytes call ceil complex contains copy deepcopy divmod float floor format getitem index int invert iter len lshift
matmul pow rdivmod reduce_ex repr rlshift rmatmul round rpow rrshift rshift str trunc
and or xor rand ror rxor"""

for _name in _REFUSED.split():
    setattr(Size, f"__{_name}__", Size._refuse)


def _known(size: Size, other: object) -> tuple[str, int | float] | None:
    """The source and the number of an operand beside a size; `None` for one that is not an int or a size."""
    trace = size.trace
    if not trace.open:
        size._refuse()
    if other.__class__ is int:
        return repr(other), other  # type: ignore[return-value] # an int
    if other.__class__ is float and math.isfinite(other):  # type: ignore[arg-type] # a float
        return repr(other), other  # type: ignore[return-value] # a float
    if other.__class__ is Size and other.trace is trace:  # type: ignore[attr-defined] # a size
        return other.source, other.value  # type: ignore[attr-defined] # a size
    if isinstance(other, int | float | Size):
        size._refuse()
    return None


def _operator(symbol: str, compute: Callable[[Any, Any], Any], reflected: bool) -> Callable[[Size, object], Any]:
    natural = symbol != "-"

    def operate(size: Size, other: object) -> Any:
        known = _known(size, other)
        if known is None:
            return NotImplemented
        source, value = known
        if (symbol == "*" and source == "1") or (symbol in "+-" and source == "0" and not reflected):
            return size  # so that a product of one size is that size
        left, right = (source, size.source) if reflected else (size.source, source)
        try:
            result = compute(value, size.value) if reflected else compute(size.value, value)
        except ZeroDivisionError:
            size._refuse()
        positive = size.natural and (value >= 0 if other.__class__ is not Size else other.natural)  # type: ignore[attr-defined]
        return Size(size.trace, f"({left} {symbol} {right})", result, natural and positive)

    return operate


def _comparison(symbol: str, compute: Callable[[Any, Any], bool]) -> Callable[[Size, object], Any]:
    def compare(size: Size, other: object) -> Any:
        known = _known(size, other)
        if known is None:
            return NotImplemented
        source, value = known
        answer = compute(size.value, value)
        if source == size.source or (size.natural and other.__class__ is not Size and value < 0):
            return answer  # true of any numbers: x == x, and a size is not negative
        if size.natural and value == 0 and other.__class__ is not Size and symbol in ("<", ">="):
            return answer
        size.trace.guards.setdefault(f"({size.source} {symbol} {source})", answer)
        return answer

    return compare


_ARITHMETIC: Final[dict[str, tuple[str, Callable[[Any, Any], Any]]]] = {
    "add": ("+", operator.add),
    "floordiv": ("//", operator.floordiv),
    "mod": ("%", operator.mod),
    "mul": ("*", operator.mul),
    "sub": ("-", operator.sub),
    "truediv": ("/", operator.truediv),
}
_COMPARISONS: Final[dict[str, tuple[str, Callable[[Any, Any], bool]]]] = {
    "eq": ("==", operator.eq),
    "ge": (">=", operator.ge),
    "gt": (">", operator.gt),
    "le": ("<=", operator.le),
    "lt": ("<", operator.lt),
    "ne": ("!=", operator.ne),
}

for _name, (_symbol, _compute) in _ARITHMETIC.items():
    setattr(Size, f"__{_name}__", _operator(_symbol, _compute, False))
    setattr(Size, f"__r{_name}__", _operator(_symbol, _compute, True))
for _name, (_symbol, _answer) in _COMPARISONS.items():
    setattr(Size, f"__{_name}__", _comparison(_symbol, _answer))


def _negate(size: Size) -> Any:
    return 0 - size  # type: ignore[operator] # by the reflected operator


Size.__neg__ = _negate  # type: ignore[attr-defined]
Size.__pos__ = Size.__abs__ = lambda size: size if size.natural else size._refuse()  # type: ignore[attr-defined]
