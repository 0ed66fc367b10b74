"""Whether a tensor alone holds its payload, so that nobody can see when it is written to.

CPython counts the references to each object. A payload that only its tensor refers to has as many as `_PINNED` says,
where `held_alone` counts: the tensor's attribute, a local variable and the argument of `getrefcount`. Whatever else
keeps the payload (a view, a tensor of the same payload, a tape, a program, a buffer, another thread's frame) adds one.

A number that is too great would be a wrong result, one that is too small is a copy. So each version of the interpreter
has its number here, by hand, and `held_alone` must count it when this module is imported. Anything else means that it
always answers no: another version, another interpreter, a build without the global lock (which counts otherwise), a
debugger that keeps the local variables of the functions that it steps through.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from sys import getrefcount
from typing import Final
from weakref import getweakrefcount

from ..tensor import Tensor, blank_tensor

_PINNED: Final[Mapping[tuple[int, int], int]] = {(3, 11): 3, (3, 12): 3, (3, 13): 3}
"""What `getrefcount` says about a payload that only one tensor holds, by the version of Python."""

_alone = 0
"""That number where `held_alone` may be trusted; 0, which no object ever has, where it always answers no."""


def held_alone(x: Tensor) -> bool:
    """Whether nothing but a tensor refers to its payload, strongly or weakly, so that a write to it cannot be seen.

    Memory that the payload shares without a reference, and addresses that somebody took, are the caller's to exclude.
    A local variable that holds the payload makes the answer no.

    >>> import tensorbackend as tb
    >>> x = tb.zeros(3) + 1
    >>> y = x[1:]
    >>> held_alone(x)
    False
    """
    data = x.data
    return getrefcount(data) == _alone and not getweakrefcount(data)


class _Payload:
    """Stands for a payload; weak references to it are possible, as to an array."""


def pinned() -> int:
    """The number pinned for this interpreter, 0 where there is none."""
    if sys.implementation.name != "cpython" or "free-threading" in sys.version:
        return 0
    return _PINNED.get(sys.version_info[:2], 0)


def calibrated(number: int) -> bool:
    """Whether `held_alone` is right with a number, which it then uses; if not, it answers no from now on."""
    global _alone
    _alone = number
    x = blank_tensor()
    x.data = _Payload()
    alone = held_alone(x)
    y = blank_tensor()
    y.data = x.data
    shared = held_alone(x)
    del y
    if not alone or shared or not held_alone(x):
        _alone = 0
    return _alone > 0


calibrated(pinned())
