"""Replaces a file atomically, whatever else writes to the same path."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from ..errors import FileError, expected


@contextmanager
def replace_file(path: str) -> Iterator[IO[bytes]]:
    """A new file to write, which replaces `path` when the block ends and is removed if the block raises.

    The scratch file has a random name and is opened exclusively, so neither another writer nor a planted link can
    interfere. Data and directory are synchronised to the disk before the block ends.
    """
    target, old = _target(path)
    folder = os.path.dirname(target) or os.curdir
    scratch = os.path.join(folder, f".{os.urandom(16).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # Nobody else may read the replacement of a private file, not even for a moment.
    descriptor = os.open(scratch, flags, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if old is not None:
                _take_after(descriptor, old)
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(scratch, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(scratch)
        raise
    _sync(folder)


def _target(path: str) -> tuple[str, os.stat_result | None]:
    """The target of a path through symbolic links, and what is there; `FileError` for anything but a regular file."""
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        raise FileError(
            expected("the path of a regular file, or a path that does not exist yet", "choose another path", path=path)
        )
    return os.path.realpath(path) if os.path.islink(path) else path, old


def _take_after(descriptor: int, old: os.stat_result) -> None:
    """Copies the owner, if that is allowed, and the permissions of the replaced file to a new file."""
    if hasattr(os, "fchmod"):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync(folder: str) -> None:
    """Makes a directory's new entry survive a power cut, on systems that open directories."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
