"""Ops that combine the elements of windows that slide along the axes.

`window` is the size of the window along each axis: one number for all axes, one for each, or a mapping of some axes
by name or position, such as `{"time": 3}`; axes left out have size 1. `strides` is the distance between the starts of
windows, `dilations` the distance between elements of one window; both take the same forms and default to 1. One number
as `strides` is for the axes that a mapping as `window` has, and else for all axes. `padding` is `"valid"` for none,
`"same"` for ceil(size / stride) windows (an odd padding element is added at the end, as in XLA), (low, high) for each
axis, or a mapping from axes to such pairs; negative numbers remove elements. Padding does not contribute to the result.
If no window fits, the axis of the result has size 0, as in XLA. Names and dtype are kept; integers wrap around.

Errors: `ArgumentError` for an invalid option, `AxisError` for an axis that x does not have, `ShapeError`
for a padding that removes more elements than there are, `DTypeError`.
"""

from __future__ import annotations

from ..dispatch import primitive
from ..rules.accuracy import COMPLEX_STEPS, PRODUCT, SUM
from ..rules.plan import Plan
from ..rules.window import Paddings, PerAxis, plan_windows, scatter_plan, window_plan
from ..template import Template, intern_template
from .functional import OfTwo, accumulator


@primitive.within(SUM)
def window_sum(
    x: Template, /, window: PerAxis, *, strides: PerAxis = 1, padding: Paddings = "valid", dilations: PerAxis = 1
) -> Plan:
    """Sum of each window.

    >>> x = tb.asarray([[1, 2, 3, 4]], names=("batch", "time"))
    >>> tb.window_sum(x, {"time": 2})
    s64[batch: 1][time: 3] numpy
    [[3, 5, 7]]
    """
    return window_plan(x, window, strides, padding, dilations, "numeric")


@primitive.calls("window_product").within(PRODUCT)
def window_prod(
    x: Template, /, window: PerAxis, *, strides: PerAxis = 1, padding: Paddings = "valid", dilations: PerAxis = 1
) -> Plan:
    """Product of each window.

    >>> tb.window_prod(tb.asarray([1, 2, 3, 4]), 2, strides=2).tolist()
    [2, 12]
    """
    return window_plan(x, window, strides, padding, dilations, "numeric")


@primitive
def window_max(
    x: Template, /, window: PerAxis, *, strides: PerAxis = 1, padding: Paddings = "valid", dilations: PerAxis = 1
) -> Plan:
    """Maximum of each window; NaN if any element is NaN. A window of padding alone has the dtype's smallest value.

    >>> tb.window_max(tb.asarray([1, 3, 2, 0]), 3, padding="same").tolist()
    [3, 3, 3, 2]
    """
    return window_plan(x, window, strides, padding, dilations, "real")


@primitive
def window_min(
    x: Template, /, window: PerAxis, *, strides: PerAxis = 1, padding: Paddings = "valid", dilations: PerAxis = 1
) -> Plan:
    """Minimum of each window; NaN if any element is NaN. A window of padding alone has the dtype's largest value.

    >>> tb.window_min(tb.asarray([1, 3, 2, 0]), 2, dilations=2).tolist()
    [1, 0]
    """
    return window_plan(x, window, strides, padding, dilations, "real")


@primitive.within(complex=COMPLEX_STEPS)
def window_reduce(
    x: Template,
    initial: Template,
    /,
    window: PerAxis,
    *,
    function: OfTwo,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
    dilations: PerAxis = 1,
) -> Plan:
    """Fold a function of two scalar tensors over each window, starting from `initial`.

    `function(accumulated, element)` is associative, with `initial` as its identity. Slow on eager backends, which
    call the function for each element.

    >>> tb.window_reduce(tb.asarray([1, 2, 3]), 0, 2, function=lambda a, b: a * 10 + b).tolist()
    [12, 23]
    """
    dtype = accumulator(x, initial, function)
    windows = plan_windows(x, window, strides, padding, dilations)
    out = intern_template(windows.places(x.shape), dtype, x.names)
    return Plan(out, (x.dtype, dtype), {"windows": windows, "function": function})


@primitive
def window_scatter_max(
    x: Template,
    source: Template,
    initial: Template,
    /,
    window: PerAxis,
    *,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
) -> Plan:
    """Return `initial` everywhere, plus each element of `source` at the maximum of its window.

    Of equal elements, or of several NaN, the first is taken; a window of padding alone adds nothing. `source` has the
    shape of `window_max(x, window, ...)`, of which this is the gradient. The result has x's shape and the common dtype
    of `source` and `initial`. Raises `ShapeError` for a `source` of another shape or an `initial` with axes.

    >>> tb.window_scatter_max(tb.asarray([1, 3, 2, 5]), tb.asarray([10, 20]), 0, 2, strides=2).tolist()
    [0, 10, 0, 20]
    """
    return scatter_plan(x, source, initial, window, strides, padding)


@primitive
def window_scatter_min(
    x: Template,
    source: Template,
    initial: Template,
    /,
    window: PerAxis,
    *,
    strides: PerAxis = 1,
    padding: Paddings = "valid",
) -> Plan:
    """Return `initial` everywhere, plus each element of `source` at the minimum of its window.

    Otherwise like `window_scatter_max`.

    >>> tb.window_scatter_min(tb.asarray([1, 3, 2, 5]), tb.asarray([10, 20]), 0, 2, strides=2).tolist()
    [10, 0, 20, 0]
    """
    return scatter_plan(x, source, initial, window, strides, padding)
