"""Files that are written as a whole or not at all, and the paths by which they are named."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, Any, Final

from ..errors import OperandError, expected
from ..tensor import Tensor

try:
    fcntl: Any = import_module("fcntl")
except ImportError:  # on Windows
    fcntl = None

from ..errors import FileError


@contextmanager
def replace_file(path: str) -> Iterator[IO[bytes]]:
    """A new file to write, which replaces `path` when the block ends and is removed if the block raises.

    The scratch file has a random name and is opened exclusively, so neither another writer nor a planted link can
    interfere. Data and directory are synchronised to the disk before the block ends. Scratch files of the folder that
    programs left when they were killed are removed: those that no process has locked.
    """
    target, old = _target(path)
    folder = os.path.dirname(target) or os.curdir
    _remove_left(folder)
    # Nobody else may read the replacement of a private file, not even for a moment.
    descriptor, scratch = _create(folder, 0o666 if old is None else 0o600)
    lock = None if fcntl is None else os.dup(descriptor)  # it holds the lock until the file has its name
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
    finally:
        if lock is not None:
            os.close(lock)
    _sync(folder)


def _create(folder: str, mode: int) -> tuple[int, str]:
    """A new scratch file, locked where the system has locks, and its path."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        scratch = os.path.join(folder, f"{_PREFIX}{os.urandom(16).hex()}.tmp")
        descriptor = os.open(scratch, flags, mode)
        if fcntl is None:
            return descriptor, scratch
        with suppress(OSError):  # of a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.path.lexists(scratch):
            return descriptor, scratch
        os.close(descriptor)  # another process has removed it, before it was locked


def _remove_left(folder: str) -> None:
    """Removes the scratch files of a folder that no running process writes."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(_PREFIX) and entry.name.endswith(".tmp")]
        for path in left:
            with suppress(OSError):  # it is not ours, locked, or gone
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(path)
                finally:
                    os.close(descriptor)


_PREFIX: Final = ".tensorbackend-"
"""How names of scratch files begin."""


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


def as_path(path: str | os.PathLike[str]) -> str:
    """The path of a file as text; `OperandError` for what names no file.

    >>> from pathlib import Path
    >>> as_path(Path("models") / "x.npy")
    'models/x.npy'
    """
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    try:
        if isinstance(text, str) and b"\0" not in os.fsencode(text):
            return text
    except UnicodeEncodeError:  # a lone surrogate
        pass
    remedy = "the path comes first, as in tb.save(path, x)" if isinstance(path, Tensor | Mapping) else ""
    raise OperandError(expected("the path of a file as str or os.PathLike", remedy, path=path))
