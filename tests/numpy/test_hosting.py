"""Files, texts and functions of elements in the NumPy namespace."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy

import tensorbackend as tb
import tensorbackend.numpy as np


def test_files_are_numpys(tmp_path: Path) -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", a=x, b=x[0])
    np.savez_compressed(tmp_path / "y.npz", x)
    np.savetxt(tmp_path / "x.txt", x)
    assert numpy.load(tmp_path / "x.npy").tolist() == np.load(tmp_path / "x.npy").tolist() == x.tolist()
    assert np.load(tmp_path / "x.npz")["b"].tolist() == [0.0, 1.0, 2.0]
    assert np.load(tmp_path / "y.npz")["arr_0"].tolist() == x.tolist()
    assert np.loadtxt(tmp_path / "x.txt").tolist() == x.tolist()
    assert np.genfromtxt(io.StringIO("1,2\n3,4"), delimiter=",").tolist() == [[1.0, 2.0], [3.0, 4.0]]
    (tmp_path / "raw").write_bytes(x.tobytes())
    assert np.fromfile(tmp_path / "raw").tolist() == x.ravel().tolist()


def test_vectorize_runs_at_once_where_a_function_allows_it() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(x)
        return x * 2 + 1

    assert np.vectorize(function)([[1, 2], [3, 4]]).tolist() == [[3, 5], [7, 9]]
    assert len(calls) == 1
    assert np.vectorize(lambda x: 1 if x > 2 else 0)([1, 2, 3]).tolist() == [0, 0, 1]


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
