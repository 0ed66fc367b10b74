"""Ops of complex numbers, with which no operator of ONNX computes: in a model they are pairs along a last axis.

That is how ONNX's operator `DFT` has them. Ops that are linear are written for the real and the imaginary parts, and
products of tensors for each two parts; functions are made of real ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.expr.node import PARAMETER, Node, Value

from ..dtypes import part_dtype
from . import elementwise
from .elementwise import joined
from .parts import parts
from .writer import COMPLEX, PARTS, Name, Writer, option, writes

COMPLEX |= dict.fromkeys(("add", "subtract"), elementwise.of_numbers) | {"negate": elementwise.same}
"""With the functions that are declared to write pairs as they write numbers."""


def twin(w: Writer, node: Node, inputs: Sequence[Any], chosen: Sequence[int]) -> Name:
    """Write the same op of a part of each operand: the real part for 0, the imaginary part for 1."""
    names = iter(chain.from_iterable([entry] if isinstance(entry, str) else entry or () for entry in inputs))
    choices, given = iter(chosen), dict[Value, Name]()

    def part(value: Value) -> Value:
        own, name, choice = value.template, next(names), next(choices)
        real = Value(Node(PARAMETER, own.replace(dtype=part_dtype(own.dtype))))
        complex_ = own.dtype.kind == "complex"
        given[real] = w.op("Gather", name, w.scalar(choice, tb.int64), axis=-1) if complex_ else name
        return real

    out = node.outs[0]
    options = {
        name: part_dtype(value) if isinstance(value, tb.DType) else value for name, value in node.options.items()
    }
    operands, result = node.map_inputs(part), out.replace(dtype=part_dtype(out.dtype))
    return w.node(Node(node.op, result, operands, options, default=node.default, line=node.line), given)[0]


@writes(
    "cumulative_sum", "gather", "pad", "select", "sum", "take", "take_along_axis", "tile", "tril", "triu", "window_sum",
    table=COMPLEX,
)  # fmt: skip
def linear(w: Writer, node: Node, *inputs: Any) -> Name:
    """Each part of the result comes from the same part of the operands."""
    count = len(node.operands)
    if not any(value.template.dtype.kind == "complex" for value in node.operands):
        return elementwise.as_pairs(w, twin(w, node, inputs, (0,) * count), node.outs[0].dtype)
    return joined(w, twin(w, node, inputs, (0,) * count), twin(w, node, inputs, (1,) * count))


@writes("conv", "dot", "multiply", table=COMPLEX)
def bilinear(w: Writer, node: Node, *inputs: Any) -> Name:
    """Products of the real and of the imaginary parts of two tensors."""
    first, mixed, other, last = (twin(w, node, inputs, chosen) for chosen in ((0, 0), (0, 1), (1, 0), (1, 1)))
    return joined(w, w.op("Sub", first, last), w.op("Add", mixed, other))


@parts("divide")
def divide(node: Node, x: Tensor, y: Tensor) -> Tensor:
    """A quotient of complex numbers by their parts."""
    (a, b), (c, d) = ((tb.real(z), tb.imag(z)) for z in (x, y))
    square = c * c + d * d
    return tb.complex((a * c + b * d) / square, (b * c - a * d) / square)


@parts("equal", "not_equal")
def equal(node: Node, x: Tensor, y: Tensor) -> Tensor:
    """Whether both parts are equal."""
    same = tb.logical_and(tb.real(x) == tb.real(y), tb.imag(x) == tb.imag(y))
    return same if node.op == "equal" else tb.logical_not(same)


@parts("exp")
def exp(node: Node, x: Tensor) -> Tensor:
    """The exponential by the absolute value and the angle."""
    size, angle = tb.exp(tb.real(x)), tb.imag(x)
    return tb.complex(size * tb.cos(angle), size * tb.sin(angle))


@parts("fft", "ifft")
def transform(node: Node, x: Tensor) -> Tensor:
    """A transform with another factor than ONNX's."""
    function, length = tb.fft.fft if node.op == "fft" else tb.fft.ifft, option(node, "length")
    result: Tensor = function(x, n=length, axis=option(node, "axis"))
    power = (0.5 if option(node, "norm") == "ortho" else 1.0) * (1 if node.op == "ifft" else -1)
    factor: float = length**power
    return result * factor


PARTS |= {
    "abs": lambda node, x: tb.hypot(tb.real(x), tb.imag(x)),
    "log": lambda node, x: tb.complex(tb.log(tb.abs(x)), tb.atan2(tb.imag(x), tb.real(x))),
}
