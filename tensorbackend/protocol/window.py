"""Callbacks over windows that slide along every axis.

Each field of `windows` (sizes, strides, padding, dilations) has one entry for each axis. Padding is the identity of
the operation (0 for sums, the lowest value for maxima).
"""

from __future__ import annotations

from collections.abc import Callable

from ..rules.window import Padding as Padding
from ..rules.window import Sizes as Sizes
from ..rules.window import Windows as Windows
from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Payload


class Window:
    """Reductions of windows, and additions at the extreme elements of windows."""

    @callback(reach="window")
    def window_sum(self, out: Template, x: Tensor, /, *, windows: Windows) -> Payload:
        """Sum of each window, in x's dtype."""

    @callback(reach="window")
    def window_product(self, out: Template, x: Tensor, /, *, windows: Windows) -> Payload:
        """Product of each window, in x's dtype."""

    @callback(reach="window")
    def window_max(self, out: Template, x: Tensor, /, *, windows: Windows) -> Payload:
        """Maximum of each window; NaN if the window has one."""

    @callback(reach="window")
    def window_min(self, out: Template, x: Tensor, /, *, windows: Windows) -> Payload:
        """Minimum of each window; NaN if the window has one."""

    @callback(reach="window")
    def window_reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        windows: Windows,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:
        """Folds an associative function of two scalar tensors over each window, from `initial`."""

    @callback(reach="window")
    def window_scatter_max(
        self, out: Template, x: Tensor, source: Tensor, initial: Tensor, /, *, windows: Windows
    ) -> Payload:
        """`initial` everywhere, plus each element of `source` at the first maximum of its window."""

    @callback(reach="window")
    def window_scatter_min(
        self, out: Template, x: Tensor, source: Tensor, initial: Tensor, /, *, windows: Windows
    ) -> Payload:
        """`initial` everywhere, plus each element of `source` at the first minimum of its window."""
