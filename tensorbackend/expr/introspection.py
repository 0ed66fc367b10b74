"""Properties of values of any kind: the backend that they belong to, and whether they have data."""

from __future__ import annotations

from typing import Any

from ..declarations.argument_errors import check_arguments
from ..dtypes import scalar_kind
from ..errors import BackendError, OperandError, expected
from ..interchange import is_plain_array
from ..protocol import Backend
from ..select import claimant, common_backend, get_backend, owner
from ..select.choice import HOST_LIBRARY, holder
from ..tensor import Tensor
from .trees import flatten, paths


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
    >>> import tensorbackend as tb
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
