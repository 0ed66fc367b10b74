"""`explain_compilations`: why a compiled function was traced again."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any, Final, NamedTuple, TypeVar
from weakref import WeakSet

from ..caching import module_lock
from ..caching.memos import POLICY, clear_all, remembers
from ..declarations.argument_errors import check_arguments
from ..dtypes import defaults
from ..errors import ArgumentError, OperandError, RecompilationWarning, expected, shown
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor
from .arguments import StaticArgument
from .node import Line, frames_to_user, here

KEPT_COMPILATIONS: Final = 64
"""The most compilations of a function that are remembered here."""

ABSENT: Final = "absent"

Entry = TypeVar("Entry")

# One lock for all functions, held while something is compiled, noted or copied; a forked child finds it free.
_lock = module_lock(__name__)


class Compilation(NamedTuple):
    """One trace of a compiled function."""

    number: int
    """The number of the compilation, from 1."""
    arguments: dict[str, Any]
    """By their paths, the template of each tensor among the arguments, and each option; the backend, the precision."""
    line: Line | None
    """The user's line of the call."""
    many_sizes: bool
    """Whether it serves other sizes too."""
    changes: tuple[str, ...]
    """What differs from the nearest earlier compilation."""

    def __repr__(self) -> str:
        why = "; ".join(self.changes)
        place = f", {self.line}" if self.line is not None else ""
        return f"{self.number}. {why}{', for many sizes' if self.many_sizes else ''}{place}"


class Compilations(Sequence[Compilation]):
    """The compilations of a function, the latest `KEPT_COMPILATIONS` of them."""

    def __init__(self, name: str, *, warns: bool = True) -> None:
        self.name: Final = name
        self._kept: deque[Compilation] = deque(maxlen=KEPT_COMPILATIONS)
        self._count = 0
        self._varied: Counter[str] = Counter()
        self._warned, self._warns = False, warns

    def clear(self) -> None:
        """Forgets all."""
        with _lock:
            self._kept.clear()
            self._varied.clear()
            self._count, self._warned = 0, False

    def note(self, paths: Sequence[str], leaves: Sequence[Any], backend: Backend, *, many_sizes: bool = False) -> None:
        """Notes a compilation for arguments; warns once if one option had many values."""
        arguments: dict[str, Any] = {
            path: leaf.template if isinstance(leaf, Tensor) else _option(leaf)
            for path, leaf in zip(paths, leaves, strict=True)
        }
        arguments |= {"the backend": backend, "the precision": defaults.current_precision()}
        with _lock:
            text = self._enter(arguments, many_sizes)
        if text is not None:
            warnings.warn(text, RecompilationWarning, stacklevel=frames_to_user())

    def _enter(self, arguments: dict[str, Any], many_sizes: bool) -> str | None:
        """Keeps a compilation; returns the text of a warning, the first time that one is due."""
        nearest = min(reversed(self._kept), key=lambda other: _distance(other.arguments, arguments), default=None)
        places = [] if nearest is None else _differences(nearest.arguments, arguments)
        changes = ["the first call"]
        if nearest is not None:
            form = ["the arguments are passed in another way, by position or by keyword"]
            changes = [_change(place, nearest.arguments, arguments) for place in places] or form
        self._count += 1
        self._kept.append(Compilation(self._count, arguments, here(), many_sizes, tuple(changes)))
        if len(places) != 1 or not isinstance(arguments.get(places[0]), _Option):
            return None
        (place,) = places
        self._varied[place] += 1
        times = POLICY.compilations_before_warning
        if self._varied[place] < times or self._warned or not self._warns:
            return None
        self._warned = True
        return f"{self.name}: compiled again {times} times, each for another value of {place}: {changes[0]}"

    def _copy(self) -> list[Compilation]:
        with _lock:
            return list(self._kept)

    def __iter__(self) -> Iterator[Compilation]:
        return iter(self._copy())  # other threads may add to it

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, position: Any) -> Any:
        return self._copy()[position]

    def __repr__(self) -> str:
        lines = [f"{self.name}: compiled {self._count} time{'s' * (self._count != 1)}", *map(repr, self._copy())]
        return "\n".join(lines)


