"""Whether the lengths in the header of a GGUF file lie inside the file, which the package `gguf` does not ask.

It would go on reading nothing for as many entries as a broken file says that there are.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Final

_STRING: Final = 8
_ARRAY: Final = 9
_WIDTHS: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""The bytes of each kind of number in the metadata."""

_FIXED: Final = 24
"""The bytes of the name of the format, its version, and the numbers of tensors and of entries of the metadata."""

_DEEPEST: Final = 4
"""The most arrays inside each other: programs write one, and the package's time doubles with each."""


def check_header(path: Path, blocks: Mapping[int, tuple[int, int]]) -> None:
    """Raises `ValueError` for a header with a length beyond the end of the file, or a tensor beyond it.

    Parameters
    ----------
    path : Path
        The file.
    blocks : mapping of int to (int, int)
        For each kind of tensors the elements of a block and its bytes.
    """
    with path.open("rb") as file:
        start = file.read(_FIXED)
        if len(start) == _FIXED and start.startswith(b"GGUF"):  # the reader refuses any other file
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                _Header(data).check(blocks)


class _Header:
    """Reads a header from the start to the end; every read is inside the file, and goes on."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.place, self.order = data, 0, "<"

    def skip(self, count: int) -> int:
        """Goes past some bytes, and returns where they begin."""
        start = self.place
        if count > len(self.data) - start:
            raise ValueError(f"{count} bytes at {start} of a file of {len(self.data)}")
        self.place = start + count
        return start

    def number(self, code: str) -> int:
        """The next number, "I" of 32 bits and "Q" of 64."""
        place = self.skip(struct.calcsize(code))
        value: int = struct.unpack_from(self.order + code, self.data, place)[0]
        return value

    def value(self, kind: int, depth: int = 0) -> None:
        """Goes past a value of the metadata."""
        if kind in _WIDTHS:
            self.skip(_WIDTHS[kind])
        elif kind == _STRING:
            self.skip(self.number("Q"))
        elif kind == _ARRAY and depth < _DEEPEST:
            entry, length = self.number("I"), self.number("Q")
            if entry in _WIDTHS:
                self.skip(_WIDTHS[entry] * length)
            else:
                for _ in range(length):  # of which each takes a byte at least
                    self.value(entry, depth + 1)
        else:
            raise ValueError(f"metadata of kind {kind} at {self.place}")

    def check(self, blocks: Mapping[int, tuple[int, int]]) -> None:
        """Reads everything in front of the elements, and asks where the elements end."""
        self.skip(4)
        if not self.number("I") & 0xFFFF:
            self.order = ">"
        tensors, entries = self.number("Q"), self.number("Q")
        for _ in range(entries):
            self.value(_STRING)
            self.value(self.number("I"))
        ends = []
        for _ in range(tensors):
            self.value(_STRING)
            axes = self.number("I")
            sizes = [self.number("Q") for _ in range(axes)]
            elements, width = blocks.get(self.number("I"), (1, 0))
            ends.append(self.number("Q") + prod(sizes) // elements * width)
        self.skip(max(ends, default=0))
