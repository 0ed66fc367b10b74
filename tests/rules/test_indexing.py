"""Names of the entries that a key of slices and one index tensor or mask gives, on data and in a dry run."""

from __future__ import annotations

from typing import Any

import numpy
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.rules.indexing import getitem_template
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
