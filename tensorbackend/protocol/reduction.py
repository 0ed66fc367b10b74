"""Callbacks that combine or order the elements along axes.

`axes` are sorted and non-negative, all of them where the user named none. With `keepdims` the reduced
axes stay with size 1; `out.shape` says so too. What is computed in which dtype: sums and products of
float16 and bfloat16 in at least float32, integers in `out.dtype`, wrapping.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from ..dtypes import DType
from ..template import Template
from ..tensor import Tensor
from .core import callback, optional_callback
from .planned import Payload

TieBreak: TypeAlias = Literal["low", "high"]


class Unique(NamedTuple):
    """The different elements of a tensor in ascending order, as tensors of one axis without names."""

    values: Tensor
    indices: Tensor | None
    """Where each comes first in the tensor laid flat."""
    inverse_indices: Tensor | None
    """Which of them each element is, with the tensor's shape and names."""
    counts: Tensor | None
    """How often each is there."""


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

    @callback
    def reduce(
        self,
        out: Template,
        x: Tensor,
        initial: Tensor,
        /,
        *,
        axes: tuple[int, ...],
        keepdims: bool,
        function: Callable[[Tensor, Tensor], Tensor],
    ) -> Payload:
        """Folds an associative function of two scalar tensors over the elements, starting at `initial`."""

    @callback
    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """A function of a scalar tensor applied to every element."""

    # Order

    @callback
    def sort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Elements in order along `axis`; stable in both directions, NaN last ascending and first
        descending, -0.0 equal to 0.0."""

    @callback
    def argsort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Indices that would sort: the order is `sort`'s, ties keep theirs in both directions."""

    def unique(self, x: Tensor, /, *, places: bool, counts: bool) -> Unique | None:
        """The different elements, how many there are depends on data; `None`, as here, to have them by public ops.

        Each NaN is an element of its own, of 0.0 and -0.0 the first stands for both, complex numbers are ordered by
        their real, then their imaginary parts. The indices are only asked for with `places`, the counts with `counts`.
        """
        return None

    # Composites of Nx that a backend may override

    @optional_callback
    def top_k(self, out: tuple[Template, Template], x: Tensor, /, *, k: int) -> Payload:
        """The k greatest elements along the last axis in descending order, and their indices."""

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

    @optional_callback
    def all_close(
        self, out: Template, x1: Tensor, x2: Tensor, /, *, rtol: float, atol: float, equal_nan: bool
    ) -> Payload:
        """Whether abs(x1 - x2) <= atol + rtol * abs(x2) for every pair; equal infinities are close."""
