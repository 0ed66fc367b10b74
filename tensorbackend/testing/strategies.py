"""Hypothesis strategies: elements, shapes, tensors. Tensors are drawn on BinaryBackend.

Special values are drawn often, and so are sizes of 0 and 1; axes have names, so that names are compared as well.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from ..dtypes import ALL_DTYPES, REAL_OF, DType, finfo, iinfo
from ..dtypes.narrow import code_values
from ..dtypes.packing import pack, unpack
from ..ops.creation.filled import from_binary
from ..template import Names, Template
from ..tensor import Tensor

Draw = st.DrawFn


def profile(count: int) -> settings:
    """The settings of a property test: `count` fixed examples, or as many random ones as the environment variable
    `TENSORBACKEND_EXAMPLES` says.

    Parameters
    ----------
    count : int
        The number of examples.

    Returns
    -------
    hypothesis.settings
        The settings, a decorator of tests.

    Examples
    --------
    >>> type(profile(10)).__name__
    'settings'
    """
    asked = os.environ.get("TENSORBACKEND_EXAMPLES")
    return settings(
        max_examples=int(asked or count),
        deadline=None,
        derandomize=not asked,
        phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


# Strategies are validated when they are first drawn from, which takes longer than a draw, so they are kept.
_kept = lru_cache(maxsize=4096)


@cache
def elements(dtype: DType, *, tame: bool = False) -> st.SearchStrategy[Any]:
    """Python numbers that a dtype holds, special ones often.

    The `tame` ones are of moderate size, so that no order of additions and no product of a few of them overflows;
    infinities and NaN are still drawn, but rarely.

    Parameters
    ----------
    dtype : DType
        The dtype.
    tame : bool, default False
        Whether they are of moderate size.

    Returns
    -------
    SearchStrategy
        The numbers of that dtype.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tensorbackend.dtypes import int8
    >>> -128 <= find(elements(int8), lambda number: number < 0) < 0
    True
    """
    if dtype.kind == "bool":
        return st.booleans()
    if dtype.is_narrow:
        return st.sampled_from(code_values(dtype))
    if dtype.is_integer:
        limits = iinfo(dtype)
        edges = [0, 1, limits.min, limits.max, *([-1] if limits.min else [])]
        return st.sampled_from(edges) | st.integers(limits.min, limits.max) | st.integers(0, 9)
    if dtype.is_complex:
        part = elements(REAL_OF[dtype], tame=tame)
        return st.builds(complex, part, part)
    plain = st.floats(-8, 8, width=32)
    if tame:
        special = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0])
        drawn = st.one_of(
            plain, special, special, plain, plain, st.sampled_from([1.0, 2.0, math.inf, -math.inf, math.nan])
        )
    else:
        info = finfo(dtype)
        edge = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, math.inf, -math.inf, math.nan, info.max, -info.max]
        edge += [info.smallest_normal, -info.smallest_normal / 2]
        drawn = st.sampled_from(edge) | plain | st.floats(-info.max, info.max)
    return drawn.map(lambda value: next(iter(unpack(pack([value], dtype), dtype))))


@cache
def shapes(*, least: int = 0, most: int = 3, smallest: int = 0, largest: int = 4) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes with `least` to `most` axes, whose sizes are `smallest` to `largest`.

    Parameters
    ----------
    least, most : int, default 0 and 3
        The minimum and the maximum number of axes.
    smallest, largest : int, default 0 and 4
        The minimum and the maximum size of an axis.

    Returns
    -------
    SearchStrategy of tuple of int
        The shapes.

    Examples
    --------
    >>> from hypothesis import find
    >>> len(find(shapes(least=2, most=2), lambda shape: True))
    2
    """
    return st.lists(st.integers(smallest, largest), min_size=least, max_size=most).map(tuple)


def axis_names(count: int) -> tuple[str, ...]:
    """The names that drawn tensors have: `axis0`, `axis1`, ..."""
    return tuple(f"axis{axis}" for axis in range(count))


def templates(
    dtype: DType | None = None,
    shape: Sequence[int] | st.SearchStrategy[tuple[int, ...]] | None = None,
    *,
    names: Sequence[str | None] | None = None,
) -> st.SearchStrategy[Template]:
    """Templates of a dtype, by default any, of a drawn or given shape, with names `axis0`, ... unless others are
    given.

    Parameters
    ----------
    dtype : DType, optional
        The dtype.
    shape : sequence of int, or a strategy of them, optional
        The shape.
    names : sequence of str or None, optional
        A name or `None` for each axis.

    Returns
    -------
    SearchStrategy of Template
        The templates.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(templates(shape=(2, 3)), lambda template: True).shape
    (2, 3)
    """
    dtypes = st.sampled_from(ALL_DTYPES) if dtype is None else st.just(dtype)
    drawn = st.just(tuple(shape)) if isinstance(shape, Sequence) else shapes() if shape is None else shape
    return st.builds(
        lambda of, sizes: Template(sizes, of, axis_names(len(sizes)) if names is None else names), dtypes, drawn
    )


