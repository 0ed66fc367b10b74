"""Functions of scalar tensors as backends call them."""

from __future__ import annotations

from collections.abc import Callable

from ..protocol import Backend
from ..select import move
from ..tensor import Tensor


def calling(backend: Backend, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function whose result is moved to a backend, since tensors it closes over may be on another.

    Parameters
    ----------
    backend : Backend
        Where the result is to be.
    function : Callable
        A function of tensors that returns one.

    Returns
    -------
    Callable
        The function, which moves its result there.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.extending import calling
    >>> calling(tb.get_backend("binary"), lambda x: tb.ones(2))(tb.ones(1)).backend.name
    'binary'
    """

    def call(*tensors: Tensor) -> Tensor:
        return move(function(*tensors), backend)

    return call
