"""Functions that make tensors, and RETURNN's parameters: tensors that assignment replaces."""

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
        """RETURNN's tensor of one of ours, an array or a number."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, tb.Tensor):
            raw, name = unnamed(value), name or "raw_tensor"
        else:
            # A number stands where the tensors are: RETURNN asks for "cpu", as PyTorch can mix these.
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
        """One value everywhere, on the device of the layout `like` unless another is given."""
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
        """One value everywhere, in its own dtype."""
        if isinstance(value, tb.Tensor):
            return tb.broadcast_to(value, tuple(shape))
        return tb.full(tuple(map(int, shape)), value, backend=cls._home())

    @classmethod
    def range_over_dim(cls, dim: Dim, *, dtype: str | None = None, device: str | None = None) -> Tensor:
        """The index of each entry of a dim."""
        if not dtype:
            dtype = dim.dyn_size_ext.dtype if dim.dyn_size_ext is not None else rf.get_default_array_index_dtype()
        target_dtype = cls.as_dtype_raw(dtype)
        raw = tb.arange(int(dim.get_dim_value()), dtype=target_dtype, backend=cls._home(device))
        return Tensor("range", [dim], dtype, sparse_dim=dim if target_dtype.is_integer else None, raw_tensor=raw)

    @classmethod
    def copy(cls, tensor: Tensor) -> Tensor:
        """A tensor of the same value: an assignment to one of the two does not change the other."""
        out = tensor.copy_template()
        out.raw_tensor = tensor.raw_tensor.__copy__()
        return out

    # Parameters

    @classmethod
    def create_parameter_raw(cls, tensor: rf.Parameter, *, device: str | None = None) -> tb.Tensor:
        """Zeros, to start with."""
        return tb.zeros(sizes(tensor.dims), dtype=cls.as_dtype_raw(tensor.dtype), backend=cls._home(device))

    @classmethod
    def set_parameter_initial_value(cls, param: rf.Parameter, value: Any) -> None:
        """Exchanges the value of a parameter."""
        cls._assign(param, 0 if value is None else value)

    @classmethod
    def set_parameter_trainable(cls, param: rf.Parameter, trainable: bool) -> None:
        """Nothing: the parameter itself says whether it is trained, and gradients are taken on request."""

    @classmethod
    def parameter_assign(cls, param: rf.Parameter, value: Tensor, *, op: str = "assign") -> None:
        """Exchanges the value of a parameter, or adds to it; no gradient flows through that."""
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
        """Exchanges the elements at a key, or adds to them."""
        where, dims = strided_slice_raw_key(param, axis, key, key_dim)
        # RETURNN writes None for an axis that is taken as a whole, which would make a new one.
        keys = tuple(
            slice(None) if index is None else index for index in (where if isinstance(where, tuple) else (where,))
        )
        held = param.raw_tensor.detach()
        update = tb.astype(arranged(value, dims), held.dtype)
        cls._assign(param, tb.put_at(held, keys, update if _is_assign(op) else tb.getitem(held, keys) + update))

    @classmethod
    def parameter_move_to(cls, param: rf.Parameter, *, device: str | None = None, dtype: str | None = None) -> None:
        """A parameter on a device, in a dtype."""
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
    """A number as one that a dtype holds, as PyTorch cuts it."""
    if dtype == "bool":
        return bool(value)
    if "int" in dtype:
        return int(value)
    return value if dtype.startswith("complex") or isinstance(value, complex) else float(value)
