"""Callbacks over windows that slide along every axis.

`window_dimensions`, `strides` and `window_dilations` have one entry for each axis, `padding` one pair (low, high).
Padding counts as the operation's identity (0 for sums, the lowest value for maxima).
"""

from __future__ import annotations

from collections.abc import Callable

from ..template import Template
from ..tensor import Tensor
from .core import callback
from .planned import Payload

Padding = tuple[tuple[int, int], ...]
Sizes = tuple[int, ...]


class Window:
    """Reductions of windows, and additions at the extreme elements of windows."""

    @callback(reach="window")
    def window_sum(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:
        """Sum of each window, in x's dtype."""

    @callback(reach="window")
    def window_product(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:
        """Product of each window, in x's dtype."""

    @callback(reach="window")
    def window_max(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:
        """Largest element of each window; NaN if the window has one."""

    @callback(reach="window")
    def window_min(
        self,
        out: Template,
        x: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
    ) -> Payload:
        """Least element of each window; NaN if the window has one."""

    @callback(reach="window")
    def window_reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
        window_dilations: Sizes,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:
        """Folds an associative function of two scalar tensors over each window, from `initial`."""

    @callback(reach="window")
    def window_scatter_max(
        self,
        out: Template,
        x: Tensor,
        source: Tensor,
        initial: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
    ) -> Payload:
        """`initial` everywhere, plus each element of `source` at the first largest element of its window."""

    @callback(reach="window")
    def window_scatter_min(
        self,
        out: Template,
        x: Tensor,
        source: Tensor,
        initial: Tensor,
        /,
        *,
        window_dimensions: Sizes,
        strides: Sizes,
        padding: Padding,
    ) -> Payload:
        """`initial` everywhere, plus each element of `source` at the first least element of its window."""
