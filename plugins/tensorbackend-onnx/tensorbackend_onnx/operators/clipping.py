"""Clipping, with PyTorch's gradients at the bounds.

ONNX does not define gradients. In PyTorch an element at a bound of `clamp` has the gradient 1, at a bound of `relu6`,
`hardtanh` and `hardsigmoid` 0, as at 0 of `relu`. Such elements are common: a layer before has made them 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.dtypes import bool_

from .registry import Maybe, Node, operator, rows

FLAT = "hardtanh", "relu6"
"""The ops of PyTorch that are exported as `Clip` and have the gradient 0 at their bounds."""

CLAMPS = "clamp", "clamp_max", "clamp_min"
"""The ops of PyTorch that are exported as `Max` and `Min` and have the gradient 1 at their bounds."""

Bound = Tensor | float | None
Comparison = Callable[[Tensor, Tensor], Tensor]


def _clipping(above: Comparison, below: Comparison) -> Callable[[Tensor, Maybe, Maybe], Tensor]:
    """A function that clips to bounds that broadcast, the upper one if they are in the wrong order.

    Elements that are `above` the lower bound and `below` the upper one have the gradient 1.
    """

    @tb.custom_gradient
    def clip(x: Tensor, low: Maybe, high: Maybe) -> Any:
        def pullback(cotangent: Tensor) -> tuple[Maybe, ...]:
            def share(where: Tensor, of: Tensor) -> Tensor:
                part, more = tb.where(where, cotangent, 0), cotangent.ndim - of.ndim
                spread = [axis for axis in range(part.ndim) if axis < more or of.shape[axis - more] < part.shape[axis]]
                return tb.reshape(tb.sum(part, axis=spread), of.shape)

            inside = tb.ones_like(x, dtype=bool_)
            over = tb.logical_not(inside)
            slope_of_low = slope_of_high = None
            if high is not None:
                inside, over = below(x, high), (x if low is None else tb.maximum(x, low)) > high
                slope_of_high = share(over, high)
            if low is not None:
                inside = tb.logical_and(inside, above(x, low))
                slope_of_low = share(tb.logical_and(x < low, tb.logical_not(over)), low)
            return share(inside, x), slope_of_low, slope_of_high

        return tb.clip(x, low, high), pullback

    return clip


_clamp = _clipping(tb.greater_equal, tb.less_equal)
_clip_flat = _clipping(tb.greater, tb.less)


def clip(x: Tensor, low: Bound, high: Bound, *, flat: bool = False) -> Tensor:
    """Elements clipped to bounds. An element at a bound has the gradient 1, or with `flat` 0."""
    if low is None and high is None:
        return x
    first, last = (y if y is None else tb.asarray(y, dtype=x.dtype, like=x) for y in (low, high))
    return (_clip_flat if flat else _clamp)(x, first, last)


@operator("Clip", attributes_before=11)
def clip_to(x: Tensor, min: Maybe = None, max: Maybe = None, *, node: Node) -> Tensor:
    """Elements clipped to an interval; the upper bound wins over the lower one."""
    return clip(x, min, max, flat=node.comes_from(*FLAT))


def _extreme(function: Callable[[Tensor, Tensor], Tensor], *, lower: bool) -> Callable[..., Tensor]:
    """An extreme of tensors that broadcast. The second tensor of a clamp is its lower or upper bound."""

    def compute(x: Tensor, *xs: Tensor, node: Node) -> Tensor:
        if node.comes_from(*CLAMPS) and len(xs) == 1:
            return clip(x, xs[0], None) if lower else clip(x, None, xs[0])
        return reduce(function, xs, x)

    return compute


rows({"Max": _extreme(tb.maximum, lower=True), "Min": _extreme(tb.minimum, lower=False)})
