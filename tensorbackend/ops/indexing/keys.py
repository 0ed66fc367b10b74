"""The keys of `x[...]`: ints, slices, None, ..., masks, integer tensors, in any mixture.

Slices and ints are cut out first. The rest are index tensors, each for one axis. A mask becomes the positions of its
true elements, along an axis into which the axes that it indexes are merged. A single index tensor is read by `take`;
several are broadcast together and read by `gather`. The axes of the index tensors take the position of the first of
them, or come first if a slice, None or ... is between two of them, as in NumPy; ints count as index tensors for that.
"""

from __future__ import annotations

from numbers import Integral
from operator import index
from types import EllipsisType, NoneType
from typing import Any, Final, Literal, NamedTuple

from ...dtypes import iinfo
from ...errors import IndexRangeError, TemplateDataError, expected
from ...rules.data_errors import restore_index
from ...rules.indexing import check_indices
from ...select import with_numbers_moved
from ...template import Template, merge_names
from ...tensor import Tensor
from ..composite.indexing.positions import argwhere
from ..composite.reduction import count_nonzero
from ..composite.shape.arranging import broadcast_arrays, moveaxis, stack
from ..creation.filled import asarray, full, zeros
from ..creation.values import beside
from ..elementwise.basic import astype
from ..elementwise.binary import minimum
from ..shape import expand_dims, laid_flat, permute_dims, reshape
from .scatter import gather
from .slices import slice_basic
from .taking import check_constant, from_end, take, take_at

SETTLED: Final = frozenset({int, slice, NoneType, EllipsisType, Tensor})
"""The classes of the parts of a key that need no conversion; slices with bounds of `BOUNDS`."""

BOUNDS: Final = frozenset({int, NoneType})
"""The classes of bounds of slices that run no code of the user, who may read or change x in an `__index__`."""


class Part(NamedTuple):
    """One part of a key, and the axes of x that it indexes."""

    kind: Literal["int", "slice", "new", "fill", "array", "mask"]
    axis: int
    """The first of its axes."""
    width: int
    """The number of axes that it indexes: for a mask as many as it has, for `None` 0, for `...` those that are left."""
    value: Any
    """The int, slice or tensor."""

    @property
    def chooses(self) -> bool:
        """Whether it counts as an index tensor where the place of their axes is decided."""
        return self.kind in ("int", "array", "mask")


def is_plain(key: Any) -> bool:
    """Whether basic indexing takes a key: an int, a slice, None or ..., or a tuple of these."""
    return all(map(is_plain_part, key)) if isinstance(key, tuple) else is_plain_part(key)


def is_plain_part(key: Any) -> bool:
    """Whether a part of a key is an int, a slice, None or ..., so that basic indexing takes it."""
    if key is None or isinstance(key, slice | EllipsisType):
        return True
    if isinstance(key, bool | Tensor | list | tuple):
        return False
    if isinstance(key, int):
        return True
    # An array of another library has an __index__ too, which is of use only without axes.
    if not hasattr(key, "__array__"):
        return True
    return getattr(key, "ndim", 1) == 0 and getattr(getattr(key, "dtype", None), "name", "bool") != "bool"


def is_integer(part: Any) -> bool:
    """Whether a part of a key is an integer, such as an int or one of NumPy's; bool is a mask."""
    return part.__class__ is not bool and isinstance(part, Integral)


def plain_part(part: Any, x: Tensor) -> Any:
    """A part of a key as the int, slice, None, ... or tensor that it represents; any other part unchanged."""
    if part.__class__ is slice:
        return part if has_plain_bounds(part) else slice(*map(_plain_bound, (part.start, part.stop, part.step)))
    if part.__class__ in SETTLED:
        return part
    if part.__class__ is list:  # quicker than to ask whether it is an integer
        return as_index(part, x)
    if is_integer(part):
        return index(part)
    if not is_plain_part(part):
        return as_index(part, x)
    try:
        return index(part)
    except TypeError:  # it is not an index, for which the ops raise the error
        return part


def has_plain_bounds(part: slice) -> bool:
    """Whether the bounds and the step of a slice are ints or None."""
    return part.start.__class__ in BOUNDS and part.stop.__class__ in BOUNDS and part.step.__class__ in BOUNDS


