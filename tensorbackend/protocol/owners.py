"""Whether a write to a payload could be visible elsewhere, according to its reference counts.

CPython counts the references to each object. A payload that only its tensor refers to has as many as `_PINNED` says,
where `held_alone` counts: the tensor's attribute, a local variable and the argument of `getrefcount`. Anything else
that keeps the payload (a view, a tensor of the same payload, a tape, a program, a buffer, another thread's frame) adds
one. `is_spare` does the same for the operands of a program's kernel.

Too large a number would cause a wrong result, too small a number a copy. So each version of the interpreter has its
number here, by hand, and both functions must count it when this module is imported. In any other case they always
answer no: another version, another interpreter, a build without the global lock (which counts otherwise), a debugger
that keeps the local variables of the functions that it steps through.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from sys import getrefcount
from typing import Any, Final
from weakref import getweakrefcount

from ..tensor import Tensor, blank_tensor

_PINNED: Final[Mapping[tuple[int, int], int]] = {(3, 11): 3, (3, 12): 3, (3, 13): 3}
"""What `getrefcount` says about a payload that only one tensor holds, by the version of Python."""

_NEVER: Final = -1

_alone = _NEVER
"""That number where it may be trusted; a number that no object ever has where the answer is always no."""


def held_alone(x: Tensor) -> bool:
    """Whether nothing but a tensor refers to its payload, strongly or weakly, so that a write to it cannot be seen.

    The caller must exclude memory that the payload shares without a reference, and addresses that were passed on.
    A local variable that holds the payload makes the answer no.

    Parameters
    ----------
    x : Tensor
        The tensor.

    Returns
    -------
    bool
        Whether the payload may be written to.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x = tb.zeros(3) + 1
    >>> y = x[1:]
    >>> held_alone(x)
    False
    """
    data = x.data
    return getrefcount(data) == _alone and not getweakrefcount(data)


def is_spare(payload: Any) -> bool:
    """Whether a kernel may write into the payload that it was given: only a variable of the program refers to it, which
    no later line reads.

    The kernel must have the payload in one parameter and nowhere else, and the program must call it at the last use.

    Parameters
    ----------
    payload
        The payload, as the kernel's parameter.

    Returns
    -------
    bool
        Whether the payload may be written to.

    Examples
    --------
    >>> payload = object()
    >>> kept = [payload, payload]
    >>> is_spare(payload)
    False
    """
    return getrefcount(payload) == _alone + 1 and not getweakrefcount(payload)


class _Payload:
    """Represents a payload; weak references to it are possible, as to an array."""


def pinned_count() -> int:
    """The number pinned for this interpreter, 0 if there is none."""
    if sys.implementation.name != "cpython" or "free-threading" in sys.version:
        return 0
    return _PINNED.get(sys.version_info[:2], 0)


def calibrate(number: int) -> bool:
    """Whether both functions are correct with a number, which they then use; if not, they always answer no."""
    global _alone
    _alone = number
    x, y = blank_tensor(), blank_tensor()
    x.data = _Payload()
    alone, spare = held_alone(x), _program([_Payload()])
    y.data = x.data
    shared = held_alone(x) or _program([x.data])
    del y
    if not (alone and spare and not shared and held_alone(x)):
        _alone = _NEVER
    return _alone != _NEVER


def _program(carried: list[Any]) -> bool:
    """The situation of a kernel that a program calls."""
    t0 = carried.pop()
    return _kernel(t0)


def _kernel(payload: Any) -> bool:
    return is_spare(payload)


calibrate(pinned_count())
