"""Callbacks of convolution."""

from __future__ import annotations

from ..template import Template
from ..tensor import Tensor
from .core import callback
from .planned import Payload
from .window import Sizes, Windows


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
        windows: Windows,
        input_dilation: Sizes,
        feature_groups: int,
        batch_groups: int,
    ) -> Payload:
        """Correlation of x (batch, channels, *spatial) with a kernel (out, channels / groups, *spatial).

        `windows` and `input_dilation` have one entry for each spatial axis; the sizes of the windows are those of the
        kernel. The result is (batch / batch_groups, out, *spatial).
        """
