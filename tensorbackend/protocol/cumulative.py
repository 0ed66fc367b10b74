"""Callbacks that accumulate along an axis."""

from __future__ import annotations

from ..dtypes import DType
from ..template import Template
from ..tensor import Tensor
from .callbacks import optional_callback
from .planned import Payload


class Cumulative:
    """Accumulations: composites of Nx that a backend may override."""

    @optional_callback
    def cumulative_sum(
        self, out: Template, x: Tensor, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Payload:
        """Sums in `out.dtype` of the elements up to and including each one, from the end if `reverse`.

        With `include_initial` one more entry, 0, comes before the first, or with `reverse` after the last.
        """

    @optional_callback
    def cumulative_product(
        self, out: Template, x: Tensor, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Payload:
        """Products in `out.dtype` of the elements up to and including each one, from the end if `reverse`.

        With `include_initial` one more entry, 1, comes before the first, or with `reverse` after the last.
        """

    @optional_callback
    def cumulative_max(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        """Maximum of the elements up to and including each one, from the end if `reverse`."""

    @optional_callback
    def cumulative_min(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        """Minimum of the elements up to and including each one, from the end if `reverse`."""
