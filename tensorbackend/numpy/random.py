"""`numpy.random`: generators and the legacy functions, over the library's keys.

Numbers are drawn from a key that each draw splits, so they are the same on every backend, but differ from NumPy's for
the same seed. `numpy_stream()` uses NumPy's own, which reproduces a program's figures. Distributions without a sampler
in the library are drawn by NumPy on the host, from a seed that is drawn with the key.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, expected
from ..tensor import Tensor
from .arrays import box, fresh, functions, ndarray, replace, result, tensor_of
from .conversion import back, cast, host, tensor
from .draws import Saved, Source, as_parameter, as_result, draw_integers, is_number, of_size, scaled, shape_of
from .dtypes import HostOnlyError, dtype_of, numpy_dtype
from .shapes import flat_along

_BY_NUMPY: Final[ContextVar[bool]] = ContextVar("by_numpy", default=False)

BitGenerator, SeedSequence = numpy.random.BitGenerator, numpy.random.SeedSequence
MT19937, PCG64, PCG64DXSM = numpy.random.MT19937, numpy.random.PCG64, numpy.random.PCG64DXSM
Philox, SFC64 = numpy.random.Philox, numpy.random.SFC64


@contextmanager
def numpy_stream() -> Iterator[None]:
    """A block in which random numbers are those of NumPy for the same seeds.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> with np.random.numpy_stream():
    ...     np.random.default_rng(0).integers(10, size=4)
    array([8, 6, 5, 2])
    """
    token = _BY_NUMPY.set(True)
    try:
        yield
    finally:
        _BY_NUMPY.reset(token)


def _location_method(
    name: str, doc: str, sample: Callable[[Tensor, tuple[int, ...], Any], Tensor]
) -> Callable[..., Any]:
    """The method that draws a distribution with a location and a scale, from a sampler for 0 and 1."""

    def draw(self: _Draws, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        if self._numpy is not None:
            return self._draw_by_numpy(name, loc, scale, size)
        if is_number(scale) and scale < 0:
            raise ArgumentError("scale < 0")
        return scaled(size, self._numbers(sample, shape_of(size, loc, scale)), scale, loc)

    draw.__name__, draw.__doc__ = name, doc
    return draw


def _logistic(key: Tensor, shape: tuple[int, ...], dtype: Any) -> Tensor:
    unit = tb.random.uniform(key, shape, dtype)
    return tb.log(unit) - tb.log1p(-unit)


class _Draws(Source):
    """What `Generator` and `RandomState` share: draws of one state."""

    def __init__(self, seed: Any, by_numpy: Any) -> None:
        super().__init__(seed)
        self._numpy = by_numpy

    def _draw_by_numpy(self, name: str, *arguments: Any, **options: Any) -> Any:
        """A draw by NumPy: from its own stream, or from a generator that was seeded with the key."""
        source = self._host_generator() if self._numpy is None else self._numpy
        return back(getattr(source, name)(*host(arguments), **host(options)))

    # Samplers of the library

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Numbers between two bounds."""
        if self._numpy is not None:
            return self._draw_by_numpy("uniform", low, high, size)
        made = self._numbers(tb.random.uniform, shape_of(size, low, high))
        return scaled(size, made, as_parameter(high) - as_parameter(low), low)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Exponentially distributed numbers."""
        if self._numpy is not None:
            return self._draw_by_numpy("exponential", scale, size)
        return scaled(size, self._numbers(tb.random.exponential, shape_of(size, scale)), scale, 0.0)

    normal = _location_method("normal", "Normally distributed numbers.", tb.random.normal)
    gumbel = _location_method("gumbel", "Gumbel-distributed numbers.", tb.random.gumbel)
    laplace = _location_method("laplace", "Laplace-distributed numbers.", tb.random.laplace)
    logistic = _location_method("logistic", "Logistically distributed numbers.", _logistic)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Numbers whose logarithms are normally distributed."""
        if self._numpy is not None:
            return self._draw_by_numpy("lognormal", mean, sigma, size)
        logarithms = self.normal(mean, sigma, size)
        if is_number(logarithms):
            return numpy.exp(logarithms).item()
        return of_size(size, functions["exp"](logarithms))

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The entries along an axis, or the numbers up to one, in random order."""
        if self._numpy is not None:
            return self._draw_by_numpy("permutation", x, **({} if not axis else {"axis": axis}))
        if not numpy.ndim(host(x) if x.__class__ is not ndarray else x):
            order = self._order(operator.index(x))
            return box(tb.random.permutation(self._key(), operator.index(x)) if order is None else tb.asarray(order))
        try:
            return box(self._permuted(tensor(x), axis))
        except HostOnlyError:
            entries = numpy.asanyarray(host(x))
        return entries.take(host(self.permutation(entries.shape[axis])), axis)

    def _permuted(self, t: Tensor, axis: int) -> Tensor:
        order = self._order(t.shape[axis])
        if order is None:
            return tb.random.permutation(self._key(), t, axis=axis)
        return tb.take(t, tb.asarray(order, backend=t.backend), axis=axis)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle the entries along an axis, in place."""
        if isinstance(x, list):
            order = numpy.asarray(tensor(self.permutation(len(x)))).tolist()
            x[:] = [x[place] for place in order]
            return
        if x.__class__ is not ndarray:
            (self._numpy or self._host_generator()).shuffle(x)
            return
        if self._numpy is not None:
            array = numpy.array(tensor_of(x))
            self._numpy.shuffle(array, **({} if not axis else {"axis": axis}))
            replace(x, tensor(array))
            return
        replace(x, self._permuted(tensor_of(x), axis))

    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *arguments: Any, **options: Any) -> Any:
        """Vectors of normally distributed numbers with given covariances."""
        return self._draw_by_numpy("multivariate_normal", mean, cov, size, *arguments, **options)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """Entries drawn along an axis, or numbers up to one."""
        if self._numpy is not None:
            options = {"axis": axis, "shuffle": shuffle} if isinstance(self._numpy, numpy.random.Generator) else {}
            return self._draw_by_numpy("choice", a, size, replace, p, **options)
        try:
            items: Any = operator.index(a) if is_number(a) else tensor(a)
        except HostOnlyError:
            entries = numpy.asanyarray(host(a))
            places = self.choice(entries.shape[axis], size, replace, p)
            return entries.take(places if size is None else host(places), axis)
        count = items if isinstance(items, int) else items.shape[axis]
        shape = shape_of(size)
        if not replace and numpy.prod(shape, dtype=int) > count:
            raise ArgumentError("Cannot take a larger sample than population when replace is False")
        if p is not None and abs(float(numpy.sum(host(p))) - 1.0) > 1e-6:
            raise ArgumentError("Probabilities do not sum to 1")
        chosen = None
        if replace and count:
            chosen = self._places(count, shape) if p is None else self._weighted_places(p, shape)
        if chosen is not None:
            if isinstance(items, int):
                return int(chosen) if size is None else of_size(size, back(chosen))
            return of_size(size, functions["take"](box(items), back(chosen), axis))
        weights = None if p is None else cast(tensor(p), tb.float32)
        made = result(fresh(tb.random.choice(self._key(), items, shape, replace, weights, axis)))
        return int(made) if isinstance(items, int) and size is None else of_size(size, made)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or (
            not hasattr(numpy.random.Generator, name) and not hasattr(numpy.random.RandomState, name)
        ):
            raise AttributeError(name)

        def draw(*arguments: Any, **options: Any) -> Any:
            return self._draw_by_numpy(name, *arguments, **options)

        return draw


