"""Callbacks of convolution."""

from __future__ import annotations

from ..template import Template
from ..tensor import Tensor
from .core import callback
from .planned import Payload
from .window import Padding, Sizes


class Convolution:
    """Convolution."""

    @callback(reach="filtered")
    def conv(
        self,
        out: Template,
        x: Tensor,
        kernel: Tensor,
        /,
        *,
        strides: Sizes,
        padding: Padding,
        input_dilation: Sizes,
        kernel_dilation: Sizes,
        feature_groups: int,
        batch_groups: int,
    ) -> Payload:
        """Correlation of x (batch, channels, *spatial) with a kernel (out, channels / groups, *spatial).

        Options have one entry for each spatial axis; the result is (batch / batch_groups, out, *spatial).
        """
