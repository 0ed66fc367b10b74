"""Oracles of `tb.random`: words of JAX's Threefry, formulas of `jax.random` in NumPy, distributions of SciPy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import permutations
from typing import Any

import numpy
import scipy.special
from hypothesis import strategies as st
from scipy import stats

import tensorbackend as tb
from tensorbackend.dtypes import DType, as_dtype, finfo, iinfo
from tensorbackend.interchange import numpy_dtype
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation
from tensorbackend.testing.generators import call
from tensorbackend.testing.generators.random import bound as drawn_bound
from tensorbackend.testing.generators.random import floating_dtype as drawn_floating
from tensorbackend.testing.generators.random import keys, sample
from tensorbackend.testing.strategies import Draw, shapes, tensors

from .elementwise import unjudged
from .table import FLOATING, INTEGER, Recorder, Refusal, law, reference, wide

Shape = tuple[int, ...]

# Words


@cache
def _jax_words() -> Any:
    """JAX's Threefry, which imports JAX when it is first needed."""
    from jax.extend.random import threefry_2x32

    return threefry_2x32


_BLOCK = 64
"""The number of counters in one call, always the same, so that XLA compiles one program."""


def threefry(key: Any, high: Any, low: Any) -> tuple[Any, Any]:
    """Two words for each counter."""
    high, low = numpy.broadcast_arrays(numpy.asarray(high, "u4"), numpy.asarray(low, "u4"))
    counters, parts = numpy.stack([high.ravel(), low.ravel()]), []
    for begin in range(0, counters.shape[1], _BLOCK):
        block = numpy.zeros((2, _BLOCK), "u4")
        part = counters[:, begin : begin + _BLOCK]
        block[:, : part.shape[1]] = part
        out = numpy.asarray(_jax_words()((key[0], key[1]), block.ravel())).reshape(2, _BLOCK)
        parts.append(out[:, : part.shape[1]])
    first, second = numpy.concatenate(parts, axis=1) if parts else counters
    return first.reshape(high.shape), second.reshape(high.shape)


def words(key: Any, shape: Shape) -> tuple[Any, Any]:
    """Two words for each element: those of its position, as in the partitionable form of `jax.random`."""
    return threefry(key, 0, numpy.arange(math.prod(shape), dtype="u4").reshape(shape))


def random_bits(key: Any, shape: Shape, width: int) -> Any:
    first, second = words(key, shape)
    if width == 64:
        return first.astype("u8") << numpy.uint64(32) | second
    return (first ^ second).astype(f"uint{width}")


def fractions(key: Any, shape: Shape, dtype: DType) -> Any:
    """Multiples of the eps from 0 to below 1, exact in double precision."""
    width = 8 if dtype.mantissa_bits < 8 else dtype.bits
    return numpy.ldexp(
        (random_bits(key, shape, width) >> (width - dtype.mantissa_bits)).astype("f8"), -dtype.mantissa_bits
    )


def floating_dtype(dtype: Any) -> DType:
    return as_dtype("float32" if dtype is None else dtype)


def rounded(x: Any, dtype: DType) -> Any:
    """Numbers in double precision that the dtype holds."""
    return numpy.asarray(x).astype(numpy_dtype(dtype)).astype("f8")


@reference("random.threefry2x32", by="JAX")
def threefry2x32(key: Any, high: Any, low: Any, /) -> Any:
    return threefry(key, high, low)


@reference("random.split", by="JAX")
def split(key: Any, /, num: int | Sequence[int] = 2) -> Any:
    return numpy.stack(words(key, (num,) if isinstance(num, int) else tuple(num)), axis=-1)


@reference("random.fold_in", by="JAX")
def fold_in(key: Any, data: Any, /) -> Any:
    low = data & 0xFFFFFFFF if isinstance(data, int) else data.astype("i8" if data.dtype.kind == "i" else "u8")
    return numpy.stack(threefry(key, 0, numpy.asarray(low).astype("u4")), axis=-1)


@reference("random.bits", by="JAX", dtypes=[dtype for dtype in INTEGER if dtype.kind == "uint"])
def bits(key: Any, /, shape: Any = (), dtype: Any = "uint32", *, names: Any = None) -> Any:
    return random_bits(key, tuple(shape), as_dtype(dtype).bits)


