"""Callbacks that order the elements along an axis."""

from __future__ import annotations

from typing import NamedTuple

from ..template import Template
from ..tensor import Tensor
from .callbacks import callback, optional_callback
from .planned import Payload


class Unique(NamedTuple):
    """The unique elements of a tensor in ascending order, as tensors of one axis without names."""

    values: Tensor
    indices: Tensor | None
    """The first position of each value in the flattened tensor."""
    inverse_indices: Tensor | None
    """For each element of the tensor its index in `values`, with the tensor's shape and names."""
    counts: Tensor | None
    """How often each value occurs."""


class Sorting:
    """Sorting, and ops that follow from it."""

    @callback
    def sort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Elements in order along `axis`. Stable in both directions; NaN comes last in ascending and first in
        descending order; -0.0 is equal to 0.0."""

    @callback
    def argsort(self, out: Template, x: Tensor, /, *, axis: int, descending: bool) -> Payload:
        """Indices that would sort in the order of `sort`; equal elements keep their order in both directions."""

    def unique(self, x: Tensor, /, *, places: bool, counts: bool) -> Unique | None:
        """The unique elements, whose number depends on data; with `None`, as here, public ops find them.

        Each NaN is a different element. 0.0 and -0.0 are equal, and the first of them is kept. Complex numbers are
        ordered by their real, then their imaginary parts. Indices are needed only with `places`, counts only with
        `counts`.
        """
        return None

    @optional_callback
    def top_k(self, out: tuple[Template, Template], x: Tensor, /, *, k: int) -> Payload:
        """The `k` largest elements along the last axis in descending order, and their indices."""
