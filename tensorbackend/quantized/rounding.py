"""`quantize` and `dequantize`: tensors as narrow numbers with shared scales, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dtypes import (
    DType,
    DTypeLike,
    as_dtype,
    finfo,
    float4_e2m1fn,
    float8_e4m3fn,
    float8_e5m2,
    float8_e8m0fnu,
    float32,
    iinfo,
    int32,
)
from ..dtypes.promotion import widened
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..ops.composite.elementwise.functions import stop_gradient
from ..ops.composite.shape.arranging import moveaxis
from ..ops.creation.filled import asarray, ones_like
from ..ops.elementwise.basic import astype, bitcast, clip, where
from ..ops.elementwise.basic import round as round_to_even
from ..ops.elementwise.binary import maximum
from ..ops.shape import reshape
from ..rules.axes import normalize_axis
from ..tensor import Tensor, TensorLike
from .matrix import Quantized, packed, scaled


class Format(NamedTuple):
    """A format that is known by a name."""

    dtype: DType
    block: int
    scale_dtype: DType
    factor: bool = False
    """Whether all elements have one more scale."""


FORMATS: Final[dict[str, Format]] = {
    "mxfp8": Format(float8_e4m3fn, 32, float8_e8m0fnu),
    "mxfp8_e5m2": Format(float8_e5m2, 32, float8_e8m0fnu),
    "mxfp4": Format(float4_e2m1fn, 32, float8_e8m0fnu),
    "nvfp4": Format(float4_e2m1fn, 16, float8_e4m3fn, factor=True),
}
"""The block-scaled formats: those of the OCP's microscaling specification, and NVIDIA's."""


@check_arguments
def quantize(
    x: TensorLike,
    dtype: DTypeLike = "int8",
    /,
    *,
    axis: Axis | None = None,
    block: int | None = None,
    symmetric: bool = True,
    scale_dtype: DTypeLike | None = None,
) -> Quantized:
    """Store a tensor in a narrow dtype, with scales that several elements share.

    Each group of elements is divided by its scale and rounded to nearest even, such that its largest magnitude becomes
    the largest number of the dtype. In integers the error of an element is at most half of its scale. A scale beyond
    the range of its dtype is the largest number there, and elements are cut off.

    Parameters
    ----------
    dtype : DType or str, default "int8"
        An integer dtype of at most 8 bits, a narrow floating dtype, or a format: "mxfp8", "mxfp8_e5m2" and "mxfp4",
        with scales that are powers of two for 32 elements each, or "nvfp4", with scales of float8 for 16 elements each
        and one of float32 for all.
    axis : int or str, optional
        The axis along which elements share a scale, by position or name: for a matrix of weights the axis that a
        product contracts. By default all elements of the tensor share one; a format takes the first axis.
    block : int, optional
        The number of elements along the axis that share a scale; by default all of them.
    symmetric : bool, default True
        Whether 0 represents 0. Otherwise each group of integers has a zero point, such that its smallest and its
        largest element become the limits of the dtype.
    scale_dtype : DType or str, optional
        The dtype of the scales, float32 by default.

    Returns
    -------
    Quantized
        A tree of tensors: values, scales and zero points.

    Raises
    ------
    DTypeError
        For another dtype, or a tensor that is not of floats.
    ShapeError
        For a size that the block does not divide, or that does not fill whole bytes.

    See Also
    --------
    dequantize : Computes the tensor again.
    quantized_dot : A product with a quantised matrix.

    References
    ----------
    Rouhani et al., "Microscaling Data Formats for Deep Learning", 2023; "OCP Microscaling Formats (MX) Specification",
    version 1.0, 2023.

    Examples
    --------
    >>> q = tb.quantize(tb.asarray([[0.5, -1.0], [2.0, 0.25]]), "int4", axis=0)
    >>> q
    Quantized(f32[2][2] as int4, groups of 2 along 0, numpy)
    >>> q.nbytes, tb.dequantize(q).tolist()[1][0]
    (10, 2.0)
    """
    x = asarray(x)
    form = FORMATS.get(dtype) if isinstance(dtype, str) else None
    if form is not None:
        for name, value in (("block", block), ("scale_dtype", scale_dtype)):
            if value is not None:
                remedy = f"the format has {form.block} elements a scale"
                raise ArgumentError(expected(f"no {name} for the format {dtype!r}", remedy, **{name: value}))
        axis, block = 0 if axis is None else axis, form.block
    kind = as_dtype(dtype) if form is None else form.dtype
    scale_kind = float32 if form is None and scale_dtype is None else as_dtype(scale_dtype or form.scale_dtype)  # type: ignore[union-attr] # one of them is there
    _check(x, kind, symmetric)
    if block is not None and axis is None:
        raise ArgumentError(expected("an axis for blocks", "pass axis=", block=block))
    along = 0 if axis is None else normalize_axis(x.template, axis)
    rows, size, groups = _arrange_groups(x, kind, along, axis is None, block)
    factor = None
    if form is not None and form.factor:
        factor = _positive(abs(rows).max() / (finfo(kind).max * finfo(scale_kind).max))
        rows = rows / factor
    scales, zeros = _scales(groups(rows), kind, scale_kind, symmetric)
    wide = groups(rows)
    wide = wide / astype(scales, wide.dtype)
    if zeros is not None:
        wide = wide + zeros
    narrow = reshape(_narrow_numbers(wide, kind), rows.shape)
    small = reshape(scales, (1,) * rows.ndim if axis is None else (scales.shape[0], *rows.shape[1:]))
    zero_points = (
        None if zeros is None else astype(reshape(zeros, small.shape), widened(kind) if kind.is_narrow else kind)
    )
    return Quantized(packed(narrow, kind), small, zero_points, factor, kind, x.template, along, size)


@check_arguments
def dequantize(q: Quantized, /, dtype: DTypeLike | None = None) -> Tensor:
    """Compute the tensor that a quantised one represents.

    Parameters
    ----------
    q : Quantized
        A result of `quantize`.
    dtype : DType or str, optional
        The dtype of the result, by default that of the tensor that was quantised.

    Returns
    -------
    Tensor
        Shape and names are those of the tensor that was quantised.

    Examples
    --------
    >>> tb.dequantize(tb.quantize(tb.asarray([1.0, 2.0, 4.0]), "float8_e4m3fn")).tolist()
    [1.0, 2.0, 4.0]
    """
    rows = scaled(q.values, q.scales, q.zeros, q.dtype)
    if q.factor is not None:
        rows = rows * q.factor
    plain = moveaxis(rows, 0, q.axis) if q.ndim else reshape(rows, ())
    result = astype(plain, q.template.dtype if dtype is None else as_dtype(dtype))
    return reshape(result, q.shape, names=q.names)


@check_arguments
def round_quantized(
    x: TensorLike,
    dtype: DTypeLike = "int8",
    /,
    *,
    axis: Axis | None = None,
    block: int | None = None,
    symmetric: bool = True,
    scale_dtype: DTypeLike | None = None,
) -> Tensor:
    """Round a tensor to the numbers that `quantize` can store, with the gradient of the tensor itself.

    That is the straight-through estimator, by which a network is trained for quantised weights.

    Parameters
    ----------
    dtype, axis, block, symmetric, scale_dtype
        As in `quantize`.

    Returns
    -------
    Tensor
        `dequantize(quantize(x, ...))`.

    References
    ----------
    Bengio, Leonard and Courville, "Estimating or propagating gradients through stochastic neurons", 2013.

    Examples
    --------
    >>> x = tb.asarray([1.0, 0.3, -0.6, 0.1])
    >>> tb.round_quantized(x, "int2").tolist()
    [1.0, 0.0, -1.0, 0.0]
    >>> tb.grad(lambda x: tb.sum(2 * tb.round_quantized(x, "int2")))(x).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    x = asarray(x)
    constant = stop_gradient(x)
    q = quantize(constant, dtype, axis=axis, block=block, symmetric=symmetric, scale_dtype=scale_dtype)
    # x - constant is 0, or NaN where x is not finite, as its quantised group is anyway.
    return dequantize(q) + (x - constant)


