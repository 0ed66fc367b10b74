"""Copies a tensor to another backend, moves it there, or releases its data."""

from __future__ import annotations

from ..caching.locks import module_lock
from ..protocol import BackendLike
from ..tensor import Deallocated, Tensor, bind
from .choice import check_dtype_support
from .default import get_backend

# Held while a tensor is checked and then given up.
_lock = module_lock(__name__)


@bind
def backend_copy(x: Tensor, backend: BackendLike = None) -> Tensor:
    """Copy a tensor, including its names, to another backend; the tensor keeps its data.

    >>> import tensorbackend as tb
    >>> x = tb.tensor([1.0, 2.0], names=("n",))
    >>> x.backend_copy("binary")
    f32[n: 2] binary [1.0, 2.0]
    """
    target = get_backend(backend)
    check_dtype_support(x.dtype, target)
    return Tensor(x.template, target, x.backend.backend_copy(x, target))


@bind
def backend_transfer(x: Tensor, backend: BackendLike = None) -> Tensor:
    """Move a tensor to another backend: the source is deallocated, and using it raises `DeallocatedError`.

    Moving to its own backend returns the tensor itself. Memory is shared if both backends support that,
    otherwise the bytes are copied.
    """
    target = get_backend(backend)
    if target is x.backend:
        return x
    check_dtype_support(x.dtype, target)
    moved = Tensor(x.template, target, x.backend.backend_transfer(x, target))
    backend_deallocate(x)
    return moved


@bind
def backend_deallocate(x: Tensor) -> None:
    """Release a tensor's data; a second call has no effect."""
    with _lock:
        if x.deallocated:
            return
        x.backend.backend_deallocate(x)
        x.__class__ = Deallocated
    _delete_data(x)


def release(x: Tensor) -> None:
    """Takes the payload out of a tensor, which is deallocated from now on, for a kernel that may use its memory."""
    with _lock:
        x.__class__ = Deallocated
    _delete_data(x)


def _delete_data(x: Tensor) -> None:
    # By the slot of `Tensor`: the attribute of a `Deallocated` tensor raises, from now on in other threads too.
    vars(Tensor)["data"].__delete__(x)
