"""Adam and RMSProp: gradients, or their means, divided by the root of the means of their squares."""

from __future__ import annotations

from math import log
from typing import NamedTuple

from ..declarations.argument_errors import check_arguments_early
from ..dtypes import DType, DTypeLike
from ..ops.composite.elementwise.functions import square
from ..ops.creation.filled import ones_like
from ..ops.elementwise.basic import astype
from ..ops.elementwise.binary import maximum
from ..ops.elementwise.transcendental import expm1, sqrt
from ..tensor import Tensor
from .descent import Schedule, scale_by_rate, trace
from .transformations import (
    GradientTransformation,
    Mask,
    Trees,
    add_decayed_weights,
    chain,
    check_decay,
    compute_wide,
    dtype_of_moments,
    map_numbers,
    new_transformation,
    next_step,
    round_updates,
    wide_zeros,
    widen,
    zero_steps,
)


class Moments(NamedTuple):
    """The state of `scale_by_adam`: tensors like the parameters, by default in float32 or wider."""

    steps: Tensor
    first: Trees
    """The mean gradients."""
    second: Trees
    """The means of their squared magnitudes."""


@check_arguments_early
def scale_by_adam(
    *, b1: float = 0.9, b2: float = 0.999, epsilon: float = 1e-8, moments_dtype: DTypeLike | None = None
) -> GradientTransformation:
    """Divide mean gradients by the root of their mean squares, as Adam does.

    Parameters
    ----------
    b1, b2 : float
        The decay rates of the mean gradient and of the mean square.
    epsilon : float
        Added to the root, to avoid division by 0.
    moments_dtype : dtype, optional
        The floating dtype of the means in the state, for real parameters. By default it is that of the parameters, at
        least float32. The steps are computed in float32 or wider in each case.

    Returns
    -------
    GradientTransformation
        Its state holds the number of steps, the mean gradients and the mean squares.

    Raises
    ------
    ArgumentError
        For a share outside [0, 1), and for `moments_dtype` that is not floating.

    Notes
    -----
    Squares are those of float32 or wider, as in optax and PyTorch: a float32 gradient beyond 1.8e19 has none, so clip
    gradients that may become so large.

    For a complex parameter the square is that of the magnitude. As with every optimiser here, pass the conjugate of
    what `grad` returns for it: that is the direction of steepest ascent.

    References
    ----------
    Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1.

    Examples
    --------
    >>> direction = tb.optimize.scale_by_adam()
    >>> tb.round(direction.update(tb.asarray([4.0]), direction.init(tb.zeros(1)))[0]).tolist()
    [1.0]
    """
    check_decay(b1=b1, b2=b2)
    dtype = dtype_of_moments(moments_dtype)

    def init(parameters: Trees) -> Moments:
        zeros = wide_zeros(parameters, dtype)
        return Moments(zero_steps(parameters), zeros, map_numbers(abs, zeros))

    def update(gradients: Trees, state: Moments, parameters: Trees = None) -> tuple[Trees, Moments]:
        count = next_step(state.steps)

        def mean(g: Tensor, m: Tensor) -> Tensor:
            return (1 - b1) * widen(g) + b1 * widen(m)

        def mean_square(g: Tensor, v: Tensor) -> Tensor:
            size = widen(g) if not g.dtype.is_complex else abs(widen(g))
            return (1 - b2) * (size * size) + b2 * widen(v)

        first = map_numbers(mean, gradients, state.first)
        second = map_numbers(mean_square, gradients, state.second)
        weights: dict[DType, tuple[Tensor, Tensor]] = {}

        def direction(m: Tensor, v: Tensor) -> Tensor:
            if v.dtype not in weights:
                steps = astype(count, v.dtype)
                weights[v.dtype] = weight_sum(b1, steps), weight_sum(b2, steps)
            of_m, of_v = weights[v.dtype]
            return (m / of_m) / (sqrt(v / of_v) + epsilon)

        updates = round_updates(map_numbers(direction, first, second), gradients)
        kept = map_numbers(_cast_like, first, state.first), map_numbers(_cast_like, second, state.second)
        return updates, Moments(count, *kept)

    return new_transformation(init, update)


def _cast_like(x: Tensor, like: Tensor) -> Tensor:
    return astype(x, like.dtype)


