"""Encodings of positions for models without recurrence: sinusoids, rotations, and scores by distance."""

from __future__ import annotations

import math

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, DTypeLike, as_dtype, default_dtype, float32, promote_types
from ..errors import ArgumentError, ShapeError, expected
from ..ops.composite.reduction import cast_to_float32
from ..ops.composite.shape.arranging import split, stack
from ..ops.creation.filled import iota
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.basic import astype
from ..ops.elementwise.transcendental import cos, exp, sin
from ..ops.indexing.slices import slice_basic
from ..ops.padding import pad
from ..ops.shape import concatenate, expand_dims, permute_dims, reshape
from ..rules.accuracy import Bound, declare_bound
from ..rules.axes import normalize_axis
from ..rules.broadcasting import to_floating
from ..tensor import Tensor, TensorLike


def _angles(positions: Tensor, count: int, base: float, least: DType) -> Tensor:
    """Positions times frequencies from 1 down to almost 1 / base, along a new last axis.

    The result has the positions' floating dtype, promoted with `least`.
    """
    wide = astype(positions, promote_types(to_floating(positions.dtype), least))
    if not 0 < base < math.inf:
        raise ArgumentError(expected("a finite base above 0", base=base))
    step = -math.log(base) / max(count, 1)
    frequencies = exp(astype(iota(count, like=wide), wide.dtype) * step)
    return expand_dims(wide, axis=wide.ndim) * frequencies


