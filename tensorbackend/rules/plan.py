"""What a rule returns."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from ..dtypes import DType
from ..errors import ArgumentError, ArgumentKindError, expected
from ..template import Template

Out: TypeAlias = Template | tuple[Template, ...]
Options: TypeAlias = Mapping[str, object]

NO_OPTIONS: Options = MappingProxyType({})


def flag(**given: object) -> bool:
    """An option that is true or false, given by its name; `ArgumentError` for anything but a bool, 0 or 1.

    >>> flag(keepdims=True)
    True
    """
    ((name, value),) = given.items()
    if not (isinstance(value, int) or type(value).__name__ in ("bool", "bool_")) or value not in (0, 1):
        raise ArgumentError(expected(f"{name} to be True or False", **given))
    return bool(value)


def integer(low: int | None = None, /, **given: object) -> int:
    """An option that is an int of 64 bits, given by its name, at least `low`; `ArgumentError` for anything else.

    >>> integer(num=3)
    3
    """
    ((name, value),) = given.items()
    try:
        number = None if isinstance(value, bool) else index(value)  # type: ignore[arg-type] # or a TypeError
    except TypeError:
        number = None
    if number is None:
        raise ArgumentKindError(expected(f"{name} to be an int", **given))
    if not -(1 << 63) <= number < 1 << 63 or (low is not None and number < low):
        wanted = "an int of 64 bits" if low is None else f"from {low} up, in 64 bits"
        raise ArgumentError(expected(f"{name} to be {wanted}", **given))
    return number


class Plan(NamedTuple):
    """How one call of a primitive is carried out."""

    out: Out
    """The template of the result, a tuple of them for an op with several results."""
    inputs: tuple[DType, ...]
    """For each input, in order, the dtype in which the callback gets it: the promotion of the operands."""
    options: Options = NO_OPTIONS
    """The callback's options, normalised: axes non-negative, defaults filled, everything hashable."""
