"""What stands between the brackets of `x[...]`: ints, slices, None, ..., masks, integer tensors, in any mixture.

Slices and ints are cut out first. What is left are index tensors, each for one axis (a mask's axes are merged into
one, at which the positions of its true elements are taken): one is a `take`, several are broadcast together and are a
`gather`. The axes of the index tensors stand where the first of them stood, or in front where a slice, None or ...
stands between two of them, as in NumPy; ints count as index tensors for that.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any, Final, Literal, NamedTuple

from ..dtypes import check_scalar, iinfo, scalar_kind
from ..errors import BackendError, IndexRangeError, ShapeError, TemplateDataError, expected
from ..rules.axes import normalize_axis
from ..rules.blocks import check_update
from ..rules.indexing import check_indices
from ..rules.shape import Slices, sliced_by
from ..template import Template, merge_names
from ..tensor import Tensor, bind
from .composite.shaping import broadcast_arrays, moveaxis, stack
from .conversion import astype
from .creation import asarray, full, iota, zeros
from .elementwise_binary import minimum
from .elementwise_ternary import where
from .indexing import from_end, take, take_at
from .scatter import gather, indexed_put
from .searching import argwhere, count_nonzero
from .shape import broadcast_to, expand_dims, laid_flat, permute_dims, put_slice, reshape, sliced


class Part(NamedTuple):
    """One part of a key, at the axes of x that it is for."""

    kind: Literal["int", "slice", "new", "fill", "array", "mask"]
    axis: int
    """The first of its axes."""
    width: int
    """How many axes it is for: of a mask its own number, of `None` none, of `...` the rest."""
    value: Any
    """The int, slice or tensor."""

    @property
    def chooses(self) -> bool:
        """Whether it takes part in where the axes of index tensors go."""
        return self.kind in ("int", "array", "mask")


def _is_plain(key: Any) -> bool:
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


def _as_index(key: Any, x: Tensor) -> Any:
    """A part of a key with lists, arrays and bool made tensors; empty lists hold integers."""
    if isinstance(key, Tensor) or _is_plain(key):
        return key
    if isinstance(key, list | tuple) and not _flat(key):
        return zeros(_empty_shape(key), dtype="int64", backend=x.backend)
    return asarray(list(key) if isinstance(key, tuple) else key, backend=x.backend)


def _flat(key: Any) -> bool:
    """Whether nested lists hold any element."""
    return any(_flat(each) for each in key) if isinstance(key, list | tuple) else True


def _empty_shape(key: Any) -> tuple[int, ...]:
    return (len(key), *(_empty_shape(key[0]) if key and isinstance(key[0], list | tuple) else ()))


def _shown(key: Any) -> Any:
    """A key as error texts show it: tensors by their templates, so that each backend gives one text."""
    return key.template if isinstance(key, Tensor) else key


def parsed(x: Tensor, key: Any) -> list[Part]:
    """The parts of a key, ... filled up; `IndexRangeError` for too many, for a mask that does not fit or two ...."""
    keys = [_as_index(each, x) for each in (key if isinstance(key, tuple) else (key,))]
    if not any(isinstance(each, EllipsisType) for each in keys):
        keys.append(...)
    widths = []
    for each in keys:
        if each is None or isinstance(each, EllipsisType):
            widths.append(0)
        else:
            widths.append(each.ndim if isinstance(each, Tensor) and each.dtype.kind == "bool" else 1)
    used = sum(widths)
    if used > x.ndim or sum(isinstance(each, EllipsisType) for each in keys) > 1:
        wanted = f"indices of at most {x.ndim} axes and at most one ... for {x.template!r}"
        raise IndexRangeError(expected(wanted, key=tuple(map(_shown, keys))))
    parts = []
    axis = 0
    for each, width in zip(keys, widths, strict=True):
        if isinstance(each, EllipsisType):
            parts.append(Part("fill", axis, x.ndim - used, each))
        elif each is None:
            parts.append(Part("new", axis, 0, each))
        elif isinstance(each, slice):
            parts.append(Part("slice", axis, 1, each))
        elif not isinstance(each, Tensor):
            parts.append(Part("int", axis, 1, each))
        elif each.dtype.kind == "bool":
            parts.append(Part("mask", axis, width, _fitting(x, axis, each)))
        else:
            check_indices(each.template, "error")
            parts.append(Part("array", axis, 1, each))
        axis += parts[-1].width
    return parts


def _fitting(x: Tensor, axis: int, mask: Tensor) -> Tensor:
    """A mask under the names of the axes that it is for; raises where shapes or names differ."""
    end = axis + mask.ndim
    covered = Template(x.shape[axis:end], x.dtype, x.names[axis:end])
    if mask.shape != covered.shape:
        pairs = zip(mask.shape, covered.shape, strict=False)
        if mask.ndim == covered.ndim and all(size in (0, whole) for size, whole in pairs):
            # Of no element, as the standard allows: it holds nowhere.
            return full(covered.shape, False, dtype="bool", names=covered.names, backend=mask.backend)
        raise IndexRangeError(expected(f"a mask of shape {covered.shape}", mask=mask.template, x=x.template))
    return mask.rename(*merge_names(covered, mask.template)) if mask.ndim else mask


@bind
def getitem(x: Tensor, key: Any) -> Tensor:
    """What `x[key]` gives: ints drop an axis, slices keep it, None makes one, ... fills up; masks and integer tensors.

    A mask takes the place of as many axes as it has, and leaves one with the elements where it holds. Its number is
    counted, so on template tensors it raises `TemplateDataError`: use `where`, or `take` at `nonzero(mask, size=n)`.
    Integer tensors are broadcast together. Where only one of them has axes, and that is one without a name, it keeps
    the name of the axis that it is for, as a mask of one axis does; else the names are those of the index tensors.
    Raises `IndexRangeError` for an index outside its axis.

    >>> import tensorbackend as tb
    >>> x = tb.asarray([[1, 2, 3], [4, 5, 6]], names=("row", "column"))
    >>> x[:, [2, 0]]
    s64[row: 2][column: 2] numpy
    [[3, 1],
     [6, 4]]
    >>> x[x > 3].tolist(), x[[0, 1], [1, 2]].tolist()
    ([4, 5, 6], [2, 6])
    """
    if all(map(_is_plain, key)) if isinstance(key, tuple) else _is_plain(key):
        return sliced(x, key)
    return _picked(x, parsed(x, key))


def _picked(x: Tensor, parts: list[Part]) -> Tensor:
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
        found, block, width = entries(cut, at, axis=place), place, at.ndim
    else:
        wide = broadcast_arrays(*(_counted(at, merged[place]) for at, place in zip(indices, places, strict=True)))
        rest = [axis for axis in range(len(merged)) if axis not in places]
        leading = permute_dims(cut, (*places, *rest))
        found, block, width = gather(leading, stack(wide, axis=wide[0].ndim)), 0, wide[0].ndim
    return _laid_out(found, parts, block, width)


def _counted(indices: Tensor, size: int) -> Tensor:
    """Indices in int64, negative ones counted from the end."""
    if indices.dtype.kind == "int":
        return from_end(indices, size)
    # What int64 cannot hold is outside any axis.
    top = iinfo("int64").max
    return astype(minimum(indices, top) if indices.dtype.bits == 64 else indices, "int64")


def _cut(
    x: Tensor, parts: list[Part]
) -> tuple[Tensor, tuple[int, ...], tuple[str | None, ...], list[int], list[Tensor]]:
    """x at the slices and ints; its shape and names with the axes of each mask as one; where the index tensors are
    for, and they themselves."""
    basic: list[Any] = []
    for part in parts:
        if part.kind in ("slice", "int"):
            basic.append(part.value)
        elif part.kind == "mask" and not part.width:
            basic.append(None)
        else:
            basic += [slice(None)] * part.width
    cut = sliced(x, tuple(basic))
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
        width = part.width or 1  # a mask without axes is for a new one
        size = 1
        for each in cut.shape[axis : axis + width]:
            size *= each
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
        remedy = "use where(), or take() at nonzero(mask, size=n)"
        wanted = "a mask with data, as the result's shape depends on it"
        raise TemplateDataError(expected(wanted, remedy, mask=mask.template)) from None
    return laid_flat(argwhere(flat, size=count))  # type: ignore[arg-type] # an integer, by its dtype


def _laid_out(found: Tensor, parts: list[Part], block: int, width: int) -> Tensor:
    """What was found with the axes of the index tensors, `width` from `block` on, in their place, and new axes."""
    choosing = [number for number, part in enumerate(parts) if part.chooses]
    together = choosing[-1] - choosing[0] + 1 == len(choosing)
    before = sum(part.width for part in parts[: choosing[0]] if part.kind in ("slice", "fill")) if together else 0
    if before != block:
        axes = range(width)
        found = moveaxis(found, [block + axis for axis in axes], [before + axis for axis in axes])
    position = 0 if together else width
    for number, part in enumerate(parts):
        if part.kind == "new":
            found = expand_dims(found, axis=position)
            position += 1
        elif not part.chooses:
            position += part.width
        elif together and number == choosing[0]:
            position += width
    return found


@bind
def isel(x: Tensor, /, **keys: Any) -> Tensor:
    """Indexing of axes by name, each for itself: what `x.isel(time=0, feature=[0, 2])` does.

    An int drops the axis, a slice, list, mask or unnamed integer tensor of one axis keeps it and its name.

    >>> import tensorbackend as tb
    >>> x = tb.iota((2, 3), names=("row", "column"))
    >>> tb.isel(x, row=[1, 0], column=[0, 2])
    s64[row: 2][column: 2] numpy
    [[3, 5],
     [0, 2]]
    """
    by_axis = {normalize_axis(x.template, name): key for name, key in keys.items()}
    if all(map(_is_plain, by_axis.values())):
        return sliced(x, tuple(by_axis.get(axis, slice(None)) for axis in range(x.ndim)))
    for axis in sorted(by_axis, reverse=True):
        key = by_axis[axis]
        if key is None or isinstance(key, EllipsisType | bool | tuple) or getattr(key, "ndim", 1) > 1:
            wanted = "an int, a slice, or a list, mask or integer tensor of one axis"
            raise ShapeError(expected(wanted, **{str(x.names[axis]): _shown(key)}))
        x = getitem(x, (*(slice(None),) * axis, key))
    return x


# Writing


@bind
def put_at(x: Tensor, key: Any, value: Any) -> Tensor:
    """x with the elements at a key, as in `x[key]`, exchanged for a value that broadcasts to them.

    What `x[key] = value` gives to x. Where an index stands twice the last value stays. The value is cast to x's dtype
    by the rules of promotion: `DTypeError` if it is of a wider one. A mask needs no data on template tensors where
    the value does not run over its elements.

    >>> import tensorbackend as tb
    >>> tb.put_at(tb.asarray([1, 2, 3]), [0, 2], tb.asarray([7, 8])).tolist()
    [7, 2, 8]
    """
    value = _update(x, value)
    if all(map(_is_plain, key)) if isinstance(key, tuple) else _is_plain(key):
        block = sliced_by(x.template, key)
        if not block.reversed and not block.new and all(stride == 1 for stride in block.strides):
            return _put_block(x, block, value)
    else:
        parts = parsed(x, key)
        if parts[0].kind == "mask" and all(part.kind == "fill" for part in parts[1:]):
            mask = parts[0].value
            if value.ndim <= x.ndim - mask.ndim:
                return _where_mask(x, mask, value)
    # The positions of what the key stands for: whatever it reads is what it writes.
    positions = getitem(iota(x.shape, names=x.names, backend=x.backend), key)
    wide = _spread(value, positions.template)
    size = positions.size
    written = indexed_put(laid_flat(x), reshape(positions, (size, 1)), laid_flat(wide), mode="error")
    return reshape(written, x.shape, names=x.names)


def _update(x: Tensor, value: Any) -> Tensor:
    """A value to write, in x's dtype; numbers and lists of them are weak."""
    if isinstance(value, list | tuple):
        return asarray(value, dtype=x.dtype, backend=x.backend)
    if not isinstance(value, Tensor) and scalar_kind(value) is not None:
        check_scalar(value, x.dtype)
        return full((), value, dtype=x.dtype, backend=x.backend)
    value = asarray(value, backend=None if isinstance(value, Tensor) else x.backend)
    check_update(x.template, value.template)
    return astype(value, x.dtype) if value.dtype is not x.dtype else value


