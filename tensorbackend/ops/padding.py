"""Padding with values or with elements of the tensor itself, chosen for each side; written in public ops.

A mode, which `pad` and `grid_sample` share, says which element of the axis is repeated at a position outside it. A
number, or the mode "constant", says that one value is used at all such positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import Scalar, scalar_kind
from ..errors import ArgumentError, AxisError, ShapeError, expected
from ..rules.axes import normalize_axis
from ..rules.shape import Paddings, pad_template
from ..sizes import is_symbolic
from ..template import Template
from ..tensor import Tensor, TensorLike
from .creation.filled import asarray
from .indexing.slices import entries
from .indexing.taking import take_at
from .shape import concatenate, pad_with

Side: TypeAlias = str | Scalar
"""The values beyond one end of an axis."""

Sides: TypeAlias = tuple[Side, Side]
"""The values below the first element of an axis, and those above the last."""

Boundary: TypeAlias = Side | Sides | Mapping[Axis, Side | Sides]
"""A `Side` for all ends, a pair for the two ends of each axis, or a mapping of some axes, by name or position, to
either of these."""

CONSTANT: Final = "constant"


def _reflect(place: Any, size: int) -> Any:
    """... 2 1 0 1 2 1 0 ...: reflected at the ends, which are not repeated."""
    last = size - 1
    return last - abs(place % max(2 * last, 1) - last)


def _mirror(place: Any, size: int) -> Any:
    """... 1 0 0 1 2 2 1 ...: reflected at the ends, which are repeated."""
    last = 2 * size - 1
    return (last - abs(2 * (place % (2 * size)) - last)) // 2


def _wrap(place: Any, size: int) -> Any:
    """... 1 2 0 1 2 0 1 ...: repeated from the start."""
    return place % size


EXTENSIONS: Final[Mapping[str, Callable[[Any, int], Any]]] = {
    "edge": lambda place, size: min(max(place, 0), size - 1),
    "periodic": _wrap,
    "reflect": _reflect,
    "symmetric": _mirror,
    "wrap": _wrap,
}
"""By mode, the function that maps a position, inside or outside an axis of a size, to the element that is read there.

