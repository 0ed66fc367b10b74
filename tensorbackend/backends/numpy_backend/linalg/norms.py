"""Norms with a quick check of the result, so that the common case needs no scaling."""

from __future__ import annotations

import math

from ....interchange import numpy_dtype
from ....protocol import Kernel
from ....template import Template
from ...array_module.base import Array
from ...array_module.linalg.norms import ArrayNorms, smallest_sure
from ...array_module.precision import wide


class NumpyNorms(ArrayNorms):
    """Norms along axes."""

    def euclidean(self, out: Template, x: Template, axes: tuple[int, ...], keepdims: bool) -> Kernel:
        """Computes the norm from the sum of squares, unless that is so great or small that some square was lost."""
        numpy, dtype = self.xp, numpy_dtype(wide(out.dtype))
        careful, least = self.scaled_euclidean_norm(out, x, axes), smallest_sure(dtype, numpy)
        if len(axes) == len(x.shape) and not keepdims:
            vdot, root, number = numpy.vdot, math.sqrt, dtype.type

            def norm_of_all(values: Array) -> Array:
                squares = float(vdot(values, values).real)
                return number(root(squares)) if least < squares < math.inf else careful(values)

            return norm_of_all
        total, count = self.fold_kernel("sum", x, axes, keepdims, wide(out.dtype)), numpy.count_nonzero

        def norm(values: Array) -> Array:
            sizes = numpy.abs(values) if x.dtype.is_complex else values
            squares = total(sizes * sizes)
            if count((squares > least) & (squares < math.inf)) == out.size:
                return numpy.sqrt(squares)
            return careful(values)

        return norm
