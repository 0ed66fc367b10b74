"""Keys of random numbers."""

from __future__ import annotations

from operator import index

from ..declarations.argument_errors import check_arguments
from ..dtypes import uint32
from ..errors import OperandError, OutOfRangeError, TemplateDataError, expected
from ..protocol import BackendLike
from ..tensor import Like, Tensor
from .creation.filled import asarray


@check_arguments
def key(seed: int, /, *, backend: BackendLike = None, device: str | None = None, like: Like = None) -> Tensor:
    """Make a random key from a seed of up to 64 bits: the high and the low word of the seed.

    Use a key once: draw with it, or `split` it. Seeds from 2**32 on produce the numbers that JAX produces with 64-bit
    dtypes enabled; without them, JAX ignores the high word. Negative seeds from -2**63 on are read as two's complement.
    Raises `OutOfRangeError` for other seeds.

    >>> import tensorbackend as tb
    >>> tb.random.key(2**32 + 7).tolist()
    [1, 7]
    """
    try:
        number = index(seed)
    except TemplateDataError:
        raise
    except TypeError:
        raise OperandError(expected("an integer seed", seed=seed)) from None
    if not -(1 << 63) <= number < 1 << 64:
        raise OutOfRangeError(expected("a seed from -2**63 to 2**64 - 1", seed=seed))
    words = [number >> 32 & 0xFFFFFFFF, number & 0xFFFFFFFF]
    return asarray(words, dtype=uint32, backend=backend, device=device, like=like)