def _spread(value: Tensor, target: Template) -> Tensor:
    """A value broadcast to what it is written to; `ShapeError` or `NamesError` where it does not fit."""
    if value.ndim > target.ndim:
        raise ShapeError(expected(f"a value that broadcasts to shape {target.shape}", value=value.template))
    return broadcast_to(value, target.shape, names=merge_names(target, value.template))


def _put_block(x: Tensor, block: Slices, value: Tensor) -> Tensor:
    """A write at a key of ints and slices without steps."""
    kept = [axis for axis in range(x.ndim) if axis not in block.dropped]
    target = Template([block.lengths[axis] for axis in kept], x.dtype, [x.names[axis] for axis in kept])
    wide = reshape(_spread(value, target), block.lengths, names=(None,) * x.ndim)
    return put_slice(x, wide, starts=block.starts)


def _where_mask(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """A write by a mask over the leading axes, of a value that is the same for all of its elements."""
    rest = x.ndim - mask.ndim
    merge_names(Template(x.shape[mask.ndim :], x.dtype, x.names[mask.ndim :]), value.template)
    wide = reshape(mask, mask.shape + (1,) * rest)
    return where(wide, broadcast_to(value, x.shape[mask.ndim :]).rename(*x.names[mask.ndim :]) if rest else value, x)


_WITH_DATA: Final = 2
"""The highest `dispatch_priority` of a backend whose tensors have data: a tape's. Traces and templates have none."""


@bind
def setitem(x: Tensor, key: Any, value: Any) -> None:
    """What `x[key] = value` does: x gets the value that `put_at` gives, and keeps its template.

    No memory is written to: tensors made from x before keep theirs. Raises `BackendError` for a value without data,
    of a trace or a template, assigned to a tensor with data, which would lose them.

    >>> import tensorbackend as tb
    >>> x = tb.zeros(3)
    >>> y = x[1:]
    >>> x[1:] = 5
    >>> x.tolist(), y.tolist()
    ([0.0, 5.0, 5.0], [0.0, 0.0])
    """
    result = put_at(x, key, value)
    if result.backend.dispatch_priority > _WITH_DATA >= x.backend.dispatch_priority:
        remedy = "return the value from the function, or make the tensor inside it"
        wanted = "a value with data, as the tensor that is assigned to has data"
        raise BackendError(expected(wanted, remedy, tensor=x.template, value=f"a tensor on {result.backend.name!r}"))
    x.backend, x.data = result.backend, result.data
