"""`numpy.typing`: annotations of programs.

Examples
--------
>>> import tensorbackend.numpy as np
>>> from tensorbackend.numpy.typing import NDArray
>>> def halve(x: NDArray[np.float64]) -> NDArray[np.float64]:
...     return x / 2
>>> halve(np.ones(2))
array([0.5, 0.5])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy

from ..dtypes import DType
from ..tensor import Tensor

if TYPE_CHECKING:
    from . import ndarray  # the stub's class, which has type parameters
else:
    from .arrays import ndarray

__all__ = ["ArrayLike", "DTypeLike", "NDArray"]

_Scalar = TypeVar("_Scalar", bound=numpy.generic)

ArrayLike: TypeAlias = ndarray | Tensor | numpy.ndarray[Any, Any] | numpy.generic | complex | Sequence[Any]
"""What NumPy takes as an array: arrays, tensors, numbers and nested sequences of them."""

DTypeLike: TypeAlias = numpy.dtype[Any] | DType | type[Any] | str | None
"""What NumPy takes as a dtype."""

NDArray: TypeAlias = ndarray[tuple[Any, ...], numpy.dtype[_Scalar]]
"""An array of elements of a class, such as `NDArray[np.float64]`."""
