"""Fourier transforms on JAX; on a mesh each device holds the transformed axis whole."""

from __future__ import annotations

from typing import Literal

from ...dtypes import DType
from ...protocol import Kernel
from ...rules.fourier import Norm
from ...template import Template
from ..array_module.base import Array
from ..array_module.fourier import ArrayFourier
from .base import JaxBase


class JaxFourier(JaxBase, ArrayFourier):
    """Transforms along one axis."""

    def _transform(
        self, name: Literal["fft", "ifft", "rfft", "irfft"], out: Template, x: Template, source: DType,
        length: int | None, axis: int, norm: Norm,
    ) -> Kernel:  # fmt: skip
        """The shared kernel; XLA cannot divide the axis of a transform in double precision."""
        kernel = super()._transform(name, out, x, source, length, axis, norm)
        if not self.lays_by_name:
            return kernel
        along = [axis % x.ndim]

        def transform(values: Array) -> Array:
            return self.gather_axes(kernel(self.gather_axes(values, along)), along)

        return transform
