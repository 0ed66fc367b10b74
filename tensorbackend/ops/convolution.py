"""Convolution as in deep learning: the kernel is not flipped."""

from __future__ import annotations

from ..dispatch import primitive
from ..rules.accuracy import SUM
from ..rules.convolution import convolution
from ..rules.plan import Plan
from ..rules.window import Paddings, PerAxis
from ..template import Template


@primitive.within(SUM)
def conv(
    x: Template,
    kernel: Template,
    /,
    *,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
    input_dilation: PerAxis = 1,
    kernel_dilation: PerAxis = 1,
    feature_groups: int = 1,
    batch_groups: int = 1,
) -> Plan:
    """Sums of products of a kernel (out, channels, *spatial) with windows of x (batch, channels, *spatial).

    There may be any number of spatial axes. The result (batch, out, *spatial) has x's name of the batch axis, the
    kernel's name of `out` and x's names of the spatial axes. `strides`, `input_dilation` (the distance between x's
    elements, filled with zeros) and `kernel_dilation` are one number for all spatial axes, one for each, or a mapping
    of some by their names in x. `padding`, with zeros, is `"valid"`, `"same"` (of the dilated input; an odd padding
    element is added at the end), (low, high) for each spatial axis, or a mapping. The zeros are multiplied as well: a
    padded zero times infinity is NaN. If no window fits along an axis, the result's axis has size 0.

    `feature_groups` is the number of groups into which x's channels are divided; each group is convolved with its share
    of the kernels, which have that many times fewer channels than x. `batch_groups` divides the batch instead, and the
    batch of the result is that many times smaller. Integers keep their dtype and wrap; float16 and bfloat16 are summed
    in float32 or wider.

    Raises `ShapeError` for shapes that do not match, `ArgumentError` for invalid options, `NamesError` for a name
    that would occur twice in the result and where x and the kernel have different names for the channels or a spatial
    axis, and `DTypeError` for bool.

    >>> x = tb.asarray([[[1.0, 2.0, 4.0, 8.0]]], names=("batch", "channel", "time"))
    >>> difference = tb.asarray([[[-1.0, 1.0]]], names=("feature", "channel", "time"))
    >>> tb.conv(x, difference, strides={"time": 2})
    f32[batch: 1][feature: 1][time: 2] numpy
    [[[1.0, 4.0]]]
    """
    return convolution(
        x, kernel, strides, padding, input_dilation, kernel_dilation, feature_groups, batch_groups
    )  # fmt: skip
