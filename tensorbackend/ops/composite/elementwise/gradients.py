"""Functions that change only the gradient."""

from __future__ import annotations

from ....dispatch import composite
from ....errors import ShapeError, expected
from ....rules.broadcasting import broadcast
from ....tensor import Tensor


@composite
def stop_gradient(x: Tensor, /) -> Tensor:
    """Return x itself, through which no gradient flows.

    >>> import tensorbackend as tb
    >>> tb.grad(lambda x: x * tb.stop_gradient(x))(3.0).item()
    3.0
    """
    return x


@composite
def scaled_gradient(x: Tensor, /, scale: Tensor) -> Tensor:
    """Return x itself; its gradient is multiplied by a number, which may be negative.

    Parameters
    ----------
    x
        A tensor of any shape and dtype.
    scale
        A number, or a tensor that broadcasts to the shape of x. No gradient flows to it.

    Returns
    -------
    Tensor
        x.

    Raises
    ------
    ShapeError
        For a scale that does not broadcast to the shape of x.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.grad(lambda x: tb.scaled_gradient(x, -0.5) * 2)(3.0).item()
    -1.0
    """
    if broadcast([x.template, scale.template])[0] != x.shape:
        raise ShapeError(expected(f"a scale that broadcasts to {x.template!r}", scale=scale.template))
    return x
