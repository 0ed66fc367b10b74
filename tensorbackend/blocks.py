"""`with` blocks that change a setting for a thread or task, such as the default backend."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import _GeneratorContextManager
from functools import wraps
from types import GeneratorType, TracebackType
from typing import Final, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_open: Final[set[object]] = set()
"""The generators of blocks that were begun and not ended."""

atexit.register(_open.clear)  # while what they take back is still there


class _Block(_GeneratorContextManager[R]):
    """A block whose generator lives until the block ends, or for ever where an interrupt took the end away.

    Python ends a generator that nothing refers to, in whatever context it is then: that would set there what stood
    before the block in another one.
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
        """Lets go of a generator that has ended: an interrupt may have come before it took anything back."""
        if cast("GeneratorType[R, None, None]", self.gen).gi_frame is None:
            _open.discard(self.gen)


def block(function: Callable[P, Iterator[R]]) -> Callable[P, _GeneratorContextManager[R]]:
    """`contextlib.contextmanager` for what sets variables of a context.

    Parameters
    ----------
    function : Callable
        A generator function that yields once, and takes back in `finally` what it has set.

    Returns
    -------
    Callable
        A function that gives the block.

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
