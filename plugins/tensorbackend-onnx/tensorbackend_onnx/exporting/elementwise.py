"""Ops that compute each element by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorbackend as tb
from tensorbackend.dtypes import bool_
from tensorbackend.expr.node import Node, Value

from ..dtypes import ELEMENT_TYPES
from .writer import Name, Writer, writes

SAME = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "is_infinity": "IsInf",
    "is_nan": "IsNaN",
    "log": "Log",
    "negate": "Neg",
    "round": "Round",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
    "divide": "Div",
}
"""Ops with an operator of the same meaning, on real numbers."""

OF_NUMBERS = {"add": "Add", "max": "Max", "min": "Min", "multiply": "Mul", "pow": "Pow", "subtract": "Sub"}
"""Ops of two tensors, of numbers in ONNX: bools are cast."""

COMPARISONS = {
    "equal": "Equal",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "less": "Less",
    "less_equal": "LessOrEqual",
}
LOGICAL = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}


def dtype(node: Node, position: int = 0) -> tb.DType:
    """The dtype of an input."""
    return node.operands[position].template.dtype


WHOLE = {"ceil", "floor", "round"}
"""Ops that return integers unchanged."""

ACTIVATIONS = {"reciprocal": "Reciprocal", "relu": "Relu", "softplus": "Softplus"}
"""Composites with an operator of the same meaning."""


@writes(*ACTIVATIONS, uniform=True)
def activation(w: Writer, node: Node, x: Name) -> Name:
    return w.op(ACTIVATIONS[node.op], x)


@writes(*SAME)
def same(w: Writer, node: Node, *inputs: Name) -> Any:
    if node.op in WHOLE and not tb.isdtype(dtype(node), "real floating"):
        return inputs[0]
    return w.op(SAME[node.op], *inputs)


@writes(*OF_NUMBERS)
def of_numbers(w: Writer, node: Node, x: Name, y: Name) -> Any:
    if dtype(node) != bool_:
        return w.op(OF_NUMBERS[node.op], x, y)
    wide = (w.cast(z, tb.int32) for z in (x, y))
    return w.cast(w.op(OF_NUMBERS[node.op], *wide), node.outs[0].dtype)


@writes(*COMPARISONS)
def comparison(w: Writer, node: Node, x: Name, y: Name) -> Name:
    if dtype(node) == bool_ and node.op != "equal":
        x, y = w.cast(x, tb.int32), w.cast(y, tb.int32)
    return w.op(COMPARISONS[node.op], x, y)


@writes("not_equal")
def not_equal(w: Writer, node: Node, x: Name, y: Name) -> Name:
    return w.op("Not", w.op("Equal", x, y))


@writes(*LOGICAL)
def logical(w: Writer, node: Node, *inputs: Name) -> Name:
    bools = (x if dtype(node, place) == bool_ else w.cast(x, bool_) for place, x in enumerate(inputs))
    return w.op(LOGICAL[node.op], *bools)


BITWISE = {
    "bitwise_and": ("BitwiseAnd", "And"),
    "bitwise_not": ("BitwiseNot", "Not"),
    "bitwise_or": ("BitwiseOr", "Or"),
    "bitwise_xor": ("BitwiseXor", "Xor"),
}
"""Ops of bits: of integers, and of bools."""


@writes(*BITWISE)
def bitwise(w: Writer, node: Node, *inputs: Name) -> Name:
    return w.op(BITWISE[node.op][dtype(node) == bool_], *inputs)


@writes("logical_not")
def logical_not(w: Writer, node: Node, x: Name) -> Name:
    return w.op("Not", x if dtype(node) == bool_ else w.cast(x, bool_))


@writes("left_shift", "right_shift")
def shift(w: Writer, node: Node, x: Name, y: Name) -> Any:
    if not tb.isdtype(dtype(node), "unsigned integer"):
        return NotImplemented
    return w.op("BitShift", x, y, direction="LEFT" if node.op == "left_shift" else "RIGHT")


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


@writes("quotient")
def quotient(w: Writer, node: Node, x: Name, y: Name) -> Name:
    return integer_divided(w, node, x, y, lambda x, y: w.op("Div", x, y))


@writes("remainder")
def remainder(w: Writer, node: Node, x: Name, y: Name) -> Name:
    if not tb.isdtype(dtype(node), "real floating"):
        return integer_divided(w, node, x, y, lambda x, y: w.op("Mod", x, y))
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
    return integer_divided(w, node, x, y, lambda x, y: _rounded_down(w, node, x, y) if signed else w.op("Div", x, y))


def _rounded_down(w: Writer, node: Node, x: Name, y: Name) -> Name:
    """A quotient of signed integers, rounded down, where ONNX rounds towards 0. No step overflows but the quotient."""
    zero = w.scalar(0, dtype(node))
    quotient, exact = w.op("Div", x, y), w.op("Equal", w.op("Mod", x, y), zero)
    below = w.op("And", w.op("Xor", w.op("Less", x, zero), w.op("Less", y, zero)), w.op("Not", exact))
    return w.op("Sub", quotient, w.cast(below, dtype(node)))


@writes("rsqrt")
def rsqrt(w: Writer, node: Node, x: Name) -> Name:
    return w.op("Reciprocal", w.op("Sqrt", x))


@writes("log1p")
def log1p(w: Writer, node: Node, x: Name) -> Name:
    """log(1 + x), times what the rounding of the sum has changed: Kahan's formula, which keeps the digits near 0."""
    one = w.scalar(1, dtype(node))
    moved = w.op("Add", x, one)
    step, found = w.op("Sub", moved, one), w.op("Log", moved)
    kept = w.op("Where", w.op("Equal", step, x), found, w.op("Mul", found, w.op("Div", x, step)))
    return w.op("Where", w.op("Equal", step, w.scalar(0, dtype(node))), x, kept)


