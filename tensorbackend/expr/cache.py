"""The compilations of one function: a bounded cache, which drops compilations that are not called."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar
from weakref import WeakSet

from ..caching.locks import module_lock
from ..caching.memos import clear_all, remembers
from ..errors import ArgumentError, expected


class CacheInfo(NamedTuple):
    """The result of `cache_info()` of a compiled function, like that of `functools.lru_cache`."""

    hits: int
    """Calls that ran a compilation from the cache."""
    misses: int
    """Calls that traced and compiled the function."""
    maxsize: int
    """The largest number of compilations that are kept."""
    currsize: int
    """The number of compilations that the cache holds now."""


class CountedEntry(Protocol):
    """An entry of a cache. `Cache.get` counts its calls; code that finds an entry in another way must count them."""

    calls: int


Entry = TypeVar("Entry", bound=CountedEntry)


def _do_nothing() -> None: ...


# One lock for all caches: they are written only when something is compiled, and a forked child finds it free.
_lock = module_lock(__name__)


class Cache(Generic[Entry]):
    """A bounded dict. When it is full, it drops the oldest entry that was not called since it was last considered."""

    def __init__(self, maxsize: int) -> None:
        if maxsize < 1:
            raise ArgumentError(expected("a cache_size of at least 1", cache_size=maxsize))
        self.maxsize = maxsize
        self.quick: dict[Any, Entry] = {}
        """Some of the entries, by keys that are quicker to make."""
        self.last: Entry | None = None
        """The entry that was found twice in a row, and is tried first."""
        self._latest: Entry | None = None
        self._entries: dict[Hashable, Entry] = {}
        self._seen: dict[Hashable, int] = {}
        self._gone = self._misses = 0
        self.when_cleared: Callable[[], None] = _do_nothing
        """Drops what belongs to the compilations and is kept elsewhere."""
        _caches.add(self)

    def get(self, key: Hashable) -> Entry | None:
        """The entry of a key, or `None`. Finding an entry counts as a call."""
        entry = self._entries.get(key)
        if entry is not None:
            entry.calls += 1
        return entry

    def store(self, key: Hashable, entry: Entry) -> Entry:
        """Stores an entry, drops others while the cache is full, and counts a miss."""
        with _lock:
            self._misses += 1
            self._make_room()
            self._entries[key] = entry
        return entry

    def _make_room(self) -> None:
        """Drops entries until there is room for one more; a function of its own, as it runs under a lock."""
        while len(self._entries) >= self.maxsize:
            self._drop_one()

    def count(self, *, hit: bool) -> None:
        """Counts a call of a program for many sizes, or a trace that made such a program."""
        with _lock:
            if hit:
                self._gone += 1
            else:
                self._misses += 1

    def prefer(self, entry: Entry) -> None:
        """Notes that an entry was found. After the second consecutive time, it is the entry that is tried first."""
        self.last = entry if self._latest is entry else None
        self._latest = entry

    def _drop_one(self) -> None:
        while True:
            key = next(iter(self._entries))
            entry = self._entries.pop(key)
            if entry.calls == self._seen.pop(key, 0):
                self._gone += entry.calls
                # Copied first, in one step: other threads may add entries during the loop.
                self.quick = {key: other for key, other in self.quick.copy().items() if other is not entry}
                self.last = self._latest = None
                return
            self._entries[key], self._seen[key] = entry, entry.calls  # called: it moves to the end

    def info(self) -> CacheInfo:
        """The counts so far."""
        with _lock:
            hits = self._gone + sum(entry.calls for entry in self._entries.values())
            return CacheInfo(hits, self._misses, self.maxsize, len(self._entries))

    def clear(self) -> None:
        """Clears the entries and the counts."""
        with _lock:
            self.quick = {}
            self.last = self._latest = None
            self._entries.clear()
            self._seen.clear()
            self._gone = self._misses = 0
        self.when_cleared()


_caches: Final[WeakSet[Cache[Any]]] = WeakSet()

remembers(
    "compilations of jit",
    lambda: sum(cache.info().currsize for cache in list(_caches)),
    lambda: clear_all(list(_caches)),
    lambda: sum(cache.maxsize for cache in list(_caches)),
)
