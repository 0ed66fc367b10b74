"""Learning rates as functions of the number of steps so far."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

from ..declarations.argument_errors import check_arguments, check_arguments_early
from ..dtypes import float64
from ..errors import ArgumentError, expected
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype
from ..ops.elementwise.binary import maximum, minimum
from ..ops.elementwise.transcendental import cos
from ..tensor import Tensor, TensorLike

Schedule = Callable[[Tensor], Tensor]


def _share(count: TensorLike, per_step: float) -> Tensor:
    """The number of steps times a number, in float64: a rate is rounded once, to the dtype of what it multiplies."""
    return astype(asarray(count), float64) * per_step


def _positive(steps: int) -> int:
    if steps < 1:
        raise ArgumentError(expected("at least 1 step", steps=steps))
    return steps


@check_arguments_early
def exponential_decay(rate: float, steps: int, factor: float) -> Schedule:
    """Make a schedule that decays exponentially, by `factor` in every `steps` steps.

    Parameters
    ----------
    rate : float
        The first rate.
    steps : int
        The number of steps in which the rate is multiplied by `factor`.
    factor : float
        The factor by which the rate is multiplied.

    Returns
    -------
    Callable
        The rate for a number of steps, a tensor without axes.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> rate = tb.optimize.exponential_decay(0.5, steps=10, factor=0.25)
    >>> [rate(tb.asarray(count)).item() for count in (0, 5, 10)]
    [0.5, 0.25, 0.125]
    """
    per_step, first, base = 1 / _positive(steps), float(rate), float(factor)

    @check_arguments
    def decay(count: TensorLike) -> Tensor:
        return first * base ** _share(count, per_step)

    return decay


@check_arguments_early
def cosine_decay(rate: float, steps: int, *, least: float = 0.0) -> Schedule:
    """Make a schedule that decays along half a period of the cosine, and is then constant.

    Parameters
    ----------
    rate : float
        The first rate.
    steps : int
        The number of steps during which the rate decays.
    least : float
        The rate after these steps.

    Returns
    -------
    Callable
        The rate for a number of steps.

    References
    ----------
    Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", ICLR 2017.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> rate = tb.optimize.cosine_decay(0.5, steps=10)
    >>> [round(rate(tb.asarray(count)).item(), 6) for count in (0, 5, 10, 20)]
    [0.5, 0.25, 0.0, 0.0]
    """
    per_step, first, last = 1 / _positive(steps), float(rate), float(least)

    @check_arguments
    def decay(count: TensorLike) -> Tensor:
        return last + (first - last) * 0.5 * (1 + cos(minimum(_share(count, per_step), 1.0) * pi))

    return decay


@check_arguments_early
def warmup(schedule: Schedule | float, steps: int) -> Schedule:
    """Make a schedule that increases linearly from 0 to the first rate of a schedule, and then follows that schedule.

    Parameters
    ----------
    schedule : Callable or float
        The schedule afterwards, or a constant rate.
    steps : int
        The number of steps during which the rate increases.

    Returns
    -------
    Callable
        The rate for a number of steps.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> rate = tb.optimize.warmup(0.5, steps=10)
    >>> [rate(tb.asarray(count)).item() for count in (0, 5, 10, 20)]
    [0.0, 0.25, 0.5, 0.5]
    """
    per_step = 1 / _positive(steps)

    @check_arguments
    def warm_up(count: TensorLike) -> Tensor:
        x = asarray(count)
        if x.dtype.is_integer and x.dtype.bits < 32:  # which may not hold the number of steps
            x = astype(x, "int32")
        after = schedule(maximum(x, steps) - steps) if callable(schedule) else float(schedule)
        return minimum(_share(x, per_step), 1.0) * after

    return warm_up
