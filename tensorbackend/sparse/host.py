"""Reading tensors on the host, to check, count and sort the places of a matrix before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy

from ..ops.creation.values import asarray
from ..tensor import Tensor

Array = Any  # NumPy's arrays, of any dtype


def to_host_arrays(*tensors: Tensor) -> list[Array] | None:
    """Tensors as NumPy arrays, or `None` if the data of one cannot be read: a template, or a value of a trace."""
    try:
        return [numpy.asarray(x) for x in tensors]
    except TypeError:  # ours, or JAX's for an array that `jax.jit` traces
        return None


def index_tensor(places: Array, like: Tensor) -> Tensor:
    """Places as a tensor on the backend of `like`."""
    return asarray(places, backend=like.backend)
