"""The source of a generator's numbers: a key, and blocks of numbers from which small draws are cut.

A draw by the library costs as much as a thousand numbers do, and programs often draw one at a time. So small draws are
cut from a block of float64 that is drawn at once. Keys and blocks are in NumPy's memory: a draw is the same on every
backend, and a trace in which something is drawn leaves no part of it behind.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from threading import local
from typing import Any, Final, NamedTuple

import numpy

import tensorbackend as tb

from ..caching import module_lock
from ..dtypes import bool_
from ..errors import ArgumentError, ArgumentKindError, OutOfRangeError, expected
from ..ops.generator import is_from_outside, outside_error, repeating_trace
from ..tensor import Tensor
from .arrays import as_shape, functions, ndarray, result
from .conversion import NUMBERS, back, cast, host, tensor
from .dtypes import HostOnlyError, numpy_dtype

SMALL: Final = 64
"""The most numbers that are cut from a block."""

_BLOCK: Final = 1024

_EXACT: Final = 2**20
"""The most integers of which a number of a block chooses one: their chances differ by less than 2**-32."""


_lock = module_lock(__name__)
"""Held while a place in a block, or a stream, is read and replaced; never while something is drawn."""


class Saved(NamedTuple):
    """The state of a source."""

    seed: Any
    key: Any
    blocks: Any
    by_host: Any


class _Stream:
    """The numbers after one seed: seeding again begins another stream, whatever other threads draw from this one."""

    def __init__(self, seed: Any, keys: Any = None, blocks: Any = (), by_host: Any = None) -> None:
        self.trace = repeating_trace()
        self.seed = seed
        self.keys = keys
        self.blocks: dict[Any, tuple[Any, int]] = dict(blocks)
        self.by_host = by_host


class Source:
    """What random numbers are drawn from, besides NumPy's own stream.

    A thread takes a key, or a place in a block, in one step: no number is drawn twice. Arguments are checked before
    that step, and where a draw fails all the same, the source is as it was.
    """

    def __init__(self, seed: Any) -> None:
        self._begin(seed)

    def _begin(self, seed: Any) -> None:
        self._stream = _Stream(seed)

    def _check_trace(self) -> None:
        """Raises `ArgumentError` in a function that is traced once, for a state from outside."""
        if is_from_outside(self._stream.trace):
            remedy = "draw before the call and pass the numbers, or draw with tb.random from a key that is passed"
            raise outside_error(remedy)

    def _keys(self) -> Any:
        """The generator of keys, in NumPy's memory."""
        stream = self._stream
        if stream.keys is None:
            seed = _random_seed() if stream.seed is None else stream.seed
            with tb.default_backend("numpy"):
                made = tb.random.generator(seed)
            with _lock:
                if stream.keys is None:
                    stream.keys = made
        return stream.keys

    def _drawn(self, sample: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What a function makes of the next key, on the default backend."""
        self._check_trace()
        home, keys = tb.get_backend(), self._keys()
        with tb.default_backend("numpy"):
            before, key, after = keys._advance()
        try:
            return sample(key if key.backend is home else key.backend_transfer(home), *arguments, **options)
        except BaseException:  # an interrupt too
            keys._replace(after, before)
            raise

    def _drawn_by_host(self, name: str, arguments: Any, options: Any) -> Any:
        """A draw by a generator of NumPy's, for distributions that the library has no sampler of."""
        self._check_trace()
        stream = self._stream
        source = stream.by_host
        if source is None:
            with tb.default_backend("numpy"):
                return self._drawn(self._first_by_host, name, arguments, options)
        return _draw_of(source, name)(*arguments, **options)

    def _first_by_host(self, key: Tensor, name: str, arguments: Any, options: Any) -> Any:
        stream, source = self._stream, numpy.random.default_rng(numpy.asarray(key).tolist())
        made = _draw_of(source, name)(*arguments, **options)
        with _lock:
            if stream.by_host is None:  # else that of another thread stays, and this draw was of a key of its own
                stream.by_host = source
        return made

    def _cut(self, sample: Callable[..., Tensor], count: int) -> Any:
        """A few numbers of a distribution without parameters, as NumPy's array, which the caller must not change."""
        self._check_trace()
        blocks = self._stream.blocks
        with _lock:
            block, start = blocks.get(sample, (None, _BLOCK))
            if start + count <= _BLOCK and block is not None:
                blocks[sample] = block, start + count
                return block[start : start + count]
        with tb.default_backend("numpy"):
            block = numpy.asarray(self._drawn(sample, (_BLOCK,), tb.float64))
        with _lock:
            blocks[sample] = block, count
        return block[:count]

    def _numbers(self, sample: Callable[..., Tensor], shape: tuple[int, ...]) -> Any:
        """Numbers of a distribution without parameters: NumPy's number without a shape, else a tensor."""
        if not shape:
            return self._cut(sample, 1)[0]
        count = math.prod(shape)
        if count > SMALL:
            return self._drawn(sample, shape, tb.float64)
        return tb.asarray(self._cut(sample, count).reshape(shape).copy())

    def _places(self, high: int, shape: tuple[int, ...]) -> Any:
        """A few integers from 0 up to a bound, as NumPy's array or number; None for many, or a large bound."""
        count = math.prod(shape)
        if count > SMALL or not 0 < high <= _EXACT:
            return None
        made = (self._cut(tb.random.uniform, count) * high).astype(numpy.int64)
        return made.reshape(shape) if shape else made[0]

    def _weighted_places(self, weights: Any, shape: tuple[int, ...]) -> Any:
        """A few places with chances in proportion to weights; None for many."""
        count = math.prod(shape)
        if count > SMALL:
            return None
        limits = numpy.cumsum(numpy.asarray(host(weights), float))
        made = numpy.searchsorted(limits, self._cut(tb.random.uniform, count) * limits[-1], side="right")
        return made.reshape(shape) if shape else made[0]

    def _order(self, length: int) -> Any:
        """A few positions in random order, as NumPy's array; None for many."""
        return numpy.argsort(self._cut(tb.random.uniform, length), kind="stable") if length <= SMALL else None

    def _save(self) -> Saved:
        stream = self._stream
        with _lock:
            key, blocks = None if stream.keys is None else stream.keys.key, dict(stream.blocks)
        return Saved(stream.seed, key, blocks, deepcopy(stream.by_host))

    def _restore(self, saved: Saved) -> None:
        keys = None if saved.key is None else tb.random.Generator(saved.key)
        self._stream = _Stream(saved.seed, keys, saved.blocks, deepcopy(saved.by_host))


def _draw_of(source: Any, name: str) -> Any:
    """A method of NumPy's generator, or of `RandomState` over the same bits for a legacy one."""
    return getattr(source if hasattr(source, name) else numpy.random.RandomState(source.bit_generator), name)


def _random_seed() -> int:
    return int(numpy.random.SeedSequence().entropy) % 2**63  # type: ignore[arg-type] # one int, as it drew it itself


def as_seed(seed: Any) -> int | None:
    """What NumPy takes as the seed of a generator, as an int of 64 bits; `None` for another one each time."""
    if seed is None or (isinstance(seed, int | numpy.integer) and 0 <= seed < 2**64):
        return None if seed is None else int(seed)
    with as_library_errors():
        return int(_sequence(seed).generate_state(1, numpy.uint64)[0]) % 2**63


def _sequence(seed: Any) -> Any:
    """The sequence of what NumPy takes as a seed: ints, a bit generator, or a sequence itself."""
    seed = seed.seed_seq if isinstance(seed, numpy.random.BitGenerator) else seed
    return seed if isinstance(seed, numpy.random.SeedSequence) else numpy.random.SeedSequence(host(seed))


def as_legacy_seed(seed: Any) -> Any:
    """What NumPy takes as the seed of a `RandomState`, which a `Source` takes too."""
    if seed.__class__ is not int or not 0 <= seed < 2**32:
        with as_library_errors():
            numpy.random.RandomState(host(seed))
    return as_seed(seed)


# What a call asks for is checked before anything is drawn

_CLASSES: Final = {ValueError: ArgumentError, TypeError: ArgumentKindError, OverflowError: OutOfRangeError}
_REAL: Final[frozenset[Any]] = frozenset({int, float, numpy.float64, numpy.float32, numpy.int64})
LARGEST: Final = sys.float_info.max


class _Judges(local):
    """Generators of NumPy whose draws nobody uses, one of each kind for a thread: they say which calls are wrong."""

    def __init__(self) -> None:
        self.Generator, self.RandomState = numpy.random.default_rng(0), numpy.random.RandomState(0)


_judges: Final = _Judges()


def library_error(error: Exception) -> Exception:
    """The library's error for one of NumPy's about arguments; an error itself that is the library's, or says more."""
    kind = _CLASSES.get(type(error))
    return error if kind is None else kind(str(error))


@contextmanager
def as_library_errors() -> Iterator[None]:
    """A block in which NumPy's errors about arguments become the library's."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        known = library_error(error)
        if known is error:
            raise
        raise known from error


def check_by_numpy(kind: str, name: str, *arguments: Any, **options: Any) -> None:
    """Raises the error that NumPy's method has for arguments, if their data can be read."""
    read = [_readable(each) for each in arguments]
    if all(each is not _UNKNOWN for each in read):
        with as_library_errors():
            getattr(getattr(_judges, kind), name)(*read, **options)


_UNKNOWN: Final = object()


def _readable(value: Any) -> Any:
    """A parameter for NumPy; `_UNKNOWN` for a tensor without data, which a trace has."""
    if isinstance(value, list | tuple) and NUMBERS.issuperset(map(type, value)):
        return value
    if value.__class__ is ndarray or isinstance(value, Tensor | list | tuple):
        try:
            value = tensor(value)
        except HostOnlyError:  # such as texts, of which NumPy says what is wrong
            return host(value)
        return host(value) if value.backend.is_concrete(value) else _UNKNOWN
    return value


def has_data(value: Any) -> bool:
    """Whether a parameter can be read, which those of a trace cannot be."""
    return _readable(value) is not _UNKNOWN


def check_writable(x: Any) -> None:
    """Raises an error for an array that must not be written to."""
    if not getattr(getattr(x, "flags", None), "writeable", True):
        raise ArgumentError(expected("an array that can be written to", "pass a copy"))


def is_real(value: Any) -> bool:
    """Whether a parameter is a finite real number, by a quick look at it."""
    return value.__class__ in _REAL and bool(-LARGEST <= value <= LARGEST)


def check_scale(kind: str, name: str, shape: tuple[int, ...], location: Any, scale: Any) -> None:
    """Raises NumPy's error for a location and a scale that a distribution does not have, or that do not fit a shape."""
    if not (is_real(location) and is_real(scale) and scale > 0):
        check_by_numpy(kind, name, location, scale, size=(0, *shape))


# Sizes, parameters and results


def shape_of(size: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape of a draw with a size, or for `None` that of its parameters."""
    if size is not None:
        return _as_size(size)
    if NUMBERS.issuperset([each.__class__ for each in parameters]):
        return ()
    return tb.broadcast_shapes(*[tensor(each).shape for each in parameters])


def _as_size(size: Any) -> tuple[int, ...]:
    """A size of NumPy as a shape."""
    try:
        if isinstance(size, bool):
            raise TypeError
        shape = tuple(map(operator.index, as_shape(size)))
    except TypeError as error:
        raise ArgumentKindError(expected("an int or a sequence of ints as the size", size=size)) from error
    if shape and min(shape) < 0:
        raise ArgumentError(expected("no negative dimensions", size=size))
    return shape


def is_number(value: Any) -> bool:
    """Whether a parameter is a number, of Python or NumPy."""
    return value.__class__ in NUMBERS


def as_parameter(parameter: Any) -> Any:
    """A parameter that numbers are multiplied by or added to."""
    return parameter if is_number(parameter) else cast(tensor(parameter), tb.float64)


def of_size(size: Any, made: Any) -> Any:
    """What was drawn. A single draw is a number without a size, and an array of no axes for `size=()`, as in NumPy."""
    return made if size is None or made.__class__ is ndarray else functions["asarray"](made)


def as_result(size: Any, made: Any) -> Any:
    """What a program gets for numbers of a size: an array, or a Python number."""
    drawn = made if isinstance(made, numpy.generic) else result(made)
    return drawn.item() if size is None and isinstance(drawn, numpy.generic) else of_size(size, drawn)


def scaled(size: Any, made: Any, scale: Any, location: Any) -> Any:
    """Numbers of a size times a scale, plus a location, which `as_parameter` has made of what the call names."""
    if made.__class__ is numpy.float64:
        if is_number(scale) and is_number(location):
            return as_result(size, made * scale + location)
        made = float(made)
    return as_result(size, made * scale + location)


def draw_integers(source: Source, low: Any, high: Any, size: Any, dtype: Any, endpoint: bool) -> Any:
    """Integers of a dtype from `low` up to `high`, cut from blocks where both are numbers."""
    numbers = is_number(low) and is_number(high)
    shape = shape_of(size, low, high)
    plain = low.__class__ is int and high.__class__ is int and dtype is tb.int64
    if not (plain and -(2**63) <= low < high + endpoint <= 2**63):
        check_by_numpy("Generator", "integers", low, high, None, numpy_dtype(dtype), endpoint)
    if numbers:
        places = source._places(int(high) + endpoint - int(low), shape)
        if places is not None:
            return of_size(size, back((places + int(low)).astype(numpy_dtype(dtype))))
    first, last = (tb.broadcast_to(cast(tensor(each), tb.int64), shape) if not is_number(each) else int(each)
                   for each in (low, high))  # fmt: skip
    wide = tb.int64 if dtype.bits < 64 else dtype
    made = source._drawn(tb.random.randint, shape, first, last + 1 if endpoint else last, wide)
    return of_size(size, result(cast(made, dtype) if dtype is not bool_ else tb.not_equal(made, 0)))
