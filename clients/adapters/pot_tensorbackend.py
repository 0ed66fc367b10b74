"""A backend of POT that computes by `tensorbackend.numpy`: POT's own NumPy backend, with `np` replaced.

Copy this file and import it: POT then chooses this backend for our arrays by itself. Where they are is chosen as
always, by `tb.default_backend`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy
import ot.backend
from ot.backend import NumpyBackend

import tensorbackend as tb
import tensorbackend.numpy as np


class TensorbackendBackend(NumpyBackend):  # type: ignore[misc] # POT has no types
    """POT's functions on our arrays."""

    __name__ = "tensorbackend"
    __type__ = np.ndarray
    __type_list__ = tuple([np.array(1, dtype=dtype) for dtype in (np.float32, np.float64)])
    rng_ = np.random.RandomState()


def _by_ours(method: FunctionType) -> FunctionType:
    """A method of POT's NumPy backend that finds our functions under `np`."""
    names = {**vars(ot.backend), "np": np}
    ours = FunctionType(method.__code__, names, method.__name__, method.__defaults__, method.__closure__)
    ours.__kwdefaults__ = method.__kwdefaults__
    return ours


for _name, _method in vars(NumpyBackend).items():
    if isinstance(_method, FunctionType):
        setattr(TensorbackendBackend, _name, _by_ours(_method))


def _to_numpy(self: Any, a: Any) -> Any:
    return numpy.asarray(a)


def _from_numpy(self: Any, a: Any, type_as: Any = None) -> Any:
    return a if isinstance(a, float) else np.asarray(a, dtype=None if type_as is None else type_as.dtype)


def _logsumexp(self: Any, a: Any, axis: Any = None) -> Any:
    return np.asarray(tb.logsumexp(np.asarray(a).tensor, axis=axis))


def _inv(self: Any, a: Any) -> Any:
    return np.linalg.inv(a)


TensorbackendBackend.inv = _inv
TensorbackendBackend._to_numpy = _to_numpy
TensorbackendBackend._from_numpy = _from_numpy
TensorbackendBackend.logsumexp = _logsumexp
ot.backend._register_backend_implementation(TensorbackendBackend)
