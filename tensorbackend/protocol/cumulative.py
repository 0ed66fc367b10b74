"""Callbacks that accumulate along an axis."""

from __future__ import annotations

from ..dtypes import DType
from ..template import Template
from ..tensor import Tensor
from .core import optional_callback
from .planned import Payload


class Cumulative:
    """Accumulations: composites of Nx that a backend may override."""

    @optional_callback
    def cumulative_sum(
        self, out: Template, x: Tensor, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Payload:
        """Sums in `out.dtype` of the elements up to each, itself included, from the end if `reverse`; before the
        first (after the last) one more, 0, with `include_initial`."""

    @optional_callback
    def cumulative_product(
        self, out: Template, x: Tensor, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Payload:
        """Products in `out.dtype` of the elements up to each, itself included, from the end if `reverse`; before
        the first (after the last) one more, 1, with `include_initial`."""

    @optional_callback
    def cumulative_max(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        """Greatest element up to each, itself included, from the end if `reverse`."""

    @optional_callback
    def cumulative_min(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        """Least element up to each, itself included, from the end if `reverse`."""
