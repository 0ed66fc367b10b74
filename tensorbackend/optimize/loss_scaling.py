"""Loss scaling: training in float16 where gradients are too small for it."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

from ..declarations.argument_errors import check_arguments_early, check_construction
from ..dtypes import finfo, float32
from ..errors import ArgumentError, expected
from ..expr.static_leaves import is_inexact, is_static
from ..expr.trees import flatten, tree_map
from ..ops.composite.elementwise.functions import isfinite
from ..ops.creation.filled import full
from ..ops.elementwise.binary import logical_and, maximum, minimum
from ..ops.elementwise.ternary import where
from ..ops.reduction import all as all_
from ..tensor import Tensor
from .transformations import GradientTransformation, Trees, new_transformation, next_step, zero_steps
from .widths import map_numbers, round_updates, widen


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
    >>> import tensorbackend as tb
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
    return reduce(logical_and, [all_(isfinite(x)) for x in leaves]) if leaves else full((), True, dtype="bool")