@check_arguments
def explain_compilations(function: Callable[..., Any]) -> Compilations:
    """Return what a function of `jit` was compiled for, and why each time.

    Parameters
    ----------
    function : Callable
        A function that `tb.jit` returned.

    Returns
    -------
    Compilations
        A `Compilation` for each trace, the latest 64, which says what differs from the nearest earlier one and how
        to avoid that. Its `repr` shows all.

    Raises
    ------
    OperandError
        For any other function.

    Examples
    --------
    >>> @tb.jit
    ... def scaled(x, rate):
    ...     return x * rate
    >>> for rate in (0.5, 0.25):
    ...     y = scaled(tb.ones(2), rate)
    >>> tb.explain_compilations(scaled)[1].changes
    ('rate: 0.5, then 0.25; an option: pass a tensor, or tb.jit(trace_floats=True)',)
    """
    compilations = getattr(function, "compilations", None)
    if not isinstance(compilations, Compilations):
        raise OperandError(expected("a function that tb.jit returned", "compile it by tb.jit first", function=function))
    return compilations


class _Option(NamedTuple):
    """An option, by its class and its text; the object itself is not kept."""

    kind: type
    text: str
    identity: int = 0
    """The `id` of a function."""

    def __repr__(self) -> str:
        return self.text


def _option(leaf: Any) -> _Option:
    value = leaf.value if isinstance(leaf, StaticArgument) else leaf
    if isinstance(value, FunctionType | MethodType):
        return _Option(type(value), value.__qualname__, id(value))
    text = shown(value)
    return _Option(type(value), f"{text[:77]}..." if len(text) > 80 else text)


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The paths whose templates or options differ."""
    return [place for place in {**now, **before} if before.get(place, ABSENT) != now.get(place, ABSENT)]


def _distance(before: dict[str, Any], now: dict[str, Any]) -> float:
    """How much differs: an argument counts as 1, a template by its parts that differ."""
    total = 0.0
    for place in _differences(before, now):
        old, new = before.get(place, ABSENT), now.get(place, ABSENT)
        if isinstance(old, Template) and isinstance(new, Template):
            parts = old.dtype is not new.dtype, old.ndim != new.ndim, old.names != new.names, old.shape != new.shape
            total += max(sum(parts), 1) / len(parts)
        else:
            total += 1
    return total


def _change(place: str, before: dict[str, Any], now: dict[str, Any]) -> str:
    """What differs at a path, and how to avoid it."""
    old, new = before.get(place, ABSENT), now.get(place, ABSENT)
    text = f"{place}: {old}, then {new}"
    if isinstance(old, Template) and isinstance(new, Template):
        return f"{text}; {_compare_templates(old, new)}"
    if isinstance(old, _Option) and isinstance(new, _Option):
        if new.kind in (float, complex):
            return f"{text}; an option: pass a tensor, or tb.jit(trace_floats=True)"
        if new.kind is int:
            return f"{text}; an option: pass a tensor, or tb.jit(trace_ints=True), unless it is a size or an axis"
        if new.kind in (FunctionType, MethodType):
            return f"{text}; another function object: make it once, outside the loop"
        return f"{text}; an option: each value is compiled"
    return text


def _compare_templates(old: Template, new: Template) -> str:
    if old.dtype is not new.dtype:
        return "another dtype: cast it with astype()"
    if old.ndim != new.ndim:
        return "another number of axes"
    if old.names != new.names:
        return "other names: rename() it"
    if old.shape != new.shape:
        return "another shape: pad it to a few sizes, or use tb.ragged"
    return "a Python number before or after: pass a tensor"


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


class Cache:
    """A bounded dict. When it is full, it drops the oldest entry that was not called since it was last considered.

    Entries count their calls in an attribute `calls`. `get` counts one, and so must code that finds an entry otherwise.
    `beside` is what belongs to the entries and is kept elsewhere, to be cleared with them.
    """

    def __init__(self, maxsize: int, beside: Sequence[Any] = ()) -> None:
        if maxsize < 1:
            raise ArgumentError(expected("a cache_size of at least 1", cache_size=maxsize))
        self.maxsize, self.beside = maxsize, beside
        self.quick: dict[Any, Any] = {}
        """Some of the entries, by keys that are quicker to make."""
        self.last: Any = None
        """The entry that was found twice in a row, and is tried first."""
        self._latest: Any = None
        self._entries: dict[Hashable, Any] = {}
        self._seen: dict[Hashable, int] = {}
        self._gone = self._misses = 0
        _caches.add(self)

    def get(self, key: Hashable) -> Any:
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

    def prefer(self, entry: Any) -> None:
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
        clear_all(self.beside)


_caches: Final[WeakSet[Cache]] = WeakSet()

remembers(
    "compilations of jit",
    lambda: sum(cache.info().currsize for cache in list(_caches)),
    lambda: clear_all(list(_caches)),
    lambda: sum(cache.maxsize for cache in list(_caches)),
)
