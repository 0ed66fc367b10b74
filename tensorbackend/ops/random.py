"""Keys of random numbers."""

from __future__ import annotations

from operator import index

from ..declarations.argument_errors import check_arguments
from ..dtypes import int64, uint32
from ..errors import OperandError, OutOfRangeError, expected
from ..protocol import BackendLike
from ..tensor import Like, Tensor
from .composite.shape.arranging import stack
from .creation.filled import asarray
from .elementwise.basic import astype


@check_arguments
def key(seed: int | Tensor, /, *, backend: BackendLike = None, device: str | None = None, like: Like = None) -> Tensor:
    """Make a random key from a seed of up to 64 bits: the high and the low word of the seed.

    Use a key once: draw with it, or `split` it. Seeds from 2**32 on produce the numbers that JAX produces with 64-bit
    dtypes enabled; without them, JAX ignores the high word. Negative seeds from -2**63 on are read as two's complement.
    Raises `OutOfRangeError` for other seeds. The seed may be an integer tensor without axes, also a traced one.

    >>> tb.random.key(2**32 + 7).tolist()
    [1, 7]
    """
    if isinstance(seed, Tensor) and not seed.backend.is_concrete(seed):
        return _traced_key(seed)
    try:
        number = index(seed)
    except TypeError:
        raise OperandError(expected("an integer seed", seed=seed)) from None
    if not -(1 << 63) <= number < 1 << 64:
        raise OutOfRangeError(expected("a seed from -2**63 to 2**64 - 1", seed=seed))
    words = [number >> 32 & 0xFFFFFFFF, number & 0xFFFFFFFF]
    return asarray(words, dtype=uint32, backend=backend, device=device, like=like)


def _traced_key(seed: Tensor) -> Tensor:
    """The key of a seed without data, in the seed's trace."""
    if seed.ndim or not seed.dtype.is_integer:
        raise OperandError(expected("an integer seed", seed=seed.template))
    wide = astype(seed, int64)
    return stack([astype(wide >> 32, uint32), astype(wide, uint32)], axis=0)
