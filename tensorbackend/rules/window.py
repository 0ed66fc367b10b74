"""Templates of windows that slide along axes, and of convolution.

A window of w elements with dilation d spans (w - 1) * d + 1 elements of the padded axis, and moves by the stride. If
no window fits, the axis of the result has size 0, as in XLA. With the padding "same" there are ceil(size / stride)
windows: the padding for this is split between both sides, and an odd element is added at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Literal, NamedTuple, TypeAlias

from ..caching.option_keys import freeze
from ..errors import ArgumentError, AxisError, ShapeError, expected
from ..sizes import index, maximum
from ..template import MAX_BYTES, Template, as_int, intern_template, merge_names
from .axes import normalize_axis
from .broadcasting import check_dtype, result_type
from .functional import check_initial
from .plan import Plan

# The keys of the mappings are axes by position or by name; Mapping is invariant in them.
PerAxis: TypeAlias = int | Sequence[int] | Mapping[Any, int]
"""One number for all axes, one for each axis, or a mapping from names or positions; axes left out have 1."""

Paddings: TypeAlias = Literal["valid", "same"] | Sequence[Sequence[int]] | Mapping[Any, Sequence[int]]
"""No padding ("valid"), padding that keeps the size at stride 1 ("same"), or (low, high) for each axis.

