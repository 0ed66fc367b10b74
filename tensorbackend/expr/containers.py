"""Nested containers of tensors moved between backends."""

from __future__ import annotations

from typing import Any, TypeVar

from ..declarations.argument_errors import check_arguments
from ..protocol import BackendLike
from ..select import backend_copy as copied
from ..select import backend_deallocate as deallocated
from ..select import backend_transfer as transferred
from ..tensor import Tensor
from .trees import flatten, tree_map

Nested = TypeVar("Nested")


@check_arguments
def backend_copy(x: Nested, backend: BackendLike = None) -> Nested:
    """Copy a tensor, or nested tensors, to another backend. The originals keep their data.

    Parameters
    ----------
    x : a tensor, or lists, tuples, dictionaries and dataclasses of tensors; other values in them are returned unchanged
    backend : a backend, its class or its name, by default the default backend

    Returns
    -------
    Nested
        The copies, with the same nesting.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x = tb.tensor([1.0, 2.0], names=("n",))
    >>> tb.backend_copy({"x": [x]}, "binary")["x"][0]
    f32[n: 2] binary [1.0, 2.0]
    """
    copies: Nested = tree_map(lambda leaf: copied(leaf, backend) if isinstance(leaf, Tensor) else leaf, x)
    return copies


@check_arguments
def backend_transfer(x: Nested, backend: BackendLike = None) -> Nested:
    """Move a tensor, or nested tensors, to another backend. Using the originals raises `DeallocatedError`.

    Moving a tensor to its own backend returns the tensor itself. Memory is shared if both backends support that,
    otherwise the bytes are copied. A tensor that occurs in several places is moved once.

    Parameters
    ----------
    x : a tensor, or lists, tuples, dictionaries and dataclasses of tensors; other values in them are returned unchanged
    backend : a backend, its class or its name, by default the default backend

    Returns
    -------
    Nested
        The tensors on the other backend, with the same nesting.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.backend_transfer((tb.ones(2), 3), "binary")
    (f32[2] binary [1.0, 1.0], 3)
    """
    moved: dict[int, Tensor] = {}

    def transfer(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) not in moved:
            moved[id(leaf)] = transferred(leaf, backend)
        return moved[id(leaf)]

    tensors: Nested = tree_map(transfer, x)
    return tensors


@check_arguments
def backend_deallocate(x: Any) -> None:
    """Release the data of a tensor, or of nested tensors. A second call has no effect.

    Parameters
    ----------
    x : a tensor, or lists, tuples, dictionaries and dataclasses of tensors

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x = tb.ones(2)
    >>> tb.backend_deallocate({"x": x})
    >>> x.deallocated
    True
    """
    for leaf in flatten(x)[0]:
        if isinstance(leaf, Tensor):
            deallocated(leaf)
