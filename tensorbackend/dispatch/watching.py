"""Kernels under observation: while something watches, a watched kernel stands in place of each that is ready to run.

A warm call looks at nothing for that: it calls whatever its memo holds, and a program whatever its variables hold. So
what is off costs nothing, and to begin and to end takes a pass over all memos.

Rejected: a question in each call whether something watches, which costs 20 to 30 ns of a call that takes 500.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from weakref import WeakSet

from ..locks import free_in_child
from ..protocol import Backend, Kernel


class Subject(NamedTuple):
    """The computation of a kernel, as far as it is known."""

    name: str
    """The public op."""
    callback: str
    backend: Backend
    out: Any = None
    """The template of the result, a tuple of them, or `None` where it depends on the arguments."""
    inputs: tuple[Any, ...] = ()
    """The template of each tensor parameter, those of a sequence as a tuple, `None` where a tensor was left out."""
    options: Mapping[str, Any] = MappingProxyType({})
    parts: Any = None
    """The parts of the computation: a composite's default, a compiled graph."""


Change: TypeAlias = Callable[[Kernel, Subject | None], Kernel]
"""Gives the kernel that stands in place of another. A kernel without a subject is a line of a program, which knows its
own."""


class Place(Protocol):
    """A holder of kernels that are ready to run."""

    def exchange(self, change: Change) -> None:
        """Puts another kernel in place of each."""

    def forget(self) -> None:
        """Drops all kernels."""


_watch: Change | None = None
_places: Final[list[Place]] = []
_programs: Final[WeakSet[Any]] = WeakSet()
"""Functions that call kernels which are their global variables, and objects that are places."""

# The watching function is read and then entered in all places.
_lock = threading.RLock()
free_in_child(sys.modules[__name__], "_lock")


def watched(kernel: Kernel, subject: Subject | None) -> Kernel:
    """The kernel that a place is to hold: the kernel itself, or what watches it."""
    return kernel if _watch is None else _watch(kernel, subject)


def unwatched(kernel: Kernel, subject: Subject | None = None) -> Kernel:
    """The kernel behind one that watches it; any other itself."""
    original: Kernel = getattr(kernel, "__unwatched__", kernel)
    return original


def watch(change: Change | None) -> None:
    """Watches all kernels from now on, or for `None` no longer. What watches a kernel has it as `__unwatched__`."""
    global _watch
    with _lock:
        _watch = change
        for place in _places:
            place.exchange(unwatched if change is None else change)
        for program in list(_programs):
            _exchange(program, unwatched if change is None else change)


def forget() -> None:
    """Drops all kernels that are ready to run; the next call of each op plans one again.

    Then to begin and to end watching is as quick as in a new process.
    """
    with _lock:
        for place in _places:
            place.forget()


def holds_kernels(place: Place) -> None:
    """Enters a place that lasts as long as the process."""
    _places.append(place)


def holds_memo(memo: dict[Any, Any], name: str) -> None:
    """Enters a memo of kernels, or of records with one, whose keys hold a backend."""
    _places.append(_MemoPlace(memo, name))


class _MemoPlace(NamedTuple):
    memo: dict[Any, Any]
    name: str

    def exchange(self, change: Change) -> None:
        for key, record in list(self.memo.items()):
            if record is not None:
                (backend, *_) = (part for part in key if isinstance(part, Backend))
                named: Any = record if isinstance(record, tuple) else None
                changed_kernel = change(
                    record if named is None else named.kernel, Subject(self.name, self.name, backend)
                )
                self.memo[key] = changed_kernel if named is None else named._replace(kernel=changed_kernel)

    def forget(self) -> None:
        self.memo.clear()


def is_program(program: Any) -> None:
    """Enters, for as long as it lasts, a function with kernels for global variables `k0`, `k1`, ..., or a place."""
    with _lock:
        _programs.add(program)
        if _watch is not None:
            _exchange(program, _watch)


def _exchange(program: Any, change: Change) -> None:
    if hasattr(program, "exchange"):
        program.exchange(change)
        return
    variables = program.__globals__
    for name, value in list(variables.items()):
        if name[0] == "k" and name[1:].isdigit():
            variables[name] = change(value, None)
