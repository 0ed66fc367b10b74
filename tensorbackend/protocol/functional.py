"""Callbacks that call a user's function for each element."""

from __future__ import annotations

from collections.abc import Callable

from ..template import Template
from ..tensor import Tensor
from .callbacks import callback
from .planned import Payload


class Functional:
    """Functions of scalar tensors."""

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

    @callback(reach="each")
    def map(self, out: Template, x: Tensor, /, *, function: Callable[[Tensor], Tensor]) -> Payload:
        """Applies a function of a scalar tensor to every element."""
