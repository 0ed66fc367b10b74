"""Callbacks that make tensors from numbers alone; those that make them from data are in `Core`."""

from __future__ import annotations

from ..dtypes import Scalar
from ..template import Template
from .callbacks import callback
from .planned import Payload


class Creation:
    """New tensors: ranges, constants, diagonals, indices."""

    @callback(cost="move")
    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Payload:
        """Element i is `start + i * step`, but the last one is `last` unless that is `None`.

        `start`, `step` and `last` are all ints, all floats or all complex numbers. Ints are for an integer dtype and
        are exact. Others are computed with 64 bits for each part, where product and sum are each rounded, and are then
        cast to the dtype as by `as_type`.
        """

    @callback(cost="move")
    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """Every element is `value`, which the dtype can hold."""

    @callback(cost="move")
    def eye(self, out: Template, /, *, offset: int) -> Payload:
        """Ones where column minus row is `offset` in the last two axes, zeros elsewhere."""

    @callback(cost="move")
    def iota(self, out: Template, /, *, axis: int | None) -> Payload:
        """Each element is its index along `axis`, or its position in row-major order if `axis` is `None`."""
