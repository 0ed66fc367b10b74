"""`Plan`, the result of a rule, and checks of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

from ..dtypes import DType
from ..errors import ArgumentError, ArgumentKindError, TensorBackendError, expected
from ..errors.hints import rows
from ..template import Template, as_int

Choice = TypeVar("Choice", bound=str)
Out: TypeAlias = Template | tuple[Template, ...]
Options: TypeAlias = Mapping[str, object]

NO_OPTIONS: Options = MappingProxyType({})


def flag(**option: object) -> bool:
    """An option that is true or false, by its name; `ArgumentError` for anything but a bool, 0 or 1.

    >>> flag(keepdims=True)
    True
    """
    ((name, value),) = option.items()
    if not (isinstance(value, int) or type(value).__name__ in ("bool", "bool_")) or value not in (0, 1):
        raise ArgumentError(expected(f"{name} to be True or False", **option))
    return bool(value)


def choice(known: Sequence[Choice], /, **option: object) -> Choice:
    """An option that is one of several words, given by its name; `ArgumentError` for anything else.

    >>> choice(("low", "high"), mode="low")
    'low'
    """
    ((name, value),) = option.items()
    if not isinstance(value, str) or value not in known:
        *others, last = map(repr, known)
        raise ArgumentError(expected(f"{name} to be {', '.join(others)} or {last}", **option))
    return value  # type: ignore[return-value] # one of them


def integer(low: int | None = None, /, **option: object) -> int:
    """An option that is an int of 64 bits, given by its name, at least `low`; `ArgumentError` for anything else.

    >>> integer(num=3)
    3
    """
    ((name, value),) = option.items()
    number = as_int(value)
    if number is None:
        remedy = rows("arguments.new_axis")["stack"] if name == "axis" and isinstance(value, str) else ""
        raise ArgumentKindError(expected(f"an int as {name}", remedy, **option))
    if not -(1 << 63) <= number < 1 << 63 or (low is not None and number < low):
        bounds = "of 64 bits" if low is None or number >= low else f"of at least {low}"
        raise ArgumentError(expected(f"an int {bounds} as {name}", **option))
    return number


def number(low: float | None = None, /, **option: object) -> float:
    """An option that is a real number, given by its name, above `low`; `ArgumentError` for anything else.

    >>> number(0, tolerance=1)
    1.0
    """
    ((name, value),) = option.items()
    try:
        given = float(value)  # type: ignore[arg-type] # or an error
    except TensorBackendError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentKindError(expected(f"a number as {name}", **option)) from error
    if low is not None and not given > low:  # NaN is not
        raise ArgumentError(expected(f"a number above {low} as {name}", **option))
    return given


class Plan(NamedTuple):
    """How one call of a primitive is carried out."""

    out: Out
    """The template of the result, a tuple of them for an op with several results."""
    inputs: tuple[DType, ...]
    """The dtype in which the callback gets each input, in order; operands are cast to it."""
    options: Options = NO_OPTIONS
    """The callback's options, normalised: axes non-negative, defaults filled, everything hashable."""
