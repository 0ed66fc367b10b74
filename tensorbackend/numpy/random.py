"""`numpy.random`: generators and the legacy functions, over the library's keys.

Numbers are drawn from a key that each draw splits, so they are the same on every backend, but differ from NumPy's for
the same seed. A draw with arrays as parameters is on their backend. `numpy_stream()` uses NumPy's own numbers, which
reproduces a program's figures. Distributions without a sampler in the library are drawn by NumPy on the host, from a
seed that is drawn with the key.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..caching import module_lock
from ..errors import ArgumentError, ArgumentKindError, expected
from ..scopes import Block
from ..select import call_with_default
from ..tensor import Tensor
from .arrays import box, functions, ndarray
from .conversion import host, tensor
from .distributions import Draws, count_of
from .draws import (
    Saved,
    as_legacy_seed,
    as_library_errors,
    as_result,
    as_seed,
    check_writable,
    draw_integers,
    is_number,
    shape_of,
)
from .dtypes import dtype_of, numpy_dtype
from .homes import at_home, home_of
from .shapes import flat_along

_BY_NUMPY: Final[ContextVar[bool]] = ContextVar("by_numpy", default=False)

BitGenerator, SeedSequence = numpy.random.BitGenerator, numpy.random.SeedSequence
_lock = module_lock(__name__)
"""Held while NumPy's own generator is seeded."""

MT19937, PCG64, PCG64DXSM = numpy.random.MT19937, numpy.random.PCG64, numpy.random.PCG64DXSM
Philox, SFC64 = numpy.random.Philox, numpy.random.SFC64


def numpy_stream() -> Block[None]:
    """A block in which random numbers are those of NumPy for the same seeds.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> with np.random.numpy_stream():
    ...     np.random.default_rng(0).integers(10, size=4)
    array([8, 6, 5, 2])
    """
    return Block(None, [(_BY_NUMPY, True)])


