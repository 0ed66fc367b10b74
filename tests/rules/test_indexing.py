"""Slices, with sizes as in NumPy; names of the entries that a key with one index tensor or mask selects."""

from __future__ import annotations

from typing import Any

import numpy
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.rules.indexing import getitem_template, parse_basic_key
from tensorbackend.sizes import SizeTrace
from tensorbackend.template import intern_template
from tensorbackend.testing import profile


@profile(80)
@given(st.data())
def test_one_index_tensor_or_mask_of_one_axis_keeps_the_name(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))
    names = [name if data.draw(st.booleans()) else None for name in ("a", "b", "c")][:rank]
    array = numpy.arange(3**rank).reshape((3,) * rank)
    x = tb.asarray(array, names=names)
    at = data.draw(st.integers(0, rank - 1))
    kind = data.draw(st.sampled_from(["indices", "mask", "mask of two axes"] if at + 1 < rank else ["indices", "mask"]))
    if kind == "indices":
        part: Any = numpy.asarray([2, 0])
    else:
        part = numpy.eye(3, dtype=bool) if kind == "mask of two axes" else numpy.asarray([True, False, True])
    key = (*(slice(None),) * at, part)
    new = None if kind == "mask of two axes" else names[at]
    expected = (*names[:at], new, *names[at + part.ndim if part.dtype == bool else at + 1 :])
    held = tb.asarray(part)
    found = x[(*key[:-1], held)]
    assert found.names == expected
    numpy.testing.assert_array_equal(numpy.asarray(found), array[key])
    counts = [3] * at + ([int(part.sum())] if part.dtype == bool else [])
    structure = (*(slice,) * at, held.template)
    assert getitem_template(x.template, structure, counts).names == expected


BOUNDS = st.none() | st.integers(-7, 7)


@profile(200)
@given(st.integers(0, 6), st.builds(slice, BOUNDS, BOUNDS, st.none() | st.integers(-4, 4).filter(bool)))
def test_slices_are_numpys(size: int, key: slice) -> None:
    array = numpy.arange(size)
    for backend in ("numpy", "binary"):
        assert tb.asarray(array, backend=backend)[key].tolist() == array[key].tolist()
    assert tb.template((size,), "s64")[key].shape == array[key].shape


@profile(300)
@given(
    st.integers(0, 7),
    st.integers(0, 9),
    *[st.none() | st.integers(-9, 9)] * 2,
    st.sampled_from([None, 1, 2, 3, -1, -2]),
)
def test_slices_of_symbolic_sizes(
    example: int, other: int, start: int | None, stop: int | None, step: int | None
) -> None:
    trace, key = SizeTrace(), slice(start, stop, step)
    span = parse_basic_key(intern_template(trace.shape((example,)), tb.float32, (None,)), key)
    found = trace.function((span.starts, span.lengths, span.strides))
    for size in (example, other):
        wanted = parse_basic_key(tb.zeros(size).template, key)
        assert found((size,)) in (None, (wanted.starts, wanted.lengths, wanted.strides))
    assert found((example,)) is not None


NAME = st.none() | st.sampled_from(["u", "v"])


@profile(60)
@given(NAME, NAME, st.sampled_from([(3,), (1,), ()]))
def test_index_tensors_together_have_the_names_of_the_tensors(first: Any, second: Any, shape: tuple[int, ...]) -> None:
    """Only an index tensor that is alone takes the name of its axis of x."""
    x = tb.Template((4, 5), "f32", ("row", "column"))
    one, two = tb.Template((3,), "s64", (first,)), tb.Template(shape, "s64", (second,) * len(shape))
    if first is None or not shape or second in (None, first):
        name = "row" if not shape and first is None else first or (second if shape else None)
        assert getitem_template(x, (one, two), ()).names == (name,)
        assert getitem_template(x, (one, two), ()).shape == (3,)
