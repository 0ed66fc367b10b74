"""Headers of GGUF files whose lengths lead beyond the file, and those that are right."""

from __future__ import annotations

import contextlib
import random
import struct
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import tensorbackend as tb
from tensorbackend.errors import FileError
from tensorbackend.quantized.gguf import check_header

from .test_gguf import header

U8, U32, STRING, ARRAY = 0, 4, 8, 9
BLOCKS = {0: (1, 4), 2: (32, 18)}


def text(name: str, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(name) if length is None else length) + name.encode()


def entry(kind: int, value: bytes) -> bytes:
    return text("name") + struct.pack("<I", kind) + value


def array(kind: int, length: int, values: bytes = b"") -> bytes:
    return struct.pack("<IQ", kind, length) + values


def tensor(*sizes: int, kind: int = 0, offset: int = 0) -> bytes:
    return text("w") + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, offset)


DEEPER = array(U8, 0)
for _ in range(24):  # which the package reads for hours
    DEEPER = array(ARRAY, 1, DEEPER)

DEEP = array(U8, 0)
for _ in range(2000):
    DEEP = array(ARRAY, 1, DEEP)

BROKEN = {
    "a long array of numbers": header(entry(ARRAY, array(U8, 2**40))),
    "a long array of texts": header(entry(ARRAY, array(STRING, 2**40, text("a")))),
    "arrays of long arrays": header(entry(ARRAY, array(ARRAY, 2**40, array(U8, 0) * 3))),
    "an array in an array": header(entry(ARRAY, array(ARRAY, 1, array(U32, 2**62)))),
    "arrays without end": header(entry(ARRAY, DEEP)),
    "arrays in arrays": header(entry(ARRAY, DEEPER)),
    "a long text": header(entry(STRING, text("a", 2**63))),
    "a long name": header(text("a", 2**64 - 1)),
    "an unknown kind": header(entry(77, b"")),
    "many entries": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**50),
    "many tensors": b"GGUF" + struct.pack("<IQQ", 3, 2**50, 0),
    "many axes": header(tensors=(text("w") + struct.pack("<I", 2**32 - 1),)),
    "a large tensor": header(tensors=(tensor(2**32, 2**32),)),
    "a tensor beyond the end": header(tensors=(tensor(2, offset=2**40),)) + bytes(8),
    "blocks beyond the end": header(tensors=(tensor(64, kind=2),)) + bytes(35),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_length_beyond_the_file_is_an_error_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def read(path: object) -> None:
        raise AssertionError("read")

    monkeypatch.setitem(sys.modules, "gguf", SimpleNamespace(GGUFReader=read, GGML_QUANT_SIZES=BLOCKS))
    (tmp_path / "w.gguf").write_bytes(BROKEN[name])
    started = time.monotonic()
    with pytest.raises(FileError, match="a GGUF file"):
        tb.load_gguf(tmp_path / "w.gguf")
    assert time.monotonic() - started < 5


def test_a_right_header_passes(tmp_path: Path) -> None:
    entries = (
        entry(U32, bytes(4)),
        entry(ARRAY, array(STRING, 2, text("a") + text("bc"))),
        entry(ARRAY, array(U8, 3, b"abc")),
    )
    nested = entry(ARRAY, array(ARRAY, 2, array(U8, 1, b"a") + array(STRING, 0)))
    path = tmp_path / "w.gguf"
    path.write_bytes(header(*entries, nested, tensors=(tensor(64, 2, kind=2), tensor(3, offset=72))) + bytes(84))
    check_header(path, BLOCKS)
    path.write_bytes(b"GGUF" + struct.pack(">IQQ", 3, 0, 0))
    check_header(path, BLOCKS)


def test_a_header_with_changed_bytes_ends(tmp_path: Path) -> None:
    """Whatever the bytes are, no more is read than the file holds."""
    right = header(entry(ARRAY, array(ARRAY, 2, array(STRING, 1, text("a")) * 2)), tensors=(tensor(4, 4),)) + bytes(64)
    path, started = tmp_path / "w.gguf", time.monotonic()
    for number in range(300):
        draw = random.Random(number)
        changed = bytearray(right)
        for _ in range(draw.randint(1, 4)):
            changed[draw.randrange(8, len(changed))] = draw.choice([0, 1, 8, 9, 127, 255])
        path.write_bytes(changed[: draw.randint(8, len(changed))])
        with contextlib.suppress(ValueError):
            check_header(path, BLOCKS)
    assert time.monotonic() - started < 30
