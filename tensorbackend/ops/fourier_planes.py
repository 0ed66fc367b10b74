"""Fourier transforms of planes, such as images."""

from __future__ import annotations

from collections.abc import Sequence

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..rules.accuracy import TRANSFORM, declare_bound
from ..rules.fourier import Norm
from ..tensor import Tensor, TensorLike
from .composite.fourier import fftn, ifftn


@declare_bound(TRANSFORM)
@check_arguments
def fft2(
    x: TensorLike, /, *, s: Sequence[int] | None = None, axes: Sequence[Axis] = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """Discrete Fourier transform along two axes, the last ones by default: `fftn` of planes.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.fft.fft2(tb.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return fftn(x, s=s, axes=axes, norm=norm)


@declare_bound(TRANSFORM)
@check_arguments
def ifft2(
    x: TensorLike, /, *, s: Sequence[int] | None = None, axes: Sequence[Axis] = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """Inverse of `fft2`.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.fft.ifft2(tb.fft.fft2(tb.eye(2))).tolist()
    [[(1+0j), 0j], [0j, (1+0j)]]
    """
    return ifftn(x, s=s, axes=axes, norm=norm)
