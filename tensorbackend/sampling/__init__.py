"""Random numbers of distributions that are drawn by rejection, in loops; `tb.random` offers them."""

from __future__ import annotations

from collections.abc import Sequence

from ..dtypes import DType, DTypeLike, as_dtype, default_dtype, float32, promote_types, scalar_kind
from ..errors import OperandError, expected, shown
from ..ops.composite.random.continuous import parameter
from ..ops.composite.shape.arranging import broadcast_arrays
from ..ops.creation.filled import rename
from ..ops.creation.values import operand_tensor, operand_tensors
from ..ops.shape import broadcast_to
from ..rules.broadcasting import check_dtype
from ..rules.random import check_fits, check_floating, check_key
from ..template import NamesLike, as_names, as_shape
from ..tensor import Tensor, TensorLike


def floating_kind(dtype: DTypeLike | None, *parameters: TensorLike) -> DType:
    """The dtype of a sample: the given one, else that of the first floating tensor, else the default one."""
    if dtype is not None:
        return check_floating(as_dtype(dtype))
    for x in parameters:
        if isinstance(x, Tensor):
            check_dtype(x.dtype, "real", "take its real()")
            if x.dtype.is_floating:
                return x.dtype
    return default_dtype("float")


def working_kind(kind: DType) -> DType:
    """The dtype in which a sample of floats is computed: its own, and float32 at least.

    Candidates that are accepted or rejected in float16 differ between backends, and parameters may be beyond its range.
    """
    return promote_types(kind, float32)


def spread_parameters(
    key: TensorLike, shape: Sequence[int] | None, dtype: DType, *values: TensorLike
) -> tuple[Tensor, list[Tensor]]:
    """The key and the parameters as tensors of one dtype and of the sample's shape, whose names are theirs.

    Raises `DTypeError` and `ShapeError` for an invalid key, `ShapeError` for parameters that do not broadcast to the
    shape, and `OperandError` for a tuple, which is a shape.
    """
    for value in values:
        if isinstance(value, tuple):  # NumPy's order of arguments
            remedy = f"write shape={shown(value)} for the shape of the sample"
            raise OperandError(expected("a parameter as a tensor or a number", remedy, parameter=value))
    key = operand_tensor(key, *values)
    check_key(key.template)
    tensors = [parameter(x if scalar_kind(x) is not None else operand_tensors(key, x)[1], dtype, key) for x in values]
    if shape is not None:
        sizes = as_shape(shape)
        check_fits(sizes, *(x.template for x in tensors))
        tensors = [broadcast_to(x, sizes) for x in tensors]
    return rename(key, None), list(broadcast_arrays(*tensors))


def named(x: Tensor, names: NamesLike, like: Tensor) -> Tensor:
    """A sample under given names, else under those of a parameter; the last axes keep its names."""
    last = () if names is None or isinstance(names, str) else like.names[len(names) :]
    chosen = like.names if names is None else as_names((*names, *last) if last and all(last) else names, x.ndim)
    return rename(x, *chosen) if x.ndim else x


def is_positive(x: Tensor) -> Tensor:
    """Whether numbers are above 0, which NaN is not."""
    return x > 0
