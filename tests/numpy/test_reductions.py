"""Reductions in the NumPy namespace with arguments that the op does not have."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.var([1.0, 2.0, 6.0], mean=2.0)
np.std([[1, 2], [3, 9]], axis=1, mean=[[1.0], [4.0]], ddof=1)
np.var([1 + 2j, 3j, 5.0], where=[True, True, False])
np.sum(np.zeros((0, 2), int), axis=0, initial=3)
np.max(np.zeros((2, 0)), axis=(0, 1), keepdims=True, initial=3.0)
np.sum(3, axis=0)
np.max(3.5, axis=-1)
np.max([1 + 2j, 1 - 1j, 0.5], keepdims=True)
np.argmin([[1 + 2j, 1 - 1j], [2, 1j]], axis=0)
np.max(np.zeros((0, 2), complex), axis=0)
np.max(np.zeros((0, 2), complex), axis=1)
np.sum(3, axis=1)
np.sum(np.array([1.5, 2], dtype=np.float32), where=[True, False], initial=2)
np.sum([True, True, False], out=np.array(False))
np.prod([[True, False], [True, True]], axis=1, out=np.array([False, False]))
np.sum([0.5, 1.5, 0.75], out=np.array(0))
np.sum(np.full((3, 2), 100, np.int8), axis=0, out=np.zeros(2, np.int8))
np.sum(np.full((3, 2), 0.1, np.float32), axis=0, out=np.zeros(2))
np.mean(np.full((3, 2), 0.1, np.float32), axis=0, out=np.zeros(2))
np.max([1.5, 2.5], out=np.array(0))
np.nanmax([1.5, np.nan], out=np.array(0))
np.add.reduce([[True, True], [False, False]], axis=1, out=np.array([False, True]))
np.argmax([[1.0, 3.0], [2.0, 0.0]], axis=1, out=np.zeros(2))
np.argmin([[1.0, 3.0], [2.0, 0.0]], axis=1, out=np.zeros(2, np.uint64))
np.argmax([[1.0, 3.0], [2.0, 0.0]], axis=1, out=np.zeros(2, np.int8))
np.nanargmax([[1.0, 3.0], [2.0, 0.0]], axis=1, out=np.zeros(2, np.float32))
np.std([[1, 3], [2, 0]], axis=1, out=np.zeros(2, int))
np.nanstd([[1, 3], [2, 0]], axis=1, out=np.zeros(2, np.uint8))
np.var([[1, 3], [2, 0]], axis=1, out=np.zeros(2, int))
np.dot([[1, 2]], [3, 4], out=np.zeros(1))
np.dot([[1.0, 2.0]], [3.0, 4.0], out=np.zeros(1, np.float32))
np.dot([[1.0, 2.0]], [3.0, 4.0], out=np.zeros(1))
""".strip().splitlines()


@pytest.mark.parametrize("source", CALLS)
def test_as_numpy(source: str) -> None:
    assert_as_numpy(source)


WRITES = """
np.sum(m, axis=0, out=out)
np.mean(m[0], axis=0, out=out)
np.max(m, out=out)
np.any(m, axis=1, out=out)
np.argmin(m, axis=0, out=out.astype(int))
np.nanmean(m, axis=0, out=out)
np.nanmin(m, axis=0, out=out)
np.nanstd(m, axis=0, out=out)
np.median(m, axis=0, out=out)
np.ptp(m, axis=0, out=out)
np.hypot.reduce(m, out=out)
np.add.accumulate(m, axis=0, out=out)
np.cumsum(m, axis=0, out=out)
np.cumulative_sum(m, axis=0, out=out)
np.dot(m[0], m[0], out=m[0])
np.dot([[1, 2]], [3, 4], out=out)
np.einsum("ij->j", m, out=out)
np.trace(m, out=out)
np.compress([True], m, axis=0, out=out)
np.take(m, 0, axis=0, out=out)
np.choose([0, 1], [m[0], m[0]], out=out)
np.concatenate([m[0], m[0]], out=np.zeros((2, 4)))
np.fft.fft(m, out=np.zeros((2, 2, 2), dtype=complex))
np.round(m[0], 1, out=out)
""".strip().splitlines()


@pytest.mark.parametrize("source", WRITES)
@pytest.mark.parametrize("own", [True, False])
def test_an_out_of_another_shape_is_refused_and_kept(source: str, own: bool) -> None:
    module = np if own else numpy
    scope = {"np": module, "m": module.ones((2, 2)), "out": module.full((3, 2), 7.0)}
    with pytest.raises((ValueError, TypeError)):
        eval(source, scope)
    assert numpy.all(numpy.asarray(scope["out"]) == 7)


def test_an_array_of_numpys_own_is_refused_in_another_shape_as_well() -> None:
    with pytest.raises(ValueError, match="shape"):
        np.sum(np.ones((2, 2)), axis=0, out=numpy.zeros((3, 2)))


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
@pytest.mark.parametrize("source", ["np.outer(x, x, out=out)", "np.fix(x, out=out[0])", "np.matmul(x, x, out=out)"])
def test_functions_of_each_element_fill_an_out_of_more_axes(source: str) -> None:
    theirs, ours = (
        eval(source, {"np": module, "x": module.ones(2), "out": module.zeros((3, 2, 2))}) for module in (numpy, np)
    )
    assert ours.tolist() == theirs.tolist()
