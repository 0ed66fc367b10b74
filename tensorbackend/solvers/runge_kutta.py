"""The method of Dormand and Prince for ordinary differential equations, with adaptive steps and dense output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Final, NamedTuple

from ..dtypes import finfo
from ..expr.while_loops import while_loop
from ..ops.composite.elementwise.functions import isfinite, square, stop_gradient
from ..ops.composite.reduction import mean
from ..ops.creation.filled import full
from ..ops.elementwise.basic import abs as magnitude
from ..ops.elementwise.basic import where
from ..ops.elementwise.binary import less, less_equal, logical_and, logical_or, maximum, minimum
from ..ops.elementwise.transcendental import sqrt
from ..tensor import Tensor

Slope = Callable[[Tensor, Tensor], Tensor]
"""The derivative of a vector by time, from the time and the vector."""

_AT: Final = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
_STAGES: Final = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
_WEIGHTS: Final = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
_ERRORS: Final = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
_DENSE: Final = (
    -12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072,
    701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
)  # fmt: skip
"""Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, second edition, II.5 and II.6."""


class Progress(NamedTuple):
    """The state between two steps."""

    t: Tensor
    y: Tensor
    slope: Tensor
    step: Tensor
    values: Tensor
    """The values at the requested times, a row for each; NaN where one is not reached."""
    steps: Tensor
    failed: Tensor
    """Whether the step became too small to go on."""


def _combination(weights: Sequence[float], slopes: Sequence[Tensor]) -> Tensor:
    terms = [slope * weight for weight, slope in zip(weights, slopes, strict=True) if weight]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _norm(x: Tensor) -> Tensor:
    """The root mean square."""
    return sqrt(mean(square(x)))


def _first_step(f: Slope, y: Tensor, slope: Tensor, rtol: float, atol: float) -> Tensor:
    """A step for which the error is about a hundredth of the tolerance (Hairer, Nørsett and Wanner, II.4)."""
    scale = atol + rtol * magnitude(y)
    size, speed = _norm(y / scale), _norm(slope / scale)
    first = where(logical_and(size > 1e-5, speed > 1e-5), 0.01 * size / maximum(speed, 1e-30), 1e-6)
    bend = _norm((f(first, y + first * slope) - slope) / scale) / first
    most = maximum(speed, bend)
    second = where(most > 1e-15, (0.01 / maximum(most, 1e-30)) ** 0.2, maximum(1e-6, first * 1e-3))
    return minimum(100 * first, second)


def integrate(
    f: Slope, y0: Tensor, end: Tensor, times: Tensor, rtol: float, atol: float, most: int, limit: int | None
) -> Progress:
    """Integrate from time 0 to `end`, and interpolate at times between them.

    With a `limit` the loop has a gradient; the sizes of steps are constants for it.
    """
    dtype, eps = y0.dtype, float(finfo(y0.dtype).eps)
    start = full((), 0, dtype=dtype)

    def advance(state: Progress) -> Progress:
        t, y, slope = state.t, state.y, state.slope
        step = stop_gradient(minimum(state.step, end - t))
        slopes = [slope]
        for at, weights in zip(_AT, _STAGES, strict=True):
            slopes.append(f(t + at * step, y + step * _combination(weights, slopes)))
        following = y + step * _combination(_WEIGHTS, slopes)
        slopes.append(f(t + step, following))
        scale = atol + rtol * maximum(magnitude(y), magnitude(following))
        error = stop_gradient(_norm(step * _combination(_ERRORS, slopes) / scale))
        accepted = error <= 1
        growth = where(isfinite(error), 0.9 * maximum(error, 1e-10) ** -0.2, 0.2)
        growth = minimum(maximum(growth, 0.2), where(accepted, full((), 10, dtype=dtype), 1))
        # Hairer's dense output of order 4.
        share = (times - t) / step
        # A time at the start is in the first step too, so that it has the derivatives of the interpolation.
        begun = logical_or(share > 0, logical_and(t == 0, share == 0))
        inside = logical_and(logical_and(accepted, begun), less_equal(times, t + step * (1 + 4 * eps)))
        part = where(inside, share, 0.0)[:, None]
        change = following - y
        bend = step * slope - change
        rest = change - step * slopes[-1] - bend
        dense = step * _combination(_DENSE, slopes)
        value = y + part * (change + (1 - part) * (bend + part * (rest + (1 - part) * dense)))
        small = step * growth < 4 * eps * maximum(magnitude(t), magnitude(end)) * 1e-3
        return Progress(
            where(accepted, t + step, t),
            where(accepted, following, y),
            where(accepted, slopes[-1], slope),
            step * growth,
            where(inside[:, None], value, state.values),
            state.steps + 1,
            logical_and(small, end - t > 2 * step),
        )

    slope = f(start, y0)
    values = where((times == 0)[:, None], y0, full((times.shape[0], y0.shape[0]), nan, dtype=dtype))
    first = stop_gradient(_first_step(f, y0, slope, rtol, atol))
    count, failed = full((), 0, dtype="int32"), full((), False, dtype="bool")

    def goes_on(state: Progress) -> Tensor:
        return logical_and(logical_and(less(state.t, end * (1 - 4 * eps)), state.steps < most), ~state.failed)

    ended: Progress = while_loop(
        goes_on, advance, Progress(start, y0, slope, first, values, count, failed), limit=limit
    )
    return ended
