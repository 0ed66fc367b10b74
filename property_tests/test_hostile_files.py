"""Damaged and malicious files give a tensor or an error of the library's own, and never take much memory.

`TENSORBACKEND_FILE_ROUNDS` sets the number of files. A seed and a number reproduce each file.
"""

from __future__ import annotations

import io
import json
import os
import random
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import TensorBackendError

ROUNDS = int(os.environ.get("TENSORBACKEND_FILE_ROUNDS", "600"))
SEED = int(os.environ.get("TENSORBACKEND_FILE_SEED", "16"))

ROOM = 50 << 20
"""The most bytes that reading a file may take beyond the size of the file."""

CODES = [
    "<f4",
    ">f8",
    "|b1",
    "<c16",
    "|u1",
    "<i8",
    "<f2",
    "|O",
    "<U3",
    "|V2",
    "<M8[s]",
    "<f16",
    "<f0",
    "",
    "|S99999999",
]
DTYPES = ["F32", "F64", "BOOL", "BF16", "U8", "I64", "C64", "F8_E4M3", "F4", "F6_E2M3", "", "f32", "O"]
SIZES = [0, 1, 2, 3, 5, -1, 1 << 16, 1 << 31, 1 << 32, 1 << 62, 1 << 63, 1 << 64, 10**30]
NAMES = ["x", "y", "", "a/b", "../up", "x.npy", "__metadata__", "ä", "a\0b", "\ud800", "n" * 300]
LENGTHS = [0, 1, 0x7F, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF]


def npy(draw: random.Random) -> bytes:
    """Return an `.npy` file: either valid, or with a header that need not match the data."""
    if draw.random() < 0.5:
        file = io.BytesIO()
        array = np.arange(draw.randrange(40)).astype(draw.choice(["f4", ">f8", "c8", "?", "i2"]))[:, None]
        copied = draw.choice([np.ascontiguousarray, np.asfortranarray])
        np.save(file, copied(draw.choice([array, array[:, 0], array.T])))
        return file.getvalue()
    shape = tuple(draw.choice(SIZES) for _ in range(draw.choice([0, 1, 1, 2, 3, 33, 70])))
    entries: dict[str, Any] = {
        "descr": draw.choice(CODES),
        "fortran_order": draw.choice([True, False, 1, None]),
        "shape": shape,
    }
    if draw.random() < 0.2:
        entries.pop(draw.choice(list(entries)))
    if draw.random() < 0.2:
        entries[draw.choice(["descr", "more"])] = draw.choice([[("a", "<f4")], "9" * 5000, [[]] * 50, 1e999, {}])
    text = (repr(entries) + draw.choice(["\n", "", " " * 90, "\\d", "#" * 20])).encode()
    version = draw.choice([(1, 2), (1, 2), (2, 4), (3, 4), (9, 2)])
    length = draw.choice([len(text), len(text), *LENGTHS]) & ((1 << 8 * version[1]) - 1)
    data = draw.randbytes(draw.choice([0, 1, 4, 8, 16, 100]))
    return b"\x93NUMPY" + bytes((version[0], 0)) + length.to_bytes(version[1], "little") + text + data


