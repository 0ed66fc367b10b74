"""GGUF files, through a stand-in for the package that reads the container, with blocks packed by hand."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import BackendError, FileError

RNG = np.random.default_rng(0)
SCALES = RNG.uniform(0.5, 2, (6, 2, 1)).astype(np.float16)


def in_halves(codes: Any) -> Any:
    return codes[..., :16] | codes[..., 16:] << 4


def q8_0() -> tuple[Any, Any]:
    numbers = RNG.integers(-127, 128, (6, 2, 32)).astype(np.int8)
    return np.concatenate([SCALES.view(np.uint8), numbers.view(np.uint8)], -1), numbers * SCALES.astype(np.float32)


def q4_0() -> tuple[Any, Any]:
    codes = RNG.integers(0, 16, (6, 2, 32)).astype(np.uint8)
    numbers = codes.astype(np.float32) - 8
    return np.concatenate([SCALES.view(np.uint8), in_halves(codes)], -1), numbers * SCALES.astype(np.float32)


def mxfp4() -> tuple[Any, Any]:
    codes = RNG.integers(0, 16, (6, 2, 32)).astype(np.uint8)
    exponents = RNG.integers(120, 134, (6, 2, 1)).astype(np.uint8)
    numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    return np.concatenate([exponents, in_halves(codes)], -1), numbers * 2.0 ** (exponents.astype(np.float32) - 127)


KINDS = {"Q8_0": q8_0, "Q4_0": q4_0, "MXFP4": mxfp4}


def header(*entries: bytes, tensors: tuple[bytes, ...] = (), order: str = "<") -> bytes:
    """The header of a file with metadata and tensors."""
    counts = struct.pack(f"{order}IQQ", 3, len(tensors), len(entries))
    return b"GGUF" + counts + b"".join(entries) + b"".join(tensors)


def hand_over(monkeypatch: pytest.MonkeyPatch, path: Path, tensors: list[Any]) -> None:
    """Lets the package's reader give these tensors."""
    path.write_bytes(b"GGUF")
    reader = SimpleNamespace(GGUFReader=lambda path: SimpleNamespace(tensors=tensors))
    monkeypatch.setitem(sys.modules, "gguf", reader)


@pytest.mark.parametrize("backend", ["numpy", "binary"])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_become_quantised_tensors(
    kind: str, backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data, wanted = KINDS[kind]()
    bias = RNG.standard_normal(6).astype(np.float32)
    hand_over(monkeypatch, tmp_path / "w.gguf", [
        SimpleNamespace(name="w", tensor_type=SimpleNamespace(name=kind), shape=[64, 6], data=data.reshape(6, -1)),
        SimpleNamespace(name="b", tensor_type=SimpleNamespace(name="F32"), shape=[6], data=bias),
    ])  # fmt: skip
    found: Any = tb.load_gguf(tmp_path / "w.gguf", backend)
    q = found["w"]
    assert (q.shape, q.axis, q.block, q.backend.name) == ((6, 64), 1, 32, backend)
    assert np.array_equal(np.asarray(tb.dequantize(q)), wanted.reshape(6, 64).astype(np.float32))
    assert found["b"].tolist() == bias.tolist()
    x = RNG.standard_normal((2, 64)).astype(np.float32)
    out = tb.quantized_dot(tb.asarray(x, backend=backend), q)
    assert np.allclose(np.asarray(out), x @ wanted.reshape(6, 64).T, atol=1e-2, rtol=1e-4)


def test_a_file_must_be_there_and_of_the_format(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(path: object) -> None:
        raise ValueError("GGUF magic invalid")

    monkeypatch.setitem(sys.modules, "gguf", SimpleNamespace(GGUFReader=refuse))
    with pytest.raises(FileError, match="a file"):
        tb.load_gguf(tmp_path / "none.gguf")
    (tmp_path / "text.gguf").write_text("no")
    with pytest.raises(FileError, match="a GGUF file"):
        tb.load_gguf(tmp_path / "text.gguf")
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(BackendError, match="the package gguf"):
        tb.load_gguf(tmp_path / "text.gguf")


def test_a_kind_that_the_package_does_not_dequantise_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def dequantize(data: object, kind: object) -> None:
        raise NotImplementedError

    hand_over(monkeypatch, tmp_path / "w.gguf", [
        SimpleNamespace(name="w", tensor_type=SimpleNamespace(name="Q8_K"), shape=[256], data=np.zeros(292, np.uint8)),
    ])  # fmt: skip
    sys.modules["gguf"].GGMLQuantizationType = {"Q8_K": 15}  # type: ignore[attr-defined] # in place of the package
    monkeypatch.setitem(sys.modules, "gguf.quants", SimpleNamespace(dequantize=dequantize))
    with pytest.raises(FileError, match=r"dequantises, got path=.*tensor='w', kind='Q8_K'"):
        tb.load_gguf(tmp_path / "w.gguf")
