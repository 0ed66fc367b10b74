"""Nested containers of values: moved between backends, which backend they belong to, and whether they have data."""

from __future__ import annotations

from typing import Any, TypeVar

from ..declarations.argument_errors import check_arguments
from ..dtypes import scalar_kind
from ..errors import BackendError, OperandError, expected
from ..interchange import is_plain_array
from ..protocol import Backend, BackendLike
from ..select import backend_copy as copied
from ..select import backend_deallocate as deallocated
from ..select import backend_transfer as transferred
from ..select import claimant, common_backend, get_backend, owner
from ..select.choice import HOST_LIBRARY, holder
from ..tensor import Tensor
from .trees import flatten, paths, tree_map

Nested = TypeVar("Nested")


@check_arguments
def backend_copy(x: Nested, backend: BackendLike = None) -> Nested:
    """Copy a tensor, or nested tensors, to another backend. The originals keep their data.

    Parameters
    ----------
    x : nested tensors
        A tensor, or lists, tuples, dictionaries and dataclasses of tensors. Other values in them are unchanged.
    backend : Backend or str, optional
        The backend, its class or its name; by default the default backend.

    Returns
    -------
    Nested
        The copies, with the same nesting.

    Raises
    ------
    DeallocatedError
        For a tensor whose data was released.
    BackendError
        For the name of a backend that is not known.

    Examples
    --------
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
    x, backend
        As for `backend_copy`.

    Returns
    -------
    Nested
        The tensors on the other backend, with the same nesting.

    Raises
    ------
    DeallocatedError, BackendError
        As for `backend_copy`.

    Examples
    --------
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
    x : nested tensors
        A tensor, or lists, tuples, dictionaries and dataclasses of tensors.

    Examples
    --------
    >>> x = tb.ones(2)
    >>> tb.backend_deallocate({"x": x})
    >>> x.deallocated
    True
    """
    for leaf in flatten(x)[0]:
        if isinstance(leaf, Tensor):
            deallocated(leaf)


@check_arguments
def backend_of(*values: Any) -> Backend:
    """Return the backend that values of any library belong to.

    Parameters
    ----------
    *values
        Tensors, arrays of any library, Python numbers, and lists, tuples, dictionaries and dataclasses of these.

    Returns
    -------
    Backend
        If there are tensors, the backend on which an op of them runs, as arrays follow the tensors next to them. For
        arrays alone, the backend of their library, on their device; NumPy arrays yield to others. The default
        backend if there are neither, and for arrays of a library for which there is no backend.

    Raises
    ------
    BackendError
        For tensors of two backends with equal priority, and for arrays of two libraries other than NumPy.
    OperandError
        For anything but a tensor, an array, a number or `None`.

    Examples
    --------
    >>> import numpy
    >>> import tensorbackend as tb
    >>> tb.backend_of(numpy.ones(2), 1.0), tb.backend_of({"x": tb.ones(2, backend="binary")}, [numpy.ones(2)])
    (NumpyBackend(), BinaryBackend())

    See Also
    --------
    asarray : Makes a tensor from an array, by default on the backend of its library.
    """
    leaves, tree = flatten(values)
    tensors, arrays = [], []
    for leaf, path in zip(leaves, paths(tree, "values"), strict=True):
        if isinstance(leaf, Tensor):
            tensors.append(leaf)
        elif is_plain_array(leaf) or claimant(leaf) is not None or owner(leaf) is not None:
            arrays.append(leaf)
        elif leaf is not None and scalar_kind(leaf) is None and not hasattr(leaf, "__array__"):
            raise OperandError(expected("tensors, arrays and numbers", value=leaf, at=path))
    if tensors:
        return common_backend(tensors)
    return _backend_of_arrays(arrays)


def _backend_of_arrays(arrays: list[Any]) -> Backend:
    """The backend of raw arrays."""
    chosen: Backend | None = None
    for array in arrays:
        kind = owner(array)
        backend = claimant(array) or (None if kind is None else holder(array, kind))
        if backend is None or backend is chosen or (chosen is not None and backend.name == HOST_LIBRARY):
            continue
        if chosen is not None and chosen.name != HOST_LIBRARY:
            remedy = "convert them with asarray(), on one backend"
            raise BackendError(expected("arrays of one backend", remedy, left=chosen, right=backend))
        chosen = backend
    return get_backend() if chosen is None else chosen


@check_arguments
def is_concrete(*values: Any) -> bool:
    """Return whether all values have data: none is a template or depends on an argument of a trace.

    Parameters
    ----------
    *values
        Tensors, arrays of any library, and lists, tuples, dictionaries and dataclasses of these. Numbers and any other
        objects have data.

    Returns
    -------
    bool
        False for template tensors, for values that a traced function computes from its arguments (under `jit`, `grad`
        and `vmap`), and for values that JAX traces. A tensor on a tape has its data.

    Examples
    --------
    >>> tb.is_concrete(tb.ones(2), 1.0), tb.is_concrete([tb.template((2,), "f32")])
    (True, False)
    >>> seen = []
    >>> y = tb.jit(lambda x: seen.append(tb.is_concrete(x)) or x)(tb.ones(2))
    >>> seen
    [False]
    """
    for leaf in flatten(values)[0]:
        if isinstance(leaf, Tensor):
            if not leaf.backend.is_concrete(leaf):
                return False
        elif claimant(leaf) is not None:
            return False
    return True
