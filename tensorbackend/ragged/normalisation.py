"""Softmax and normalisation along axes with lengths."""

from __future__ import annotations

import math
from typing import Any

from ..annotations import Axes
from ..declarations.argument_errors import check_arguments
from ..ops.composite.reduction import cast_to_float32
from ..ops.composite.reduction.probabilities import log_softmax as _log_softmax
from ..ops.composite.reduction.probabilities import softmax as _softmax
from ..ops.elementwise.basic import astype
from ..ops.elementwise.complex_functions import rsqrt
from ..rules.axes import sorted_axes
from ..rules.broadcasting import to_floating
from ..tensor import Tensor
from .reduction import _mean, variance
from .value import Ragged, as_ragged, ragged_or_tensor


@check_arguments
def softmax(x: Ragged | Tensor, /, *, axis: Axes) -> Any:
    """Divide exp(x) by its sum within the lengths, without overflow.

    Parameters
    ----------
    axis : axis or axes
        The axes along which the results add up to 1, by name or position.

    Returns
    -------
    Ragged or Tensor
        Like x. The padding is 0, except if a sum is over padding alone.

    Examples
    --------
    >>> weights = tb.ragged.softmax(tb.ragged.from_list([[1.0, 1.0], [5.0]]), axis="time")
    >>> weights.filled(0).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    return _shares(x, axis, _softmax)


@check_arguments
def log_softmax(x: Ragged | Tensor, /, *, axis: Axes) -> Any:
    """Compute the logarithm of `softmax`, accurate where the softmax is tiny.

    >>> tb.ragged.log_softmax(tb.ragged.from_list([[0.0, -1000.0], [5.0]]), axis="time").filled(0).tolist()
    [[0.0, -1000.0], [0.0, 0.0]]
    """
    return _shares(x, axis, _log_softmax)


def _shares(x: Any, axis: Axes, function: Any) -> Any:
    ragged = as_ragged(x)
    axes = sorted_axes(ragged.template, axis)
    if not ragged.values.size:
        return x
    values = ragged.values if ragged.dtype.is_inexact else astype(ragged.values, to_floating(ragged.dtype))
    values = Ragged(values, ragged.lengths).filled(-math.inf)
    return ragged_or_tensor(function(values, axis=axes), ragged.lengths)


@check_arguments
def normalize(x: Ragged | Tensor, /, *, axis: Axes, epsilon: float = 1e-5) -> Any:
    """Subtract the mean within the lengths, and divide by the square root of the variance plus `epsilon`.

    Parameters
    ----------
    axis : axis or axes
        The axes along which mean and variance are computed: the features for layer normalisation, the batch and an axis
        with lengths for batch normalisation.
    epsilon : float, default 1e-5
        Added to the variance, to avoid division by 0.

    Returns
    -------
    Ragged or Tensor
        Like x.

    References
    ----------
    Ba, Kiros and Hinton, "Layer Normalization", 2016. Ioffe and Szegedy, "Batch Normalization", 2015.

    Examples
    --------
    >>> x = tb.ragged.normalize(tb.ragged.from_list([[1.0, 3.0], [5.0]]), axis="time", epsilon=0.0001)
    >>> [round(value, 3) for value in tb.ragged.to_list(x)[0].tolist()]
    [-1.0, 1.0]
    """
    ragged = as_ragged(x)
    axes = sorted_axes(ragged.template, axis)
    wide = Ragged(cast_to_float32(ragged.filled(0)), ragged.lengths)
    centred = wide.values - _mean(wide, axes, True)
    scale = rsqrt(variance(wide, axes, 0.0, True) + epsilon)
    return ragged_or_tensor(astype(centred * scale, to_floating(ragged.dtype)), ragged.lengths)
