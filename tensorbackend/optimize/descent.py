"""Gradient descent: steps along the negative gradient at a rate, with momentum, and by signs of mean gradients.

A rate is a number or a schedule, a function of the number of steps so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import pi
from typing import NamedTuple

from ..declarations.argument_errors import check_arguments, check_arguments_early
from ..dtypes import float64
from ..errors import ArgumentError, expected
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype, sign
from ..ops.elementwise.binary import maximum, minimum
from ..ops.elementwise.transcendental import cos
from ..rules.broadcasting import to_real
from ..tensor import Tensor, TensorLike
from .transformations import (
    Counted,
    GradientTransformation,
    Mask,
    Trees,
    add_decayed_weights,
    chain,
    check_decay,
    compute_wide,
    map_numbers,
    new_transformation,
    next_step,
    round_updates,
    scale,
    wide_zeros,
    widen,
    zero_steps,
)


@check_arguments_early
def scale_by_rate(rate: float | Schedule) -> GradientTransformation:
    """Multiply gradients by the negative rate, so that updates are descent steps.

    Returns
    -------
    GradientTransformation
        With a schedule its state is the number of steps.

    Raises
    ------
    ArgumentError
        For a rate that is not finite.

    Examples
    --------
    >>> tb.optimize.scale_by_rate(0.5).update(tb.ones(1), ())[0].tolist()
    [-0.5]
    """
    if not callable(rate):
        if not math.isfinite(rate):
            raise ArgumentError(expected("a finite rate", rate=rate))
        return scale(-float(rate))

    def update(gradients: Trees, state: Counted, parameters: Trees = None) -> tuple[Trees, Counted]:
        now = -widen(rate(state.steps))
        return compute_wide(lambda x: x * astype(now, to_real(x.dtype)), gradients), Counted(next_step(state.steps))

    return new_transformation(lambda parameters: Counted(zero_steps(parameters)), update)


class Momentum(NamedTuple):
    """The decayed sum of earlier gradients."""

    momentum: Trees


@check_arguments_early
def trace(decay: float, *, nesterov: bool = False) -> GradientTransformation:
    """Accumulate gradients with decay, as momentum.

    Parameters
    ----------
    decay : float
        The weight of a gradient one step later, from 0 to below 1.

    Returns
    -------
    GradientTransformation
        Its state holds the decayed sums of gradients, in float32 or wider.

    References
    ----------
    Sutskever et al., "On the importance of initialization and momentum in deep learning", ICML 2013.

    Examples
    --------
    >>> momentum = tb.optimize.trace(0.5)
    >>> updates, state = momentum.update(tb.ones(1), momentum.init(tb.zeros(1)))
    >>> momentum.update(tb.ones(1), state)[0].tolist()
    [1.5]
    """
    check_decay(decay=decay)

    def update(gradients: Trees, state: Momentum, parameters: Trees = None) -> tuple[Trees, Momentum]:
        def accumulate(g: Tensor, m: Tensor) -> Tensor:
            return astype(widen(g) + decay * m, m.dtype)

        momentum = map_numbers(accumulate, gradients, state.momentum)
        ahead = map_numbers(accumulate, gradients, momentum) if nesterov else momentum
        return round_updates(ahead, gradients), Momentum(momentum)

    return new_transformation(lambda parameters: Momentum(wide_zeros(parameters)), update)


@check_arguments_early
def sgd(rate: float | Schedule, *, momentum: float = 0.0, nesterov: bool = False) -> GradientTransformation:
    """Gradient descent, with momentum if `momentum` is not 0.

    Parameters
    ----------
    momentum : float, default 0.0
        The weight of a gradient one step later, from 0 to below 1.

    Raises
    ------
    ArgumentError
        For a rate that is not finite, and a momentum outside its range.

    Examples
    --------
    >>> steps = tb.optimize.sgd(0.5, momentum=0.9)
    >>> steps.update(tb.ones(1), steps.init(tb.zeros(1)))[0].tolist()
    [-0.5]
    """
    if not momentum:
        return scale_by_rate(rate)
    return chain(trace(momentum, nesterov=nesterov), scale_by_rate(rate))


class MeanGradients(NamedTuple):
    """The state of `lion`: the mean gradients."""

    first: Trees


@check_arguments_early
def lion(
    rate: float | Schedule, *, b1: float = 0.9, b2: float = 0.99, decay: float = 1e-3, mask: Mask = None
) -> GradientTransformation:
    """Lion: the signs of mean gradients, so that each element moves by the rate.

    Parameters
    ----------
    rate : float or schedule
        The learning rate; 3 to 10 times smaller than for Adam.
    b1, b2 : float
        The weight of the mean gradient in a step, and the decay rate of that mean.

    Raises
    ------
    ArgumentError
        For `b1` or `b2` out of range.

    References
    ----------
    Chen et al., "Symbolic discovery of optimization algorithms", 2023.

    Examples
    --------
    >>> steps = tb.optimize.lion(0.5, decay=0.0)
    >>> x = tb.zeros(2)
    >>> steps.update(tb.asarray([4.0, -0.1]), steps.init(x), x)[0].tolist()
    [-0.5, 0.5]
    """
    check_decay(b1=b1, b2=b2)

    def update(gradients: Trees, state: MeanGradients, parameters: Trees = None) -> tuple[Trees, MeanGradients]:
        updates = compute_wide(lambda g, m: sign((1 - b1) * g + b1 * m), gradients, state.first)
        first = map_numbers(lambda g, m: (1 - b2) * widen(g) + b2 * m, gradients, state.first)
        return updates, MeanGradients(first)

    signs = new_transformation(lambda parameters: MeanGradients(wide_zeros(parameters)), update)
    return chain(signs, add_decayed_weights(decay, mask=mask), scale_by_rate(rate))


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

    Examples
    --------
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

    References
    ----------
    Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", ICLR 2017.

    Examples
    --------
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

    Examples
    --------
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
