"""Functions of the NumPy namespace that read elements: at indices, where a condition holds, from several arrays."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.where(x > 0, None)
np.take(x, [0, 2], axis=1)
np.take(x, [13, -1], mode='wrap')
np.take(x, [13, -1], mode='clip')
np.take(x, [13])
np.take(x, np.array([0.5]))
np.take_along_axis(x, i, axis=0)
np.take_along_axis(x, i[0], axis=None)
np.take_along_axis(x, i[0], axis=0)
np.take_along_axis(x, i * 1.0, axis=0)
np.where(m, x, 1)
np.where(m, x, 2j)
np.where(m, 1, 2)
np.where(m, x.astype(np.float16), -1e9)
np.where(m, 10**40, x.astype(np.float32))
np.select([m], [x.astype(np.float16)], 1e9)
np.where(x, x, t[0])
np.where(m)
np.where(m, x)
np.nonzero(x)
np.nonzero(3)
np.flatnonzero(m)
np.argwhere(m)
np.argwhere(3)
np.compress([True, False, True], x, axis=0)
np.compress(m, x)
np.extract(m, x)
np.choose([0, 1, 0], [[1, 2, 3], [4.5, 5.5, 6.5]])
np.choose(k, [k, -k], mode='wrap')
np.choose(k, [k, -k], mode='clip')
np.choose(k, [k, -k])
np.select([m, x > 4], [x, -x], 9)
np.select([m], [x, x])
np.select([], [])
np.select([x], [x])
np.piecewise(x, [x < 3, x > 7], [lambda y: y * 2, 5, -1])
np.piecewise(k, k < 3, [1, 2])
np.piecewise(x, [m], [1, 2, 3])
np.piecewise(x, [x < 3, x > 7], [lambda y: y.mean(), lambda y: y - y.max(), np.cumsum])
np.piecewise(x, [x < 3, x < 0], [lambda y, z: y * z, lambda y, z: 1 / 0], 4)
np.choose([0, 1, 0], [1, np.array([2**63 + 1], dtype=np.uint64)])
np.choose([0, 1, 0], [1.5, np.array([2], dtype=np.float32)])
np.choose(np.array([True, False]), (np.array([1, 2]), 5))
np.choose(k % 2, (x[0, :3], 5), out=np.zeros(3, dtype=int))
np.trim_zeros(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]))
np.trim_zeros(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]), axis=1, trim="f")
np.trim_zeros(t * 0)
np.partition(np.zeros((0, 3)), 0, axis=0)
np.partition(np.zeros(2), 2)
np.trim_zeros(k, trim="z")
np.hanning(np.uint8(10))
np.bartlett(np.int8(100))
np.concatenate([x, x], dtype=np.int64)
np.concatenate([x, x], dtype=np.int64, casting="unsafe")
np.stack([x, x], dtype=np.float32, casting="no")
np.unique(np.array([np.nan, 0, np.nan]), axis=0)
np.array(x.flags == x.copy().flags)
np.array([x.flags["C"], x.flags["O"], x.flags["W"]])
k.byteswap()
np.take(np.zeros(0), [0])
np.take(np.zeros((2, 0)), [0], axis=1, mode="clip")
np.take(np.zeros((0, 3)), np.array([], int), axis=0)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_elements_are_selected_as_by_numpy(call: str) -> None:
    assert_as_numpy(call)


def test_a_piece_has_the_slope_of_its_own_elements() -> None:
    x = np.array([4.0, -1.0])
    slope = tb.grad(lambda x: np.sum(np.piecewise(x, [x > 0], [lambda y: y**2, 3.0])))
    assert slope(x).tolist() == [8.0, 0.0]
    with tb.tape() as tape:
        watched = tape.watch(x)
        y = np.sum(np.piecewise(watched, [watched > 0, watched < 0], [np.sqrt, lambda y: y * np.mean(y)]))
    assert tb.gradient(y, watched).tolist() == [0.25, -2.0]


KINDS = ["bool", "int8", "uint8", "int64", "float32", "float64", "complex64"]


@pytest.mark.parametrize("own", [np, numpy], ids=["ours", "NumPy's"])
@pytest.mark.parametrize("out", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_cast_to_out_of_the_same_kind(kind: str, out: str, own: Any) -> None:
    """That is NumPy's rule from 2.5 on, which warns of other kinds; before, it asked whether `out` can be read so."""
    x = np.array([1, 0, 3]).astype(kind)
    for call in (partial(np.take, x, [0, 2]), partial(np.compress, [1, 0, 1], x)):
        given = own.zeros(2, out)
        if numpy.can_cast(kind, out, "same_kind"):
            assert call(out=given) is given
            assert given.tolist() == numpy.array([1, 3]).astype(kind).astype(out).tolist()
        else:
            with pytest.raises(TypeError, match="cast"):
                call(out=given)
            assert not numpy.asarray(given).any()


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("out", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_is_cast_to_any_out_as_by_numpy(kind: str, out: str) -> None:
    assert_as_numpy(f"np.trace(np.array([[1, 0, 3], [2, 4, 0]]).astype('{kind}'), out=np.zeros((), '{out}'))")
