"""RMSProp: gradients divided by the root of their mean squares."""

from __future__ import annotations

from typing import NamedTuple

from ..declarations.argument_errors import check_arguments_early
from ..ops.composite.elementwise.functions import square
from ..ops.elementwise.transcendental import sqrt
from ..ops.elementwise.unary import abs as abs_
from ..tensor import Tensor
from .descent import scale_by_rate, trace
from .schedules import Schedule
from .transformations import GradientTransformation, Trees, chain, check_decay, new_transformation
from .widths import compute_wide, map_numbers, wide_zeros, widen


class MeanSquares(NamedTuple):
    """The state of `scale_by_rms`."""

    first: Trees
    """The mean gradients, `None` unless the mean squares are centred."""
    second: Trees
    """The means of squared magnitudes."""


@check_arguments_early
def scale_by_rms(*, decay: float = 0.9, epsilon: float = 1e-8, centered: bool = False) -> GradientTransformation:
    """Divide gradients by the root of their mean squares, as RMSProp does.

    Parameters
    ----------
    decay : float, default 0.9
        The decay rate of the mean square.
    epsilon : float, default 1e-8
        Added to the mean square below the root, as in optax.
    centered : bool, default False
        Whether to subtract the square of the mean gradient from the mean square.

    Returns
    -------
    GradientTransformation
        Its state holds the means.

    Raises
    ------
    ArgumentError
        For a decay rate outside [0, 1).

    Examples
    --------
    >>> import tensorbackend as tb
    >>> direction = tb.optimize.scale_by_rms(decay=0.75)
    >>> tb.round(direction.update(tb.asarray([4.0]), direction.init(tb.zeros(1)))[0]).tolist()
    [2.0]
    """
    check_decay(decay=decay)

    def init(parameters: Trees) -> MeanSquares:
        means = wide_zeros(parameters)
        return MeanSquares(means if centered else None, map_numbers(abs_, means))

    def update(gradients: Trees, state: MeanSquares, parameters: Trees = None) -> tuple[Trees, MeanSquares]:
        def average(g: Tensor, m: Tensor) -> Tensor:
            return (1 - decay) * widen(g) + decay * m

        second = map_numbers(lambda g, v: average(square(abs_(widen(g))), v), gradients, state.second)
        if not centered:
            updates = compute_wide(lambda g, v: g / sqrt(v + epsilon), gradients, second)
            return updates, MeanSquares(None, second)
        first = map_numbers(average, gradients, state.first)
        updates = compute_wide(lambda g, m, v: g / sqrt(v - square(abs_(m)) + epsilon), gradients, first, second)
        return updates, MeanSquares(first, second)

    return new_transformation(init, update)


@check_arguments_early
def rmsprop(
    rate: float | Schedule,
    *,
    decay: float = 0.9,
    epsilon: float = 1e-8,
    centered: bool = False,
    momentum: float = 0.0,
    nesterov: bool = False,
) -> GradientTransformation:
    """RMSProp: gradients divided by the root of their mean squares.

    Parameters
    ----------
    rate : float or schedule
        The learning rate.
    decay, epsilon, centered
        As for `scale_by_rms`.
    momentum : float, default 0.0
        The weight of a step one step later, from 0 to below 1.
    nesterov : bool, default False
        Whether to use Nesterov's form of momentum.

    Returns
    -------
    GradientTransformation
        The transformation, used by its `init` and `update`.

    References
    ----------
    Hinton, "Overview of mini-batch gradient descent", lecture 6a, 2012. Graves, "Generating sequences with recurrent
    neural networks", 2013.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> steps = tb.optimize.rmsprop(0.5, decay=0.75)
    >>> tb.round(steps.update(tb.asarray([4.0]), steps.init(tb.zeros(1)))[0]).tolist()
    [-1.0]
    """
    parts = [scale_by_rms(decay=decay, epsilon=epsilon, centered=centered), scale_by_rate(rate)]
    return chain(*parts, *([trace(momentum, nesterov=nesterov)] if momentum else []))