def tensors(
    dtype: DType,
    shape: Sequence[int] | st.SearchStrategy[tuple[int, ...]] | None = None,
    *,
    names: Sequence[str | None] | None = None,
    tame: bool = False,
    values: st.SearchStrategy[Any] | None = None,
) -> st.SearchStrategy[Tensor]:
    """Tensors of a dtype, of a drawn or given shape, with names `axis0`, ... unless others are given.

    Parameters
    ----------
    dtype : DType
        The dtype.
    shape : sequence of int, or a strategy of them, optional
        The shape.
    names : sequence of str or None, optional
        A name or `None` for each axis.
    tame : bool, default False
        Whether the elements are of moderate size.
    values : SearchStrategy, optional
        The elements.

    Returns
    -------
    SearchStrategy of Tensor
        The tensors, on BinaryBackend.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tensorbackend.dtypes import float32
    >>> find(tensors(float32, (2, 3)), lambda x: True).template
    f32[axis0: 2][axis1: 3]
    """
    shape_or_strategy = tuple(shape) if isinstance(shape, Sequence) else shapes() if shape is None else shape
    return _tensors(dtype, shape_or_strategy, None if names is None else tuple(names), tame, values)


@_kept
def _columns(dtype: DType, tame: bool, size: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(elements(dtype, tame=tame), min_size=size, max_size=size)


@_kept
@st.composite
def _tensors(
    draw: Draw,
    dtype: DType,
    shape: tuple[int, ...] | st.SearchStrategy[tuple[int, ...]],
    names: Names | None,
    tame: bool,
    values: st.SearchStrategy[Any] | None,
) -> Tensor:
    if not isinstance(shape, tuple):
        shape = draw(shape)
    size = math.prod(shape)
    column = _columns(dtype, tame, size) if values is None else st.lists(values, min_size=size, max_size=size)
    drawn = draw(column)
    template = Template(shape, dtype, axis_names(len(shape)) if names is None else names)
    return from_binary(pack(drawn, dtype), template, "binary")


@st.composite
def broadcastable(draw: Draw, dtypes: Sequence[DType], *, tame: bool = False) -> list[Tensor]:
    """Tensors, one for each dtype, whose shapes and names broadcast together; some hold elements of the first."""
    shape = draw(shapes())
    names = axis_names(len(shape))
    drawn: list[Tensor] = []
    for dtype in dtypes:
        start, operand_shape = 0, shape
        if drawn:
            start = draw(st.integers(0, len(shape)) | st.just(0))
            operand_shape = tuple(draw(st.sampled_from([size, 1])) for size in shape[start:])
        if drawn and dtype is dtypes[0] and drawn[0].size and draw(st.integers(0, 3)) == 0:
            drawn.append(draw(_elements_of(drawn[0], operand_shape, names[start:])))
        else:
            drawn.append(draw(tensors(dtype, operand_shape, names=names[start:], tame=tame)))
    return drawn


@st.composite
def _elements_of(draw: Draw, x: Tensor, shape: tuple[int, ...], names: Names) -> Tensor:
    """Tensors of elements of `x`, so that two operands often have equal elements, including NaN and zeros."""
    known, size = unpack(x.to_binary(), x.dtype), math.prod(shape)
    places = draw(_positions(len(known), size))
    return from_binary(pack([known[place] for place in places], x.dtype), Template(shape, x.dtype, names), "binary")


@_kept
def _positions(count: int, size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, count - 1), min_size=size, max_size=size)


@st.composite
def axes_of(draw: Draw, x: Tensor, kind: str) -> Any:
    """An axis of a tensor, several axes, or `None`, as the annotation `kind` allows, such as `"Axes"`.

    Axes are drawn by position or name. A tensor without axes is rejected if an axis is needed.
    """
    from hypothesis import assume

    if kind == "SoleAxis" and x.ndim == 1 and draw(st.booleans()):
        return None
    if kind in ("Axes", "Axis | None") and draw(st.booleans()):
        return None
    assume(x.ndim > 0)
    one = st.integers(-x.ndim, x.ndim - 1) | st.sampled_from(x.names)
    if kind == "Axes" and draw(st.booleans()):
        return tuple(draw(st.lists(st.integers(0, x.ndim - 1), unique=True)))
    return draw(one)
