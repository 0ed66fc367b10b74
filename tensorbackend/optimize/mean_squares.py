"""RMSProp and Lion: gradients divided by the root of their mean squares, and the signs of mean gradients."""

from __future__ import annotations

from typing import NamedTuple

from ..declarations.argument_errors import check_arguments_early
from ..ops.composite.elementwise.functions import square
from ..ops.elementwise.transcendental import sqrt
from ..ops.elementwise.unary import abs as abs_
from ..ops.elementwise.unary import sign
from ..tensor import Tensor
from .descent import scale_by_rate, trace
from .schedules import Schedule
from .transformations import GradientTransformation, Mask, Trees, add_decayed_weights, chain, check_decay
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

    return GradientTransformation(init, update)


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


class MeanGradients(NamedTuple):
    """The state of `lion`: the mean gradients."""

    first: Trees


@check_arguments_early
def lion(
    rate: float | Schedule,
    *,
    b1: float = 0.9,
    b2: float = 0.99,
    decay: float = 1e-3,
    mask: Mask = None,
) -> GradientTransformation:
    """Lion: the signs of mean gradients, so that each element moves by the rate.

    Parameters
    ----------
    rate : float or schedule
        The learning rate; 3 to 10 times smaller than for Adam.
    b1, b2 : float
        The weight of the mean gradient in a step, and the decay rate of that mean.
    decay : float, default 1e-3
        The fraction of the weights that is subtracted in each step, times the rate.
    mask : tree of bools, or function, optional
        Which parameters decay, as for `add_decayed_weights`.

    Returns
    -------
    GradientTransformation
        The transformation, used by its `init` and `update`; `update` needs the parameters.

    Raises
    ------
    ArgumentError
        For `b1` or `b2` out of range.

    References
    ----------
    Chen et al., "Symbolic discovery of optimization algorithms", 2023.

    Examples
    --------
    >>> import tensorbackend as tb
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

    signs = GradientTransformation(lambda parameters: MeanGradients(wide_zeros(parameters)), update)
    return chain(signs, add_decayed_weights(decay, mask=mask), scale_by_rate(rate))
