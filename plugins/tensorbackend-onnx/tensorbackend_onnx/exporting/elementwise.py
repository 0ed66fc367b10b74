"""Ops that compute each element by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import bool_
from tensorbackend.expr.node import Node, Value

from ..dtypes import ELEMENT_TYPES, part_dtype
from ..operators.elementwise import BINARY, UNARY
from .writer import Name, Writer, option, rows, writes

OPERATORS = {
    OPS[function.__name__].callback: name for name, function in {**UNARY, **BINARY}.items() if function.__name__ in OPS
} | {"is_infinity": "IsInf", "max": "Max", "min": "Min", "pow": "Pow"}
"""The operators that mean an op, by its callback: those that the importer computes by one, and a few more."""

WHOLE = {"ceil", "floor", "round"}
"""Ops that return integers unchanged."""

COMPARISONS = ("greater", "greater_equal", "less", "less_equal")
OF_NUMBERS = ("add", "max", "min", "multiply", "pow", "subtract", *COMPARISONS)
"""Ops of two tensors, of numbers in ONNX: bools are cast."""


def dtype(node: Node, position: int = 0) -> tb.DType:
    """The dtype of an input."""
    return node.operands[position].template.dtype


def converted(w: Writer, node: Node, x: Name, wanted: tb.DType, position: int = 0) -> Name:
    """An input in a dtype."""
    return x if dtype(node, position) == wanted else w.cast(x, wanted)


@writes(*OPERATORS)
def same(w: Writer, node: Node, *inputs: Name) -> Any:
    if node.op in WHOLE and not tb.isdtype(dtype(node), "real floating"):
        return inputs[0]
    return w.op(OPERATORS[node.op], *inputs)


@writes(*OF_NUMBERS)
def of_numbers(w: Writer, node: Node, x: Name, y: Name) -> Any:
    if dtype(node) != bool_:
        return w.op(OPERATORS[node.op], x, y)
    found = w.op(OPERATORS[node.op], *(w.cast(z, tb.int32) for z in (x, y)))
    return found if node.op in COMPARISONS else w.cast(found, node.outs[0].dtype)


@writes("logical_and", "logical_not", "logical_or", "logical_xor")
def logical(w: Writer, node: Node, *inputs: Name) -> Name:
    return w.op(OPERATORS[node.op], *(converted(w, node, x, bool_, place) for place, x in enumerate(inputs)))


@writes("bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor")
def bitwise(w: Writer, node: Node, *inputs: Name) -> Name:
    operator = OPERATORS[node.op]
    return w.op(operator.removeprefix("Bitwise") if dtype(node) == bool_ else operator, *inputs)


@writes("left_shift", "right_shift")
def shift(w: Writer, node: Node, x: Name, y: Name) -> Any:
    fits, direction = tb.isdtype(dtype(node), "unsigned integer"), "LEFT" if node.op == "left_shift" else "RIGHT"
    return w.op("BitShift", x, y, direction=direction) if fits else NotImplemented


def never_zero(value: Value) -> bool:
    """Whether a value is a number that the function was written with, other than 0."""
    while value.node.op in ("as_type", "broadcast"):
        (value,) = value.node.operands
    return value.node.op == "constant" and bool(value.node.options["value"])


def integer_divided(w: Writer, node: Node, x: Name, y: Name, write: Callable[[Name, Name], Name]) -> Name:
    """A quotient or remainder of integers, which is 0 by 0, where runtimes stop with an error."""
    if never_zero(node.operands[1]):
        return write(x, y)
    number = dtype(node, 1)
    zero = w.op("Equal", y, w.scalar(0, number))
    divided = write(x, w.op("Where", zero, w.scalar(1, number), y))
    return divided if node.op == "remainder" else w.op("Where", zero, w.scalar(0, number), divided)


@writes("remainder")
def remainder(w: Writer, node: Node, x: Name, y: Name) -> Name:
    if not tb.isdtype(dtype(node), "real floating"):
        return integer_divided(w, node, x, y, partial(w.op, "Mod"))
    rest = w.op("Mod", x, y, fmod=1)
    zero = w.scalar(0, dtype(node))
    other = w.op("Xor", w.op("Less", rest, zero), w.op("Less", y, zero))
    moved = w.op("And", other, w.op("Not", w.op("Equal", rest, zero)))
    return w.op("Where", moved, w.op("Add", rest, y), rest)


@writes("floor_divide")
def floor_divide(w: Writer, node: Node, x: Name, y: Name) -> Name:
    if tb.isdtype(dtype(node), "real floating"):
        return w.op("Floor", w.op("Div", x, y))
    signed = tb.isdtype(dtype(node), "signed integer")
    return integer_divided(w, node, x, y, partial(_rounded_down, w, node) if signed else partial(w.op, "Div"))


def _rounded_down(w: Writer, node: Node, x: Name, y: Name) -> Name:
    """A quotient of signed integers, rounded down, where ONNX rounds towards 0. No step overflows but the quotient."""
    zero = w.scalar(0, dtype(node))
    quotient, exact = w.op("Div", x, y), w.op("Equal", w.op("Mod", x, y), zero)
    below = w.op("And", w.op("Xor", w.op("Less", x, zero), w.op("Less", y, zero)), w.op("Not", exact))
    return w.op("Sub", quotient, w.cast(below, dtype(node)))


@writes("log1p")
def log1p(w: Writer, node: Node, x: Name) -> Name:
    """log(1 + x). Near 0 it is by Kahan's formula, which takes back what the rounding of the sum has changed."""
    one = w.scalar(1, dtype(node))
    moved = w.op("Add", x, one)
    step, found = w.op("Sub", moved, one), w.op("Log", moved)
    return _like_x(w, node, x, step, w.op("Div", found, step), found)


