"""Callbacks that contract axes."""

from __future__ import annotations

from typing import Any

from ..annotations import Ints
from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Payload


class Contraction:
    """Sums of products."""

    def quantized_product(self, x: Tensor, q: Any, /) -> Payload | None:
        """The rows of x times a quantised matrix; with `None`, as here, its numbers are computed run by run.

        q is a `Quantized`. `x` has the axes (rows, contracted) and dtype float32 or float64, and the payload the axes
        (rows, all others of q) in the same dtype. The caller multiplies by `q.factor`. Called for each product of
        tensors of this backend that have data; the numbers of q are constants.
        """
        return None

    @callback(reach="paired")
    def dot(
        self, out: Template, x1: Tensor, x2: Tensor, /, *, contract1: Ints, batch1: Ints, contract2: Ints, batch2: Ints
    ) -> Payload:
        """Sum of products over pairs of axes, for each entry of the paired batch axes.

        Axes of the result: the batch axes, then x1's free axes, then x2's, each in order. Integers keep
        their dtype and wrap; float16 and bfloat16 accumulate in at least float32. A sum of no products is 0.
        """
