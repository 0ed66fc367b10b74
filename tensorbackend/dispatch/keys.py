"""What a call is remembered by: the templates of its tensors, the types of its numbers, and its options.

An option is part of a key together with its class, as 1, True and 1.0 are equal. The class tells enough of `ATOMS`; of
other values `told` makes what can stand in a key.
"""

from __future__ import annotations

from typing import Any, Final

from ..dtypes import DType
from ..operands import kind_of
from ..rules.plan import freeze

NUMBERS: Final = frozenset({bool, int, float, complex})
"""Types of the Python numbers that may stand beside tensors."""

ATOMS: Final = frozenset({bool, int, str, type(None), DType})
"""Classes of options that tell equal values of other classes apart, so that an option is its own key beside its class."""

_SAME_IN_TUPLES: Final = frozenset({str, int, type(None)})
"""Classes of elements such that two equal tuples of them are the same option. (True,) equals (1,), so bool is missing."""


def told(value: Any) -> Any:
    """An option as part of a key, such that values that are equal but not the same option have different keys.

    Lists become tuples; floats keep the sign of zero. Raises `KeyError` for NaN, which is found under no key, and
    `TypeError` for an option that does not hash; callers then take the full path.

    >>> told((0, 1)), told(0.0) == told(-0.0), told((1,)) == told((True,))
    ((0, 1), False, False)
    """
    if value.__class__ is tuple:
        for part in value:
            if part.__class__ not in _SAME_IN_TUPLES:
                break
        else:
            return value
    elif value.__class__ in ATOMS:
        return value
    frozen = freeze(value)
    if frozen != frozen:
        raise KeyError(value)
    return frozen, kind_of(frozen)
