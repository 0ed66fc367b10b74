"""Values between the entries of a grid, written in public ops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import chain, groupby, product
from math import prod
from typing import Final, NamedTuple

from ....annotations import Axis
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import REAL_OF, DType, check_scalar, float32, int64, promote_types
from ....errors import ArgumentError, AxisError, ShapeError, expected
from ....rules.accuracy import Bound
from ....rules.axes import normalize_axes
from ....rules.broadcasting import broadcast, check_dtype, to_floating
from ....template import Shape, Template, intern_template
from ....tensor import Tensor, TensorLike
from ...creation.filled import full, iota
from ...creation.values import operand_tensors
from ...elementwise.basic import astype, clip, floor, where
from ...elementwise.binary import add, logical_and, logical_or, multiply
from ...indexing.taking import take_at
from ...padding import CONSTANT, EXTENSIONS, Boundary, Side, Sides, sides_of
from ...shape import permute_dims, reshape
from ..elementwise.functions import isfinite
from ..shape.arranging import unstack

CUBIC: Final = -0.75
"""The parameter of the cubic polynomials, as PyTorch, ONNX and OpenCV have it.

R. Keys, Cubic Convolution Interpolation for Digital Image Processing (1981).
"""

FAR: Final = 1 << 62
"""A place beyond every axis. int64 holds it and the place above it, and float32 holds it exactly."""


class _Layout(NamedTuple):
    """The axes of a grid and of coordinates: examples first, then space or points, then channels or components."""

    order: tuple[int, ...]
    """The axes of the grid: examples, spatial axes in the order of a coordinate's components, channels."""
    examples: Shape
    space: Shape
    channels: Shape
    out: Template
    """The template of the result: examples, points and channels."""


class _Places(NamedTuple):
    """Along one axis, the entries on one side of each coordinate."""

    entry: Tensor
    """The position on the axis, from 0 to its size - 1."""
    outside: tuple[tuple[Tensor, Side], ...]
    """Masks of the coordinates at which a value replaces the entry, each with this value."""


class _Neighbours(NamedTuple):
    """Along one axis, the entries around each coordinate, and their weights."""

    places: tuple[_Places, ...]
    weights: tuple[Tensor, ...]


def _layout(grid: Template, coordinates: Template, axes: tuple[int, ...]) -> _Layout:
    """The layout of a call; raises the errors of `grid_sample` about shapes, names and dtypes."""
    check_dtype(grid.dtype, "numeric")
    check_dtype(coordinates.dtype, "real")
    first = min(axes)
    if coordinates.ndim <= first or coordinates.shape[-1] != len(axes):
        expectation = (
            f"{len(axes)} components along the last axis of the coordinates, and {first} axes of examples in front"
        )
        raise ShapeError(expected(expectation, "or pass the spatial axes", coordinates=coordinates, axes=axes))
    channels = tuple(axis for axis in range(first, grid.ndim) if axis not in axes)
    if any(grid.shape[axis] == 0 for axis in axes):
        raise ShapeError(expected("spatial axes with at least one entry", grid=grid, axes=axes))
    of_examples = [intern_template(x.shape[:first], float32, x.names[:first]) for x in (grid, coordinates)]
    examples, names = broadcast(of_examples)
    points = slice(first, -1)
    out = Template(
        (*examples, *coordinates.shape[points], *(grid.shape[axis] for axis in channels)),
        promote_types(to_floating(grid.dtype), to_floating(coordinates.dtype)),
        (*names, *coordinates.names[points], *(grid.names[axis] for axis in channels)),
    )
    order = (*range(first), *axes, *channels)
    shape = tuple(grid.shape[axis] for axis in order)
    behind = first + len(axes)
    return _Layout(order, shape[:first], shape[first:behind], shape[behind:], out)


def _nearby(x: Tensor, size: int, sides: Sides, order: int) -> _Neighbours:
    """The entries of an axis around each coordinate along it, with their weights.

    At 1.25 these are entries 1 and 2 with weights 0.75 and 0.25. At either end of the axis both entries are inside:
    at 2 along an axis of 3 entries, they are entries 1 and 2 with weights 0 and 1. For cubic polynomials one more entry
    on each side belongs to them.
    """
    start = floor(x) if order else floor(x + 0.5)
    if order == 1 and size > 1:
        start = where(x == size - 1, size - 2, start)
    turned = any(side in EXTENSIONS and side != "edge" for side in sides)
    bounded = clip(start, -FAR, FAR) if turned else clip(start, -3, size + 1)
    number = astype(bounded, int64)
    if not order:
        return _Neighbours((_resolve_places(number, size, sides),), ())
    share = x - start
    steps = range(2) if order == 1 else range(-1, 3)
    places = tuple(_resolve_places(number + step if step else number, size, sides) for step in steps)
    return _Neighbours(places, (1 - share, share) if order == 1 else _cubic_weights(share))


