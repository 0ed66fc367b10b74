"""Callbacks that contract axes."""

from __future__ import annotations

from ..annotations import Ints
from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Payload


class Contraction:
    """Sums of products."""

    @callback(reach="paired")
    def dot(
        self, out: Template, x1: Tensor, x2: Tensor, /, *, contract1: Ints, batch1: Ints, contract2: Ints, batch2: Ints
    ) -> Payload:
        """Sum of products over pairs of axes, for each entry of the paired batch axes.

        Axes of the result: the batch axes, then x1's free axes, then x2's, each in order. Integers keep
        their dtype and wrap; float16 and bfloat16 accumulate in at least float32. A sum of no products is 0.
        """
