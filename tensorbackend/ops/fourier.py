"""Discrete Fourier transforms along one axis; the rest of the Array API's extension is in `composite.fourier`.

`norm` says which transform divides by the length: the inverse one for "backward", the forward one for "forward", and
both by its square root for "ortho". A length truncates or zero-pads its axis at the end. The result of real input has
the complex dtype of its width. Integers, float16 and bfloat16, which have no such dtype, are transformed as the default
floating dtype or float32. Errors: `AxisError`, `ShapeError` for a length below 1, `ArgumentError` for another norm.
"""

from __future__ import annotations

from ..annotations import Axis
from ..declarations.argument_errors import check_arguments
from ..dispatch import primitive
from ..dtypes import DTypeLike, as_dtype, default_dtype, float64, int64
from ..protocol import BackendLike
from ..rules.accuracy import TRANSFORM
from ..rules.broadcasting import check_dtype
from ..rules.fourier import Norm, check_length, transform
from ..rules.plan import Plan
from ..template import Template
from ..tensor import Like, Tensor
from .creation.filled import iota
from .elementwise.basic import astype
from .elementwise.binary import greater


@primitive.within(TRANSFORM)
def fft(x: Template, /, *, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Plan:
    """Discrete Fourier transform along an axis, to the length `n`.

    >>> tb.fft.fft(tb.asarray([1.0, 0.0, -1.0, 0.0], names=("time",)))
    c64[time: 4] numpy [0.0+0.0j, 2.0+0.0j, 0.0+0.0j, 2.0+0.0j]
    """
    return transform(x, n, axis, norm)


@primitive.within(TRANSFORM)
def ifft(x: Template, /, *, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Plan:
    """Inverse discrete Fourier transform along an axis, to the length `n`.

    >>> tb.fft.ifft(tb.asarray([2.0, 0.0])).tolist()
    [(1+0j), (1+0j)]
    """
    return transform(x, n, axis, norm)


@check_arguments
def fftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """The frequencies k / (n * d) of a transform of n samples at distance `d`.

    From the middle on they are negative: k - n takes the place of k. Raises `DTypeError` for a dtype that is not
    floating.

    >>> tb.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    place = iota((check_length(n),), dtype=int64, names=(name,), backend=backend, device=device, like=like)
    folded = place - astype(greater(place, (n - 1) // 2), int64) * n
    return _frequencies(folded, n, d, dtype)


@check_arguments
def rfftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    backend: BackendLike = None,
    device: str | None = None,
    like: Like = None,
) -> Tensor:
    """The frequencies k / (n * d) of an `rfft` of n samples at distance `d`.

    Raises `DTypeError` for a dtype that is not floating.

    >>> tb.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    place = iota((check_length(n) // 2 + 1,), dtype=int64, names=(name,), backend=backend, device=device, like=like)
    return _frequencies(place, n, d, dtype)


def _frequencies(place: Tensor, n: int, d: float, dtype: DTypeLike | None) -> Tensor:
    target = check_dtype(default_dtype("float") if dtype is None else as_dtype(dtype), "floating")
    return astype(astype(place, float64) / float(n * d), target)