class Generator(Draws):
    """`np.random.Generator`: random numbers from a state; `default_rng(seed)` makes one."""

    _kind = "Generator"

    def __init__(self, bit_generator: Any, by_numpy: Any = None) -> None:
        if by_numpy is None and _BY_NUMPY.get():
            with as_library_errors():
                by_numpy = numpy.random.default_rng(host(bit_generator))
        super().__init__(as_seed(bit_generator), by_numpy)

    @property
    def bit_generator(self) -> Any:
        """NumPy's source of bits, which a generator over a key does not have."""
        if self._numpy is None:
            remedy = "use np.random.numpy_stream()"
            raise ArgumentError(expected("a generator of NumPy's stream", remedy, state="a key"))
        return self._numpy.bit_generator

    def random(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Numbers from 0 to 1."""
        return self._of_dtype("random", tb.random.uniform, size, dtype, out)

    def standard_normal(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Numbers of the standard normal distribution."""
        return self._of_dtype("standard_normal", tb.random.normal, size, dtype, out)

    def standard_exponential(self, size: Any = None, dtype: Any = float, method: str = "zig", out: Any = None) -> Any:
        """Numbers of the standard exponential distribution."""
        return self._of_dtype("standard_exponential", tb.random.exponential, size, dtype, out, method)

    def _of_dtype(self, name: str, sample: Callable[..., Tensor], size: Any, dtype: Any, out: Any, *method: Any) -> Any:
        """Numbers of a distribution without parameters in a dtype, written to `out`."""
        wanted = dtype_of(dtype)
        if out is not None:
            size = self._size_of(out, size, wanted)
            home = home_of((out,))
            if home is not None:
                return call_with_default(home, partial(self._of_dtype, name, sample, size, dtype, out, *method))
        if self._numpy is not None:
            made = self._draw_by_numpy(name, size, numpy_dtype(wanted), *method)
        elif wanted is tb.float64:
            made = as_result(size, self._numbers(sample, shape_of(size)))
        else:
            made = as_result(size, self._drawn(sample, shape_of(size), wanted))
        if out is not None:
            functions["copyto"](out, made)
            return out
        return made

    def _size_of(self, out: Any, size: Any, dtype: Any) -> Any:
        """The size of a draw that is written to `out`."""
        if not isinstance(out, ndarray | numpy.ndarray):
            raise ArgumentKindError(expected("an array as out", out=out))
        check_writable(out)
        if out.dtype != dtype:
            raise ArgumentKindError(expected(f"out of {dtype}", out=out.dtype))
        if size is not None and shape_of(size) != out.shape:
            raise ArgumentError(expected("the size of out", "leave out size", size=size, out=out.shape))
        return out.shape

    @at_home
    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = numpy.int64, endpoint: bool = False
    ) -> Any:
        """Integers from low up to high."""
        if self._numpy is not None:
            return self._draw_by_numpy("integers", low, high, size, numpy_dtype(dtype_of(dtype)), endpoint)
        low, high = (0, low) if high is None else (low, high)
        return draw_integers(self, low, high, size, dtype_of(dtype), endpoint)

    @at_home
    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """The elements along an axis, each line in a separate random order."""
        t = tensor(x)
        if not t.ndim:
            raise ArgumentKindError(expected("an array with an axis", x=t.template))
        flat, place = flat_along(t, axis)
        if out is not None:
            self._size_of(out, t.shape, t.dtype)
        if self._numpy is not None:
            made = self._draw_by_numpy("permuted", x, axis=axis)
        else:
            drawn = self._drawn(tb.random.permutation, flat, axis=place, independent=True)
            made = box(tb.reshape(drawn, t.shape))
        if out is not None:
            functions["copyto"](out, made)
            return out
        return made

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators with independent streams."""
        count = count_of(n_children, "spawn")
        if self._numpy is not None:
            return [Generator(each.bit_generator, each) for each in self._numpy.spawn(count)]
        return [Generator(self._drawn(lambda key: numpy.asarray(key).tolist())) for _ in range(count)]


class RandomState(Draws):
    """`np.random.RandomState`: the legacy generator and its names."""

    _kind = "RandomState"

    def __init__(self, seed: Any = None) -> None:
        super().__init__(as_legacy_seed(seed), numpy.random.RandomState(host(seed)) if _BY_NUMPY.get() else None)

    def seed(self, seed: Any = None) -> None:
        """Reseed the generator."""
        checked = as_legacy_seed(seed)
        self._numpy = numpy.random.RandomState(host(seed)) if _BY_NUMPY.get() else None
        self._begin(checked)

    def get_state(self, legacy: bool = True) -> Any:
        """The state, for `set_state`."""
        if self._numpy is not None:
            return self._numpy.get_state(legacy)
        return self._save()

    def set_state(self, state: Any) -> None:
        """Restore a state. After one of NumPy's own, numbers are drawn from NumPy's stream."""
        if isinstance(state, Saved):
            self._restore(state)
            self._numpy = None
        else:
            self._numpy = _of_state(state)

    def random_sample(self, size: Any = None) -> Any:
        """Numbers from 0 to 1."""
        return self.uniform(0.0, 1.0, size) if self._numpy is None else self._draw_by_numpy("random_sample", size)

    random = random_sample

    def rand(self, *shape: Any) -> Any:
        """Numbers from 0 to 1, with the sizes as arguments."""
        return self.random_sample(shape or None)

    def randn(self, *shape: Any) -> Any:
        """Numbers of the standard normal distribution, with the sizes as arguments."""
        return self.standard_normal(shape or None)

    def standard_normal(self, size: Any = None) -> Any:
        """Numbers of the standard normal distribution."""
        return self.normal(0.0, 1.0, size) if self._numpy is None else self._draw_by_numpy("standard_normal", size)

    def standard_exponential(self, size: Any = None) -> Any:
        """Numbers of the standard exponential distribution."""
        return self.exponential(1.0, size)

    @at_home
    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Integers from low up to high."""
        if self._numpy is not None:
            kept = dtype if dtype is int or dtype is bool else numpy_dtype(dtype_of(dtype))
            return self._draw_by_numpy("randint", low, high, size, kept)
        low, high = (0, low) if high is None else (low, high)
        made = draw_integers(self, low, high, size, dtype_of(dtype), endpoint=False)
        return made.item() if isinstance(made, numpy.generic) and (dtype is int or dtype is bool) else made

    @at_home
    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        """Integers from low to high."""
        low, high = (1, low) if high is None else (low, high)
        return self.randint(low, (high if is_number(high) else functions["asarray"](high)) + 1, size)


