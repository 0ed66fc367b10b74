"""Callbacks that draw random numbers from a key. All are composites: every backend draws the same bits."""

from __future__ import annotations

from collections.abc import Sequence

from ..dtypes import DType
from ..template import Shape, Template
from ..tensor import Tensor
from .callbacks import optional_callback
from .planned import Payload


class Random:
    """Draws from the counter-based generator Threefry-2x32 (Salmon et al., 2011).

    A key is uint32 of shape (2,). `shape`, `dtype` and `names` are those of `out`.
    """

    @optional_callback
    def threefry2x32(self, out: tuple[Template, Template], key: Tensor, high: Tensor, low: Tensor, /) -> Payload:
        """Two random words for each counter, made with a key from the counter's two words, `high` and `low`, which
        broadcast."""

    @optional_callback
    def random_uniform(
        self,
        out: Template,
        key: Tensor,
        low: Tensor,
        high: Tensor,
        /,
        *,
        shape: Shape,
        dtype: DType,
        names: Sequence[str | None] | None,
    ) -> Payload:
        """Uniform numbers from `low` up to but excluding `high`; both broadcast and have the dtype of `out`."""

    @optional_callback
    def random_normal(
        self,
        out: Template,
        key: Tensor,
        mean: Tensor,
        deviation: Tensor,
        /,
        *,
        shape: Shape,
        dtype: DType,
        names: Sequence[str | None] | None,
    ) -> Payload:
        """Normal numbers with a mean and a standard deviation; both broadcast and have the dtype of `out`."""
