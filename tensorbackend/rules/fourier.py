"""Templates of Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from ..annotations import Axis
from ..dtypes import COMPLEX_OF, DType, default_dtype, float32
from ..errors import ArgumentError, ShapeError, TemplateDataError, expected
from ..sizes import index
from ..template import Template
from .axes import normalize_axes, normalize_axis
from .plan import Plan, choice

Norm: TypeAlias = Literal["backward", "ortho", "forward"]
Kind: TypeAlias = Literal[1, 2, 3, 4]

NORMS: tuple[Norm, ...] = ("backward", "ortho", "forward")
"""Which transform divides by the length, in this order: the inverse; both, by its square root; the forward one."""


def transform(x: Template, length: int | None, axis: Axis, norm: Norm) -> Plan:
    """The plan of a transform along one axis, names kept: c64[t: 4] for f32[t: 8] and a length of 4.

    Integers and floats of less than 32 bits are cast first; see `transform_dtype`.
    """
    position = normalize_axis(x, axis)
    size = check_length(x.shape[position] if length is None else length)
    dtype = transform_dtype(x.dtype)
    out = x.replace(shape=(*x.shape[:position], size, *x.shape[position + 1 :]), dtype=COMPLEX_OF.get(dtype, dtype))
    return Plan(out, (dtype,), {"axis": position, "length": size, "norm": check_norm(norm)})


def transform_dtype(dtype: DType) -> DType:
    """The dtype to which a transform casts numbers of a dtype: float32, float64 or a complex one."""
    if dtype.is_complex:
        return dtype
    floating = dtype if dtype.is_floating else default_dtype("float")
    return floating if floating.bits >= 32 else float32


def check_length(length: int) -> int:
    """The length itself; `ShapeError` unless it is at least 1."""
    try:
        size = index(length)
    except TemplateDataError:
        raise
    except TypeError:
        size = 0
    if size < 1:
        raise ShapeError(expected("a transform of at least one element", "pass a length of at least 1", length=length))
    return size


def check_norm(norm: Norm) -> Norm:
    """The norm itself; `ArgumentError` for another word."""
    choice(NORMS, norm=norm)
    return norm


def check_kind(kind: Kind) -> Kind:
    """The type of a cosine transform itself; `ArgumentError` for another number."""
    if kind not in (1, 2, 3, 4) or isinstance(kind, bool):
        raise ArgumentError(expected("type to be 1, 2, 3 or 4", type=kind))
    return kind


def several(
    x: Template, sizes: Sequence[int] | None, axes: Sequence[Axis] | Axis | None
) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    """The axes of a transform along several in their order, and a length or `None` for each.

    Raises `ArgumentError` for lengths without axes, or not one for each axis (Array API standard, "fftn").
    """
    if sizes is None:
        order = normalize_axes(x, axes)
        return order, (None,) * len(order)
    if axes is None:
        raise ArgumentError(expected("axes together with s", "name the axis of each length", s=tuple(sizes)))
    order = normalize_axes(x, axes)
    if len(sizes) != len(order):
        raise ArgumentError(expected("one length in s for each axis", s=tuple(sizes), axes=axes))
    return order, tuple(sizes)
