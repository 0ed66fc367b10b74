"""Resizing along axes: weighted means of entries near evenly spaced points, written in public ops.

Where the points lie and what the entries around them weigh follows from sizes and options alone, so it is computed in
Python numbers, axis by axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ....caching.option_keys import freeze
from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import REAL_OF, float32, int64, promote_types
from ....errors import ArgumentError, ShapeError, expected
from ....rules.accuracy import Bound
from ....rules.axes import normalize_axis
from ....rules.broadcasting import check_dtype, to_floating
from ....rules.window import PerAxis, axes_of, numbers
from ....template import Template
from ....tensor import Tensor, TensorLike
from ...creation.filled import asarray
from ...elementwise.basic import astype
from ...indexing.taking import take_at
from ...shape import reshape

Method: TypeAlias = Literal["linear", "nearest", "cubic", "lanczos3", "lanczos5"]
Convention: TypeAlias = Literal["pytorch", "onnx", "jax"]
Coordinates: TypeAlias = Literal[
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn", "asymmetric", "align_corners"
]
Rounding: TypeAlias = Literal["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]
Outside: TypeAlias = Literal["edge", "exclude"]
Scales: TypeAlias = float | Sequence[float] | Mapping[Any, float]

MOST_ENTRIES: Final = 1 << 24
"""The most entries of a resized axis, as each of them has its weights in Python numbers first."""

ROUNDINGS: Final[dict[str, Callable[[float], int]]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round_prefer_floor": lambda point: math.ceil(point - 0.5),
    "round_prefer_ceil": lambda point: math.floor(point + 0.5),
}


class _Options(NamedTuple):
    """How an axis is resized; see `resize`."""

    method: str
    antialias: bool
    coordinates: str
    rounding: str
    cubic: float
    outside: str


class _Taps(NamedTuple):
    """For each entry of a resized axis the entries of x that make it up, and what they weigh."""

    entries: list[list[int]]
    weights: list[list[float]]


def _points(size: int, target: int, scale: float | None, rule: str) -> list[float]:
    """Where the entries of a resized axis lie on the axis of x.

    Without a scale it is target / size, and numerators are multiplied first, so that each point is rounded only once.
    """
    whole = target if scale is None else scale * size

    def divided(place: float) -> float:
        return place * size / target if scale is None else place / scale

    if rule == "asymmetric":
        return [divided(place) for place in range(target)]
    if rule == "tf_half_pixel_for_nn":
        return [divided(place + 0.5) for place in range(target)]
    if rule == "align_corners":
        return [place * (size - 1) / (whole - 1) if whole > 1 else 0.0 for place in range(target)]
    if rule == "pytorch_half_pixel" and target <= 1:
        return [0.0] * target
    start = size / 2 * (1 - target / whole) if rule == "half_pixel_symmetric" and scale is not None else 0.0
    return [start + divided(place + 0.5) - 0.5 for place in range(target)]


def _triangle(distance: float) -> float:
    return max(1 - abs(distance), 0.0)


def _polynomial(distance: float, a: float) -> float:
    """Keys' cubic polynomials."""
    d = abs(distance)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def _lanczos(distance: float, radius: int) -> float:
    """A sine cardinal in a window that is one, too."""
    d = abs(distance)
    if d >= radius:
        return 0.0
    angle = math.pi * d
    return radius * math.sin(angle) * math.sin(angle / radius) / (angle * angle) if d > 1e-3 else 1.0


def _taps(size: int, target: int, scale: float | None, options: _Options) -> _Taps:
    """The entries that make up each entry of a resized axis."""
    points = _points(size, target, scale, options.coordinates)
    if options.method == "nearest":
        rounded = map(ROUNDINGS[options.rounding], points)
        return _Taps([[min(max(entry, 0), size - 1)] for entry in rounded], [[1.0]] * target)
    kernels: dict[str, tuple[int, Callable[[float], float]]] = {
        "linear": (1, _triangle),
        "cubic": (2, partial(_polynomial, a=options.cubic)),
        "lanczos3": (3, partial(_lanczos, radius=3)),
        "lanczos5": (5, partial(_lanczos, radius=5)),
    }
    radius, weigh = kernels[options.method]
    shrink = (size / target if scale is None else 1 / scale) if target else 1.0
    stretch = max(shrink, 1.0) if options.antialias else 1.0
    found = _Taps([], [])
    for point in points:
        first = math.floor(point - radius * stretch) + 1
        around = range(first, first + math.ceil(2 * radius * stretch))
        weights = [weigh((entry - point) / stretch) for entry in around]
        if options.outside == "exclude":
            weights = [weight if 0 <= entry < size else 0.0 for weight, entry in zip(weights, around, strict=True)]
        # The weights of linear and cubic interpolation add up to 1 by themselves.
        scaled = options.outside == "exclude" or stretch != 1 or options.method.startswith("lanczos")
        total = (math.fsum(weights) or 1.0) if scaled else 1.0
        found.entries.append([min(max(entry, 0), size - 1) for entry in around])
        found.weights.append([weight / total for weight in weights])
    return found


