"""`with` blocks that change a setting for a thread or task, such as the default backend."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from contextvars import ContextVar, Token, copy_context
from functools import partial, wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from itertools import chain
from operator import call
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Self, TypeVar
from weakref import proxy

from .errors import ArgumentError, BackendError, expected

P = ParamSpec("P")
R = TypeVar("R")

around_calls: Final[list[Callable[..., Any]]] = []
"""What a block runs public functions and programs through: a function that takes whether a function of the library is
called, that function or the program, and its arguments. It is empty outside of such blocks, which is all that other
calls look at."""

# Functions in C of what a block holds.
_call: Final[Callable[[Callable[[], object]], object]] = call
_get: Final[Callable[[ContextVar[Any]], Any]] = ContextVar.get
_set: Final[Callable[[ContextVar[Any], Any], object]] = ContextVar.set


if TYPE_CHECKING:

    class _Ended:
        close: Callable[[], object]

        def __enter__(self) -> Any: ...
        def __exit__(self, *error: object) -> None: ...

else:
    from io import IOBase as _Ended


class _Open:
    """A block that is open in a context, above those that began before it and are open still."""

    __slots__ = ("before", "key", "variables")

    def __init__(self, key: Token[None], variables: tuple[ContextVar[Any], ...], before: tuple[Any, ...]) -> None:
        self.key: Final = key
        """What the block has for its own. Contexts that are copied from its context share it."""
        self.variables: Final = variables
        """What it sets; the last is `_innermost`."""
        self.before: Final = before
        """The values that its variables get back at its end."""


_innermost: Final[ContextVar[_Open | None]] = ContextVar("tensorbackend_blocks", default=None)
"""The block of the context that began last. What hangs on it never changes, as copies of the context have it too."""

_home: Final[ContextVar[None]] = ContextVar("tensorbackend_block_home")
"""Its tokens know the context in which a block began."""


class EndedInC(_Ended):
    """A `with` block whose end calls `close`, which its beginning sets.

    The end of the block is that of a file: `IOBase.__exit__` calls `close`. In CPython both run in C, where no signal
    is handled. An `__exit__` in Python may be interrupted at its entry, before anything is restored, as may a
    generator's.
    """

    closed = True
    """Says that nothing has to be closed when a block is dropped."""

    def __init__(self) -> None:
        self.close: Callable[[], object] = no_end

    def check_ended(self) -> None:
        """Raises `BackendError` if the block has begun and not ended, as then its end would be another's too."""
        if self.close is not no_end:
            raise BackendError(expected("a block that has not begun", "make another one for each with statement"))


def no_end() -> None:
    """The end of a block that is not open."""


class FunctionDecorator(EndedInC, ContextDecorator):
    """A block that decorates functions too: each call then opens a block of its own, and so does each coroutine.

    Raises `ArgumentError` for a generator function, whose body runs only when the block of the call has ended.
    """

    def __call__(self, function: Any) -> Any:
        if isgeneratorfunction(function) or isasyncgenfunction(function):
            remedy = "write a with statement in it"
            raise ArgumentError(expected("a function that is no generator", remedy, function=function.__qualname__))
        if not iscoroutinefunction(function):
            return super().__call__(function)

        @wraps(function)
        async def run(*arguments: Any, **keywords: Any) -> Any:
            with self._recreate_cm():
                return await function(*arguments, **keywords)

        return run

    def _recreate_cm(self) -> Self:
        """The block of one call of a decorated function."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__, close=no_end)
        return made


class Ending(EndedInC, Generic[R]):
    """A `with` block that binds `value`, sets context variables, and ends their values.

    A block that a generator or a task holds may end before one that began later. It then hands what it restores to the
    next block above it that sets the same variable, so each value stays until its block ends, and no longer. A block
    must end in the context in which it began, as no other can change that: else it raises `BackendError`.

    Rejected: `contextlib.contextmanager`. Python closes an unreferenced generator in the context that is current then,
    which would restore the values there.

    >>> depth = ContextVar("depth", default=0)
    >>> with Ending("deeper", [(depth, 1)]) as name:
    ...     name, depth.get()
    ('deeper', 1)
    >>> depth.get()
    0
    """

    def __init__(self, value: R, settings: Sequence[tuple[ContextVar[Any], Any]]) -> None:
        super().__init__()
        self._value = value
        self._settings = dict(settings)

    def __enter__(self) -> R:
        self.check_ended()
        variables, below, key = (*self._settings, _innermost), _innermost.get(), _home.set(None)
        before = *map(_get, self._settings), below
        opened = _Open(key, variables, before)
        # What is called at the end is known before anything is set, and all in C: blocks that began later have left
        # this one as the innermost, or else it ends among them. `_ended` may be interrupted, as nothing is left to do.
        in_order: Any = partial(deque, map(_set, variables, before), 0)
        among_others: Any = partial(_end_among_others, key)
        choose: Callable[[Any, Any], Any] = {opened: in_order}.get
        end = map(choose, map(_call, (_innermost.get,)), (among_others,))
        # A weak reference to the block, which a cycle would keep if it is dropped while it is open.
        close: Any = partial(deque, map(_call, chain(end, (partial(type(self)._ended, proxy(self), key),))), 0)
        try:
            self.close = close
            deque(map(_set, variables, (*self._settings.values(), opened)), 0)
        except BaseException:  # an interrupt
            self.close = no_end
            deque(map(_set, variables, before), 0)
            raise
        return self._value

    def _ended(self, key: Token[None]) -> None:
        """Is called once everything is restored; `BackendError` if the context is not that in which the block began.

        Python closes a generator that is dropped in whichever context is current, so a block in it raises nothing.
        """
        try:
            _home.reset(key)
            self.close = no_end
        except ValueError as error:
            if isinstance(error.__context__, GeneratorExit):
                return
            # `self` is a proxy: the method is that of its class.
            steps = partial(_end_among_others, key), partial(self.__class__._ended, self, key)
            self.close = partial(deque, map(_call, steps), 0)
            duty = "a block to end in the thread or task in which it began, where its setting stays until it ends there"
            raise BackendError(expected(duty, "use a with statement in a function that does not yield")) from None


class Block(FunctionDecorator, Ending[R]):
    """A block of settings that decorates functions too."""


def _end_among_others(key: Token[None]) -> None:
    """Ends a block above which others began that are open still, or that is not open in this context."""
    above, opened = list[_Open](), _innermost.get()
    while opened is not None and opened.key is not key:
        above.append(opened)
        opened = opened.before[-1]
    if opened is None:
        return
    restored = dict(zip(opened.variables, opened.before, strict=True))
    for upper in reversed(above):
        before = [
            restored.pop(variable) if variable in restored else value
            for variable, value in zip(upper.variables, upper.before, strict=True)
        ]
        restored[_innermost] = _Open(upper.key, upper.variables, tuple(before))
    deque(map(_set, restored, restored.values()), 0)


def in_own_context(function: Callable[P, R]) -> Callable[P, R]:
    """A function that runs in a copy of the current context, so that no context variable that it sets outlives it.

    Python may be interrupted at the start of the end of a `with` block, before anything is restored. This package opens
    its own blocks only in such functions: the interpreter itself leaves the copy, which no interrupt can prevent.

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
