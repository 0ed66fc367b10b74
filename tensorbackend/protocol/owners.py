"""Whether a program may write over an operand that it needs no more, according to the operand's reference count.

A program keeps its payloads in variables. If a payload was made by the program, the variable refers to it, and so does
whatever else keeps it: a view, a constant, a tape, another thread's frame. CPython counts these references, and
`is_spare` compares the count with that of a payload that only the variable of a program refers to.

Only speed and memory depend on it: where the answer is no, the kernel writes to new memory. Too large a number would
cause a wrong result. So each version of the interpreter has its numbers here, by hand, and `calibrate` must count them
when this module is imported. In any other case the answer is always no: another version, another interpreter, a build
without the global lock (which counts otherwise), a debugger that keeps the local variables of functions. `tensorbackend
info` says so. Assignments count nothing (`backends/numpy_backend/memory.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from sys import getrefcount
from typing import Any, Final, NamedTuple
from weakref import getweakrefcount


class Counts(NamedTuple):
    """What `getrefcount` says in `is_spare` and `is_spare_base` about what nothing else refers to."""

    payload: int
    base: int


_NEVER: Final = Counts(-1, -1)
"""Numbers that no object ever has."""

PINNED: Final[Mapping[tuple[int, int], Counts]] = {
    (3, 11): Counts(4, 4),  # the variable, two parameters, the argument
    (3, 12): Counts(4, 4),
    (3, 13): Counts(4, 4),
    (3, 14): Counts(1, 2),  # parameters and arguments borrow the reference of the variable
    (3, 15): Counts(1, 2),
}
"""The numbers by the version of Python."""

_counts = _NEVER


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
    return getrefcount(payload) == _counts.payload and not getweakrefcount(payload)


def is_spare_base(base: Any) -> bool:
    """Whether only a spare payload, which is a view of it, refers to a base, and a variable of the caller."""
    return getrefcount(base) == _counts.base and not getweakrefcount(base)


def reuses_operands() -> bool:
    """Whether programs write over operands on this interpreter."""
    return _counts is not _NEVER


class _Payload:
    """Represents a payload; weak references to it are possible, as to an array."""

    def __init__(self, base: Any = None) -> None:
        self.base = base


def pinned_counts() -> Counts:
    """The numbers pinned for this interpreter, or those of the answer no."""
    if sys.implementation.name != "cpython" or "free-threading" in sys.version:
        return _NEVER
    return PINNED.get(sys.version_info[:2], _NEVER)


def calibrate(counts: Counts) -> bool:
    """Whether the answers are correct with some numbers, which are used from then on; if not, they are always no."""
    global _counts
    _counts = counts
    shared = _Payload(_Payload())
    answers = _program([_Payload(_Payload())]), _program([shared]), _program([_Payload(shared)])
    if answers != ((True, True), (False, True), (True, False)):
        _counts = _NEVER
    return _counts is not _NEVER


def _program(carried: list[Any]) -> tuple[bool, bool]:
    """The situation of a kernel that a program calls."""
    t0 = carried.pop()
    return _kernel(t0)


def _kernel(payload: Any) -> tuple[bool, bool]:
    return is_spare(payload), _has_spare_base(payload)


def _has_spare_base(payload: Any) -> bool:
    base = payload.base
    return is_spare_base(base)


calibrate(pinned_counts())