def _cubic_weights(share: Tensor) -> tuple[Tensor, ...]:
    """The weights of four entries between the inner two of which a point lies, `share` of the way."""
    a, rest = CUBIC, 1 - share

    def inner(distance: Tensor) -> Tensor:
        return (distance * (a + 2) - (a + 3)) * distance * distance + 1

    def outer(distance: Tensor) -> Tensor:  # a d (1 - d)^2, of the distance beyond the inner entry
        return distance * a * (1 - distance) * (1 - distance)

    return outer(share), inner(share), inner(rest), outer(rest)


def _resolve_places(number: Tensor, size: int, sides: Sides) -> _Places:
    """The entries that belong to places inside and outside an axis."""
    below, above = sides
    if below == above and below in EXTENSIONS and below != "edge":
        return _Places(EXTENSIONS[str(below)](number, size), ())
    index = clip(number, 0, size - 1)
    outside: list[tuple[Tensor, Side]] = []
    for beyond, side in zip((number < 0, number >= size), sides, strict=True):
        if side not in EXTENSIONS:
            outside.append((beyond, 0 if side == CONSTANT else side))
        elif side != "edge":
            index = where(beyond, EXTENSIONS[str(side)](number, size), index)
    return _Places(index, tuple(outside))


def _spread(x: Tensor, channels: Shape) -> Tensor:
    """x with a trailing axis of size 1 for each channel axis."""
    return reshape(x, (*x.shape, *(1,) * len(channels))) if channels else x


def _fill(x: Tensor, corner: Sequence[_Places], channels: Shape, dtype: DType) -> Tensor:
    """x with the values that replace entries outside the grid; if axes have different values, the last axis decides."""
    outside = chain.from_iterable(places.outside for places in corner)
    for _, alike in groupby(outside, lambda replacement: repr(replacement[1])):
        masks, values = zip(*alike, strict=True)
        x = where(_spread(reduce(logical_or, masks), channels), full((), values[0], dtype=dtype), x)
    return x


@composite.within(Bound(8, "some libraries fuse a step of (1 - w) * a + w * b", "operand", tame=True)).calls(
    "grid_sample"
)
def _grid_sample(
    grid: Tensor, coordinates: Tensor, /, *, axes: tuple[int, ...], boundary: tuple[Sides, ...], order: int
) -> Tensor:
    """See `grid_sample`; the axes are positions, and `boundary` holds the two sides of each."""
    layout = _layout(grid.template, coordinates.template, axes)
    for side in chain.from_iterable(boundary):
        if not isinstance(side, str):
            check_scalar(side, layout.out.dtype)
    dtype = promote_types(layout.out.dtype, float32)
    channels, strides = layout.channels, [prod(layout.space[axis + 1 :]) for axis in range(len(axes))]
    rows = reshape(permute_dims(grid, layout.order), (prod(layout.examples) * prod(layout.space), *channels),
                   names=(None,) * (1 + len(channels)))  # fmt: skip
    wide = astype(coordinates, REAL_OF.get(dtype, dtype)).rename(*(None,) * coordinates.ndim)
    components = unstack(wide, axis=-1)
    spatial = zip(components, layout.space, boundary, strict=True)
    along = [_nearby(component, size, sides, order) for component, size, sides in spatial]
    start: Tensor | None = None
    if layout.examples:
        ones = (1,) * (coordinates.ndim - 1 - len(layout.examples))
        start = reshape(iota(prod(layout.examples)), (*layout.examples, *ones)) * prod(layout.space)
    values = []
    for corner in product(*(nearby.places for nearby in along)):
        numbers = [places.entry * stride for places, stride in zip(corner, strides, strict=True)]
        at = reduce(add, numbers if start is None else [*numbers, start])
        entries = astype(take_at(rows, at, axis=0, mode="clip"), dtype)
        values.append(_fill(entries, corner, channels, dtype))
    for nearby in reversed(along):
        if nearby.weights:  # combine neighbours along the last of the axes that are left
            weights = [_spread(weight, channels) for weight in nearby.weights]
            groups = [values[start : start + len(weights)] for start in range(0, len(values), len(weights))]
            values = [reduce(add, map(multiply, group, weights)) for group in groups]
    (interpolated,) = values
    if not order:
        finite = reduce(logical_and, map(isfinite, components))
        interpolated = where(_spread(finite, channels), interpolated, full((), float("nan"), dtype=dtype))
    return reshape(astype(interpolated, layout.out.dtype), layout.out.shape, names=layout.out.names)


