"""`dot`: both operands become stacks of rows to contract, and each pair of rows has one sum of products."""

from __future__ import annotations

import math
from operator import mul
from typing import Any

from ...annotations import Ints
from ...dtypes.packing import unpack
from ...protocol import Backend, Payload
from ...template import Template, intern_template
from ...tensor import Tensor
from .complex_scalars import dot as complex_dot
from .shape import steps, take_strided
from .storage import store


def _rows(x: Tensor, batch: tuple[int, ...], contract: tuple[int, ...]) -> list[list[list[Any]]]:
    """The rows of elements to contract, one for each free position of each batch entry.

    (2, 3, 4) with batch (0,) and contract (1,) becomes 2 lists of 4 rows of 3.
    """
    free = tuple(axis for axis in range(len(x.shape)) if axis not in batch + contract)
    order = batch + free + contract
    apart = steps(x.shape)
    moved = intern_template(tuple(x.shape[axis] for axis in order), x.dtype, (None,) * len(order))
    values = list(unpack(take_strided(x, moved, 0, [apart[axis] for axis in order]), x.dtype))
    length = math.prod(x.shape[axis] for axis in contract)
    count = math.prod(x.shape[axis] for axis in free)
    total = math.prod(x.shape[axis] for axis in batch)
    rows = [values[start * length : (start + 1) * length] for start in range(total * count)]
    return [rows[start * count : (start + 1) * count] for start in range(total)]


class BinaryContraction(Backend):
    """The contraction of the family `protocol.linalg`."""

    def dot(
        self, out: Template, x1: Tensor, x2: Tensor, /, *, contract1: Ints, batch1: Ints, contract2: Ints, batch2: Ints
    ) -> Payload:
        pairs = zip(_rows(x1, batch1, contract1), _rows(x2, batch2, contract2), strict=True)
        if out.dtype.is_complex:
            products = [complex_dot(left, right) for rows1, rows2 in pairs for left in rows1 for right in rows2]
            return store(products, out.dtype)
        zero: Any = 0.0 if out.dtype.is_floating else 0
        sums = [sum(map(mul, left, right), zero) for rows1, rows2 in pairs for left in rows1 for right in rows2]
        return store(sums, out.dtype)