def _check(x: Tensor, kind: DType, symmetric: bool) -> None:
    """Raises the error of a tensor or a dtype that cannot be quantised."""
    if not x.dtype.is_floating:
        raise DTypeError(expected("a tensor of floats", "cast it with astype()", tensor=x.template))
    if kind.bits > 8 or kind.kind == "bool" or kind is float8_e8m0fnu:
        raise DTypeError(expected("an integer or narrow floating dtype of at most 8 bits", dtype=kind))
    if kind.kind == "uint" and symmetric:
        remedy = "pass symmetric=False, or take a signed dtype"
        raise DTypeError(expected("a dtype with negative numbers where 0 stands for 0", remedy, dtype=kind))
    if kind.kind == "float" and not symmetric:
        raise DTypeError(expected("an integer dtype for zero points", "leave symmetric out", dtype=kind))


def _arrange_groups(
    x: Tensor, kind: DType, along: int, whole: bool, block: int | None
) -> tuple[Tensor, int, Callable[[Tensor], Tensor]]:
    """The tensor in float32 with the axis of the groups in front, the size of a group, and how to group its rows."""
    plain = astype(x, float32) if x.dtype.bits < 32 else x
    plain = reshape(plain, x.shape, names=(None,) * x.ndim)
    rows = moveaxis(plain, along, 0) if x.ndim else reshape(plain, (1,))
    count = rows.shape[0]
    size = count if block is None else block
    each = 8 // kind.bits
    if size < 1 or count % size or count % each:
        unit = f"{size} elements a block" if size and count % size else f"{each} elements to a byte"
        raise ShapeError(
            expected(f"a size that is a multiple of the {unit}", "pad() it", size=count, tensor=x.template)
        )

    def groups(rows: Tensor) -> Tensor:
        if whole:
            return reshape(rows, (1, rows.size))
        return reshape(rows, (count // size, size, *rows.shape[1:]))

    return rows, size, groups


def _scales(groups: Tensor, kind: DType, scale_kind: DType, symmetric: bool) -> tuple[Tensor, Tensor | None]:
    """The scale and the zero point of each group."""
    if not symmetric:
        limits = iinfo(kind)
        low = -maximum(-groups.min(axis=1, keepdims=True), 0.0)
        high = maximum(groups.max(axis=1, keepdims=True), 0.0)
        steps = limits.max - limits.min
        scales = _rounded_up(_positive(high / steps - low / steps), scale_kind)
        zeros = limits.min - round_to_even(low / astype(scales, groups.dtype))
        return scales, clip(zeros, limits.min, limits.max)
    most = abs(groups).max(axis=1, keepdims=True)
    if scale_kind is float8_e8m0fnu:
        return _powers_of_two(most, kind), None
    if kind.kind == "float":
        return _in_range(_positive(most / finfo(kind).max), scale_kind), None
    return _rounded_up(_positive(most / iinfo(kind).max), scale_kind), None


def _in_range(scales: Tensor, kind: DType) -> Tensor:
    """Scales in a dtype, those beyond its range at its ends: none becomes 0 or infinite."""
    if kind.bits >= scales.dtype.bits:
        return astype(scales, kind)
    limits = finfo(kind)
    return astype(clip(scales, limits.smallest_normal * limits.eps, limits.max), kind)


def _rounded_up(scales: Tensor, kind: DType) -> Tensor:
    """Scales in a dtype, none of them rounded down, so that integers do not end before the largest element."""
    rounded = _in_range(scales, kind)
    if kind.bits >= scales.dtype.bits:
        return rounded
    limits, back = finfo(kind), astype(rounded, scales.dtype)
    following = maximum(back * (1 + 0.75 * limits.eps), back + limits.smallest_normal * limits.eps)
    return where(back < scales, _in_range(following, kind), rounded)


def _positive(scales: Tensor) -> Tensor:
    """Scales with 1 in place of 0, so that a group of zeros stays zero."""
    return where(scales == 0, ones_like(scales), scales)


def _powers_of_two(most: Tensor, kind: DType) -> Tensor:
    """The OCP's shared scale: the power of two of the largest magnitude, less that of the dtype's largest number."""
    top = {float8_e4m3fn: 8, float8_e5m2: 15, float4_e2m1fn: 2}.get(kind, kind.bits - 2)
    exponent = bitcast(astype(most, float32), int32) >> 23
    return astype(bitcast(maximum(exponent - top, 1) << 23, float32), float8_e8m0fnu)


def _narrow_numbers(wide: Tensor, kind: DType) -> Tensor:
    """Numbers in a narrow dtype, those beyond its limits at the limits."""
    if kind.kind == "float":
        limit = finfo(kind).max
        return astype(clip(wide, -limit, limit), kind)
    limits = iinfo(kind)
    return astype(clip(round_to_even(wide), limits.min, limits.max), kind)
