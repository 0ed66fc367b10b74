"""What the library caches, and how a program clears it: `caches`, `clear_caches` and the bounded memos.

A memo that can grow registers here, with a function that counts its entries and one that drops them. `POLICY` has the
numbers that decide when what comes again is made quicker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Generic, NamedTuple, TypeVar

Entry = TypeVar("Entry")


class Cache(NamedTuple):
    """A kind of cached thing."""

    name: str
    entries: int
    """How many of them there are now."""
    limit: int | None
    """The most that are kept; `None` where they end with what they belong to, such as a function or a backend."""

    def __str__(self) -> str:
        return f"{self.name}: {self.entries}" + ("" if self.limit is None else f" of {self.limit}")


class _Source(NamedTuple):
    entries: Callable[[], int]
    clear: Callable[[], object]
    limit: Callable[[], int | None]


_sources: Final[dict[str, _Source]] = {}


def remembers(
    name: str, count: Callable[[], int], clear: Callable[[], object], limit: Callable[[], int | None] = lambda: None
) -> None:
    """Registers memos under a name, which `caches` shows."""
    _sources[name] = _Source(count, clear, limit)


def remembers_calls(name: str, *functions: Any) -> None:
    """Registers functions with a `functools.lru_cache`."""
    remembers(
        name,
        lambda: sum(function.cache_info().currsize for function in functions),
        lambda: [function.cache_clear() for function in functions],
        lambda: sum(function.cache_info().maxsize for function in functions),
    )


def clear_all(memos: Iterable[Any]) -> None:
    """Clears memos, or caches with such a method."""
    for memo in memos:
        memo.clear()


class BoundedMemo(dict[Any, Entry], Generic[Entry]):
    """A bounded memo: a new entry replaces the oldest one. Threads that add a key at the same time get one entry."""

    def __init__(self, name: str, limit: int) -> None:
        super().__init__()
        self.limit: Final = limit
        remembers(name, self.__len__, self.clear, lambda: limit)

    def keep(self, key: Any, entry: Entry) -> Entry:
        """Adds an entry; returns the one that another thread has added under the key meanwhile, if there is one."""
        while len(self) >= self.limit:
            try:
                del self[next(iter(self))]
            except (KeyError, RuntimeError, StopIteration):  # another thread changes the memo meanwhile
                break
        return self.setdefault(key, entry)


def caches() -> tuple[Cache, ...]:
    """List what the library caches, to see what uses memory in a long-running program.

    Nothing here holds the data of tensors, except for constants of programs, of at most 64 KiB each, and the
    structures of sparse matrices, which are dropped with the tensors of their indices. Cleared entries are made again
    when they are needed.

    Returns
    -------
    tuple of Cache
        For each kind of thing its name, the number of entries and its maximum.

    See Also
    --------
    clear_caches : Clears all of them.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.clear_caches()
    >>> gradient = tb.grad(lambda x: x * x)(tb.asarray(3.0))
    >>> [str(cache) for cache in tb.caches() if cache.name == "programs of gradients"]
    ['programs of gradients: 1 of 512']
    """
    return tuple(Cache(name, source.entries(), source.limit()) for name, source in _sources.items())


def clear_caches() -> None:
    """Clear what the library caches: plans of calls, kernels, compilations, nodes and programs of gradients.

    The next call of each op is planned again, and a function of `jit` is compiled again.

    See Also
    --------
    caches : Lists what is cached.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.clear_caches()
    """
    for source in _sources.values():
        source.clear()


class Policy(NamedTuple):
    """How many calls, shapes or plans it takes; a name says what is counted."""

    shapes_before_symbolic: int = 2
    """So many shapes of a kind are planned exactly before it is planned on symbolic sizes; of `jit`, too."""
    calls_before_exact: int = 4
    """A shape that a plan by kind served so often becomes a call that is ready. In a network a new shape occurs in
    several layers."""
    calls_before_exact_program: int = 8
    """A shape that a program of `jit` for many sizes served so often is compiled exactly."""
    plans_of_a_kind: int = 8
    """The most plans or programs of one kind. They differ in the answers to guards, such as whether a size is 1."""
    shapes_counted: int = 4096
    """The most shapes of a plan whose calls are counted."""
    calls_before_body: int = 6
    """A function of the NumPy namespace runs op by op so often before it becomes a program."""
    calls_before_compiling: int = 16
    """The call at which the program of a gradient is compiled, which takes some milliseconds."""
    compilations_before_warning: int = 16
    """So many compilations that differ in one option or in sizes alone lead to a warning."""


POLICY: Final = Policy()
