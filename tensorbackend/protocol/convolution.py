"""Callbacks of convolution."""

from __future__ import annotations

from ..rules.convolution import Correlation as Correlation
from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Payload


class Convolution:
    """Convolution."""

    @callback(reach="filtered")
    def conv(self, out: Template, x: Tensor, kernel: Tensor, /, *, correlation: Correlation) -> Payload:
        """Correlation of x (batch, channels, *spatial) with a kernel (out, channels / groups, *spatial).

        `correlation` has an entry for each spatial axis in its windows, whose sizes are those of the kernel, and in its
        input dilation. The result is (batch / batch_groups, out, *spatial).
        """