def _plain_bound(bound: Any) -> int | None:
    return None if bound is None else index(bound)


def as_index(key: Any, x: Tensor) -> Any:
    """A part of a key, as a tensor if it is a list, an array or a bool; empty lists hold integers."""
    if isinstance(key, Tensor) or (key.__class__ is not list and is_plain_part(key)):
        return key
    if isinstance(key, list | tuple) and not _flat(key):
        return zeros(_empty_shape(key), dtype="int64", backend=x.backend)
    key = list(key) if isinstance(key, tuple) else key
    if key.__class__ is list:
        return beside(key, x.backend)
    return asarray(key, backend=x.backend)


def _flat(key: Any) -> bool:
    """Whether nested lists hold any element."""
    try:
        return any(_flat(part) for part in key) if isinstance(key, list | tuple) else True
    except RecursionError:  # of a list that holds itself, which `asarray` refuses
        return True


def _empty_shape(key: Any) -> tuple[int, ...]:
    return (len(key), *(_empty_shape(key[0]) if key and isinstance(key[0], list | tuple) else ()))


def show_key(key: Any) -> Any:
    """A key as error texts show it: tensors by their templates, so that the text is the same on every backend."""
    return key.template if isinstance(key, Tensor) else key


def parse_key(x: Tensor, key: Any) -> list[Part]:
    """The parts of a key, with ... for the axes that are left.

    Raises `IndexRangeError` for too many parts, for a mask that does not match, and for more than one ....
    """
    keys = [as_index(part, x) for part in (key if isinstance(key, tuple) else (key,))]
    keys = [with_numbers_moved([x, part])[1] if isinstance(part, Tensor) else part for part in keys]
    if not any(isinstance(part, EllipsisType) for part in keys):
        keys.append(...)
    widths = []
    for part in keys:
        if part is None or isinstance(part, EllipsisType):
            widths.append(0)
        else:
            widths.append(part.ndim if isinstance(part, Tensor) and part.dtype.kind == "bool" else 1)
    used = sum(widths)
    if used > x.ndim or sum(isinstance(part, EllipsisType) for part in keys) > 1:
        expectation = f"indices of at most {x.ndim} axes and at most one ... for {x.template!r}"
        raise IndexRangeError(expected(expectation, key=tuple(map(show_key, keys))))
    parts = []
    axis = 0
    for part, width in zip(keys, widths, strict=True):
        if isinstance(part, EllipsisType):
            parts.append(Part("fill", axis, x.ndim - used, part))
        elif part is None:
            parts.append(Part("new", axis, 0, part))
        elif isinstance(part, slice):
            parts.append(Part("slice", axis, 1, part))
        elif not isinstance(part, Tensor):
            parts.append(Part("int", axis, 1, part))
        elif part.dtype.kind == "bool":
            parts.append(Part("mask", axis, width, _check_mask(x, axis, part)))
        else:
            check_indices(part.template, "error")
            parts.append(Part("array", axis, 1, part))
        axis += parts[-1].width
    return parts


def _check_mask(x: Tensor, axis: int, mask: Tensor) -> Tensor:
    """A mask with the names of the axes that it indexes; raises if shapes or names differ."""
    end = axis + mask.ndim
    covered = Template(x.shape[axis:end], x.dtype, x.names[axis:end])
    if mask.shape != covered.shape:
        pairs = zip(mask.shape, covered.shape, strict=False)
        if mask.ndim == covered.ndim and all(size in (0, whole) for size, whole in pairs):
            # A mask without elements, which the standard allows, holds nowhere.
            return full(covered.shape, False, dtype="bool", names=covered.names, backend=mask.backend)
        raise IndexRangeError(expected(f"a mask of shape {covered.shape}", mask=mask.template, x=x.template))
    return mask.rename(*merge_names(covered, mask.template)) if mask.ndim else mask


def entries(x: Tensor, key: Any) -> Tensor:
    """The elements `x[key]`, by the ops that cut, gather and move axes."""
    return slice_basic(x, key) if is_plain(key) else _pick_entries(x, parse_key(x, key))


