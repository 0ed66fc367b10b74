"""`with` blocks that change a setting for a thread or task, such as the default backend."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import _GeneratorContextManager
from contextvars import copy_context
from functools import wraps
from types import GeneratorType, TracebackType
from typing import Final, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_open: Final[set[object]] = set()
"""The generators of blocks that were begun and not ended."""

atexit.register(_open.clear)  # while the variables that they restore still exist


class _Block(_GeneratorContextManager[R]):
    """A block whose generator lives until the block ends, or for ever if an interrupt kept it from ending.

    Python closes a generator that nothing refers to, in whatever context is current then. The generator would restore
    its old value in that context, although the block began in another one.
    """

    def __enter__(self) -> R:
        _open.add(self.gen)
        try:
            return super().__enter__()
        finally:
            self._forget()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        try:
            return super().__exit__(kind, error, traceback)
        finally:
            self._forget()

    def _forget(self) -> None:
        """Drops the generator if it has ended, which it has not if an interrupt came before it restored anything."""
        if cast("GeneratorType[R, None, None]", self.gen).gi_frame is None:
            _open.discard(self.gen)


def contained(function: Callable[P, R]) -> Callable[P, R]:
    """A function that runs in a copy of the current context, so that no context variable that it sets outlives it.

    Python may be interrupted when the end of a `with` block is entered, before anything is restored. This package opens
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
    >>> @contained
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


def block(function: Callable[P, Iterator[R]]) -> Callable[P, _GeneratorContextManager[R]]:
    """`contextlib.contextmanager` for blocks that set context variables.

    Parameters
    ----------
    function : Callable
        A generator function that yields once, and restores in `finally` what it has set.

    Returns
    -------
    Callable
        A function that returns the block.

    Examples
    --------
    >>> from contextvars import ContextVar
    >>> depth = ContextVar("depth", default=0)
    >>> @block
    ... def deeper():
    ...     before = depth.get()
    ...     try:
    ...         depth.set(before + 1)
    ...         yield
    ...     finally:
    ...         depth.set(before)
    >>> with deeper():
    ...     depth.get()
    1
    """

    @wraps(function)
    def begun(*arguments: P.args, **keywords: P.kwargs) -> _GeneratorContextManager[R]:
        return _Block(function, arguments, keywords)  # type: ignore[arg-type] # a generator function, by its contract

    return begun
