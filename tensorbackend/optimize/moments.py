"""Adam: means of gradients divided by the root of the means of their squares."""

from __future__ import annotations

from typing import NamedTuple

from ..entry import checked
from ..expr.trees import tree_map
from ..ops.creation.filled import zeros_like
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.transcendental import sqrt
from ..ops.elementwise.unary import abs as abs_
from ..tensor import Tensor
from .schedules import Schedule
from .transformations import (
    GradientTransformation,
    Trees,
    add_decayed_weights,
    chain,
    check_decay,
    scale_by_rate,
    zero_steps,
)


class Moments(NamedTuple):
    """The state of `scale_by_adam`."""

    steps: Tensor
    first: Trees
    second: Trees


@checked
def scale_by_adam(*, b1: float = 0.9, b2: float = 0.999, epsilon: float = 1e-8) -> GradientTransformation:
    """Divide mean gradients by the root of their mean squares, as Adam does.

    Parameters
    ----------
    b1, b2 : float
        The shares of the mean gradient and of the mean square that are kept in each step.
    epsilon : float
        Added to the root, against division by 0.

    Returns
    -------
    GradientTransformation
        Its state holds the number of steps and the means.

    References
    ----------
    Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> direction = tb.optimize.scale_by_adam()
    >>> tb.round(direction.update(tb.asarray([4.0]), direction.init(tb.zeros(1)))[0]).tolist()
    [1.0]
    """
    check_decay(b1=b1, b2=b2)

    def init(parameters: Trees) -> Moments:
        zeros = tree_map(zeros_like, parameters)
        return Moments(zero_steps(parameters), zeros, tree_map(abs_, zeros))

    def update(gradients: Trees, state: Moments, parameters: Trees = None) -> tuple[Trees, Moments]:
        count = state.steps + 1
        first = tree_map(lambda g, m: (1 - b1) * g + b1 * m, gradients, state.first)
        second = tree_map(lambda g, m: (1 - b2) * abs_(g) ** 2 + b2 * m, gradients, state.second)

        def direction(m: Tensor, v: Tensor) -> Tensor:
            power = astype(count, v.dtype)
            return (m / (1 - b1**power)) / (sqrt(v / (1 - b2**power)) + epsilon)

        return tree_map(direction, first, second), Moments(count, first, second)

    return GradientTransformation(init, update)


@checked
def adam(
    rate: float | Schedule, *, b1: float = 0.9, b2: float = 0.999, epsilon: float = 1e-8
) -> GradientTransformation:
    """Adam: steps whose size does not depend on the gradients' scale.

    Parameters
    ----------
    rate : float or schedule
        The size of a step.
    b1, b2, epsilon : float
        As `scale_by_adam` takes them.

    Returns
    -------
    GradientTransformation
        The transformation, used by its `init` and `update`.

    Examples
    --------
    >>> import tensorbackend as tb
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
    return chain(scale_by_adam(b1=b1, b2=b2, epsilon=epsilon), scale_by_rate(rate))


@checked
def adamw(
    rate: float | Schedule, *, b1: float = 0.9, b2: float = 0.999, epsilon: float = 1e-8, decay: float = 1e-2
) -> GradientTransformation:
    """Adam with decoupled weight decay.

    Parameters
    ----------
    rate : float or schedule
        The size of a step.
    b1, b2, epsilon : float
        As `scale_by_adam` takes them.
    decay : float
        The share of the weights that is subtracted in each step, times the rate.

    Returns
    -------
    GradientTransformation
        The transformation, used by its `init` and `update`; `update` needs the parameters.

    References
    ----------
    Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> steps = tb.optimize.adamw(0.5, decay=0.5)
    >>> x = tb.full((1,), 4.0)
    >>> tb.round(steps.update(tb.ones(1), steps.init(x), x)[0] * 100).tolist()
    [-150.0]
    """
    return chain(scale_by_adam(b1=b1, b2=b2, epsilon=epsilon), add_decayed_weights(decay), scale_by_rate(rate))
