"""Functions of complex numbers that no callback has, written in public ops."""

from __future__ import annotations

from ...dispatch import composite
from ...dtypes import COMPLEX_OF
from ...rules.broadcasting import check_dtype, result_type, to_floating
from ...tensor import Tensor, TensorLike
from ..conversion import astype
from ..creation import asarray
from ..elementwise_binary import add, divide, equal, greater_equal
from ..elementwise_ternary import where
from ..elementwise_unary import conj, exp, log, negative, real, sqrt


@composite
def complex(real: Tensor, imag: Tensor, /) -> Tensor:
    """Complex numbers of their real and imaginary parts, which broadcast; signed zeros, infinities and NaN stay.

    Parameters
    ----------
    real, imag : tensors of a real dtype, whose common dtype decides between complex64 and complex128

    Returns
    -------
    Tensor
        real + imag * 1j, each part as it was given.

    Raises
    ------
    DTypeError
        For parts that are complex or bool.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.complex(tb.asarray([1.0, -0.0]), float("inf")).tolist()
    [(1+infj), (-0+infj)]
    """
    dtype = COMPLEX_OF[to_floating(check_dtype(result_type([real.template, imag.template]), "real"))]
    # By -1j goes part by part, and gives -0.0 + imag j; x - 0.0j then keeps the sign of each zero.
    return add(conj(astype(real, dtype)), divide(astype(imag, dtype), -1j))


def rsqrt(x: TensorLike, /) -> Tensor:
    """1 / sqrt(x) of complex numbers."""
    return divide(1, sqrt(x))


def cbrt(x: TensorLike, /) -> Tensor:
    """The principal cube root: exp(log(x) / 3)."""
    x = asarray(x)
    at_zero = equal(x, 0)
    return where(at_zero, x, exp(divide(log(where(at_zero, 1, x)), 3)))


def sigmoid(x: TensorLike, /) -> Tensor:
    """1 / (1 + exp(-x)) of complex numbers, whose exponential does not overflow."""
    x = asarray(x)
    right = greater_equal(real(x), 0)
    small = exp(where(right, negative(x), x))
    return divide(where(right, 1, small), add(1, small))
