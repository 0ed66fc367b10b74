"""Dtypes and shapes of elementwise results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ..dtypes import REAL_OF, DType, bool_, default_dtype, promote_scalar, promote_types
from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..template import Names, Shape, Template, intern_template, merge_names
from .plan import Plan

ACCEPTED: dict[str, Callable[[DType], bool]] = {
    "any": lambda dtype: True,
    "numeric": lambda dtype: dtype.is_numeric,
    "real": lambda dtype: dtype.is_numeric and not dtype.is_complex,
    "real or bool": lambda dtype: not dtype.is_complex,
    "integer": lambda dtype: dtype.is_integer,
    "integer or bool": lambda dtype: dtype.is_integer or dtype is bool_,
    "floating": lambda dtype: dtype.is_floating,
    "floating or complex": lambda dtype: dtype.is_inexact,
    "complex": lambda dtype: dtype.is_complex,
}
"""The conditions that an op may set for a dtype, by the words for them in error messages."""


def result_type(operands: Sequence[Template]) -> DType:
    """The dtype that operands promote to; Python numbers (weak templates) yield to the other operands.

    >>> result_type([Template((2,), "int8"), Template((), "f32", weak=True)])
    float32
    """
    strong = [operand.dtype for operand in operands if not operand.weak]
    weak = [operand.dtype for operand in operands if operand.weak]
    dtype = reduce(promote_types, strong or weak)
    for other in weak:
        dtype = promote_scalar(other.kind, dtype)
    return dtype


def check_dtype(dtype: DType, accept: str, remedy: str = "") -> DType:
    """The dtype itself; `DTypeError` unless it is of the kind `accept`, one of the words of `ACCEPTED`."""
    if not ACCEPTED[accept](dtype):
        if not remedy and dtype.is_complex:
            remedy = "take real(x), imag(x) or abs(x)"
        article = "an" if accept[0] in "aio" else "a"
        raise DTypeError(expected(f"{article} {accept} dtype", remedy or "cast it with astype()", dtype=dtype))
    return dtype


def check_cast(source: DType, target: DType) -> DType:
    """The target itself; `DTypeError` if a cast would silently drop imaginary parts."""
    if source.is_complex and not (target.is_complex or target is bool_):
        raise DTypeError(expected("a complex dtype to cast to", "take real(x) or imag(x) first", dtype=target))
    return target


def to_floating(dtype: DType) -> DType:
    """The dtype itself if floating or complex, else the default floating one."""
    return dtype if dtype.is_inexact else default_dtype("float")


def to_real(dtype: DType) -> DType:
    """The dtype of the real and imaginary parts of a complex dtype; any other dtype itself."""
    return REAL_OF.get(dtype, dtype)


def broadcast_two(left: Template, right: Template, shown: tuple[Template, Template] | None = None) -> Shape:
    """The shape that two shapes broadcast to, aligned from the right: (2, 3) for (2, 1) and (3,).

    Raises `ShapeError` if sizes differ and neither is 1 (Array API standard, "Broadcasting"). Its message shows
    `left` and `right`, or the operands in `shown` of which they are parts.
    """
    a, b = left.shape, right.shape
    if a == b:
        return a
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    sizes = list(longer)
    for position in range(1, len(shorter) + 1):
        size, other = longer[-position], shorter[-position]
        if size == 1:
            sizes[-position] = other
        elif other not in (1, size):
            left, right = shown or (left, right)
            remedy = "reshape() or align_as() one of them"
            if (
                None not in left.names + right.names
                and {*left.names} - {*right.names}
                and {*right.names} - {*left.names}
            ):
                remedy = "aligned(x, y, outer=True) pairs their axes by name"
            raise ShapeError(expected("sizes that are equal or 1 along matching axes", remedy, left=left, right=right))
    return tuple(sizes)


def broadcast(operands: Sequence[Template]) -> tuple[Shape, Names]:
    """Shape and names of operands broadcast together; `ShapeError` or `NamesError` if they do not match."""
    if not operands:
        raise ArgumentError(expected("at least one tensor"))
    merged = operands[0]
    for operand in operands[1:]:
        merged = intern_template(broadcast_two(merged, operand), bool_, merge_names(merged, operand))
    return merged.shape, merged.names


def elementwise(
    *operands: Template,
    accept: str = "numeric",
    convert: Callable[[DType], DType] | None = None,
    result: Callable[[DType], DType] | DType | None = None,
) -> Plan:
    """The plan of an elementwise op: promote, convert if the op needs it, broadcast.

    `accept` is one of the words of `ACCEPTED`. `convert` maps the promoted dtype to the dtype that the callback
    computes in. `result` is the dtype of the result, or maps the computing dtype to it.
    """
    dtype = check_dtype(result_type(operands), accept)
    if convert is not None:
        dtype = convert(dtype)
    out = result or dtype if result is None or isinstance(result, DType) else result(dtype)
    shape, names = broadcast(operands)
    return Plan(intern_template(shape, out, names), (dtype,) * len(operands))


def truth_values(*operands: Template) -> Plan:
    """The plan of a logical op, which takes operands of any dtypes as truth values and does not promote them."""
    shape, names = broadcast(operands)
    return Plan(intern_template(shape, bool_, names), (bool_,) * len(operands))
