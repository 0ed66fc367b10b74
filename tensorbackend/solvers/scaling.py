"""Linear systems scaled by powers of two, so that squares of elements neither overflow nor underflow.

Powers of two are exact: a solve takes the same steps for A and b of any scale.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final, NamedTuple

from ..dtypes import DType, float32, float64
from ..ops.creation.filled import iota
from ..ops.elementwise.basic import abs as abs_
from ..ops.elementwise.basic import astype, bitcast, conj, where
from ..ops.elementwise.binary import bitwise_and, maximum, minimum
from ..ops.elementwise.transcendental import sqrt
from ..ops.reduction import max as max_
from ..ops.reduction import sum as sum_
from ..ops.shape import broadcast_to, reshape
from ..tensor import Tensor
from .iteration import Function, square
from .linear import Form, Tensors

_EXPONENTS: Final[dict[DType, tuple[str, int]]] = {float32: ("int32", 23), float64: ("int64", 52)}
"""For each dtype of sizes an integer dtype of its width, and the number of bits below the exponent."""


class ScaledMatrix(NamedTuple):
    """A matrix divided by a power of two, so that its largest element is from 1 to 2."""

    apply: Function
    """The product of the scaled matrix with vectors."""
    adjoint: Function
    """The product of its conjugate transpose with vectors."""
    parts: tuple[Tensor, ...]
    """The tensors of the form, scaled; those of the user's function are not."""
    power: Tensor
    """The power of two, of shape (..., 1)."""
    size: Tensor
    """The root of the mean squared norm of the scaled rows, of shape (..., 1)."""


def power(sizes: Tensor) -> Tensor:
    """The power of two below each size or equal to it, or the nearest one that is a normal number, as its inverse is.

    That of 0, an infinity or NaN is one of the two at the ends: a division by it does not change them.
    """
    integers, width = _EXPONENTS[sizes.dtype]
    largest_exponent = 2 ** (sizes.dtype.bits - 1 - width) - 2
    bits = bitwise_and(bitcast(sizes, integers), (largest_exponent + 1) << width)
    return bitcast(minimum(maximum(bits, 1 << width), (largest_exponent - 1) << width), sizes.dtype)


def largest_magnitude(x: Tensor, count: int = 1) -> Tensor:
    """The maximum magnitude along the last `count` axes, of shape (..., 1)."""
    sizes = abs_(x) if count == 1 else abs_(_flat(x, count))
    return (max_ if sizes.shape[-1] else sum_)(sizes, axis=-1, keepdims=True)


def norm(x: Tensor) -> Tensor:
    """The norm of vectors, of shape (..., 1)."""
    unit = power(largest_magnitude(x))
    return sqrt(square(x * (1 / unit))) * unit


def _flat(x: Tensor, count: int) -> Tensor:
    """The tensor with its last `count` axes flattened into one."""
    return x if count == 1 else reshape(x, (*x.shape[: x.ndim - count], prod(x.shape[x.ndim - count :])))


def scale_system(form: Form, parts: tuple[Tensor, ...], b: Tensor, columns: int) -> ScaledMatrix:
    """The scaled matrix of a system with right-hand sides like b."""
    if not form.axes:
        return _scale_function(form, parts, b, columns)
    elements = [part for part in parts if part.dtype.is_inexact]
    unit = power(_largest([largest_magnitude(part, form.axes) for part in elements]))
    inverse = 1 / unit

    def divide_rows(x: Tensor) -> Tensor:
        return x * (inverse if form.axes == 1 else inverse[..., None])

    divided_parts = tuple([divide_rows(part) if part.dtype.is_inexact else part for part in parts])
    squares = [square(_flat(part, form.axes)) for part in divided_parts if part.dtype.is_inexact]
    total = squares[0] if len(squares) == 1 else squares[0] + squares[1]
    rows = max(b.shape[-1], 1)
    return ScaledMatrix(*_products(form, divided_parts, None), divided_parts, unit, sqrt(total / rows))


def _largest(sizes: list[Tensor]) -> Tensor:
    return sizes[0] if len(sizes) == 1 else maximum(sizes[0], sizes[1])


def _scale_function(form: Form, parts: tuple[Tensor, ...], b: Tensor, columns: int) -> ScaledMatrix:
    """The scaled form of a function. A product with a vector of signs estimates the size of its elements."""
    places = iota(columns, dtype="int32", backend=b.backend)
    signs = astype(where(places * places * -1640531527 < 0, -1, 1), b.dtype)  # no pattern that A may take to zero
    product = form(parts, broadcast_to(signs, (*b.shape[:-1], columns)))
    unit = power(largest_magnitude(product))
    inverse = 1 / unit
    size = sqrt(square(product * inverse) / max(b.shape[-1], 1))
    return ScaledMatrix(*_products(form, parts, inverse), parts, unit, size)


def _products(form: Form, parts: Tensors, inverse: Tensor | None) -> tuple[Function, Function]:
    """The products with a matrix and with its conjugate transpose, of vectors multiplied by a number."""

    def scaled_vector(x: Tensor) -> Tensor:
        return x if inverse is None else x * inverse

    def apply(x: Tensor) -> Tensor:
        return form(parts, scaled_vector(x))

    def adjoint(x: Tensor) -> Tensor:
        return conj(form.apply_transpose(parts, conj(scaled_vector(x))))

    return apply, adjoint


def scale_preconditioner(precondition: Callable[[Tensor], Tensor], r: Tensor) -> Function:
    """A preconditioner that maps the residual r to a vector of about the same size; its factor changes no iterate."""
    unit = power(largest_magnitude(precondition(r)))
    inverse = 1 / unit
    return lambda x: precondition(x) * inverse