@check_arguments
def grid_sample(
    grid: TensorLike,
    coordinates: TensorLike,
    /,
    *,
    axes: Sequence[Axis] | None = None,
    boundary: Boundary = CONSTANT,
    order: int = 1,
) -> Tensor:
    """Interpolate a grid at points between its entries.

    Entry (i, j) of a grid is at the point (i, j). The value at a point is the weighted mean of the entries around it,
    and the weight of an entry decreases with its distance along each axis, linearly or by cubic polynomials. Outside
    the grid the values are those of a grid that is padded as `boundary` says, one of `axes` after the other: in the
    corners the last of them decides.

    Parameters
    ----------
    grid : Tensor
        A tensor of any numeric dtype; integers are converted to the default floating dtype.
    coordinates : Tensor
        Points in units of entries, of a real dtype: the last axis has a component for each spatial axis. In the grid
        and the coordinates, the axes before the grid's first spatial axis are axes of examples, which broadcast.
    axes : sequence of int or str, optional
        The spatial axes of the grid, in the order of the components; by default the leading axes, one for each
        component. The axes before them are axes of examples, all others axes of channels.
    boundary : str, number, pair or mapping, default "constant"
        The values outside the grid: zeros ("constant"), another number, the entry at the end ("edge"), the entries
        from the other end ("periodic", or "wrap"), or the entries in reverse order from the end ("reflect", or
        "symmetric", which repeats the end). A pair has the values of the two sides, a mapping those of some spatial
        axes, by name or position.
    order : {1, 0, 3}, default 1
        1 interpolates linearly, 3 by cubic convolution over four entries along each axis (Keys, with the parameter
        -0.75); 0 takes the nearest entry, the upper one of two that are equally near.

    Returns
    -------
    Tensor
        The axes of examples, of points, then of channels, with their names, in the floating or complex dtype to which
        grid and coordinates are promoted. NaN at a point that is not finite.

    Raises
    ------
    ShapeError
        For coordinates with another number of components, and for a spatial axis without entries.
    NamesError
        For axes of examples with different names.
    DTypeError
        For a grid of bools, and coordinates that are not real.
    AxisError
        For an axis that the grid does not have, and a boundary of an axis that is not spatial.
    ArgumentError
        For an unknown boundary or order.

    Examples
    --------
    >>> heights = tb.asarray([[0.0, 10.0], [20.0, 30.0]], names=("y", "x"))
    >>> tb.grid_sample(heights, tb.asarray([[0.5, 0.5], [1.0, 0.25]])).tolist()
    [15.0, 22.5]
    >>> tb.grid_sample(heights, tb.asarray([[0.0, -3.0], [2.0, 0.0]]), boundary={"x": "edge", "y": (0, 7)}).tolist()
    [0.0, 7.0]

    The gradient by the coordinates is the slope of the cell around the point. At an entry it is the slope of the cell
    above, and at the last entry the slope of the cell below:

    >>> tb.grad(lambda point: tb.grid_sample(heights, point))(tb.asarray([0.0, 0.0])).tolist()
    [20.0, 10.0]

    See Also
    --------
    resize : Interpolates at evenly spaced points.
    pad : Uses the same modes for values outside.
    take : Reads entries at integer positions.

    References
    ----------
    R. Keys, Cubic Convolution Interpolation for Digital Image Processing, 1981.
    """
    grid, coordinates = operand_tensors(grid, coordinates)
    if not coordinates.ndim or not coordinates.shape[-1]:
        raise ShapeError(expected("coordinates with components along the last axis", coordinates=coordinates.template))
    chosen = normalize_axes(grid.template, range(coordinates.shape[-1]) if axes is None else axes)
    if not chosen:
        raise AxisError(expected("at least one spatial axis", axes=axes))
    if order not in (0, 1, 3):
        raise ArgumentError(expected("an order of 0, 1 or 3", order=order))
    sides = sides_of(grid.template, boundary, chosen, option="boundary")
    return _grid_sample(grid, coordinates, axes=chosen, boundary=sides, order=order)