@law("random.key", by="definition", fixed={"device": "one device here"})
def key(draw: Draw, run: Recorder, backend: Backend) -> None:
    seed = draw(st.integers(-(2**63), 2**64 - 1) | st.integers(-3, 3) | st.sampled_from([2**32, 2**32 - 1, -(2**63)]))
    high, low = divmod(seed % 2**64, 2**32)
    place: dict[str, Any] = draw(st.sampled_from([{"backend": backend}, {"like": tb.ones(2, backend=backend)}]))
    made = run(seed, **place)
    assert made.dtype is tb.uint32
    assert made.backend is backend
    assert made.tolist() == [high, low]


@law("random.generator", by="JAX")
def generator(draw: Draw, run: Recorder, backend: Backend) -> None:
    seed = draw(st.integers(0, 2**64 - 1))
    made, current = run(seed, backend=backend), numpy.array(divmod(seed, 2**32), "u4")
    for _ in range(draw(st.integers(1, 3))):
        current, used = split(current)
        shape = draw(shapes(most=2))
        if draw(st.booleans()):
            assert made.draw(tb.random.bits, shape).tolist() == random_bits(used, shape, 32).tolist()
        else:
            assert made.next_key().tolist() == used.tolist()
    assert made.key.tolist() == current.tolist()


# Continuous distributions


@reference("random.uniform", by="JAX")
def uniform(
    key: Any, /, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0, *, names: Any = None
) -> Any:
    several = any(numpy.iscomplexobj(each) for each in (minval, maxval))
    kind = as_dtype("complex64") if dtype is None and several else floating_dtype(dtype)
    if not kind.is_complex:
        return between(key, tuple(shape), kind, minval, maxval)
    part = as_dtype(f"float{kind.bits // 2}")
    real, imag = (
        between(each, tuple(shape), part, take(minval), take(maxval))
        for each, take in zip(split(key), (numpy.real, numpy.imag), strict=True)
    )
    return real + 1j * imag


def between(key: Any, shape: Shape, dtype: DType, low: Any, high: Any) -> Any:
    if numpy.any(numpy.greater(low, high)):
        raise Refusal("minval above maxval")
    low, high = (numpy.broadcast_to(each, shape).astype("f8") for each in (low, high))
    product = fractions(key, shape, dtype) * (high - low)
    if dtype.bits == 16:  # each result is rounded
        product = rounded(product, dtype)
    return numpy.maximum(low, product + low)


def standard_normal(key: Any, shape: Shape, dtype: DType) -> Any:
    """The quantiles of uniform numbers between -1, which is left out, and 1."""
    return math.sqrt(2) * scipy.special.erfinv(2 * fractions(key, shape, dtype) - 1 + float(finfo(dtype).eps) / 2)


def _draw_normal(draw: Draw, dtype: DType) -> Invocation:
    """Means of 0, or so great that nothing cancels."""
    shape, options = sample(draw, dtype)
    kind = dtype if dtype.is_inexact else drawn_floating(dtype)
    if draw(st.booleans()):
        options["deviation"] = drawn_bound(draw, drawn_floating(dtype), shape, 0, 9)
    elif draw(st.booleans()):
        mean = tensors(kind, shape[-1:], names=(None,) * len(shape[-1:]), values=st.sampled_from([2.0, 3.0, 4.0]))
        options |= {"mean": draw(st.just(3.0) | mean), "deviation": draw(st.sampled_from([0.0, 0.125]))}
    return call(keys(draw), shape, **options)


@reference("random.normal", by="SciPy", draw=_draw_normal)
def normal(
    key: Any, /, shape: Any = (), dtype: Any = None, *, mean: Any = 0.0, deviation: Any = 1.0, names: Any = None
) -> Any:
    kind, shape = floating_dtype(dtype), tuple(shape)
    if not kind.is_complex:
        return mean + deviation * standard_normal(key, shape, kind)
    part = as_dtype(f"float{kind.bits // 2}")
    real, imag = (math.sqrt(0.5) * standard_normal(each, shape, part) for each in split(key))
    return mean + deviation * (real + 1j * imag)


