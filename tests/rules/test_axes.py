"""Positions of axes, and what errors advise for what is no axis."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import AxisError, AxisKindError
from tensorbackend.rules.axes import normalize_axes, normalize_axis, sole_axis, sorted_axes
from tensorbackend.template import Template
from tensorbackend.testing import profile

NAMES = ("a", "b", None)
THREE = Template((2, 3, 4), as_dtype("f32"), NAMES)
AXES = st.one_of(st.integers(-4, 3), st.sampled_from(["a", "b", "c"]))


@profile(60)
@given(st.lists(AXES, max_size=3))
def test_positions_are_counted_from_both_ends_or_named(axes: list[Any]) -> None:
    if any(axis == "c" or axis in (-4, 3) for axis in axes):
        with pytest.raises(AxisError):
            normalize_axes(THREE, axes)
        return
    positions = [NAMES.index(axis) if isinstance(axis, str) else (axis + 3) % 3 for axis in axes]
    assert [normalize_axis(THREE, axis) for axis in axes] == positions
    if len({*positions}) < len(positions):
        with pytest.raises(AxisError, match=r"each axis of .* once"):
            normalize_axes(THREE, axes)
    else:
        assert normalize_axes(THREE, axes) == tuple(positions)
        assert sorted_axes(THREE, axes) == tuple(sorted(positions))


NO_AXES: list[tuple[Any, str]] = [
    ([1], r"got axis=\[1\]; write 1$"),
    (("a",), r"got axis=\('a',\); write 'a'$"),
    ([0, "b"], r"; merge_axes\(x, \(0, 'b'\), name=\.\.\.\) makes one axis of them$"),
    ((), r"got axis=\(\)$"),
    (..., "; moveaxis"),
    (1.0, r"got axis=1\.0$"),
    (None, "got axis=None$"),
]


@pytest.mark.parametrize(("axis", "text"), NO_AXES, ids=lambda value: str(value)[:9])
def test_what_is_no_axis_is_advised_by_what_it_is(axis: Any, text: str) -> None:
    with pytest.raises(AxisKindError, match=f"expected an axis as an int or a name, .*{text}"):
        normalize_axis(THREE, axis)


def test_names_of_tensors_that_lack_them() -> None:
    for names, axis, text in [
        (("a", "b", None), "c", r"rename\('a', 'b', 'c'\) names the axis without a name$"),
        ((None, None, None), "c", r"name its axes with rename\(\), or write a position$"),
        (("a", None, None), "c", "got axis='c'$"),
    ]:
        error = AxisError if any(names) else AxisKindError
        with pytest.raises(error, match=text):
            normalize_axis(THREE.replace(names=names), axis)


def test_an_axis_may_be_left_out_of_one_alone() -> None:
    assert sole_axis(THREE.replace(shape=(2,), names=("a",)), None) == 0
    assert sole_axis(THREE, "b") == 1
    for shape in ((), (2, 3)):
        with pytest.raises(AxisError, match="an axis is optional only for a tensor of one axis"):
            sole_axis(THREE.replace(shape=shape, names=(None,) * len(shape)), None)
