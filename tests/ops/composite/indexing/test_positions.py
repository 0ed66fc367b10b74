"""`ravel_multi_index` and `unravel_index`, compared with NumPy."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb

SHAPE = (4, 3, 5)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize(("ours", "theirs"), [("clip", "clip"), ("wrap", "wrap")])
def test_positions_are_numpys(ours: str, theirs: str, backend: str) -> None:
    drawn = numpy.random.default_rng(0).integers(-7, 9, (3, 20))
    columns = [tb.asarray(coordinates, backend=backend) for coordinates in drawn]
    reference = numpy.ravel_multi_index(tuple(drawn), SHAPE, mode=theirs)  # type: ignore[call-overload]
    assert tb.ravel_multi_index(columns, SHAPE, mode=ours).tolist() == reference.tolist()  # type: ignore[arg-type]


def test_there_and_back() -> None:
    positions = tb.iota((60,), names=("cell",))
    columns = tb.unravel_index(positions, SHAPE)
    assert [column.names for column in columns] == [("cell",)] * 3
    assert tb.ravel_multi_index(columns, SHAPE).tolist() == positions.tolist()
    assert tb.gather(tb.iota(SHAPE), tb.stack(columns, axis=1)).tolist() == positions.tolist()


def test_what_is_outside() -> None:
    with pytest.raises(tb.errors.IndexRangeError):
        tb.ravel_multi_index([tb.asarray([4]), tb.asarray([0]), tb.asarray([0])], SHAPE)
    with pytest.raises(tb.errors.IndexRangeError):
        tb.unravel_index(tb.asarray([60]), SHAPE)
    outside = [tb.asarray([4, 1]), tb.asarray([0, 0]), tb.asarray([0, 0])]
    assert tb.ravel_multi_index(outside, SHAPE, mode="fill").tolist() == [-1, 15]
    assert tb.ravel_multi_index(outside, SHAPE, mode="fill", fill_value=60).tolist() == [60, 15]


def test_a_tensor_for_each_axis() -> None:
    with pytest.raises(
        tb.errors.ShapeError, match="ravel_multi_index: expected a shape with axes, and a tensor for each"
    ):
        tb.ravel_multi_index([tb.asarray([0])], SHAPE)