@composite.within(Bound(8, "some libraries fuse a step of (1 - w) * a + w * b", "operand", tame=True)).calls("resize")
def _resize(
    x: Tensor,
    /,
    *,
    axes: tuple[int, ...],
    targets: tuple[int, ...],
    scales: tuple[float | None, ...],
    options: tuple[Any, ...],
) -> Tensor:
    """See `resize`; the axes are positions, with a target and a scale for each."""
    how = _Options(*options)
    exact = how.method == "nearest"
    if not exact:
        check_dtype(x.dtype, "numeric")
    out = x.dtype if exact else to_floating(x.dtype)
    result = x if exact else astype(x, promote_types(out, float32))
    for axis, target, scale in zip(axes, targets, scales, strict=True):
        if target > MOST_ENTRIES:
            raise ArgumentError(expected(f"sizes of at most {MOST_ENTRIES}", sizes=target))
        if target == x.shape[axis] and (scale is None or scale == 1):
            continue
        if not x.shape[axis] and target:
            raise ShapeError(expected("axes with at least one entry to resize", tensor=x.template, axis=axis))
        taps = _taps(x.shape[axis], target, scale, how)
        result = _resize_axis(result, axis, taps)
    return result if exact else astype(result, out)


def _resize_axis(x: Tensor, axis: int, taps: _Taps) -> Tensor:
    """x with one axis resized: a sum over the first taps of all entries, over the second ones, and so on."""
    count = max(map(len, taps.entries), default=1)
    dtype = REAL_OF.get(x.dtype, x.dtype)
    total: Tensor | None = None
    for tap in range(count):
        column = [row[tap] for row in taps.entries]
        factors = [row[tap] for row in taps.weights]
        entries = take_at(x, asarray(column, dtype=int64), axis=axis, mode="clip").rename(*x.names)
        if factors and {*factors} == {1.0}:
            total = entries  # the only tap
            continue
        weights = reshape(asarray(factors, dtype=dtype), (-1, *(1,) * (x.ndim - 1 - axis)))
        weighted = entries * weights
        total = weighted if total is None else total + weighted
    assert total is not None  # there is at least one tap
    return total