class Generator(_Draws):
    """`np.random.Generator`: random numbers from a state; `default_rng(seed)` makes one."""

    def __init__(self, bit_generator: Any, by_numpy: Any = None) -> None:
        if by_numpy is None and _BY_NUMPY.get():
            by_numpy = numpy.random.default_rng(host(bit_generator))
        super().__init__(bit_generator, by_numpy)

    @property
    def bit_generator(self) -> Any:
        """NumPy's source of bits, which a generator over a key does not have."""
        if self._numpy is None:
            raise ArgumentError(
                expected("a generator of NumPy's stream", "use np.random.numpy_stream()", state="a key")
            )
        return self._numpy.bit_generator

    def random(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Numbers from 0 to 1."""
        wanted = dtype_of(dtype)
        if self._numpy is not None:
            made = self._draw_by_numpy("random", size, numpy_dtype(wanted))
        else:
            made = self._of_dtype(tb.random.uniform, size, wanted)
        if out is not None:
            functions["copyto"](out, made)
            return out
        return made

    def standard_normal(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Numbers of the standard normal distribution."""
        wanted = dtype_of(dtype)
        if self._numpy is not None:
            return self._draw_by_numpy("standard_normal", size, numpy_dtype(wanted))
        return self._of_dtype(tb.random.normal, size, wanted)

    def standard_exponential(self, size: Any = None, dtype: Any = float, method: str = "zig", out: Any = None) -> Any:
        """Numbers of the standard exponential distribution."""
        wanted = dtype_of(dtype)
        if self._numpy is not None:
            return self._draw_by_numpy("standard_exponential", size, numpy_dtype(wanted), method)
        return self._of_dtype(tb.random.exponential, size, wanted)

    def _of_dtype(self, sample: Callable[..., Tensor], size: Any, dtype: Any) -> Any:
        shape = shape_of(size)
        if dtype is tb.float64:
            return as_result(size, self._numbers(sample, shape))
        return as_result(size, sample(self._key(), shape, dtype))

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = numpy.int64, endpoint: bool = False
    ) -> Any:
        """Integers from low up to high."""
        if self._numpy is not None:
            return self._draw_by_numpy("integers", low, high, size, numpy_dtype(dtype_of(dtype)), endpoint)
        low, high = (0, low) if high is None else (low, high)
        return draw_integers(self, low, high, size, dtype_of(dtype), endpoint)

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """The elements along an axis, each line in a separate random order."""
        if self._numpy is not None:
            return self._draw_by_numpy("permuted", x, axis=axis)
        t = tensor(x)
        flat, place = flat_along(t, axis)
        made = tb.random.permutation(self._key(), flat, axis=place, independent=True)
        return box(tb.reshape(made, t.shape))

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators with independent streams."""
        if self._numpy is not None:
            return [Generator(each.bit_generator, each) for each in self._numpy.spawn(n_children)]
        return [Generator(numpy.asarray(self._key()).tolist()) for _ in range(n_children)]


class RandomState(_Draws):
    """`np.random.RandomState`: the legacy generator and its names."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed, numpy.random.RandomState(host(seed)) if _BY_NUMPY.get() else None)

    def seed(self, seed: Any = None) -> None:
        """Reseed the generator."""
        self._begin(seed)
        self._numpy = self._of_numpy(host(seed)) if _BY_NUMPY.get() else None

    def _of_numpy(self, seed: Any) -> Any:
        return numpy.random.RandomState(seed)

    def get_state(self, legacy: bool = True) -> Any:
        """The state, for `set_state`."""
        if self._numpy is not None:
            return self._numpy.get_state(legacy)
        return self._save()

    def set_state(self, state: Any) -> None:
        """Restore a state."""
        if isinstance(state, Saved):
            self._restore(state)
            self._numpy = None
            return
        if self._numpy is None:
            self._numpy = self._of_numpy(None)
        self._numpy.set_state(state)

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

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Integers from low up to high."""
        if self._numpy is not None:
            kept = dtype if dtype is int or dtype is bool else numpy_dtype(dtype_of(dtype))
            return self._draw_by_numpy("randint", low, high, size, kept)
        low, high = (0, low) if high is None else (low, high)
        made = draw_integers(self, low, high, size, dtype_of(dtype), endpoint=False)
        return made.item() if isinstance(made, numpy.generic) and (dtype is int or dtype is bool) else made

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        """Integers from low to high."""
        return self.randint(1 if high is None else low, (low if high is None else high) + 1, size)


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


class _Shared(RandomState):
    """The state of the legacy functions; in `numpy_stream()` it is NumPy's own, from which SciPy draws as well."""

    _own: Any = None

    @property
    def _numpy(self) -> Any:
        if not _BY_NUMPY.get():
            return None
        if self._own is None:
            self._own = self._of_numpy(self._seed) if self._seed is not None else numpy.random
        return self._own

    @_numpy.setter
    def _numpy(self, state: Any) -> None:
        self._own = state

    def _of_numpy(self, seed: Any) -> Any:
        numpy.random.seed(seed)
        return numpy.random  # the functions of the module draw from one state


_rand: Final = _Shared()
"""The state of the legacy functions, under the name by which other libraries draw from NumPy's."""

mtrand: Final = sys.modules[__name__]
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
