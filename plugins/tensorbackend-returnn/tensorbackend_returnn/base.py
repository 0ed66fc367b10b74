"""The base of the adapter: dtypes, shapes, devices, masks, and the wrapping of our tensors in RETURNN's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import tensorbackend as tb
from returnn.frontend._backend import Backend as ReturnnBackend
from returnn.tensor import Dim, Tensor
from tensorbackend.dtypes import value_range

from .devices import backend_at, device_name


def sizes(dims: Iterable[Dim]) -> list[int]:
    """The size of each dim, padding included."""
    return [int(dim.get_dim_value()) for dim in dims]


def result(name: str, dims: Sequence[Dim], raw: tb.Tensor, **options: Any) -> Tensor:
    """Wrap one of our tensors in RETURNN's tensor. A `feature_dim` that is not among the dims is ignored."""
    if options.get("feature_dim") not in dims:
        options.pop("feature_dim", None)
    return Tensor(name, dims=list(dims), dtype=raw.template.dtype.name, raw_tensor=raw, **options)


def arranged(x: Tensor, dims: Sequence[Dim]) -> tb.Tensor:
    """The raw tensor with axes in the order of `dims`, and axes of size 1 for dims that the tensor lacks."""
    raw: tb.Tensor = x.copy_compatible_to_dims_raw(list(dims))
    return raw


def spread(x: Tensor, dims: Sequence[Dim]) -> tb.Tensor:
    """The raw tensor with axes in the order of `dims`, broadcast along dims that the tensor lacks."""
    raw = arranged(x, dims)
    return raw if x.dims_set.issuperset(dims) else tb.broadcast_to(raw, sizes(dims))


def unnamed(x: tb.Tensor) -> tb.Tensor:
    """Remove the names of the axes, as RETURNN's dims identify them."""
    return x.rename(*(None,) * x.ndim) if any(x.template.names) else x


class Base(ReturnnBackend):
    """The part of RETURNN's backend that defines its tensors. Like RETURNN's own backends, it has no instances.

    For an unsupported option a method raises `NotImplementedError`, RETURNN's own error for what a backend lacks.
    """

    name = "tensorbackend"
    RawTensorType = tb.Tensor

    base: tb.Backend | None = None
    """The backend on which new tensors are made; `None` for the default backend."""

    @classmethod
    def _home(cls, device: str | None = None) -> tb.Backend:
        """The backend for new tensors on one of RETURNN's devices, even while a function is traced."""
        return backend_at(Base.base or tb.get_backend(), device)

    @classmethod
    def executing_eagerly(cls) -> bool:
        """True: RETURNN's loops and conditions run in Python, even while a function is traced."""
        return True

    # Dtypes

    @classmethod
    def get_dtype_name_raw(cls, raw_tensor: tb.Tensor) -> str:
        """The name of the dtype, which is the same in RETURNN."""
        return raw_tensor.template.dtype.name

    @classmethod
    def as_dtype_raw(cls, dtype_name: str) -> tb.DType:
        """The dtype with a name."""
        dtype = getattr(tb, dtype_name, None)
        if not isinstance(dtype, tb.DType):
            raise TypeError(f"expected the name of a dtype, got dtype_name={dtype_name!r}")
        return dtype

    # Shapes

    @classmethod
    def get_ndim_raw(cls, raw_tensor: tb.Tensor) -> int:
        """The number of axes."""
        return raw_tensor.ndim

    @classmethod
    def get_shape_raw(cls, raw_tensor: tb.Tensor) -> tuple[int, ...]:
        """The size of each axis, which is always known."""
        return raw_tensor.template.shape

    get_shape_tuple_raw = get_known_shape_raw = get_shape_raw

    @classmethod
    def set_known_shape_raw(cls, raw_tensor: tb.Tensor, shape: Sequence[int | None]) -> None:
        """Raises `ValueError` unless the shape of the tensor matches; `None` matches any size."""
        actual_shape = raw_tensor.template.shape
        if len(actual_shape) != len(shape) or any(b not in (None, a) for a, b in zip(actual_shape, shape, strict=True)):
            raise ValueError(f"expected a tensor of shape {tuple(shape)}, got {raw_tensor.template!r}")

    @classmethod
    def get_new_dim_raw(cls, raw_tensor: tb.Tensor, axis: int, *, name: str) -> Dim:
        """Make a new dim for an axis."""
        return Dim(raw_tensor.template.shape[axis], name=name)

    # Conversions

    @classmethod
    def raw_to_numpy(cls, raw_tensor: tb.Tensor) -> np.ndarray[Any, Any]:
        """Convert a tensor to a NumPy array, which is a constant for gradients."""
        return np.asarray(raw_tensor.detach())

    @classmethod
    def should_pickle_tensor(cls, raw_tensor: tb.Tensor) -> bool:
        """Whether a tensor has data, and is not part of a trace."""
        return tb.is_concrete(raw_tensor)

    # Devices

    @classmethod
    def get_device(cls, x: Tensor) -> str | None:
        """RETURNN's name of the device that holds a tensor."""
        raw = x.raw_tensor
        if raw is None:
            return None
        holder = raw.backend.beneath
        return device_name(cls._home() if isinstance(holder, tb.ExprBackend) else holder)

    @classmethod
    def copy_to_device(cls, x: Tensor, device: str | None) -> Tensor:
        """Copy a tensor to a device. A tensor of a trace stays where its function runs."""
        if not device or isinstance(x.raw_tensor.backend.beneath, tb.ExprBackend):
            return x
        out = x.copy()
        out.raw_tensor = x.raw_tensor.to_device(backend_at(x.raw_tensor.backend.beneath, device).device)
        return out

    # Masks

    @classmethod
    def _mask(cls, x: Tensor, dims: Iterable[Dim]) -> tb.Tensor | None:
        """The mask of the entries within the lengths of dims, which broadcasts to `x`; `None` without lengths."""
        combined_mask = None
        for dim in dims:
            if dim.need_masking():
                mask = x.get_sequence_mask_broadcast(dim)
                combined_mask = mask if combined_mask is None else tb.logical_and(combined_mask, mask)
        return combined_mask

    @classmethod
    def _masked(cls, x: Tensor, dims: Iterable[Dim], value: Any) -> tb.Tensor:
        """The raw tensor, with the padding along dims replaced by a value."""
        mask = cls._mask(x, dims)
        raw: tb.Tensor = x.raw_tensor
        return raw if mask is None else tb.where(mask, raw, value)


def extreme(dtype: tb.DType, least: bool) -> Any:
    """The lowest value of a dtype, which is neutral for a maximum; with `least` the highest, neutral for a minimum."""
    return value_range(dtype)[least]


def largest_number(x: Any) -> int:
    """A number, the size of a dim, or the largest element of a tensor, as an int."""
    if isinstance(x, Dim):
        return int(x.get_dim_value())
    return int(tb.max(x.raw_tensor)) if isinstance(x, Tensor) else int(x)
