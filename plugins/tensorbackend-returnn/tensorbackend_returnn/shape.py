"""Functions that reshape, combine, split and pad tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import returnn.frontend as rf
import tensorbackend as tb
from returnn.tensor import Dim, Tensor

from .base import arranged, largest_number, result, sizes, spread
from .reductions import Reductions

BEYOND = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "periodic"}
"""The `mode` of `tb.pad` for each of RETURNN's."""


class Shaping(Reductions):
    """Functions that reshape, combine, split and pad tensors."""

    # Functions of raw tensors

    @classmethod
    def expand_dims_raw(cls, raw_tensor: tb.Tensor, axis: int) -> tb.Tensor:
        """Insert an axis of size 1."""
        return tb.expand_dims(raw_tensor, axis=axis)

    @classmethod
    def expand_raw(cls, raw_tensor: tb.Tensor, axis: int, dim: Any) -> tb.Tensor:
        """Broadcast a tensor along an axis of size 1."""
        shape = raw_tensor.template.shape
        return tb.broadcast_to(raw_tensor, (*shape[:axis], int(dim), *shape[axis + 1 :]))

    @classmethod
    def reshape_raw(cls, raw_tensor: tb.Tensor, shape: Sequence[Any]) -> tb.Tensor:
        """Change the shape; the elements keep their order."""
        return tb.reshape(raw_tensor, tuple(map(int, shape)))

    @classmethod
    def squeeze_raw(cls, raw_tensor: tb.Tensor, axes: Sequence[int]) -> tb.Tensor:
        """Remove axes of size 1."""
        return tb.squeeze(raw_tensor, axis=tuple(axes)) if axes else raw_tensor

    @classmethod
    def transpose_raw(cls, raw_tensor: tb.Tensor, perm: Sequence[int]) -> tb.Tensor:
        """Permute the axes."""
        if all(axis == place for place, axis in enumerate(perm)):
            return raw_tensor
        return tb.permute_dims(raw_tensor, tuple(perm))

    @classmethod
    def have_sequence_mask_raw(cls) -> bool:
        """False: RETURNN then computes masks by comparisons, and caches them."""
        return False

    # Changing dims

    @classmethod
    def merge_dims(cls, source: Tensor, *, dims: Sequence[Dim], out_dim: Dim) -> Tensor:
        """Merge several dims into one, at the position of the first of them in the source."""
        first = min(source.dims.index(dim) for dim in dims)
        before = list(source.dims[:first])
        after = [dim for dim in source.dims[first:] if dim not in dims]
        before = [dim for dim in before if dim not in dims]
        moved = arranged(source, [*before, *dims, *after])
        shape = moved.shape
        count = len(before)
        raw = tb.reshape(
            moved, (*shape[:count], math.prod(shape[count : count + len(dims)]), *shape[count + len(dims) :])
        )
        feature = out_dim if source.feature_dim in dims else source.feature_dim
        return result("merge_dims", [*before, out_dim, *after], raw, sparse_dim=source.sparse_dim, feature_dim=feature)

    @classmethod
    def split_dims(
        cls,
        source: Tensor,
        *,
        axis: Dim,
        dims: Sequence[Dim],
        pad_to_multiples: bool | None = None,
        pad_value: float | None = None,
    ) -> Tensor:
        """Split a dim into several. With `pad_to_multiples`, pad its end if the new dims have more entries."""
        at = source.get_axis_from_description(axis)
        out_dims = [*source.dims[:at], *dims, *source.dims[at + 1 :]]
        raw = source.raw_tensor
        shape = raw.template.shape
        known = [dim.dimension for dim in dims]
        if known.count(None) == 1:
            others = math.prod([size for size in known if size is not None])
            missing = -(-shape[at] // others) if pad_to_multiples else shape[at] // others
            split_sizes = [missing if size is None else size for size in known]
        else:
            split_sizes = sizes(dims)
        lacking = math.prod(split_sizes) - shape[at]
        if lacking > 0 and pad_to_multiples:
            raw = tb.pad(raw, {at: (0, lacking)}, value=0 if pad_value is None else pad_value)
        raw = tb.reshape(raw, (*shape[:at], *split_sizes, *shape[at + 1 :]))
        feature = None if source.feature_dim == axis else source.feature_dim
        return result("split_dims", out_dims, raw, sparse_dim=source.sparse_dim, feature_dim=feature)

    @classmethod
    def reshape(cls, source: Tensor, in_dims: Sequence[Dim], out_dims: Sequence[Dim]) -> Tensor:
        """Replace dims by others with the same total number of entries, at the position of the first of them."""
        axes = [source.get_axis_from_description(dim, allow_int=False) for dim in in_dims]
        kept = [i for i in range(len(source.dims)) if i not in axes]
        at = min(axes)
        moved = tb.permute_dims(source.raw_tensor, (*kept[:at], *axes, *kept[at:]))
        dims = [source.dims[i] for i in kept[:at]] + list(out_dims) + [source.dims[i] for i in kept[at:]]
        raw = tb.reshape(moved, sizes(dims))
        return result("reshape", dims, raw, sparse_dim=source.sparse_dim, feature_dim=source.feature_dim)

    @classmethod
    def expand_dim(cls, source: Tensor, dim: Dim) -> Tensor:
        """Broadcast a tensor along a new dim.

        A static dim is inserted before the features, a dynamic one after the last dynamic dim. Without those, the new
        dim comes last.
        """
        at = len(source.dims)
        if dim.is_static() and source.have_feature_axis():
            at = source.feature_dim_axis
        if dim.is_dynamic():
            at = next((i + 1 for i in reversed(range(len(source.dims))) if source.dims[i].is_dynamic()), at)
        out = source.copy_template_new_dim_tags([*source.dims[:at], dim, *source.dims[at:]])
        if source.feature_dim:
            out.feature_dim = source.feature_dim
        raw = tb.expand_dims(source.raw_tensor, axis=at)
        out.raw_tensor = cls.expand_raw(raw, at, dim.get_dim_value())
        return out

    @classmethod
    def squeeze(cls, source: Tensor, axis: Dim) -> Tensor:
        """Remove a dim of size 1."""
        at = source.get_axis_from_description(axis)
        out = source.copy_template_excluding_axis(at)
        out.raw_tensor = tb.squeeze(source.raw_tensor, axis=at)
        return out

    # Joining and splitting

    @classmethod
    def concat(cls, *sources: tuple[Tensor, Dim], allow_broadcast: bool = False, out_dim: Dim) -> Tensor:
        """Concatenate tensors, each along its own dim."""
        (first, along), *_ = sources
        at = first.get_axis_from_description(along)
        others = [dim for dim in first.dims if dim != along]
        for source, dim in sources[1:]:
            new = [other for other in source.dims if other != dim and other not in others]
            if not allow_broadcast and (new or len(source.dims) != len(others) + 1):
                raise ValueError(f"concat: expected the dims {others} besides {dim}, got {source}")
            others.extend(new)
        parts = [spread(source, [*others[:at], dim, *others[at:]]) for source, dim in sources]
        feature = None if first.feature_dim == along else first.feature_dim
        dims = [*others[:at], out_dim, *others[at:]]
        return result("concat", dims, tb.concat(parts, axis=at), sparse_dim=first.sparse_dim, feature_dim=feature)

    @classmethod
    def stack(cls, sources: Sequence[Tensor], *, out_dim: Dim) -> Tensor:
        """Stack tensors along a new first dim."""
        first = sources[0]
        raw = tb.stack([arranged(source, first.dims) for source in sources], axis=0)
        return result("stack", [out_dim, *first.dims], raw, sparse_dim=first.sparse_dim)

    @classmethod
    def unstack(cls, source: Tensor, *, axis: Dim) -> tuple[Tensor, ...]:
        """Split a tensor into its entries along a dim, which is removed."""
        at = source.get_axis_from_description(axis, allow_int=False)
        entries = []
        for raw in tb.unstack(source.raw_tensor, axis=at):
            entry = source.copy_template_excluding_axis(at)
            entry.raw_tensor = raw
            entries.append(entry)
        return tuple(entries)

    @classmethod
    def split(cls, source: Tensor, *, axis: Dim, out_dims: Sequence[Dim]) -> tuple[Tensor, ...]:
        """Split a dim into parts, one for each of `out_dims`."""
        at = source.get_axis_from_description(axis)
        points = [*accumulate(sizes(out_dims)[:-1])]
        parts = []
        for dim, raw in zip(out_dims, tb.split(source.raw_tensor, points, axis=at), strict=True):
            part = source.copy_template_replace_dim_tag(axis=at, new_dim_tag=dim, name="split")
            part.raw_tensor = raw
            parts.append(part)
        return tuple(parts)

    # Padding

    @classmethod
    def pad(
        cls,
        source: Tensor,
        *,
        axes: Sequence[Dim],
        padding: Sequence[tuple[Any, Any]],
        out_dims: Sequence[Dim],
        handle_dynamic_dims: bool,
        mode: str = "constant",
        value: Any = None,
    ) -> Tensor:
        """Pad dims before and after their entries; with `handle_dynamic_dims`, after the end of each length."""
        widths: dict[int | str, tuple[int, int]] = {
            source.get_axis_from_description(axis): (largest_number(low), largest_number(high))
            for axis, (low, high) in zip(axes, padding, strict=True)
        }
        after = dict(zip(axes, out_dims, strict=True))
        dims = [after.get(dim, dim) for dim in source.dims]
        if isinstance(value, Tensor) and value.dims:
            out = cls._padded_with(source, axes, padding, out_dims, value)
        else:
            out = source.copy_template_new_dim_tags(dims, keep_special_axes=True)
            number = value.raw_tensor if isinstance(value, Tensor) else value
            out.raw_tensor = cls._padded(source.raw_tensor, widths, mode, number)
        if not handle_dynamic_dims or not any(dim.need_masking() for dim in out_dims):
            return out
        if all(high == 0 for _, high in widths.values()) and mode != "circular":
            return out
        if mode != "constant":
            raise NotImplementedError(f"pad: expected mode 'constant' for dims with lengths, got mode={mode!r}")
        for dim, middle, (low, _) in zip(out_dims, axes, padding, strict=True):
            if middle.need_masking():
                cls._fill_from(out, dim, middle, low, value)
        return out

    @classmethod
    def _padded(cls, raw: tb.Tensor, widths: dict[int | str, tuple[int, int]], mode: str, value: Any) -> tb.Tensor:
        if mode != "constant":
            return tb.pad(raw, widths, mode=dict.fromkeys(widths, BEYOND[mode]))
        dtype = raw.template.dtype
        if not isinstance(value, tb.Tensor):
            value = tb.asarray(0 if value is None else value, backend=cls._home())
        return tb.pad(raw, widths, value=tb.astype(value, dtype))

    @classmethod
    def _padded_with(
        cls,
        source: Tensor,
        axes: Sequence[Dim],
        padding: Sequence[tuple[Any, Any]],
        out_dims: Sequence[Dim],
        value: Tensor,
    ) -> Tensor:
        """Pad one dim with a tensor, which has some of the other dims, instead of a number."""
        ((low, high),), (axis,), (out_dim,) = padding, axes, out_dims
        parts = [(source, axis)]
        for width, place in ((low, 0), (high, len(parts))):
            dim = width if isinstance(width, Dim) else Dim(largest_number(width), name="padding")
            if largest_number(width):
                parts.insert(place and len(parts), (rf.expand_dim(value, dim), dim))
        return cls.concat(*parts, allow_broadcast=True, out_dim=out_dim)

    @classmethod
    def _fill_from(cls, out: Tensor, dim: Dim, middle: Dim, low: Any, value: Any) -> None:
        """Write the value after the end of each length."""
        if isinstance(low, Dim):
            low = low.get_size_tensor(device=out.device)
        ends = low + middle.get_size_tensor(device=out.device)
        inside = rf.compare_bc(rf.range_over_dim(dim, device=out.device), "<", ends)
        dtype = out.raw_tensor.template.dtype
        if isinstance(value, Tensor):
            fill = tb.astype(arranged(value, out.dims) if value.dims else value.raw_tensor, dtype)
        else:
            fill = tb.asarray(0 if value is None else value, backend=cls._home())
        out.raw_tensor = tb.where(arranged(inside, out.dims), out.raw_tensor, tb.astype(fill, dtype))
