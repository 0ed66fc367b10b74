"""Files: round trips, names, and files written by other programs."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, bfloat16, complex128
from tensorbackend.errors import ArgumentError, DTypeError, FileError, NamesError, OperandError, TensorBackendError
from tensorbackend.testing import assert_equal

on_both = pytest.mark.parametrize("backend", ["binary", "numpy"])


def example(dtype: DType | str, backend: str, names: Any = None) -> tb.Tensor:
    """Return a tensor of six elements."""
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
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


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
    """Return an `.npy` file whose header need not match the data."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": dtype})
    return file.getvalue() + data


def npz(content: bytes) -> bytes:
    """Return an `.npz` file with one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", content)
    return file.getvalue()


def safetensors(header: Any, data: bytes) -> bytes:
    """Return a `.safetensors` file whose header need not match the data."""
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive of any members, duplicate names included."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about duplicate names
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, content in members:
                archive.writestr(name, content)
    return file.getvalue()


def entry(shape: list[Any], start: int, stop: int, dtype: str = "F32") -> dict[str, Any]:
    """Return the entry for a tensor in the header of a `.safetensors` file."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


ARRAY = npy((2,), "<f8", bytes(16))

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
    ("text.npy", npy((1,), "<U1", b"abcd")),
    ("long_double.npy", npy((1,), "<f16", bytes(16))),
    ("bool.npy", npy((2,), "|b1", b"\x01\x02")),
    ("negative.npy", npy((-1,), "<f8", b"")),
    ("axes.npy", npy((1,) * 65, "|u1", b"\x00")),
    ("digits.npy", npy((1,), "|u1", b"\x00").replace(b"(1,), }", b"(" + b"1" * 5000 + b",), }")),
    ("entries.npy", ARRAY.replace(b"'shape'", b"'descr'")),
    ("code.npy", ARRAY.replace(b"'<f8'", b"__import__('os')")),
    ("folder.npz", zipped(("x.npy", ARRAY), ("folder/", b""))),
    ("note.npz", zipped(("x.npy", ARRAY), ("note.txt", b"hello"))),
    ("twice.npz", zipped(("x.npy", ARRAY), ("x.npy", ARRAY))),
    ("lzma.npz", zipped(("x.npy", ARRAY), method=zipfile.ZIP_LZMA)),
    ("sum.npz", zipped(("x.npy", ARRAY)).replace(bytes(16), bytes(15) + b"\x01", 1)),
    ("deflated.npz", npz(ARRAY + bytes(5000))[:60] + b"\xff" * 8 + npz(ARRAY + bytes(5000))[68:]),
    ("directory.npz", zipped(("x.npy", ARRAY))[:-6] + b"\xff\xff\xff\x7f\x00\x00"),
    ("empty.safetensors", b""),
    ("length.safetensors", b"\xff" * 8),
    ("cut.safetensors", safetensors({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, bytes(7))),
    ("huge.safetensors", safetensors({"x": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 1 << 42]}}, b"")),
    ("json.safetensors", (4).to_bytes(8, "little") + b"{{{{"),
    (
        "twice.safetensors",
        b"\x56"
        + bytes(7)
        + b'{"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
        + b'"x":{"dtype":"U8"}}'
        + bytes(14),
    ),
    ("hole.safetensors", safetensors({"x": entry([1], 0, 4), "y": entry([1], 8, 12)}, bytes(12))),
    ("overlap.safetensors", safetensors({"x": entry([2], 0, 8), "y": entry([2], 4, 12)}, bytes(12))),
    ("rest.safetensors", safetensors({"x": entry([1], 0, 4)}, bytes(5))),
    ("dtype.safetensors", safetensors({"x": entry([1], 0, 1, "F6_E2M3")}, bytes(1))),
    ("float.safetensors", safetensors({"x": entry([1.0], 0, 4)}, bytes(4))),
    ("list.safetensors", safetensors(["x"], b"")),
    ("entry.safetensors", safetensors({"x": [1, 2, 3]}, b"")),
    ("deep.safetensors", (100_000).to_bytes(8, "little") + b"[" * 100_000),
    ("wide.safetensors", (1 << 20).to_bytes(8, "little") + b"[" + b"[]," * 349_524 + b"[]]"),
    ("digits.safetensors", safetensors({"x": entry(["@"], 0, 4)}, b"").replace(b'"@"', b"1" * 5000)),
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