@reference("random.exponential", by="SciPy")
def exponential(key: Any, /, shape: Any = (), dtype: Any = None, *, names: Any = None) -> Any:
    return stats.expon.ppf(fractions(key, tuple(shape), floating_dtype(dtype)))


@reference("random.laplace", by="SciPy")
def laplace(key: Any, /, shape: Any = (), dtype: Any = None, *, names: Any = None) -> Any:
    kind = floating_dtype(dtype)
    u = between(key, tuple(shape), kind, -1 + float(finfo(kind).eps) / 2, 1.0)
    # The rounding of u grows where it is small, and where 1 - u is.
    hidden = (numpy.abs(u) < 1 / 16) | (numpy.abs(u) > 15 / 16)
    return unjudged(-numpy.sign(u) * stats.laplace.isf((1 - numpy.abs(u)) / 2), hidden)


@reference("random.gumbel", by="SciPy")
def gumbel(key: Any, /, shape: Any = (), dtype: Any = None, mode: Any = "low", *, names: Any = None) -> Any:
    kind = floating_dtype(dtype)
    least = float(finfo(kind).smallest_normal)
    if mode == "low":
        return stats.gumbel_r.ppf(numpy.maximum(fractions(key, tuple(shape), kind), least))
    coarse, fine = fractions(key, (2, *shape), kind)
    small = numpy.where(coarse >= 0.5, coarse, numpy.maximum(coarse + fine * float(finfo(kind).eps), least))
    return -numpy.log(stats.expon.ppf(small))


def _draw_truncated_normal(draw: Draw, dtype: DType) -> Invocation:
    """Bounds on both sides of the mean, with and without a shape."""
    shape, options = sample(draw, dtype)
    kind = drawn_floating(dtype)
    if draw(st.booleans()):
        options |= {"mean": draw(st.sampled_from([0.0, 0.25])), "deviation": draw(st.sampled_from([0.5, 0.75]))}
    bounds = drawn_bound(draw, kind, shape, -1, 0), drawn_bound(draw, kind, shape, 1, 1)
    return call(keys(draw), *bounds, *draw(st.sampled_from([(), (shape,)])), **options)


@reference("random.truncated_normal", by="SciPy", draw=_draw_truncated_normal, narrow=2)
def truncated_normal(
    key: Any, /, lower: Any, upper: Any, shape: Any = None, dtype: Any = None, *,
    mean: Any = 0.0, deviation: Any = 1.0, names: Any = None,
) -> Any:  # fmt: skip
    sizes = numpy.broadcast_shapes(numpy.shape(lower), numpy.shape(upper)) if shape is None else tuple(shape)
    low, high = ((each - mean) / deviation for each in (lower, upper))
    return mean + deviation * stats.truncnorm.ppf(fractions(key, sizes, floating_dtype(dtype)), low, high)


def _draw_multivariate_normal(draw: Draw, dtype: DType) -> Invocation:
    """Covariances whose diagonal dominates, one or a batch."""
    size, batch = draw(st.integers(1, 3)), draw(shapes(most=1, largest=2))
    beside = draw(st.sampled_from([0.0, 0.25, -0.25]))
    cov = numpy.broadcast_to(numpy.eye(size) * (2 - beside) + beside, (*batch, size, size))
    options: dict[str, Any] = {"dtype": draw(st.sampled_from([None, dtype]))}
    shape: Shape | None = draw(st.none() | st.just((3, *batch)))
    if draw(st.booleans()):
        options["names"] = tuple(f"n{place}" for place in range(len(batch if shape is None else shape) + 1))
    options["method"] = draw(st.sampled_from(["cholesky", "eigh", "svd"]))
    if options["method"] != "cholesky" and draw(st.booleans()):
        cov = numpy.broadcast_to(numpy.ones((size, size)), cov.shape)  # singular
    mean = draw(tensors(dtype, (size,), values=st.integers(0, 2).map(lambda whole: whole / 2)))
    return call(keys(draw), mean, tb.asarray(cov, dtype=dtype, backend="binary"), shape, **options)