A place is an int or, except for "edge", a tensor of ints."""

WORDS: Final = (CONSTANT, *EXTENSIONS)


def sides_of(x: Template, boundary: Boundary, axes: Sequence[int], /, *, option: str) -> tuple[Sides, ...]:
    """The values below and above each of the given axes, for a boundary as a user passes it.

    For each axis it is a mode or a number for each side; an axis that a mapping leaves out has "constant". `option`
    names the argument in errors. Raises `ArgumentError` for an unknown mode, or a value that is neither a mode nor a
    number, and `AxisError` for a mapping with an axis that is not among `axes`.

    >>> sides_of(Template((2, 3), "f32", ("row", "column")), {"column": ("edge", 1.5)}, (0, 1), option="boundary")
    (('constant', 'constant'), ('edge', 1.5))
    """
    if not isinstance(boundary, Mapping):
        return (_pair(boundary, option),) * len(axes)
    sides_by_axis = {normalize_axis(x, axis): _pair(sides, option) for axis, sides in boundary.items()}
    if not sides_by_axis.keys() <= set(axes):
        others = sorted(sides_by_axis.keys() - set(axes))
        raise AxisError(expected(f"{option} only for the axes {tuple(axes)} of {x!r}", axes=tuple(others)))
    return tuple(sides_by_axis.get(axis, (CONSTANT, CONSTANT)) for axis in axes)


def _pair(boundary: Any, option: str) -> Sides:
    low, high = boundary if isinstance(boundary, tuple | list) and len(boundary) == 2 else (boundary, boundary)
    for side in (low, high):
        if side not in WORDS if isinstance(side, str) else scalar_kind(side) is None:
            *others, last = map(repr, WORDS)
            expectation = f"{option} to be {', '.join(others)}, {last} or a number, or a pair of these"
            raise ArgumentError(expected(expectation, "or pass a mapping from axes to these", **{option: boundary}))
    return low, high


def extend(x: Tensor, padding: Paddings, sides: Iterable[Sides], value: TensorLike) -> Tensor:
    """Pads one axis of x after the other, each side by its mode or value; see `pad`."""
    _, triples = pad_template(x.template, padding)
    for axis, ((low, high, interior), (below, above)) in enumerate(zip(triples, sides, strict=True)):
        if below not in EXTENSIONS and above not in EXTENSIONS:
            x = _pad_with_value(x, axis, (low, 0, interior), below, value)
            x = _pad_with_value(x, axis, (0, high, 0), above, value)
            continue
        if low < 0 or high < 0 or interior:
            word = below if below in EXTENSIONS else above
            expectation = f"a padding (low, high) of at least 0 with mode={word!r}"
            raise ArgumentError(expected(expectation, padding=triples[axis]))
        size = x.shape[axis]
        if not (low or high):
            continue
        if not size:
            expectation = f"an axis with elements to pad with mode={below if below in EXTENSIONS else above!r}"
            raise ShapeError(expected(expectation, tensor=x.template, axis=axis))
        parts = [x]
        if below in EXTENSIONS:
            parts.insert(0, _entries(x, axis, range(-low, 0), below))
        if above in EXTENSIONS:
            parts.append(_entries(x, axis, [size + place for place in range(high)], above))
        x = concatenate(parts, axis=axis)
        if below not in EXTENSIONS:
            x = _pad_with_value(x, axis, (low, 0, 0), below, value)
        if above not in EXTENSIONS:
            x = _pad_with_value(x, axis, (0, high, 0), above, value)
    return Tensor(x.template, x.backend, x.data)  # a new tensor, even if nothing was padded


def _pad_with_value(x: Tensor, axis: int, triple: tuple[int, int, int], side: Side, value: TensorLike) -> Tensor:
    """x padded along an axis with the value of a side: a number, or `value` for "constant"."""
    return pad_with(x, value if isinstance(side, str) else side, padding={axis: triple}) if any(triple) else x


def _entries(x: Tensor, axis: int, places: Iterable[int], word: Side) -> Tensor:
    """The entries for positions outside an axis."""
    chosen = [EXTENSIONS[str(word)](place, x.shape[axis]) for place in places]
    if is_symbolic(chosen):
        return concatenate([entries(x, axis, place, 1) for place in chosen], axis=axis)
    return take_at(x, asarray(chosen, dtype="int64", backend=x.backend), axis=axis, mode="clip")


@check_arguments
def reflect(x: TensorLike, padding: Paddings, /) -> Tensor:
    """Pad x with its own elements mirrored at the ends: `pad` with `mode="reflect"`.

    >>> tb.reflect(tb.asarray([0, 1, 2]), [(3, 1)]).tolist()
    [1, 2, 1, 0, 1, 2, 1]
    """
    return pad(x, padding, mode="reflect")


@check_arguments
def pad(x: TensorLike, padding: Paddings, /, *, value: TensorLike | None = None, mode: Boundary = CONSTANT) -> Tensor:
    """Add elements before, after and between those of x: a value, by default zero, or elements of x itself.

    The axes are padded one after the other, so that the last one decides in the corners.

    Parameters
    ----------
    padding : sequence or mapping
        A tuple (low, high) or (low, high, interior) for each axis, or a mapping of some axes, by name or position, to
        such tuples or, for both sides, an int. A negative low or high removes elements, after the interior padding, as
        XLA's Pad does.
    value : Tensor or scalar, optional
        The value for the mode "constant", without axes.
    mode : str, number, pair or mapping, default "constant"
        What to add: `value` ("constant"), a number or, only before and after the elements of x, some of these
        elements: the one at the end ("edge"), those reflected at the end ("reflect", or "symmetric", which repeats the
        end), or those from the other end on ("periodic", or "wrap"). A pair is for the two sides, a mapping for some
        axes, by name or position; other axes use "constant".

    Returns
    -------
    Tensor
        A tensor with x's names and the padded sizes, in the common dtype of x and the values.

    Raises
    ------
    ShapeError
        If more elements would be removed than there are, for a `value` with axes, and if an axis without elements
        would be padded with its own.
    ArgumentError
        For an unknown mode, and for a negative or interior padding with elements of x.

    Examples
    --------
    >>> tb.pad(tb.asarray([1, 2]), [(1, -1, 1)]).tolist()
    [0, 1, 0]
    >>> tb.pad(tb.asarray([1, 2, 3]), [(2, 1)], mode=("edge", 9)).tolist()
    [1, 1, 1, 2, 3, 9]
    >>> tb.pad(tb.ones((1, 1), names=("row", "column")), {"column": (0, 2)}, mode={"column": ("edge", 0)}).tolist()
    [[1.0, 0.0, 0.0]]
    """
    original, x = x, asarray(x)
    if value is None:
        value = 0 if x.dtype.is_numeric else False
    if isinstance(mode, str) and mode == CONSTANT:
        return pad_with(original, value, padding=padding)
    return extend(x, padding, sides_of(x.template, mode, range(x.ndim), option="mode"), value)
