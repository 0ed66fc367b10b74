"""A size as an expression of other sizes, and functions of sizes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, NoReturn, Protocol


class NeedsSizes(TypeError):
    """A number was needed where only an expression of sizes is known."""


class Trace(Protocol):
    """The run to which a size belongs, as sizes see it; `SizeTrace` describes it."""

    @property
    def templates(self) -> dict[Any, Any]:
        """Symbolic templates by their parts."""

    @property
    def numbers(self) -> bool:
        """Whether a number that is needed becomes a guard."""

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions in expressions."""

    open: bool
    failed: bool

    def within(self, name: str, natural: bool, symbol: str, bound: int, answer: bool) -> bool:
        """Notes a comparison of an expression and an int."""

    def guard(self, name: str, answer: bool) -> None:
        """Notes any other comparison."""

    def noted(self, name: str) -> None:
        """Called for what is noted."""


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


def maximum(left: Any, right: Any) -> Any:
    """The larger of two sizes; of symbolic sizes an expression, without a guard.

    >>> maximum(3, 5)
    5
    """
    size = left if left.__class__ is Size else right
    if size.__class__ is not Size:
        return max(left, right)
    size.trace.functions["max"] = max
    one, other = size._operand(left), size._operand(right)
    if one is None or other is None:
        size._refuse()
    difference = one._plus(other, -1)
    if not difference.terms:
        return left if difference.constant >= 0 else right
    for natural, number in ((left, other), (right, one)):
        if natural.__class__ is Size and natural.natural and not number.terms and number.constant <= 0:
            return natural
    return Size(
        size.trace,
        {f"max({one.source}, {other.source})": 1},
        0,
        max(one.value, other.value),
        one.natural or other.natural,
    )


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
        self, trace: Trace, terms: dict[str, int], constant: int, value: int | float, natural: bool = True
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
        self.trace.noted("")
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

    def _plain(self) -> Any:
        """The number of a sum without expressions, which is the same for all sizes."""
        return self if self.terms else self.constant

    def _divided(self, divisor: int) -> Size | None:
        """The quotient by a number that divides each multiple in the sum; `None` for any other number."""
        if self.constant % divisor or any(factor % divisor for factor in self.terms.values()):
            return None
        terms = {name: factor // divisor for name, factor in self.terms.items()}
        return Size(self.trace, terms, self.constant // divisor, self.value // divisor, self.natural)

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
        return self.__ne__(0)


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
                return left._plus(right, 1 if symbol == "+" else -1)._plain()
            if symbol == "*":
                return left._times(right)._plain()
            if symbol in ("//", "%") and not right.terms and right.constant > 0:
                exact = left._divided(right.constant)
                if exact is not None:
                    return exact if symbol == "//" else 0
            if symbol == "%" and right.terms and -right.value <= left.value < right.value:
                moved: Any = (
                    left if _natural(left) else left._plus(right, 1)
                )  # which notes a guard, as the next line does
                if 0 <= moved < right:
                    return moved._plain()
        try:
            value = compute(left.value, right.value)
        except ZeroDivisionError:
            size._refuse()
        natural = symbol != "-" and left.natural and right.natural
        return Size(size.trace, {f"({left.source} {symbol} {right.source})": 1}, 0, value, natural)

    return operate


def _natural(size: Any) -> bool:
    """Whether a size is at least 0, with a guard."""
    answer: bool = size >= 0
    return answer


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
        size.trace.guard(f"{left} {symbol} {right}", answer)
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
    return size if size.natural or size >= 0 else -size  # type: ignore[operator] # assigned below


setattr(Size, "__neg__", _negate)  # noqa: B010 # mypy allows no assignment to a method
setattr(Size, "__abs__", _absolute)  # noqa: B010