@writes("expm1")
def expm1(w: Writer, node: Node, x: Name) -> Name:
    """exp(x) - 1 likewise."""
    power = w.op("Exp", x)
    step = w.op("Sub", power, w.scalar(1, dtype(node)))
    return _like_x(w, node, x, step, w.op("Div", step, w.op("Log", power)), step)


def _like_x(w: Writer, node: Node, x: Name, step: Name, factor: Name, found: Name) -> Name:
    """What has the sign of x: x times a factor between -1 and 1, where a step of 0 means 1; elsewhere what was found.

    A product gives the result its sign, also that of zeros, which onnxruntime's choices lose.
    """
    zero, one = w.scalar(0, dtype(node)), w.scalar(1, dtype(node))
    small = w.op("Less", w.op("Abs", x), one)
    factor = w.op("Where", w.op("Equal", step, zero), one, factor)
    size = w.op("Where", small, factor, w.op("Abs", found))
    return w.op("Mul", w.op("Clip", x, w.scalar(-1, dtype(node)), one), size)


rows(
    {
        "bitcast": lambda w, node, x: (
            w.op("BitCast", x, to=ELEMENT_TYPES[node.outs[0].dtype]) if w.has("BitCast") else NotImplemented
        ),
        "erfc": lambda w, node, x: w.op("Sub", w.scalar(1, dtype(node)), w.op("Erf", x)),
        "not_equal": lambda w, node, x, y: w.op("Not", w.op("Equal", x, y)),
        "quotient": lambda w, node, x, y: integer_divided(w, node, x, y, partial(w.op, "Div")),
        "rsqrt": lambda w, node, x: w.op("Reciprocal", w.op("Sqrt", x)),
        "select": lambda w, node, condition, x, y: w.op("Where", converted(w, node, condition, bool_), x, y),
    }
)
rows(
    {
        "elu": lambda w, node, x: w.op("Elu", x, alpha=float(option(node, "alpha"))),
        "gelu": lambda w, node, x: (
            w.op("Gelu", x, approximate="tanh" if option(node, "approximate") else "none")
            if w.has("Gelu")
            else NotImplemented
        ),
        "leaky_relu": lambda w, node, x: w.op("LeakyRelu", x, alpha=float(option(node, "slope"))),
    },
    uniform=True,
)


@writes("clip")
def clip(w: Writer, node: Node, x: Name, low: Name, high: Name) -> Name:
    if all(value.template.ndim == 0 for value in node.operands[1:]):
        return w.op("Clip", x, low, high)
    return w.op("Min", w.op("Max", x, low), high)


@writes("as_type", pairs=True)
def as_type(w: Writer, node: Node, x: Name) -> Any:
    before, after = dtype(node), node.outs[0].dtype
    if before == after:
        return x
    if tb.isdtype(before, "complex floating"):
        return NotImplemented
    return as_pairs(w, x, after) if tb.isdtype(after, "complex floating") else w.cast(x, after)


def as_pairs(w: Writer, x: Name, dtype: tb.DType) -> Name:
    """Real numbers as complex ones, which are pairs along a last axis."""
    real = w.cast(x, part_dtype(dtype))
    return joined(w, real, w.op("Mul", real, w.scalar(0, part_dtype(dtype))))


def joined(w: Writer, real: Name, imag: Name) -> Name:
    """Pairs of real and imaginary parts."""
    return w.op("Concat", *(w.op("Unsqueeze", part, w.ints([-1])) for part in (real, imag)), axis=-1)
