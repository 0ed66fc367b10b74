"""The tree of a quantised tensor, and how its elements are packed.

The axis along which elements share scales comes first in all parts, so that a product can take the parts run by run.
Elements of less than 8 bits are packed into bytes along that axis, the first one in the low bits.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, ClassVar

from ..declarations.argument_errors import check_construction
from ..dispatch.codes import cast
from ..dispatch.fallbacks import load_fallbacks
from ..dtypes import DType, float32, int8, uint8
from ..expr.tree_containers import register_tree_node
from ..ops.composite.contraction import matmul
from ..ops.composite.shape.arranging import stack
from ..ops.elementwise.basic import astype, bitcast
from ..ops.elementwise.binary import bitwise_and, multiply
from ..ops.shape import reshape
from ..protocol import Backend
from ..template import Names, Shape, Template
from ..tensor import Tensor
from ..tensor.missing_names import explain_missing


@explain_missing
@check_construction
class Quantized:
    """A tensor whose elements are numbers of a narrow dtype times scales that several of them share.

    `quantize` makes it. It is a tree of tensors, for `jit`, `tree_map`, checkpoints and transfers; ops take it by
    `dequantize(q)`, and `quantized_dot(x, q)` multiplies with it as it is.

    Parameters
    ----------
    values : Tensor
        The numbers, with the axis of the groups in front. Those of less than 8 bits are packed into bytes.
    scales : Tensor
        A scale for each group.
    zeros : Tensor or None
        The number of each group that represents 0; `None` where that is 0.
    factor : Tensor or None
        One more scale for all elements, as NVFP4 has it.
    dtype : DType
        The dtype of the numbers.
    template : Template
        Shape, dtype and names of the tensor that it represents.
    axis : int
        The axis along which elements share scales.
    block : int
        The number of elements along the axis that share a scale.
    """

    __slots__ = ("__weakref__", "axis", "block", "dtype", "factor", "scales", "template", "values", "zeros")

    __array_ufunc__ = None  # NumPy's arrays leave the operators to this class
    operand_remedies: ClassVar = {"": "use `tb.quantized_dot(x, q)`, or `tb.dequantize(q)`"}
    """What an op of dense tensors advises where it gets a quantised one."""

    def __init__(
        self,
        values: Tensor,
        scales: Tensor,
        zeros: Tensor | None,
        factor: Tensor | None,
        dtype: DType,
        template: Template,
        axis: int,
        block: int,
    ) -> None:
        self.values, self.scales, self.zeros, self.factor = values, scales, zeros, factor
        self.dtype, self.template, self.axis, self.block = dtype, template, axis, block

    @property
    def shape(self) -> Shape:
        """The shape of the tensor that it represents."""
        return self.template.shape

    @property
    def names(self) -> Names:
        """Name or `None` of each axis."""
        return self.template.names

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.template.ndim

    @property
    def backend(self) -> Backend:
        """The backend of the values."""
        return self.values.backend

    @property
    def nbytes(self) -> int:
        """Size of all parts in bytes."""
        parts = (self.values, self.scales, self.zeros, self.factor)
        return sum(part.template.payload_nbytes for part in parts if part is not None)

    def __repr__(self) -> str:
        groups = f"groups of {self.block} along {self.names[self.axis] or self.axis}" if self.ndim else "one group"
        return f"Quantized({self.template!r} as {self.dtype}, {groups}, {self.backend.name})"


def _flatten(q: Quantized) -> tuple[tuple[Any, ...], Hashable]:
    return (q.values, q.scales, q.zeros, q.factor), (q.dtype, q.template, q.axis, q.block)


def _unflatten(static: Any, parts: tuple[Any, ...]) -> Quantized:
    return Quantized(*parts, *static)


register_tree_node(Quantized, _flatten, _unflatten)


def packed(values: Tensor, dtype: DType) -> Tensor:
    """Numbers of a narrow dtype with several in each byte, along the first axis; those of 8 bits as they are."""
    each = 8 // dtype.bits
    if each == 1:
        return values
    codes = _codes(values)
    rows = reshape(codes, (codes.shape[0] // each, each, *codes.shape[1:]))
    result = rows[:, 0]
    for place in range(1, each):
        result = result | rows[:, place] << place * dtype.bits
    return result


def _codes(values: Tensor) -> Tensor:
    """The codes of narrow numbers, as uint8."""
    dtype = values.dtype
    if dtype.kind in ("int", "uint"):
        return bitwise_and(astype(values, uint8), (1 << dtype.bits) - 1)
    return astype(bitcast(values, "uint4"), uint8)  # of float4, unsigned integers with the same bits


def numbers(values: Tensor, dtype: DType, wide: DType = float32) -> Tensor:
    """The numbers in packed values, in a wider dtype."""
    each = 8 // dtype.bits
    if each == 1:
        return astype(values, wide)
    mask = (1 << dtype.bits) - 1
    parts = [values & mask]
    for place in range(1, each):
        part = values >> place * dtype.bits
        parts.append(part if place == each - 1 else part & mask)
    codes = reshape(stack(parts, axis=1), (values.shape[0] * each, *values.shape[1:]))
    load_fallbacks.call()
    return cast.call(codes, dtype, wide)


def scaled(values: Tensor, scales: Tensor, zeros: Tensor | None, dtype: DType, wide: DType = float32) -> Tensor:
    """The numbers that a run of packed values represents; `scales` has a row for each group of the run."""
    found = numbers(values, dtype, wide)
    groups = scales.shape[0]
    rows = reshape(found, (groups, math.prod(found.shape[:1]) // groups, *found.shape[1:]))
    if zeros is not None:
        rows = rows - astype(zeros, wide)[:, None]
    return reshape(rows * astype(scales, wide)[:, None], found.shape)


def product_of_codes(x: Tensor, values: Tensor, zeros: Tensor | None, dtype: DType, wide: DType) -> Tensor:
    """The products of rows with groups of packed integers, less their zero points.

    Parameters
    ----------
    x : Tensor
        The rows: (groups, rows, columns).
    values : Tensor
        The integers, several in a byte: (groups, bytes, width).
    zeros : Tensor, optional
        The zero point of each group and column: (groups, width); of integers of less than 8 bits alone.
    dtype : DType
        The dtype of the integers, of at most 8 bits.
    wide : DType
        The dtype of the sums.

    Returns
    -------
    Tensor
        The sums: (groups, rows, width).

    Notes
    -----
    All is done byte by byte but for one cast. A signed integer moves to the upper end of a copy of its byte: that is a
    power of two times the number, with its sign. What is left of a number of less than 8 bits without its zero point
    has a sign, and fits in a byte.
    """
    each, half = 8 // dtype.bits, 1 << (dtype.bits - 1)
    signed = dtype.kind == "int"
    points = None if zeros is None else astype(astype(zeros, wide) + (half if signed else 0), uint8)[:, None]
    total: Tensor | None = None
    for place in range(each):
        codes = values
        if signed and points is None:
            if place < each - 1:
                codes = multiply(codes, 1 << (8 - dtype.bits * (place + 1)))  # the bits above are lost
            if place:  # those below are not all zeros
                codes = bitwise_and(codes, 256 - (1 << (8 - dtype.bits)))
            codes = bitcast(codes, int8)
        else:
            if place:
                codes = codes >> place * dtype.bits
            if place < each - 1:
                codes = codes & 2 * half - 1
            if points is not None:
                codes = bitcast((codes ^ half if signed else codes) - points, int8)
        product = matmul(x[..., place::each], astype(codes, wide))
        total = product if total is None else total + product
    assert total is not None
    return multiply(total, 2.0 ** (dtype.bits - 8)) if signed and points is None else total
