"""Symbolic sizes: the sizes of axes as expressions, so that what is decided for one shape can be reused for others.

A rule, a planner or a user's function runs once on an example whose sizes are `Size`s. Arithmetic on them makes
expressions. A comparison is answered by the example and noted as a *guard*. The decisions then hold for every shape
with the same answers:

    f32[5][3] + f32[3]     the rule compares 5 == 3 and 3 == 3 of the sizes a0_0, a0_1 and a1_0
    guards                 a0_0 != a1_0, a0_1 == a1_0
    result                 (a0_0, a0_1)

`SizeTrace.function` is that knowledge as a compiled function of shapes. A use that needs the number itself, such as
`range(size)`, raises `NeedsSizes`: the decisions then depend on more than comparisons.

A `Size` is not an `int`: code in C would read the number of an int without a trace.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final, NoReturn, TypeAlias

from .caching.memos import remembers_calls

Shape: TypeAlias = tuple[int, ...]
ShapeFunction: TypeAlias = Callable[..., Any]
"""Takes the shapes of the operands; returns the shape of the result, a tuple of shapes for several results, or `None`
if the shapes give other answers than the example did."""


class NeedsSizes(TypeError):
    """A number was needed where only an expression of sizes is known."""


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
                self.guards[f"{name} == {bound}"] = False
            return answer
        below = bound if symbol in ("<", ">=") else bound + 1  # the expression is less than that, or it is not
        if answer == (symbol in ("<", "<=")):
            bounds[1] = below - 1 if high is None else min(high, below - 1)
        else:
            bounds[0] = below if low is None else max(low, below)
        return answer

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
        return "\n    ".join([f"def sizes({parameters}):", *reads, body])

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


def source_of(value: Any) -> str:
    """The source of a size, an int, or a tuple of these."""
    if isinstance(value, tuple):
        return f"({''.join(f'{source_of(part)}, ' for part in value)})"
    return value.source if value.__class__ is Size else repr(value)


def index(value: Any) -> int:
    """Returns what `operator.index` does; a symbolic size as it is. Raises `TypeError` for anything but an integer."""
    return value if is_size(value) else operator.index(value)


def apply(function: Callable[[Any], Any], size: Any) -> Any:
    """Applies a function to a size: at once to an int, and to a symbolic size when its number is known.

    Parameters
    ----------
    function : callable
        A function of an int, such as `numpy.float32`.
    size : int
        The size, or an expression of sizes.

    Returns
    -------
    object
        `function(size)`; for a symbolic size, an expression of that result.

    Examples
    --------
    >>> apply(float, 3)
    3.0
    """
    if size.__class__ is not Size:
        return function(size)
    functions = size.trace.functions
    name = f"f{len(functions)}"
    functions[name] = function
    return Size(size.trace, {f"{name}({size.source})": 1}, 0, function(size.value), False)


def is_size(value: object) -> bool:
    """Whether a value is a symbolic size."""
    return value.__class__ is Size


def is_symbolic(value: object) -> bool:
    """Whether a value is a symbolic size, or a nested tuple or list that holds one."""
    if value.__class__ is Size:
        return True
    return isinstance(value, tuple | list) and any(map(is_symbolic, value))


class Size:
    """A size as an expression of the sizes of a call's operands, with the example's number.

    Arithmetic with numbers and sizes returns sizes; comparisons return the example's answer and note it as a guard.
    All other uses raise `NeedsSizes`. A sum of multiples is kept as one, so that `n - 1 + 1` is `n`, and `n - 1 < 0`
    is the guard `n < 1`.
    """

    __slots__ = ("constant", "natural", "terms", "trace", "value")

    __array_ufunc__ = None  # NumPy then leaves arithmetic with a size to the size, which refuses it

    def __init__(
        self, trace: SizeTrace, terms: dict[str, int], constant: int, value: int | float, natural: bool = True
    ) -> None:
        self.trace: Final = trace
        self.terms: Final = terms
        """The factor of each expression that is not a sum, by its source."""
        self.constant: Final = constant
        """What is added to them."""
        self.value: Final = value
        """The number in the example, a float where a function such as `float` was applied."""
        self.natural: Final = natural
        """Whether it is known not to be negative."""

    @property
    def source(self) -> str:
        """The expression as source."""
        parts = [name if factor == 1 else f"{factor} * {name}" for name, factor in self.terms.items()]
        if self.constant or not parts:
            parts.append(repr(self.constant))
        return parts[0] if len(parts) == 1 and " " not in parts[0] else f"({' + '.join(parts)})"

    @property
    def sides(self) -> tuple[str, str]:
        """What is added and what is subtracted, as source."""
        added = {name: factor for name, factor in self.terms.items() if factor > 0}
        subtracted = {name: -factor for name, factor in self.terms.items() if factor < 0}
        left = Size(self.trace, added, max(self.constant, 0), 0)
        return left.source, Size(self.trace, subtracted, max(-self.constant, 0), 0).source

    def _refuse(self, *others: object, **options: object) -> NoReturn:
        self.trace.failed = True
        raise NeedsSizes

    def _operand(self, other: Any) -> Size | None:
        """An operand next to the size as a size; `None` for one that is not a number."""
        if not self.trace.open:
            self._refuse()
        if other.__class__ is Size and other.trace is self.trace:
            return other
        if other.__class__ is int:
            return Size(self.trace, {}, other, other, other >= 0)
        if other.__class__ is float and math.isfinite(other):
            return Size(self.trace, {repr(other): 1}, 0, other, other >= 0)
        if isinstance(other, int | float | Size) or hasattr(other, "__array__"):
            self._refuse()
        return None

    def _plus(self, other: Size, sign: int) -> Size:
        terms = dict(self.terms)
        for name, factor in other.terms.items():
            terms[name] = terms.get(name, 0) + sign * factor
            if not terms[name]:
                del terms[name]
        constant, value = self.constant + sign * other.constant, self.value + sign * other.value
        natural = constant >= 0 and all(factor > 0 for factor in terms.values())
        return Size(self.trace, terms, constant, value, natural and self.natural and other.natural)

    def _times(self, other: Size) -> Size:
        for size, number in ((self, other), (other, self)):
            if not number.terms:
                factor = number.constant
                terms = {name: factor * times for name, times in size.terms.items() if factor}
                return Size(
                    self.trace, terms, factor * size.constant, factor * size.value, size.natural and factor >= 0
                )
        left, right = sorted((self.source, other.source))
        natural = self.natural and other.natural
        return Size(self.trace, {f"({left} * {right})": 1}, 0, self.value * other.value, natural)

    def __hash__(self) -> int:  # no memo may hold a symbolic size; code that meets this error does without the memo
        raise NeedsSizes

    def _number(self) -> Any:
        """The number, which is then the same in all shapes that satisfy the guards."""
        if not (self.trace.numbers and self.trace.open):
            self._refuse()
        same: Any = self.__eq__(self.value)  # which notes the guard
        assert same
        return self.value

    def __index__(self) -> int:
        return operator.index(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __repr__(self) -> str:
        return repr(self._number())

    def __format__(self, specification: str) -> str:
        return format(self._number(), specification)

    def __bool__(self) -> bool:
        answer: bool = self.__ne__(0)
        return answer


_REFUSED: Final = """
array bytes call ceil complex contains copy deepcopy divmod floor getitem invert iter len lshift
matmul pow rdivmod reduce_ex rlshift rmatmul round rpow rrshift rshift trunc
and or xor rand ror rxor"""

for _name in _REFUSED.split():
    setattr(Size, f"__{_name}__", Size._refuse)


def _arithmetic(symbol: str, compute: Callable[[Any, Any], Any], reflected: bool) -> Callable[[Size, object], Any]:
    def operate(size: Size, other: object) -> Any:
        operand = size._operand(other)
        if operand is None:
            return NotImplemented
        left, right = (operand, size) if reflected else (size, operand)
        if symbol != "/" and left.value.__class__ is int and right.value.__class__ is int:
            if symbol in "+-":
                return left._plus(right, 1 if symbol == "+" else -1)
            if symbol == "*":
                return left._times(right)
        try:
            value = compute(left.value, right.value)
        except ZeroDivisionError:
            size._refuse()
        natural = symbol != "-" and left.natural and right.natural
        return Size(size.trace, {f"({left.source} {symbol} {right.source})": 1}, 0, value, natural)

    return operate


def _comparison(symbol: str, compute: Callable[[Any, Any], bool]) -> Callable[[Size, object], Any]:
    def compare(size: Size, other: object) -> Any:
        operand = size._operand(other)
        if operand is None:
            return NotImplemented
        answer = compute(size.value, operand.value)
        left, right = size.source, operand.source
        if size.value.__class__ is int and operand.value.__class__ is int:
            difference = size._plus(operand, -1)
            if not difference.terms:
                return answer  # the same for all sizes
            if all(factor > 0 for factor in difference.terms.values()):
                natural = all(part.natural for part in (size, operand) if part.terms)
                name = Size(size.trace, difference.terms, 0, 0).source
                return size.trace.within(name, natural, symbol, -difference.constant, answer)
            left, right = difference.sides
        size.trace.guards.setdefault(f"{left} {symbol} {right}", answer)
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
    setattr(Size, f"__{_name}__", _arithmetic(_symbol, _compute, False))
    setattr(Size, f"__r{_name}__", _arithmetic(_symbol, _compute, True))
for _name, (_symbol, _answer) in _COMPARISONS.items():
    setattr(Size, f"__{_name}__", _comparison(_symbol, _answer))


def _negate(size: Size) -> Any:
    return 0 - size  # type: ignore[operator] # by the reflected operator


def _absolute(size: Size) -> Any:
    return size if size.natural else size._refuse()


setattr(Size, "__neg__", _negate)  # noqa: B010 # mypy allows no assignment to a method
setattr(Size, "__abs__", _absolute)  # noqa: B010
