"""Functions that make tensors, and RETURNN's parameters, whose raw tensors are replaced by assignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import returnn.frontend as rf
import tensorbackend as tb
from returnn.frontend._utils import strided_slice_raw_key
from returnn.tensor import Dim, Tensor

from .base import Base, arranged, sizes, unnamed


class Creation(Base):
    """Functions that make tensors."""

    @classmethod
    def convert_to_tensor(
        cls,
        value: Any,
        *,
        dims: Sequence[Dim],
        dtype: str,
        sparse_dim: Dim | None = None,
        feature_dim: Dim | None = None,
        device: str | None = None,
        name: str | None = None,
    ) -> Tensor:
        """Convert one of our tensors, an array or a number to RETURNN's tensor."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, tb.Tensor):
            raw, name = unnamed(value), name or "raw_tensor"
        else:
            # A number is moved to the device of the tensors. RETURNN asks for "cpu", because PyTorch can mix devices
            # here.
            home = cls._home(device if np.ndim(value) else None)
            raw = tb.asarray(np.asarray(value), dtype=cls.as_dtype_raw(dtype), backend=home, copy=True)
        name = name or "const"
        return Tensor(name, dims=dims, dtype=dtype, sparse_dim=sparse_dim, feature_dim=feature_dim, raw_tensor=raw)

    @classmethod
    def full(
        cls,
        dims: Sequence[Dim],
        fill_value: Any,
        *,
        dtype: str,
        device: str | None = None,
        sparse_dim: Dim | None = None,
        feature_dim: Dim | None = None,
        like: Any = None,
    ) -> Tensor:
        """A tensor filled with a value, by default on the device of `like`."""
        device = like.device if like is not None and device is None else device
        value = fill_value.raw_tensor if isinstance(fill_value, Tensor) else fill_value
        if isinstance(value, tb.Tensor):
            raw = tb.broadcast_to(tb.astype(value, cls.as_dtype_raw(dtype)), sizes(dims))
        else:
            value = value.item() if isinstance(value, np.generic | np.ndarray) else value
            home = cls._home(device)
            raw = tb.full(sizes(dims), _of_kind(value, dtype), dtype=cls.as_dtype_raw(dtype), backend=home)
        return Tensor("full", dims=dims, dtype=dtype, sparse_dim=sparse_dim, feature_dim=feature_dim, raw_tensor=raw)

    @classmethod
    def fill_raw(cls, shape: Sequence[int], value: Any) -> tb.Tensor:
        """A tensor filled with a value, in the dtype of the value."""
        if isinstance(value, tb.Tensor):
            return tb.broadcast_to(value, tuple(shape))
        return tb.full(tuple(map(int, shape)), value, backend=cls._home())

    @classmethod
    def range_over_dim(cls, dim: Dim, *, dtype: str | None = None, device: str | None = None) -> Tensor:
        """The indices of the entries of a dim."""
        if not dtype:
            dtype = dim.dyn_size_ext.dtype if dim.dyn_size_ext is not None else rf.get_default_array_index_dtype()
        target_dtype = cls.as_dtype_raw(dtype)
        raw = tb.arange(int(dim.get_dim_value()), dtype=target_dtype, backend=cls._home(device))
        return Tensor("range", [dim], dtype, sparse_dim=dim if target_dtype.is_integer else None, raw_tensor=raw)

    @classmethod
    def copy(cls, tensor: Tensor) -> Tensor:
        """Copy a tensor. An assignment to the tensor or to the copy does not change the other."""
        out = tensor.copy_template()
        out.raw_tensor = tensor.raw_tensor.__copy__()
        return out

    # Parameters

    @classmethod
    def create_parameter_raw(cls, tensor: rf.Parameter, *, device: str | None = None) -> tb.Tensor:
        """The data of a new parameter: zeros."""
        return tb.zeros(sizes(tensor.dims), dtype=cls.as_dtype_raw(tensor.dtype), backend=cls._home(device))

    @classmethod
    def set_parameter_initial_value(cls, param: rf.Parameter, value: Any) -> None:
        """Set the value of a parameter; `None` means zeros."""
        cls._assign(param, 0 if value is None else value)

    @classmethod
    def set_parameter_trainable(cls, param: rf.Parameter, trainable: bool) -> None:
        """Does nothing: the parameter itself stores whether it is trained, and gradients are computed on request."""

    @classmethod
    def parameter_assign(cls, param: rf.Parameter, value: Tensor, *, op: str = "assign") -> None:
        """Replace the value of a parameter, or add to it. No gradient flows through the assignment."""
        update = arranged(value, param.dims)
        cls._assign(param, update if _is_assign(op) else param.raw_tensor.detach() + update)

    @classmethod
    def parameter_assign_key(
        cls,
        param: rf.Parameter,
        key: Any,
        value: Tensor,
        *,
        op: str = "assign",
        axis: Dim | Sequence[Dim] | None = None,
        key_dim: Dim | Sequence[Dim] | None = None,
    ) -> None:
        """Replace the elements of a parameter at a key, or add to them."""
        where, dims = strided_slice_raw_key(param, axis, key, key_dim)
        # RETURNN's None means a whole axis; as an index of a tensor it would insert a new axis.
        keys = tuple(
            slice(None) if index is None else index for index in (where if isinstance(where, tuple) else (where,))
        )
        held = param.raw_tensor.detach()
        update = tb.astype(arranged(value, dims), held.dtype)
        cls._assign(param, tb.put_at(held, keys, update if _is_assign(op) else tb.getitem(held, keys) + update))

    @classmethod
    def parameter_move_to(cls, param: rf.Parameter, *, device: str | None = None, dtype: str | None = None) -> None:
        """Move a parameter to a device and cast it to a dtype."""
        raw = param.raw_tensor
        if dtype:
            param.dtype = dtype
            raw = tb.astype(raw, cls.as_dtype_raw(dtype))
        param.raw_tensor = raw.to_device(cls._home(device).device) if device else raw

    @classmethod
    def _assign(cls, param: rf.Parameter, value: Any) -> None:
        dtype = cls.as_dtype_raw(param.dtype)
        if isinstance(value, Tensor):
            value = arranged(value, param.dims)
        if not isinstance(value, tb.Tensor):
            value = tb.asarray(np.asarray(value), dtype=dtype, backend=param.raw_tensor.backend.beneath, copy=True)
        param.raw_tensor = tb.broadcast_to(tb.astype(value.detach(), dtype), sizes(param.dims))


def _is_assign(op: str) -> bool:
    if op not in ("assign", "add"):
        raise ValueError(f"expected op 'assign' or 'add', got {op!r}")
    return op == "assign"


def _of_kind(value: Any, dtype: str) -> Any:
    """Convert a number to the kind of a dtype, truncating as PyTorch does."""
    if dtype == "bool":
        return bool(value)
    if "int" in dtype:
        return int(value)
    return value if dtype.startswith("complex") or isinstance(value, complex) else float(value)
