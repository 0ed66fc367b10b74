"""BinaryBackend: the reference, in pure Python on immutable bytes.

Values are computed in float64 or exact integers and rounded once to the dtype. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...dtypes import STORED_DTYPES
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from .contraction import BinaryContraction
from .convolution import BinaryConvolution
from .creation import BinaryCreation
from .cumulative import BinaryCumulative
from .elementwise import BinaryElementwise
from .fourier import BinaryFourier
from .functional import BinaryFunctional
from .indexing import BinaryIndexing
from .linalg import BinaryLinalg
from .random import BinaryRandom
from .reduction import BinaryReduction
from .shape import BinaryShaping
from .sorting import BinarySorting
from .special import BinarySpecial
from .window import BinaryWindow


class BinaryBackend(
    BinaryCreation,
    BinaryElementwise,
    BinarySpecial,
    BinaryReduction,
    BinaryCumulative,
    BinaryFunctional,
    BinarySorting,
    BinaryShaping,
    BinaryIndexing,
    BinaryContraction,
    BinaryFourier,
    BinaryRandom,
    BinaryLinalg,
    BinaryWindow,
    BinaryConvolution,
):
    """The reference backend. An op that also has tensors of another backend runs on that backend."""

    name = "binary"
    writable_payloads = False
    dispatch_priority = 0
    dtypes = STORED_DTYPES
    casts_narrow = True

    def versions(self) -> Mapping[str, str]:
        """Python's version."""
        from platform import python_version  # slow to import

        return {"python": python_version()}

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """The bytes themselves are the payload."""
        return data

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The bytes of the first `limit` elements."""
        data: bytes = x.data
        return data if limit >= x.size else data[: limit * x.dtype.itemsize]

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """What a payload is instead of `bytes` of the template's length; `None` if it is right."""
        if isinstance(data, bytes) and len(data) == out.payload_nbytes:
            return None
        return f"{len(data)} bytes" if isinstance(data, bytes) else type(data).__name__
