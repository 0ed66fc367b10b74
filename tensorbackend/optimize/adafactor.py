"""Adafactor: mean squares of matrices by the means of rows and of columns, which take little memory."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from ..declarations.argument_errors import check_arguments_early
from ..errors import ArgumentError, expected
from ..ops.composite.elementwise.functions import square
from ..ops.composite.reduction import mean
from ..ops.creation.filled import zeros
from ..ops.creation.values import asarray
from ..ops.elementwise.basic import astype
from ..ops.elementwise.binary import maximum
from ..ops.elementwise.transcendental import sqrt
from ..ops.shape import expand_dims
from ..tensor import Tensor
from .descent import Schedule, scale_by_rate, trace
from .transformations import (
    GradientTransformation,
    Mask,
    Trees,
    add_decayed_weights,
    chain,
    compute_wide,
    map_numbers,
    new_transformation,
    next_step,
    round_updates,
    scale,
    stateless,
    wide_dtype,
    widen,
    zero_steps,
)

_TINY_SQUARE = 1e-30
"""Added to each squared gradient."""

_LEAST_SIZE = 1e-3
"""The root mean square of a parameter that is taken in place of smaller ones."""


class FactoredSquares(NamedTuple):
    """The state of Adafactor: what is not needed of a parameter is a number 0."""

    steps: Tensor
    rows: Trees
    """The mean squares, averaged along the largest axis."""
    columns: Trees
    """The mean squares, averaged along the second largest axis."""
    whole: Trees
    """The mean squares of parameters that are not factored."""


def _axes(x: Tensor, least: int) -> tuple[int, int] | None:
    """The second largest and the largest axis, `None` for a parameter that is not factored."""
    order = sorted(range(x.ndim), key=lambda axis: (x.shape[axis], axis))
    return (order[-2], order[-1]) if x.ndim >= 2 and x.shape[order[-2]] >= least else None


def _zeros_without(x: Tensor, axis: int | None) -> Tensor:
    """Zeros like a parameter without an axis."""
    kept = [each for each in range(x.ndim) if each != axis]
    shape, names = tuple(x.shape[each] for each in kept), tuple(x.names[each] for each in kept)
    return zeros(shape, dtype=wide_dtype(x.dtype), names=names, backend=x.backend)


def _wide_zero(x: Tensor) -> Tensor:
    return zeros((), dtype=wide_dtype(x.dtype), backend=x.backend)


def _scale_by_factored_squares(least: int, exponent: float) -> GradientTransformation:
    """Divide gradients by the root of their mean squares, which are factored."""

    def init(parameters: Trees) -> FactoredSquares:
        def choose(position: int) -> Trees:
            def of_one(value: Any) -> Tensor:
                x = asarray(value)
                axes = _axes(x, least)
                if position == 2:
                    return abs(_zeros_without(x, None) if axes is None else _wide_zero(x))
                return abs(_wide_zero(x) if axes is None else _zeros_without(x, axes[1 - position]))

            return map_numbers(of_one, parameters)

        return FactoredSquares(zero_steps(parameters), *(choose(position) for position in range(3)))

    def update(gradients: Trees, state: FactoredSquares, parameters: Trees = None) -> tuple[Trees, FactoredSquares]:
        count = next_step(state.steps)
        kept = 1 - astype(count, "float64") ** -exponent

        def average(old: Tensor, new: Tensor) -> Tensor:
            share = astype(kept, old.dtype)
            return share * old + (1 - share) * new

        def squares(g: Tensor) -> Tensor:
            return square(abs(widen(g))) + _TINY_SQUARE

        def averaged(position: int) -> Any:
            def of_one(g: Tensor, old: Tensor) -> Tensor:
                axes = _axes(g, least)
                return old if axes is None else average(old, mean(squares(g), axis=axes[1 - position]))

            return of_one

        def direction(g: Tensor, rows: Tensor, columns: Tensor, whole: Tensor) -> Tensor:
            axes = _axes(g, least)
            if axes is None:
                return widen(g) / sqrt(whole)
            second, largest = axes
            total = mean(rows, axis=second - (second > largest), keepdims=True)
            by_rows = expand_dims(rows / total, axis=largest, name=g.names[largest])
            return widen(g) / sqrt(by_rows) / sqrt(expand_dims(columns, axis=second, name=g.names[second]))

        rows = map_numbers(averaged(0), gradients, state.rows)
        columns = map_numbers(averaged(1), gradients, state.columns)
        whole = map_numbers(
            lambda g, old: average(old, squares(g)) if _axes(g, least) is None else old, gradients, state.whole
        )
        updates = map_numbers(direction, gradients, rows, columns, whole)
        return round_updates(updates, gradients), FactoredSquares(count, rows, columns, whole)

    return new_transformation(init, update)


def _root_mean_square(x: Tensor) -> Tensor:
    return sqrt(mean(square(abs(x))))


@check_arguments_early
def adafactor(
    rate: float | Schedule | None = None,
    *,
    least: int = 128,
    exponent: float = 0.8,
    relative: bool = True,
    clip: float | None = 1.0,
    momentum: float = 0.0,
    decay: float = 0.0,
    mask: Mask = None,
) -> GradientTransformation:
    """Adafactor: as Adam without momentum, with mean squares of matrices that are products of rows and columns.

    Parameters
    ----------
    rate : float or schedule, optional
        The learning rate; by default 1, which `relative` multiplies by the sizes of the parameters.
    least : int, default 128
        The mean squares are factored where the two largest axes have at least this size.
    exponent : float, default 0.8
        In step n the weight of earlier squares is 1 - n ** -exponent.
    relative : bool, default True
        Whether the rate is relative to the root mean square of each parameter, of which the minimum is 1e-3.
    clip : float, optional
        The maximum root mean square of the scaled gradient of a parameter; `None` for no maximum.
    momentum : float, default 0.0
        The decay rate of the mean of steps, if not 0.
    decay : float, default 0.0
        The fraction of the weights that is subtracted in each step, not times the rate.

    Raises
    ------
    ArgumentError
        For a maximum that is not above 0.

    References
    ----------
    Shazeer and Stern, "Adafactor: adaptive learning rates with sublinear memory cost", ICML 2018.

    Examples
    --------
    >>> steps = tb.optimize.adafactor(0.5, relative=False, least=2)
    >>> x = tb.zeros((2, 3))
    >>> steps.update(tb.ones((2, 3)), steps.init(x), x)[0].tolist()
    [[-0.5, -0.5, -0.5], [-0.5, -0.5, -0.5]]
    """
    parts = [_scale_by_factored_squares(least, exponent)]
    if clip is not None:
        most = float(clip)
        if not (most > 0 and isfinite(most)):
            raise ArgumentError(expected("a maximum above 0, or None", clip=clip))
        parts.append(stateless(lambda g, _: compute_wide(lambda g: g / maximum(1, _root_mean_square(g) / most), g)))
    if rate is not None:
        parts.append(chain(scale_by_rate(rate), scale(-1.0)))
    if relative:
        parts.append(
            stateless(lambda g, x: compute_wide(lambda g, x: g * maximum(_root_mean_square(x), _LEAST_SIZE), g, x))
        )
    if momentum:
        parts.append(chain(trace(momentum), scale(1 - momentum)))
    if decay:
        parts.append(add_decayed_weights(decay, mask=mask))
    return chain(*parts, scale(-1.0))
