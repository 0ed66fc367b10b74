"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import returnn.frontend as rf
import tensorbackend as tb
from returnn.frontend._utils import res_feature_dim, res_sparse_dim
from returnn.tensor import Dim, Tensor

from .base import arranged, result
from .creation import Creation

_RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}

COMPARED: dict[str, Callable[..., tb.Tensor]] = {
    name: getattr(tb, name) for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
}
COMBINED: dict[str, Callable[..., tb.Tensor]] = {
    **{
        name: getattr(tb, name)
        for name in ("add", "logaddexp", "logical_and", "logical_or", "maximum", "minimum", "pow")
    },
    "sub": tb.subtract,
    "mul": tb.multiply,
    "truediv": tb.divide,
    "floordiv": tb.floor_divide,
    "mod": tb.remainder,
    "squared_difference": lambda a, b: tb.square(tb.subtract(a, b)),
}
OF_CORE = (
    *("abs", "ceil", "cos", "exp", "expm1", "floor", "log", "log1p", "logical_not", "reciprocal", "round", "rsqrt"),
    *("sigmoid", "sin", "sqrt", "square", "tanh"),
)
OF_NETWORKS = ("elu", "gelu", "log_sigmoid", "relu", "selu", "silu")
ACTIVATIONS: dict[str, Callable[..., tb.Tensor]] = {
    **{name: getattr(tb, name) for name in OF_CORE},
    **{name: getattr(tb.nn, name) for name in OF_NETWORKS},
    "neg": tb.negative,
}
"""The functions of one tensor by RETURNN's names."""


def matched(a: Any, b: Any) -> tuple[Any, Any]:
    """Match a tensor without axes to the dtype and the backend of the other operand.

    Without axes, a tensor neither widens the other operand nor decides on which device the result is.
    """
    if isinstance(a, tb.Tensor) and isinstance(b, tb.Tensor):
        if not b.ndim and a.ndim:
            return a, _follow(b, a)
        if not a.ndim and b.ndim:
            return _follow(a, b), b
    return a, b


def _follow(scalar: tb.Tensor, x: tb.Tensor) -> tb.Tensor:
    dtype, target_dtype = scalar.template.dtype, x.template.dtype
    if dtype is not target_dtype and _RANK[dtype.kind] <= _RANK[target_dtype.kind]:
        scalar = tb.astype(scalar, target_dtype)
    there: Any = x.backend.beneath
    here = scalar.backend
    has_data = not isinstance(there, tb.ExprBackend) and not isinstance(here, tb.ExprBackend)
    return scalar.backend_copy(there) if has_data and here is here.beneath and here is not there else scalar


def _flags(name: str, function: Callable[[tb.Tensor], tb.Tensor]) -> Any:
    """A method that says of each element whether something holds."""

    def method(cls: Any, x: Tensor) -> Tensor:
        return result(name, x.dims, function(x.raw_tensor), feature_dim=x.feature_dim)

    method.__doc__ = f"Whether each element {name.replace('_', ' ').replace('neg ', 'minus ')}."
    return classmethod(method)


