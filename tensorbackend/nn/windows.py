"""Window functions, which make the ends of a piece of a signal fade, as vectors."""

from __future__ import annotations

import math

from ..declarations.argument_errors import check_arguments
from ..dtypes import DTypeLike, as_dtype, float64
from ..errors import ArgumentError, expected
from ..ops.composite.special.bessel import i0e
from ..ops.creation.filled import iota, ones, rename, zeros_like
from ..ops.elementwise.basic import astype
from ..ops.elementwise.binary import maximum
from ..ops.elementwise.transcendental import cos, exp, sqrt
from ..protocol import BackendLike
from ..rules.accuracy import Bound, declare_bound
from ..rules.plan import integer
from ..rules.random import check_floating
from ..tensor import Tensor

_BOUND = Bound(8, "functions with a few ulps", "one")


def _size(size: int) -> int:
    count = integer(0, size=size)
    if count < 0:
        raise ArgumentError(expected("a size of at least 0", size=size))
    return count


COSINES = {"hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08), "rectangular": (1.0,)}
"""For each window, the coefficients of the cosines whose alternating sum it is (Harris 1978)."""


def sum_of_cosines(window: str, angle: Tensor) -> Tensor:
    """The alternating sum of cosines of multiples of an angle that a window is."""
    total = zeros_like(angle)
    for order, weight in enumerate(COSINES[window]):
        total = total + cos(angle * order) * (weight * (-1) ** order)
    return total


def _cosines(
    window: str, size: int, periodic: bool, dtype: DTypeLike | None, name: str | None, backend: BackendLike
) -> Tensor:
    """An alternating sum of cosines over one period."""
    kind, count = check_floating(None if dtype is None else as_dtype(dtype)), _size(size)
    period = count if periodic else count - 1
    if count < 2:
        return ones((count,), dtype=kind, names=(name,), backend=backend)
    angle = astype(iota(count, backend=backend), float64) * (2 * math.pi / period)
    return rename(astype(sum_of_cosines(window, angle), kind), name)


@declare_bound(_BOUND)
@check_arguments
def hann(
    size: int,
    /,
    *,
    periodic: bool = True,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    backend: BackendLike = None,
) -> Tensor:
    """Hann's window: 0.5 - 0.5 cos over one period.

    References
    ----------
    Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proc. IEEE 66, 1978.

    Examples
    --------
    >>> tb.round(tb.nn.hann(4) * 100).tolist(), tb.round(tb.nn.hann(3, periodic=False) * 100).tolist()
    ([0.0, 50.0, 100.0, 50.0], [0.0, 100.0, 0.0])
    """
    return _cosines("hann", size, periodic, dtype, name, backend)


@declare_bound(_BOUND)
@check_arguments
def hamming(
    size: int,
    /,
    *,
    periodic: bool = True,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    backend: BackendLike = None,
) -> Tensor:
    """Hamming's window: 0.54 - 0.46 cos over one period.

    >>> tb.round(tb.nn.hamming(4) * 100).tolist()
    [8.0, 54.0, 100.0, 54.0]
    """
    return _cosines("hamming", size, periodic, dtype, name, backend)


@declare_bound(_BOUND)
@check_arguments
def blackman(
    size: int,
    /,
    *,
    periodic: bool = True,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    backend: BackendLike = None,
) -> Tensor:
    """Blackman's window, of two cosines.

    >>> tb.abs(tb.round(tb.nn.blackman(4) * 100)).tolist()
    [0.0, 34.0, 100.0, 34.0]
    """
    return _cosines("blackman", size, periodic, dtype, name, backend)


@declare_bound(Bound(64, "exponentials of a quotient of Bessel functions", "one"))
@check_arguments
def kaiser(
    size: int,
    beta: float,
    /,
    *,
    periodic: bool = True,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    backend: BackendLike = None,
) -> Tensor:
    """Kaiser's window, whose parameter weighs the width of the main lobe against the height of the others.

    Parameters
    ----------
    beta : float
        The parameter, at least 0; 0 is a rectangle, 14 a good start.

    Raises
    ------
    ArgumentError
        For a negative size or parameter.

    Examples
    --------
    >>> tb.round(tb.nn.kaiser(3, 5.0, periodic=False) * 100).tolist()
    [4.0, 100.0, 4.0]
    """
    kind, count = check_floating(None if dtype is None else as_dtype(dtype)), _size(size)
    if not 0 <= beta < math.inf:
        raise ArgumentError(expected("a finite beta of at least 0", beta=beta))
    span = count if periodic else count - 1
    if count < 2:
        return ones((count,), dtype=kind, names=(name,), backend=backend)
    share = astype(iota(count, backend=backend), float64) * (2 / span) - 1.0
    part = sqrt(maximum(1.0 - share * share, 0.0)) * float(beta)
    whole = astype(ones((), backend=backend), float64) * float(beta)
    ratio = i0e(part) * exp(part - whole) / i0e(whole)
    return rename(astype(ratio, kind), name)
