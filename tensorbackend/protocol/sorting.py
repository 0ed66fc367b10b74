"""Callbacks that order the elements along an axis."""

from __future__ import annotations

from typing import NamedTuple

from ..template import Template
from ..tensor import Tensor
from .core import callback, optional_callback
from .planned import Payload


class Unique(NamedTuple):
    """The different elements of a tensor in ascending order, as tensors of one axis without names."""

    values: Tensor
    indices: Tensor | None
    """Where each comes first in the tensor laid flat."""
    inverse_indices: Tensor | None
    """The index among them of each element, with the tensor's shape and names."""
    counts: Tensor | None
    """How often each is there."""


class Sorting:
    """Sorting, and ops that follow from it."""

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

    @optional_callback
    def top_k(self, out: tuple[Template, Template], x: Tensor, /, *, k: int) -> Payload:
        """The k greatest elements along the last axis in descending order, and their indices."""
