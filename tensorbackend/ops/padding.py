"""Padding with values or with elements of the tensor itself, chosen for each side; written in public ops."""

from __future__ import annotations

from collections.abc import Iterable

from ..declarations.argument_errors import check_arguments
from ..errors import ArgumentError, ShapeError, expected
from ..rules.shape import Paddings, pad_template
from ..sizes import is_symbolic
from ..tensor import Tensor, TensorLike
from .boundaries import CONSTANT, EXTENSIONS, Boundary, Side, Sides, sides_of
from .creation.filled import asarray
from .indexing.slices import entries
from .indexing.taking import take_at
from .shape import concatenate, pad_with


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

    >>> import tensorbackend as tb
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
    x : Tensor
        A tensor of any dtype.
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
    >>> import tensorbackend as tb
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
