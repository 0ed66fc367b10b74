"""Files of weights in GGUF, the format of llama.cpp, which the package `gguf` reads.

The package does not ask whether the lengths in the header lie inside the file. It would go on reading nothing for as
many entries as a broken file says that there are.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..declarations.argument_errors import check_arguments
from ..dtypes import DType, float4_e2m1fn, float8_e8m0fnu, float32, int4, int8
from ..errors import BackendError, FileError, expected
from ..errors.remedies import install_remedy
from ..files.replace import as_path
from ..interchange import numpy_dtype
from ..ops.creation.values import asarray
from ..protocol import BackendLike
from ..template import Template
from ..tensor import Tensor
from .matrix import Quantized

if TYPE_CHECKING:
    import numpy

_BLOCK: Final = 32
"""The number of elements that share a scale in each of the kinds that are read as they are."""


@check_arguments
def load_gguf(path: str | os.PathLike[str], backend: BackendLike = None) -> dict[str, Tensor | Quantized]:
    """The tensors of a GGUF file, by name; quantised ones as they are, where `quantize` could have made them.

    These are the kinds Q8_0, Q4_0 and MXFP4. Tensors of floats come in their dtypes. Those of other kinds are
    dequantised to float32.

    Parameters
    ----------
    path : str or path
        The file.
    backend : Backend or str, optional
        The backend of the tensors.

    Returns
    -------
    dict of str to Tensor or Quantized
        The tensors, with the sizes of axes in row-major order: a matrix has a row for each output.

    Raises
    ------
    BackendError
        If the package `gguf` is not installed.
    FileError
        For a file that is not in this format, or says that more is in it than its bytes hold; and for a tensor of a
        kind that the package `gguf` does not dequantise, such as Q8_K.

    See Also
    --------
    quantized_dot : A product with such a matrix.

    Examples
    --------
    For "blk.0.attn_q.weight" of a file of kind Q4_0 this prints the name and
    `Quantized(f32[4096][4096] as int4, groups of 32 along 1, numpy)`:

    >>> def show(path):
    ...     for name, weight in tb.load_gguf(path).items():
    ...         print(name, weight)
    """
    try:
        import gguf
    except ModuleNotFoundError:
        needed = "the package gguf, which reads such files"
        raise BackendError(expected(needed, install_remedy("gguf"))) from None
    place = as_path(path)
    if not Path(place).is_file():
        raise FileError(expected("a file", path=place))
    try:
        check_header(Path(place), dict(getattr(gguf, "GGML_QUANT_SIZES", {})))
        read = gguf.GGUFReader(place).tensors
    except Exception as error:  # the reader raises whatever a broken file leads to
        raise FileError(expected("a GGUF file", path=place, error=error)) from error
    found = {}
    for tensor in read:
        kind = tensor.tensor_type.name
        try:
            found[tensor.name] = _tensor(kind, tuple(map(int, reversed(tensor.shape))), tensor.data, backend)
        except NotImplementedError:
            expectation = "tensors of kinds that the package gguf dequantises"
            remedy = "write the file in another kind, such as Q8_0"
            raise FileError(expected(expectation, remedy, path=place, tensor=tensor.name, kind=kind)) from None
    return found


def _tensor(kind: str, shape: tuple[int, ...], data: numpy.ndarray[Any, Any], backend: BackendLike) -> Any:
    """The tensor of a kind, from its bytes."""
    import numpy

    dtypes = {"F16": "float16", "BF16": "bfloat16", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64"}
    name = {"F32": "float32", "F64": "float64"}.get(kind) or dtypes.get(kind)
    if name is not None:
        from ..dtypes import as_dtype

        elements = numpy.ascontiguousarray(data).reshape(-1).view(numpy_dtype(as_dtype(name)))
        return asarray(elements.reshape(shape), backend=backend)
    if kind in _READERS:
        return _read_blocks(kind, shape, numpy.ascontiguousarray(data).view(numpy.uint8), backend)
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    return asarray(dequantize(data, GGMLQuantizationType[kind]).reshape(shape), dtype=float32, backend=backend)


def _read_blocks(kind: str, shape: tuple[int, ...], data: Any, backend: BackendLike) -> Quantized:
    """A quantised tensor from its blocks of bytes, which lie along the last axis."""
    import numpy

    width, dtype, read = _READERS[kind]
    blocks = data.reshape(*shape[:-1], shape[-1] // _BLOCK, width)
    codes, scales = read(blocks)
    rows = numpy.moveaxis(codes.reshape(shape), -1, 0)
    if dtype.bits == 4:
        rows = rows[0::2] | rows[1::2] << 4
    values = numpy.ascontiguousarray(rows)
    return Quantized(
        asarray(values.view(numpy.int8) if dtype is int8 else values, backend=backend),
        asarray(numpy.ascontiguousarray(numpy.moveaxis(scales, -1, 0)), backend=backend),
        None,
        None,
        dtype,
        Template(shape, float32),
        len(shape) - 1,
        _BLOCK,
    )


def _halves(blocks: Any) -> Any:
    """The codes of blocks of 16 bytes: the low halves of all bytes come first."""
    import numpy

    return numpy.concatenate([blocks & 15, blocks >> 4], axis=-1)


def _scales(blocks: Any) -> Any:
    """The scales in the first two bytes of each block, in float16."""
    import numpy

    return numpy.ascontiguousarray(blocks[..., :2]).view(numpy.float16)[..., 0]


_READERS: Final[dict[str, tuple[int, DType, Callable[[Any], tuple[Any, Any]]]]] = {
    "Q8_0": (34, int8, lambda blocks: (blocks[..., 2:], _scales(blocks))),
    # Integers from 0 to 15 less 8: the same bits but the highest.
    "Q4_0": (18, int4, lambda blocks: (_halves(blocks[..., 2:]) ^ 8, _scales(blocks))),
    "MXFP4": (
        17,
        float4_e2m1fn,
        lambda blocks: (_halves(blocks[..., 1:]), blocks[..., 0].copy().view(numpy_dtype(float8_e8m0fnu))),
    ),
}
"""For each kind the bytes of a block, the dtype, and what reads codes and scales from blocks."""


_STRING: Final = 8
_ARRAY: Final = 9
_WIDTHS: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""The bytes of each kind of number in the metadata."""

