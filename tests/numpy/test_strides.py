"""Loops over arrays that broadcast, as NumPy has them."""

from __future__ import annotations

import re

import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.broadcast(x, i).shape
np.array(list(np.broadcast(k, k[:, None])))
np.array([each for each in np.nditer(x)])
np.array([(a + b) * c for a, b, c in np.nditer([k, x[:, :3], 2])])
np.nditer([k, k[:, None], None]).operands[2].shape
np.nditer(x, op_flags=["readwrite"])[0][...].shape
np.nditer([k, None], op_dtypes=[None, np.float32]).operands[1].dtype.itemsize
np.array([loop.multi_index for loop in [np.nditer(x, flags=["multi_index"])] for _ in loop])
[each.shape for each in np.nditer(x[:, 1:])]
np.array([each for each in np.nditer(x.T)])
np.array([each for each in np.nditer(x.T, order="C")])
np.array([each for each in np.nditer(x, order="F")])
np.array([each for each in np.nditer(t.transpose(1, 0, 2)[:, ::-1], order="K")])
np.array([(a, b) for a, b in np.nditer([x.T, np.arange(3)])])
np.array([loop.multi_index for loop in [np.nditer(x[::-1], flags=["multi_index"])] for _ in loop])
np.array([loop.index for loop in [np.nditer(x.T, flags=["c_index"])] for _ in loop])
np.array([loop.index for loop in [np.nditer(x, flags=["f_index"])] for _ in loop])
np.concatenate([each for each in np.nditer(x, flags=["external_loop"], order="F")])
np.concatenate([each for each in np.nditer(t[::-1].T, flags=["external_loop"])])
[each.__setitem__(..., n) for n, each in enumerate(np.nditer(x.T, op_flags=["readwrite"]))] and x
np.nditer(x.T, flags=["external_loop"], op_flags=["readwrite"])[0].__setitem__(..., np.arange(12)) or x
[each.base is not None for each in np.nditer(t)]
np.array([(loop.index, loop.iternext())[0] for loop in [np.nditer(x, flags=["c_index"])] for _ in range(3)])
for each in np.nditer(x.T, op_flags=["readwrite"], order="C"): each[...] = 2 * each
for each in np.nditer(x): x[2, 3] = 100; k[0] = each
np.array([each.sum() for each in np.nditer(x, flags=["external_loop"])])
np.nditer([x, i[0, :3]])
[(loop.iternext(), loop.multi_index) for loop in [np.nditer(k[:1], flags=["multi_index"])]]
np.nditer(x, op_dtypes=[np.int64])
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_a_loop_is_that_of_numpy(call: str) -> None:
    assert_as_numpy(call)


def test_a_loop_writes_to_its_operands() -> None:
    x, total = np.arange(6.0).reshape(2, 3), np.zeros((2, 3), dtype=np.float32)
    with np.nditer([x, total], op_flags=[["readonly"], ["readwrite"]], op_dtypes=[None, float]) as loop:
        for each, out in loop:
            out[...] = 2 * each
    assert total.dtype == np.float32
    assert total.tolist() == (2 * x).tolist()
    steps = np.nditer(x, flags=["multi_index"], op_flags=["readwrite"])
    while not steps.finished:
        steps[0] = steps.multi_index[1]
        steps.iternext()
    assert x.tolist() == [[0, 1, 2], [0, 1, 2]]


def test_axes_in_another_order_are_refused() -> None:
    with pytest.raises(tb.errors.ArgumentError, match=re.escape("nditer: expected operands whose axes are in order")):
        np.nditer([np.ones(2)], op_axes=[[0]])
