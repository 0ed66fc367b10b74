"""The source of a generator's numbers: a key, and blocks of numbers from which small draws are cut.

A draw by the library costs as much as a thousand numbers do, and programs often draw one at a time. So small draws are
cut from a block of float64 that is drawn at once. Keys and blocks are in NumPy's memory: a draw is the same on every
backend, and a trace in which something is drawn leaves no part of it behind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final, NamedTuple

import numpy

import tensorbackend as tb

from ..dtypes import bool_
from ..errors import ArgumentError
from ..tensor import Tensor
from .arrays import as_shape, functions, ndarray, result
from .conversion import NUMBERS, back, cast, host, tensor
from .dtypes import numpy_dtype

SMALL: Final = 64
"""The most numbers that are cut from a block."""

_BLOCK: Final = 1024

_EXACT: Final = 2**20
"""The most integers of which a number of a block chooses one: their chances differ by less than 2**-32."""


class Saved(NamedTuple):
    """The state of a source."""

    seed: Any
    key: Any
    blocks: Any
    by_host: Any


class Source:
    """What random numbers are drawn from, besides NumPy's own stream."""

    def __init__(self, seed: Any) -> None:
        self._begin(seed)

    def _begin(self, seed: Any) -> None:
        self._seed = seed
        self._state: Any = None
        self._blocks: dict[Any, tuple[Any, int]] = {}
        self._by_host: Any = None

    def _key_of_numpy(self) -> Tensor:
        """The next key, in NumPy's memory."""
        with tb.default_backend("numpy"):
            if self._state is None:
                self._state = tb.random.generator(_as_int(self._seed))
            key: Tensor = self._state.next_key()
        return key

    def _key(self) -> Tensor:
        """The next key, on the default backend."""
        key, home = self._key_of_numpy(), tb.get_backend()
        return key if key.backend is home else key.backend_transfer(home)

    def _host_generator(self) -> Any:
        """A generator of NumPy's, for distributions that the library has no sampler of."""
        if self._by_host is None:
            self._by_host = numpy.random.default_rng(numpy.asarray(self._key_of_numpy()).tolist())
        return self._by_host

    def _cut(self, sample: Callable[..., Tensor], count: int) -> Any:
        """A few numbers of a distribution without parameters, as NumPy's array, which the caller must not change."""
        block, start = self._blocks.get(sample, (None, _BLOCK))
        if block is None or start + count > _BLOCK:
            key = self._key_of_numpy()
            with tb.default_backend("numpy"):
                block, start = numpy.asarray(sample(key, (_BLOCK,), tb.float64)), 0
        self._blocks[sample] = block, start + count
        return block[start : start + count]

    def _numbers(self, sample: Callable[..., Tensor], shape: tuple[int, ...]) -> Any:
        """Numbers of a distribution without parameters: NumPy's number without a shape, else a tensor."""
        if not shape:
            return self._cut(sample, 1)[0]
        count = math.prod(shape)
        if count > SMALL:
            return sample(self._key(), shape, tb.float64)
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
        key = None if self._state is None else self._state.key
        return Saved(self._seed, key, dict(self._blocks), deepcopy(self._by_host))

    def _restore(self, saved: Saved) -> None:
        self._seed, self._blocks, self._by_host = saved.seed, dict(saved.blocks), deepcopy(saved.by_host)
        self._state = None if saved.key is None else tb.random.Generator(saved.key)


def _as_int(seed: Any) -> int:
    if seed is None:
        return int(numpy.random.SeedSequence().entropy) % 2**63  # type: ignore[arg-type] # one int, as it drew it itself
    if isinstance(seed, int | numpy.integer):
        return int(seed)
    return int(_sequence(seed).generate_state(1, numpy.uint64)[0]) % 2**63


def _sequence(seed: Any) -> Any:
    """The sequence of what NumPy takes as a seed: ints, a bit generator, or a sequence itself."""
    seed = seed.seed_seq if isinstance(seed, numpy.random.BitGenerator) else seed
    return seed if isinstance(seed, numpy.random.SeedSequence) else numpy.random.SeedSequence(host(seed))


# Sizes, parameters and results


def shape_of(size: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape of a draw with a size, or for `None` that of its parameters."""
    if size is not None:
        return as_shape(size)
    if NUMBERS.issuperset([each.__class__ for each in parameters]):
        return ()
    return tb.broadcast_shapes(*[tensor(each).shape for each in parameters])


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
    """Numbers of a size times a scale, plus a location; both may be arrays."""
    scale, location = as_parameter(scale), as_parameter(location)
    if made.__class__ is numpy.float64:
        if is_number(scale) and is_number(location):
            return as_result(size, made * scale + location)
        made = float(made)
    return as_result(size, made * scale + location)


def draw_integers(source: Source, low: Any, high: Any, size: Any, dtype: Any, endpoint: bool) -> Any:
    """Integers of a dtype from `low` up to `high`, cut from blocks where both are numbers."""
    if is_number(low) and is_number(high) and int(low) >= int(high) + endpoint:
        raise ArgumentError("low >= high")
    shape = shape_of(size, low, high)
    if is_number(low) and is_number(high):
        places = source._places(int(high) + endpoint - int(low), shape)
        if places is not None:
            return of_size(size, back((places + int(low)).astype(numpy_dtype(dtype))))
    first, last = (tb.broadcast_to(cast(tensor(each), tb.int64), shape) if not is_number(each) else int(each)
                   for each in (low, high))  # fmt: skip
    wide = tb.int64 if dtype.bits < 64 else dtype
    made = tb.random.randint(source._key(), shape, first, last + 1 if endpoint else last, wide)
    return of_size(size, result(cast(made, dtype) if dtype is not bool_ else tb.not_equal(made, 0)))
