"""SciPy's compiled functions by our ops, for arrays and tensors, so that gradients, `jit` and `vmap` go through them.

Copy this file, import it and write `scipy_tensorbackend.install()`. From then on the functions in `FUNCTIONS`, taken
from their modules (`scipy.signal.lfilter`), compute arrays of `tensorbackend.numpy` and tensors by our ops, on their
backend. Other arrays go to SciPy's own functions, and so do calls with options that ours do not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, Final

import numpy
from scipy import signal

import tensorbackend as tb
import tensorbackend.numpy as tnp
from tensorbackend import Tensor

Function = Callable[..., Any]


def _coefficients(values: Any, x: Tensor) -> Tensor:
    """Coefficients as a tensor on the backend of `x`; lists of numbers are float64, as for SciPy."""
    return values if isinstance(values, Tensor) else tb.asarray(values, dtype=tb.float64, like=x)


def _like(x: Tensor, values: Any) -> Tensor:
    """NumPy's array in the dtype and on the backend of a tensor, as SciPy computes float32 in float32."""
    return tb.asarray(values, dtype=x.dtype, like=x)


def _along(function: Function, x: Tensor, axis: int) -> Tensor:
    """Apply a function of one axis along an axis, which may change its size."""
    moved = tb.moveaxis(x, axis, -1)
    rows = tb.vmap(function)(tb.reshape(moved.rename(*[None] * x.ndim), (-1, moved.shape[-1])))
    whole = tb.reshape(rows, (*moved.shape[:-1], rows.shape[-1]))
    return tb.moveaxis(whole, -1, axis).rename(*x.names)


# scipy.fft


def _scaled(y: Tensor, size: int, norm: str | None, inverse: bool) -> Tensor:
    whole = norm == "forward" if not inverse else norm in (None, "backward")
    return y * math.sqrt(1 / (2 * size)) if norm == "ortho" else y / (2 * size) if whole else y


def _transform(x: Tensor, kind: int, axis: int, norm: str | None, inverse: bool) -> Tensor:
    """A cosine transform of type 2 or 3 by a Fourier transform of twice the size."""
    size = x.shape[axis]
    angles = _like(x, numpy.pi / (2 * size) * numpy.arange(size))
    ends = _like(x, numpy.where(numpy.arange(size) == 0, math.sqrt(2), 1.0))

    def second(row: Tensor) -> Tensor:
        whole = tb.fft.fft(tb.pad(row, [(0, size)]))[:size]
        y = 2 * (tb.real(whole) * tb.cos(angles) + tb.imag(whole) * tb.sin(angles))
        return y / ends if norm == "ortho" else y

    def third(row: Tensor) -> Tensor:
        row = row * ends if norm == "ortho" else row
        parts = tb.complex(row * tb.cos(angles), row * tb.sin(angles))
        return 4 * size * tb.real(tb.fft.ifft(tb.pad(parts, [(0, size)]))[:size]) - row[0]

    return _scaled(_along(second if kind == 2 else third, x, axis), size, norm, inverse)


def dct(x: Tensor, type: int = 2, axis: int = -1, norm: str | None = None) -> Tensor:
    return _transform(x, type, axis, norm, inverse=False)


def idct(x: Tensor, type: int = 2, axis: int = -1, norm: str | None = None) -> Tensor:
    return _transform(x, 5 - type, axis, norm, inverse=True)


# scipy.signal


def convolve(in1: Tensor, in2: Tensor, mode: str = "full") -> Tensor:
    return tb.convolve(in1, in2, mode=mode)  # type: ignore[arg-type] # one of three


