"""Lazy import: `from .library import mx` imports nothing; the first attribute that is read imports MLX.

So importing the package is quick; `MlxBackend.setup` imports MLX.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from tensorbackend.dtypes import ALL_DTYPES, DType, bool_, complex128

__all__ = ["DTYPES", "Array", "dtype_names", "mlx_dtype", "mx"]

if TYPE_CHECKING:
    import mlx.core as mx
else:

    class _Library:
        """The module `mlx.core`, each attribute kept once it was read."""

        def __getattr__(self, name: str) -> Any:
            attribute = self.__dict__[name] = getattr(import_module("mlx.core"), name)
            return attribute

    mx = _Library()

Array: TypeAlias = "mx.array"
"""An array of MLX; `Tensor` is that of tensorbackend."""

DTYPES = frozenset(ALL_DTYPES) - {complex128}
"""The dtypes that MLX has on a CPU. A GPU has no float64 either."""


@cache
def mlx_dtype(dtype: DType) -> mx.Dtype:
    """MLX's dtype of the same name."""
    counterpart: mx.Dtype = getattr(mx, "bool_" if dtype is bool_ else dtype.name)
    return counterpart


@cache
def dtype_names() -> dict[mx.Dtype, DType]:
    """Our dtypes by MLX's."""
    return {mlx_dtype(dtype): dtype for dtype in DTYPES}
