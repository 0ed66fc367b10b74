"""Selection of entries by a mask, and its inverse."""

from __future__ import annotations

from typing import Any

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import int64
from ..errors import AxisError, DTypeError, NamesError, ShapeError, expected
from ..ops.composite.cumulative import cumulative_sum
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and
from ..ops.shape import broadcast_to
from ..rules.axes import normalize_axis
from ..template import Template
from ..tensor import Tensor
from .lengths import check_equal, laid_out, length_mask
from .moving import gather_along, gather_ragged
from .packing import axes_over, front_order
from .value import Ragged, as_ragged, ragged_axis, ragged_or_tensor


@check_arguments
def select(
    x: Ragged | Tensor, mask: Ragged | Tensor, /, *, axis: Axis, name: str | None = None, size: int | None = None
) -> Ragged:
    """Select the entries along an axis where a mask is true, in order, for each example.

    Parameters
    ----------
    mask : Ragged or Tensor
        bool, over named axes of x, including `axis`. Elements beyond the lengths of x are not selected.
    axis : int or str
        A named axis.
    name : str, optional
        The name of the axis in the result, by default the name in x.
    size : int, optional
        The size of the axis in the result, by default the size in x.

    Returns
    -------
    Ragged
        x with new lengths of the axis: the numbers of selected entries, over the mask's other axes.

    Raises
    ------
    DTypeError
        For a mask that is not bool.
    NamesError
        For a mask with an axis that is not a named axis of x, or without `axis`.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1, 2, 3], [4, 5]])
    >>> odd = tb.ragged.select(x, x % 2 == 1, axis="time", name="odd")
    >>> odd.filled(0).tolist(), odd.lengths["odd"].tolist()
    ([[1, 3, 0], [5, 0, 0]], [2, 1])
    """
    ragged = as_ragged(x)
    axis_name = _axis_to_select(ragged, axis)
    chosen = _selection_mask(ragged, mask, axis_name)
    order, lengths = front_order(chosen, axis_name, size)
    bare = Ragged(
        ragged.values, {other: other_lengths for other, other_lengths in ragged.lengths.items() if other != axis_name}
    )
    selected = gather_ragged(bare, order, axis_name, lengths)
    return selected if name in (None, axis_name) else selected.rename(**{axis_name: name})


def _axis_to_select(x: Ragged, axis: Axis) -> str:
    name = x.names[normalize_axis(x.template, axis)]
    if name is None:
        raise AxisError(expected(f"an axis of {x.template!r} with a name", "name it with rename()", axis=axis))
    return name


def _selection_mask(x: Ragged, mask: Any, axis: str) -> Tensor:
    """Where a mask is true within the lengths of x: over axes of the examples, then `axis` as the last one."""
    lifted_mask = as_ragged(mask)
    if lifted_mask.dtype.kind != "bool":
        raise DTypeError(expected("a mask of dtype bool", "compare it, such as x != 0", mask=lifted_mask.template))
    if None in lifted_mask.names or not set(lifted_mask.names) <= set(x.names) or axis not in lifted_mask.names:
        remedy = "rename() its axes"
        raise NamesError(
            expected(
                f"a mask over named axes of {x.template!r}, {axis!r} among them", remedy, mask=lifted_mask.template
            )
        )
    for name in lifted_mask.lengths.keys() & x.lengths.keys():
        check_equal(name, lifted_mask.lengths[name], x.lengths[name])
    over = ({str(name) for name in lifted_mask.names} | axes_over(x, [axis])) - {axis}
    axes = [*(name for name in x.names if name is not None and name in over), axis]
    like = Template([x.size_of(name) for name in axes], "bool", axes)
    chosen = broadcast_to(laid_out(lifted_mask.filled(False), like), like.shape, names=axes)
    for name, lengths in x.lengths.items():
        if name in axes:
            chosen = logical_and(chosen, laid_out(length_mask(lengths, name, x.size_of(name)), like))
    return chosen


@check_arguments
def put_selected(
    base: Ragged | Tensor, mask: Ragged | Tensor, selected: Ragged, /, *, axis: Axis, name: str | None = None
) -> Any:
    """Undo `select`: write entries where a mask is true, in order, and keep those of `base` elsewhere.

    Parameters
    ----------
    base : Ragged or Tensor
        The values where the mask is false.
    mask : Ragged or Tensor
        As for `select`.
    selected : Ragged
        The result of `select` for the mask, or one computed from it position by position.
    axis : int or str
        The axis of `base` that `select` was called with.
    name : str, optional
        The name of the axis in `selected`, by default the name in `base`.

    Returns
    -------
    Ragged or Tensor
        Like `base`.

    Raises
    ------
    ShapeError
        If the lengths of `selected`, where they can be read, are not the numbers of true elements of the mask.

    Examples
    --------
    >>> x = tb.ragged.from_list([[1, 2, 3], [4, 5]])
    >>> odd = tb.ragged.select(x, x % 2 == 1, axis="time")
    >>> tb.ragged.put_selected(x, x % 2 == 1, odd * 10, axis="time").filled(0).tolist()
    [[10, 2, 30], [4, 50, 0]]
    """
    ragged = as_ragged(base)
    axis_name = _axis_to_select(ragged, axis)
    chosen = _selection_mask(ragged, mask, axis_name)
    source = ragged_axis(selected, axis_name if name is None else name, "the axis of select() as name=")
    renamed = selected if source == axis_name else selected.rename(**{source: axis_name})
    check_equal(axis_name, renamed.lengths[axis_name], astype(chosen, int64).sum(axis=-1), trusting=True)
    ranks = cumulative_sum(astype(chosen, int64), axis=-1) - 1
    entries = gather_along(renamed.values, ranks, axis_name)
    if entries.shape != ragged.shape:
        raise ShapeError(expected("entries like those of the base", base=ragged.template, selected=renamed.template))
    return ragged_or_tensor(where(laid_out(chosen, ragged.template), entries, ragged.values), ragged.lengths)
