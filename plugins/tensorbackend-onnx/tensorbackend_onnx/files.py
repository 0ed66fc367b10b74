"""Model files, whose weights are mapped into memory rather than read.

protobuf would copy each weight twice. So the bytes of initialisers are found in the file by the rules of its wire
format, and protobuf parses what is left without them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from onnx import GraphProto, ModelProto, TensorProto

from .errors import ModelError
from .stored import Memory, Stored, stored

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
"""The numbers of the fields `ModelProto.graph`, `GraphProto.initializer` and `TensorProto.raw_data`."""

MAPPED_BYTES = 1024
"""The number of bytes from which on an initialiser's data stays in the file."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED64: 8, _FIXED32: 4}


class Field(NamedTuple):
    """A field of a message: where it begins, and where its content begins and ends."""

    number: int
    wire_type: int
    start: int
    content: int
    end: int


class ModelFile(NamedTuple):
    """A model without the data of its large initialisers, and what reads them."""

    model: ModelProto
    folder: Path | None
    """The folder of external data; `None` where the model did not come from a file."""
    data: memoryview
    name: str
    """The name of the file, or of the graph."""
    large: tuple[tuple[int, int] | None, ...] = ()
    """For each initialiser of the graph the position of its data in the file, `None` if it is in `model`."""

    def initialisers(self) -> dict[str, Stored]:
        """The initialisers of the graph, by name."""
        found: dict[str, Stored] = {}
        places = self.large or (None,) * len(self.model.graph.initializer)
        for tensor, place in zip(self.model.graph.initializer, places, strict=True):
            found[tensor.name] = self.stored(tensor, place)
        return found

    def stored(self, tensor: TensorProto, place: tuple[int, int] | None = None) -> Stored:
        """A tensor of the model, wherever its data is."""
        if place is not None:
            start, end = place
            return stored(tensor, lambda: self.data[start:end], end - start)
        if tensor.data_location == TensorProto.EXTERNAL:
            read, size = external(tensor, self.folder)
            return stored(tensor, read, size)
        return stored(tensor)


def read_model(source: str | os.PathLike[str] | bytes | ModelProto) -> ModelFile:
    """Read a model file, its bytes, or take ONNX's own record of a model.

    Raises
    ------
    ModelError
        The file is not an ONNX model.
    OSError
        There is no such file.
    """
    if isinstance(source, ModelProto):
        return ModelFile(source, None, memoryview(b""), source.graph.name or "model")
    if isinstance(source, bytes):
        return _parsed(memoryview(source), None, "model.onnx")
    path = Path(source)
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise ModelError(f"expected an ONNX model, got an empty file {path}")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _parsed(memoryview(mapped), path.parent, path.name)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def _parsed(data: memoryview, folder: Path | None, name: str) -> ModelFile:
    model, rest = ModelProto(), list[Memory]()
    large: list[tuple[int, int] | None] = []
    try:
        for field in _fields(data, 0, len(data)):
            if field.number == GRAPH and field.wire_type == _BYTES:
                model.graph.SetInParent()
                _read_graph(data, field, model.graph, large)
            else:
                rest.append(data[field.start : field.end])
        model.MergeFromString(b"".join(rest))
    except DecodeError as error:
        raise ModelError("expected an ONNX model, got a file that protobuf cannot decode") from error
    if not model.HasField("graph"):
        raise ModelError("expected an ONNX model, got one without a graph")
    _check_texts(model)
    return ModelFile(model, folder, data, name, tuple(large))


def _check_texts(message: Message) -> None:
    """Raise `ModelError` where a name or another text is not text."""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_STRING:
            if any(isinstance(item, bytes) for item in ([value] if isinstance(value, bytes | str) else value)):
                raise ModelError(f"expected a text as {field.name}, got bytes that are none")
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for item in [value] if isinstance(value, Message) else value:
                _check_texts(item)


def _read_graph(data: memoryview, field: Field, graph: GraphProto, large: list[tuple[int, int] | None]) -> None:
    """Read a graph without the data of large initialisers, whose places go to `large`."""
    rest: list[Memory] = []
    for part in _fields(data, field.content, field.end):
        if part.number != INITIALIZER or part.wire_type != _BYTES:
            rest.append(data[part.start : part.end])
            continue
        inside, place = list[Memory](), None
        for own in _fields(data, part.content, part.end):
            if own.number == RAW_DATA and own.wire_type == _BYTES and own.end - own.content >= MAPPED_BYTES:
                place = (own.content, own.end)
            else:
                inside.append(data[own.start : own.end])
        large.append(place)
        graph.initializer.add().MergeFromString(b"".join(inside))
    graph.MergeFromString(b"".join(rest))


def _fields(data: memoryview, position: int, end: int) -> Iterator[Field]:
    """The fields of a message between two positions."""
    while position < end:
        start = position
        tag, position = _read_varint(data, position, end)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            content = position
            _, position = _read_varint(data, position, end)
        elif wire_type == _BYTES:
            length, content = _read_varint(data, position, end)
            position = content + length
        elif wire_type in _WIDTHS:
            content = position
            position += _WIDTHS[wire_type]
        else:
            raise ModelError(f"expected an ONNX model, got a field of wire type {wire_type} at byte {start}")
        if position > end:
            raise ModelError(f"expected the field at byte {start} to end before byte {end}, got a length beyond it")
        yield Field(number, wire_type, start, content, position)


def _read_varint(data: memoryview, position: int, end: int) -> tuple[int, int]:
    """A number in the wire format, and the position behind it."""
    number = 0
    for shift in range(0, 70, 7):
        if position >= end:
            break
        byte = data[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
    raise ModelError(f"expected an ONNX model, got no number where one should end, at byte {position}")


def external(tensor: TensorProto, folder: Path | None) -> tuple[Callable[[], Memory], int]:
    """What reads a tensor's data from a file next to the model, and the number of its bytes.

    The file is looked at now and mapped into memory when the tensor is first used.

    Raises
    ------
    ModelError
        The file is missing, is not in the model's folder, or does not have that many bytes.
    """
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location, name = entries.get("location", ""), tensor.name
    if folder is None:
        raise ModelError(f"expected a model from a file, as {name} is in the file {location}")
    path, root = (folder / location).resolve(), folder.resolve()
    if not location or os.path.isabs(location) or not path.is_relative_to(root):
        raise ModelError(f"expected {name} in a file in the model's folder, got location={location!r}")
    if not path.is_file():
        raise ModelError(f"expected the data of {name} in {path}, got no such file")
    size = path.stat().st_size
    start = _number(entries.get("offset", "0"), "offset", name)
    length = _number(entries.get("length", str(max(size - start, 0))), "length", name)
    if start + length > size:
        raise ModelError(
            f"expected the data of {name} within the {size} bytes of {path}, got {start} to {start + length}"
        )

    def read() -> Memory:
        if length == 0:
            return b""
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[start : start + length]

    return read, length


def _number(text: str, key: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise ModelError(f"expected a number of bytes as the {key} of {name}, got {key}={text!r}")
    return int(text)
