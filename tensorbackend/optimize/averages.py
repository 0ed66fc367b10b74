"""Means over steps: moving averages of parameters, and gradients accumulated over several steps; loss scaling, for
training in float16 where gradients are too small for it."""

from __future__ import annotations

from functools import reduce
from operator import index
from typing import Any, NamedTuple

from ..declarations.argument_errors import check_arguments_early, check_construction
from ..dtypes import finfo, float32
from ..errors import ArgumentError, expected
from ..expr.trees import flatten, is_inexact, is_static, tree_map
from ..ops.composite.elementwise.functions import isfinite
from ..ops.creation.filled import full, zeros_like
from ..ops.elementwise.basic import astype, where
from ..ops.elementwise.binary import logical_and, maximum, minimum
from ..tensor import Tensor
from .moments import weight_sum
from .transformations import (
    GradientTransformation,
    Trees,
    check_decay,
    map_numbers,
    new_transformation,
    next_step,
    round_updates,
    wide_zeros,
    widen,
    zero_steps,
)


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


@check_construction
class LossScale(NamedTuple):
    """The state of `scale_loss`."""

    scale: Tensor
    """The factor of the next loss, a float32 number without axes."""
    steps: Tensor
    """The number of finite steps since the factor changed."""
    state: Any
    """The state of the transformation."""


@check_arguments_early
def scale_loss(
    transformation: GradientTransformation, *, initial: float = 2.0**15, interval: int = 2000
) -> GradientTransformation:
    """Take the gradients of a loss that was multiplied by `state.scale`, and skip steps that overflow.

    Gradients that are too small for float16 become 0. So multiply the loss by the factor in the state before you
    differentiate it. `update` divides the gradients by the factor again, in float32. If one of them is infinite or NaN,
    the updates are 0, the transformation keeps its state, and the factor is halved. After `interval` finite steps in
    succession it is doubled.

    Parameters
    ----------
    transformation : GradientTransformation
        What to do with the gradients, such as `adam(1e-3)`.
    initial : float, default 2**15
        The first factor, above 0.
    interval : int, default 2000
        The number of finite steps after which the factor is doubled, at least 1.

    Returns
    -------
    GradientTransformation
        Its state is a `LossScale`.

    Raises
    ------
    ArgumentError
        For a factor that is not above 0 or not finite in float32, and for an interval below 1.

    See Also
    --------
    autocast : Products in a narrow dtype.

    References
    ----------
    Micikevicius et al., "Mixed Precision Training", ICLR 2018.

    Examples
    --------
    >>> steps = tb.optimize.scale_loss(tb.optimize.sgd(0.5), initial=1024.0)
    >>> x = tb.ones(1)
    >>> state = steps.init(x)
    >>> gradient = tb.grad(lambda x: state.scale * tb.sum(x * x))(x)
    >>> updates, state = steps.update(gradient, state, x)
    >>> updates.tolist(), state.scale.item()
    ([-1.0], 1024.0)
    >>> updates, state = steps.update(gradient * float("inf"), state, x)
    >>> updates.tolist(), state.scale.item()
    ([0.0], 512.0)
    """
    limits = finfo(float32)
    least, most = float(limits.smallest_normal), float(limits.max) / 2
    if not least <= initial <= most:
        raise ArgumentError(expected("a factor above 0 that is finite in float32", initial=initial))
    if interval < 1:
        raise ArgumentError(expected("an interval of at least 1 step", interval=interval))

    def init(parameters: Trees) -> LossScale:
        steps = zero_steps(parameters)
        factor = full((), float(initial), dtype=float32, backend=steps.backend)
        return LossScale(factor, steps, transformation.init(parameters))

    def update(gradients: Trees, state: LossScale, parameters: Trees = None) -> tuple[Trees, LossScale]:
        finite = _all_finite(gradients)

        def choose(new: Any, old: Any) -> Any:
            return new if is_static(new) else where(finite, new, old)

        scaled = map_numbers(lambda g: choose(widen(g) / state.scale, 0.0), gradients)
        updates, after = transformation.update(scaled, state.state, parameters)
        steps = choose(next_step(state.steps), 0)
        grows = steps >= interval
        factor = choose(where(grows, minimum(state.scale, most / 2) * 2, state.scale), maximum(state.scale / 2, least))
        return (
            round_updates(map_numbers(lambda x: choose(x, 0.0), updates), gradients),
            LossScale(factor, where(grows, 0, steps), tree_map(choose, after, state.state)),
        )

    return new_transformation(init, update)


def _all_finite(tree: Trees) -> Tensor:
    """Whether all elements of all tensors of a tree are finite: a bool without axes."""
    leaves = [x for x in flatten(tree)[0] if is_inexact(x)]
    return reduce(logical_and, [isfinite(x).all() for x in leaves]) if leaves else full((), True, dtype="bool")
