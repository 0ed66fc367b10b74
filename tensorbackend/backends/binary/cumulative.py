"""Accumulations along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import add, mul
from typing import Any

from ...dtypes import DType
from ...protocol import Backend, Payload
from ...template import Template
from ...tensor import Tensor
from . import complex_scalars
from .scalars import maximum, minimum
from .sorting import apply_along
from .storage import cast, elements, store


class BinaryCumulative(Backend):
    """Callbacks that accumulate along an axis."""

    def _running(
        self, combine: Callable[[Any, Any], Any], out: Template, x: Tensor, axis: int, reverse: bool,
        initial: int | None = None,
    ) -> Payload:  # fmt: skip
        """The running results along an axis, computed in float64 or exact integers, each rounded once."""

        def accumulate_run(run: Sequence[Any]) -> list[Any]:
            first = [initial] if out.shape[axis] > x.shape[axis] else []
            running = [*first, *accumulate(run[::-1] if reverse else run, combine)]
            return running[::-1] if reverse else running

        return store(apply_along(elements(x), x.shape, axis, accumulate_run), out.dtype)

    def cumulative_sum(
        self, out: Template, x: Tensor, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Payload:
        return self._running(add, out, cast(x, out.dtype), axis, reverse, 0)

    def cumulative_product(
        self, out: Template, x: Tensor, /, *, axis: int, dtype: DType | None, include_initial: bool, reverse: bool
    ) -> Payload:
        return self._running(
            complex_scalars.multiply_two if out.dtype.is_complex else mul,
            out, cast(x, out.dtype), axis, reverse, 1,
        )  # fmt: skip

    def cumulative_max(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        return self._running(maximum if x.dtype.is_floating else max, out, x, axis, reverse)

    def cumulative_min(self, out: Template, x: Tensor, /, *, axis: int, reverse: bool) -> Payload:
        return self._running(minimum if x.dtype.is_floating else min, out, x, axis, reverse)
