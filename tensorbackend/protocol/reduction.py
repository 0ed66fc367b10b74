"""Callbacks that combine or order the elements along axes.

`axes` are sorted and non-negative, all of them where the user named none. With `keepdims` the reduced
axes stay with size 1; `out.shape` says so too. What is computed in which dtype: sums and products of
float16 and bfloat16 in at least float32, integers in `out.dtype`, wrapping.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..template import Template
from ..tensor import Tensor
from .core import callback, optional_callback
from .planned import Payload

TieBreak: TypeAlias = Literal["low", "high"]


class Reduction:
    """Reductions, accumulations and orderings."""

    @callback
    def all(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Whether every element is true (not zero; NaN is true); of none, True."""

    @callback
    def any(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Whether some element is true (not zero; NaN is true); of none, False."""

    @callback
    def sum(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Sum in `out.dtype`, which may be wider than the input's; of none, 0."""

    @callback
    def product(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Product in `out.dtype`, which may be wider than the input's; of none, 1."""

    @callback
    def reduce_max(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Greatest element, NaN if there is one. The axes are not empty."""

    @callback
    def reduce_min(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Least element, NaN if there is one. The axes are not empty."""

    @callback
    def argmax(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        """Index of the greatest element along `axis`, of all in row-major order for `None`; NaN wins.
        Of several NaN and of equal ones the first ("low") or the last ("high")."""

    @callback
    def argmin(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        """Index of the least element along `axis`, of all in row-major order for `None`; NaN wins.
        Of several NaN and of equal ones the first ("low") or the last ("high")."""

    # Order

    # Composites of Nx that a backend may override

    @optional_callback
    def all_close(
        self, out: Template, x1: Tensor, x2: Tensor, /, *, rtol: float, atol: float, equal_nan: bool
    ) -> Payload:
        """Whether abs(x1 - x2) <= atol + rtol * abs(x2) for every pair; equal infinities are close."""
