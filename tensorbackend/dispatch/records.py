"""The calls of an op that are ready: records of them, the memo that holds these, and what a warm call does besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from ..caching.option_keys import MEMO_LIMIT, remember
from ..protocol import Backend, Kernel, Payload
from ..protocol.planned import QuickKernel, is_busy, quick_form
from ..template import Template
from ..tensor import Tensor
from .watching import Change, Subject


class Ready(NamedTuple):
    """A call for which nothing is left to do but to run its kernel."""

    out: Any
    """The output template, a tuple of them for several results; or `Shaped` in place of a template."""
    kernel: Kernel
    result: Callable[..., Any] | None = None
    """Makes the public result of several tensors; a tuple by default."""
    subject: Subject | None = None
    """The computation of the kernel, for a profile."""
    constants: tuple[Callable[[Any], Payload] | None, ...] = ()
    """For each operand the function that makes the payload of a number, or `None` for a tensor."""


Record: TypeAlias = tuple[Any, Kernel, Ready]
"""A ready call as a memo holds it, with its output template and the quick form of its kernel in front: a plain tuple,
which unpacks quicker than a named one."""


def record(ready: Ready) -> Record:
    """A ready call as a memo holds it."""
    return ready.out, quick_form(ready.kernel), ready


class Memo:
    """The records of an op's calls, by key.

    A key is a tuple. In a nested memo each part of it is the key of one dictionary: `entries[backend][t1][t2]` takes 40
    ns less than building the tuple of these and looking that up.
    """

    def __init__(self, *, nested: bool) -> None:
        self.nested: Final = nested
        self.entries: Final[dict[Any, Any]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count if self.nested else len(self.entries)

    def find(self, key: tuple[Any, ...]) -> Record | None:
        """The record under a key, or `None`."""
        found: Any = self.entries
        for part in key if self.nested else (key,):
            found = found.get(part)
            if found is None:
                break
        return found  # type: ignore[no-any-return] # a record, as the key leads to the last dictionary

    def enter(self, key: tuple[Any, ...], known: Record) -> None:
        """Enters a record. A full memo drops its oldest record; a nested one drops them all."""
        if not self.nested:
            remember(self.entries, key, known)
            return
        if self._count >= MEMO_LIMIT:
            self.clear()
        level = self.entries
        for part in key[:-1]:
            level = level.setdefault(part, {})
        self._count += key[-1] not in level
        level[key[-1]] = known

    def exchange(self, change: Change) -> None:
        """Replaces each kernel by what `change` returns for it."""
        _exchange(self.entries, change)

    def clear(self) -> None:
        """Drops all records."""
        self.entries.clear()
        self._count = 0


def _exchange(level: dict[Any, Any], change: Change) -> None:
    for key, value in list(level.items()):
        if value.__class__ is dict:
            _exchange(value, change)
        else:
            ready: Ready = value[-1]
            level[key] = record(ready._replace(kernel=change(ready.kernel, ready.subject)))


KeyOf: TypeAlias = Callable[..., Any]
"""Returns the key of a call for its arguments; raises an error for a call that has no key."""

Missed: TypeAlias = Callable[[KeyOf, Sequence[Any], dict[str, Any]], Any]
"""Runs the full path of a call; takes the `KeyOf` of the op, and the arguments by position and by name."""

Failed: TypeAlias = Callable[[Exception, Backend, Sequence[Any]], None]
"""Raises the error that the user sees in place of a kernel's, if that is another one; takes the arguments too."""


class Lookup:
    """What a warm call turns to when it has no exact plan."""

    __slots__ = ("call", "key_of", "missed")

    def __init__(self, missed: Missed) -> None:
        self.missed: Final = missed
        self.key_of: KeyOf | None = None
        """The function of an exact key, `None` until the op's code is generated."""
        self.call: Callable[..., Any] = self._miss
        """Takes the arguments of the call. It takes the full path, until the op has plans by kind (`kind_lookup`)."""

    def _miss(self, *arguments: Any, **keywords: Any) -> Any:
        assert self.key_of is not None  # the op's code has run
        return self.missed(self.key_of, arguments, keywords)


def recovery(failed: Failed) -> Callable[..., Payload]:
    """The function that handles a kernel's error: it runs the kernel if only its quick form was busy, or raises."""

    def recovered(
        error: Exception, ready: Ready, backend: Backend, payloads: Sequence[Any], arguments: Sequence[Any]
    ) -> Payload:
        if isinstance(ready.kernel, QuickKernel) and is_busy(error):
            try:
                return ready.kernel(*payloads)
            except Exception as other:  # whatever a backend's code raises
                other.__context__ = None  # the first error did not lead to this one
                error = other
        failed(error, backend, arguments)
        raise error

    return recovered


def operands_of(arguments: Sequence[Any]) -> Iterator[Template]:
    """The templates of the tensors among the arguments of a call."""
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument.template
        elif isinstance(argument, list | tuple):
            yield from operands_of(argument)
