"""Callbacks that combine or order the elements along axes.

`axes` are sorted and non-negative; if the user passed none, they are all axes. With `keepdims` the reduced axes are
kept with size 1, as in `out.shape`. Sums and products of float16 and bfloat16 are computed in at least float32; those
of integers are computed in `out.dtype` and wrap.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..template import Template
from ..tensor import Tensor
from .callbacks import callback, optional_callback
from .planned import Payload

TieBreak: TypeAlias = Literal["low", "high"]


class Reduction:
    """Reductions, accumulations and orderings."""

    @callback
    def all(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Whether all elements are true (not zero; NaN is true). True if there are no elements."""

    @callback
    def any(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Whether any element is true (not zero; NaN is true). False if there are no elements."""

    @callback
    def sum(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Sum in `out.dtype`, which may be wider than the input's; 0 if there are no elements."""

    @callback
    def product(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Product in `out.dtype`, which may be wider than the input's; 1 if there are no elements."""

    @callback
    def reduce_max(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Maximum; NaN if any element is NaN. The reduced axes are not of size 0."""

    @callback
    def reduce_min(self, out: Template, x: Tensor, /, *, axes: tuple[int, ...], keepdims: bool) -> Payload:
        """Minimum; NaN if any element is NaN. The reduced axes are not of size 0."""

    @callback
    def argmax(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        """Index of the maximum along `axis`, or in the flattened tensor if it is `None`; NaN comes first.

        `tie_break` says whether the first ("low") or the last ("high") of equal elements, or of several NaN, is taken.
        """

    @callback
    def argmin(self, out: Template, x: Tensor, /, *, axis: int | None, keepdims: bool, tie_break: TieBreak) -> Payload:
        """Index of the minimum along `axis`, or in the flattened tensor if it is `None`; NaN comes first.

        `tie_break` says whether the first ("low") or the last ("high") of equal elements, or of several NaN, is taken.
        """

    # Composites of Nx that a backend may override

    @optional_callback
    def all_close(
        self, out: Template, x1: Tensor, x2: Tensor, /, *, rtol: float, atol: float, equal_nan: bool
    ) -> Payload:
        """Whether abs(x1 - x2) <= atol + rtol * abs(x2) for every pair; equal infinities are close."""

    # Connectionist temporal classification: a backend overrides both callbacks or neither

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
        """The negative logarithm of the probability that frames emit labels, and a tensor for `ctc_posteriors`.

        `scores` (batch, time, classes) are logarithms of probabilities, float32 or float64; only the first `frames`
        frames of each example are valid. `labels` (batch, positions) are int64; only the first `counts` labels of each
        example are valid. The other entries are arbitrary. The first result is of shape (batch,), and infinite if no
        path emits the labels. The second is of shape (time, batch, 2 * positions + 1); its content is backend-specific.
        Raises `IndexRangeError` for a label that is not a class (`data_errors.index_out_of_range`).
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
        """The probability of each class in each frame, given the labels.

        It is 0 after the first `frames` frames of an example, and if the loss is infinite.

        `losses` and `forward` are the results of `ctc_forward`.
        """
