"""The dtypes of optimisers: they compute in float32 or wider, and round each update once to its gradient's dtype."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..dtypes import DType, DTypeLike, as_dtype, float32, promote_types
from ..errors import ArgumentError, expected
from ..expr.static_leaves import is_inexact
from ..expr.trees import tree_map
from ..ops.creation.filled import zeros_like
from ..ops.creation.values import asarray
from ..ops.elementwise.conversion import astype
from ..tensor import Tensor, TensorLike


@cache
def wide_dtype(dtype: DType) -> DType:
    """A dtype that is at least float32."""
    return promote_types(dtype, float32)


def as_tensor(x: TensorLike) -> Tensor:
    """A tensor itself, and one of a number or an array."""
    return x if isinstance(x, Tensor) else asarray(x)


def widen(x: TensorLike) -> Tensor:
    """A tensor in a dtype that is at least float32; complex numbers stay complex."""
    tensor = as_tensor(x)
    dtype = wide_dtype(tensor.dtype)
    return tensor if dtype is tensor.dtype else astype(tensor, dtype)


def map_numbers(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """The results of a function for each leaf, as of `tree_map`; leaves without a gradient stay unchanged.

    The function gets a tensor for a number or an array among the leaves of the first tree.
    """

    def apply(leaf: Any, *others: Any) -> Any:
        return function(as_tensor(leaf), *others) if is_inexact(leaf) else leaf

    return tree_map(apply, tree, *others)


def wide_zeros(parameters: Any, dtype: DType | None = None) -> Any:
    """Zeros like parameters, in float32 or wider: what a state sums up. `dtype` is that for real parameters instead."""

    def zeros_of(x: Tensor) -> Tensor:
        return zeros_like(x, dtype=wide_dtype(x.dtype) if dtype is None or x.dtype.is_complex else dtype)

    return map_numbers(zeros_of, parameters)


def dtype_of_moments(moments_dtype: DTypeLike | None) -> DType | None:
    """The floating dtype that an option asks for; `None` for that of the parameters, at least float32."""
    if moments_dtype is None:
        return None
    dtype = as_dtype(moments_dtype)
    if not dtype.is_floating:
        raise ArgumentError(expected("a floating dtype, or None for float32 or wider", moments_dtype=dtype))
    return dtype


def cast_to_dtype_of(x: Tensor, like: TensorLike) -> Tensor:
    """A result in the dtype of what it was computed from, unless that is not floating."""
    if not isinstance(like, Tensor) or like.dtype is x.dtype or not like.dtype.is_inexact:
        return x
    return astype(x, like.dtype)


def round_updates(updates: Any, gradients: Any) -> Any:
    """Updates in the dtypes of gradients that are nested likewise."""
    return map_numbers(cast_to_dtype_of, updates, gradients)


def compute_wide(function: Callable[..., Tensor], gradients: Any, *others: Any) -> Any:
    """The results of a function of gradients and other tensors, computed in wide dtypes and then rounded."""
    return map_numbers(lambda g, *xs: cast_to_dtype_of(function(widen(g), *map(widen, xs)), g), gradients, *others)
