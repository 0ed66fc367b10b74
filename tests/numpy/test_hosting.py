"""Files, texts and functions of elements in the NumPy namespace."""

from __future__ import annotations

from typing import Any

import numpy

import tensorbackend as tb
import tensorbackend.numpy as np


def test_vectorize_runs_at_once_where_a_function_allows_it() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(x)
        return x * 2 + 1

    assert np.vectorize(function)([[1, 2], [3, 4]]).tolist() == [[3, 5], [7, 9]]
    assert len(calls) == 1
    assert np.vectorize(lambda x: 1 if x > 2 else 0)([1, 2, 3]).tolist() == [0, 0, 1]


def test_vectorize_calls_a_function_of_few_elements_for_each() -> None:
    seen: list[Any] = []

    def function(x: Any) -> Any:
        seen.append(x)
        return 2 * x

    double = np.vectorize(function, otypes=[float])
    assert double(np.array([1, 2, 3])).tolist() == [2.0, 4.0, 6.0]
    assert seen == [1, 2, 3]
    many, calls = np.arange(1000.0), len(seen)
    assert double(many).tolist() == (2 * many).tolist()
    assert len(seen) == calls + 1
    choose = np.vectorize(lambda x: x if x > 2 else 0.0)
    assert choose(many).sum() == choose(many).sum() == many.sum() - 3


def test_vectorize_takes_traced_values() -> None:
    x = np.array([1.0, 2.0])
    assert tb.grad(lambda w: np.sum(np.vectorize(lambda e: e * w)(x)))(np.array(3.0)) == 3
    assert tb.grad(lambda a: np.sum(np.vectorize(lambda e: e * e)(a)))(x).tolist() == [2, 4]


def test_print_options_and_blocks_of_errors_are_numpys() -> None:
    with np.printoptions(precision=2):
        assert str(np.array([1.23456])) == "[1.23]"
    with np.errstate(divide="raise"):
        assert np.array([1.0, 0.0]).tolist() == [1.0, 0.0]
        assert (1 / np.array([1.0, 0.0])).tolist() == [1.0, float("inf")]
    assert set(np.geterr()) == set(np.seterr()) == {"divide", "over", "under", "invalid"}


def test_arrays_of_other_libraries_and_tensors_are_taken() -> None:
    assert np.from_dlpack(numpy.arange(3)).tolist() == [0, 1, 2]
    assert np.add(tb.asarray([1.0]), [2]).tolist() == [3.0]
    assert np.asarray(memoryview(b"ab")).tolist() == [97, 98]
    assert np.einsum_path("ij,jk", np.ones((2, 2)), np.ones((2, 2)))[0][0] == "einsum_path"
    assert np.in1d([[1, 2]], [2]).tolist() == [False, True]


def test_assertions_read_arrays() -> None:
    np.testing.assert_allclose(np.ones(2), [1.0, 1.0])
    np.testing.assert_array_equal(np.arange(2), np.array([0, 1]))
    with np.testing.assert_raises(AssertionError):
        np.testing.assert_equal(np.ones(2), np.zeros(2))


def test_limits_of_dtypes_that_numpy_lacks() -> None:
    assert np.finfo(np.asarray(tb.ones(2, dtype="bfloat16"))).eps == np.finfo(tb.bfloat16).eps == 2.0**-7
    assert np.finfo(np.asarray(tb.ones(2, dtype="float8_e5m2")).dtype).max == 57344
    assert (np.iinfo(tb.int4).min, np.iinfo("uint4").max) == (-8, 15)
    assert np.finfo(np.ones(1, "f2")).eps == np.finfo(numpy.float16(1)).eps == 2.0**-10
    assert not any("ml_dtypes" in kind.__module__ for kind in np.sctypeDict.values())
    assert np.sctypeDict["float64"] is np.float64
