"""Normalisation by the statistics of some axes, with a scale and an offset: ops whose gradients keep x alone."""

from __future__ import annotations

from ....annotations import Axes
from ....dispatch import composite
from ....rules.accuracy import Bound
from ....rules.broadcasting import to_floating
from ....tensor import Tensor
from ...elementwise.basic import astype
from ...elementwise.complex_functions import rsqrt
from . import cast_to_float32, mean, standardise

NORMALISED = Bound(64, "differences from a mean over a root of a mean", "square", tame=True)


@composite.within(NORMALISED)
def layer_norm(
    x: Tensor, scale: Tensor | None = None, offset: Tensor | None = None, /, *, axis: Axes, epsilon: float
) -> Tensor:
    """See `nn.layer_norm`; scale and offset broadcast to x."""
    return affine(standardise(cast_to_float32(x), axis=axis, epsilon=epsilon), x, scale, offset)


@composite.within(NORMALISED)
def rms_norm(x: Tensor, scale: Tensor | None = None, /, *, axis: Axes, epsilon: float) -> Tensor:
    """See `nn.rms_norm`; the scale broadcasts to x."""
    wide = cast_to_float32(x)
    return affine(wide * rsqrt(mean(wide * wide, axis=axis, keepdims=True) + epsilon), x, scale, None)


def affine(x: Tensor, like: Tensor, scale: Tensor | None, offset: Tensor | None) -> Tensor:
    """x times a scale plus an offset, which broadcast to it, in the floating dtype of the mean of `like`."""
    scaled = x if scale is None else x * scale
    return astype(scaled if offset is None else scaled + offset, to_floating(like.dtype))
