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
    x: TensorLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[Axis] = (-2, -1),
    norm: Norm = "backward",
) -> Tensor:
    """Discrete Fourier transform along two axes, the last ones by default: `fftn` of planes.

    Parameters
    ----------
    x : Tensor
        A tensor of at least two axes.
    s : pair of int, optional
        The lengths of the transforms, by default those of the axes.
    axes : pair of axes, default (-2, -1)
        The axes of the planes.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Which transforms are divided by the number of elements, as for `fft`.

    Returns
    -------
    Tensor
        The complex transform.

    Raises
    ------
    AxisError
        For an axis that the tensor does not have, or one that is given twice.
    ShapeError
        For a length below 1.

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
    x: TensorLike,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[Axis] = (-2, -1),
    norm: Norm = "backward",
) -> Tensor:
    """Inverse of `fft2`.

    Parameters
    ----------
    x : Tensor
        A tensor of at least two axes.
    s : pair of int, optional
        The lengths of the transforms, by default those of the axes.
    axes : pair of axes, default (-2, -1)
        The axes of the planes.
    norm : {"backward", "ortho", "forward"}, default "backward"
        As for `fft2`.

    Returns
    -------
    Tensor
        The complex transform.

    Raises
    ------
    AxisError
        For an axis that the tensor does not have, or one that is given twice.
    ShapeError
        For a length below 1.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.fft.ifft2(tb.fft.fft2(tb.eye(2))).tolist()
    [[(1+0j), 0j], [0j, (1+0j)]]
    """
    return ifftn(x, s=s, axes=axes, norm=norm)
