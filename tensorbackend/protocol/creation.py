"""Callbacks that make tensors of numbers alone, beside those of `Core`."""

from __future__ import annotations

from ..dtypes import Scalar
from ..template import Template
from .core import callback
from .planned import Payload


class Creation:
    """Numbers along one axis."""

    @callback(cost="move")
    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Payload:
        """Element i is `start + i * step`, but the last one is `last` unless that is `None`.

        The three are ints, floats or complex numbers alike. Ints are for an integer dtype and exact; others are
        computed in 64 bits a part, product and sum rounded each, and brought into the dtype as `as_type` does.
        """

    @callback(cost="move")
    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """Every element is `value`, which fits the dtype."""

    @callback(cost="move")
    def eye(self, out: Template, /, *, offset: int) -> Payload:
        """Ones where column minus row is `offset` in the last two axes, zeros elsewhere."""

    @callback(cost="move")
    def iota(self, out: Template, /, *, axis: int | None) -> Payload:
        """Each element is its index along `axis`, in the whole row-major order for `None`."""
