"""Generators of calls that draw random numbers; some with an invalid key, or a dtype that the op refuses."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, DType, iinfo, uint32
from ...dtypes.packing import pack
from ...ops.creation.filled import from_binary
from ...template import Template
from ...tensor import Tensor
from ..calls import Invocation, generates
from ..strategies import Draw, axis_names, shapes, tensors
from . import call

MODES = st.sampled_from(["low", "high"])


def keys(draw: Draw) -> Tensor:
    """A key, sometimes an invalid one."""
    wrong = draw(st.integers(0, 19))
    if wrong == 0:
        return draw(tensors(draw(st.sampled_from(ALL_DTYPES)), (2,)))
    return draw(tensors(uint32, (3,) if wrong == 1 else (2,), names=draw(st.none() | st.just(("word",)))))


def sample(draw: Draw, dtype: DType) -> tuple[tuple[int, ...], dict[str, Any]]:
    """A shape, and the options of a dtype and names."""
    shape = draw(shapes())
    options: dict[str, Any] = {"dtype": dtype if draw(st.booleans()) else None}
    if draw(st.booleans()):
        options["names"] = axis_names(len(shape))
    return shape, options


def bound(draw: Draw, dtype: DType, shape: tuple[int, ...], low: int, high: int) -> Any:
    """A parameter of a distribution: a number, or a tensor that broadcasts to a shape, in quarters."""
    quarters = st.integers(4 * low, 4 * high).map(lambda whole: whole / 4)
    if draw(st.booleans()):
        return draw(quarters)
    parameter_shape = tuple(draw(st.sampled_from([size, 1])) for size in shape[draw(st.integers(0, len(shape))) :])
    return draw(tensors(dtype, parameter_shape, names=(None,) * len(parameter_shape), values=quarters))


def floating_dtype(dtype: DType) -> DType:
    """The dtype itself if a distribution can have it, else float32."""
    return dtype if dtype.is_floating else next(candidate for candidate in ALL_DTYPES if candidate.name == "float32")


@generates("key")
def key(draw: Draw, dtype: DType) -> Invocation:
    """Draws every seed, and some that are out of range."""
    return Invocation("", (draw(st.integers(0, 2**64 - 1) | st.sampled_from([-1, 2**64])),), {}, creates=True)


@generates("random.split")
def split(draw: Draw, dtype: DType) -> Invocation:
    """Draws a number of keys, or a shape for them."""
    return call(keys(draw), draw(st.integers(0, 4) | shapes(most=2)))


@generates("fold_in")
def fold_in(draw: Draw, dtype: DType) -> Invocation:
    """Numbers, and tensors of every dtype."""
    number = st.integers(0, 2**32 - 1) | st.sampled_from([-1, 2**32])
    return call(keys(draw), draw(number | tensors(dtype, ()) | tensors(dtype)))


@generates("threefry2x32")
def threefry2x32(draw: Draw, dtype: DType) -> Invocation:
    """Counters that broadcast, sometimes of another dtype."""
    shape = draw(shapes())
    kind = dtype if draw(st.integers(0, 9)) == 0 else uint32
    high = draw(st.integers(0, 2**32 - 1) | tensors(uint32, ()))
    return call(keys(draw), high, draw(tensors(kind, shape)))


@generates("bits")
def bits(draw: Draw, dtype: DType) -> Invocation:
    """Draws every dtype; those that are not unsigned are refused."""
    shape, options = sample(draw, dtype)
    return call(keys(draw), shape, options.pop("dtype") or "uint32", **options)


@generates("uniform")
def uniform(draw: Draw, dtype: DType) -> Invocation:
    """Draws the default bounds or others, sometimes reversed; dtypes of integers and bools are refused."""
    shape, options = sample(draw, dtype)
    if draw(st.booleans()):
        kind = dtype if dtype.is_complex else floating_dtype(dtype)
        low, high = bound(draw, kind, shape, -9, 0), bound(draw, kind, shape, 0, 9)
        # Bounds in the wrong order sometimes: an error that says the same on every backend.
        options |= {"minval": high, "maxval": low} if draw(st.integers(0, 9)) == 9 else {"minval": low, "maxval": high}
    return call(keys(draw), shape, **options)


@generates("normal")
def normal(draw: Draw, dtype: DType) -> Invocation:
    """Draws a mean of 0, so that nothing cancels, and any deviation."""
    shape, options = sample(draw, dtype)
    if draw(st.booleans()):
        options["deviation"] = bound(draw, floating_dtype(dtype), shape, 0, 9)
    return call(keys(draw), shape, **options)


@generates("laplace")
@generates("exponential")
def exponential(draw: Draw, dtype: DType) -> Invocation:
    """Draws every dtype; those that are not floating are refused."""
    shape, options = sample(draw, dtype)
    return call(keys(draw), shape, **options)


@generates("gumbel")
def gumbel(draw: Draw, dtype: DType) -> Invocation:
    """Draws in both modes."""
    shape, options = sample(draw, dtype)
    return call(keys(draw), shape, mode=draw(MODES), **options)


@generates("truncated_normal")
def truncated_normal(draw: Draw, dtype: DType) -> Invocation:
    """Draws bounds within two standard deviations of the mean."""
    shape, options = sample(draw, dtype)
    kind = floating_dtype(dtype)
    furthest = 2
    if draw(st.booleans()):
        furthest = 1
        options |= {"mean": bound(draw, kind, shape, 0, 0), "deviation": 0.5}
        options |= draw(st.sampled_from([{}, {"mean": 0.5, "deviation": 0.75}]))
    bounds = bound(draw, kind, shape, -furthest, 0), bound(draw, kind, shape, 1, furthest)
    return call(keys(draw), *bounds, shape, **options)


@generates("multivariate_normal")
def multivariate_normal(draw: Draw, dtype: DType) -> Invocation:
    """Draws covariances whose diagonal dominates, one or a batch; those that do not match the mean are refused."""
    size, batch = draw(st.integers(0, 3)), draw(shapes(most=1, largest=2))
    beside = draw(st.sampled_from([0.0, 0.25, -0.25]))
    # Distinct variances, as the symmetric root has no gradient where they are equal.
    matrix = [2.0 + row if row == column else beside for row in range(size) for column in range(size)]
    template = Template((*batch, size, size), floating_dtype(dtype))
    cov = from_binary(pack(matrix * math.prod(batch), template.dtype), template, "binary")
    values = st.integers(0, 2).map(lambda whole: whole if dtype.is_integer else dtype.is_numeric and whole / 2)
    mean = draw(tensors(dtype, (draw(st.sampled_from([size, size, size, 3])),), values=values))
    method = draw(st.sampled_from(["cholesky", "cholesky", "eigh", "svd"]))
    return call(keys(draw), mean, cov, draw(st.none() | st.just((3, *batch)) | st.just((2,))), method=method)


@generates("randint")
def randint(draw: Draw, dtype: DType) -> Invocation:
    """Draws numbers or tensors as bounds; bounds in the wrong order or beyond the dtype are refused."""
    shape, options = sample(draw, dtype)
    kind = dtype if dtype.is_integer else next(candidate for candidate in ALL_DTYPES if candidate.name == "int64")
    limits = iinfo(kind)
    numbers = st.integers(limits.min, limits.max) | st.integers(0, 20) | st.sampled_from([limits.max + 1, -1])
    bound_shape = tuple(draw(st.sampled_from([size, 1])) for size in shape)
    bounds = draw(
        st.tuples(numbers, numbers) | st.tuples(tensors(kind, bound_shape, names=(None,) * len(bound_shape)), numbers)
    )
    return call(keys(draw), shape, *bounds, **options)


@generates("bernoulli")
def bernoulli(draw: Draw, dtype: DType) -> Invocation:
    """Draws probabilities in quarters, one or one for each element; dtypes that are not floating are refused."""
    shape, options = sample(draw, dtype)
    quarters = st.integers(0, 4).map(lambda whole: whole / 4 if dtype.is_inexact else whole % 2)
    p = draw(st.just(0.5) | tensors(dtype, shape, names=(None,) * len(shape), values=quarters))
    sizes = draw(st.none() | st.just((2, *shape)))
    options.pop("dtype")
    if options:
        options["names"] = axis_names(len(sizes if sizes is not None else shape if isinstance(p, Tensor) else ()))
    return call(keys(draw), p, sizes, draw(MODES), **options)


@generates("categorical")
def categorical(draw: Draw, dtype: DType) -> Invocation:
    """Draws a few classes, with and without replacement; too many different ones are refused."""
    x = draw(tensors(dtype, shapes(least=1, largest=3), tame=True))
    axis: Any = draw(st.integers(-x.ndim, x.ndim - 1) | st.sampled_from(x.names))
    place = x.names.index(axis) if isinstance(axis, str) else axis % x.ndim
    batch = x.shape[:place] + x.shape[place + 1 :]
    shape = draw(st.none() | st.just((2, *batch)))
    return call(keys(draw), x, axis, shape, draw(st.booleans()))


@generates("shuffle")
def shuffle(draw: Draw, dtype: DType) -> Invocation:
    """Shuffles along every axis."""
    x = draw(tensors(dtype, shapes(least=1)))
    return call(keys(draw), x, draw(st.integers(-x.ndim, x.ndim - 1) | st.sampled_from(x.names)), draw(st.booleans()))


@generates("permutation")
def permutation(draw: Draw, dtype: DType) -> Invocation:
    """Draws a range, or a tensor whose entries are permuted along any axis."""
    if draw(st.booleans()):
        return call(keys(draw), draw(st.integers(0, 9)))
    return shuffle(draw, dtype)


@generates("choice")
def choice(draw: Draw, dtype: DType) -> Invocation:
    """Draws a range or a tensor, with probabilities in quarters or without; too many different ones are refused."""
    size = draw(st.integers(1, 5))
    a = draw(st.just(size) | tensors(dtype, (size, 2)))
    quarters = tensors(floating_dtype(dtype), (size,), values=st.sampled_from([0.25, 0.5, 1.0]))
    shape = draw(shapes(most=2, largest=2))
    return call(keys(draw), a, shape, draw(st.booleans()), draw(st.none() | quarters))
