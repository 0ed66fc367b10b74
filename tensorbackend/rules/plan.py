"""What a rule returns."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from ..dtypes import DType
from ..errors import ArgumentError, expected
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


class Plan(NamedTuple):
    """How one call of a primitive is carried out."""

    out: Out
    """The template of the result, a tuple of them for an op with several results."""
    inputs: tuple[DType, ...]
    """For each input, in order, the dtype in which the callback gets it: the promotion of the operands."""
    options: Options = NO_OPTIONS
    """The callback's options, normalised: axes non-negative, defaults filled, everything hashable."""
