"""Files to read: only regular ones, and no read allocates more memory than the file has bytes."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..dtypes import bool_
from ..dtypes.packing import unpack_codes
from ..errors import FileError, TensorBackendError, expected
from ..interchange import numpy_dtype
from ..protocol import Backend
from ..select import check_dtype_support
from ..template import Template
from ..tensor import Tensor

if TYPE_CHECKING:
    import numpy

_UNFOLDED_TIMES = 20
"""The most bytes of data in a file by default, as a multiple of its size, for compressed files. Deflate reaches 1,032;
numbers seldom reach 10."""

_UNFOLDED_LEAST = 32 << 20
"""The bytes of data that any file may hold by default."""

_PIECE = 1 << 20
"""Bytes that are read at once."""

_SHOWN = 300
"""Characters of a file that an error shows: a stranger's name may have millions."""

_ALIGNMENT = 64
"""Bytes; XLA shares memory that starts at a multiple of this."""


class FileDefect(Exception):
    """A defect of a file, raised where the file's name is not known; `locate_errors` adds it."""

    def __init__(self, expectation: str, remedy: str, **came: object) -> None:
        super().__init__(expectation)
        self.expectation, self.remedy, self.came = expectation, remedy, came


def broken(fault: object) -> FileDefect:
    """The error about a file that is not what its suffix and its headers say."""
    return FileDefect("an intact file", "fetch or write it again", found=fault)


class _OutsideFile(OSError):
    """A place before the start of a file; an `OSError`, as `zipfile` expects."""


@contextmanager
def locate_errors(**where: object) -> Iterator[None]:
    """Converts an error about the content of a file to a `FileError` that says where it is.

    A parser may raise anything for an untrusted file; but a failing disk and a lack of memory are not defects of
    the file.
    """
    try:
        yield
    except Exception as error:  # whatever a parser raises over a stranger's file
        if isinstance(error, (OSError, MemoryError, TensorBackendError)) and not isinstance(error, _OutsideFile):
            raise
        refused = error if isinstance(error, FileDefect) else broken(f"{type(error).__name__.lstrip('_')}: {error}")
        came = {name: detail[:_SHOWN] if isinstance(detail, str) else detail for name, detail in refused.came.items()}
        raise FileError(expected(refused.expectation, refused.remedy, **(where | came))) from error


class Source(io.FileIO):
    """A regular file; `FileError` for a directory, a pipe or a device, which is never waited for."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._check(os.stat(path))
        # Somebody may have put a pipe there since the check, and opening it must not wait.
        super().__init__(path, opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))
        self.length = self._check(os.fstat(self.fileno()))

    def _check(self, status: os.stat_result) -> int:
        if not stat.S_ISREG(status.st_mode):
            kind = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
            came = kind.get(stat.S_IFMT(status.st_mode), "a device")
            raise FileError(expected("a regular file", path=self.path, found=came))
        return status.st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads at most the remaining bytes: a size that a header claims allocates no memory."""
        left = max(0, self.length - self.tell())
        return super().read(left if size is None or size < 0 else min(size, left)) or b""

    def seek(self, position: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves within the file; a place before its start is a defect of the file, not of the disk."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self.length}[whence]
        if start + position < 0:
            raise _OutsideFile(errno.EINVAL, f"offset {start + position}")
        return super().seek(min(start + position, self.length))

    def limit(self, max_bytes: int | None) -> int:
        """The number of bytes that the tensors of the file may take."""
        return max(_UNFOLDED_LEAST, _UNFOLDED_TIMES * self.length) if max_bytes is None else max_bytes

    def check_within(self, size: int, max_bytes: int | None) -> None:
        """Raises `FileDefect` if the tensors of the file need more bytes than `limit` allows."""
        limit = self.limit(max_bytes)
        if size > limit:
            expectation, remedy = f"at most {limit} bytes of data", "raise max_bytes if you trust the file"
            raise FileDefect(expectation, remedy, bytes=size)


def template_from(shape: Any, dtype: Any, names: Any = None) -> Template:
    """The template that a header describes; `FileDefect` if the parts are not valid."""
    try:
        return Template(shape, dtype, names)
    except TensorBackendError as error:
        raise broken(error) from error


def read_tensor(
    readinto: Callable[[Any], int | None], template: Template, backend: Backend, *, swapped: bool = False
) -> Tensor:
    """The tensor whose elements follow in a stream, row-major, in the other byte order if `swapped`.

    The elements are read into the memory of the payload, so that a file is in memory once.
    """
    check_dtype_support(template.dtype, backend)
    room = _read_exactly(readinto, template.nbytes)
    if template.dtype is bool_ and room.size and room.max() > 1:
        raise broken("a bool that is neither 0 nor 1")
    if template.dtype.bits < 8:
        room = unpack_codes(room, template.dtype.bits, template.size)
    array = room.view(numpy_dtype(template.dtype)).reshape(template.shape)
    if swapped:
        array.byteswap(inplace=True)
    return Tensor(template, backend, backend.from_numpy(template, array, copy=False))


def _read_exactly(readinto: Callable[[Any], int | None], size: int) -> numpy.ndarray[Any, Any]:
    """Reads `size` bytes of a stream into memory that other libraries can share; `FileDefect` if it ends before."""
    import numpy

    room = numpy.empty(size + _ALIGNMENT, numpy.uint8)
    start = -room.ctypes.data % _ALIGNMENT
    room = room[start : start + size]
    view, done = room.data, 0
    while done < size:
        count = readinto(view[done : done + _PIECE])
        if not count:
            raise broken(f"{done} of {size} bytes of data")
        done += count
    return room
