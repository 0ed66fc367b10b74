"""Uniform numbers, of which all others are made, to the bit as `jax.random` makes them."""

from __future__ import annotations

from typing import Final

from ....dtypes import DType, as_dtype, float16, float32, float64, uint64
from ....rules.random import check_fits
from ....template import Shape
from ....tensor import Tensor
from ...elementwise.binary import bitwise_or, maximum
from ...elementwise.conversion import astype, bitcast
from .threefry import random_bits


def fractions(key: Tensor, shape: Shape, dtype: DType) -> Tensor:
    """Floats from 0 up to but excluding 1, all multiples of the dtype's eps equally likely.

    Random bits become the significand of a number from 1 up to 2, from which 1 is subtracted. If the dtype has fewer
    than 8 explicit bits of significand, only 8 bits are drawn.
    """
    width = 8 if dtype.mantissa_bits < 8 else dtype.bits
    word = as_dtype(f"uint{dtype.bits}")
    drawn = random_bits(key, shape, as_dtype(f"uint{width}"))
    significand = astype(drawn, word) >> width - dtype.mantissa_bits
    one = (2 ** (dtype.exponent_bits - 1) - 1) << dtype.mantissa_bits
    return bitcast(bitwise_or(significand, one), dtype) - 1


def uniform_between(key: Tensor, low: Tensor, high: Tensor, shape: Shape) -> Tensor:
    """Uniform numbers from `low` up to `high`, which are tensors of the sample's dtype."""
    check_fits(shape, low.template, high.template)
    return spread(fractions(key, shape, low.dtype), low, high)


def spread(fraction: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """The numbers at fractions of the way from `low` to `high`, rounded as JAX rounds them."""
    span = high - low
    if low.dtype in _EXACT_PRODUCTS:
        wide = _EXACT_PRODUCTS[low.dtype]
        scaled = astype(fraction, wide) * astype(span, wide) + astype(low, wide)
        sample = astype(scaled, low.dtype)
    else:
        sample = (_scale_once_rounded if low.dtype is float64 else _scale_rounding)(fraction, span, low)
    return maximum(low, sample)


# Where hardware fuses the product and the sum, JAX's numbers are rounded only once: those of float16 too on recent
# processors, those of no narrower dtype. They are rounded once here, whether or not a compiler fuses: the products are
# exact.

_EXACT_PRODUCTS: Final = {float32: float64, float16: float32}
"""The dtype in which a product of two numbers of a dtype is exact."""


_FIRST_26_BITS = (1 << 64) - (1 << 27)
"""A mask of the first bits of a float64's significand, the hidden bit among them, with its sign and exponent."""


def _scale_rounding(fraction: Tensor, span: Tensor, low: Tensor) -> Tensor:
    return fraction * span + low


def _scale_once_rounded(fraction: Tensor, span: Tensor, low: Tensor) -> Tensor:
    """fraction * span + low in float64, rounded only once unless the exact sum is almost halfway between two floats.

    The factors are split after 26 bits, so that the products of the parts are exact; the largest product is added
    without loss (D. E. Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem B).
    """
    head, top = (bitcast(bitcast(x, uint64) & _FIRST_26_BITS, float64) for x in (fraction, span))
    tail, bottom = fraction - head, span - top
    product = head * top
    small = head * bottom + tail * top + tail * bottom
    total = product + low
    moved = total - product
    lost = product - (total - moved) + (low - moved)
    return total + (lost + small)
