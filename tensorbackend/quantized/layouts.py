"""How programs that quantise lay out matrices of weights in safetensors files, as quantised tensors.

A reader gets the tensors of one matrix by their parts of the name. It raises `FileDefect` for what it does not read.
Everything is computed with ops, so templates have the same layouts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple, NoReturn

from ..dtypes import (
    DType,
    float4_e2m1fn,
    float8_e4m3fn,
    float8_e8m0fnu,
    float32,
    int2,
    int4,
    int8,
    int32,
    uint2,
    uint4,
    uint8,
    uint32,
)
from ..files.source import FileDefect
from ..ops.composite.indexing.selection import repeat
from ..ops.composite.shape.arranging import moveaxis, stack
from ..ops.elementwise.basic import astype, bitcast
from ..ops.elementwise.binary import bitwise_and
from ..ops.shape import permute_dims, reshape
from ..template import Template
from ..tensor import Tensor
from .matrix import Quantized

_SIGNED: Final = {2: int2, 4: int4, 8: int8}
_UNSIGNED: Final = {2: uint2, 4: uint4, 8: uint8}
"""The dtypes of codes by their bits."""

_AWQ_PLACES: Final = (0, 4, 1, 5, 2, 6, 3, 7)
"""For each of eight columns its place among the halves of bytes of a number of 32 bits."""

_MX_BLOCK: Final = 32
"""The elements that share a power of two in the OCP's formats."""

_NV_BLOCK: Final = 16
"""The elements that share a scale in NVIDIA's format."""


