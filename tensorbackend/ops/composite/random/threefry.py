"""Keys and random bits: Threefry-2x32 of 20 rounds, a function of a key and a counter.

J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.

A key and the position of an element decide its bits, so they are the same on every backend. Keys, `split`,
`fold_in` and `bits` return what `jax.random` returns in its default, partitionable form, where the counter of an
element is its row-major position in 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ....declarations.argument_errors import check_arguments
from ....dispatch import composite
from ....dtypes import DType, DTypeLike, as_dtype, float16, float32, float64, uint8, uint16, uint32, uint64
from ....errors import DTypeError, expected
from ....rules.random import ROTATIONS, check_fits, check_key, threefry
from ....select import call_with_default
from ....template import NamesLike, Shape, as_names, as_shape
from ....tensor import Tensor, TensorLike
from ...creation.filled import asarray, full, iota, rename
from ...elementwise.basic import astype, bitcast
from ...elementwise.binary import bitwise_left_shift, bitwise_or, bitwise_right_shift, maximum
from ...indexing.slices import slice_basic
from ..shape.arranging import stack

_WIDTHS = (uint8, uint16, uint32, uint64)


@composite
def threefry2x32(key: Tensor, high: Tensor, low: Tensor, /) -> tuple[Tensor, Tensor]:
    """Map each counter, two uint32 words, to two random uint32 words that depend on the key.

    >>> [hex(word.item()) for word in tb.random.threefry2x32(tb.random.key(0), 0, 0)]
    ['0x6b200159', '0x99ba4efe']
    """
    check_key(key.template)
    for word in (high, low):
        if word.dtype is not uint32:
            raise DTypeError(expected("counters of uint32", "cast them with astype()", counter=word.template))
    # The distances are tensors, as a Python number would become a new tensor in each of the 100 ops.
    distances = {distance for group in ROTATIONS for bits in group for distance in (bits, 32 - bits)}
    by = {distance: full((), distance, dtype=uint32) for distance in distances}
    rotate = lambda word, bits: bitwise_or(  # noqa: E731 # next to its use
        bitwise_left_shift(word, by[bits]), bitwise_right_shift(word, by[32 - bits])
    )
    encrypted: tuple[Tensor, Tensor] = threefry((slice_basic(key, 0), slice_basic(key, 1)), (high, low), rotate)
    return encrypted


def words(key: Tensor, shape: Shape) -> tuple[Tensor, Tensor]:
    """Two random words for each element of a shape."""
    check_key(key.template)
    if math.prod(shape) <= 1 << 32:
        return threefry2x32(key, full((), 0, dtype=uint32), iota(shape, dtype=uint32))
    position = iota(shape, dtype=uint64)
    return threefry2x32(key, astype(position >> 32, uint32), astype(position, uint32))


@check_arguments
def split(key: TensorLike, /, num: int | Sequence[int] = 2) -> Tensor:
    """Split a key into `num` independent keys. Do not use the key itself again.

    >>> first, second = tb.random.split(tb.random.key(0))
    >>> first.tolist(), second.tolist()
    ([1797259609, 2579123966], [928981903, 3453687069])
    """
    parent_key = asarray(key)
    return call_with_default(parent_key.backend, lambda: stack(words(parent_key, as_shape(num)), axis=-1))


@composite
def fold_in(key: Tensor, data: Tensor, /) -> Tensor:
    """Derive a key from a key and an integer of up to 32 bits, such as the number of an iteration.

    Only the low 32 bits of wider integers are used. If `data` has axes, there is a key for each element: the result is
    (..., 2), with the names of `data`. Raises `DTypeError` unless `data` is of an integer dtype.

    >>> tb.random.fold_in(tb.random.key(0), 1).tolist()
    [928981903, 3453687069]
    """
    check_key(key.template)
    if not data.dtype.is_integer:
        raise DTypeError(expected("an integer to fold in", data=data.template))
    return stack(threefry2x32(key, full((), 0, dtype=uint32), astype(data, uint32)), axis=-1)


@composite
def bits(key: Tensor, /, shape: Sequence[int] = (), dtype: DTypeLike = "uint32", *, names: NamesLike = None) -> Tensor:
    """Random bits: unsigned integers, all values of the dtype equally likely.

    >>> tb.random.bits(tb.random.key(0), (2,), "u8").tolist()
    [167, 146]
    """
    if dtype not in _WIDTHS:
        expectation = "uint8, uint16, uint32 or uint64"
        raise DTypeError(expected(expectation, "bitcast() the bits to a signed dtype", dtype=dtype))
    return name_axes(random_bits(key, as_shape(shape), as_dtype(dtype)), names)


def random_bits(key: Tensor, shape: Shape, dtype: DType) -> Tensor:
    """See `bits`."""
    first, second = words(key, shape)
    if dtype is uint64:
        return astype(first, uint64) << 32 | astype(second, uint64)
    mixed = first ^ second
    return mixed if dtype is uint32 else astype(mixed, dtype)


def name_axes(x: Tensor, names: NamesLike) -> Tensor:
    """The sample x with names for its axes; x itself if `names` is `None`."""
    return x if names is None else rename(x, *as_names(names, x.ndim))


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
