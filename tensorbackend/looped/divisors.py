"""Greatest common divisors and least common multiples of integers, by Euclid's algorithm in a loop."""

from __future__ import annotations

from ..declarations.argument_errors import check_arguments
from ..expr.while_loops import while_loop
from ..ops.composite.shape.arranging import broadcast_arrays
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import logical_or, not_equal
from ..ops.inspection import common_operands
from ..ops.reduction import any
from ..rules.broadcasting import check_dtype
from ..tensor import Tensor, TensorLike


def _negative_magnitudes(x1: TensorLike, x2: TensorLike) -> list[Tensor]:
    """Two integer operands, broadcast in their common dtype, as numbers up to 0: the least one has no magnitude.

    Unsigned ones remain as they are.
    """
    numbers = broadcast_arrays(*common_operands(x1, x2))
    dtype = check_dtype(numbers[0].dtype, "integer")
    return [where(x < 0, x, -x) if dtype.kind == "int" else x for x in numbers]


def _divisor(first: Tensor, second: Tensor) -> Tensor:
    """The greatest common divisor of such numbers, with their sign."""
    unit = -1 if first.dtype.kind == "int" else 1

    def step(pair: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        a, b = pair
        done, one = b == 0, b == unit
        # The minimum divided by -1 is out of range.
        rest = where(one, 0, a % where(logical_or(done, one), 2 * unit, b))
        return where(done, a, b), where(done, b, rest)

    divisor: Tensor = while_loop(lambda pair: any(not_equal(pair[1], 0)), step, (first, second))[0]
    return divisor


@check_arguments
def gcd(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The greatest common divisor of integers, at least 0; `gcd(0, 0)` is 0.

    >>> tb.gcd(tb.asarray([12, -18, 0]), 8).tolist()
    [4, 2, 8]
    """
    divisor = _divisor(*_negative_magnitudes(x1, x2))
    return -divisor if divisor.dtype.kind == "int" else divisor


@check_arguments
def lcm(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The least common multiple of integers; 0 if one of them is 0. A result out of range wraps, as in NumPy.

    >>> tb.lcm(tb.asarray([12, -18, 0]), 8).tolist()
    [24, 72, 0]
    """
    first, second = _negative_magnitudes(x1, x2)
    divisor = _divisor(first, second)
    # A quotient of numbers up to 0 is at least 0; of the minimum and -1 it is not computed.
    one = abs(divisor) == 1
    quotient = where(one, abs(first), first // where(logical_or(one, divisor == 0), 2, divisor))
    return quotient * (-second if second.dtype.kind == "int" else second)