def _pick_entries(x: Tensor, parts: list[Part]) -> Tensor:
    """The entries at a key with index tensors in it."""
    cut, merged, names, places, indices = _cut(x, parts)
    cut = reshape(cut, merged, names=names)
    with_axes = [number for number, at in enumerate(indices) if at.ndim]
    if len(with_axes) == 1 and indices[with_axes[0]].names == (None,):
        indices[with_axes[0]] = indices[with_axes[0]].rename(names[places[with_axes[0]]])
    if len(indices) == 1:
        (place,), (at,) = places, indices
        # A mask's positions are never negative.
        entries = take_at if any(part.kind == "mask" for part in parts) else take
        picked, block, width = entries(cut, at, axis=place), place, at.ndim
    else:
        for at, place in zip(indices, places, strict=True):
            check_constant("gather", cut, at, merged[place])
        wide = broadcast_arrays(
            *(count_from_start(at, merged[place]) for at, place in zip(indices, places, strict=True))
        )
        rest = [axis for axis in range(len(merged)) if axis not in places]
        leading = permute_dims(cut, (*places, *rest))
        block, width = 0, wide[0].ndim
        try:
            picked = gather(leading, stack(wide, axis=width))
        except IndexRangeError as error:
            raise restore_index(error) from None
    return _laid_out(picked, parts, block, width)


def count_from_start(indices: Tensor, size: int) -> Tensor:
    """Indices in int64, negative ones counted from the end."""
    if indices.dtype.kind == "int":
        return from_end(indices, size)
    # Numbers that int64 cannot hold are outside any axis.
    top = iinfo("int64").max
    return astype(minimum(indices, top) if indices.dtype.bits == 64 else indices, "int64")


def _cut(
    x: Tensor, parts: list[Part]
) -> tuple[Tensor, tuple[int, ...], tuple[str | None, ...], list[int], list[Tensor]]:
    """Cut x at the slices and ints.

    Returns the cut tensor, its shape and names with the axes of each mask merged into one, the axes that the index
    tensors index, and the index tensors.
    """
    basic: list[Any] = []
    for part in parts:
        if part.kind in ("slice", "int"):
            basic.append(part.value)
        elif part.kind == "mask" and not part.width:
            basic.append(None)
        else:
            basic += [slice(None)] * part.width
    cut = slice_basic(x, tuple(basic))
    shape: list[int] = []
    names: list[str | None] = []
    places, indices = [], []
    axis = 0
    for part in parts:
        if part.kind in ("new", "int"):
            continue
        if part.kind not in ("array", "mask"):
            shape += cut.shape[axis : axis + part.width]
            names += cut.names[axis : axis + part.width]
            axis += part.width
            continue
        places.append(len(shape))
        indices.append(_positions(part.value) if part.kind == "mask" else part.value)
        width = part.width or 1  # a mask without axes indexes a new one
        size = 1
        for length in cut.shape[axis : axis + width]:
            size *= length
        shape.append(size)
        names.append(cut.names[axis] if width == 1 else None)
        axis += width
    return cut, tuple(shape), tuple(names), places, indices


def _positions(mask: Tensor) -> Tensor:
    """The row-major positions where a mask holds."""
    flat = laid_flat(mask)
    try:
        count = count_nonzero(flat).item()
    except TemplateDataError:
        remedy = "use where(), x[nonzero(mask, size=n)], or tb.tape() for a gradient"
        expectation = "a mask with data, as the result's shape depends on it"
        raise TemplateDataError(expected(expectation, remedy, mask=mask.template)) from None
    return laid_flat(argwhere(flat, size=count))  # type: ignore[arg-type] # an integer, by its dtype


def _laid_out(picked: Tensor, parts: list[Part], block: int, width: int) -> Tensor:
    """Moves the axes of the index tensors, `width` axes from `block` on, to their place, and adds new axes."""
    choosing = [number for number, part in enumerate(parts) if part.chooses]
    together = choosing[-1] - choosing[0] + 1 == len(choosing)
    before = sum(part.width for part in parts[: choosing[0]] if part.kind in ("slice", "fill")) if together else 0
    if before != block:
        axes = range(width)
        picked = moveaxis(picked, [block + axis for axis in axes], [before + axis for axis in axes])
    position = 0 if together else width
    for number, part in enumerate(parts):
        if part.kind == "new":
            picked = expand_dims(picked, axis=position)
            position += 1
        elif not part.chooses:
            position += part.width
        elif together and number == choosing[0]:
            position += width
    return picked
