"""Callbacks that combine or order the elements along axes.

`axes` are sorted and non-negative, all of them where the user named none. With `keepdims` the reduced
axes stay with size 1; `out.shape` says so too. Sums and products of
float16 and bfloat16 are computed in at least float32, those of integers in `out.dtype`, wrapping.
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
        """Whether every element is true (not zero; NaN is true). True if there are no elements."""

    @callback
    def any(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Whether any element is true (not zero; NaN is true). False if there are no elements."""

    @callback
    def sum(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Sum in `out.dtype`, which may be wider than the input's; of none, 0."""

    @callback
    def product(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Product in `out.dtype`, which may be wider than the input's; of none, 1."""

    @callback
    def reduce_max(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Greatest element; NaN if any element is NaN. The axes are not empty."""

    @callback
    def reduce_min(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Least element; NaN if any element is NaN. The axes are not empty."""

    @callback
    def argmax(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        """Index of the greatest element along `axis`, of all in row-major order for `None`; NaN wins.
        Of several NaN and of equal ones the first ("low") or the last ("high")."""

    @callback
    def argmin(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        """Index of the least element along `axis`, of all in row-major order for `None`; NaN wins.
        Of several NaN and of equal ones the first ("low") or the last ("high")."""

    # Composites of Nx that a backend may override

    @optional_callback
    def all_close(
        self, out: Template, x1: Tensor, x2: Tensor, /, *, rtol: float, atol: float, equal_nan: bool
    ) -> Payload:
        """Whether abs(x1 - x2) <= atol + rtol * abs(x2) for every pair; equal infinities are close."""

    # Connectionist temporal classification, of which a backend overrides both callbacks or neither

    @optional_callback
    def ctc_forward(
        self,
        out: tuple[Template, Template],
        scores: Tensor,
        labels: Tensor,
        frames: Tensor,
        counts: Tensor,
        /,
        *,
        blank: int,
    ) -> Payload:
        """Minus the logarithm of the probability that frames spell labels, and what `ctc_posteriors` gets of it.

        `scores` (batch, time, classes) are logarithms of probabilities, float32 or float64, of which the first
        `frames` of each example count; `labels` (batch, positions), int64, of which the first `counts` do. What stands
        beyond may be anything. The first result is (batch,), infinite where no path spells the labels. The content of
        the second, (time, batch, 2 * positions + 1), is the backend's own affair. `IndexRangeError` for a label that is
        no class (`data_errors.index_out_of_range`).
        """

    @optional_callback
    def ctc_posteriors(
        self,
        out: Template,
        scores: Tensor,
        labels: Tensor,
        frames: Tensor,
        counts: Tensor,
        losses: Tensor,
        forward: Tensor,
        /,
        *,
        blank: int,
    ) -> Payload:
        """The probability of each class in each frame, given the labels; 0 beyond them, and where the loss is inf.

        `losses` and `forward` are the results of `ctc_forward`.
        """