@check_arguments
def resize(
    x: TensorLike,
    sizes: PerAxis | None = None,
    /,
    *,
    scales: Scales | None = None,
    method: Method = "linear",
    convention: Convention = "pytorch",
    antialias: bool | None = None,
    coordinates: Coordinates | None = None,
    rounding: Rounding | None = None,
    cubic: float | None = None,
    outside: Outside | None = None,
) -> Tensor:
    """Resize axes by interpolation: images to another height and width, signals to another rate.

    Each axis is resized by itself. An entry of the result is the weighted mean of the entries of x around the point
    that belongs to it.

    Parameters
    ----------
    x : Tensor
        Of a numeric dtype, or with `method="nearest"` of any dtype.
    sizes : int, sequence of int or mapping, optional
        The sizes of the result: for all axes, or for some, such as `{"height": 224, "width": 224}`.
    scales : float, sequence of float or mapping, optional
        The factors in place of sizes: an axis gets floor(size * scale) entries. With sizes as well, for the same axes,
        they say only how far apart the points are.
    method : {"linear", "nearest", "cubic", "lanczos3", "lanczos5"}, default "linear"
        How the weight of an entry falls with its distance from a point.
    convention : {"pytorch", "onnx", "jax"}, default "pytorch"
        Whose choice the options below are where they are left out.
    antialias : bool, optional
        Whether the weights reach farther if an axis shrinks, so that all entries count.
    coordinates : str, optional
        Where the points are, by ONNX's names. With "half_pixel" entries are the centres of pixels, and the image keeps
        its borders; with "align_corners" the first and the last entry keep their places; with "asymmetric" the first.
        "half_pixel_symmetric", "pytorch_half_pixel" and "tf_half_pixel_for_nn" are variants of "half_pixel".
    rounding : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}, optional
        Which entry is the nearest to a point.
    cubic : float, optional
        The parameter of cubic polynomials (Keys).
    outside : {"edge", "exclude"}, optional
        Beyond the ends of an axis the entry at the end counts, or none: then the other weights are scaled up.

    Returns
    -------
    Tensor
        A tensor with x's names. Nearest entries keep x's dtype; otherwise integers give the default floating dtype.

    Raises
    ------
    ArgumentError
        For an unknown word, and without sizes and scales.
    AxisError
        For an axis that x does not have, and for scales of other axes than sizes.
    ShapeError
        For an axis without entries.
    DTypeError
        For bools, unless the nearest entries are taken.

    Notes
    -----
    ============  ======================================  ====================  =========================
    ..            "pytorch"                               "onnx"                "jax"
    ============  ======================================  ====================  =========================
    antialias     False                                   False                 True
    coordinates   "half_pixel", "asymmetric" for nearest  "half_pixel"          "half_pixel"
    rounding      "floor"                                 "round_prefer_floor"  "round_prefer_ceil"
    cubic         -0.75, -0.5 with antialias              -0.75                 -0.5
    outside       "edge", "exclude" with antialias        "edge"                "exclude"
    ============  ======================================  ====================  =========================

    PyTorch's `align_corners=True` is `coordinates="align_corners"`, and its mode "nearest-exact" is
    `coordinates="half_pixel", rounding="round_prefer_ceil"`.

    Examples
    --------
    >>> x = tb.asarray([[0.0, 10.0]], names=("height", "width"))
    >>> tb.resize(x, {"width": 4}).tolist()
    [[0.0, 2.5, 7.5, 10.0]]
    >>> tb.resize(x, {"width": 3}, coordinates="align_corners").tolist()
    [[0.0, 5.0, 10.0]]
    >>> tb.resize(x, scales=2.0, method="nearest").tolist()
    [[0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 10.0, 10.0]]

    See Also
    --------
    grid_sample : Interpolates at any points.

    References
    ----------
    R. Keys, Cubic Convolution Interpolation for Digital Image Processing, 1981.
    """
    x = asarray(x)
    _check_word("method", method, Method)
    _check_word("convention", convention, Convention)
    if antialias not in (None, True, False):
        raise ArgumentError(expected("antialias to be True or False", antialias=antialias))
    smooth = antialias if antialias is not None else convention == "jax"
    excludes = convention == "jax" or (convention == "pytorch" and smooth)
    nearest = "asymmetric" if convention == "pytorch" and method == "nearest" else "half_pixel"
    rounds = {"pytorch": "floor", "onnx": "round_prefer_floor", "jax": "round_prefer_ceil"}[convention]
    options = _Options(
        method,
        bool(smooth),
        _check_word("coordinates", coordinates or nearest, Coordinates),
        _check_word("rounding", rounding or rounds, Rounding),
        float(cubic) if cubic is not None else -0.5 if excludes else -0.75,
        _check_word("outside", outside or ("exclude" if excludes else "edge"), Outside),
    )
    axes, targets, factors = _sizes(x.template, sizes, scales)
    return _resize(x, axes=axes, targets=targets, scales=factors, options=tuple(options))


def _check_word(name: str, word: str, words: Any) -> str:
    """A word of an option; raises the error for any other."""
    known: tuple[str, ...] = words.__args__
    if word not in known:
        raise ArgumentError(expected(f"{name} to be one of {', '.join(known)}", **{name: word}))
    return word


def _sizes(
    x: Template, sizes: PerAxis | None, scales: Scales | None
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[float | None, ...]]:
    """The axes to resize, with their new sizes and with scales where these are given."""
    if sizes is None and scales is None:
        raise ArgumentError(expected("sizes or scales", sizes=sizes, scales=scales))
    axes = axes_of(x, sizes if sizes is not None else scales)
    if sizes is not None and scales is not None and axes != axes_of(x, scales):
        raise ArgumentError(expected("scales for the same axes as sizes", sizes=sizes, scales=scales))
    factors = [None] * len(axes) if scales is None else _factors(x, axes, scales)
    if sizes is None:
        targets = tuple(
            math.floor(x.shape[axis] * factor) for axis, factor in zip(axes, factors, strict=True) if factor
        )
    else:
        along = numbers(x, range(x.ndim), "sizes", sizes, least=0)
        targets = tuple(along[axis] for axis in axes)
    return axes, targets, tuple(factors)


def _factors(x: Template, axes: Sequence[int], scales: Scales) -> list[float | None]:
    """A positive factor for each axis."""
    frozen = freeze(scales)
    if isinstance(frozen, tuple) and frozen and frozen[0] is None:
        by_axis = {normalize_axis(x, axis): factor for axis, factor in frozen[1:]}
        given = [by_axis[axis] for axis in axes]
    else:
        given = list(frozen) if isinstance(frozen, tuple) else [frozen]
    positive = [float(factor) for factor in given if isinstance(factor, int | float) and 0 < factor < math.inf]
    if isinstance(frozen, int | float):
        positive *= len(axes)
    if len(positive) != len(axes) or not all(isinstance(factor, int | float) for factor in given):
        raise ArgumentError(expected(f"a positive number for each of {len(axes)} axes as scales", scales=scales))
    return [*positive]
