"""Calls that move elements."""

from __future__ import annotations

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, DType
from ..calls import Invocation, generates
from ..strategies import Draw, axis_names, shapes, tensors
from . import call, second, with_axis


@generates("reshape")
def reshape(draw: Draw, dtype: DType) -> Invocation:
    """Draws the sizes in another order, some with -1 in place of one of them, or a single axis."""
    x = draw(tensors(dtype))
    shape = list(draw(st.permutations(x.shape)))
    if shape and x.size and draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    if draw(st.booleans()):
        return call(x, -1)
    return call(x, tuple(shape), names=draw(st.none() | st.just(axis_names(len(shape)))))


@generates("permute_dims")
def permute_dims(draw: Draw, dtype: DType) -> Invocation:
    """Draws orders by positions or names."""
    x = draw(tensors(dtype))
    return call(x, tuple(draw(st.permutations(draw(st.sampled_from([range(x.ndim), x.names]))))))


@generates("squeeze")
def squeeze(draw: Draw, dtype: DType) -> Invocation:
    """Axes of size 1, sometimes another one, which is refused."""
    x = draw(tensors(dtype, shapes(largest=2)))
    ones = [axis for axis, size in enumerate(x.shape) if size == 1 or draw(st.integers(0, 5)) == 0]
    return call(x, tuple(ones))


@generates("expand_dims")
def expand_dims(draw: Draw, dtype: DType) -> Invocation:
    """Draws one new axis at every position, with and without a name, or two at once."""
    x = draw(tensors(dtype))
    if draw(st.booleans()):
        return call(x, tuple(draw(st.permutations(range(-x.ndim - 2, 0)))[:2]), name=("one", None))
    return call(x, axis=draw(st.integers(-x.ndim - 1, x.ndim)), name=draw(st.none() | st.just("new")))


@generates("broadcast_to")
def broadcast_to(draw: Draw, dtype: DType) -> Invocation:
    """Draws new leading axes, and other sizes in place of 1."""
    x = draw(tensors(dtype))
    shape = tuple(draw(st.integers(0, 3)) if size == 1 else size for size in x.shape)
    return call(x, (*draw(shapes(most=1)), *shape))


@generates("pad")
def pad(draw: Draw, dtype: DType) -> Invocation:
    """Negative and interior padding too; padding that removes too many elements is refused."""
    x = draw(tensors(dtype))
    if draw(st.integers(0, 3)) == 0:
        side = st.integers(0, 3)
        return call(x, draw(side | st.tuples(side, side)), value=draw(tensors(dtype, ())))
    padding = tuple(
        (draw(st.integers(-2, 3)), draw(st.integers(-2, 3)), *draw(st.sampled_from([(), (0,), (1,), (2,)])))
        for _ in x.shape
    )
    return call(x, padding, value=draw(tensors(dtype, ())))


@generates("concatenate", "concat")
def concatenate(draw: Draw, dtype: DType) -> Invocation:
    """Blocks that differ along one axis, some of another dtype."""
    first, axis = with_axis(draw, dtype)
    blocks = [first]
    for _ in range(draw(st.integers(0, 2))):
        shape = list(first.shape)
        shape[axis] = draw(st.integers(0, 3))
        blocks.append(draw(tensors(second(draw, dtype), tuple(shape))))
    return call(blocks, axis=axis)


@generates("stack")
def stack(draw: Draw, dtype: DType) -> Invocation:
    """Tensors of one shape, some of another dtype."""
    first = draw(tensors(dtype))
    others = draw(st.lists(st.sampled_from([dtype, dtype, dtype, *ALL_DTYPES]), max_size=2))
    rest = [draw(tensors(other, first.shape)) for other in others]
    return call([first, *rest], axis=draw(st.integers(-first.ndim - 1, first.ndim)))


@generates("split")
def split(draw: Draw, dtype: DType) -> Invocation:
    """Draws equal parts, or positions."""
    x, axis = with_axis(draw, dtype)
    at = st.lists(st.integers(0, x.shape[axis]), max_size=3).map(lambda positions: tuple(sorted(positions)))
    return call(x, draw(st.integers(1, 3) | at), axis=axis)


@generates("roll")
def roll(draw: Draw, dtype: DType) -> Invocation:
    """Rolls the flattened tensor, or all axes in any order."""
    x = draw(tensors(dtype))
    if not x.ndim or draw(st.booleans()):
        return call(x, draw(st.integers(-7, 7)))
    axes = tuple(draw(st.permutations(range(x.ndim))))
    return call(x, tuple(draw(st.integers(-7, 7)) for _ in axes), axis=axes)


@generates("tile")
def tile(draw: Draw, dtype: DType) -> Invocation:
    """Fewer or more repetitions than axes."""
    return call(draw(tensors(dtype)), draw(shapes(largest=3)))


@generates("moveaxis")
def moveaxis(draw: Draw, dtype: DType) -> Invocation:
    """Moves some axes to as many positions."""
    x = draw(tensors(dtype, shapes(least=1)))
    places = st.lists(st.integers(0, x.ndim - 1), unique=True, min_size=1)
    source = draw(places)
    return call(x, tuple(source), tuple(draw(st.permutations(range(x.ndim)))[: len(source)]))


@generates("tril", "triu")
def triangle(draw: Draw, dtype: DType) -> Invocation:
    """Matrices and stacks of them; tensors of fewer axes are refused."""
    return call(draw(tensors(dtype)), k=draw(st.integers(-4, 4)))


@generates("take_diagonal", "make_diagonal")
def diagonal(draw: Draw, dtype: DType) -> Invocation:
    """Offsets within the matrix and beyond it."""
    return call(draw(tensors(dtype, shapes(least=1))), offset=draw(st.integers(-3, 3)))


@generates("put_diagonal")
def put_diagonal(draw: Draw, dtype: DType) -> Invocation:
    """A diagonal of the right length, sometimes one too long."""
    x = draw(tensors(dtype, shapes(least=2)))
    offset = draw(st.integers(-2, 2))
    rows, columns = x.shape[-2:]
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    shape = (*x.shape[:-2], max(length, 0) + draw(st.sampled_from([0, 0, 0, 1])))
    other = draw(st.sampled_from([dtype, dtype, *ALL_DTYPES]))
    return call(x, draw(tensors(other, shape, names=(*x.names[:-2], None))), offset=offset)


@generates("meshgrid")
def meshgrid(draw: Draw, dtype: DType) -> Invocation:
    """Up to three tensors of one axis."""
    lines = [draw(tensors(dtype, shapes(least=1, most=1), names=(name,))) for name in "xyz"[: draw(st.integers(1, 3))]]
    return call(*lines, indexing=draw(st.sampled_from(["xy", "ij"])))


@generates("reflect")
def reflect(draw: Draw, dtype: DType) -> Invocation:
    """Padding longer than the axes too; padding of an empty axis is refused."""
    x = draw(tensors(dtype))
    return call(x, tuple((draw(st.integers(0, 5)), draw(st.integers(0, 2))) for _ in x.shape))