class Elementwise(Creation):
    """Elementwise functions."""

    # Two operands

    @classmethod
    def _two(
        cls,
        a: Any,
        b: Any,
        name: str,
        function: Callable[..., tb.Tensor],
        *,
        compares: bool,
        allow_broadcast_all_sources: bool | None = None,
        dim_order: Sequence[Dim] | None = None,
    ) -> Tensor:
        """Apply a function to two operands, at least one of which is RETURNN's tensor.

        If `allow_broadcast_all_sources` is False, one of two tensors must have all dims of both.
        """
        a, b = cls._operand(a), cls._operand(b)
        tensors = [x for x in (a, b) if isinstance(x, Tensor)]
        dims = list(tensors[0].dims)
        if len(tensors) == 2 and tensors[1].dims != tensors[0].dims:
            dims = _united(*tensors)
            if allow_broadcast_all_sources is False and all(set(x.dims) != set(dims) for x in tensors):
                remedy = "pass allow_broadcast_all_sources=True"
                raise ValueError(f"{name}: expected an operand with all dims {dims}, got {a} and {b}; {remedy}")
        if dim_order:
            dims.sort(key=lambda dim: dim_order.index(dim) if dim in dim_order else len(dim_order))
        parts = [(arranged(x, dims) if x.dims else x.raw_tensor) if isinstance(x, Tensor) else x for x in (a, b)]
        out = result(name, dims, function(*matched(*parts)))
        if len(tensors) == 2:
            out.feature_dim = res_feature_dim(a, b)
            out.sparse_dim = None if compares else res_sparse_dim(a, b)
        else:
            out.feature_dim = tensors[0].feature_dim
            out.sparse_dim = None if compares else tensors[0].sparse_dim
        return out

    @classmethod
    def _operand(cls, x: Any) -> Any:
        """Convert an operand to RETURNN's tensor. Python numbers, which do not widen other operands, stay numbers."""
        if isinstance(x, np.generic):
            return x.item()
        return x if isinstance(x, Tensor | bool | int | float | complex) else rf.convert_to_tensor(x, _backend=cls)

    @classmethod
    def compare(cls, a: Any, kind: str, b: Any, **options: Any) -> Tensor:
        """Compare two operands; `kind` is RETURNN's name for the comparison."""
        if cls._is_packed(b):
            return super().compare(a, kind, b, **options)
        return cls._two(a, b, kind, COMPARED[kind], compares=True, **options)

    @classmethod
    def combine(cls, a: Any, kind: str, b: Any, **options: Any) -> Tensor:
        """Apply a function to two operands; `kind` is RETURNN's name for the function."""
        if cls._is_packed(b):
            return super().combine(a, kind, b, **options)
        if not isinstance(a, Tensor) and not isinstance(b, Tensor):
            a = rf.convert_to_tensor(a, _backend=cls)
        return cls._two(a, b, kind, COMBINED[kind], compares=False, **options)

    @classmethod
    def _is_packed(cls, x: Any) -> bool:
        """Whether an operand belongs to a backend that wraps ours, such as RETURNN's packed backend."""
        return isinstance(x, Tensor) and x._raw_backend.dispatch_priority > cls.dispatch_priority

    @classmethod
    def compare_raw(cls, a: tb.Tensor, kind: str, b: tb.Tensor) -> tb.Tensor:
        """Compare two of our tensors."""
        return COMPARED[kind](*matched(a, b))

    @classmethod
    def combine_raw(cls, a: tb.Tensor, kind: str, b: tb.Tensor) -> tb.Tensor:
        """Apply a function to two of our tensors."""
        return COMBINED[kind](*matched(a, b))

    # One operand

    @classmethod
    def activation_raw(cls, raw_tensor: tb.Tensor, func: str) -> tb.Tensor:
        """Apply a function to one of our tensors."""
        return ACTIVATIONS[func](raw_tensor)

    @classmethod
    def cast_raw(cls, raw_tensor: tb.Tensor, dtype: str) -> tb.Tensor:
        """Cast a tensor to a dtype. A cast from a complex to a real dtype takes the real part."""
        target_dtype = cls.as_dtype_raw(dtype)
        source_dtype = raw_tensor.template.dtype
        if source_dtype is target_dtype:
            return raw_tensor
        return tb.astype(
            tb.real(raw_tensor) if source_dtype.is_complex and not target_dtype.is_complex else raw_tensor, target_dtype
        )

    is_finite = _flags("is_finite", tb.isfinite)
    is_infinite = _flags("is_infinite", tb.isinf)
    is_neg_infinite = _flags("is_neg_infinite", lambda x: tb.equal(x, -tb.inf))

    # Several operands

    @classmethod
    def _several(cls, tensors: Sequence[Tensor], name: str, outer: bool) -> tuple[list[Dim], list[tb.Tensor]]:
        common = Tensor.get_common_data(list(tensors), allow_broadcast_all_sources=outer, name=name)
        return list(common.dims), [arranged(x, common.dims) for x in tensors]

    @classmethod
    def where(cls, cond: Tensor, true_: Any, false_: Any, *, allow_broadcast_all_sources: bool = False) -> Tensor:
        """Choose elements of `true_` where a condition holds, else of `false_`; both may be numbers."""
        dtype = next((x.dtype for x in (true_, false_) if isinstance(x, Tensor)), None)
        true_, false_ = (
            rf.convert_to_tensor(x, _backend=cls, dtype=dtype, device=cond.device) for x in (true_, false_)
        )
        dims, (yes, no, held) = cls._several([true_, false_, cond], "where", allow_broadcast_all_sources)
        raw = tb.broadcast_to(tb.where(held, yes, no), cls._shape_of(dims, held, yes, no))
        feature = true_.feature_dim or false_.feature_dim
        return result("where", dims, raw, sparse_dim=true_.sparse_dim or false_.sparse_dim, feature_dim=feature)

    @classmethod
    def _shape_of(cls, dims: Sequence[Dim], *raws: tb.Tensor) -> tuple[int, ...]:
        return tb.broadcast_shapes(*(raw.shape for raw in raws))

    @classmethod
    def clip_by_value(
        cls, x: Tensor, clip_value_min: Any, clip_value_max: Any, *, allow_broadcast_all_sources: bool = False
    ) -> Tensor:
        """Limit the elements of x to the interval between two bounds."""
        bounds = [
            rf.convert_to_tensor(bound, _backend=cls, device=x.device) for bound in (clip_value_min, clip_value_max)
        ]
        dims, (raw, low, high) = cls._several([x, *bounds], "clip_by_value", allow_broadcast_all_sources)
        dtype = raw.template.dtype
        clipped = tb.clip(raw, tb.astype(low, dtype), tb.astype(high, dtype))
        return result("clip_by_value", dims, clipped, sparse_dim=x.sparse_dim, feature_dim=x.feature_dim)

    @classmethod
    def lerp(cls, start: Tensor, end: Tensor, weight: Any, *, allow_broadcast_all_sources: bool = False) -> Tensor:
        """Interpolate linearly between two tensors: a weight of 0 gives the first, 1 the second."""
        share = rf.convert_to_tensor(weight, _backend=cls, device=start.device)
        dims, (low, high, part) = cls._several([start, end, share], "lerp", allow_broadcast_all_sources)
        feature = res_feature_dim(start, end)
        return result("lerp", dims, tb.add(low, tb.multiply(part, tb.subtract(high, low))), feature_dim=feature)

    # Complex numbers

    @classmethod
    def make_complex(cls, real: Tensor, imag: Tensor) -> Tensor:
        """Make complex numbers from their real and imaginary parts."""
        raw = tb.complex(real.raw_tensor, arranged(imag, real.dims))
        return result("make_complex", real.dims, raw, feature_dim=real.feature_dim)

    @classmethod
    def real_as_complex(cls, x: Tensor, *, pair_dim: Dim) -> Tensor:
        """Make complex numbers from the pairs (real part, imaginary part) along a dim."""
        axis = x.get_axis_from_description(pair_dim, allow_int=False)
        real, imag = tb.unstack(x.raw_tensor, axis=axis)
        return result("real_as_complex", x.dims[:axis] + x.dims[axis + 1 :], tb.complex(real, imag))

    @classmethod
    def complex_as_real(cls, x: Tensor, *, out_dim: Dim | None = None) -> tuple[Tensor, Dim]:
        """Split complex numbers into real and imaginary parts along a new last dim; return the result and the dim."""
        pair = Dim(2, name="real_imag") if out_dim is None else out_dim
        raw = tb.stack([tb.real(x.raw_tensor), tb.imag(x.raw_tensor)], axis=len(x.dims))
        return result("complex_as_real", (*x.dims, pair), raw), pair


def _united(a: Tensor, b: Tensor) -> list[Dim]:
    """The union of the dims of two tensors. A dim that one of them has twice, as in a square matrix, occurs twice."""
    dims: list[Dim] = []
    for dim in a.dims + b.dims:
        if dim not in dims:
            holder = a if a.dims.count(dim) >= b.dims.count(dim) else b
            dims.extend(occurrence for occurrence in holder.dims if occurrence == dim)
    return dims
