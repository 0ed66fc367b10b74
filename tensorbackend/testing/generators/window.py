"""Generators of calls of windows, and of the options and functions that convolution and folds share with them."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

import tensorbackend as tb

from ...dtypes import ALL_DTYPES, DType, finfo, iinfo
from ...rules.window import axes_of, plan_windows
from ...tensor import Tensor
from ..calls import Invocation, generates
from ..strategies import Draw, shapes, tensors
from . import call, missing_in


def number_for_each(draw: Draw, names: tuple[str | None, ...], most: int) -> Any:
    """One number for all axes, one for each, or a mapping of some; sometimes a wrong one."""
    numbers = st.integers(1, most)
    kind = draw(st.sampled_from(["one", "each", "each", "some", "wrong"] if draw(st.booleans()) else ["each"]))
    if kind == "one":
        return draw(numbers)
    if kind == "some" and names and None not in names:
        return draw(st.dictionaries(st.sampled_from(names), numbers))
    if kind == "wrong":
        return draw(st.sampled_from([0, -1, 1.5, None, (2,) * (len(names) + 1), {"absent": 2}, (0,) * len(names), "2"]))
    return tuple(draw(numbers) for _ in names)


def padding_for_each(draw: Draw, names: tuple[str | None, ...]) -> Any:
    """Draws paddings of every kind, negative ones too; sometimes a wrong one."""
    pairs = st.tuples(st.integers(-1, 3), st.integers(-1, 3))
    kind = draw(st.sampled_from(["valid", "same", "each", "each", "some", "wrong"]))
    if kind == "each":
        return tuple(draw(pairs) for _ in names)
    if kind == "some" and names and None not in names:
        return draw(st.dictionaries(st.sampled_from(names), pairs))
    if kind == "wrong" and draw(st.booleans()):
        return draw(
            st.sampled_from(["full", 1, None, ((0, 0),) * (len(names) + 1), (1,) * len(names), {"absent": (1, 1)}])
        )
    return "same" if kind == "same" else "valid"


def window_options(draw: Draw, x: Tensor, *, dilated: bool = True) -> tuple[Any, dict[str, Any]]:
    """Draws the size of a window, and the other options of a window op."""
    options: dict[str, Any] = {"strides": number_for_each(draw, x.names, 3), "padding": padding_for_each(draw, x.names)}
    if dilated:
        options["dilations"] = number_for_each(draw, x.names, 3)
    return number_for_each(draw, x.names, 3), options


@generates("window_sum", "window_prod", "window_max", "window_min", "unfold")
def window(draw: Draw, dtype: DType) -> Invocation:
    """Windows within the tensor, across its edges and larger than it."""
    x = draw(tensors(dtype, shapes(largest=5), tame=True))
    size, options = window_options(draw, x)
    return call(x, size, **options)


@generates("window_argmax", "window_argmin")
def window_places(draw: Draw, dtype: DType) -> Invocation:
    """Few different numbers, so that there are ties."""
    few = st.integers(0, 2) if dtype.is_integer else None
    x = draw(tensors(dtype, shapes(largest=5), values=few))
    size, options = window_options(draw, x)
    return call(x, size, **options)


@generates("fold")
def fold(draw: Draw, dtype: DType) -> Invocation:
    """Patches as they are for a shape; now and then for another one."""
    like = draw(tensors(dtype, shapes(largest=5), tame=True))
    window, options = window_options(draw, like)
    sizes: Any = like.shape
    if isinstance(window, dict):
        sizes = {axis: like.shape[like.names.index(axis)] for axis in window if axis in like.names}
    try:
        windows = plan_windows(like.template, window, *options.values())
        along = axes_of(like.template, window)
        shape = (*windows.places(like.shape), *(windows.sizes[axis] for axis in along))
    except (ValueError, TypeError):
        shape, along = (*like.shape, *(1,) * like.ndim), tuple(range(like.ndim))
    if math.prod(shape) > 1000:  # of wide padding
        shape, along = (*like.shape, *(1,) * like.ndim), tuple(range(like.ndim))
    if draw(st.integers(0, 9)) == 0:
        shape = (*shape, 1)
    names = (*like.names, *(None,) * (len(shape) - like.ndim))
    return call(draw(tensors(dtype, shape, names=names, tame=True)), sizes, window, **options)


@generates("window_mean")
def window_mean(draw: Draw, dtype: DType) -> Invocation:
    """Windows whose padding is counted or not."""
    drawn = window(draw, dtype)
    return call(*drawn.arguments, **drawn.options, include_padding=draw(st.booleans()))


@generates("window_nanmean")
def window_nanmean(draw: Draw, dtype: DType) -> Invocation:
    """Windows of which none, some or all elements are NaN."""
    return missing_in(draw, window(draw, dtype))


def last(accumulated: Tensor, element: Tensor) -> Tensor:
    """The element in the accumulator's dtype, unless it is NaN: the result of such a fold depends on the order."""
    return tb.where(tb.isnan(element), accumulated, tb.astype(element, accumulated.dtype))