def default_rng(seed: Any = None) -> Generator:
    """A generator from a seed.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> np.random.default_rng(0).normal(size=3).shape
    (3,)
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(seed)


def _of_state(state: Any) -> Any:
    """A generator of NumPy's in a state of its own."""
    made = numpy.random.RandomState(0)
    with as_library_errors():
        try:
            made.set_state(host(state))
        except (AttributeError, IndexError, KeyError) as error:  # a state that lacks a part
            raise ArgumentError(expected("a state that get_state returned", state=state)) from error
    return made


class _Shared(RandomState):
    """The state of the legacy functions; in `numpy_stream()` it is NumPy's own, from which SciPy draws as well."""

    def __init__(self) -> None:
        self._restored: Any = None
        self._pending: tuple[Any] | None = None  # the seed that NumPy's own generator gets when it is used next
        super().__init__()
        self._stream.trace = None  # a trace may be the first to use this module

    def seed(self, seed: Any = None) -> None:
        """Reseed the generator, and NumPy's own in `numpy_stream()`, now or when it is entered."""
        checked = as_legacy_seed(seed)
        self._pending = None if seed is None and not _BY_NUMPY.get() else (host(seed),)
        self._restored = None
        self._begin(checked)

    def set_state(self, state: Any) -> None:
        if not _BY_NUMPY.get():
            super().set_state(state)
            return
        if isinstance(state, Saved):
            remedy = "restore it outside of numpy_stream()"
            raise ArgumentError(expected("a state of NumPy's own generator", remedy, state="a state of keys"))
        made = _of_state(state)
        self._pending = None
        numpy.random.set_state(made.get_state(legacy=False))

    @property
    def _numpy(self) -> Any:
        if not _BY_NUMPY.get():
            return self._restored
        if self._pending is not None:
            with _lock:
                if self._pending is not None:
                    numpy.random.seed(self._pending[0])
                    self._pending = None
        return numpy.random  # the functions of the module draw from one state

    @_numpy.setter
    def _numpy(self, state: Any) -> None:
        self._restored = state


_rand: Final = _Shared()
"""The state of the legacy functions, under the name by which other libraries draw from NumPy's."""

mtrand: Final = sys.modules[__name__]
sys.modules[f"{__name__}.mtrand"] = mtrand
"""The module of the legacy functions: older programs write `np.random.mtrand.RandomState`."""


def _legacy(name: str) -> Callable[..., Any]:
    def draw(*arguments: Any, **options: Any) -> Any:
        return getattr(_rand, name)(*arguments, **options)

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = getattr(getattr(RandomState, name, None), "__doc__", None) or f"NumPy's `random.{name}`."
    draw.__module__ = __name__
    return draw


# The legacy functions


def __getattr__(name: str) -> Any:
    """A legacy function, made when it is first used: a method of one `RandomState`."""
    if name not in __dir__():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    made = globals()[name] = _legacy({"ranf": "random_sample", "sample": "random_sample"}.get(name, name))
    return made


def __dir__() -> list[str]:
    """The public names, with those of the legacy functions."""
    legacy = {name for name in dir(numpy.random.RandomState) if not name.startswith("_")}
    return sorted({*globals(), *legacy, "ranf", "sample"})
