"""Functions that read and write entries at indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import returnn.frontend as rf
import tensorbackend as tb
from returnn.tensor import Dim, Tensor

from .base import arranged, extreme, largest_number, result, sizes, spread
from .shape import Shaping


class Indexing(Shaping):
    """Functions that read and write entries at indices. Indices in the padding may be out of bounds."""

    @classmethod
    def gather(cls, source: Tensor, *, indices: Tensor | int, axis: Dim, clip_to_valid: bool = False) -> Tensor:
        """Take the entries at indices along a dim. Other dims that source and indices share are batch dims."""
        at = source.get_axis_from_description(axis, allow_int=False)
        raw = source.raw_tensor
        if isinstance(indices, int):
            if not clip_to_valid or indices == 0:
                dims = source.dims[:at] + source.dims[at + 1 :]
                gathered = tb.getitem(raw, (*(slice(None),) * at, indices))
                options = {"sparse_dim": source.sparse_dim, "feature_dim": source.feature_dim}
                return result("gather", dims, gathered, **options)
            indices = rf.convert_to_tensor(indices, dtype=rf.get_default_array_index_dtype(), _backend=cls)
        elif not isinstance(indices, Tensor):
            raise TypeError(f"gather: expected a tensor or an int, got indices={indices!r}")
        if clip_to_valid and axis.dyn_size_ext is not None:
            length = rf.cast(axis.get_dyn_size_ext_for_device(indices.device), indices.dtype)
            last = rf.relu(length - 1)
            indices = rf.clip_by_value(indices, 0, last, allow_broadcast_all_sources=True)
        index_dims = [dim for dim in indices.dims if dim not in source.dims or dim == axis]
        shared = [dim for dim in indices.dims if dim in source.dims and dim != axis]
        rest = [dim for i, dim in enumerate(source.dims) if i != at and dim not in shared]
        dims = [*source.dims[:at], *index_dims, *source.dims[at + 1 :]]
        options = {"sparse_dim": source.sparse_dim, "feature_dim": source.feature_dim}
        places = arranged(indices, [*shared, *index_dims])
        if not shared:
            return result("gather", dims, tb.take(raw, places, axis=at, mode="clip"), **options)
        moved = tb.permute_dims(raw, [source.dims.index(dim) for dim in shared] + [at] + _places(source, rest))
        batch = tuple(range(len(shared)))
        gathered = tb.take(moved, places, axis=len(shared), batch=batch, mode="clip")
        return result(
            "gather", dims, arranged(result("gather", [*shared, *index_dims, *rest], gathered), dims), **options
        )

    @classmethod
    def scatter(
        cls,
        source: Tensor,
        *,
        indices: Tensor,
        indices_dim: Dim | Sequence[Dim],
        mode: str,
        fill_value: float,
        out_dim: Dim | Sequence[Dim],
    ) -> Tensor:
        """Write the sum, maximum or minimum of the entries with the same index, and `fill_value` where there is none.

        Entries whose index is out of bounds are ignored.
        """
        along = [indices_dim] if isinstance(indices_dim, Dim) else list(indices_dim)
        out_dims = [out_dim] if isinstance(out_dim, Dim) else list(out_dim)
        shape = sizes(out_dims)
        batch = indices.remaining_dims(along)
        features = source.remaining_dims([*batch, *along])
        lead, tail = sizes(batch), sizes(features)
        count = int(math.prod(sizes(along)))
        places = tb.reshape(spread(indices, [*batch, *along]), (*lead, count, 1))
        updates = tb.reshape(spread(source, [*batch, *along, *features]), (*lead, count, *tail))
        dtype = updates.template.dtype
        axes = tuple(range(len(batch)))
        size = math.prod(shape)

        def filled(value: Any, dtype: tb.DType, tail: Sequence[int] = ()) -> tb.Tensor:
            return tb.full((*lead, size, *tail), value, dtype=dtype, backend=cls._home())

        if mode == "sum":
            start: Any = 0
            put = tb.indexed_add
        elif mode in ("max", "min"):
            start, put = extreme(dtype, least=mode == "min"), tb.indexed_max if mode == "max" else tb.indexed_min
        else:
            raise ValueError(f"scatter: expected mode 'sum', 'max' or 'min', got mode={mode!r}")
        if dtype.kind == "bool":
            raise TypeError("scatter: expected numbers, got a tensor of dtype bool")
        scattered = put(filled(start, dtype, tail), places, updates, mode="fill", batch=axes)
        if fill_value != start:
            ones = tb.full(places.shape[:-1], 1, dtype=tb.int32, backend=cls._home())
            hits = tb.indexed_add(filled(0, tb.int32), places, ones, mode="fill", batch=axes)
            there = tb.reshape(tb.greater(hits, 0), (*lead, size, *(1,) * len(tail)))
            scattered = tb.where(there, scattered, tb.asarray(fill_value, dtype=dtype, backend=cls._home()))
        raw = tb.reshape(scattered, (*lead, *shape, *tail))
        return result("scatter", [*batch, *out_dims, *features], raw, sparse_dim=source.sparse_dim)

    @classmethod
    def slice(
        cls,
        source: Tensor,
        *,
        axis: Dim,
        start: int | Tensor | None = None,
        end: int | Tensor | None = None,
        step: int | Tensor | None = None,
        size: int | Tensor | Dim | None = None,
        out_dim: Dim,
    ) -> Tensor:
        """Take the entries along a dim from `start` up to `end`, or `size` entries from `start`."""
        at = source.get_axis_from_description(axis, allow_int=False)
        out = source.copy_template_replace_dim_tag(axis=at, new_dim_tag=out_dim)
        begin = 0 if start is None else start.raw_tensor if isinstance(start, Tensor) else start
        raw = source.raw_tensor
        whole = raw.template.shape[at]
        pace = 1 if step is None else largest_number(step)
        length = None if size is None else largest_number(size)
        if length is None and not (isinstance(begin, tb.Tensor) and not tb.is_concrete(begin)):
            stop = whole if end is None else largest_number(end)
            first = int(begin) + (whole if int(begin) < 0 else 0)
            length = max(0, -(-((stop + whole if stop < 0 else stop) - first) // pace))
        if length is None:
            length = int(out_dim.get_dim_value())
        if isinstance(begin, tb.Tensor):
            out.raw_tensor = tb.slice_along_axis(raw, begin, length, axis=at, stride=pace)
            return out
        first = begin + whole if begin < 0 else begin
        keys = (*(slice(None),) * at, slice(first, first + length * pace, pace))
        out.raw_tensor = tb.getitem(raw, keys)
        return out

    @classmethod
    def flip_no_mask(cls, source: Tensor, *, axis: Dim) -> Tensor:
        """Reverse the entries along a dim, padding included."""
        out = source.copy_template("flip")
        out.raw_tensor = tb.flip(source.raw_tensor, axis=source.get_axis_from_description(axis, allow_int=False))
        return out

    # Masks

    @classmethod
    def masked_select(
        cls, tensor: Tensor, *, mask: Tensor, dims: Sequence[Dim], out_dim: Dim | None = None
    ) -> tuple[Tensor, Dim]:
        """Select the entries for which a mask holds; return them along a new first dim, and this dim.

        If the mask has no data, because a function is traced, the new dim has the capacity of `out_dim` or the size of
        the mask, and the entries beyond its length are zeros.
        """
        rest = [dim for dim in tensor.dims if dim not in mask.dims]
        held = tb.reshape(arranged(mask, dims), (-1,))
        entries = spread(tensor, [*dims, *rest])
        flat = tb.reshape(entries, (held.shape[0], *entries.shape[len(dims) :]))
        out_dim = out_dim or Dim(None, name="masked_select")
        known = out_dim.dyn_size_ext is not None and out_dim.dyn_size_ext.raw_tensor is not None
        if tb.is_concrete(held):
            size = int(out_dim.get_dim_value()) if known else int(tb.count_nonzero(held))
        else:
            size = out_dim.capacity or held.shape[0]
            out_dim.capacity = size
        if not known:
            count = tb.count_nonzero(held)
            if out_dim.dyn_size_ext is None:
                out_dim.dyn_size_ext = Tensor("masked_select_size", dims=(), dtype="int64")
            out_dim.dyn_size_ext.raw_tensor = tb.astype(count, cls.as_dtype_raw(out_dim.dyn_size_ext.dtype))
        raw = tb.compress(held, flat, axis=0, size=size)
        options = {"sparse_dim": tensor.sparse_dim, "feature_dim": tensor.feature_dim}
        return result("masked_select", [out_dim, *rest], raw, **options), out_dim

    @classmethod
    def masked_scatter(
        cls, source: Tensor, backup: Tensor | None = None, *, mask: Tensor, dims: Sequence[Dim], in_dim: Dim
    ) -> Tensor:
        """Place the entries along `in_dim`, in order, where a mask holds; elsewhere take `backup`, or zeros."""
        rest = [dim for dim in source.dims if dim not in mask.dims and dim != in_dim]
        entries = arranged(source, [in_dim, *rest])
        held = arranged(mask.copy_masked(mask_value=False), dims)
        order = tb.reshape(tb.cumulative_sum(tb.reshape(held, (-1,)), dtype="int64") - 1, held.shape)
        dtype = entries.template.dtype
        shape = (*held.shape, *entries.shape[1:])
        if backup is None:
            other = tb.zeros(shape, dtype=dtype, backend=cls._home())
        else:
            other = tb.astype(spread(backup, [*dims, *rest]), dtype)
        where = tb.reshape(held, (*held.shape, *(1,) * len(rest)))
        if entries.shape[0]:
            other = tb.where(where, tb.take(entries, order, axis=0, mode="clip"), other)
        options = {"sparse_dim": source.sparse_dim, "feature_dim": source.feature_dim}
        return result("masked_scatter", [*dims, *rest], other, **options)


def _places(x: Tensor, dims: Sequence[Dim]) -> list[int]:
    return [x.dims.index(dim) for dim in dims]