@check_arguments
@declare_bound(Bound(16, "sines of products with exponentials", "operand", tame=True))
def sinusoidal_positions(
    positions: TensorLike,
    features: int,
    /,
    *,
    base: float = 10000.0,
    interleaved: bool = False,
    name: str | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Sines and cosines of positions at several frequencies (Vaswani et al. 2017, section 3.5).

    Parameters
    ----------
    positions : Tensor
        Numbers of any shape, such as `tb.arange(steps)`.
    features : int
        The total number of sines and cosines, which is even.
    interleaved : bool, default False
        Whether each sine comes right before its cosine, as in the paper; otherwise all sines come before all cosines.
    name : str, optional
        The name of the features' axis.
    dtype : dtype, optional
        A floating dtype; by default the default floating dtype.

    Returns
    -------
    Tensor
        The positions' axes, then an axis of features, computed in float32 at least.

    Raises
    ------
    ShapeError
        For an odd number of features.
    ArgumentError
        For a base that is not finite and above 0.

    Examples
    --------
    >>> tb.nn.sinusoidal_positions(tb.arange(3), 4, name="feature").shape
    (3, 4)
    """
    if features < 0 or features % 2:
        raise ShapeError(expected("an even number of features", features=features))
    (positions,) = operand_tensors(positions)
    kind = default_dtype("float") if dtype is None else as_dtype(dtype)
    least = promote_types(kind, float32) if kind.is_floating else float32
    angles = _angles(positions, features // 2, base, least)
    parts = [sin(angles), cos(angles)]
    waves = stack(parts, axis=-1) if interleaved else concatenate(parts, axis=-1)
    whole = reshape(waves, (*positions.shape, features), names=(*positions.names, name))
    return astype(whole, kind)


@check_arguments
@declare_bound(Bound(64, "products with sines of products with exponentials", "square", tame=True))
def rotary(
    x: TensorLike,
    positions: TensorLike | None = None,
    /,
    *,
    base: float = 10000.0,
    interleaved: bool = False,
    time: Axis = -2,
    axis: Axis = -1,
) -> Tensor:
    """Rotary position embedding: rotate pairs of features by angles proportional to the position (Su et al. 2021).

    The inner product of two rotated vectors depends on the distance of their positions only.

    Parameters
    ----------
    x : Tensor
        Queries or keys, with an even number of features.
    positions : Tensor, optional
        The position of each step, the same for all examples or one for each. It broadcasts to x's axes without the
        features, with the steps last. By default 0, 1, 2, ...
    interleaved : bool, default False
        Whether pairs are adjacent, as in the paper; otherwise feature i is paired with feature i + features / 2.
    time, axis : int or str, default -2 and -1
        The axis of the steps, and the axis of the features.

    Returns
    -------
    Tensor
        A tensor with the shape, names and floating dtype of x, computed in float32 at least.

    Raises
    ------
    ShapeError
        For an odd number of features, and positions that do not broadcast.
    ArgumentError
        For a base that is not finite and above 0.

    Examples
    --------
    >>> x = tb.asarray([[1.0, 0.0], [1.0, 0.0]])
    >>> [[round(number, 3) for number in row] for row in tb.nn.rotary(x).tolist()]
    [[1.0, 0.0], [0.54, 0.841]]
    """
    (x,) = operand_tensors(x)
    along, feature = normalize_axis(x.template, time), normalize_axis(x.template, axis)
    if along == feature or x.shape[feature] % 2:
        raise ShapeError(expected("steps, and an even number of features", x=x.template, time=time, axis=axis))
    order = (*(other for other in range(x.ndim) if other not in (along, feature)), along, feature)
    moved = permute_dims(cast_to_float32(x), order)
    places = iota(x.shape[along], like=x) if positions is None else operand_tensors(x, positions)[1]
    size = x.shape[feature]
    angles = astype(_angles(places, size // 2, base, moved.dtype), moved.dtype)
    if interleaved:
        pairs = reshape(moved, (*moved.shape[:-1], size // 2, 2), names=(*moved.names[:-1], None, None))
        first, second = slice_basic(pairs, (..., 0)), slice_basic(pairs, (..., 1))
    else:
        first, second = split(moved, 2, axis=-1)
        first, second = (part.rename(*moved.names[:-1], None) for part in (first, second))
    turned = (first * cos(angles) - second * sin(angles), second * cos(angles) + first * sin(angles))
    if turned[0].shape != first.shape:
        raise ShapeError(expected(f"positions that broadcast to {x.shape[:-1]}", positions=places.template))
    rotated = stack(turned, axis=-1) if interleaved else concatenate(turned, axis=-1)
    whole = reshape(rotated, moved.shape, names=moved.names)
    return astype(
        permute_dims(whole, tuple(order.index(original_axis) for original_axis in range(x.ndim))), to_floating(x.dtype)
    )


@check_arguments
def relative_shift(scores: TensorLike, /) -> Tensor:
    """Convert scores by distance to scores by key (Dai et al. 2019, appendix B).

    Parameters
    ----------
    scores : Tensor
        (..., queries, queries + keys - 1): for each query, a score for each distance to a key, from 1 - queries to
        keys - 1.

    Returns
    -------
    Tensor
        (..., queries, keys): the score of query i and key j is that of the distance j - i.

    Raises
    ------
    ShapeError
        For fewer distances than there are queries.

    Examples
    --------
    >>> tb.nn.relative_shift(tb.asarray([[-1, 0, 1], [-1, 0, 1]])).tolist()
    [[0, 1], [-1, 0]]
    """
    (scores,) = operand_tensors(scores)
    if scores.ndim < 2 or scores.shape[-1] < scores.shape[-2] or not scores.shape[-2]:
        expectation = "axes of queries and distances, with at least one query and no fewer distances than queries"
        raise ShapeError(expected(expectation, scores=scores.template))
    queries, distances = scores.shape[-2:]
    lead = scores.shape[:-2]
    # After rows are padded by one, score (i, j - i + queries - 1) is element i * distances + j + queries - 1 in all.
    longer = pad(scores, [*((0, 0),) * (scores.ndim - 1), (0, 1)])
    flat = reshape(longer, (*lead, queries * (distances + 1)))
    part = slice_basic(flat, (..., slice(queries - 1, queries - 1 + queries * distances)))
    rows = reshape(part, (*lead, queries, distances), names=scores.names)
    return slice_basic(rows, (..., slice(distances - queries + 1)))
