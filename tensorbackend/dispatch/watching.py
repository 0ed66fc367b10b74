"""Kernels under observation: while something watches, a watched kernel replaces each that is ready to run.

A warm call does not check whether it is watched: it calls the kernel that its memo holds, and a program calls the
kernels that its variables hold. So watching costs nothing while it is off, and turning it on or off takes a pass over
all memos.

Rejected: a check in each call, which costs 20 to 30 ns of a call that takes 500 ns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from weakref import WeakSet

from ..caching.locks import module_lock
from ..caching.memos import remembers
from ..caching.option_keys import MEMO_LIMIT
from ..protocol import Backend, Kernel


class Subject(NamedTuple):
    """The computation of a kernel, as far as it is known."""

    name: str
    """The public op."""
    callback: str
    backend: Backend
    out: Any = None
    """The template of the result, a tuple of templates for several results, `None` if they depend on the arguments."""
    inputs: tuple[Any, ...] = ()
    """For each tensor parameter its template, a tuple of templates for a sequence, or `None` if it was left out."""
    options: Mapping[str, Any] = MappingProxyType({})
    parts: Any = None
    """The parts of the computation: a composite's default, a compiled graph."""


Change: TypeAlias = Callable[[Kernel, Subject | None], Kernel]
"""Returns the kernel that takes the place of another one. The subject is `None` for a kernel in a line of a program,
whose global variables say what the line computes."""


class Place(Protocol):
    """A holder of kernels that are ready to run."""

    def exchange(self, change: Change) -> None:
        """Replaces each kernel by what `change` returns for it."""

    @property
    def memos(self) -> Sequence[Any]:
        """The memos of the place: of calls, and of what plans them."""


_watch: Change | None = None
_places: Final[list[Place]] = []
_programs: Final[WeakSet[Any]] = WeakSet()
"""Programs: functions that call the kernels in their global variables, and objects that are places."""

# Held while the watching function changes in all places, and while a new program gets it.
_lock = module_lock(__name__)


def watch_kernel(kernel: Kernel, subject: Subject | None) -> Kernel:
    """The kernel that a place should hold: the kernel itself, or a watched one while something watches."""
    return kernel if _watch is None else _watch(kernel, subject)


def original_kernel(kernel: Kernel, subject: Subject | None = None) -> Kernel:
    """The original of a watched kernel; any other kernel itself."""
    original: Kernel = getattr(kernel, "__unwatched__", kernel)
    return original


def is_watching() -> bool:
    """Whether something watches."""
    return _watch is not None


def watch(change: Change | None) -> None:
    """Replaces all kernels, now and from now on, by what `change` returns for them; `None` ends that.

    A kernel that `change` returns in place of another has that one as its attribute `__unwatched__`.
    """
    global _watch
    with _lock:
        _watch = change
        for place in _places:
            place.exchange(original_kernel if change is None else change)
        for program in list(_programs):
            _exchange(program, original_kernel if change is None else change)


def forget() -> None:
    """Drops all kernels that are ready to run; the next call of each op plans one again.

    After that, turning watching on or off is as quick as in a new process.
    """
    with _lock:
        for place in _places:
            for memo in place.memos:
                memo.clear()


remembers(
    "calls that are ready",
    lambda: sum(len(memo) for place in _places for memo in place.memos),
    forget,
    lambda: MEMO_LIMIT * sum(len(place.memos) for place in _places),
)


def holds_kernels(place: Place) -> None:
    """Adds a place that lasts as long as the process."""
    _places.append(place)


def is_program(program: Any) -> None:
    """Adds a function whose global variables `k0`, `k1`, ... are kernels, or a place, for as long as it exists."""
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
