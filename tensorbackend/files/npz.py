"""`.npz`: a zip archive of `.npy` files, compressed or not."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO, Any, Final

from ..errors import FileError, expected
from ..protocol import Backend
from ..tensor import Tensor
from . import npy
from .source import FileDefect, Source, broken, locate_errors

_SUFFIX: Final = ".npy"

_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods that NumPy writes. Others may take any amount of memory for a few bytes."""

_ENCRYPTED: Final = 1
"""A bit among a member's flags."""

_SHOWN: Final = 300
"""Characters of a member's name that an error shows."""

_MAX_NAME: Final = (1 << 16) - 1
"""Bytes, as zip counts them."""


def check(name: str, x: Tensor) -> None:
    """Raises an error for what NumPy's formats cannot hold, and `FileError` for a name that zip would truncate."""
    if "\0" in name or len(f"{name}{_SUFFIX}".encode()) > _MAX_NAME:
        expectation = f"a name of at most {_MAX_NAME - len(_SUFFIX)} bytes without NUL for .npz"
        raise FileError(expected(expectation, "choose another name, or save as .safetensors", name=name))
    npy.check(name, x, ".npz")


def write(file: IO[bytes], tensors: Mapping[str, Tensor]) -> None:
    """Writes a member for each tensor; equal tensors result in equal files, as no time is stored."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, x in tensors.items():
            with archive.open(zipfile.ZipInfo(f"{name}{_SUFFIX}"), "w", force_zip64=True) as member:
                npy.write(member, {"": x})


def read(source: Source, backend: Backend, max_bytes: int | None) -> dict[str, Tensor]:
    """The tensors by name, in the order of the archive's directory."""
    tensors: dict[str, Tensor] = {}
    with zipfile.ZipFile(source) as archive:
        members = archive.infolist()
        _check_members(members)
        if not backend.template_only:
            source.check_within(sum(member.file_size for member in members), max_bytes)
        for member in members:
            with locate_errors(path=source.path, member=member.filename[:_SHOWN]), archive.open(member) as opened:
                stream: Any = opened
                header = npy.read_header(stream, member.file_size)
                tensors[member.filename.removesuffix(_SUFFIX)] = npy.read_array(header, stream.readinto1, backend)
                # The end of a member is where its checksum is compared.
                if not backend.template_only and stream.read(1):
                    raise broken("bytes after the array")
    return tensors


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    """Raises `FileDefect` for members that are not arrays, occur twice, use another compression, or a password."""
    seen = set()
    for member in members:
        name = member.filename
        if not name.endswith(_SUFFIX):
            expectation, remedy = "an archive that holds only arrays", "remove the other members"
            raise FileDefect(expectation, remedy, member=name)
        if name in seen:
            raise FileDefect("each member once", "write the file again", member=name)
        if member.compress_type not in _METHODS or member.flag_bits & _ENCRYPTED:
            expectation, remedy = "members that are stored or deflated, without a password", "write it with numpy.savez"
            raise FileDefect(expectation, remedy, member=name, method=member.compress_type)
        seen.add(name)
