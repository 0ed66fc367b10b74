"""Reductions, sorting and searching along dims. Padding does not count."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import returnn.frontend as rf
import tensorbackend as tb
from returnn.tensor import Dim, Tensor

from .base import arranged, extreme, result
from .elementwise import Elementwise

REDUCED: dict[str, Callable[..., tb.Tensor]] = {
    name: getattr(tb, name) for name in ("sum", "mean", "max", "min", "any", "all", "logsumexp", "argmax", "argmin")
}


class Reductions(Elementwise):
    """Functions that reduce dims, sort and search."""

    @classmethod
    def reduce(cls, source: Tensor, *, mode: str, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
        """Reduce dims; with `use_mask`, elements beyond their lengths do not count."""
        if mode in ("sum", "mean", "logsumexp"):
            source = rf.amp_cast_float32(source)
        dims = [axis] if isinstance(axis, Dim) else list(axis)
        axes = [source.get_axis_from_description(dim) for dim in dims]
        rest = [dim for i, dim in enumerate(source.dims) if i not in axes]
        raw: tb.Tensor = source.raw_tensor
        share = None
        if use_mask and any(dim.need_masking() for dim in dims):
            raw = cls._masked(source, dims, cls._neutral(mode, raw.template.dtype))
            if mode == "mean":
                share = rf.masked_fraction_of_shape(dims, inverse=True, device=source.device)
        if mode in ("argmax", "argmin"):
            return cls._place(raw, mode, dims, axes, rest)
        options = {"dtype": raw.template.dtype} if mode == "sum" and raw.template.dtype.is_floating else {}
        reduced = REDUCED[mode](raw, axis=tuple(axes), **options) if axes else raw
        if share is not None:
            reduced = tb.multiply(reduced, arranged(share, rest) if isinstance(share, Tensor) else share)
            reduced = tb.astype(reduced, raw.template.dtype)
        return result(f"reduce_{mode}", rest, reduced, sparse_dim=source.sparse_dim)

    @classmethod
    def _place(cls, raw: tb.Tensor, mode: str, dims: Sequence[Dim], axes: Sequence[int], rest: Sequence[Dim]) -> Tensor:
        if len(axes) != 1:
            raise ValueError(f"reduce: expected one dim for mode={mode!r}, got {dims}")
        places = REDUCED[mode](raw, axis=axes[0])
        return result(f"reduce_{mode}", rest, places, sparse_dim=dims[0])

    @classmethod
    def _neutral(cls, mode: str, dtype: tb.DType) -> object:
        """The neutral element of a reduction: replacing the padding by it does not change the result."""
        if mode in ("sum", "mean"):
            return False if dtype.kind == "bool" else 0
        if mode in ("any", "all"):
            return mode == "all"
        return extreme(dtype, least=mode in ("min", "argmin"))

    @classmethod
    def softmax(cls, tensor: Tensor, *, axis: Dim, use_mask: bool = True) -> Tensor:
        """Softmax along a dim. With `use_mask`, it is 0 in the padding, and so for an example of length 0."""
        tensor = rf.amp_cast_float32(tensor)
        along = tensor.get_axis_from_description(axis, allow_int=False)
        mask = cls._mask(tensor, [axis]) if use_mask else None
        raw = tensor.raw_tensor
        probabilities = tb.softmax(raw, axis=along) if mask is None else tb.nn.masked_softmax(raw, mask, axis=along)
        return result("softmax", tensor.dims, probabilities, feature_dim=tensor.feature_dim)

    @classmethod
    def log_softmax(cls, tensor: Tensor, *, axis: Dim, use_mask: bool = True) -> Tensor:
        """Logarithm of softmax along a dim. With `use_mask`, it is minus infinity in the padding."""
        tensor = rf.amp_cast_float32(tensor)
        along = tensor.get_axis_from_description(axis, allow_int=False)
        mask = cls._mask(tensor, [axis]) if use_mask else None
        raw = tensor.raw_tensor
        if mask is None:
            log_probabilities = tb.log_softmax(raw, axis=along)
        else:
            # An example of length 0 gets zeros as input, so that neither the result nor the gradient is NaN.
            some = tb.any(mask, axis=along, keepdims=True)
            held = tb.where(mask, raw, tb.where(some, -tb.inf, tb.zeros((), dtype=raw.dtype, backend=cls._home())))
            log_probabilities = tb.where(mask, tb.log_softmax(held, axis=along), -tb.inf)
        return result("log_softmax", tensor.dims, log_probabilities, feature_dim=tensor.feature_dim)

    @classmethod
    def cumsum(cls, source: Tensor, *, spatial_dim: Dim) -> Tensor:
        """The cumulative sum along a dim, in the dtype of the source."""
        raw = source.raw_tensor
        axis = source.get_axis_from_description(spatial_dim)
        out = source.copy_template("cumsum")
        out.raw_tensor = tb.cumulative_sum(raw, axis=axis, dtype=raw.template.dtype)
        return out

    # Sorting and searching

    @classmethod
    def sort(cls, source: Tensor, *, axis: Dim, descending: bool, stable: bool) -> tuple[Tensor, Tensor, Dim]:
        """Sort the entries along a dim; return them, their indices in the source, and the new dim.

        Entries beyond the lengths come last.
        """
        along = source.get_axis_from_description(axis, allow_int=False)
        raw = source.raw_tensor
        held = cls._masked(source, [axis], extreme(raw.template.dtype, least=not descending))
        order = tb.argsort(held, axis=along, descending=descending, stable=stable)
        out_dim = axis.copy(same_as_self=False, description=f"{axis.description}:sorted")
        dims = [*source.dims[:along], out_dim, *source.dims[along + 1 :]]
        feature = out_dim if source.feature_dim == axis else source.feature_dim
        values = result("sort", dims, tb.take_along_axis(raw, order, axis=along), feature_dim=feature)
        return values, result("sort_indices", dims, order, sparse_dim=axis), out_dim

    @classmethod
    def search_sorted(
        cls, sorted_seq: Tensor, values: Tensor, *, axis: Dim, side: str = "left", out_dtype: str = "int32"
    ) -> Tensor:
        """Find the indices at which to insert values into sorted sequences. Common dims are batch dims."""
        shared = [dim for dim in sorted_seq.dims if dim != axis]
        rest = [dim for dim in values.dims if dim not in shared]
        held = arranged(sorted_seq, [*shared, axis])
        mask = axis.get_mask(dim_order=(*shared, axis), device=sorted_seq.device) if axis.need_masking() else None
        if mask is not None:
            held = tb.where(arranged(mask, [*shared, axis]), held, extreme(held.template.dtype, least=True))
        queries = arranged(values, [*shared, *rest])

        def search(sequence: tb.Tensor, query: tb.Tensor) -> tb.Tensor:
            return tb.searchsorted(sequence, query, side="left" if side == "left" else "right")

        for _ in shared:
            search = tb.vmap(search)
        places = tb.astype(search(held, queries), cls.as_dtype_raw(out_dtype))
        return result("search_sorted", [*shared, *rest], places, sparse_dim=axis)

    @classmethod
    def top_k(
        cls,
        source: Tensor,
        *,
        axis: Dim | Sequence[Dim],
        k: int | Tensor,
        k_dim: Dim | None = None,
        sorted: bool = True,
    ) -> tuple[Tensor, Tensor | list[Tensor], Dim]:
        """The k largest entries along one or several dims, their indices, and `k_dim`, which is the last dim."""
        k_dim = k_dim or Dim(k, name="top-k-dim")
        dims = [axis] if isinstance(axis, Dim) else list(axis)
        rest = [dim for dim in source.dims if dim not in dims]
        order = [*rest, *dims]
        moved = source.copy_transpose(order)
        raw = cls._masked(moved, dims, extreme(source.raw_tensor.template.dtype, least=False))
        values, coordinates = tb.top_k(raw, int(k_dim.get_dim_value()), axis=tuple(range(len(rest), len(order))))
        options = {"feature_dim": source.feature_dim, "sparse_dim": source.sparse_dim}
        places = [
            result("top_k_indices", [*rest, k_dim], places, sparse_dim=dim)
            for dim, places in zip(dims, coordinates, strict=True)
        ]
        picked = result("top_k_values", [*rest, k_dim], values, **options)
        if source.feature_dim in dims and isinstance(axis, Dim):
            picked.feature_dim = k_dim
        return picked, places[0] if isinstance(axis, Dim) else places, k_dim
