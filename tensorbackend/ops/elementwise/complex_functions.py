"""Functions of complex numbers for which there are no callbacks, and the ops that call these or the callbacks."""

from __future__ import annotations

import builtins
from typing import Never

from ...declarations.argument_errors import check_arguments
from ...declarations.signature_errors import adapt
from ...docstrings import document
from ...tensor import Tensor, TensorLike, bind
from ..composite.elementwise.functions import isfinite
from ..creation.filled import asarray
from .basic import real, where
from .binary import logical_or, maximum
from .transcendental import exp, log, real_cbrt, real_rsqrt, real_sigmoid, sqrt, tanh


def _complex_cbrt(x: TensorLike, /) -> Tensor:
    """The principal cube root: exp(log(x) / 3)."""
    x = asarray(x)
    special = logical_or(x == 0, ~isfinite(x))
    finite = where(special, 1, x)
    root = exp(log(finite) / 3)
    # The exponential makes the absolute error of the logarithm into a relative one, which a step of Newton's method
    # removes.
    square = root * root
    root = root - (root - finite / square) / 3
    return where(special, where(x == 0, x, exp(log(x) / 3)), root)


def _complex_sigmoid(x: TensorLike, /) -> Tensor:
    """1 / (1 + exp(-x)) of complex numbers, without overflow; near its poles it is computed from tanh(x / 2)."""
    x = asarray(x)
    part = real(x)
    right = part >= 0
    small = exp(where(right, -x, x))
    far = where(right, 1, small) / (1 + small)
    near = maximum(part, -part) < 1
    return where(near, (tanh(where(near, x, 0) * 0.5) + 1) * 0.5, far)


def _is_complex(x: TensorLike) -> bool:
    """Whether a tensor, a number or another library's array is of a complex dtype."""
    return isinstance(x, builtins.complex) or getattr(getattr(x, "dtype", None), "kind", None) in ("complex", "c")


@bind
@document
def cbrt(x: TensorLike, /, *surplus: Never, **unknown: Never) -> Tensor:
    """Real cube root, also of negative numbers; the principal root of complex numbers.

    >>> tb.cbrt(tb.asarray([-8.0])).tolist()
    [-2.0]
    """
    if surplus or unknown:
        adapt(cbrt, (x, *surplus), unknown)
    if not _is_complex(x):
        return real_cbrt(x)
    return _complex_cbrt(x)


@bind
@check_arguments
def rsqrt(x: TensorLike, /) -> Tensor:
    """1 / sqrt(x).

    >>> tb.rsqrt(tb.asarray([4.0])).tolist()
    [0.5]
    """
    if not _is_complex(x):
        return real_rsqrt(x)
    return 1 / sqrt(x)


@bind
@check_arguments
def sigmoid(x: TensorLike, /) -> Tensor:
    """Logistic function 1 / (1 + exp(-x)).

    >>> tb.sigmoid(tb.asarray([0.0])).tolist()
    [0.5]
    """
    if not _is_complex(x):
        return real_sigmoid(x)
    return _complex_sigmoid(x)
