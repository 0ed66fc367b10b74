"""Functions of scalar tensors as backends call them."""

from __future__ import annotations

from collections.abc import Callable

from ..protocol import Backend
from ..select import move
from ..tensor import Tensor


def calling(backend: Backend, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function whose result is on a backend, wherever what the function holds on to may have brought it."""

    def call(*tensors: Tensor) -> Tensor:
        return move(function(*tensors), backend)

    return call
