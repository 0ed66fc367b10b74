"""`.npy`: one array in NumPy's format: a line of text with its shape and dtype, then its elements."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import IO, Any, Final, NamedTuple

from ..dtypes import ALL_DTYPES, bfloat16
from ..errors import DTypeError, NamesError, expected
from ..interchange import numpy_dtype
from ..ops.shape import permute_dims
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor
from .source import FileDefect, Source, broken, read_tensor, template_from

_MAGIC: Final = b"\x93NUMPY"

_WIDTHS: Final = {b"\x01\x00": 2, b"\x02\x00": 4, b"\x03\x00": 4}
"""The number of bytes that hold the length of the header, by version of the format."""

_MAX_HEADER: Final = 10_000
"""Bytes; NumPy's own limit. The header with the longest shape takes some 1,300."""

_DTYPES: Final = {numpy_dtype(dtype).str[1:]: dtype for dtype in ALL_DTYPES if dtype is not bfloat16}
"""The dtypes by NumPy's codes, such as `"f4"`, without the byte order. bfloat16 has none."""

_ENTRY: Final = re.compile(
    r"""\s*(['"])(descr|fortran_order|shape)\1\s*:\s*(\(([\dL,\s]*)\)|True|False|(['"])([^'"]*)\5|\[[^\]]*\])\s*(,|$)"""
)
"""An entry of the header, which is a Python dictionary. Python's parser could take much memory and print warnings."""


def check(name: str, x: Tensor, kind: str = ".npy") -> None:
    """Raises `NamesError` or `DTypeError` for a tensor that NumPy's formats cannot hold."""
    of = {"name": name} if name else {}
    if any(axis_name is not None for axis_name in x.names):
        without = f"x.rename({', '.join(['None'] * x.ndim)})"
        remedy = f"save it as .safetensors, which keeps names, or drop them with {without}"
        raise NamesError(expected(f"a tensor without axis names for {kind}", remedy, **of, tensor=x.template))
    if x.dtype is bfloat16 or x.dtype.is_narrow:
        raise DTypeError(expected(f"a dtype that {kind} holds", "save it as .safetensors", **of, tensor=x.template))


def write(file: IO[bytes], tensors: Mapping[str, Tensor]) -> None:
    """Writes the one tensor, from its payload's own memory."""
    import numpy

    numpy.lib.format.write_array(file, numpy.asarray(tensors[""]), allow_pickle=False)


def read(source: Source, backend: Backend, max_bytes: int | None) -> dict[str, Tensor]:
    """The one tensor, under the name `""`."""
    header = read_header(source, source.length)
    if not backend.template_only:
        source.check_within(header.template.nbytes, max_bytes)
    return {"": read_array(header, source.readinto, backend)}


class Header(NamedTuple):
    """The header of an array, which comes before its elements."""

    template: Template
    swapped: bool
    """Whether the elements have the other byte order."""
    columns_first: bool
    """Whether the first axis runs fastest, as in Fortran."""


def read_header(stream: Any, size: int) -> Header:
    """The header of an array; `FileDefect` unless the header and the elements together have `size` bytes."""
    magic, version = stream.read(6), stream.read(2)
    if magic != _MAGIC or version not in _WIDTHS:
        raise broken(f"the start {magic + version!r}")
    width = _WIDTHS[version]
    length = int.from_bytes(stream.read(width), "little")
    start = 8 + width + length
    if length > _MAX_HEADER or start > size:
        raise broken(f"a header of {length} bytes")
    text = stream.read(length).decode("latin1").strip()
    entries, position = {}, 1
    while match := _ENTRY.match(text[:-1], position):
        entries[match[2]] = match
        position = match.end()
    if text[:1] != "{" or text[-1:] != "}" or text[position:-1].strip() or len(entries) != 3:
        raise broken(f"the header {text[:200]!r}")
    code, sizes, order = entries["descr"][6], entries["shape"][4], entries["fortran_order"][3]
    if code is None or code[1:] not in _DTYPES or code[:1] not in "<>|=":
        remedy = "Python objects, strings and records are never loaded"
        raise FileDefect("numbers of a dtype that tensors have", remedy, dtype=code or entries["descr"][3])
    if sizes is None or order not in ("True", "False"):
        raise broken(f"the header {text[:200]!r}")
    shape = [int(digits.strip().removesuffix("L")) for digits in sizes.split(",") if digits.strip()]
    template = template_from(shape, _DTYPES[code[1:]])
    if template.nbytes != size - start:
        raise broken(f"{size - start} bytes of data for {template!r}")
    native = "<" if sys.byteorder == "little" else ">"
    return Header(template, code[0] in "<>" and code[0] != native, order == "True" and template.ndim > 1)


def read_array(header: Header, readinto: Any, backend: Backend) -> Tensor:
    """The tensor of a header, from the elements that follow; on a backend without data, a template tensor."""
    template, axes = header.template, tuple(reversed(range(header.template.ndim)))
    if backend.template_only:
        return Tensor(template, backend, None)
    if not header.columns_first:
        return read_tensor(readinto, template, backend, swapped=header.swapped)
    # In row-major order the same elements are the transpose, and most backends transpose it back as a view.
    transpose = Template([template.shape[axis] for axis in axes], template.dtype)
    return permute_dims(read_tensor(readinto, transpose, backend, swapped=header.swapped), axes)