@cache
def bomb() -> bytes:
    """Return an archive of about 60 KiB that decompresses to 64 MiB."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        np.lib.format.write_array(member, np.zeros(1 << 23))
    return file.getvalue()


def npz(draw: random.Random) -> bytes:
    """Return an archive of arrays and other members, some with duplicate names or compressed zeros."""
    if draw.random() < 0.01:
        return bomb()
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about duplicate names
        with zipfile.ZipFile(file, "w") as archive:
            for _ in range(draw.choice([0, 1, 1, 2, 3])):
                name = draw.choice(NAMES[:8]).replace("\0", "") + draw.choice([".npy", ".npy", ".npy", ".txt", "/"])
                method = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
                content = npy(draw)
                archive.writestr(name, content, method)
            archive.comment = draw.randbytes(draw.choice([0, 0, 5]))
    return file.getvalue()


def safetensors(draw: random.Random) -> bytes:
    """Return a `.safetensors` file with entries that may be false, overlap, be duplicate or have a wrong type."""
    parts, data = [], b""
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        shape = [draw.choice(SIZES[:5]) for _ in range(draw.randrange(3))]
        size = 4 * int(np.prod(shape, dtype=object))
        entry: Any = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += draw.randbytes(size)
        if draw.random() < 0.15:
            other: list[Any] = [None, 1.5, "x", [], {}, True, draw.choice(SIZES), [draw.choice(SIZES) for _ in "ab"]]
            entry[draw.choice([*entry, "more"])] = draw.choice([*other, draw.choice(DTYPES)])
        if draw.random() < 0.05:
            entry = draw.choice([*([None, 1, [], "x", []]), [[]] * 100])
        parts.append(f"{json.dumps(draw.choice(NAMES))}:{json.dumps(entry)}")
    if draw.random() < 0.2:
        names = draw.choice(
            ['{"x": ["n"]}', '{"x": ["n", "n"]}', "[1]", '{"x": 1}', "{", '{"x": [null, 1]}', '{"x": "ab"}']
        )
        metadata: Any = draw.choice(
            [{"tensorbackend.names": names}, {"tensorbackend.names": 1}, [], None, {"format": "np"}]
        )
        parts.append(f'"__metadata__":{json.dumps(metadata)}')
    text = draw.choice(["{%s}"] * 40 + ["[%s]", "%s", "{%s", "{%s} ", "\ufeff{%s}", "{%s,NaN}"]) % ",".join(parts)
    if draw.random() < 0.02:
        text = draw.choice(["[" * 100_000, "[" + "[]," * 300_000 + "1]", "1" * 10_000, '{"x":' * 5000])
    content = text.encode("utf-8", "surrogatepass")
    length = draw.choice([len(content)] * 40 + LENGTHS)
    return length.to_bytes(8, "little") + content + data


WIDTHS = {"I64": 8, "I32": 4, "F32": 4, "F16": 2, "F8_E4M3": 1, "I8": 1, "U8": 1}
"""Bytes of the elements of quantised matrices and of their other parts."""


def quantised(draw: random.Random) -> bytes:
    """Return a file with the parts of a quantised matrix, in half of the files with a part that does not fit."""
    height, count, groups = draw.choice([1, 8, 16, 200]), draw.choice([2, 32, 128]), draw.choice([1, 1, 2])
    bits = draw.choice([2, 4, 8])
    words, points = -(-count * bits // 32), -(-height * bits // 32)
    scale = draw.choice([[height, groups], [height, 1], [height], [1], [-(-height // 128), -(-count // 128)]])
    parts: dict[str, tuple[str, list[int]]] = draw.choice([
        {"w.weight": ("I8", [height, count]), "w.weight_scale": ("F16", scale), "w.weight_zero_point": ("I8", scale)},
        {"w.weight": ("F8_E4M3", [height, count]), "w.weight_scale": (draw.choice(["F32", "U8"]), scale)},
        {"w.weight": ("U8", [height, count]), "w.weight_scale": ("F8_E4M3", scale), "w.weight_scale_2": ("F32", [])},
        {"w.weight_packed": ("I32", [height, words]), "w.weight_scale": ("F16", scale), "w.weight_shape": ("I64", [2]),
         "w.weight_zero_point": ("I32", [points, groups])},
        {"w.weight_packed": ("U8", [height, count]), "w.weight_scale": ("U8", scale)},
        {"w.qweight": ("I32", draw.choice([[words, height], [count, points]])), "w.qzeros": ("I32", [groups, points]),
         "w.scales": ("F16", [groups, height])},
        {"w_blocks": ("U8", [height, groups, 16]), "w_scales": ("U8", [height, groups])},
    ])  # fmt: skip
    if draw.random() < 0.5:
        changed, (dtype, shape) = draw.choice(list(parts.items()))
        size = draw.randrange(len(shape) + 1)
        shape = draw.choice([shape[:size], [*shape, 1], [*shape[:size], draw.choice([0, 1, 3]), *shape[size + 1 :]]])
        parts[changed] = (draw.choice([dtype, dtype, *WIDTHS]), shape)
    if draw.random() < 0.2:
        parts[draw.choice(["w.weight_g_idx", "w.g_idx"])] = ("I32", [draw.choice([1, count])])
    if draw.random() < 0.2:
        parts.pop(draw.choice(list(parts)))
    entries, data = {}, b""
    for name, (dtype, shape) in parts.items():
        content = draw.randbytes(WIDTHS[dtype] * int(np.prod(shape)))
        if (dtype, shape) == ("I64", [2]):
            content = np.array([height, draw.choice([count] * 4 + [-1, 0, 1 << 62])]).tobytes()
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text + data


def damaged(draw: random.Random, content: bytes) -> bytes:
    """Damage a file: flip bits, insert, remove or move bytes, or overwrite lengths."""
    file_bytes = bytearray(content)
    for _ in range(draw.choice([0, 1, 1, 2, 8])):
        place = draw.randrange(len(file_bytes) + 1)
        way = draw.randrange(6)
        if way == 0:
            file_bytes[place : place + 1] = bytes(
                byte ^ (1 << draw.randrange(8)) for byte in file_bytes[place : place + 1]
            )
        elif way == 1:
            del file_bytes[place:]
        elif way == 2:
            width = draw.choice([1, 2, 4, 8])
            file_bytes[place : place + width] = (draw.choice(LENGTHS) & ((1 << 8 * width) - 1)).to_bytes(
                width, "little"
            )
        elif way == 3:
            file_bytes[place:place] = draw.randbytes(draw.choice([1, 2, 30]))
        elif way == 4:
            stop = place + draw.randrange(60)
            file_bytes[place:place] = file_bytes[place:stop]
        else:
            del file_bytes[place : place + draw.randrange(1, 30)]
    return bytes(file_bytes)


MAKERS: dict[str, Callable[[random.Random], bytes]] = {".npy": npy, ".npz": npz, ".safetensors": safetensors}
MAKERS[".quantised.safetensors"] = quantised


@pytest.mark.parametrize("suffix", MAKERS)
def test_hostile_files(tmp_path: Path, suffix: str) -> None:
    path, load = tmp_path / f"x{suffix}", tb.load_quantized if suffix.startswith(".q") else tb.load
    for backend in ("numpy", "template"):  # imports the modules that reading needs
        path.write_bytes(b"")
        with pytest.raises(TensorBackendError):
            load(path, backend=backend)
    read, rounds = 0, ROUNDS // len(MAKERS)
    tracemalloc.start()
    try:
        for number in range(rounds):
            draw = random.Random(f"{SEED} {suffix} {number}")
            content = MAKERS[suffix](draw)
            content = content if suffix.startswith(".q") and draw.random() < 0.8 else damaged(draw, content)
            path.write_bytes(content)
            for backend in ("numpy", "template"):
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                text = ""
                try:
                    found: Any = load(path, backend=backend)
                    read += 1
                    if suffix.startswith(".q"):
                        for x in found.values():
                            assert not isinstance(x, tb.Quantized) or tb.dequantize(x).shape == x.shape
                except TensorBackendError as error:
                    text = str(error)
                except Exception as error:
                    raise AssertionError(f"file {number} of seed {SEED} on {backend}: {content[:500]!r}") from error
                assert len(text) < 2000, f"file {number} of seed {SEED} on {backend}: {text[:5000]}"
                taken = tracemalloc.get_traced_memory()[1] - before
                assert taken < len(content) + ROOM, f"file {number} of seed {SEED} on {backend}: {taken} bytes"
    finally:
        tracemalloc.stop()
    assert read > 3 * rounds // 20  # else almost all files are refused
