"""Greatest common divisors and least common multiples of integers, by Euclid's algorithm in a loop."""

from __future__ import annotations

from ..declarations.argument_errors import check_arguments
from ..ops.composite.shape.arranging import broadcast_arrays
from ..ops.creation.values import operand_tensors
from ..ops.elementwise.binary import equal, floor_divide, maximum, multiply, not_equal, remainder
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..ops.elementwise.unary import abs
from ..ops.reduction import any
from ..rules.broadcasting import check_dtype, result_type
from ..tensor import Tensor, TensorLike
from .while_loops import while_loop


def _magnitudes(x1: TensorLike, x2: TensorLike) -> list[Tensor]:
    """The magnitudes of two integer operands, broadcast in their common dtype."""
    x1, x2 = operand_tensors(x1, x2)
    dtype = check_dtype(result_type([x1.template, x2.template]), "integer")
    return list(broadcast_arrays(*(abs(astype(x, dtype)) for x in (x1, x2))))


@check_arguments
def gcd(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The greatest common divisor of integers, at least 0; `gcd(0, 0)` is 0.

    Parameters
    ----------
    x1 : Tensor
        Integers.
    x2 : Tensor
        Integers, which broadcast with x1.

    Returns
    -------
    Tensor
        A tensor with the shape to which x1 and x2 broadcast, in the integer dtype to which they are promoted.

    Raises
    ------
    DTypeError
        For operands that are no integers.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.gcd(tb.asarray([12, -18, 0]), 8).tolist()
    [4, 2, 8]
    """

    def step(pair: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        a, b = pair
        done = equal(b, 0)
        return where(done, a, b), where(done, b, remainder(a, b))

    first, second = _magnitudes(x1, x2)
    divisor: Tensor = while_loop(lambda pair: any(not_equal(pair[1], 0)), step, (first, second))[0]
    return divisor


@check_arguments
def lcm(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The least common multiple of integers, at least 0; 0 if one of them is 0. A result out of range wraps.

    Parameters
    ----------
    x1 : Tensor
        Integers.
    x2 : Tensor
        Integers, which broadcast with x1.

    Returns
    -------
    Tensor
        A tensor with the shape to which x1 and x2 broadcast, in the integer dtype to which they are promoted.

    Raises
    ------
    DTypeError
        For operands that are no integers.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.lcm(tb.asarray([12, -18, 0]), 8).tolist()
    [24, 72, 0]
    """
    first, second = _magnitudes(x1, x2)
    divisor = gcd(first, second)
    return abs(multiply(floor_divide(first, maximum(divisor, 1)), second))
