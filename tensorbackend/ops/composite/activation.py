"""Normalising functions, written in public ops."""

from __future__ import annotations

from ...dispatch import composite
from ...rules.broadcasting import to_floating
from ...tensor import Axes, Tensor
from ..elementwise.binary import divide, subtract
from ..elementwise.conversion import astype
from ..elementwise.unary import exp, log
from ..reduction import max, sum


@composite
def softmax(x: Tensor, /, *, axis: Axes = -1) -> Tensor:
    """exp(x) divided by its sum along `axis`, computed without overflow.

    >>> import tensorbackend as tb
    >>> tb.softmax(tb.asarray([[0.0, 0.0]], names=("row", "class")), axis="class").tolist()
    [[0.5, 0.5]]
    """
    x = astype(x, to_floating(x.dtype))
    powers = exp(subtract(x, max(x, axis=axis, keepdims=True)))
    return divide(powers, sum(powers, axis=axis, keepdims=True))


@composite
def log_softmax(x: Tensor, /, *, axis: Axes = -1) -> Tensor:
    """Logarithm of `softmax`, accurate where that is tiny.

    >>> import tensorbackend as tb
    >>> tb.log_softmax(tb.asarray([0.0, -1000.0])).tolist()
    [0.0, -1000.0]
    """
    x = astype(x, to_floating(x.dtype))
    shifted = subtract(x, max(x, axis=axis, keepdims=True))
    return subtract(shifted, log(sum(exp(shifted), axis=axis, keepdims=True)))
