"""Ops that make and move elements."""

from __future__ import annotations

from typing import Any

import tensorbackend as tb
from tensorbackend.dtypes import bool_
from tensorbackend.expr.node import Node
from tensorbackend.sizes import is_size, is_symbolic, maximum

from ..dtypes import ELEMENT_TYPES, part_dtype
from .elementwise import as_pairs, dtype
from .writer import Name, Writer, alike, is_complex, option, rows, writes

FIRST = -(2**63)
"""A bound before the first entry of any axis, for slices that go backwards."""

FAR = 2**62
"""A diagonal outside of any matrix, whose number a row's can be added to."""


def sizes(w: Writer, template: tb.Template) -> Name:
    """The shape of a value; complex numbers have an axis more, of pairs."""
    pair = (2,) if tb.isdtype(template.dtype, "complex floating") else ()
    return w.ints((*template.shape, *pair))


@writes("constant", pairs=True)
def constant(w: Writer, node: Node) -> Name:
    out = node.outs[0]
    value = option(node, "value")
    if is_size(value) and out.dtype.kind == "complex":
        number = as_pairs(w, w.scalar(value, tb.float64), out.dtype)
    elif tb.isdtype(out.dtype, "complex floating"):
        number = w.scalar([complex(value).real, complex(value).imag], part_dtype(out.dtype))
    else:
        number = w.scalar(value, out.dtype)
    return number if out.ndim == 0 else w.op("Expand", number, sizes(w, out))


@writes("iota")
def iota(w: Writer, node: Node) -> Name:
    out, axis = node.outs[0], option(node, "axis")
    if axis is None:
        return w.op("Reshape", counted(w, out.size, out.dtype), sizes(w, out), allowzero=1)
    numbers = counted(w, out.shape[axis], out.dtype)
    column = w.op("Unsqueeze", numbers, w.ints(range(1, out.ndim - axis))) if axis < out.ndim - 1 else numbers
    return w.op("Expand", column, sizes(w, out))


def counted(w: Writer, count: int, dtype: tb.DType) -> Name:
    """The numbers from 0 up."""
    end = w.op("Squeeze", w.ints([count]), w.ints([0]))
    numbers = w.op("Range", w.scalar(0, tb.int64), end, w.scalar(1, tb.int64))
    return numbers if dtype == tb.int64 else w.cast(numbers, dtype)


@writes("spaced")
def spaced(w: Writer, node: Node) -> Name:
    out, options = node.outs[0], node.options
    wide = out.dtype if out.dtype in (tb.int32, tb.int64, tb.float64) else tb.float32
    steps = w.op("Mul", counted(w, out.shape[0], wide), w.scalar(options["step"], wide))
    numbers = w.op("Add", steps, w.scalar(options["start"], wide))
    return numbers if wide == out.dtype else w.cast(numbers, out.dtype)


@writes("eye")
def eye(w: Writer, node: Node) -> Name:
    out = node.outs[0]
    rows, columns = counted(w, out.shape[-2], tb.int64), counted(w, out.shape[-1], tb.int64)
    offset = max(-FAR, min(option(node, "offset"), FAR))
    moved = w.op("Add", w.op("Unsqueeze", rows, w.ints([1])), w.scalar(offset, tb.int64))
    matrix = w.cast(w.op("Equal", moved, columns), out.dtype)
    return matrix if out.ndim == 2 else w.op("Expand", matrix, sizes(w, out))


@writes("reshape", pairs=True)
def reshape(w: Writer, node: Node, x: Name) -> Name:
    empty = any(is_size(size) or size == 0 for size in node.outs[0].shape)
    return w.op("Reshape", x, sizes(w, node.outs[0]), **({"allowzero": 1} if empty else {}))


@writes("broadcast", pairs=True)
def broadcast(w: Writer, node: Node, x: Name) -> Name:
    axes, out, own = option(node, "axes"), node.outs[0], node.operands[0].template
    if alike(out.shape, own.shape):
        return x
    new = [axis for axis in range(out.ndim) if axis not in axes]
    return w.op("Expand", w.op("Unsqueeze", x, w.ints(new)) if new else x, sizes(w, out))


@writes("transpose", pairs=True)
def transpose(w: Writer, node: Node, x: Name) -> Name:
    axes = option(node, "axes")
    if tuple(axes) == tuple(range(len(axes))):
        return x
    return w.op("Transpose", x, perm=[*axes, *([len(axes)] if is_complex(node) else [])])


@writes("slice", pairs=True)
def slice_(w: Writer, node: Node, x: Name) -> Name:
    """A part of each axis that is not whole."""
    starts, lengths, strides = (option(node, name) for name in ("starts", "lengths", "strides"))
    parts = zip(starts, lengths, range(len(starts)), strides, strict=True)
    shape = node.operands[0].template.shape
    cut = [part for part, size in zip(parts, shape, strict=True) if part[3] != 1 or not alike(part[1], size)]
    if not cut:
        return x
    starts, lengths, axes, strides = zip(*cut, strict=True)
    ends = [
        maximum(start, start + (length - 1) * step + 1) if is_symbolic((start, length)) or length else start
        for start, length, _, step in cut
    ]
    return w.op("Slice", x, *map(w.ints, (starts, ends, axes, strides)))


@writes("reverse", pairs=True)
def reverse(w: Writer, node: Node, x: Name) -> Name:
    axes = option(node, "axes")
    starts, ends, steps = (w.ints([number] * len(axes)) for number in (-1, FIRST, -1))
    return w.op("Slice", x, starts, ends, w.ints(axes), steps) if axes else x


@writes("pad")
def pad(w: Writer, node: Node, x: Name, value: Name) -> Any:
    padding = option(node, "padding")
    if any(inner for _, _, inner in padding):
        return NotImplemented
    if not padding:
        return x
    numbers = [low for low, _, _ in padding] + [high for _, high, _ in padding]
    if dtype(node) != bool_:
        return w.op("Pad", x, w.ints(numbers), value)
    padded = w.op("Pad", w.cast(x, tb.int32), w.ints(numbers), w.cast(value, tb.int32))
    return w.op("Cast", padded, to=ELEMENT_TYPES[dtype(node)])


@writes("tile")
def tile(w: Writer, node: Node, x: Name) -> Any:
    repetitions = option(node, "repetitions")
    fits = len(repetitions) == node.operands[0].template.ndim
    return w.op("Tile", x, w.ints(repetitions)) if fits else NotImplemented


@writes("triu", "tril")
def triangle(w: Writer, node: Node, x: Name) -> Name:
    return w.op("Trilu", x, w.scalar(option(node, "k"), tb.int64), upper=int(node.op == "triu"))


rows(
    {
        "concatenate": lambda w, node, tensors: w.op("Concat", *tensors, axis=option(node, "axis")),
        "squeeze": lambda w, node, x: w.op("Squeeze", x, w.ints(option(node, "axes"))) if option(node, "axes") else x,
    },
    pairs=True,
)
