"""Accumulations by NumPy's ufuncs."""

from __future__ import annotations

from typing import Literal

from ...dtypes import DType
from ...interchange import numpy_dtype
from ...protocol import Calm, Kernel, planned
from ...template import Template
from ..array_module.base import Array, backwards
from ..array_module.cumulative import ArrayCumulative
from .reduction import _UFUNCS


class NumpyCumulative(ArrayCumulative):
    """Callbacks that accumulate along an axis."""

    def running(self, name: Literal["cumsum", "cumprod"], axis: int, dtype: DType) -> Kernel:
        """Accumulates by a ufunc."""
        accumulate, accumulator = getattr(self.xp, _UFUNCS[name]).accumulate, numpy_dtype(dtype)
        return lambda values: accumulate(values, axis, accumulator)

    @planned
    def cumulative_max(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """The greatest of the elements up to each."""
        return self._running_extreme("max", x, axis, reverse)

    @planned
    def cumulative_min(self, out: Template, x: Template, /, *, axis: int, reverse: bool) -> Kernel:
        """The least of the elements up to each."""
        return self._running_extreme("min", x, axis, reverse)

    def _running_extreme(self, name: Literal["max", "min"], x: Template, axis: int, reverse: bool) -> Kernel:
        numpy, floating = self.xp, x.dtype.is_floating
        accumulate, either = getattr(numpy, _UFUNCS[name]).accumulate, numpy.logical_or.accumulate
        zero = numpy_dtype(x.dtype).type(0.0 if name == "max" else -0.0)
        wins_negative = name == "min"

        def running(values: Array) -> Array:
            extremes = accumulate(values, axis)
            if floating and not extremes.all():
                # NumPy keeps either of two zeros; a zero of the winning sign must stay from where it is first met.
                met = either((values == 0) & (numpy.signbit(values) == wins_negative), axis)
                extremes = numpy.where((extremes == 0) & met, zero, extremes)
            return extremes

        return Calm(backwards(running, axis) if reverse else running)