def lfilter(b: Any, a: Any, x: Tensor, axis: int = -1) -> Tensor:
    b, a = _coefficients(b, x), _coefficients(a, x)
    if a.size == 1:
        return _along(lambda row: tb.convolve(row, b / a)[: row.size], x, axis)
    order = max(b.size, a.size) - 1
    b, a = (tb.pad(tb.divide(c, a[0]), [(0, order + 1 - c.size)]) for c in (b, a))

    def filtered(row: Tensor) -> Tensor:
        def step(state: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
            y = b[0] * value + state[0]
            return tb.concatenate([state[1:], tb.zeros_like(state[:1])]) + b[1:] * value - a[1:] * y, y

        _, ys = tb.scan(step, tb.zeros((order,), dtype=tb.result_type(b, a, row), like=row), row)
        return tb.asarray(ys)

    return _along(filtered, x, axis)


def sosfilt(sos: Any, x: Tensor, axis: int = -1) -> Tensor:
    sos = _coefficients(sos, x)
    for row in range(sos.shape[0]):
        x = lfilter(sos[row, :3], sos[row, 3:], x, axis)
    return x


def detrend(data: Tensor, axis: int = -1, type: str = "linear") -> Tensor:
    def level(row: Tensor) -> Tensor:
        row = row - tb.mean(row)
        times = _like(row, numpy.arange(row.size) - (row.size - 1) / 2)
        squares = (row.size**3 - row.size) / 12 or 1  # one value has no slope
        return row - times * (tb.sum(row * times) / squares) if type in ("linear", "l") else row

    return _along(level, data, axis)


def savgol_filter(
    x: Tensor,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
) -> Tensor:
    """At each end the values of one polynomial; any other `mode` extends `x` as `scipy.ndimage` does."""

    def weights(place: int | None) -> Any:
        return signal.savgol_coeffs(window_length, polyorder, deriv, delta, place, "dot")

    if mode != "interp":
        return correlate1d(x, weights(None), axis, mode)
    half = window_length // 2
    first = numpy.stack([weights(place) for place in range(half)], 1)
    last = numpy.stack([weights(place) for place in range(window_length - half, window_length)], 1)

    def smooth(row: Tensor) -> Tensor:
        inside = tb.correlate(row, _like(row, weights(None)), mode="valid")
        ends = row[:window_length] @ _like(row, first), row[-window_length:] @ _like(row, last)
        return tb.concatenate([ends[0], inside, ends[1]])

    return _along(smooth, x, axis)


# scipy.ndimage

_MODES: Final = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap"}
"""NumPy's names of what is around an array."""


def correlate1d(
    input: Tensor, weights: Any, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Tensor:
    weights = _coefficients(weights, input)
    before = weights.size // 2 + origin
    around = (before, weights.size - 1 - before)

    def correlated(row: Tensor) -> Tensor:
        if mode == "constant":
            whole = tb.pad(row, [around], value=cval)
        else:
            whole = tb.take(row, tb.asarray(numpy.pad(numpy.arange(row.size), around, _MODES[mode]), like=row))  # type: ignore[call-overload]
        return tb.correlate(whole, tb.astype(weights, whole.dtype), mode="valid")

    return _along(correlated, input, axis)


def convolve1d(
    input: Tensor, weights: Any, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Tensor:
    weights = _coefficients(weights, input)
    return correlate1d(input, tb.flip(weights), axis, mode, cval, (weights.size % 2 - 1) - origin)


def uniform_filter1d(
    input: Tensor, size: int, axis: int = -1, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Tensor:
    return correlate1d(input, numpy.full(size, 1 / size), axis, mode, cval, origin)


def gaussian_filter1d(
    input: Tensor, sigma: float, axis: int = -1, mode: str = "reflect", cval: float = 0.0, truncate: float = 4.0
) -> Tensor:
    reach = int(truncate * float(sigma) + 0.5)
    weights = numpy.exp(-0.5 * (numpy.arange(-reach, reach + 1) / sigma) ** 2)
    return correlate1d(input, weights / weights.sum(), axis, mode, cval)


def _each_axis(function: Function, input: Tensor, values: Any, options: dict[str, Any]) -> Tensor:
    for axis, value in enumerate(values if isinstance(values, list | tuple) else [values] * input.ndim):
        input = function(input, value, axis, **options) if value > 1e-15 else input
    return input


def gaussian_filter(
    input: Tensor, sigma: Any, mode: str = "reflect", cval: float = 0.0, truncate: float = 4.0
) -> Tensor:
    return _each_axis(gaussian_filter1d, input, sigma, {"mode": mode, "cval": cval, "truncate": truncate})


def uniform_filter(input: Tensor, size: Any = 3, mode: str = "reflect", cval: float = 0.0) -> Tensor:
    return _each_axis(uniform_filter1d, input, size, {"mode": mode, "cval": cval})


# scipy.integrate


def simpson(y: Tensor, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    y = tb.moveaxis(y, axis, -1)
    size = y.shape[-1]
    if x is not None:
        x = _coefficients(x, y)
        steps = tb.diff(tb.moveaxis(x, axis, -1) if x.ndim > 1 else x)
    else:
        steps = tb.full((size - 1,), dx, dtype=y.dtype, like=y)
    if size < 3:
        return tb.sum(steps * (y[..., 1:] + y[..., :-1]), axis=-1) / 2
    pairs = (size - 1) // 2 * 2
    h0, h1 = steps[..., :pairs:2], steps[..., 1:pairs:2]
    left, middle, right = y[..., :pairs:2], y[..., 1:pairs:2], y[..., 2 : pairs + 1 : 2]
    both = h0 + h1
    parabolas = both / 6 * (left * (2 - h1 / h0) + middle * both**2 / (h0 * h1) + right * (2 - h0 / h1))
    total = tb.sum(parabolas, axis=-1)
    if pairs == size - 1:
        return total
    h0, h1 = steps[..., -2], steps[..., -1]  # the last step by the parabola through the last three values
    at_end, before = (2 * h1 + 3 * h0) * h1 / (6 * (h0 + h1)), (h1 + 3 * h0) * h1 / (6 * h0)
    return total + y[..., -1] * at_end + y[..., -2] * before - y[..., -3] * h1**3 / (6 * h0 * (h0 + h1))


# scipy.linalg


def inv(a: Tensor) -> Tensor:
    return tb.linalg.inv(a)


def det(a: Tensor) -> Tensor:
    return tb.linalg.det(a)


def expm(A: Tensor) -> Tensor:
    return tb.linalg.expm(A)


def solve(a: Tensor, b: Tensor) -> Tensor:
    return tb.linalg.solve(a, b)


def cholesky(a: Tensor, lower: bool = False) -> Tensor:
    return tb.linalg.cholesky(a, upper=not lower)


def svdvals(a: Tensor) -> Tensor:
    return tb.linalg.svdvals(a)


def pinv(a: Tensor) -> Tensor:
    return tb.linalg.pinv(a)


FUNCTIONS: Final[dict[str, tuple[Function, ...]]] = {
    "scipy.fft": (dct, idct),
    "scipy.signal": (convolve, lfilter, sosfilt, detrend, savgol_filter),
    "scipy.ndimage": (
        correlate1d, convolve1d, uniform_filter1d, gaussian_filter1d, gaussian_filter, uniform_filter,
    ),
    "scipy.integrate": (simpson,),
    "scipy.linalg": (inv, det, expm, solve, cholesky, svdvals, pinv),
}  # fmt: skip
"""What `install` replaces, by module."""

_IDLE: Final = frozenset(
    {"overwrite_a", "overwrite_b", "overwrite_x", "overwrite_data", "check_finite", "workers", "method"}
)
"""Options that change no result."""


def _dispatched(theirs: Function, ours: Function) -> Function:
    """SciPy's function, which computes by ours where an argument is ours and each option is known."""
    parameters, known = signature(theirs), signature(ours).parameters

    @wraps(theirs)
    def function(*arguments: Any, **options: Any) -> Any:
        if not any(type(x) in (Tensor, tnp.ndarray) for x in (*arguments, *options.values())):
            return theirs(*arguments, **options)
        given = parameters.bind(*arguments, **options).arguments
        changed = {name: x for name, x in given.items() if name in known or not _is_default(parameters, name, x)}
        if changed.keys() - known.keys() - _IDLE or not _fits(ours, changed):
            return theirs(*arguments, **options)
        boxed = any(type(x) is tnp.ndarray for x in given.values())
        home = next(x for x in map(_tensor, given.values()) if isinstance(x, Tensor))
        y = ours(**{name: _tensor(x, home) for name, x in changed.items() if name in known})
        return tnp.asarray(y) if boxed else y

    return function


def _tensor(x: Any, home: Tensor | None = None) -> Any:
    """The tensor of an array; NumPy's array becomes one on the backend of `home`, integers in float64 as for SciPy."""
    if type(x) is tnp.ndarray:  # NumPy's own arrays are instances of it, too
        return x.tensor
    if home is None or not isinstance(x, numpy.ndarray):
        return x
    return tb.asarray(x if x.dtype.kind in "fc" else x.astype(float), like=home)


def _is_default(parameters: Any, name: str, x: Any) -> bool:
    default = parameters.parameters[name].default
    return default is not Parameter.empty and x is default


def _fits(ours: Function, given: dict[str, Any]) -> bool:
    """Whether ours compute this: some float32 or float64, two types of transforms, products of two vectors."""
    tensors = [x for x in map(_tensor, given.values()) if isinstance(x, Tensor)]
    if not all(x.dtype in (tb.float32, tb.float64) and x.size for x in tensors):
        return False
    if ours in (dct, idct):
        return given.get("type", 2) in (2, 3)
    if ours is convolve:
        return getattr(given["in1"], "ndim", 0) == getattr(given["in2"], "ndim", 0) == 1
    return isinstance(given.get("mode", "wrap"), str) and isinstance(given.get("axis", -1), int)


def install() -> None:
    """Replace SciPy's functions; a second call changes nothing."""
    for name, functions in FUNCTIONS.items():
        module = import_module(name)
        for ours in functions:
            theirs = getattr(module, ours.__name__)
            if not hasattr(theirs, "by_tensorbackend"):
                replaced = _dispatched(theirs, ours)
                replaced.by_tensorbackend = ours  # type: ignore[attr-defined]
                setattr(module, ours.__name__, replaced)
