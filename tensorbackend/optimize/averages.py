"""Means over steps: moving averages of parameters, and gradients accumulated over several steps."""

from __future__ import annotations

from operator import index
from typing import Any, NamedTuple

from ..declarations.argument_errors import check_arguments_early
from ..errors import ArgumentError, expected
from ..expr.static_leaves import is_static
from ..expr.trees import tree_map
from ..ops.creation.filled import zeros_like
from ..ops.elementwise.conversion import astype
from ..ops.elementwise.ternary import where
from ..tensor import Tensor
from .moments import weight_sum
from .transformations import GradientTransformation, Trees, check_decay, new_transformation, next_step, zero_steps
from .widths import map_numbers, round_updates, wide_zeros, widen


class MovingAverage(NamedTuple):
    """The state of `moving_average`."""

    steps: Tensor
    average: Trees
    """The weighted sums, in float32 or wider."""


@check_arguments_early
def moving_average(decay: float, *, debias: bool = True) -> GradientTransformation:
    """Average trees over steps with weights that decay exponentially, such as the parameters of a model.

    `average, state = moving_average(0.999).update(parameters, state)` after each step gives the parameters to evaluate
    with. In a `chain` it averages updates.

    Parameters
    ----------
    decay : float
        The weight of the average so far, from 0 to below 1.
    debias : bool, default True
        Whether to divide by the sum of all weights so far, so that the first average is the first tree.

    Returns
    -------
    GradientTransformation
        Its state holds the number of steps and the weighted sums.

    Raises
    ------
    ArgumentError
        For a decay outside [0, 1).

    Examples
    --------
    >>> import tensorbackend as tb
    >>> averages = tb.optimize.moving_average(0.5)
    >>> state = averages.init({"w": tb.zeros(1)})
    >>> for number in (1.0, 4.0):
    ...     average, state = averages.update({"w": tb.full((1,), number)}, state)
    >>> average["w"].tolist()
    [3.0]
    """
    check_decay(decay=decay)

    def update(values: Trees, state: MovingAverage, parameters: Trees = None) -> tuple[Trees, MovingAverage]:
        count = next_step(state.steps)
        sums = map_numbers(lambda x, m: (1 - decay) * widen(x) + decay * m, values, state.average)

        def divided(total: Tensor) -> Tensor:
            real = total.dtype if total.dtype.is_floating else "float64"
            return total / weight_sum(decay, astype(count, real))

        averages = map_numbers(divided, sums) if debias else sums
        return round_updates(averages, values), MovingAverage(count, sums)

    return new_transformation(lambda parameters: MovingAverage(zero_steps(parameters), wide_zeros(parameters)), update)


class Accumulated(NamedTuple):
    """The state of `accumulate`."""

    steps: Tensor
    """The number of gradients in the mean."""
    mean: Trees
    """The mean of the gradients so far, in float32 or wider."""
    state: Any
    """The state of the transformation."""


@check_arguments_early
def accumulate(transformation: GradientTransformation, steps: int) -> GradientTransformation:
    """Transform the mean of the gradients of several steps: a large batch in parts.

    The updates are 0 but in every `steps`-th step.

    Parameters
    ----------
    transformation : GradientTransformation
        What to do with the mean gradients, such as `adam(1e-3)`.
    steps : int
        The number of gradients in a mean, at least 1.

    Returns
    -------
    GradientTransformation
        Its state is that of the transformation, the mean so far and the number of gradients in it.

    Raises
    ------
    ArgumentError
        For less than 1 step.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> optimiser = tb.optimize.accumulate(tb.optimize.sgd(1.0), 2)
    >>> x = tb.zeros(1)
    >>> state = optimiser.init(x)
    >>> for number in (1.0, 3.0):
    ...     updates, state = optimiser.update(tb.full((1,), number), state, x)
    ...     print(updates.tolist())
    [0.0]
    [-2.0]
    """
    number = index(steps)
    if number < 1:
        raise ArgumentError(expected("at least 1 step", steps=steps))

    def init(parameters: Trees) -> Accumulated:
        return Accumulated(zero_steps(parameters), wide_zeros(parameters), transformation.init(parameters))

    def update(gradients: Trees, state: Accumulated, parameters: Trees = None) -> tuple[Trees, Accumulated]:
        count = state.steps + 1
        full = count == number

        def choose(new: Any, old: Any) -> Any:
            return new if is_static(new) else where(full, new, old)

        def average(g: Tensor, m: Tensor) -> Tensor:
            real = m.dtype if m.dtype.is_floating else "float64"
            return astype(m + (widen(g) - m) / astype(count, real), m.dtype)

        mean = map_numbers(average, gradients, state.mean)
        updates, after = transformation.update(mean, state.state, parameters)
        return (
            round_updates(map_numbers(lambda x: choose(x, 0.0), updates), gradients),
            Accumulated(
                where(full, 0, count),
                map_numbers(lambda m: choose(zeros_like(m), m), mean),
                tree_map(choose, after, state.state),
            ),
        )

    return new_transformation(init, update)
