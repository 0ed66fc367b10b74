"""Functions that several fall-backs use: tensors of host numbers, dtypes to add in, positions along axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...dtypes import DType, float32, float64, int64, promote_types
from ...dtypes.packing import pack
from ...template import Shape, intern_template
from ...tensor import Tensor
from ..creation.filled import from_binary
from ..elementwise.basic import astype
from ..shape import reshape


def tensor_of_numbers(values: Iterable[bool | float], dtype: DType = int64, shape: Shape | None = None) -> Tensor:
    """Python numbers as a tensor of one axis, or of a shape, on the default backend."""
    numbers = list(values)
    sizes = (len(numbers),) if shape is None else shape
    return from_binary(pack(numbers, dtype), intern_template(sizes, dtype, (None,) * len(sizes)))


def shape_along(axis: int, ndim: int, size: int) -> Shape:
    """The shape of a tensor that varies along one axis only: (1, 5, 1) for axis 1 of 3 and size 5."""
    return tuple(size if position == axis else 1 for position in range(ndim))


def accumulator_dtype(dtype: DType) -> DType:
    """The dtype to add elements in: at least float32 for narrow floats."""
    return promote_types(dtype, float32) if dtype.is_floating else dtype


def widen(x: Tensor) -> Tensor:
    """Floats in float64 if the backend has it, else in float32 if it has that, else unchanged."""
    dtypes = x.backend.dtypes
    wider = promote_types(x.dtype, float64 if float64 in dtypes else float32)
    return astype(x, wider) if wider in dtypes else x


def scalar(x: Tensor) -> Tensor:
    """A tensor of one element, without its axes."""
    return reshape(x, ())


def strides_of(shape: Sequence[int]) -> list[int]:
    """The row-major strides of a shape, in elements: [12, 4, 1] for (2, 3, 4)."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return steps[::-1]