def weight_sum(decay: float, steps: Tensor) -> Tensor:
    """The sum of the weights in a mean that began at 0: 1 - decay**steps, without cancellation."""
    return -expm1(steps * log(decay)) if decay else ones_like(steps)


@check_arguments_early
def adam(
    rate: float | Schedule,
    *,
    b1: float = 0.9,
    b2: float = 0.999,
    epsilon: float = 1e-8,
    moments_dtype: DTypeLike | None = None,
) -> GradientTransformation:
    """Adam: the size of its steps does not depend on the scale of the gradients.

    Parameters
    ----------
    b1, b2, epsilon, moments_dtype
        As for `scale_by_adam`.

    Examples
    --------
    >>> steps = tb.optimize.adam(0.1)
    >>> x = {"x": tb.asarray([3.0])}
    >>> state = steps.init(x)
    >>> for _ in range(100):
    ...     gradient = tb.grad(lambda x: tb.sum(x["x"] ** 2))(x)
    ...     updates, state = steps.update(gradient, state, x)
    ...     x = tb.optimize.apply_updates(x, updates)
    >>> abs(x["x"].item()) < 0.1
    True
    """
    return chain(scale_by_adam(b1=b1, b2=b2, epsilon=epsilon, moments_dtype=moments_dtype), scale_by_rate(rate))


@check_arguments_early
def adamw(
    rate: float | Schedule,
    *,
    b1: float = 0.9,
    b2: float = 0.999,
    epsilon: float = 1e-8,
    decay: float = 1e-2,
    mask: Mask = None,
    moments_dtype: DTypeLike | None = None,
) -> GradientTransformation:
    """Adam with decoupled weight decay.

    Parameters
    ----------
    b1, b2, epsilon, moments_dtype
        As for `scale_by_adam`.

    References
    ----------
    Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019.

    Examples
    --------
    >>> steps = tb.optimize.adamw(0.5, decay=0.5)
    >>> x = tb.full((1,), 4.0)
    >>> tb.round(steps.update(tb.ones(1), steps.init(x), x)[0] * 100).tolist()
    [-150.0]
    """
    scaled = scale_by_adam(b1=b1, b2=b2, epsilon=epsilon, moments_dtype=moments_dtype)
    return chain(scaled, add_decayed_weights(decay, mask=mask), scale_by_rate(rate))


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
    >>> direction = tb.optimize.scale_by_rms(decay=0.75)
    >>> tb.round(direction.update(tb.asarray([4.0]), direction.init(tb.zeros(1)))[0]).tolist()
    [2.0]
    """
    check_decay(decay=decay)

    def init(parameters: Trees) -> MeanSquares:
        means = wide_zeros(parameters)
        return MeanSquares(means if centered else None, map_numbers(abs, means))

    def update(gradients: Trees, state: MeanSquares, parameters: Trees = None) -> tuple[Trees, MeanSquares]:
        def average(g: Tensor, m: Tensor) -> Tensor:
            return (1 - decay) * widen(g) + decay * m

        second = map_numbers(lambda g, v: average(square(abs(widen(g))), v), gradients, state.second)
        if not centered:
            updates = compute_wide(lambda g, v: g / sqrt(v + epsilon), gradients, second)
            return updates, MeanSquares(None, second)
        first = map_numbers(average, gradients, state.first)
        # Rounding may leave a negative difference where the gradients do not vary.
        updates = compute_wide(
            lambda g, m, v: g / sqrt(maximum(v - square(abs(m)), 0.0) + epsilon), gradients, first, second
        )
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
    decay, epsilon, centered
        As for `scale_by_rms`.

    References
    ----------
    Hinton, "Overview of mini-batch gradient descent", lecture 6a, 2012. Graves, "Generating sequences with recurrent
    neural networks", 2013.

    Examples
    --------
    >>> steps = tb.optimize.rmsprop(0.5, decay=0.75)
    >>> tb.round(steps.update(tb.asarray([4.0]), steps.init(tb.zeros(1)))[0]).tolist()
    [-1.0]
    """
    parts = [scale_by_rms(decay=decay, epsilon=epsilon, centered=centered), scale_by_rate(rate)]
    return chain(*parts, *([trace(momentum, nesterov=nesterov)] if momentum else []))
