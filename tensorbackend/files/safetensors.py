"""`.safetensors`: a JSON object with the position of each tensor, followed by their elements, little-endian.

Files are read and written here rather than by the library of that name, which does not keep the order of the tensors,
accepts names that occur twice, takes several times the file's size in memory, and cannot return templates.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import IO, Any, Final

from ..dtypes import ALL_DTYPES, NARROW_DTYPES, DType, complex128, float4_e2m1fn
from ..dtypes.packing import pack_codes
from ..dtypes.promotion import widened
from ..errors import DTypeError, FileError, expected
from ..interchange import numpy_dtype
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor
from .source import FileDefect, Source, broken, read_tensor, template_from

_METADATA: Final = "__metadata__"
"""The key of the header that is not a tensor: an object of texts."""

_NAMES: Final = "tensorbackend.names"
"""The key of axis names in the metadata: JSON, an object of lists by tensor."""

_MAX_HEADER: Final = 100_000_000
"""Bytes; the format's own limit."""

_ALIGNMENT: Final = 8
"""Bytes; the format's own alignment."""

_VALUE_BYTES: Final = 64
"""About the bytes that a JSON value takes as a Python object."""


def _code(dtype: DType) -> str:
    """The format's name for a dtype: our short one, but `I` for signed integers.

    >>> from tensorbackend.dtypes import bfloat16, int8
    >>> _code(bfloat16), _code(int8)
    ('BF16', 'I8')
    """
    if dtype.kind == "bool":
        return "BOOL"
    if dtype is float4_e2m1fn:
        return "F4"
    return f"I{dtype.bits}" if dtype.kind == "int" else dtype.alias.upper()


_DTYPES: Final = {
    _code(dtype): dtype
    for dtype in (*ALL_DTYPES, *NARROW_DTYPES)
    if dtype is not complex128 and (dtype.kind == "float" or not dtype.is_narrow)
}
"""The dtypes by the format's names. It has none for complex128 and for integers of less than 8 bits."""


def check(name: str, x: Tensor) -> None:
    """Raises `FileError` for the one name that the format reserves, `DTypeError` for a dtype without code."""
    if name == _METADATA:
        raise FileError(expected("a name that .safetensors does not reserve", "choose another name", name=name))
    if x.dtype not in _DTYPES.values():
        remedy = f"cast it with astype(x, '{widened(x.dtype)}')" if x.dtype.is_narrow else "save it as .npz"
        raise DTypeError(expected("a dtype that .safetensors holds", remedy, name=name, tensor=x.template))
    if x.size * x.dtype.bits % 8:
        remedy = "pad it to an even number of elements"
        raise DTypeError(expected("whole bytes, as .safetensors holds them", remedy, name=name, tensor=x.template))


def write(file: IO[bytes], tensors: Mapping[str, Tensor], texts: Mapping[str, str] | None = None) -> None:
    """Writes the header in the order of the tensors, and the elements so that each tensor is aligned.

    `texts` become metadata.
    """
    import numpy

    header: dict[str, Any] = {}
    names = {name: x.names for name, x in tensors.items() if any(axis_name is not None for axis_name in x.names)}
    if names or texts:
        header[_METADATA] = {**({_NAMES: json.dumps(names)} if names else {}), **(texts or {})}
    entries = {name: {"dtype": _code(x.dtype), "shape": x.shape} for name, x in tensors.items()}
    # The widest elements first: then all start at a multiple of their width.
    placed, start = sorted(tensors, key=lambda name: -tensors[name].dtype.itemsize), 0
    for name in placed:
        entries[name]["data_offsets"] = (start, start + tensors[name].nbytes)
        start += tensors[name].nbytes
    text = json.dumps(header | entries).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in placed:
        array = numpy.asarray(tensors[name])
        if tensors[name].dtype.is_narrow:
            file.write(pack_codes(array.view(numpy.uint8), tensors[name].dtype.bits).data)
            continue
        little = array.astype(numpy_dtype(tensors[name].dtype).newbyteorder("<"), order="C", copy=False)
        file.write(little.reshape(-1).view(numpy.uint8).data)


def read(source: Source, backend: Backend, max_bytes: int | None) -> dict[str, Tensor]:
    """The tensors by name, in the order of the header."""
    places, start = places_of(source, max_bytes), source.tell()
    if backend.template_only:
        return {name: Tensor(template, backend, None) for name, (template, _) in places.items()}
    source.check_within(sum(template.nbytes for template, _ in places.values()), max_bytes)
    return {name: read_one(source, start + place, template, backend) for name, (template, place) in places.items()}


def read_one(source: Source, place: int, template: Template, backend: Backend) -> Tensor:
    """The tensor whose elements start at a byte of the file."""
    source.seek(place)
    return read_tensor(source.readinto, template, backend, swapped=sys.byteorder == "big")


def metadata_of(source: Source, max_bytes: int | None) -> dict[str, Any]:
    """The texts in the metadata of a file, from its start."""
    texts = _header(source, max_bytes).get(_METADATA, {})
    if not isinstance(texts, dict):
        raise broken("metadata that are not an object")
    return texts


def _header(source: Source, max_bytes: int | None) -> dict[str, Any]:
    """The header of a file, which is at its start."""
    length = int.from_bytes(source.read(8), "little")
    if length > _MAX_HEADER or source.length - 8 - length < 0:
        raise broken(f"a header of {length} bytes")
    text = source.read(length)
    source.check_within(_VALUE_BYTES * sum(map(text.count, (b",", b":", b"[", b"{"))), max_bytes)
    return _object(text.decode())


def places_of(source: Source, max_bytes: int | None) -> dict[str, tuple[Template, int]]:
    """The template and the place of each tensor; `FileDefect` unless they cover each byte after the header once."""
    header = _header(source, max_bytes)
    size = source.length - source.tell()
    names = _object(header.pop(_METADATA, {}).get(_NAMES, "{}"))
    places, taken = {}, []
    for name, entry in header.items():
        if entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise broken(f"for {name!r} {', '.join(entry)}")
        if entry["dtype"] not in _DTYPES:
            expectation, remedy = f"a dtype among {', '.join(_DTYPES)}", "convert the file"
            raise FileDefect(expectation, remedy, name=name, dtype=entry["dtype"])
        start, stop = entry["data_offsets"]
        if not all(type(number) is int for number in (start, stop, *entry["shape"])):
            raise broken(f"for {name!r} {entry}")
        template = template_from(entry["shape"], _DTYPES[entry["dtype"]], names.get(name))
        if stop - start != template.nbytes:
            raise broken(f"{stop - start} bytes of data for {name!r}, {template!r}")
        places[name] = (template, start)
        taken.append((start, stop))
    taken.sort()
    if [0, *(stop for _, stop in taken)] != [*(start for start, _ in taken), size]:
        raise broken(f"tensors that do not take the {size} bytes of data one after the other")
    return places


def _object(text: str) -> dict[str, Any]:
    """The object that a text in JSON describes; `FileDefect` for anything else."""
    parsed = json.loads(text, object_pairs_hook=_once)
    if not isinstance(parsed, dict):
        raise broken(f"{text[:200]!r} in place of an object")
    return parsed


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The JSON object with these entries; `ValueError` for a key that occurs twice."""
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a name that occurs twice")
    return entries
