"""BinaryBackend: the reference, in pure Python on immutable bytes.

Values are computed in float64 or exact integers and rounded once to the dtype. Standard library only.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping

from ...dtypes import Scalar, complex128, float64
from ...elements import element_type, pack
from ...protocol import Payload
from ...template import Template
from ...tensor import Tensor
from .blocks import BinaryBlocks
from .contraction import BinaryContraction
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
from .storage import store
from .window import BinaryWindow


class BinaryBackend(
    BinaryElementwise,
    BinarySpecial,
    BinaryReduction,
    BinaryFunctional,
    BinarySorting,
    BinaryShaping,
    BinaryBlocks,
    BinaryIndexing,
    BinaryContraction,
    BinaryFourier,
    BinaryRandom,
    BinaryLinalg,
    BinaryWindow,
):
    """The reference backend; its tensors give way to another backend's when they meet."""

    name = "binary"
    dispatch_priority = 0

    def versions(self) -> Mapping[str, str]:
        """Python's version."""
        return {"python": platform.python_version()}

    def from_binary(self, out: Template, /, *, data: bytes) -> Payload:
        """The bytes themselves are the payload."""
        return data

    def to_binary(self, x: Tensor, limit: int, /) -> bytes:
        """The first elements' bytes."""
        data: bytes = x.data
        return data if limit >= x.size else data[: limit * x.dtype.itemsize]

    def violation(self, out: Template, data: Payload, /) -> str | None:
        """A payload is `bytes` of the template's length."""
        if isinstance(data, bytes) and len(data) == out.nbytes:
            return None
        return f"{len(data)} bytes" if isinstance(data, bytes) else type(data).__name__

    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """See the protocol."""
        return pack([element_type(out.dtype)(value)], out.dtype) * out.size

    def iota(self, out: Template, /, *, axis: int | None) -> Payload:
        """See the protocol."""
        if axis is None:
            return store(range(out.size), out.dtype)
        inner = math.prod(out.shape[axis + 1 :])
        run = store([index for index in range(out.shape[axis]) for _ in range(inner)], out.dtype)
        return run * math.prod(out.shape[:axis])

    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Payload:
        """See the protocol."""
        values = [start + place * step for place in range(out.size)]
        if last is not None:
            values[-1] = last
        if isinstance(start, int):
            return store(values, out.dtype)
        wide = out.replace(dtype=complex128 if isinstance(start, complex) else float64)
        return self.as_type(out, Tensor(wide, self, pack(values, wide.dtype)))
