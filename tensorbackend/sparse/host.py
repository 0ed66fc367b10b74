"""The structure of a matrix on the host: checks, counts and orders before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy

from ..tensor import Tensor

Array = Any  # NumPy's arrays, of any dtype


def on_host(*tensors: Tensor) -> list[Array] | None:
    """Tensors as NumPy arrays, `None` where the data of one cannot be read: of templates and of values of a trace."""
    try:
        return [numpy.asarray(x) for x in tensors]
    except TypeError:  # ours, or JAX's for an array that `jax.jit` traces
        return None
