"""Functions of the NumPy namespace that read elements: at indices, where a condition holds, from several arrays."""

from __future__ import annotations

import pytest

from .beside import assert_as_numpy

CALLS = """
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
np.choose(np.array([True, False]), (np.array([1, 2]), 5))
np.choose(k % 2, (x[0, :3], 5), out=np.zeros(3, dtype=int))
np.trim_zeros(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]))
np.trim_zeros(np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]), axis=1, trim="f")
np.trim_zeros(t * 0)
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
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_elements_are_selected_as_by_numpy(call: str) -> None:
    assert_as_numpy(call)
