"""Files: round trips, names, and files that somebody else made."""

from __future__ import annotations

import io
import json
import pickle
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, bfloat16, complex128
from tensorbackend.errors import DTypeError, FileError, NamesError, OperandError
from tensorbackend.testing import assert_equal

on_both = pytest.mark.parametrize("backend", ["binary", "numpy"])


def example(dtype: DType | str, backend: str, names: Any = None) -> tb.Tensor:
    """A tensor of six elements."""
    return tb.astype(tb.iota((2, 3), names=names, backend=backend), dtype)


@on_both
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_round_trip(tmp_path: Path, suffix: str, dtype: DType, backend: str) -> None:
    path = tmp_path / f"x{suffix}"
    x = example(dtype, backend)
    if dtype is (complex128 if suffix == ".safetensors" else bfloat16):
        with pytest.raises(DTypeError, match=r"save it as \.(npz|safetensors)"):
            tb.save(path, x if suffix == ".npy" else {"x": x})
        assert list(tmp_path.iterdir()) == []
        return
    tb.save(path, x if suffix == ".npy" else {"x": x, "empty": tb.zeros((0, 2)), "number": tb.asarray(7)})
    loaded: Any = tb.load(path, backend=backend)
    if suffix != ".npy":
        assert loaded["empty"].shape == (0, 2)
        assert loaded["number"].item() == 7
        loaded = loaded["x"]
    assert loaded.backend.name == backend
    assert_equal(loaded, x)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@on_both
def test_names_are_kept_or_refused(tmp_path: Path, backend: str) -> None:
    x = example("float32", backend, ("row", None))
    tb.save(tmp_path / "x.safetensors", {"x": x, "plain": example("int8", backend)})
    loaded: Any = tb.load(tmp_path / "x.safetensors", backend=backend)
    assert_equal(loaded["x"], x)
    assert loaded["plain"].names == (None, None)
    with pytest.raises(NamesError, match=r"without axis names for \.npy, got tensor=f32\[row: 2\]\[3\]; save it as"):
        tb.save(tmp_path / "x.npy", x)


def test_numpy_reads_what_we_write_and_we_what_it_writes(tmp_path: Path) -> None:
    tb.save(tmp_path / "x.npz", {"x": tb.asarray([1.5])})
    assert np.load(tmp_path / "x.npz")["x"].tolist() == [1.5]
    other = ">" if sys.byteorder == "little" else "<"
    np.save(tmp_path / "y.npy", np.asfortranarray(np.arange(6, dtype=f"{other}i4").reshape(2, 3)))
    loaded: Any = tb.load(tmp_path / "y.npy")
    assert loaded.tolist() == [[0, 1, 2], [3, 4, 5]]
    np.savez_compressed(tmp_path / "z.npz", a=np.ones(3), b=np.array(2))
    both: Any = tb.load(tmp_path / "z.npz")
    assert (both["a"].tolist(), both["b"].item()) == ([1.0, 1.0, 1.0], 2)


def npy(shape: tuple[int, ...], dtype: str, data: bytes) -> bytes:
    """An `.npy` file with a header that may lie."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": dtype})
    return file.getvalue() + data


def npz(content: bytes) -> bytes:
    """An `.npz` file of one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", content)
    return file.getvalue()


def safetensors(header: Any, data: bytes) -> bytes:
    """A `.safetensors` file with a header that may lie."""
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


HOSTILE = [
    ("empty.npy", b""),
    ("magic.npy", b"\x93NUMPX" + bytes(100)),
    ("cut.npy", npy((2,), "<f8", bytes(15))),
    ("long.npy", npy((2,), "<f8", bytes(17))),
    ("huge.npy", npy((1 << 60,), "<f8", bytes(8))),
    ("overflow.npy", npy((1 << 33, 1 << 33), "<f8", b"")),
    ("header.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff"),
    ("object.npy", npy((1,), "|O", pickle.dumps([1]))),
    ("version.npy", b"\x93NUMPY\x09\x00" + bytes(20)),
    ("empty.npz", b""),
    ("cut.npz", npz(npy((2,), "<f8", bytes(16)))[:-10]),
    ("huge.npz", npz(npy((1 << 40,), "<f8", bytes(64)))),
    ("object.npz", npz(npy((1,), "|O", pickle.dumps([1])))),
    ("empty.safetensors", b""),
    ("length.safetensors", b"\xff" * 8),
    ("cut.safetensors", safetensors({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, bytes(7))),
    ("huge.safetensors", safetensors({"x": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}, b"")),
    ("json.safetensors", (4).to_bytes(8, "little") + b"{{{{"),
    (
        "names.safetensors",
        safetensors({"__metadata__": {"tensorbackend.names": "[1]"}}, b""),
    ),
]


@pytest.mark.parametrize(("name", "content"), HOSTILE, ids=[name for name, _ in HOSTILE])
def test_a_hostile_file(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileError, match=rf"path='.*{name}'"):
        tb.load(path)


def test_a_bound_on_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    path.write_bytes(npz(npy((1 << 20,), "<f8", bytes(8 << 20))))
    assert path.stat().st_size < 1 << 16
    with pytest.raises(FileError, match=r"expected at most 1000000 bytes of data, .*; raise max_bytes"):
        tb.load(path, max_bytes=10**6)


def test_mistakes(tmp_path: Path) -> None:
    x = tb.zeros(2)
    with pytest.raises(OperandError, match=r"ends in \.npy, \.npz, \.safetensors, got path='x.pkl'"):
        tb.save("x.pkl", x)
    with pytest.raises(OperandError, match=r"expected tensors by name for \.npz"):
        tb.save(tmp_path / "x.npz", x)
    with pytest.raises(OperandError, match=r"expected a tensor for \.npy"):
        tb.save(tmp_path / "x.npy", {"x": x})
    with pytest.raises(OperandError, match="expected tensors by name, got x=1"):
        tb.save(tmp_path / "x.npz", {"x": 1})  # type: ignore[dict-item]
    with pytest.raises(FileNotFoundError):
        tb.load(tmp_path / "nowhere.npy")
    tb.save(tmp_path / "kept.npy", x)
    with pytest.raises(NamesError):
        tb.save(tmp_path / "kept.npy", x.rename("n"))
    assert_equal(tb.load(tmp_path / "kept.npy"), x)  # type: ignore[arg-type] # a tensor, by the suffix