def positive(accumulated: Tensor, element: Tensor) -> Tensor:
    """Whether any element is positive: the accumulator has another dtype than the elements."""
    return tb.logical_or(accumulated, element > 0)


def alternate_dtypes(accumulated: Tensor, element: Tensor) -> Tensor:
    """A function whose dtype is never that of its first argument."""
    return tb.astype(accumulated, "int32" if accumulated.dtype is tb.float32 else "float32")


def no_tensor(*elements: Tensor) -> Tensor:
    """A function that does not return a tensor, which is a mistake."""
    return 1  # type: ignore[return-value]


def result_with_axis(*elements: Tensor) -> Tensor:
    """A function that returns a tensor with an axis, which is a mistake."""
    return tb.expand_dims(elements[0])


FOLDS = (tb.add, tb.add, tb.multiply, tb.maximum, last, positive, alternate_dtypes, no_tensor, result_with_axis)


def initial_value(draw: Draw, dtype: DType) -> Any:
    """A Python number or a tensor, sometimes with an axis."""
    kind, shape = draw(st.sampled_from([dtype, dtype, *ALL_DTYPES])), draw(st.sampled_from([(), (), (), (1,)]))
    strong = draw(tensors(kind, shape, tame=True))
    return draw(st.sampled_from([0, 1, False, 0.5, strong, strong, strong]))


@generates("window_reduce")
def window_reduce(draw: Draw, dtype: DType) -> Invocation:
    """Valid functions, and some invalid ones."""
    x = draw(tensors(dtype, shapes(largest=3), tame=True))
    size, options = window_options(draw, x)
    return call(x, initial_value(draw, dtype), size, function=draw(st.sampled_from(FOLDS)), **options)


def double(element: Tensor) -> Tensor:
    """A function whose result has the element's dtype."""
    return element + element


def increase(element: Tensor) -> Tensor:
    """A function whose result has a floating dtype, or a complex one."""
    return element + 0.5


def absent(element: Tensor) -> Tensor:
    """A function whose result is bool."""
    return element == 0


def constant(element: Tensor) -> Tensor:
    """A function that makes its result on the default backend."""
    return tb.asarray(2.5)


MAPS = (tb.negative, double, increase, absent, constant, no_tensor, result_with_axis)


@generates("window_scatter_max", "window_scatter_min")
def window_scatter(draw: Draw, dtype: DType) -> Invocation:
    """Few different elements, so that there are ties; sources whose sums are exact in every order."""
    few: Any = st.booleans()
    if dtype.is_integer:
        few = st.sampled_from([iinfo(dtype).min, 0, 1, iinfo(dtype).max])
    elif dtype.is_inexact:
        few = st.sampled_from([0.0, -0.0, 1.0, -2.5, finfo(dtype).max, float("inf"), float("-inf"), float("nan")])
    x = draw(tensors(dtype, shapes(largest=4), values=few))
    size, options = window_options(draw, x, dilated=False)
    try:
        windows = plan_windows(x.template, size, options["strides"], options["padding"])
        shape = windows.places(x.shape)
    except (ValueError, TypeError):
        shape = x.shape
    if draw(st.integers(0, 9)) == 0:
        shape = (*shape, 1)
    wide = draw(st.sampled_from([dtype, dtype, *ALL_DTYPES]))
    quarters: Any = st.integers(-16, 16).map(lambda number: number / 4)
    if wide.is_complex:
        quarters = st.builds(complex, quarters, quarters)
    elif wide.is_integer:
        quarters = st.integers(0, 9)
    elif not wide.is_inexact:
        quarters = st.booleans()
    names = x.names if len(shape) == x.ndim else (None,) * len(shape)
    source = draw(tensors(wide, shape, names=draw(st.sampled_from([names, (None,) * len(shape)])), values=quarters))
    initial = draw(tensors(wide, draw(st.sampled_from([(), (), (), (1,)])), values=quarters))
    return call(x, source, draw(st.sampled_from([0, initial, initial])), size, **options)
