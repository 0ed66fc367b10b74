"""`with` blocks that change a setting for a thread or task, such as the default backend."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from contextvars import ContextVar, copy_context
from functools import partial, wraps
from operator import call
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Self, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

around_calls: Final[list[Callable[..., Any]]] = []
"""What a block runs public functions and programs through: a function that takes whether a function of the library is
called, that function or the program, and its arguments. It is empty outside of such blocks, which is all that other
calls look at."""

_call: Final[Callable[[Callable[[], object]], object]] = call
"""`operator.call`, of functions without arguments."""


if TYPE_CHECKING:

    class _Ended:
        close: Callable[[], object]

        def __exit__(self, *error: object) -> None: ...

else:
    from io import IOBase as _Ended


class Block(_Ended, ContextDecorator, Generic[R]):
    """A `with` block that sets context variables, and restores their old values at its end.

    It decorates functions too: each call then opens a block. The end of the block is that of a file: `IOBase.__exit__`
    calls `close`. In CPython both run in C, where no signal is handled. An `__exit__` in Python may be interrupted at
    its entry, before anything is restored, as may a generator's.

    Rejected: `contextlib.contextmanager`. Python closes an unreferenced generator in the context that is current then,
    which would restore the values there.

    Parameters
    ----------
    value : object
        The value that `as` binds.
    settings : sequence of tuple
        Each variable with its value inside the block.
    ends : sequence of callable, default ()
        What the end of the block calls after that; it cannot be interrupted if it is written in C.

    Examples
    --------
    >>> depth = ContextVar("depth", default=0)
    >>> with Block("deeper", [(depth, 1)]) as name:
    ...     name, depth.get()
    ('deeper', 1)
    >>> depth.get()
    0
    """

    closed = True
    """Says that nothing has to be closed when a block is dropped."""

    def __init__(
        self,
        value: R,
        settings: Sequence[tuple[ContextVar[Any], Any]],
        ends: Sequence[Callable[[], object]] = (),
    ) -> None:
        self._value: Final = value
        self._settings = settings
        self._ends: Final = ends
        self.close: Callable[[], object] = _nothing

    def _recreate_cm(self) -> Self:
        """The block of one call of a decorated function."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __enter__(self) -> R:
        before: list[Callable[[], object]] = [partial(variable.set, variable.get()) for variable, _ in self._settings]
        # It calls all, in C, and returns what is false. It is known before anything is set.
        self.close = partial(deque, map(_call, [*before, *self._ends]), 0)
        try:
            for variable, value in self._settings:
                variable.set(value)
        except BaseException:  # an interrupt
            deque(map(_call, before), 0)
            raise
        return self._value


def _nothing() -> None:
    """The end of a block that was never entered."""


def in_own_context(function: Callable[P, R]) -> Callable[P, R]:
    """A function that runs in a copy of the current context, so that no context variable that it sets outlives it.

    Python may be interrupted at the start of the end of a `with` block, before anything is restored. This package opens
    its own blocks only in such functions: the interpreter itself leaves the copy, which no interrupt can prevent.

    Parameters
    ----------
    function : Callable
        A function that opens blocks.

    Returns
    -------
    Callable
        The function, to be called in the same way.

    Examples
    --------
    >>> from contextvars import ContextVar
    >>> depth = ContextVar("depth", default=0)
    >>> @in_own_context
    ... def deeper():
    ...     depth.set(depth.get() + 1)
    ...     return depth.get()
    >>> deeper(), depth.get()
    (1, 0)
    """

    @wraps(function)
    def run(*arguments: P.args, **keywords: P.kwargs) -> R:
        return copy_context().run(function, *arguments, **keywords)

    return run
