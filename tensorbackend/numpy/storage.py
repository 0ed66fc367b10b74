"""Files of NumPy's formats and of text, read and written on the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from .conversion import back, host, tensor
from .dtypes import dtype_of, dtype_of_bytes, numpy_dtype, with_order
from .functions import public


@public
def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Writes an array to a file of NumPy's format."""
    numpy.save(file, numpy.asarray(tensor(arr)), allow_pickle=allow_pickle)


@public
def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Writes several arrays to one file."""
    numpy.savez(file, *host(args), allow_pickle=allow_pickle, **host(kwds))


@public
def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Writes several arrays to one compressed file."""
    numpy.savez_compressed(file, *host(args), allow_pickle=allow_pickle, **host(kwds))


@public
def load(
    file: Any, mmap_mode: Any = None, allow_pickle: bool = False, fix_imports: bool = True, encoding: str = "ASCII", *,
    max_header_size: int = 10000,
) -> Any:  # fmt: skip
    """Reads the array or the arrays of a file."""
    options: dict[str, Any] = {"encoding": encoding, "max_header_size": max_header_size}
    found = numpy.load(file, mmap_mode, allow_pickle=allow_pickle, **options)
    return back(found) if isinstance(found, numpy.ndarray) else NpzFile(found)


class NpzFile(Mapping[str, Any]):
    """The arrays of an `.npz` file by name, each read when it is asked for; also as a `with` block.

    Examples
    --------
    >>> import io
    >>> import tensorbackend.numpy as np
    >>> np.savez(file := io.BytesIO(), a=np.arange(3))
    >>> with np.load(io.BytesIO(file.getvalue())) as data:
    ...     data.files, data["a"]
    (['a'], array([0, 1, 2]))
    """

    files: list[str]

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        """What NumPy's object has besides, such as `files` and `close`."""
        return getattr(self._file, name)

    def __getitem__(self, name: str) -> Any:
        return back(self._file[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __repr__(self) -> str:
        return repr(self._file)

    @property
    def f(self) -> Any:
        """The arrays as attributes, as in `data.f.a`."""
        return _Attributes(self)

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


class _Attributes:
    def __init__(self, arrays: NpzFile) -> None:
        self._arrays = arrays

    def __getattr__(self, name: str) -> Any:
        if name not in self._arrays.files:
            raise AttributeError(name)
        return self._arrays[name]


@public
def loadtxt(fname: Any, dtype: Any = float, *arguments: Any, **options: Any) -> Any:
    """Reads numbers from a text file."""
    return back(numpy.loadtxt(fname, numpy_dtype(dtype_of(dtype)), *arguments, **options))


@public
def genfromtxt(fname: Any, dtype: Any = float, *arguments: Any, **options: Any) -> Any:
    """Reads numbers from a text file with gaps."""
    wanted = None if dtype is None else numpy_dtype(dtype_of(dtype))
    return back(numpy.genfromtxt(fname, wanted, *arguments, **options))


@public
def savetxt(fname: Any, X: Any, *arguments: Any, **options: Any) -> None:
    """Writes numbers to a text file."""
    numpy.savetxt(fname, numpy.asarray(tensor(X)), *arguments, **options)


@public
def fromfile(
    file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0, *, like: Any = None
) -> Any:
    """Reads the numbers of a file."""
    wanted = numpy_dtype(dtype_of_bytes(dtype))
    return back(numpy.fromfile(file, with_order(dtype, wanted), count, sep, offset).astype(wanted))