A mapping has (low, high) for some axes, by position or by name.
"""


Sizes: TypeAlias = tuple[int, ...]
"""One number for each axis."""

Padding: TypeAlias = tuple[tuple[int, int], ...]
"""(low, high) for each axis; negative numbers remove elements."""


class Windows(NamedTuple):
    """Windows that slide along axes, as callbacks get them: each field has one entry for each axis.

    >>> windows = Windows((1, 3), (1, 2), ((0, 0), (2, 2)), (1, 2))
    >>> windows.places((4, 9)), windows.elements, windows.along[1]
    ((4, 5), 3, (3, 2, 2))
    """

    sizes: Sizes
    """The number of elements of a window along each axis."""
    strides: Sizes
    """The distance between the starts of windows."""
    padding: Padding
    dilations: Sizes
    """The distance between the elements of one window."""

    @property
    def elements(self) -> int:
        """The number of elements of a window."""
        return prod(self.sizes)

    @property
    def spans(self) -> Sizes:
        """The length of the axis that a window spans."""
        return tuple(map(spread, self.sizes, self.dilations))

    @property
    def along(self) -> tuple[tuple[int, int, int], ...]:
        """The size, stride and dilation along each axis."""
        return tuple(zip(self.sizes, self.strides, self.dilations, strict=True))

    @property
    def is_padded(self) -> bool:
        """Whether any axis is padded or cut."""
        return any(map(any, self.padding))

    @property
    def edges(self) -> tuple[tuple[int, int, int], ...]:
        """The padding as (low, high, 0), which the callback `pad` takes."""
        return tuple((low, high, 0) for low, high in self.padding)

    def padded(self, shape: Sequence[int]) -> list[int]:
        """A shape with the padding."""
        return [low + size + high for size, (low, high) in zip(shape, self.padding, strict=True)]

    def places(self, shape: Sequence[int]) -> Sizes:
        """The number of windows that fit along each axis: 2 windows of span 3 fit in 5 elements with stride 2."""
        return tuple(map(_places, self.padded(shape), self.spans, self.strides))


def axes_of(x: Template, option: Any) -> tuple[int, ...]:
    """The axes that an option names: those of a mapping, in the order of x, or all.

    >>> axes_of(Template((5, 9), "f32", ("batch", "time")), {"time": 3}), axes_of(Template((5, 9), "f32"), 3)
    ((1,), (0, 1))
    """
    frozen = freeze(option)
    if mapped_axes(option) is None:
        return tuple(range(x.ndim))
    assert isinstance(frozen, tuple)  # as a mapping is
    return tuple(sorted(normalize_axis(x, axis) for axis, _ in frozen[1:]))


def mapped_axes(option: Any) -> int | None:
    """The number of axes that an option names, if it is a mapping.

    >>> mapped_axes({"time": 3}), mapped_axes(3)
    (1, None)
    """
    frozen = freeze(option)
    return len(frozen) - 1 if isinstance(frozen, tuple) and frozen and frozen[0] is None else None


def _entries(x: Template, axes: Sequence[int], option: str, value: Any, default: Any) -> list[Any]:
    """The entries of an option for `axes` of x, in their order."""
    value = freeze(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return [value] * len(axes)
    entries = list(value)
    if entries and entries[0] is None:
        by_axis: dict[int, Any] = {}
        for axis, entry in entries[1:]:
            position = normalize_axis(x, axis)
            if position not in axes:
                raise AxisError(expected(f"a spatial axis of {x!r} in {option}", axis=axis))
            if position in by_axis:
                raise AxisError(expected(f"each axis of {x!r} once in {option}", axis=axis))
            by_axis[position] = entry
        return [by_axis.get(axis, default) for axis in axes]
    if len(entries) != len(axes):
        expectation = f"{len(axes)} numbers in {option}, one for each axis" if option != "padding" else (
            f'"valid", "same" or {len(axes)} pairs (low, high) as padding')  # fmt: skip
        raise ArgumentError(expected(expectation, "or pass a mapping from axes", **{option: tuple(entries)}))
    return entries


def numbers(x: Template, axes: Sequence[int], option: str, value: Any, *, least: int = 1) -> tuple[int, ...]:
    """The entries of an option for `axes`, each at least `least`; axes that a mapping omits have 1.

    >>> numbers(Template((5, 9), "f32", ("batch", "time")), (0, 1), "window", {"time": 3})
    (1, 3)
    """
    entries: list[int] = []
    one = not isinstance(value, Sequence | Mapping) or isinstance(value, str)
    for entry in [value] if one else _entries(x, axes, option, value, 1):
        number = as_int(entry)
        if number is None or not least <= number <= MAX_BYTES:
            raise ArgumentError(expected(f"integers from {least} to 2**63 - 1 as {option}", **{option: entry}))
        entries.append(number)
    return tuple(entries) * len(axes) if one else tuple(entries)  # one is checked where there are no axes, too


def spread(size: int, dilation: int) -> int:
    """The length that `size` elements span if they are `dilation` apart: 3 elements that are 2 apart span 5."""
    return (size - 1) * dilation + 1 if size else 0


def _padding(
    x: Template, axes: Sequence[int], value: Any, sizes: Sequence[int], spans: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """(low, high) for each axis."""
    if value == "valid":
        return ((0, 0),) * len(axes)
    if value == "same":
        padding = []
        for size, span, stride in zip(sizes, spans, strides, strict=True):
            total = maximum((-(-size // stride) - 1) * stride + span - size, 0)
            padding.append((total // 2, total - total // 2))
        return tuple(padding)
    if not isinstance(value, Sequence | Mapping) or isinstance(value, str):
        expectation = f'"valid", "same" or {len(axes)} pairs (low, high) as padding'
        raise ArgumentError(expected(expectation, "or pass a mapping from axes", padding=value))
    pairs: list[tuple[int, int]] = []
    for size, pair in zip(sizes, _entries(x, axes, "padding", value, (0, 0)), strict=True):
        try:
            low, high = map(index, pair)
        except (TypeError, ValueError):
            raise ArgumentError(expected("(low, high) of integers for each axis as padding", padding=pair)) from None
        if low + size + high < 0:
            raise ShapeError(expected(f"a padding that leaves no negative size of {x!r}", padding=pair, size=size))
        pairs.append((low, high))
    return tuple(pairs)


def _places(size: int, span: int, stride: int) -> int:
    """The number of windows that fit in `size` elements."""
    room = size - span
    return room // stride + 1 if room >= 0 else 0


def _windowed(window: Any, strides: Any) -> Any:
    """One stride as that of each axis which a mapping gives a window; any other strides unchanged."""
    if not mapped_axes(window) or isinstance(strides, Sequence | Mapping):
        return strides
    return dict.fromkeys([axis for axis, _ in freeze(window)[1:]], strides)  # type: ignore[index] # a mapping, frozen


def plan_windows(x: Template, window: Any, strides: Any, padding: Any, dilations: Any = 1) -> Windows:
    """The windows along all axes of x.

    >>> plan_windows(Template((4, 9), "f32"), (1, 3), (1, 2), "same", (1, 2)).padding
    ((0, 0), (2, 2))
    """
    axes = range(x.ndim)
    sizes = numbers(x, axes, "window", window)
    paces = numbers(x, axes, "strides", _windowed(window, strides))
    apart = numbers(x, axes, "dilations", dilations)
    pairs = _padding(x, axes, padding, x.shape, tuple(map(spread, sizes, apart)), paces)
    return Windows(sizes, paces, pairs, apart)


def window_plan(x: Template, window: Any, strides: Any, padding: Any, dilations: Any, accept: str) -> Plan:
    """The plan of an op that reduces each window to one element, in x's dtype."""
    check_dtype(x.dtype, accept)
    windows = plan_windows(x, window, strides, padding, dilations)
    out = intern_template(windows.places(x.shape), x.dtype, x.names)
    return Plan(out, (x.dtype,), {"windows": windows})


def scatter_plan(x: Template, source: Template, initial: Template, window: Any, strides: Any, padding: Any) -> Plan:
    """The plan of adding a source's elements where the windows of x have their extremes.

    The result has x's shape and the dtype that source and initial have in common.
    """
    check_dtype(x.dtype, "real")
    check_initial(initial)
    windows = plan_windows(x, window, strides, padding)
    shape = windows.places(x.shape)
    if source.shape != shape:
        raise ShapeError(expected(f"a source of shape {shape}, an element for each window of {x!r}", source=source))
    dtype = check_dtype(result_type([source, initial]), "numeric")
    out = intern_template(x.shape, dtype, merge_names(x, source))
    return Plan(out, (x.dtype, dtype, dtype), {"windows": windows})
