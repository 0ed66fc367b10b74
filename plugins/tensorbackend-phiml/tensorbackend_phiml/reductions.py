"""Reductions, sorting, searching and counting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorbackend as tb
from tensorbackend.dtypes import bool_

from .base import Base, Operand
from .dtypes import from_phiml

Axes = int | Sequence[int] | None


def _axes(axis: Any) -> Any:
    return tuple(int(number) for number in axis) if isinstance(axis, tuple | list) else axis


def reduction(op: Callable[..., tb.Tensor], bool_to_int: bool = False, inexact: bool = False) -> Callable[..., Any]:
    """Make a method from an op that reduces axes. If it is `inexact`, integers become floats."""

    def method(self: Base, x: Operand, axis: Axes = None, keepdims: bool = False) -> Any:
        if type(x) is not tb.Tensor or inexact:
            x = self._floating(x) if inexact else self._tensor(x)
        if bool_to_int and x.template.dtype is bool_:
            x = self.to_int32(x)
        return op(x, axis=_axes(axis), keepdims=keepdims)

    method.__doc__ = f"`tb.{op.__name__}` along axes, by default all."
    return method


class Reductions(Base):
    """Functions that reduce axes, sort, search and count."""

    max = reduction(tb.max, bool_to_int=True)
    min = reduction(tb.min, bool_to_int=True)
    any = reduction(tb.any)
    all = reduction(tb.all)
    argmax = reduction(tb.argmax, bool_to_int=True)
    argmin = reduction(tb.argmin, bool_to_int=True)
    mean = reduction(tb.mean, inexact=True)
    std = reduction(tb.std, inexact=True)
    _summed = reduction(tb.sum, bool_to_int=True)

    def sum(self, value: Operand, axis: Axes = None, keepdims: bool = False) -> Any:
        """The sum along axes. With `axis=0`, the tensors of a list are added."""
        if isinstance(value, tuple | list) and axis == 0:
            total = value[0]
            for term in value[1:]:
                total = total + term
            return self._tensor(total)
        return self._summed(value, axis, keepdims)

    def prod(self, value: Operand, axis: Axes = None) -> Any:
        """The product along axes; for bools, whether all are true."""
        x = self._tensor(value)
        return tb.all(x, axis=_axes(axis)) if x.dtype is bool_ else tb.prod(x, axis=_axes(axis))

    def cumsum(self, x: Operand, axis: int) -> Any:
        """The cumulative sum along an axis."""
        x = self._tensor(x)
        return tb.cumulative_sum(self.to_int32(x) if x.dtype is bool_ else x, axis=axis)

    def quantile(self, x: Operand, quantiles: Operand) -> Any:
        """Quantiles along the last axis; the first axis of the result is that of `quantiles`."""
        shares = self.numpy(quantiles).astype(float) if self.is_available(quantiles) else None
        x = self._floating(x)
        if shares is not None:
            return tb.quantile(x, shares.tolist() if shares.ndim else float(shares), axis=-1)
        shares = self._floating(quantiles)
        ordered = tb.moveaxis(tb.sort(x, axis=-1), -1, 0)
        place = self._cast(shares, x.dtype) * (x.shape[-1] - 1)
        low, high = (tb.take(ordered, self.to_int64(f(place)), axis=0, mode="clip") for f in (tb.floor, tb.ceil))
        part = tb.reshape(place - tb.floor(place), (*place.shape, *[1] * (x.ndim - 1)))
        return low + (high - low) * part

    def argsort(self, x: Operand, axis: int = -1) -> Any:
        """The indices that sort the elements along an axis."""
        return tb.argsort(self._tensor(x), axis=axis)

    def sort(self, x: Operand, axis: int = -1) -> Any:
        """Sort the elements along an axis in ascending order."""
        return tb.sort(self._tensor(x), axis=axis)

    def searchsorted(self, sorted_sequence: Operand, search_values: Operand, side: str, dtype: Any = int) -> Any:
        """Find the indices at which to insert values into a sorted sequence, for each sequence of a batch."""
        sequence, values = self.auto_cast(sorted_sequence, search_values)

        def search(sequence: tb.Tensor, values: tb.Tensor) -> tb.Tensor:
            return tb.searchsorted(sequence, values, side=side)  # type: ignore[arg-type] # "left" or "right"

        function: Callable[..., tb.Tensor] = search
        for _ in range(sequence.ndim - 1):
            function = tb.vmap(function)
        return self._cast(function(sequence, values), from_phiml(dtype))

    def histogram1d(self, values: Operand, weights: Operand, bin_edges: Operand) -> Any:
        """Sum the weights between edges for each example of a batch; the last edge belongs to the last bin."""
        values, edges = self.auto_cast(values, bin_edges, bool_to_int=True)
        weights = self._tensor(weights)

        def counted(values: tb.Tensor, weights: tb.Tensor, edges: tb.Tensor) -> tb.Tensor:
            bins = edges.shape[0] - 1
            place = tb.searchsorted(edges, values, side="right") - 1
            place = tb.where(values == edges[-1], bins - 1, place)
            inside = (place >= 0) & (place < bins)
            empty = tb.zeros((bins,), dtype=weights.dtype, backend=self.base)
            return tb.indexed_add(empty, tb.where(inside, place, bins)[:, None], weights, mode="fill")

        return tb.vmap(counted)(values, weights, edges)

    def bincount(self, x: Operand, weights: Operand, bins: int, x_sorted: bool = False) -> Any:
        """Count the occurrences of each integer below `bins` in x, or sum their weights."""
        weights = None if weights is None else self.as_tensor(weights)
        return tb.bincount(self._tensor(x), weights=weights, size=int(bins))

    def batched_bincount(self, x: Operand, weights: Operand, bins: int) -> Any:
        """Apply `bincount` to each example of a batch."""
        x = self._tensor(x)
        if weights is None:
            return tb.vmap(lambda x: self.bincount(x, None, bins))(x)
        weights = self.as_tensor(weights)
        size = self.determine_size([x, weights], 0)
        x, weights = self.tile_to(x, 0, size), self.tile_to(weights, 0, size)
        return tb.vmap(lambda x, weights: self.bincount(x, weights, bins))(x, weights)

    def unique(self, x: Operand, return_inverse: bool, return_counts: bool, axis: int) -> tuple[Any, ...]:
        """Find the distinct slices along an axis, in lexicographic order.

        With `return_inverse`, also return the index of the distinct slice for each slice of x. With `return_counts`,
        also return how often each occurs.
        """
        values, _, inverse, counts = tb.unique_all(self._tensor(x), axis=axis)
        return values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])
