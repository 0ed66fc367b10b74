"""Functions that change nothing but the gradient."""

from __future__ import annotations

from ...dispatch import composite
from ...tensor import Tensor


@composite
def stop_gradient(x: Tensor, /) -> Tensor:
    """x itself, through which no gradient flows.

    >>> import tensorbackend as tb
    >>> tb.grad(lambda x: x * tb.stop_gradient(x))(3.0).item()
    3.0
    """
    return x


@composite
def scaled_gradient(x: Tensor, /, scale: float) -> Tensor:
    """x itself, whose gradient is multiplied by a number; a negative one turns it round.

    >>> import tensorbackend as tb
    >>> tb.grad(lambda x: tb.scaled_gradient(x, -0.5) * 2)(3.0).item()
    -1.0
    """
    return x