@reference(
    "random.multivariate_normal", by="SciPy", draw=_draw_multivariate_normal, dtypes=FLOATING, raw=True, narrow=4
)
def multivariate_normal(call: Invocation) -> Any:
    key, mean, cov, shape = call.arguments
    kind = as_dtype(call.options["dtype"] or tb.result_type(mean, cov))
    centre, spread = wide(mean), wide(cov)
    sizes = spread.shape[:-2] if shape is None else shape
    independent = standard_normal(wide(key), (*sizes, len(centre)), kind)
    if call.options["method"] == "cholesky":
        factor = numpy.linalg.cholesky(spread)
    else:
        variances, vectors = numpy.linalg.eigh(spread)
        factor = vectors * numpy.sqrt(numpy.maximum(variances, 0))[..., None, :] @ numpy.swapaxes(vectors, -1, -2)
    return centre + (factor @ independent[..., None])[..., 0]


# Integers, bools, orders


@reference("random.randint", by="JAX")
def randint(key: Any, /, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, names: Any = None) -> Any:
    kind, sizes = as_dtype("int64" if dtype is None else dtype), tuple(shape)
    limits, width = iinfo(kind), max(32, kind.bits)
    above = int(kind is not tb.uint64)
    lows, highs = (numpy.broadcast_to(each, sizes).ravel().tolist() for each in (minval, maxval))
    upper, lower = (random_bits(each, sizes, width).ravel().tolist() for each in split(key))
    out = []
    for low, high, *pair in zip(lows, highs, upper, lower, strict=True):
        least, most = max(limits.min, min(low, limits.max)), max(limits.min, min(high, limits.max + above))
        span = max(most - least, 1)
        half = 2 ** (width // 2) % span
        factor = half * half % 2**width % span
        offset = (pair[0] % span * factor + pair[1] % span) % 2**width
        out.append(least + offset % span)
    return numpy.array(out, kind.name).reshape(sizes)


@reference("random.bernoulli", by="JAX", raw=True)
def bernoulli(call: Invocation) -> Any:
    key, p, shape, mode = call.arguments
    kind = p.dtype if isinstance(p, tb.Tensor) else tb.float32
    likely = wide(p) if isinstance(p, tb.Tensor) else numpy.asarray(p)
    sizes = likely.shape if shape is None else tuple(shape)
    if mode == "low":
        return fractions(wide(key), sizes, kind) < likely
    coarse, fine = fractions(wide(key), (2, *sizes), kind)
    return fine * float(finfo(kind).eps) < likely - coarse


def order(key: Any, shape: Shape, axis: int) -> Any:
    """The order along an axis: that of random words, sorted as often as JAX sorts them."""
    places = numpy.argsort(numpy.zeros(shape), axis=axis, kind="stable")
    for _ in range(math.ceil(3 * math.log(max(1, math.prod(shape))) / math.log(2**32 - 1))):
        key, used = split(key)
        by = numpy.argsort(random_bits(used, shape, 32), axis=axis, kind="stable")
        places = numpy.take_along_axis(places, by, axis=axis)
    return places


@reference("random.shuffle", "random.permutation", by="JAX", raw=True)
def permutation(call: Invocation) -> Any:
    key, x, axis, independent = (*call.arguments, 0, False)[:4]
    array, names = (wide(x), x.names) if isinstance(x, tb.Tensor) else (numpy.arange(x), (None,))
    along = names.index(axis) if isinstance(axis, str) else axis % array.ndim
    if independent:
        return numpy.take_along_axis(array, order(wide(key), array.shape, along), axis=along)
    return numpy.take(array, order(wide(key), array.shape[along : along + 1], 0), axis=along)


# Classes and choices, by the frequency of each outcome

COUNT = 400


def frequent(outcomes: Sequence[Any], probabilities: dict[Any, float]) -> None:
    """Asserts that outcomes are as frequent as they are likely, by a test that chance fails once in 10**9 times."""
    seen, total = Counter(outcomes), len(outcomes)
    assert {*seen} <= {outcome for outcome, probability in probabilities.items() if probability > 0}
    for outcome, probability in probabilities.items():
        count = seen[outcome]
        tails = stats.binom.cdf(count, total, probability), stats.binom.sf(count - 1, total, probability)
        assert min(tails) > 1e-9, (outcome, probability, count, total)


def in_order(weights: Sequence[float], count: int) -> dict[Any, float]:
    """The probability of each order of `count` different places that are drawn one after the other."""
    orders: dict[Any, float] = {}
    for places in permutations(range(len(weights)), count):
        probability, left = 1.0, sum(weights)
        for place in places:
            probability *= weights[place] / left if left > 1e-12 else 0.0
            left -= weights[place]
        orders[places] = probability
    return orders


def seeded(draw: Draw, backend: Backend) -> tb.Tensor:
    return tb.random.key(draw(st.integers(0, 2**32)), backend=backend)


@law("random.categorical", by="definition")
def categorical(draw: Draw, run: Recorder, backend: Backend) -> None:
    size, replace = draw(st.integers(2, 4)), draw(st.booleans())
    logits = numpy.array(draw(st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.0]), min_size=size, max_size=size)))
    if replace and draw(st.booleans()):
        logits[0] = -numpy.inf
    dtype, mode = draw(st.sampled_from(["float32", "float64"])), draw(st.sampled_from(["low", "high"]))
    likely = numpy.exp(logits) / numpy.sum(numpy.exp(logits))
    axis, names = draw(st.sampled_from([-1, 0, "class"])), draw(st.sampled_from([None, ("draw",)]))
    key = seeded(draw, backend)
    if replace and draw(st.booleans()):
        x = tb.asarray(logits, dtype=dtype, names=("class",), backend=backend)
        drawn = run(key, x, axis, (COUNT,), replace, mode, names=names)
        assert drawn.names == (names or (None,))
        return frequent(drawn.tolist(), dict(enumerate(likely)))
    rows = numpy.broadcast_to(logits[:, None] if axis == 0 else logits, (size, COUNT) if axis == 0 else (COUNT, size))
    x = tb.asarray(rows, dtype=dtype, names=("class", "row") if axis == 0 else ("row", "class"), backend=backend)
    if replace:
        return frequent(run(key, x, axis, None, replace, mode, names=names).tolist(), dict(enumerate(likely)))
    count = draw(st.integers(1, 2))
    drawn = run(key, x, axis, (count, COUNT), replace, mode, names=names and ("several", *names))
    frequent([*zip(*drawn.tolist(), strict=True)], in_order(likely.tolist(), count))
    return None


