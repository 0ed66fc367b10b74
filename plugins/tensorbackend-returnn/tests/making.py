"""Tensors of one backend for a case, with new dims, because RETURNN's dims cache data of the first backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import returnn.frontend as rf
import tensorbackend as tb
import torch
from returnn.tensor import Dim, Tensor
from returnn.torch.frontend import TorchBackend

from tensorbackend_returnn import TensorBackend

LENGTHS = np.array([3, 2], np.int32)


class Making:
    """Makes the tensors of a case. `backend` is the class, derived from RETURNN's `Backend`, that is called."""

    def __init__(self, over: str | None) -> None:
        self.over = over
        """The name of our backend, or `None` for PyTorch."""
        self.backend = TorchBackend if over is None else TensorBackend
        self.batch, self.feature = Dim(2, name="batch"), Dim(4, name="feature")
        self.other, self.pair, self.k = Dim(5, name="other"), Dim(2, name="pair"), Dim(2, name="k")
        self.time = Dim(self(LENGTHS, self.batch, sparse=None), name="time")

    def raw(self, value: Any) -> Any:
        """Convert an array to a raw tensor of the backend."""
        array = np.asarray(value)
        if self.over is None:
            return torch.from_numpy(np.array(array))
        return tb.asarray(array, backend=self.over, copy=True)

    def __call__(self, value: Any, *dims: Dim, sparse: Dim | None = None, feature: Dim | None = None) -> Tensor:
        """Convert an array to RETURNN's tensor, with a dim for each axis."""
        array = np.asarray(value)
        return Tensor(
            "x", dims=dims, dtype=array.dtype.name, sparse_dim=sparse, feature_dim=feature, raw_tensor=self.raw(array)
        )

    def x(self, sign: float = 1.0) -> Tensor:
        """A float tensor with the dims (batch, time, feature)."""
        return self(sign * X, self.batch, self.time, self.feature, feature=self.feature)

    def parameter(self, value: float = 0.5) -> Any:
        """A parameter with the dims (feature, other)."""
        parameter = rf.Parameter([self.feature, self.other], dtype="float32")
        parameter.initial = value
        return parameter


X = np.sin(np.arange(24, dtype=np.float32) * 1.7).reshape(2, 3, 4) * 2
W = np.cos(np.arange(20, dtype=np.float32)).reshape(4, 5)
I = np.array([[2, 0, 1], [1, 1, 0]], np.int32)  # noqa: E741 # integers
B = np.array([[True, False, True], [True, True, False]])
