"""Functions of scalar tensors, made ready for backends to call."""

from __future__ import annotations

from collections.abc import Callable

from ..protocol import Backend
from ..select import move
from ..tensor import Tensor


def calling(backend: Backend, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function whose result is moved to a backend, since tensors that it closes over may be on another.

    Parameters
    ----------
    backend : Backend
        The backend to which the result is moved.
    function : Callable
        A function of tensors that returns a tensor.

    Returns
    -------
    Callable
        The function, with its result moved to the backend.

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
