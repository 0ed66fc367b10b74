"""Views in other steps, and loops over arrays that broadcast, as NumPy has them."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.lib.stride_tricks.as_strided(k, (2, 2), (8, 8))
np.lib.stride_tricks.as_strided(x, (3, 2, 3), (32, 8, 8))
np.lib.stride_tricks.as_strided(k, (2, 3), (0, 8))
np.lib.stride_tricks.as_strided(k, (0, 3), (8, 8))
np.lib.stride_tricks.as_strided(k, (2, 2), (8,))
np.lib.stride_tricks.as_strided(x)
np.broadcast(x, i).shape
np.array(list(np.broadcast(k, k[:, None])))
np.array([each for each in np.nditer(x)])
np.array([(a + b) * c for a, b, c in np.nditer([k, x[:, :3], 2])])
np.nditer([k, k[:, None], None]).operands[2].shape
np.nditer(x, op_flags=["readwrite"])[0][...].shape
np.nditer([k, None], op_dtypes=[None, np.float32]).operands[1].dtype.itemsize
np.array([loop.multi_index for loop in [np.nditer(x, flags=["multi_index"])] for _ in loop])
np.array([each.sum() for each in np.nditer(x, flags=["external_loop"])])
np.nditer([x, i[0, :3]])
np.nditer(x, op_dtypes=[np.int64])
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_a_loop_or_a_view_is_that_of_numpy(call: str) -> None:
    assert_as_numpy(call)


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
def test_what_is_written_to_a_view_in_other_steps_is_written_to_the_array(backend: str) -> None:
    with tb.default_backend(backend):
        x = np.arange(6)
        diagonal: Any = np.lib.stride_tricks.as_strided(x, (2,), (16,))
        diagonal += 10
        diagonal[1] = 7
        assert x.tolist() == [10, 1, 7, 3, 4, 5]
        x[0] = 5
        assert diagonal.tolist() == [5, 7]


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


def test_windows_in_other_steps_have_a_gradient() -> None:
    def energy(x: np.ndarray) -> Any:
        return np.sum(np.square(np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))))

    found = tb.grad(energy)(np.array([1.0, 2.0, 3.0, 4.0]))
    numpy.testing.assert_allclose(numpy.asarray(found), [2, 8, 12, 8])


@pytest.mark.parametrize(
    ("shape", "strides", "text"),
    [
        ((3,), (16,), "expected strides that stay among the 4 elements of x, got shape=(3,), strides=(16,)"),
        ((2,), (-8,), "expected strides that stay among the 4 elements of x, got shape=(2,), strides=(-8,)"),
        ((2,), (4,), "expected strides that are multiples of 8, the bytes of an element, got strides=(4,)"),
    ],
)
def test_no_step_leads_out_of_the_array(shape: tuple[int, ...], strides: tuple[int, ...], text: str) -> None:
    with pytest.raises(tb.errors.ArgumentError, match=re.escape(f"as_strided: {text}")):
        np.lib.stride_tricks.as_strided(np.arange(4), shape, strides)


def test_axes_in_another_order_are_refused() -> None:
    with pytest.raises(tb.errors.ArgumentError, match=re.escape("nditer: expected operands whose axes are in order")):
        np.nditer([np.ones(2)], op_axes=[[0]])
