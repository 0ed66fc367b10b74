"""Functions of elements that NumPy has besides its universal functions."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

from .beside import assert_as_numpy

CALLS = """
np.angle(k.astype("i1") - 3)
np.angle(m)
np.angle(k.astype("u2"), deg=True)
np.clip(x, 2, 5)
np.clip(x, None, x[0])
np.clip(x, min=3)
np.clip(x)
np.round(x / 3, 2)
np.round(t * 7, -1)
np.round(c / 3, 1)
np.round(m)
np.fix(x - 5.5)
np.sinc(x / 3)
np.i0(x)
np.i0(c)
np.nan_to_num([np.nan, np.inf, -np.inf, 1])
np.nan_to_num([np.nan, np.inf], nan=1, posinf=2)
np.nan_to_num([complex(np.nan, np.inf)])
np.nan_to_num(t)
np.nan_to_num(x, copy=False)
np.real_if_close(c)
np.real_if_close(c * 0 + 1)
np.angle(c)
np.angle(c, deg=True)
np.angle(-x)
np.isclose(x, x + 1e-9)
np.isclose([np.nan, np.inf], [np.nan, np.inf], equal_nan=True)
np.isclose(x, x + 1, rtol=x, atol=0)
np.allclose(x, x)
np.array_equal(x, x.tolist())
np.array_equal(x, k)
np.array_equal([np.nan], [np.nan], equal_nan=True)
np.array_equiv([1, 2], [[1, 2], [1, 2]])
np.array_equiv(x, k)
np.iscomplex(c)
np.isreal(c)
np.iscomplexobj(c)
np.isrealobj(x)
np.isposinf([np.inf, -np.inf, 1])
np.isneginf([np.inf, -np.inf, 1])
np.isposinf(c)
np.clip(np.arange(3, dtype=np.int32), -2**40, 2**40)
np.clip(np.arange(3, dtype=np.uint8), -1, 1)
np.clip(np.arange(3, dtype=np.uint8), 300, 400)
np.isclose(np.array(1, dtype=np.float32), 0.9999999999999998, atol=0, rtol=0)
np.isclose(1, 1 + 1e-9)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.split("\n")[1:-1])
def test_elements_are_numpys(call: str) -> None:
    assert_as_numpy(call)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_complex_numbers_are_ordered_by_real_and_then_imaginary_parts(name: str, backend: str) -> None:
    x = numpy.array([1 + 2j, 1 - 2j, 3, complex(numpy.nan, 1), 2, -1j])
    y = numpy.array([1 + 1j, 1 + 1j, -3, 1, complex(1, numpy.nan), 0])
    with tb.default_backend(backend):
        made = [getattr(np, name)(np.array(x), np.array(y)), getattr(np, name)(np.array(x), 1.0)]
    expected = [getattr(numpy, name)(x, y), getattr(numpy, name)(x, 1.0)]
    for ours, theirs in zip(made, expected, strict=True):
        assert ours.dtype == theirs.dtype
        numpy.testing.assert_array_equal(numpy.asarray(ours), theirs)


def test_complex_numbers_are_clipped() -> None:
    x = numpy.array([1 + 2j, -3, 5j, 4 - 1j])
    made = np.clip(np.array(x), -1.0, 2.0)
    numpy.testing.assert_array_equal(numpy.asarray(made), numpy.clip(x, -1.0, 2.0))