@law("random.choice", by="definition")
def choice(draw: Draw, run: Recorder, backend: Backend) -> None:
    size, replace = draw(st.integers(2, 4)), draw(st.booleans())
    weights = draw(st.none() | st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=size, max_size=size))
    likely = numpy.array(weights or [1.0] * size) / (sum(weights) if weights else size)
    p = None if weights is None else tb.asarray(weights, dtype="float32", backend=backend)
    axis: Any = draw(st.sampled_from([0, 1, -1, "n"]))
    mode = draw(st.sampled_from(["low", "high"]))
    rows = numpy.arange(2 * size).reshape(2, size)
    along = 1 if axis == "n" else axis % 2
    x = tb.asarray(rows.T if along == 0 else rows, names=("n", "m") if along == 0 else ("m", "n"), backend=backend)
    whole, key = draw(st.booleans()), seeded(draw, backend)
    a: Any = size if whole else x

    def places(key: Any, shape: Shape, **options: Any) -> Any:
        """The places that were drawn; both entries at a place come together."""
        drawn = run(key, a, shape, replace, p, axis, mode, **options)
        if whole:
            return numpy.asarray(drawn)
        array = numpy.moveaxis(numpy.asarray(drawn), 1 - along if along == 0 else 0, 0) if len(shape) == 1 else None
        assert array is not None
        first, second = array if along == 1 else array.reshape(2, -1)
        assert (second == first + size).all()
        return first

    if replace:
        names = draw(st.sampled_from([None, ("draw",) if whole else ("a", "b")]))
        return frequent(places(key, (COUNT,), names=names).tolist(), dict(enumerate(likely)))
    count, several = draw(st.integers(1, 2)), tb.random.split(key, 60)
    orders = [tuple(places(several[place], (count,)).tolist()) for place in range(60)]
    frequent(orders, in_order(likely.tolist(), count))
    return None