_FIXED: Final = 24
"""The bytes of the name of the format, its version, and the numbers of tensors and of entries of the metadata."""

_DEEPEST: Final = 4
"""The most arrays inside each other: programs write one, and the package's time doubles with each."""


def check_header(path: Path, blocks: Mapping[int, tuple[int, int]]) -> None:
    """Raises `ValueError` for a header with a length beyond the end of the file, or a tensor beyond it.

    Parameters
    ----------
    path : Path
        The file.
    blocks : mapping of int to (int, int)
        For each kind of tensors the elements of a block and its bytes.
    """
    with path.open("rb") as file:
        start = file.read(_FIXED)
        if len(start) == _FIXED and start.startswith(b"GGUF"):  # the reader refuses any other file
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                _Header(data).check(blocks)


class _Header:
    """Reads a header from the start to the end; every read is inside the file, and goes on."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.place, self.order = data, 0, "<"

    def skip(self, count: int) -> int:
        """Goes past some bytes, and returns where they begin."""
        start = self.place
        if count > len(self.data) - start:
            raise ValueError(f"{count} bytes at {start} of a file of {len(self.data)}")
        self.place = start + count
        return start

    def number(self, code: str) -> int:
        """The next number, "I" of 32 bits and "Q" of 64."""
        place = self.skip(struct.calcsize(code))
        value: int = struct.unpack_from(self.order + code, self.data, place)[0]
        return value

    def value(self, kind: int, depth: int = 0) -> None:
        """Goes past a value of the metadata."""
        if kind in _WIDTHS:
            self.skip(_WIDTHS[kind])
        elif kind == _STRING:
            self.skip(self.number("Q"))
        elif kind == _ARRAY and depth < _DEEPEST:
            entry, length = self.number("I"), self.number("Q")
            if entry in _WIDTHS:
                self.skip(_WIDTHS[entry] * length)
            else:
                for _ in range(length):  # of which each takes a byte at least
                    self.value(entry, depth + 1)
        else:
            raise ValueError(f"metadata of kind {kind} at {self.place}")

    def check(self, blocks: Mapping[int, tuple[int, int]]) -> None:
        """Reads everything in front of the elements, and asks where the elements end."""
        self.skip(4)
        if not self.number("I") & 0xFFFF:
            self.order = ">"
        tensors, entries = self.number("Q"), self.number("Q")
        for _ in range(entries):
            self.value(_STRING)
            self.value(self.number("I"))
        ends = []
        for _ in range(tensors):
            self.value(_STRING)
            axes = self.number("I")
            sizes = [self.number("Q") for _ in range(axes)]
            elements, width = blocks.get(self.number("I"), (1, 0))
            ends.append(self.number("Q") + prod(sizes) // elements * width)
        self.skip(max(ends, default=0))
