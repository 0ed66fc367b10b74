"""A backend of TensorLy that computes by `tensorbackend.numpy`: `tensorly.set_backend("tensorbackend")`.

Copy this file; import it before the backend is set. Where the arrays are is chosen as always, by `tb.default_backend`.
"""

from __future__ import annotations

from typing import Any

import numpy
import tensorly
from tensorly.backend.core import Backend, backend_array, backend_basic_math, backend_types

import tensorbackend as tb
import tensorbackend.numpy as np


class TensorbackendBackend(Backend, backend_name="tensorbackend"):  # type: ignore[misc, call-arg] # TensorLy has no types
    """TensorLy's functions on our arrays."""

    @staticmethod
    def context(tensor: Any) -> dict[str, Any]:
        return {"dtype": tensor.dtype}

    @staticmethod
    def tensor(data: Any, dtype: Any = None, **context: Any) -> Any:
        return np.array(data, dtype=dtype)

    @staticmethod
    def is_tensor(tensor: Any) -> bool:
        return isinstance(tensor, np.ndarray | numpy.generic)

    @staticmethod
    def to_numpy(tensor: Any) -> Any:
        return numpy.array(tensor)

    @staticmethod
    def logsumexp(tensor: Any, axis: Any = 0) -> Any:
        return np.asarray(tb.logsumexp(np.asarray(tensor).tensor, axis=axis))

    @staticmethod
    def digamma(tensor: Any) -> Any:
        return np.asarray(tb.digamma(np.asarray(tensor).tensor))

    @staticmethod
    def clip(tensor: Any, a_min: Any = None, a_max: Any = None) -> Any:
        return np.clip(tensor, a_min, a_max)


_OTHERS = (
    "arange argmax argmin argsort concatenate conj copy diag dot flip kron log2 max mean moveaxis nan ndim shape sign "
    "sort stack sum tensordot trace transpose"
)
for _name in [*backend_types, *backend_basic_math, *backend_array, *_OTHERS.split()]:
    TensorbackendBackend.register_method(_name, getattr(np, _name))
for _name in ("solve", "qr", "svd", "eigh", "lstsq"):
    TensorbackendBackend.register_method(_name, getattr(np.linalg, _name))
tensorly.backend.BackendManager.available_backend_names.append(TensorbackendBackend.backend_name)
