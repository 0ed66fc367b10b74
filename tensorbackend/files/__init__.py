"""Tensors in files: `.npy` and `.npz` (NumPy's formats), `.safetensors` (which keeps axis names); never a pickle.

A format is a module with three functions: `check` refuses a tensor that the format cannot hold, `write`, and `read`.
Each is imported when a file of its suffix is first used, and imports what it needs of NumPy and of the standard
library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import IO, Any, Final, Protocol, cast

from ..declarations.argument_errors import check_arguments
from ..errors import FileError, OperandError, expected
from ..protocol import BackendLike
from ..select import get_backend
from ..tensor import Tensor
from . import replace

SUFFIXES: Final = (".npy", ".npz", ".safetensors")


class Format(Protocol):
    """The functions of a module that implements a format. A file with one tensor holds it under the name `""`."""

    check: Callable[[str, Tensor], None]
    """Raises for a name or a tensor that a file of the format cannot hold."""

    write: Callable[[IO[bytes], Mapping[str, Tensor]], None]
    """Writes tensors to an empty file."""

    read: Callable[[Any, Any, int | None], dict[str, Tensor]]
    """Reads the tensors of a `Source` onto a backend, of at most a given number of bytes."""


@check_arguments
def save(path: str | os.PathLike[str], value: Tensor | Mapping[str, Any], /) -> None:
    """Write a tensor to `.npy`, or tensors by name to `.npz` or `.safetensors`, according to the suffix.

    The file is written atomically: the data is written to a new file in the same folder, synchronised to the disk,
    and then replaces the old file, whose permissions it keeps. If several threads or processes save to one path, the
    last one wins. A symbolic link is kept, and the file that it points to is replaced.

    Parameters
    ----------
    path : str or os.PathLike
        The file to write. The suffix is `.npy`, `.npz` or `.safetensors`.
    value : Tensor or mapping of str to Tensor
        A tensor for `.npy`, tensors by name for the others. Safetensors files keep axis names and bfloat16; NumPy's
        formats hold neither. Dictionaries and lists in a mapping are flattened: the names of their tensors are joined
        by dots, such as `"layers.0.weight"`, and `load` returns them so. `checkpoints.save` keeps the nesting, and
        numbers.

    Raises
    ------
    OperandError
        For another suffix, or a value that does not match the suffix.
    FileError
        For a name that the format cannot hold, or a path where something other than a file is.
    NamesError, DTypeError
        For axis names and dtypes that the format cannot hold.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, tensorbackend as tb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.save(f"{folder}/model.safetensors", {"bias": tb.zeros(2, names=("digit",))})
    ...     tb.load(f"{folder}/model.safetensors")["bias"].template
    f32[digit: 2]
    """
    from .replace import replace_file

    place = replace.as_path(path)
    kind, form = _format(place)
    tensors = {"": value} if isinstance(value, Tensor) else _flat(value) if isinstance(value, Mapping) else None
    if tensors is None or isinstance(value, Tensor) is not (kind == ".npy"):
        content = "a tensor" if kind == ".npy" else "tensors by name"
        remedy = "save a mapping as .npz or .safetensors, and anything nested by checkpoints.save()"
        raise OperandError(expected(f"{content} for {kind}", remedy, value=value))
    for name, x in tensors.items():
        if not isinstance(name, str) or not isinstance(x, Tensor):
            raise OperandError(expected("tensors by name", "checkpoints.save() takes numbers too", **{str(name): x}))
        _check_name(name, kind)
        form.check(name, x)
    with replace_file(place) as file:
        form.write(file, tensors)


@check_arguments
def load(
    path: str | os.PathLike[str], /, *, backend: BackendLike = None, max_bytes: int | None = None
) -> Tensor | dict[str, Tensor]:
    """Read the tensor of an `.npy` file, or the tensors of an `.npz` or `.safetensors` file by name.

    The file may be untrusted. Its headers are compared with its size before any memory is allocated, and Python
    objects are never read. The tensors are in the order of the file.

    Parameters
    ----------
    path : str or os.PathLike
        A regular file, or a link to one. The suffix is `.npy`, `.npz` or `.safetensors`.
    backend : Backend, type or str, optional
        The backend of the tensors, by default the default backend. `"template"` reads headers only, and returns
        template tensors.
    max_bytes : int, optional
        The maximum number of bytes of all tensors. The default is 20 times the size of the file, at least 32
        MiB, which only compressed files can exceed.

    Returns
    -------
    Tensor or dict of str to Tensor
        The tensor of an `.npy` file; a dictionary for the others. The numbers have the machine's byte order.

    Raises
    ------
    FileError
        For a file that is truncated, whose headers do not match its data, that holds anything but arrays of numbers,
        that holds one name twice, or that needs more than `max_bytes`.
    OperandError
        For another suffix.
    ArgumentError
        For a `max_bytes` that is not an int of at least 0.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile, tensorbackend as tb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.save(f"{folder}/x.npy", tb.iota(3))
    ...     tb.load(f"{folder}/x.npy").tolist(), tb.load(f"{folder}/x.npy", backend="template").template
    ([0, 1, 2], s64[3])
    """
    from ..rules.plan import integer
    from .source import Source, locate_errors

    place = replace.as_path(path)
    kind, form = _format(place)
    target = get_backend(backend)
    max_bytes = None if max_bytes is None else integer(0, max_bytes=max_bytes)
    with Source(place) as source, locate_errors(path=place):
        tensors = form.read(source, target, max_bytes)
    return tensors[""] if kind == ".npy" else tensors


def _flat(value: Mapping[Any, Any]) -> dict[Any, Any]:
    """A mapping with the entries of the dictionaries and lists in it, their names joined by dots.

    Raises `OperandError` for two entries of one name.
    """
    flat: dict[Any, Any] = {}
    for name, entry in value.items():
        nested = dict(enumerate(entry)) if isinstance(entry, list | tuple) else entry
        inner = (
            {f"{name}.{key}": x for key, x in _flat(nested).items()} if isinstance(nested, Mapping) else {name: entry}
        )
        for key, x in inner.items():
            if key in flat:
                raise OperandError(expected("names that differ when they are joined by dots", name=key))
            flat[key] = x
    return flat


def _format(path: str) -> tuple[str, Format]:
    """The suffix of a path, and the module of its format."""
    suffix = os.path.splitext(path)[1]
    if suffix not in SUFFIXES:
        raise OperandError(expected(f"a file name that ends in {', '.join(SUFFIXES)}", path=path))
    return suffix, cast("Format", import_module(suffix, __name__))


def _check_name(name: str, kind: str) -> None:
    """Raises `FileError` for a name that no format holds."""
    try:
        name.encode()
    except UnicodeEncodeError:
        remedy = "choose another name"
        raise FileError(expected(f"a name in Unicode for {kind}", remedy, name=name)) from None