@writes("expm1")
def expm1(w: Writer, node: Node, x: Name) -> Name:
    """exp(x) - 1 likewise, where the result is small; exp(x) is 1 for the smallest x."""
    one = w.scalar(1, dtype(node))
    power = w.op("Exp", x)
    step = w.op("Sub", power, one)
    small = w.op("Less", w.op("Abs", x), one)
    kept = w.op("Where", small, w.op("Mul", step, w.op("Div", x, w.op("Log", power))), step)
    return w.op("Where", w.op("Equal", step, w.scalar(0, dtype(node))), x, kept)


@writes("erfc")
def erfc(w: Writer, node: Node, x: Name) -> Name:
    return w.op("Sub", w.scalar(1, dtype(node)), w.op("Erf", x))


@writes("select")
def select(w: Writer, node: Node, condition: Name, x: Name, y: Name) -> Name:
    return w.op("Where", condition if dtype(node) == bool_ else w.cast(condition, bool_), x, y)


@writes("clip")
def clip(w: Writer, node: Node, x: Name, low: Name, high: Name) -> Name:
    if all(value.template.ndim == 0 for value in node.operands[1:]):
        return w.op("Clip", x, low, high)
    return w.op("Min", w.op("Max", x, low), high)


@writes("as_type")
def as_type(w: Writer, node: Node, x: Name) -> Any:
    before, after = dtype(node), node.outs[0].dtype
    if before == after:
        return x
    if tb.isdtype(before, "complex floating"):
        return NotImplemented
    return as_pairs(w, x, after) if tb.isdtype(after, "complex floating") else w.cast(x, after)


def as_pairs(w: Writer, x: Name, dtype: tb.DType) -> Name:
    """Real numbers as complex ones, which are pairs along a last axis."""
    part = tb.float32 if dtype == tb.complex64 else tb.float64
    real = w.op("Unsqueeze", w.cast(x, part), w.ints([-1]))
    return w.op("Concat", real, w.op("Mul", real, w.scalar(0, part)), axis=-1)


@writes("bitcast")
def bitcast(w: Writer, node: Node, x: Name) -> Any:
    return w.op("BitCast", x, to=ELEMENT_TYPES[node.outs[0].dtype]) if w.has("BitCast") else NotImplemented


@writes("gelu", uniform=True)
def gelu(w: Writer, node: Node, x: Name) -> Any:
    if not w.has("Gelu"):
        return NotImplemented
    return w.op("Gelu", x, approximate="tanh" if node.options["approximate"] else "none")


@writes("leaky_relu", uniform=True)
def leaky_relu(w: Writer, node: Node, x: Name) -> Name:
    return w.op("LeakyRelu", x, alpha=float(node.options["slope"]))  # type: ignore[arg-type]


@writes("elu", uniform=True)
def elu(w: Writer, node: Node, x: Name) -> Name:
    return w.op("Elu", x, alpha=float(node.options["alpha"]))  # type: ignore[arg-type]
