"""Templates of convolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import ArgumentError, ShapeError, expected
from ..template import Names, Template, as_int, check_meeting, check_unique, intern_template
from .broadcasting import check_dtype, result_type
from .plan import Plan
from .window import Sizes, Windows, _padding, numbers, spread


class Correlation(NamedTuple):
    """How a kernel slides over x: with windows of its size, and within groups of channels or of the batch."""

    windows: Windows
    """The windows of each spatial axis of x with zeros between its elements; their sizes are those of the kernel."""
    input_dilation: Sizes
    """The distance between the elements of x, for each spatial axis."""
    feature_groups: int
    batch_groups: int

    @property
    def groups(self) -> int:
        """The number of groups; those of the channels or those of the batch are one."""
        return self.feature_groups * self.batch_groups

    @property
    def edges(self) -> list[tuple[int, int, int]]:
        """The zeros around and between the elements of x along each spatial axis, as `pad` takes them."""
        return [(*ends, apart - 1) for ends, apart in zip(self.windows.padding, self.input_dilation, strict=True)]


def _groups(option: str, value: Any, divided: Callable[[int], bool], what: Callable[[], str]) -> int:
    count = as_int(value) or 0
    if count < 1 or not divided(count):
        raise ArgumentError(expected(f"{option} of at least 1 that divide {what()}", **{option: value}))
    return count


def convolution(
    x: Template,
    kernel: Template,
    strides: Any,
    padding: Any,
    input_dilation: Any,
    kernel_dilation: Any,
    feature_groups: Any,
    batch_groups: Any,
) -> Plan:
    """The plan of a convolution of (batch, channels, *spatial) with (out, channels / groups, *spatial).

    For f32[n: 8][3][h: 9] and f32[out: 4][3][3] the result is f32[n: 8][out: 4][h: 7].
    """
    dtype = check_dtype(result_type([x, kernel]), "numeric")
    if x.ndim < 2 or x.ndim != kernel.ndim:
        expectation = "x as (batch, channels, *spatial) and a kernel as (out, channels, *spatial)"
        raise ShapeError(expected(expectation, x=x, kernel=kernel))
    batch, channels, out = x.shape[0], x.shape[1], kernel.shape[0]
    features = _groups(
        "feature_groups", feature_groups, lambda count: channels % count == out % count == 0,
        lambda: f"the {channels} channels of x and the {out} of the result",
    )  # fmt: skip
    batches = _groups(
        "batch_groups", batch_groups, lambda count: batch % count == out % count == 0,
        lambda: f"the batch of {batch} and the {out} channels of the result",
    )  # fmt: skip
    if features > 1 and batches > 1:
        raise ArgumentError(
            expected("feature_groups or batch_groups, not both", feature_groups=features, batch_groups=batches)
        )
    if kernel.shape[1] * features != channels:
        expectation = f"a kernel of {channels // features} channels, the channels of x divided by the groups"
        raise ShapeError(expected(expectation, x=x, kernel=kernel, feature_groups=features))
    check_meeting(x.names[1:], kernel.names[1:], x, kernel)
    axes = range(2, x.ndim)
    paces = numbers(x, axes, "strides", strides)
    apart = numbers(x, axes, "input_dilation", input_dilation)
    between = numbers(x, axes, "kernel_dilation", kernel_dilation)
    sizes = tuple(map(spread, x.shape[2:], apart))
    spans = tuple(map(spread, kernel.shape[2:], between))
    windows = Windows(kernel.shape[2:], paces, _padding(x, axes, padding, sizes, spans, paces), between)
    shape = (batch // batches, out, *windows.places(sizes))
    names: Names = (x.names[0], kernel.names[0], *x.names[2:])
    out_template = intern_template(shape, dtype, check_unique(names))
    return Plan(out_template, (dtype, dtype), {"correlation": Correlation(windows, apart, features, batches)})
