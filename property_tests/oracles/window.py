"""Oracles of windows that slide along axes, by a loop over the windows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy
from hypothesis import reject
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType, iinfo
from tensorbackend.errors import TensorBackendError
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import some_missing
from tensorbackend.testing.generators.window import last, number_for_each, padding_for_each, positive, window_options
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .contraction import multiply
from .elementwise import unjudged
from .matrices import FEWEST
from .table import NUMERIC, Refusal, named, reference, wide


def each(value: Any, names: Sequence[str | None], default: Any = 1) -> list[Any]:
    """An option for each axis, given as one number, as one for each axis, or for some by name."""
    if not names:
        return []
    if isinstance(value, Mapping):
        places = {
            names.index(axis) if isinstance(axis, str) else axis % len(names): entry for axis, entry in value.items()
        }
        return [places.get(at, default) for at in range(len(names))]
    return [value] * len(names) if isinstance(value, int) else list(value)


def paddings(value: Any, names: Sequence[str | None], sizes: Any, spans: Any, strides: Any) -> list[tuple[int, int]]:
    """(low, high) for each axis."""
    if value == "valid":
        return [(0, 0)] * len(names)
    if value == "same":  # as many windows as strides begin within the axis, an odd element at the end
        totals = [max((math.ceil(size / stride) - 1) * stride + span - size, 0)
                  for size, span, stride in zip(sizes, spans, strides, strict=True)]  # fmt: skip
        return [(total // 2, total - total // 2) for total in totals]
    return [tuple(pair) for pair in each(value, names, (0, 0))]


def places(
    shape: Sequence[int], names: Sequence[str | None], window: Any, strides: Any, padding: Any, dilations: Any
) -> Iterator[tuple[tuple[int, ...], list[tuple[int, ...]]]]:
    """First the shape of the result; then each index of it with the indices of its window's elements in x."""
    sizes, paces, apart = (each(value, names) for value in (window, strides, dilations))
    spans = [(size - 1) * between + 1 for size, between in zip(sizes, apart, strict=True)]
    pairs = paddings(padding, names, shape, spans, paces)
    counts = [max(0, (size + low + high - span) // pace + 1) if size + low + high >= span else 0
              for size, (low, high), span, pace in zip(shape, pairs, spans, paces, strict=True)]  # fmt: skip
    yield tuple(counts), []
    for index in product(*map(range, counts)):
        inside = [
            [at for at in (place * pace - low + step * between for step in range(size)) if 0 <= at < length]
            for place, pace, (low, high), size, between, length in zip(
                index, paces, pairs, sizes, apart, shape, strict=True
            )
        ]
        # Negative padding removes elements at both ends.
        kept = [[at for at in run if -low <= at < length + high] for run, (low, high), length in
                zip(inside, pairs, shape, strict=True)]  # fmt: skip
        yield index, list(product(*kept))


def folded(x: Any, x_names: Sequence[str | None], options: Mapping[str, Any], reduce: Any, dtype: Any) -> Any:
    """The result of a function of each window's elements, in row-major order."""
    of_windows = places(x.shape, x_names, options["window"], options.get("strides", 1), options.get("padding", "valid"),
                        options.get("dilations", 1))  # fmt: skip
    shape, _ = next(of_windows)
    out = numpy.zeros(shape, dtype)
    for index, inside in of_windows:
        out[index] = reduce([x[at] for at in inside])
    return out


def options_of(call: Invocation) -> dict[str, Any]:
    return {"window": call.arguments[-1], **call.options}


def without_axes(draw: Draw, dtype: DType) -> Any:
    """A tensor of up to four axes, with names or without."""
    rank = draw(st.integers(0, 3))
    x = draw(
        tensors(
            dtype,
            shapes(least=rank, most=4 if rank == 3 else rank, smallest=draw(FEWEST), largest=(6, 6, 5, 3)[rank]),
            tame=True,
        )
    )
    return x if draw(st.booleans()) else x.rename(*(None,) * x.ndim)


def window_call(draw: Draw, dtype: DType) -> Invocation:
    """Windows within the tensor, across its edges and larger than it; options left out or given in all forms."""
    x = without_axes(draw, dtype)
    window, options = window_options(draw, x)
    return Invocation("", (x, window), {name: value for name, value in options.items() if draw(st.integers(0, 3))})


def sum_(elements: list[Any], dtype: Any) -> Any:
    return numpy.sum(numpy.array(elements, dtype), dtype=dtype)


@reference("window_sum", by="brute force", draw=window_call, raw=True)
def window_sum(call: Invocation) -> Any:
    x = wide(call.arguments[0])
    out = folded(x, call.arguments[0].names, options_of(call), lambda each: sum_(each, x.dtype), x.dtype)
    return named(out, call.arguments[0].names)


def prod(elements: list[Any], dtype: Any) -> Any:
    if dtype.kind != "c":
        return numpy.prod(numpy.array(elements, dtype), dtype=dtype)
    out = numpy.array(1, dtype) if not elements else numpy.asarray(elements[0])
    for element in elements[1:]:
        out = multiply(out, element)
    return out


@reference("window_prod", by="brute force", draw=window_call, raw=True)
def window_prod(call: Invocation) -> Any:
    x, options = wide(call.arguments[0]), options_of(call)
    names = call.arguments[0].names
    out = folded(x, names, options, lambda elements: prod(elements, x.dtype), x.dtype)
    if x.dtype.kind != "c":
        return out
    # An infinite number times the 1 of padding has parts that are NaN: docs/semantics.md.
    counts = folded(x, names, options, len, int)
    return unjudged(out, ~numpy.isfinite(out) & (counts < math.prod(each(options["window"], names))))


def edge(dtype: DType, least: bool) -> Any:
    """The least or the largest value of a dtype."""
    if dtype.is_integer:
        return iinfo(dtype).min if least else iinfo(dtype).max
    return -math.inf if least else math.inf


@reference("window_max", "window_min", by="brute force", draw=window_call, raw=True)
def extremes(call: Invocation) -> Any:
    (x, _), least = call.arguments, call.name == "window_max"
    array, choose = wide(x), numpy.max if least else numpy.min
    start = edge(x.dtype, least)
    return folded(array, x.names, options_of(call), lambda each: choose(each) if each else start, array.dtype)


# Places and patches


def few_call(draw: Draw, dtype: DType) -> Invocation:
    """Few different elements, so that there are ties."""
    call = window_call(draw, dtype)
    x = call.arguments[0]
    if dtype.is_integer:
        x = draw(tensors(dtype, x.shape, names=x.names, values=st.integers(0, 2)))
    return call._replace(arguments=(x, *call.arguments[1:]))


@reference("window_argmax", "window_argmin", by="brute force", draw=few_call, raw=True)
def window_places(call: Invocation) -> Any:
    x, _ = call.arguments
    array, choose = wide(x), numpy.argmax if call.name == "window_argmax" else numpy.argmin
    of_windows = places(array.shape, x.names, call.arguments[1], *(call.options.get(name, default) for name, default in
                        (("strides", 1), ("padding", "valid"), ("dilations", 1))))  # fmt: skip
    shape, _ = next(of_windows)
    out = numpy.full(shape, -1)
    for index, inside in of_windows:
        if inside:
            chosen = inside[choose([array[at] for at in inside])]
            out[index] = sum(at * math.prod(array.shape[axis + 1 :]) for axis, at in enumerate(chosen))
    return named(out, x.names)


def patches(call: Invocation, x_names: Sequence[str | None], shape: Sequence[int], window: Any) -> tuple[Any, Any]:
    """For each element of patches its position in a tensor of a shape and, of those in the padding, a mask."""
    options = {"strides": 1, "padding": "valid", "dilations": 1, **call.options}
    sizes, paces, apart = (each(value, x_names) for value in (window, options["strides"], options["dilations"]))
    spans = [(size - 1) * between + 1 for size, between in zip(sizes, apart, strict=True)]
    pairs = paddings(options["padding"], x_names, shape, spans, paces)
    along = [at for at in range(len(shape)) if not isinstance(window, Mapping) or at in
             {x_names.index(axis) if isinstance(axis, str) else axis % len(shape) for axis in window}]  # fmt: skip
    counts = [(size + low + high - span) // pace + 1 if size + low + high >= span else 0
              for size, (low, high), span, pace in zip(shape, pairs, spans, paces, strict=True)]  # fmt: skip
    whole = (*counts, *(sizes[at] for at in along))
    position, outside = numpy.zeros(whole, int), numpy.zeros(whole, bool)
    for index in product(*map(range, whole)):
        for at, size in enumerate(shape):
            step = index[len(shape) + along.index(at)] if at in along else 0
            place = index[at] * paces[at] - pairs[at][0] + step * apart[at]
            # Negative padding removes elements at both ends.
            outside[index] |= not max(0, -pairs[at][0]) <= place < min(size, size + pairs[at][1])
            position[index] = position[index] * size + place
    return position, outside


@reference("unfold", by="brute force", draw=window_call, raw=True)
def unfold(call: Invocation) -> Any:
    x, window = call.arguments
    position, outside = patches(call, x.names, x.shape, window)
    flat = numpy.append(wide(x).reshape(-1), numpy.zeros(1, wide(x).dtype))
    out = flat[numpy.where(outside, x.size, position)]
    return named(out, (*x.names, *(None,) * (out.ndim - x.ndim)))


def fold_call(draw: Draw, dtype: DType) -> Invocation:
    """Patches of a drawn tensor, with its sizes in one of their forms."""
    call = window_call(draw, dtype)
    x, window = call.arguments
    try:
        patches = tb.unfold(x, window, **call.options)
    except TensorBackendError:
        reject()
    sizes = {axis: x.shape[x.names.index(axis)] for axis in window} if isinstance(window, Mapping) else x.shape
    return call._replace(arguments=(patches, sizes, window))


@reference("fold", by="brute force", draw=fold_call, raw=True, dtypes=NUMERIC)
def fold(call: Invocation) -> Any:
    x, sizes, window = call.arguments
    ndim = x.ndim - len(window) if isinstance(window, Mapping) else x.ndim // 2
    names, shape = x.names[:ndim], list(x.shape[:ndim])
    for axis, size in sizes.items() if isinstance(sizes, Mapping) else enumerate(sizes):
        shape[names.index(axis) if isinstance(axis, str) else axis] = size
    position, outside = patches(call, names, shape, window)
    array = wide(x)
    out = numpy.zeros(math.prod(shape), array.dtype)
    numpy.add.at(out, position[~outside], array[~outside])
    return named(out.reshape(shape), names)


def mean_call(draw: Draw, dtype: DType) -> Invocation:
    call = window_call(draw, dtype)
    return call._replace(options={**call.options, "include_padding": draw(st.booleans())})


@reference("window_mean", by="brute force", draw=mean_call, raw=True)
def window_mean(call: Invocation) -> Any:
    return mean_of(call.arguments[0], options_of(call), call.options["include_padding"])


def nanmean_call(draw: Draw, dtype: DType) -> Invocation:
    call = window_call(draw, dtype)
    return call._replace(arguments=(some_missing(draw, call.arguments[0]), *call.arguments[1:]))


@reference("window_nanmean", by="brute force", draw=nanmean_call, raw=True)
def window_nanmean(call: Invocation) -> Any:
    return mean_of(call.arguments[0], options_of(call), False, skip_nan=True)


def mean_of(x: tb.Tensor, options: Mapping[str, Any], include_padding: bool, skip_nan: bool = False) -> Any:
    """The mean of each window."""
    array = wide(x)
    array = array.astype(complex if x.dtype.is_complex else float)
    count = math.prod(each(options["window"], x.names))

    def mean(elements: list[Any]) -> Any:
        elements = [element for element in elements if element == element] if skip_nan else elements
        divisor = count if include_padding else len(elements)
        total = numpy.sum(numpy.array(elements, array.dtype))
        if not divisor:
            return complex(math.nan, math.nan) if x.dtype.is_complex else math.nan
        return complex(total.real / divisor, total.imag / divisor) if x.dtype.is_complex else total / divisor

    return named(folded(array, x.names, options, mean, array.dtype), x.names)


# Folds

FUNCTIONS = (tb.add, tb.multiply, tb.maximum, last, positive)


def reduce_call(draw: Draw, dtype: DType) -> Invocation:
    """Associative functions with their identities."""
    x = draw(tensors(dtype, shapes(smallest=draw(FEWEST), largest=3), tame=True))
    function = draw(st.sampled_from(FUNCTIONS))
    if function is last and not dtype.is_floating:
        function = positive if not dtype.is_complex else tb.add
    if dtype.is_complex and function in (tb.maximum, positive):
        function = tb.add
    zero: Any = {tb.add: 0, tb.multiply: 1, last: math.nan, positive: False}.get(function, edge(dtype, True))
    wider = draw(st.sampled_from([dtype, dtype, tb.complex128 if dtype.is_complex else tb.float64]))
    initial = zero
    if function is not positive and draw(st.booleans()):
        kind = wider if function in (tb.add, tb.multiply) else dtype
        initial = tb.asarray(zero, dtype=kind, backend="binary")
    window, options = window_options(draw, x)
    return Invocation("", (x, initial, window), {**options, "function": function})


STEPS = Bound(64, "each step is rounded to the dtype", "magnitudes", tame=True)


@reference("window_reduce", by="brute force", draw=reduce_call, raw=True, bound=STEPS, narrow=64, dtypes=NUMERIC)
def window_reduce(call: Invocation) -> Any:
    x, initial, _ = call.arguments
    function, array = call.options["function"], wide(x)
    start = wide(initial) if isinstance(initial, tb.Tensor) else numpy.array(initial)
    dtype = numpy.dtype(bool) if function is positive else numpy.result_type(array, start) if isinstance(
        initial, tb.Tensor) else array.dtype  # fmt: skip

    def fold(elements: list[Any]) -> Any:
        if function is positive:
            return any(element > 0 for element in elements)
        if function is last:
            return next((element for element in reversed(elements) if element == element), math.nan)
        if function is tb.maximum:
            return numpy.max(elements) if elements else start
        if function is tb.add:
            return sum_(elements, dtype)
        return prod([numpy.array(1, dtype), *elements], dtype)  # starts from the identity

    return folded(array, x.names, options_of(call), fold, dtype)


@reference("window_scatter_max", "window_scatter_min", by="brute force", raw=True)
def window_scatter(call: Invocation) -> Any:
    x, source, initial, window = call.arguments
    array, given, greatest = wide(x), wide(source), call.name.endswith("max")
    strong = isinstance(initial, tb.Tensor)
    dtype = numpy.result_type(given, wide(initial)) if strong else given.dtype if given.dtype.kind != "b" else int
    out = numpy.full(array.shape, wide(initial) if strong else initial, dtype)
    of_windows = places(array.shape, x.names, window, call.options["strides"], call.options["padding"], 1)
    next(of_windows)
    for index, inside in of_windows:
        if inside:
            elements = numpy.array([array[at] for at in inside])
            # A NaN wins, and the first of equal elements.
            best = numpy.argmax(elements) if greatest else numpy.argmin(elements)
            out[inside[best]] += given[index].astype(dtype)
    names = [one or two for one, two in zip(x.names, source.names, strict=True)]
    return named(out, names)


# Pooling


def pool_call(draw: Draw, dtype: DType) -> Invocation:
    """Windows that overlap or not, by position and by name."""
    x = without_axes(draw, dtype)
    options: dict[str, Any] = {
        "strides": draw(st.sampled_from([None, number_for_each(draw, x.names, 3)])),
        "padding": padding_for_each(draw, x.names),
        "dilation": number_for_each(draw, x.names, 3),
    }
    given = {name: value for name, value in options.items() if draw(st.booleans())}
    return Invocation("", (x, number_for_each(draw, x.names, 3)), given)


def pool_options(call: Invocation) -> dict[str, Any]:
    """The options of the windows of a pooling."""
    window = call.arguments[1]
    strides = call.options.get("strides")
    return {
        "window": window,
        "strides": window if strides is None else strides,
        "padding": call.options.get("padding", "valid"),
        "dilations": call.options.get("dilation", 1),
    }


@reference("nn.max_pool", by="brute force", draw=pool_call, raw=True)
def max_pool(call: Invocation) -> Any:
    x, _ = call.arguments
    array, start = wide(x), edge(x.dtype, True)
    out = folded(array, x.names, pool_options(call), lambda some: numpy.max(some) if some else start, array.dtype)
    return named(out, x.names)


def mean_pool_call(draw: Draw, dtype: DType) -> Invocation:
    call = pool_call(draw, dtype)
    return call._replace(options={**call.options, "include_padding": draw(st.booleans())})


@reference("nn.mean_pool", by="brute force", draw=mean_pool_call, raw=True)
def mean_pool(call: Invocation) -> Any:
    return mean_of(call.arguments[0], pool_options(call), call.options["include_padding"])


def unpool_call(draw: Draw, dtype: DType) -> Invocation:
    """Positions of some elements, or none, in a tensor of drawn sizes."""
    x = draw(tensors(dtype, shapes(least=1, most=3, largest=4)))
    sizes: Any = tuple(draw(st.integers(0, 5)) for _ in x.shape)
    count = math.prod(sizes)
    at = draw(tensors(tb.int64, x.shape, names=x.names, values=st.integers(-1, count if draw(st.booleans()) else -1)))
    if None not in x.names and draw(st.booleans()):
        sizes = dict(zip(x.names, sizes, strict=True))
    return Invocation("", (x, at, sizes), {})


@reference("nn.max_unpool", by="brute force", draw=unpool_call, raw=True)
def max_unpool(call: Invocation) -> Any:
    x, at, sizes = call.arguments
    shape = tuple(sizes.values()) if isinstance(sizes, Mapping) else sizes
    out = numpy.zeros(math.prod(shape), wide(x).dtype)
    for element, position in zip(wide(x).reshape(-1), wide(at).reshape(-1).tolist(), strict=True):
        if position >= len(out):
            raise Refusal("a position outside")
        if position >= 0:
            out[position] = element
    return named(out.reshape(shape), x.names)