@pytest.mark.parametrize(("name", "content"), HOSTILE, ids=[name for name, _ in HOSTILE])
def test_a_hostile_file_as_templates(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if name == "bool.npy":  # only reading the elements shows the error
        tb.load(path, backend="template")
        return
    with pytest.raises(FileError, match=rf"path='.*{name}'"):
        tb.load(path, backend="template")


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    texts = {
        "note.npz": r"an archive that holds only arrays, got .*member='note\.txt'; remove the other members",
        "twice.npz": r"each member once, got .*member='x\.npy'",
        "lzma.npz": r"stored or deflated, without a password, got .*method=14; write it with numpy\.savez",
        "object.npy": r"numbers of a dtype that tensors have, got .*dtype='\|O'; Python objects",
        "header.npy": r"an intact file, got .*found='a header of 4294967295 bytes'",
        "sum.npz": r"member='x\.npy', found=.BadZipFile: Bad CRC-32",
        "dtype.safetensors": r"expected a dtype among BOOL, .*dtype='F6_E2M3'",
        "twice.safetensors": r"found='ValueError: a name that occurs twice'",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(dict(HOSTILE)[name])
        with pytest.raises(FileError, match=text):
            tb.load(tmp_path / name)


def test_a_bound_on_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    path.write_bytes(npz(npy((5 << 20,), "<f8", bytes(40 << 20))))
    assert path.stat().st_size < 1 << 17
    with pytest.raises(FileError, match=r"expected at most 33554432 bytes of data, .*bytes=41943168; raise max_bytes"):
        tb.load(path)
    loaded: Any = tb.load(path, max_bytes=50 << 20)
    assert loaded["x"].shape == (5 << 20,)
    with pytest.raises(FileError, match=r"expected at most 1000000 bytes of data, .*; raise max_bytes"):
        tb.load(path, max_bytes=10**6)
    for wrong in ("abc", -1, 1.5, [1]):
        for file in (path, tmp_path / "missing.npz"):
            with pytest.raises(ArgumentError, match=r"load: expected an int.* as max_bytes, got max_bytes="):
                tb.load(file, max_bytes=wrong)  # type: ignore[arg-type]
    small: Any = tb.load(path, backend="template", max_bytes=10)
    assert small["x"].template is tb.Template((5 << 20,), "f64")


def test_shortage_of_memory_is_not_a_broken_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(*arguments: Any) -> Any:
        raise MemoryError("Unable to allocate 4 GiB")

    for suffix in (".npy", ".npz", ".safetensors"):
        tb.save(tmp_path / f"x{suffix}", tb.zeros(2) if suffix == ".npy" else {"x": tb.zeros(2)})
    monkeypatch.setattr(np, "empty", short)
    for suffix in (".npy", ".npz", ".safetensors"):
        with pytest.raises(MemoryError):
            tb.load(tmp_path / f"x{suffix}")


PEAK = """
import os, sys, tracemalloc, tensorbackend as tb
tb.zeros(2, backend=sys.argv[2]) + 1
tb.load(sys.argv[3])  # imports what it needs
tracemalloc.start()
kept = tb.load(sys.argv[1], backend=sys.argv[2])
print(tracemalloc.get_traced_memory()[1] / os.path.getsize(sys.argv[1]))
tracemalloc.reset_peak()
before = tracemalloc.get_traced_memory()[0]
tb.save(sys.argv[1], kept)
print((tracemalloc.get_traced_memory()[1] - before) / os.path.getsize(sys.argv[1]))
"""


@pytest.mark.parametrize("kind", ["c.npy", "fortran.npy", "swapped.npy", "x.npz", "x.safetensors"])
def test_a_file_is_in_memory_once(tmp_path: Path, kind: str) -> None:
    path, small = tmp_path / kind, tmp_path / f"small{Path(kind).suffix}"
    array = np.ones((1000, 2000), ">f8" if kind == "swapped.npy" else "<f8")
    if path.suffix == ".npy":
        np.save(path, np.asfortranarray(array) if kind == "fortran.npy" else array)
        tb.save(small, tb.zeros(2))
    else:
        tb.save(path, {"x": tb.asarray(array), "y": tb.asarray(array)})
        tb.save(small, {"x": tb.zeros(2)})
    completed = subprocess.run([sys.executable, "-c", PEAK, path, "numpy", small], capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    loading, saving = map(float, completed.stdout.split())
    assert loading < 1.1
    assert saving < (1.1 if path.suffix == ".npz" else 0.1)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_the_order_of_names(tmp_path: Path, suffix: str) -> None:
    names = ["z", "a", "with space", "\u00e4/\u20ac", "", "a.npy", "m"]
    tensors = {name: tb.asarray(number, dtype=("u8", "f32")[number % 2]) for number, name in enumerate(names)}
    tb.save(tmp_path / f"x{suffix}", tensors)
    for backend in ("numpy", "template"):
        loaded: Any = tb.load(tmp_path / f"x{suffix}", backend=backend)
        assert list(loaded) == names
        assert [tensor.template for tensor in loaded.values()] == [tensor.template for tensor in tensors.values()]
    if suffix == ".safetensors":
        assert {name: x.item() for name, x in load_file(tmp_path / "x.safetensors").items()} == {
            name: number for number, name in enumerate(names)
        }


def test_names_that_a_format_cannot_hold(tmp_path: Path) -> None:
    x = tb.zeros(2)
    for suffix, name in ((".npz", "a\0b"), (".npz", "a" * 65536), (".safetensors", "__metadata__"), (".npz", "\ud800")):
        with pytest.raises(FileError, match=r"expected a name .*; choose another name"):
            tb.save(tmp_path / f"x{suffix}", {"x": x, name: x})
    tb.save(tmp_path / "x.safetensors", {"a\0b": x})
    assert list(tb.load(tmp_path / "x.safetensors")) == ["a\0b"]
    assert [file.name for file in tmp_path.iterdir()] == ["x.safetensors"]


def test_the_library_of_safetensors_agrees(tmp_path: Path) -> None:
    arrays = {dtype.name: np.asarray(example(dtype, "numpy")) for dtype in ALL_DTYPES if dtype is not complex128}
    save_file(arrays, tmp_path / "theirs.safetensors")
    theirs: Any = tb.load(tmp_path / "theirs.safetensors")
    tb.save(
        tmp_path / "ours.safetensors", {name: tb.asarray(array, names=("a", None)) for name, array in arrays.items()}
    )
    ours = load_file(tmp_path / "ours.safetensors")
    for name, array in arrays.items():
        assert np.array_equal(np.asarray(theirs[name]), array)
        assert np.array_equal(ours[name], array)
        assert ours[name].dtype == array.dtype
    with safe_open(tmp_path / "ours.safetensors", framework="np") as file:
        assert json.loads(file.metadata()["tensorbackend.names"])["int8"] == ["a", None]


@pytest.mark.parametrize("backend", ["binary", "jax"])
def test_other_backends_own_what_they_load(tmp_path: Path, backend: str) -> None:
    tb.save(tmp_path / "x.npy", tb.astype(tb.iota((300, 300)), "f32"))
    np.save(tmp_path / "y.npy", np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)))
    x: Any = tb.load(tmp_path / "x.npy", backend=backend)
    y: Any = tb.load(tmp_path / "y.npy", backend=backend)
    assert (tb.max(x).item(), y.tolist(), y.backend.name) == (89999.0, [[0, 1, 2], [3, 4, 5]], backend)


def test_mistakes(tmp_path: Path) -> None:
    x = tb.zeros(2)
    with pytest.raises(OperandError, match=r"ends in \.npy, \.npz, \.safetensors, got path='x.pkl'"):
        tb.save("x.pkl", x)
    with pytest.raises(OperandError, match=r"expected tensors by name for \.npz"):
        tb.save(tmp_path / "x.npz", x)
    with pytest.raises(OperandError, match=r"expected a tensor for \.npy"):
        tb.save(tmp_path / "x.npy", {"x": x})
    with pytest.raises(OperandError, match="expected tensors by name, got x=1"):
        tb.save(tmp_path / "x.npz", {"x": 1})
    with pytest.raises(OperandError, match=r"expected the path of a file as str or os\.PathLike, got path="):
        tb.load(io.BytesIO())  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        tb.load(tmp_path / "nowhere.npy")
    tb.save(tmp_path / "kept.npy", x)
    with pytest.raises(NamesError):
        tb.save(tmp_path / "kept.npy", x.rename("n"))
    assert_equal(tb.load(tmp_path / "kept.npy"), x)  # type: ignore[arg-type] # a tensor, by the suffix


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_nested_parameters_have_names_with_dots(tmp_path: Path, suffix: str) -> None:
    layers = [{"weight": tb.ones((2, 3)), "bias": tb.zeros(3)}, {"weight": tb.iota((3, 1)), "bias": tb.ones(())}]
    path = tmp_path / f"model{suffix}"
    tb.save(path, {"layers": layers, "scale": tb.ones(1), "pair": (tb.zeros(1), tb.ones(2)), "empty": {}})
    loaded = tb.load(path)
    assert isinstance(loaded, dict)
    assert set(loaded) == {
        *("layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"),
        *("scale", "pair.0", "pair.1"),
    }
    assert loaded["layers.1.weight"].tolist() == [[0], [1], [2]]


def test_nested_values_that_a_file_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    x = tb.ones(1)
    with pytest.raises(OperandError, match=r"names that differ when they are joined by dots, got name='a\.b'"):
        tb.save(path, {"a": {"b": x}, "a.b": x})
    with pytest.raises(
        OperandError, match=r"expected tensors by name, got step=3; checkpoints\.save\(\) takes numbers"
    ):
        tb.save(path, {"a": x, "step": 3})
    with pytest.raises(OperandError, match=r"anything nested by checkpoints\.save\(\)"):
        tb.save(path, [x])  # type: ignore[arg-type]
    assert not path.exists()


@pytest.mark.parametrize("path", ["a\0b.safetensors", "\ud800.safetensors", b"x.safetensors", len])
def test_what_names_no_file_is_refused(path: Any) -> None:
    graph = tb.trace(tb.sin)("f32[2]")
    readers: list[Callable[[Any], object]] = [
        tb.load, tb.load_graph, tb.load_quantized, lambda path: tb.save(path, {"x": tb.ones(2)}),
        lambda path: tb.save_graph(path, graph),
    ]  # fmt: skip
    for reader in readers:
        with pytest.raises(TensorBackendError, match=r"expected .*path"):
            reader(path)
