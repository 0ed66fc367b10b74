"""Files of NumPy's formats, written and read back, also by NumPy itself."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy
import pytest

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


def archive() -> Any:
    """Return a file with two arrays."""
    file = io.BytesIO()
    np.savez(file, a=np.arange(3), b=np.eye(2))
    file.seek(0)
    return file


def test_an_archive_is_a_mapping_and_a_block() -> None:
    with np.load(archive()) as data:
        assert data.files == list(data) == ["a", "b"]
        assert len(data) == 2
        assert "b" in data
        assert "c" not in data
        assert {name: x.tolist() for name, x in data.items()} == {"a": [0, 1, 2], "b": [[1.0, 0.0], [0.0, 1.0]]}
        assert isinstance(data["a"], np.ndarray)
        assert data.f.b.tolist() == data["b"].tolist()
        with pytest.raises(AttributeError):
            data.f.c  # noqa: B018
    with pytest.raises(Exception, match=r".+"):
        data["a"]


@pytest.mark.parametrize("dtype", [">i2", "<i2", ">f8", "u1"])
def test_bytes_are_read_in_the_order_of_the_dtype(dtype: str, tmp_path: Path) -> None:
    x = numpy.arange(1, 5).astype(dtype)
    x.tofile(tmp_path / "raw")
    for made in (np.frombuffer(x.tobytes(), dtype), np.fromfile(tmp_path / "raw", dtype)):
        assert made.tolist() == [1, 2, 3, 4]
        assert made.dtype == x.dtype.newbyteorder("=")


def test_an_array_writes_its_bytes_and_swaps_them(tmp_path: Path) -> None:
    x = np.arange(4, dtype=np.int16)[1:]
    x.tofile(tmp_path / "raw")
    assert numpy.fromfile(tmp_path / "raw", numpy.int16).tolist() == [1, 2, 3]
    x.tofile(tmp_path / "text", sep=" ")
    assert (tmp_path / "text").read_text() == "1 2 3"
    assert x.byteswap().tolist() == [256, 512, 768]
    assert x.tolist() == [1, 2, 3]
    x.byteswap(inplace=True)
    assert x.tolist() == [256, 512, 768]


def test_what_is_written_to_an_array_of_a_buffer_leaves_the_buffer() -> None:
    data = bytearray(b"abc")
    x = np.frombuffer(data, np.uint8)
    x[0] = 0
    assert bytes(data) == b"abc"
