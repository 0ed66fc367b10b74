"""The calls of an op that are ready: records of them, the memo that holds these, and what a warm call needs besides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from ..caching.option_keys import MEMO_LIMIT, remember
from ..declarations.op_specs import OpSpec
from ..errors import DataError
from ..protocol import Backend, Kernel, Payload
from ..protocol.planned import QuickKernel, is_busy, quick_form
from ..template import Template
from ..tensor import Tensor
from .checked import explain
from .kernels import wrap
from .watching import Change, Subject


class ReadyCall(NamedTuple):
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
    plan: Any = None
    """The plan by kind that made the call, a `KindPlan`; the full path serves the call where its kernel fails."""


Record: TypeAlias = tuple[Any, Kernel, ReadyCall]
"""A ready call as a memo holds it, with its output template and the quick form of its kernel in front: a plain tuple,
which unpacks quicker than a named one."""


def record(ready: ReadyCall) -> Record:
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

    def store(self, key: tuple[Any, ...], known: Record) -> None:
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

    @property
    def memos(self) -> list[Memo]:
        """The memo itself, as a place of kernels (`watching`)."""
        return [self]

    def clear(self) -> None:
        """Drops all records."""
        self.entries.clear()
        self._count = 0


def _exchange(level: dict[Any, Any], change: Change) -> None:
    for key, value in list(level.items()):
        if value.__class__ is dict:
            _exchange(value, change)
        else:
            ready: ReadyCall = value[-1]
            level[key] = record(ready._replace(kernel=change(ready.kernel, ready.subject)))


Key: TypeAlias = Any
"""A key of a memo: the backend, the templates or their kinds, the classes of numbers, the options, the precision."""

ServeCall: TypeAlias = Callable[[Sequence[Any], dict[str, Any]], Any]
"""Runs the full path of a call; takes the arguments by position and by name."""


class Dispatcher(ABC):
    """What the code of an op's warm calls needs of the op."""

    direct = False
    """Whether a call does without its kernel where that fails (`direct`)."""
    precise = True
    """Whether the default precision is part of a key that is not nested."""

    def __init__(self, spec: OpSpec, *, sole: bool, nested: bool) -> None:
        self.spec: Final = spec
        self.sole: Final = sole
        """Whether the op has one result whatever its arguments are."""
        self.calls: Final = Memo(nested=nested)
        """The calls that are ready."""
        self.kinds: Final[dict[Key, Any]] = {}
        """The plans that serve new shapes, by kind: for each a `Kind`."""
        self.times: Final[dict[Key, int]] = {}
        """How often calls came that become ready only when they come again."""
        self.key_of: Callable[..., Key]
        """The key of a call for its arguments, once the op's code is generated.

        Raises an error of any class for a call that has no key.
        """
        self.kind_of: Callable[..., tuple[Key, tuple[Any, ...]]]
        """Likewise the kind of a call, and the shapes of its operands and options."""

    @abstractmethod
    def serve(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of a call that is not ready."""

    def exchange(self, change: Change) -> None:
        """Replaces each kernel that is ready by what `change` returns for it."""
        self.calls.exchange(change)
        self.kinds.clear()

    @property
    def memos(self) -> list[Any]:
        """All that is kept of the op's calls."""
        return [self.calls, self.kinds, self.times]

    def recover(
        self, error: Exception, ready: ReadyCall, backend: Backend, payloads: Sequence[Any], arguments: Sequence[Any]
    ) -> Any:
        """The result of a call whose kernel raised an error because its quick form was busy; else raises an error.

        Returns `None` where the full path has to serve the call.
        """
        if ready.plan is not None:
            ready.plan.fail(error)
            return None
        if isinstance(ready.kernel, QuickKernel) and is_busy(error):
            try:
                return wrap(ready.out, backend, ready.kernel(*payloads), ready.result)
            except Exception as other:  # whatever a backend's code raises
                other.__context__ = None  # the first error did not lead to this one
                error = other
        self.raise_explained(error, backend, arguments)
        raise error

    def raise_explained(self, error: Exception, backend: Backend, arguments: Sequence[Any]) -> None:
        """Raises the error that the user sees in place of a kernel's error, if there is one.

        It is a `DataError` with the op and its operands in front of the text, or a `ContractError` for an accident of a
        plugin.
        """
        if isinstance(error, DataError):
            raise error.met(self.spec.name, _templates_in(arguments)) from None
        explain(error, self.spec.callback, backend)


def _templates_in(arguments: Sequence[Any]) -> Iterator[Template]:
    """The templates of the tensors among the arguments of a call."""
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument.template
        elif isinstance(argument, list | tuple):
            yield from _templates_in(argument)
