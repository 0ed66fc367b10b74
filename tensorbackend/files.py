"""Tensors in files: `.npy` and `.npz` (NumPy's formats), `.safetensors` (which keeps axis names); never a pickle.

A file is written beside its place and moved there, so that there is a whole one or none. What a header promises is
compared with the size of the file before any memory is taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final

from .dtypes import as_dtype, bfloat16, complex128
from .errors import DTypeError, FileError, NamesError, OperandError, TensorBackendError, expected
from .ops.creation import asarray, tensor
from .protocol import BackendLike
from .select import get_backend
from .tensor import Tensor

if TYPE_CHECKING:
    from pathlib import Path

# Of the standard library json, pathlib and zipfile are imported by who needs them: they take a third of the time
# that importing this whole package does.

FORMATS: Final = (".npy", ".npz", ".safetensors")

_NAMES: Final = "tensorbackend.names"
"""The key of axis names in the metadata of a safetensors file: JSON, an object of lists by tensor."""


def save(path: str | os.PathLike[str], value: Tensor | Mapping[str, Tensor], /) -> None:
    """Writes a tensor to `.npy`, or tensors by name to `.npz` or `.safetensors`, as the file's suffix says.

    Safetensors files keep axis names and bfloat16 and need the extra `files`; NumPy's formats hold neither, and
    raise `NamesError` and `DTypeError` rather than lose them. A file that is there is exchanged as a whole.

    >>> import tempfile, tensorbackend as tb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.save(f"{folder}/model.safetensors", {"bias": tb.zeros(2, names=("digit",))})
    ...     tb.load(f"{folder}/model.safetensors")["bias"].template
    f32[digit: 2]
    """
    from pathlib import Path

    target = Path(path)
    kind = _format(target)
    named = {"": value} if isinstance(value, Tensor) else dict(value) if isinstance(value, Mapping) else None
    wanted = "a tensor" if kind == ".npy" else "tensors by name"
    if named is None or isinstance(value, Tensor) is not (kind == ".npy"):
        raise OperandError(expected(f"{wanted} for {kind}", "a mapping goes to .npz or .safetensors", value=value))
    for name, x in named.items():
        if not isinstance(name, str) or not isinstance(x, Tensor):
            raise OperandError(expected("tensors by name", **{str(name): x}))
        _check_savable(name, x, kind)
    write = {".npy": _write_npy, ".npz": _write_npz, ".safetensors": _write_safetensors}[kind]
    _replace(target, lambda scratch: write(scratch, named))


def load(
    path: str | os.PathLike[str], /, *, backend: BackendLike = None, max_bytes: int | None = None
) -> Tensor | dict[str, Tensor]:
    """The tensor of an `.npy` file, or the tensors of an `.npz` or `.safetensors` file by name.

    Raises `FileError` for a file that is cut off, whose header promises other data than there is, that holds Python
    objects, or whose tensors take more than `max_bytes` together: before the memory is taken. The numbers come in
    the byte order of the machine.

    >>> import tempfile, tensorbackend as tb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tb.save(f"{folder}/x.npy", tb.iota(3))
    ...     tb.load(f"{folder}/x.npy").tolist()
    [0, 1, 2]
    """
    from pathlib import Path

    source = Path(path)
    kind = _format(source)
    target = get_backend(backend)
    readers: dict[str, Callable[[Path, Any, int | None], Tensor | dict[str, Tensor]]]
    readers = {".npy": _read_npy, ".npz": _read_npz, ".safetensors": _read_safetensors}
    try:
        return readers[kind](source, target, max_bytes)
    except (OSError, TensorBackendError):
        raise
    except Exception as error:  # whatever a library raises over a file that somebody else made
        raise _broken(source, f"{type(error).__name__}: {error}") from error


def _format(path: Path) -> str:
    if path.suffix not in FORMATS:
        raise OperandError(expected(f"a file name that ends in {', '.join(FORMATS)}", path=str(path)))
    return path.suffix


def _broken(path: Path, found: object) -> FileError:
    return FileError(expected(f"a whole {path.suffix} file", "fetch or write it again", path=str(path), found=found))


def _check_savable(name: str, x: Tensor, kind: str) -> None:
    of = {"name": name} if name else {}
    if kind != ".safetensors" and any(each is not None for each in x.names):
        remedy = "save it as .safetensors, which keeps names, or drop them with rename()"
        raise NamesError(expected(f"a tensor without axis names for {kind}", remedy, **of, tensor=x.template))
    if x.dtype is (complex128 if kind == ".safetensors" else bfloat16):
        remedy = "save it as .npz" if kind == ".safetensors" else "save it as .safetensors"
        raise DTypeError(expected(f"a dtype that {kind} holds", remedy, **of, tensor=x.template))


def _replace(target: Path, write: Callable[[Path], None]) -> None:
    """Writes a scratch file in the same folder and moves it to its place."""
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        write(scratch)
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)


def _within(path: Path, size: int, max_bytes: int | None) -> None:
    if max_bytes is not None and size > max_bytes:
        raise FileError(expected(f"at most {max_bytes} bytes of data", "raise max_bytes", path=str(path), bytes=size))


# NumPy's formats


def _write_npy(path: Path, named: Mapping[str, Tensor]) -> None:
    import numpy

    with path.open("wb") as file:
        numpy.save(file, numpy.asarray(named[""]), allow_pickle=False)


def _write_npz(path: Path, named: Mapping[str, Tensor]) -> None:
    import zipfile

    import numpy

    with zipfile.ZipFile(path, "w") as archive:
        for name, x in named.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, numpy.asarray(x), allow_pickle=False)


def _read_array(path: Path, file: IO[bytes], size: int) -> Any:
    """The array of an `.npy` stream of a size, whose header is believed only where the size agrees."""
    import numpy
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read_header is None:
        raise _broken(path, f"version {version}")
    shape, fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise FileError(expected("numbers", "a file of Python objects is never loaded", path=str(path), dtype=dtype))
    as_dtype(dtype)  # or DTypeError
    count = 1
    for length in shape:
        count *= length
    if any(length < 0 for length in shape) or count * dtype.itemsize != size - file.tell():
        raise _broken(path, f"{size - file.tell()} bytes of data for shape {shape} of {dtype}")
    data = file.read(count * dtype.itemsize)
    array = numpy.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    return numpy.ascontiguousarray(array.astype(dtype.newbyteorder("="), copy=False)).reshape(shape)


def _read_npy(path: Path, backend: Any, max_bytes: int | None) -> Tensor:
    size = path.stat().st_size
    _within(path, size, max_bytes)
    with path.open("rb") as file:
        return asarray(_read_array(path, file, size), backend=backend)


def _read_npz(path: Path, backend: Any, max_bytes: int | None) -> dict[str, Tensor]:
    import zipfile

    found: dict[str, Tensor] = {}
    with zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        _within(path, sum(member.file_size for member in members), max_bytes)
        for member in members:
            with archive.open(member) as file:
                found[member.filename.removesuffix(".npy")] = asarray(
                    _read_array(path, file, member.file_size), backend=backend
                )
    return found


# Safetensors


@contextmanager
def _extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "safetensors":
            raise
        remedy = "pip install 'tensorbackend[files]'"
        raise FileError(expected("the package safetensors for .safetensors files", remedy)) from None


def _write_safetensors(path: Path, named: Mapping[str, Tensor]) -> None:
    import json

    import numpy

    with _extra():
        from safetensors.numpy import save_file
    names = {name: x.names for name, x in named.items() if any(each is not None for each in x.names)}
    save_file(
        {name: numpy.ascontiguousarray(x).reshape(x.shape) for name, x in named.items()},
        path,
        metadata={_NAMES: json.dumps(names)} if names else None,
    )


def _read_safetensors(path: Path, backend: Any, max_bytes: int | None) -> dict[str, Tensor]:
    import json

    _within(path, path.stat().st_size, max_bytes)
    with _extra():
        from safetensors import safe_open
    with safe_open(path, framework="np") as file:
        names = json.loads((file.metadata() or {}).get(_NAMES, "{}"))
        if not isinstance(names, dict):
            raise _broken(path, f"names {names!r}")
        return {name: tensor(file.get_tensor(name), names=names.get(name), backend=backend) for name in file.keys()}  # noqa: SIM118