class Parts:
    """The tensors of one matrix, by the parts of their names, such as `"weight_scale"`."""

    def __init__(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        self.name, self.tensors = name, tensors
        self._asked: set[str] = set()

    def get(self, part: str) -> Tensor | None:
        """The tensor of a part, if there is one."""
        self._asked.add(part)
        return self.tensors.get(part)

    def need(self, part: str) -> Tensor:
        """The tensor of a part, without which the others cannot be read."""
        found = self.get(part)
        if found is None:
            remedy = "if the tensors of the model are in several files, pass their folder"
            raise FileDefect(f"a tensor {part}", remedy, name=self.name, found=", ".join(self.tensors))
        return found

    def check_all_read(self) -> None:
        """Raises `FileDefect` for a part that the reader has not used: the numbers mean something else with it."""
        for part in self.tensors.keys() - self._asked:
            self.refuse(f"a matrix without {part}", part)

    def refuse(self, expectation: str, part: str) -> NoReturn:
        """Raises the error about a part that has another layout than those that are read."""
        remedy = "convert the file to a layout that tensorbackend reads"
        raise FileDefect(expectation, remedy, name=self.name, part=part, tensor=self.need(part).template)

    def matrix(self, part: str, *dtypes: DType) -> Tensor:
        """The tensor of a part, which must be a matrix with elements of one of some dtypes."""
        found = self.need(part)
        if found.dtype not in dtypes or found.ndim != 2 or found.size == 0:
            self.refuse(f"a matrix of {' or '.join(map(str, dtypes))}", part)
        return found


class Facts(NamedTuple):
    """What the configuration of a model says about its tensors."""

    zero_offset: int = 1
    """What GPTQ's stored zero points lack: 1, or 0 in the second version of the format."""
    blocks: tuple[int, int] = (128, 128)
    """Rows and columns that share a scale, where the scales form a smaller matrix."""


def read_packed(parts: Parts, facts: Facts) -> Quantized:
    """Compressed-tensors' packed weights: `weight_packed` with a row for each output."""
    stored = parts.need("weight_packed")
    if stored.dtype is uint8:
        return _read_float4(parts, "weight_packed", facts)
    stored = parts.matrix("weight_packed", int32)
    given = parts.need("weight_shape")
    sizes = [int(size) for size in given.tolist()] if given.shape == (2,) and given.dtype.kind == "int" else []
    widths = [bits for bits in _SIGNED if sizes and -(-sizes[1] * bits // 32) == stored.shape[1]]
    if not sizes or sizes[0] != stored.shape[0] or sizes[1] < 1 or len(widths) != 1:
        parts.refuse(f"numbers of 2, 4 or 8 bits for a matrix of the shape {sizes}", "weight_packed")
    (bits,), (height, count) = widths, sizes
    if count * bits % 8:
        parts.refuse("columns that fill whole bytes", "weight_packed")
    bytes_of_rows = reshape(_bytes(stored), (height, stored.shape[1] * 4))[:, : count * bits // 8]
    values = _sign_codes(permute_dims(bytes_of_rows, (1, 0)), bits)
    scales, block = _scales(parts, "weight_scale", (height, count), facts)
    _check_order(parts, "weight_g_idx", count, block)
    points = parts.get("weight_zero_point")
    if points is not None and points.dtype is int32:
        each = 32 // bits
        if points.shape != (-(-height // each), scales.shape[0]) or scales.shape[1] != height:
            parts.refuse("a packed zero point for each scale", "weight_zero_point")
        codes = _codes(permute_dims(points, (1, 0)), bits)[:, :height]
        points = bitcast(codes, int8) - (1 << bits - 1) if bits < 8 else _sign_codes(codes, 8)
    elif points is not None:
        points = _zero_points(parts, scales, (height, count), facts)
    return _make_matrix(values, scales, points, None, _SIGNED[bits], (height, count), block)


def read_columns(parts: Parts, facts: Facts) -> Quantized:
    """GPTQ's and AWQ's weights: `qweight` with a column for each output, with zero points."""
    scales = parts.need("scales")
    if scales.dtype.kind != "float" or scales.ndim != 2 or scales.size == 0:
        parts.refuse("a matrix of scales", "scales")
    groups, height = scales.shape
    stored, points = parts.matrix("qweight", int32), parts.matrix("qzeros", int32)
    bits = 32 * points.shape[1] // height
    if points.shape != (groups, height * bits // 32) or bits not in _UNSIGNED or height * bits % 32:
        parts.refuse("zero points of 2, 4 or 8 bits for each scale", "qzeros")
    if stored.shape[1] == height:
        count = stored.shape[0] * 32 // bits
        values = reshape(permute_dims(_bytes(stored), (0, 2, 1)), (count * bits // 8, height))
        codes = bitwise_and(_codes(points, bits) + facts.zero_offset, (1 << bits) - 1)
    elif bits == 4 and stored.shape[1] * 8 == height and stored.shape[0] % 2 == 0:
        count = stored.shape[0]
        rows, codes = _codes(stored, 4, _AWQ_PLACES), _codes(points, 4, _AWQ_PLACES)
        values = rows[0::2] | rows[1::2] << 4
    else:
        parts.refuse(f"GPTQ's or AWQ's order for {height} outputs", "qweight")
    if count % groups:
        parts.refuse("groups of equal sizes", "scales")
    _check_order(parts, "g_idx", count, count // groups)
    return _make_matrix(values, scales, codes, None, _UNSIGNED[bits], (height, count), count // groups)


def read_scaled(parts: Parts, facts: Facts) -> Quantized:
    """Weights of 8 bits as they are, `weight`, with `weight_scale` or `weight_scale_inv`, by which to multiply."""
    stored = parts.need("weight")
    if stored.dtype is uint8 and parts.get("weight_scale_2") is not None:
        return _read_float4(parts, "weight", facts)
    if stored.dtype.bits != 8 or stored.dtype.kind not in ("int", "float") or stored.ndim != 2 or stored.size == 0:
        parts.refuse("a matrix of int8 or float8", "weight")
    height, count = stored.shape
    names = [name for name in ("weight_scale", "weight_scale_inv") if parts.get(name) is not None]
    if len(names) == 2:
        parts.refuse("one of weight_scale and weight_scale_inv", names[1])
    scales, block = _scales(parts, names[0], (height, count), facts)
    points = _zero_points(parts, scales, (height, count), facts)
    if points is not None and stored.dtype is not int8:
        parts.refuse("zero points only for integers", "weight_zero_point")
    return _make_matrix(permute_dims(stored, (1, 0)), scales, points, None, stored.dtype, (height, count), block)


def read_blocks(parts: Parts, facts: Facts) -> Quantized:
    """MXFP4 as gpt-oss has it: `blocks` of 16 bytes along a last axis, `scales` that are exponents."""
    stored, scales = parts.need("blocks"), parts.need("scales")
    if stored.dtype is not uint8 or stored.ndim < 3 or stored.shape[-1] * 2 != _MX_BLOCK or stored.size == 0:
        parts.refuse("blocks of 16 bytes", "blocks")
    if scales.dtype is not uint8 or scales.shape != stored.shape[:-1]:
        parts.refuse("a byte for each block", "scales")
    rows = moveaxis(reshape(stored, (*stored.shape[:-2], stored.shape[-2] * _MX_BLOCK // 2)), -1, 0)
    exponents = moveaxis(bitcast(scales, float8_e8m0fnu), -1, 0)
    shape = (*stored.shape[:-2], stored.shape[-2] * _MX_BLOCK)
    return _make_matrix(rows, exponents, None, None, float4_e2m1fn, shape, _MX_BLOCK)


def _read_float4(parts: Parts, part: str, facts: Facts) -> Quantized:
    """Float4 with two numbers to a byte: MXFP4, or NVFP4 with one more scale for the whole matrix."""
    stored = parts.matrix(part, uint8)
    shape = (stored.shape[0], stored.shape[1] * 2)
    scales, block = _scales(parts, "weight_scale", shape, facts)
    factor = None
    for name in ("weight_global_scale", "weight_scale_2"):
        given = parts.get(name)
        if given is None:
            continue
        if given.size != 1 or given.dtype.kind != "float":
            parts.refuse("one number", name)
        factor = reshape(astype(given, float32), ())
        if name == "weight_global_scale":  # by which the scales were multiplied
            factor = 1.0 / factor
    if scales.dtype is not (float8_e8m0fnu if factor is None else float8_e4m3fn):
        parts.refuse("scales of float8 with one for all, or exponents without", "weight_scale")
    if block != (_MX_BLOCK if factor is None else _NV_BLOCK):
        parts.refuse(f"groups of {_MX_BLOCK if factor is None else _NV_BLOCK} numbers of 4 bits", "weight_scale")
    return _make_matrix(permute_dims(stored, (1, 0)), scales, None, factor, float4_e2m1fn, shape, block)


def _make_matrix(
    values: Tensor,
    scales: Tensor,
    points: Tensor | None,
    factor: Tensor | None,
    dtype: DType,
    shape: tuple[int, ...],
    block: int,
) -> Quantized:
    """The matrix of a shape, with a row for each output: groups are along its last axis."""
    return Quantized(values, scales, points, factor, dtype, Template(shape, float32), len(shape) - 1, block)


def _scales(parts: Parts, part: str, shape: tuple[int, int], facts: Facts) -> tuple[Tensor, int]:
    """The scales of a matrix with a row for each group, and the size of a group."""
    given = parts.need(part)
    if given.dtype is uint8:
        given = bitcast(given, float8_e8m0fnu)
    if given.dtype.kind != "float":
        parts.refuse("scales of floats", part)
    return _arrange_groups(parts, part, given, shape, facts)


def _arrange_groups(parts: Parts, part: str, given: Tensor, shape: tuple[int, int], facts: Facts) -> tuple[Tensor, int]:
    """Scales or zero points with a row for each group, and the size of a group."""
    height, count = shape
    if given.size == 1:
        return reshape(given, (1, 1)), count
    if given.shape == (height,):
        return reshape(given, (1, height)), count
    if given.ndim == 2 and given.shape[0] == height and given.shape[1] and count % given.shape[1] == 0:
        return permute_dims(given, (1, 0)), count // given.shape[1]
    high, wide = facts.blocks
    if given.shape == (-(-height // high), -(-count // wide)) and (count % wide == 0 or count < wide):
        return repeat(permute_dims(given, (1, 0)), high, axis=1)[:, :height], min(wide, count)
    expectation = f"a scale for the matrix, each output, group or block of {high} by {wide} of {height} by {count}"
    return parts.refuse(expectation, part)


def _zero_points(parts: Parts, scales: Tensor, shape: tuple[int, int], facts: Facts) -> Tensor | None:
    """The zero points that are stored as int8 like the scales; `None` if there are none."""
    part = "weight_zero_point"
    given = parts.get(part)
    if given is None:
        return None
    points = _arrange_groups(parts, part, given, shape, facts)[0]
    if given.dtype is not int8 or points.shape != scales.shape:
        parts.refuse("a zero point of int8 for each scale", part)
    return points


def _check_order(parts: Parts, part: str, count: int, block: int) -> None:
    """Refuses an order of groups other than that of the columns, which GPTQ's `desc_act` results in."""
    given = parts.get(part)
    if given is None or given.backend.template_only:
        return
    import numpy

    order = numpy.asarray(given)
    plain = order.shape == (count,) and (bool((order == numpy.arange(count) // block).all()) or bool((order < 0).all()))
    if not plain:
        parts.refuse("groups of neighbouring columns, as without desc_act", part)


def _bytes(stored: Tensor) -> Tensor:
    """The four bytes of numbers of 32 bits along a new last axis, the low one first."""
    return _codes_apart(stored, 8, range(4))


def _codes(stored: Tensor, bits: int, places: tuple[int, ...] | None = None) -> Tensor:
    """The codes that numbers of 32 bits hold along the last axis, as uint8; `places` says in which order."""
    apart = _codes_apart(stored, bits, places or range(32 // bits))
    return reshape(apart, (*stored.shape[:-1], math.prod(apart.shape[-2:])))


def _codes_apart(stored: Tensor, bits: int, places: tuple[int, ...] | range) -> Tensor:
    plain, mask = bitcast(stored, uint32), (1 << bits) - 1
    found = [astype(plain >> place * bits & mask, uint8) for place in places]
    return stack(found, axis=-1)


def _sign_codes(stored: Tensor, bits: int) -> Tensor:
    """Bytes of codes that are numbers plus half of the range, as two's complement: the highest bit of each flips."""
    flipped = stored ^ {2: 0xAA, 4: 0x88, 8: 0x80}[bits]
    return bitcast(flipped, int8) if bits == 8 else flipped
