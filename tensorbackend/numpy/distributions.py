"""The distributions of `numpy.random`: the methods that `Generator` and `RandomState` share."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..errors import ArgumentError, ArgumentKindError, expected
from ..tensor import Tensor
from .arrays import box, fresh, functions, ndarray, replace, result, tensor_of
from .conversion import back, cast, host, tensor
from .draws import (
    LARGEST,
    Source,
    as_library_errors,
    as_parameter,
    check_by_numpy,
    check_scale,
    check_writable,
    has_data,
    is_number,
    is_real,
    library_error,
    of_size,
    scaled,
    shape_of,
)
from .dtypes import HostOnlyError
from .homes import at_home
from .shapes import axis_position


def count_of(value: Any, name: str) -> int:
    """A number of entries."""
    try:
        count = operator.index(value)
    except TypeError as error:
        raise ArgumentKindError(expected(f"an int or an array with an axis for {name}", value=value)) from error
    if count < 0:
        raise ArgumentError(expected(f"no negative number of entries for {name}", value=value))
    return count


_drawn: Final = partial(at_home, by_numpy=True)


def _location_method(
    name: str, doc: str, sample: Callable[[Tensor, tuple[int, ...], Any], Tensor]
) -> Callable[..., Any]:
    """The method that draws a distribution with a location and a scale, from a sampler for 0 and 1."""

    def draw(self: Draws, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        shape = shape_of(size, loc, scale)
        if not (loc.__class__ is scale.__class__ is float and -LARGEST <= loc <= LARGEST and 0.0 < scale <= LARGEST):
            check_scale(self._kind, name, shape, loc, scale)
            scale, loc = as_parameter(scale), as_parameter(loc)
        return scaled(size, self._numbers(sample, shape), scale, loc)

    draw.__name__, draw.__doc__ = name, doc
    return _drawn(draw)


def _is_finite(x: Any) -> bool:
    try:
        return bool(numpy.isfinite(host(x)).all())
    except TypeError:  # no numbers
        return False


def _logistic(key: Tensor, shape: tuple[int, ...], dtype: Any) -> Tensor:
    unit = tb.random.uniform(key, shape, dtype)
    return tb.log(unit) - tb.log1p(-unit)


class Draws(Source):
    """What `Generator` and `RandomState` share: draws of one state."""

    _kind: str
    """The class of NumPy that says which calls are wrong."""

    def __init__(self, seed: Any, by_numpy: Any) -> None:
        super().__init__(seed)
        self._numpy = by_numpy

    @at_home
    def _draw_by_numpy(self, name: str, *arguments: Any, **options: Any) -> Any:
        """A draw by NumPy: from its own stream, or from a generator that was seeded with the key."""
        self._check_trace()
        arguments, options, source = host(arguments), host(options), self._numpy
        try:  # as `as_library_errors` does, in less time
            if source is None:
                return back(self._drawn_by_host(name, arguments, options))
            return back(getattr(source, name)(*arguments, **options))
        except (ValueError, TypeError, OverflowError) as error:
            known = library_error(error)
            if known is error:
                raise
            raise known from error

    # Samplers of the library

    @_drawn
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Numbers between two bounds."""
        shape = shape_of(size, low, high)
        if not (is_real(low) and is_real(high) and low <= high and is_real(high - low)):
            check_by_numpy(self._kind, "uniform", low, high, (0, *shape))
        low, high = as_parameter(low), as_parameter(high)
        return scaled(size, self._numbers(tb.random.uniform, shape), high - low, low)

    @_drawn
    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Exponentially distributed numbers."""
        shape = shape_of(size, scale)
        if not (is_real(scale) and scale > 0):
            check_by_numpy(self._kind, "exponential", scale, (0, *shape))
        scale = as_parameter(scale)
        return scaled(size, self._numbers(tb.random.exponential, shape), scale, 0.0)

    normal = _location_method("normal", "Normally distributed numbers.", tb.random.normal)
    gumbel = _location_method("gumbel", "Gumbel-distributed numbers.", tb.random.gumbel)
    laplace = _location_method("laplace", "Laplace-distributed numbers.", tb.random.laplace)
    logistic = _location_method("logistic", "Logistically distributed numbers.", _logistic)

    @_drawn
    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Numbers whose logarithms are normally distributed."""
        check_scale(self._kind, "lognormal", shape_of(size, mean, sigma), mean, sigma)
        logarithms = self.normal(mean, sigma, size)
        if is_number(logarithms):
            return numpy.exp(logarithms).item()
        return of_size(size, functions["exp"](logarithms))

    @_drawn
    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The entries along an axis, or the numbers up to one, in random order."""
        if not numpy.ndim(host(x) if x.__class__ is not ndarray else x):
            return box(self._order_of(count_of(x, "permutation")))
        try:
            t = tensor(x)
        except HostOnlyError:
            entries = numpy.asanyarray(host(x))
            place = axis_position(axis, entries.ndim)
            return entries.take(host(self.permutation(entries.shape[place])), place)
        return box(self._permuted(t, axis_position(axis, t.ndim)))

    def _order_of(self, length: int) -> Tensor:
        order = self._order(length)
        if order is not None:
            return tb.asarray(order)
        drawn: Tensor = self._drawn(tb.random.permutation, length)
        return drawn

    def _permuted(self, t: Tensor, axis: int) -> Tensor:
        order = self._order(t.shape[axis])
        if order is not None:
            return tb.take(t, tb.asarray(order, backend=t.backend), axis=axis)
        drawn: Tensor = self._drawn(tb.random.permutation, t, axis=axis)
        return drawn

    @at_home
    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle the entries along an axis, in place."""
        if isinstance(x, list):
            if axis:
                raise ArgumentError(expected("axis 0 of a list", "shuffle an array along other axes", axis=axis))
            order = numpy.asarray(tensor(self.permutation(len(x)))).tolist()
            x[:] = [x[place] for place in order]
            return
        if x.__class__ is not ndarray:
            if not hasattr(x, "__setitem__") or not hasattr(x, "__len__"):
                raise ArgumentKindError(expected("an array or a list", x=x))
            check_writable(x)
            self._draw_in_place(x, axis)
            return
        check_writable(x)
        if self._numpy is not None:
            array = numpy.array(tensor_of(x))
            self._check_trace()
            self._numpy.shuffle(array, **({} if not axis else {"axis": axis}))
            replace(x, tensor(array))
            return
        t = tensor_of(x)
        replace(x, self._permuted(t, axis_position(axis, t.ndim)))

    def _draw_in_place(self, x: Any, axis: int) -> None:
        """A shuffle by NumPy, of what is no array here."""
        options = {} if not axis else {"axis": axis}
        with as_library_errors():
            if self._numpy is None:
                self._drawn_by_host("shuffle", (x,), options)
            else:
                self._check_trace()
                self._numpy.shuffle(x, **options)

    @at_home
    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Counts of each of several outcomes."""
        if self._numpy is None:  # NumPy looks at all probabilities but the last
            with as_library_errors():
                total = numpy.sum(numpy.asarray(host(pvals), float), -1)
            if not (total <= 1.0 + 1e-6).all():
                raise ArgumentError(expected("probabilities that sum to at most 1", sum=numpy.max(total)))
        return self._draw_by_numpy("multinomial", n, pvals, size)

    @at_home
    def multivariate_normal(self, mean: Any, cov: Any, size: Any = None, *arguments: Any, **options: Any) -> Any:
        """Vectors of normally distributed numbers with given covariances."""
        if self._numpy is None and (arguments or options or not _is_finite(cov)):
            check_by_numpy("Generator", "multivariate_normal", mean, cov, 0, *arguments, **options)
        return self._draw_by_numpy("multivariate_normal", mean, cov, size, *arguments, **options)

    @_drawn
    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """Entries drawn along an axis, or numbers up to one."""
        try:
            items: Any = count_of(a, "choice") if is_number(a) else tensor(a)
        except HostOnlyError:
            entries = numpy.asanyarray(host(a))
            place = axis_position(axis, entries.ndim)
            places = self.choice(entries.shape[place], size, replace, p)
            return entries.take(places if size is None else host(places), place)
        if not isinstance(items, int):
            items = items if items.ndim else count_of(items, "choice")
        axis = 0 if isinstance(items, int) else axis_position(axis, items.ndim)
        count = items if isinstance(items, int) else items.shape[axis]
        shape = shape_of(size)
        self._check_choice(count, math.prod(shape), replace, p)
        chosen = None
        if replace and count:
            if p is None:
                chosen = self._places(count, shape)
            elif has_data(p):
                chosen = self._weighted_places(p, shape)
        if chosen is not None:
            if isinstance(items, int):
                return int(chosen) if size is None else of_size(size, back(chosen))
            return of_size(size, functions["take"](box(items), back(chosen), axis))
        weights = None if p is None else cast(tensor(p), tb.float32)
        made = result(fresh(self._drawn(tb.random.choice, items, shape, replace, weights, axis)))
        return int(made) if isinstance(items, int) and size is None else of_size(size, made)

    def _check_choice(self, count: int, number: int, replace: bool, p: Any) -> None:
        """Raises an error unless so many entries can be drawn from `count` with these probabilities."""
        if count <= 0 and number:
            raise ArgumentError(expected("entries to choose from", "pass a of at least one entry", entries=count))
        if p is not None:
            check_by_numpy(self._kind, "choice", count, None, True, p)
        if not replace and number > count:
            raise ArgumentError("Cannot take a larger sample than population when replace is False")
        if not replace and p is not None and has_data(p) and number > numpy.count_nonzero(host(p)):
            raise ArgumentError("Fewer non-zero entries in p than size")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(getattr(numpy.random, self._kind), name):
            raise AttributeError(f"{self._kind!r} object has no attribute {name!r}", name=name, obj=self)

        return partial(self._draw_by_numpy, name)
