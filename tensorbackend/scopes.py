"""`with` blocks that change a setting for a thread or task, such as the default backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from contextvars import ContextVar, copy_context
from copy import copy
from functools import wraps
from typing import Any, Final, Generic, ParamSpec, Self, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

around_calls: Final[list[Callable[..., Any]]] = []
"""What a block runs public functions and programs through: a function that takes whether a function of the library is
called, that function or the program, and its arguments. It is empty outside of such blocks, which is all that other
calls look at."""


class Block(ContextDecorator, Generic[R]):
    """A `with` block that sets context variables, and restores their old values at its end.

    It decorates functions too: each call then opens a block. Rejected: `contextlib.contextmanager`. Python closes an
    unreferenced generator in the context that is current then, which would restore the values there.

    Parameters
    ----------
    value : object
        The value that `as` binds.
    settings : sequence of tuple
        Each variable with its value inside the block.

    Examples
    --------
    >>> depth = ContextVar("depth", default=0)
    >>> with Block("deeper", [(depth, 1)]) as name:
    ...     name, depth.get()
    ('deeper', 1)
    >>> depth.get()
    0
    """

    def __init__(self, value: R, settings: Sequence[tuple[ContextVar[Any], Any]]) -> None:
        self._value: Final = value
        self._settings: Final = settings
        self._before: list[tuple[ContextVar[Any], Any]] = []

    def _recreate_cm(self) -> Self:
        """The block of one call of a decorated function."""
        return copy(self)

    def __enter__(self) -> R:
        self._before = [(variable, variable.get()) for variable, _ in self._settings]
        try:
            for variable, value in self._settings:
                variable.set(value)
        except BaseException:  # an interrupt
            self.__exit__()
            raise
        return self._value

    def __exit__(self, *error: object) -> None:
        for variable, value in self._before:
            variable.set(value)


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
