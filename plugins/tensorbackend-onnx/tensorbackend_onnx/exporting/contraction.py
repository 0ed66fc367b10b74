"""Products, convolutions, windows and Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy
import tensorbackend as tb
from tensorbackend.expr.node import Node
from tensorbackend.protocol.convolution import Correlation
from tensorbackend.protocol.window import Windows
from tensorbackend.sizes import is_symbolic

from ..dtypes import part_dtype
from .elementwise import as_pairs, converted, dtype, joined
from .writer import Name, Writer, is_complex, option, writes

POOLS = {"window_max": "MaxPool", "window_sum": "AveragePool"}


@writes("dot")
def dot(w: Writer, node: Node, x: Name, y: Name) -> Any:
    """One sum of products, whose axes have letters."""
    options: Any = node.options
    letters = iter(ascii_lowercase)
    first, second = ([next(letters) for _ in range(value.template.ndim)] for value in node.operands)
    for kind in ("contract", "batch"):
        for one, other in zip(options[f"{kind}1"], options[f"{kind}2"], strict=True):
            second[other] = first[one]
    batch = [first[axis] for axis in options["batch1"]]
    used = {*batch, *(first[axis] for axis in options["contract1"])}
    free = [letter for letter in [*first, *second] if letter not in used]
    equation = f"{''.join(first)},{''.join(second)}->{''.join([*batch, *free])}"
    return w.op("Einsum", x, y, equation=equation)


@writes("einsum", uniform=True)
def einsum(w: Writer, node: Node, *operands: Any) -> Any:
    names = operands[0] if operands and isinstance(operands[0], tuple) else operands
    equation = str(node.options["subscripts"]).replace(" ", "")
    plain = all(letter in ascii_lowercase for letter in equation.replace(",", "").replace("->", ""))
    short = "->" in equation and " " not in str(node.options["subscripts"]).strip()
    return w.op("Einsum", *names, equation=equation) if plain and short else NotImplemented


ALIKE = {"determinant": "Det", "matmul": "MatMul", "reciprocal": "Reciprocal", "relu": "Relu", "softplus": "Softplus"}
"""Composites that an operator computes, of floats of one dtype."""


@writes(*ALIKE, uniform=True)
def alike(w: Writer, node: Node, *inputs: Name) -> Name:
    return w.op(ALIKE[node.op], *inputs)


@writes("conv")
def conv(w: Writer, node: Node, x: Name, kernel: Name) -> Any:
    correlation: Correlation = option(node, "correlation")
    windows = correlation.windows
    dilated = any(step != 1 for step in correlation.input_dilation)
    if dilated:
        return conv_transpose(w, node, x, kernel)
    negative = any(number < 0 for pair in windows.padding for number in pair)
    if correlation.batch_groups != 1 or negative or not windows.strides:
        return NotImplemented
    if is_symbolic(windows.padding):
        lows, highs = zip(*windows.padding, strict=True)
        x = w.op("Pad", x, w.ints((0, 0, *lows, 0, 0, *highs)), w.scalar(0, dtype(node)))
        windows = windows._replace(padding=((0, 0),) * len(lows))
    _, strides, padding, dilations = windows
    pads = [low for low, _ in padding] + [high for _, high in padding]
    return w.op("Conv", x, kernel, dilations=dilations, group=correlation.feature_groups, pads=pads, strides=strides)


def conv_transpose(w: Writer, node: Node, x: Name, kernel: Name) -> Any:
    """A correlation with zeros between the entries: each entry is added to the results that the kernel reaches from it.

    ONNX has the kernel of the convolution that goes the other way, and leaves out what padding would add.
    """
    correlation: Correlation = option(node, "correlation")
    windows, groups, own = correlation.windows, correlation.feature_groups, node.operands[1].template.shape
    if is_symbolic((windows.padding, own, correlation.input_dilation)):
        return NotImplemented
    reach = [step * (size - 1) for step, size in zip(windows.dilations, own[2:], strict=True)]
    before, after = zip(*windows.padding, strict=True)
    left_out = [[far - number for far, number in zip(reach, side, strict=True)] for side in (before, after)]
    more = [max(0, -number) for number in left_out[1]]  # zeros at the end
    fewer = any(number >= step for number, step in zip(more, correlation.input_dilation, strict=True))
    if correlation.batch_groups != 1 or min(left_out[0]) < 0 or fewer or {*windows.strides} != {1}:
        return NotImplemented
    spatial = range(2, len(own))
    kernel = w.op(
        "Slice",
        kernel,
        *[w.ints([number] * len(spatial)) for number in (-1, -(2**63) + 1)],
        w.ints(spatial),
        w.ints([-1] * len(spatial)),
    )
    if groups == 1:
        kernel = w.op("Transpose", kernel, perm=[1, 0, *spatial])
    else:
        kernel = w.op("Reshape", kernel, w.ints([groups, own[0] // groups, *own[1:]]))
        kernel = w.op("Transpose", kernel, perm=[0, 2, 1, *(axis + 1 for axis in spatial)])
        kernel = w.op("Reshape", kernel, w.ints([groups * own[1], own[0] // groups, *own[2:]]))
    return w.op(
        "ConvTranspose",
        x,
        kernel,
        dilations=windows.dilations,
        group=groups,
        output_padding=more,
        pads=[*left_out[0], *(max(0, number) for number in left_out[1])],
        strides=correlation.input_dilation,
    )


@writes(*POOLS)
def pool(w: Writer, node: Node, x: Name) -> Any:
    """A pool over the axes with windows, which ONNX wants to be the last ones after two others."""
    windows: Windows = option(node, "windows")
    rows = list(zip(windows.sizes, windows.strides, windows.padding, strict=True))
    spatial = [axis for axis, (size, step, pads) in enumerate(rows) if (size, step, tuple(pads)) != (1, 1, (0, 0))]
    floats = tb.isdtype(dtype(node), "real floating")
    shape: Sequence[int] = node.operands[0].template.shape
    if floats and is_symbolic(windows.padding):  # attributes are known before a model runs
        lows, highs = zip(*windows.padding, strict=True)
        least = 0 if node.op == "window_sum" else -math.inf
        x = w.op("Pad", x, w.ints((*lows, *highs)), w.scalar(least, dtype(node)))
        rows, shape = [(size, step, (0, 0)) for size, step, _ in rows], windows.padded(shape)
    fits = all(0 <= number < size for size, _, pads in (rows[axis] for axis in spatial) for number in pads)
    if not floats or len(spatial) > 3 or not fits:  # onnxruntime wants padding within a window
        return NotImplemented
    if not spatial:
        return x
    out, own = node.outs[0], node.operands[0].template
    kept = [axis for axis in range(own.ndim) if axis not in spatial]
    order = [*kept, *spatial]
    moved = x if order == sorted(order) else w.op("Transpose", x, perm=order)
    as_is = len(kept) == 2
    if not as_is:
        moved = w.op("Reshape", moved, w.ints((-1, 1, *(shape[axis] for axis in spatial))))
    attributes: dict[str, Any] = {
        "kernel_shape": [rows[axis][0] for axis in spatial],
        "strides": [rows[axis][1] for axis in spatial],
        "pads": [rows[axis][2][0] for axis in spatial] + [rows[axis][2][1] for axis in spatial],
        "dilations": [windows.dilations[axis] for axis in spatial],
    }
    if node.op == "window_sum":
        attributes["count_include_pad"] = 1
    if node.op == "window_max" and w.shared.strict:
        result = largest_or_nan(w, moved, node.outs[0].dtype, attributes)
    else:
        result = w.op(POOLS[node.op], moved, **attributes)
    if node.op == "window_max" and not is_symbolic(shape):
        empty = without_entries(windows, spatial, shape)
        if empty.any():  # where engines return the lowest finite number
            result = w.op("Where", w.constant(empty), w.scalar(-math.inf, dtype(node)), result)
    if node.op == "window_sum":
        result = w.op("Mul", result, w.scalar(math.prod(attributes["kernel_shape"]), dtype(node)))
    if not as_is:
        result = w.op("Reshape", result, w.ints(out.shape[axis] for axis in order))
    back = [order.index(axis) for axis in range(own.ndim)]
    return result if back == sorted(back) else w.op("Transpose", result, perm=back)


def without_entries(windows: Windows, axes: Sequence[int], shape: Sequence[int]) -> Any:
    """Which windows along axes have padding alone, as those with steps between their entries may."""
    empty = numpy.zeros((), bool)
    for axis in axes:
        (size, step, dilation), (low, high) = windows.along[axis], windows.padding[axis]
        reach = dilation * (size - 1)
        starts = numpy.arange(-low, shape[axis] + high - reach, step)
        entries = starts[:, None] + dilation * numpy.arange(size)
        empty = empty[..., None] | ~((entries >= 0) & (entries < shape[axis])).any(axis=1)
    return empty


def largest_or_nan(w: Writer, x: Name, dtype: tb.DType, attributes: dict[str, Any]) -> Name:
    """The maxima of windows, NaN where one is in the window and -inf where it has nothing else.

    Engines pass over both. The sum of x, which is much cheaper than the windows, says whether it may have such.
    """
    out = tb.Template((1, 1), dtype)  # of which a graph inside declares the dtype alone
    plain, careful = w.inside(), w.inside()
    largest = careful.op("MaxPool", x, **attributes)
    inside = [
        careful.cast(careful.op("MaxPool", careful.cast(flags, dtype), **attributes), tb.dtypes.bool_)
        for flags in (careful.op("Greater", x, w.scalar(-math.inf, dtype)), careful.op("IsNaN", x))
    ]
    largest = careful.op("Where", inside[0], largest, w.scalar(-math.inf, dtype))
    largest = careful.op("Where", inside[1], w.scalar(math.nan, dtype), largest)
    total = w.op("ReduceSum", x, keepdims=0)
    return w.op(
        "If",
        w.op("IsNaN", w.op("Sub", total, total)),
        then_branch=careful.body([], [(largest, out)]),
        else_branch=plain.body([], [(plain.op("MaxPool", x, **attributes), out)]),
    )


@writes("fft", "ifft", pairs=True)
def fft(w: Writer, node: Node, x: Name) -> Any:
    """A transform of pairs; another length than the axis has is cut or filled up first."""
    options: Any = node.options
    axis, length, own = options["axis"], options["length"], node.operands[0].template
    if options["norm"] != "backward" or w.shared.opset < 20:
        return NotImplemented
    numbers = x if tb.isdtype(own.dtype, "complex floating") else w.op("Unsqueeze", x, w.ints([-1]))
    count = w.op("Squeeze", w.ints([length]), w.ints([0]))
    return w.op("DFT", numbers, count, w.scalar(axis, tb.int64), inverse=int(node.op == "ifft"))


@writes("real", "imag", pairs=True)
def part(w: Writer, node: Node, x: Name) -> Name:
    if not is_complex(node):
        return x if node.op == "real" else w.op("Sub", x, x)
    return w.op("Gather", x, w.scalar(int(node.op == "imag"), tb.int64), axis=-1)


@writes("complex", pairs=True)
def complex_(w: Writer, node: Node, real: Name, imag: Name) -> Name:
    """Pairs of real parts, and imaginary ones that may broadcast with them."""
    out = node.outs[0]
    return joined(w, *(w.op("Expand", w.cast(part, part_dtype(out.dtype)), w.ints(out.shape)) for part in (real, imag)))


@writes("conjugate", pairs=True)
def conjugate(w: Writer, node: Node, x: Name) -> Name:
    out = node.outs[0].dtype
    if not tb.isdtype(out, "complex floating"):
        return converted(w, node, x, out)
    x = x if tb.isdtype(dtype(node), "complex floating") else as_pairs(w, x, out)
    return w.op("Mul", x, w.scalar([1, -1], part_dtype(out)))
