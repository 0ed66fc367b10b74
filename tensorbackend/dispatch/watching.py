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

from ..caching import module_lock
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
    kinds: tuple[tuple[Any, ...], Any] | None = None
    """The kinds of the operands and of the result where `out` is `None`: templates, or `Shaped` for those of any shape;
    `None` for another operand."""


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


_watches: Final[list[Change]] = []
"""What watches, the innermost first."""
_places: Final[list[Place]] = []
_memos: Final[list[Any]] = []
"""The memos of all places."""
_programs: Final[WeakSet[Any]] = WeakSet()
"""Programs: functions that call the kernels in their global variables, and objects that are places."""

# Held while the watching function changes in all places, and while a new program gets it.
_lock = module_lock(__name__)


def watch_kernel(kernel: Kernel, subject: Subject | None) -> Kernel:
    """The kernel that a place should hold: the kernel itself, or a watched one while something watches."""
    return _watched(kernel, subject) if _watches else kernel


def _watched(kernel: Kernel, subject: Subject | None = None) -> Kernel:
    """The kernel with all that watches around it."""
    original = original_kernel(kernel)
    watched = original
    for change in _watches:
        around = change(watched, subject)
        if around is not watched:
            watched = around
            watched.__unwatched__ = original  # type: ignore[attr-defined] # read by `original_kernel`
    return watched


def original_kernel(kernel: Kernel, subject: Subject | None = None) -> Kernel:
    """The original of a watched kernel; any other kernel itself."""
    return getattr(kernel, "__unwatched__", kernel)


def is_watching(change: Change | None = None) -> bool:
    """Whether something watches, or one of what may."""
    return bool(_watches) if change is None else change in _watches


def watch(change: Change, *, inner: bool = False) -> None:
    """Replaces all kernels, now and from now on, by what `change` returns for them, until `unwatch(change)`.

    With `inner`, what else watches is around the kernels that `change` returns, and not inside them.
    """
    with _lock:
        _watches.insert(0 if inner else len(_watches), change)
        _exchange_all()


def unwatch(change: Change) -> None:
    """Ends what `watch(change)` began; an interrupt meanwhile is raised when all kernels are as before."""
    with _lock:
        _watches.remove(change)
        try:
            _exchange_all()
        except BaseException:
            _exchange_all()
            raise


def _exchange_all() -> None:
    change = _watched if _watches else original_kernel
    for place in _places:
        place.exchange(change)
    for program in list(_programs):
        _exchange(program, change)


def forget() -> None:
    """Drops all kernels that are ready to run; the next call of each op plans one again.

    After that, turning watching on or off is as quick as in a new process.
    """
    with _lock:
        for memo in _memos:
            if memo:
                memo.clear()


remembers("calls that are ready", lambda: sum(map(len, _memos)), forget, lambda: MEMO_LIMIT * len(_memos))


def holds_kernels(place: Place) -> None:
    """Adds a place that lasts as long as the process."""
    _places.append(place)
    _memos.extend(place.memos)


def is_program(program: Any) -> None:
    """Adds a function whose global variables `k0`, `k1`, ... are kernels, or a place, for as long as it exists."""
    with _lock:
        _programs.add(program)
        if _watches:
            _exchange(program, _watched)


def _exchange(program: Any, change: Change) -> None:
    if hasattr(program, "exchange"):
        program.exchange(change)
        return
    variables = program.__globals__
    for name, value in list(variables.items()):
        if name[0] == "k" and name[1:].isdigit():
            variables[name] = change(value, None)
