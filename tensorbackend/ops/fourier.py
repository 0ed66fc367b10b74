"""Discrete Fourier transforms along one axis; the rest of the Array API's extension is in `composite.fourier`.

`norm` says which direction divides by the length: "backward" the inverse one, "forward" the forward one,
"ortho" each by its square root. A length cuts or zero-pads its axis at the end. Real input gives the complex
dtype of its width; integers, float16 and bfloat16, which have none, are transformed as the default floating
dtype or float32. Errors: `AxisError`, `ShapeError` for a length below 1, `ArgumentError` for another norm.
"""

from __future__ import annotations

from ..dispatch import primitive
from ..rules.fourier import Norm, transform
from ..rules.plan import Plan
from ..template import Template
from ..tensor import Axis


@primitive
def fft(x: Template, /, *, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Plan:
    """Discrete Fourier transform along an axis, to the length `n`.

    >>> import tensorbackend as tb
    >>> tb.fft.fft(tb.asarray([1.0, 0.0, -1.0, 0.0], names=("time",)))
    c64[time: 4] numpy
    [0.0+0.0j, 2.0+0.0j, 0.0+0.0j, 2.0+0.0j]
    """
    return transform(x, n, axis, norm)


@primitive
def ifft(x: Template, /, *, n: int | None = None, axis: Axis = -1, norm: Norm = "backward") -> Plan:
    """Inverse discrete Fourier transform along an axis, to the length `n`.

    >>> import tensorbackend as tb
    >>> tb.fft.ifft(tb.asarray([2.0, 0.0])).tolist()
    [(1+0j), (1+0j)]
    """
    return transform(x, n, axis, norm)
