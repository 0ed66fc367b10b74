"""Norms whose scaling is only computed where it is needed."""

from __future__ import annotations

import math

from ....interchange import numpy_dtype
from ....protocol import Kernel
from ....template import Template
from ...array_module.base import Array
from ...array_module.linalg.norms import ArrayNorms, smallest_sure
from ...array_module.precision import wide
from ..reduction import JaxReduction


class JaxNorms(JaxReduction, ArrayNorms):
    """Norms along axes."""

    def euclidean(self, out: Template, x: Template, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Computes the norm from the sum of squares, unless the sum shows that some square may have been lost."""
        xp, cond = self.xp, self.lax.cond
        careful, total = (
            self.scaled_euclidean_norm(out, x, axes),
            self.fold_kernel("sum", x, axes, keepdims, wide(out.dtype)),
        )
        least = smallest_sure(numpy_dtype(wide(out.dtype)), xp)

        def norm(values: Array) -> Array:
            parts = (values.real, values.imag) if x.dtype.is_complex else (values,)
            squares = total(sum(part * part for part in parts))
            sure = ((squares > least) & (squares < math.inf)).all()
            return cond(sure, lambda values: xp.sqrt(squares), careful, values)

        return norm
