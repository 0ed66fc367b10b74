"""Ops that ONNX lacks as functions of ops that it has. Matrices are taken apart step by step.

The number of steps follows from their sizes, which must be known.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.backends.array_module.special import gamma
from tensorbackend.expr.node import Node
from tensorbackend.protocol.convolution import Correlation

from .writer import PARTS, option

F = Callable[..., Any]


def parts(*ops: str) -> Callable[[F], F]:
    """Declare a function of public ops that computes an op."""

    def declare(function: F) -> F:
        PARTS.update(dict.fromkeys(ops, function))
        return function

    return declare


@parts("atan2")
def atan2(node: Node, y: Tensor, x: Tensor) -> Tensor:
    """The angle by the arctangent of a quotient, and the quadrant."""
    below, left = (tb.where(z == 0, 1 / z, z) < 0 for z in (y, x))  # zeros have signs
    upper = tb.where(below, -tb.pi, tb.pi)
    angle = tb.atan(y / tb.where(x == 0, tb.ones_like(x), x))
    upright = tb.where(below, -tb.pi / 2, tb.pi / 2)
    on_axis = tb.where(y == 0, tb.where(left, upper, y), upright)
    found = tb.where(x == 0, on_axis, tb.where(left, angle + upper, angle))
    return found.astype(node.outs[0].dtype)


@parts("pad")
def pad(node: Node, x: Tensor, value: Tensor) -> Tensor:
    """Padding between elements: each is followed by so many, and the last ones are cut."""
    padding = option(node, "padding")
    for axis, (_, _, inner) in enumerate(padding):
        if inner and x.shape[axis]:
            shape = x.shape
            column = tb.expand_dims(x, axis + 1)
            added = tb.pad(column, {axis + 1: (0, inner)}, value=value)
            whole = tb.reshape(added, (*shape[:axis], shape[axis] * (inner + 1), *shape[axis + 1 :]))
            x = tb.slice_along_axis(whole, 0, shape[axis] + (shape[axis] - 1) * inner, axis=axis)
    return tb.pad(x, [(low, high) for low, high, _ in padding], value=value)


@parts("conv")
def conv(node: Node, x: Tensor, kernel: Tensor) -> Tensor:
    """A convolution of dilated inputs, with padding that may take away; groups of a batch are made channels'."""
    correlation: Correlation = option(node, "correlation")
    windows, groups = correlation.windows, correlation.batch_groups
    if groups != 1:
        batch, channels, *space = x.shape
        parts = tb.reshape(x, (groups, batch // groups, channels, *space), names=(None,) * (x.ndim + 1))
        x = tb.reshape(tb.moveaxis(parts, 0, 1), (batch // groups, groups * channels, *space))
    if x.ndim == 2:  # no spatial axes
        pixels = tb.conv(x[..., None], kernel[..., None], feature_groups=groups * correlation.feature_groups)
        return pixels[..., 0]
    return tb.conv(
        tb.pad(x, [(0, 0), (0, 0), *correlation.edges]),
        kernel,
        strides=windows.strides,
        kernel_dilation=windows.dilations,
        feature_groups=groups * correlation.feature_groups,  # one of them is 1
    )


@parts("put_slice")
def put_slice(node: Node, x: Tensor, update: Tensor) -> Tensor:
    """An update in its place, and x around it."""
    starts = option(node, "starts")
    rows = zip(starts, update.shape, x.shape, strict=True)
    around = [(start, size - start - length) for start, length, size in rows]
    inside = tb.pad(tb.ones(update.shape, dtype="int32", like=x), around) > 0
    return tb.where(inside, tb.pad(update, around), x)


@parts("lu")
def lu(node: Node, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gauss's elimination with the largest pivots, a column a step."""
    rows, columns = x.shape[-2:]
    order = tb.broadcast_to(tb.arange(rows, like=x), x.shape[:-1])
    places = tb.arange(rows, like=x)
    for step in range(min(rows, columns)):
        column = tb.where(places >= step, tb.abs(x[..., step]), -1.0)
        pivot = tb.argmax(column, axis=-1, keepdims=True)
        source = tb.where(places == step, pivot, tb.where(places == pivot, step, places))
        x = tb.take_along_axis(x, source[..., None], axis=-2)
        order = tb.take_along_axis(order, source, axis=-1)
        top = x[..., step : step + 1, step : step + 1]
        factors = x[..., :, step] / tb.where(top == 0, tb.ones_like(top), top)[..., 0]
        factors = tb.where(places > step, factors, tb.zeros_like(factors))
        right = tb.where(tb.arange(columns, like=x) > step, x[..., step : step + 1, :], 0.0)
        x = x - factors[..., None] * right
        kept = tb.where(places > step, factors, x[..., step])
        x = tb.concat([x[..., :step], kept[..., None], x[..., step + 1 :]], axis=-1)
    least = min(rows, columns)
    lower = tb.tril(x[..., :least], k=-1) + tb.eye(rows, least, dtype=x.dtype, like=x)
    permutation = (order[..., None, :] == places[:, None]).astype(x.dtype)
    return permutation, lower, tb.triu(x[..., :least, :])


@parts("cholesky")
def cholesky(node: Node, x: Tensor) -> Tensor:
    """The lower factor, a column a step."""
    size = x.shape[-1]
    columns: list[Tensor] = []
    for step in range(size):
        rest = x[..., :, step]
        for column in columns:
            rest = rest - column * column[..., step : step + 1]
        column = rest / tb.sqrt(rest[..., step : step + 1])
        columns.append(tb.where(tb.arange(size, like=x) >= step, column, 0.0))
    return tb.stack(columns, axis=-1)


@parts("triangular_solve")
def triangular_solve(node: Node, a: Tensor, b: Tensor) -> Tensor:
    """Substitution, a row a step."""
    options: Any = node.options
    lower = options["lower"]
    if options["transform"] != "none":
        a, lower = a.mT, not lower
    if not options["left_side"]:
        a, b, lower = a.mT, b.mT, not lower
    size = a.shape[-1]
    rows: dict[int, Tensor] = {}
    for step in range(size) if lower else reversed(range(size)):
        rest = b[..., step, :]
        for other, row in rows.items():
            rest = rest - a[..., step, other, None] * row
        rows[step] = rest / a[..., step, step, None]
    solution = tb.stack([rows[step] for step in range(size)], axis=-2)
    return solution if options["left_side"] else solution.mT


@parts("copysign")
def copysign(node: Node, x: Tensor, y: Tensor) -> Tensor:
    """The magnitude of one number with the sign of another."""
    dtype = node.outs[0].dtype
    magnitude, sign = tb.abs(x.astype(dtype)), y.astype(dtype)
    return tb.where(tb.signbit(sign), -magnitude, magnitude)


ARRAYS = SimpleNamespace(
    eager=False,
    rint=tb.round,
    tan=lambda x: tb.sin(x) / tb.cos(x),  # runtimes have no tangent of float64
    **{name: getattr(tb, name) for name in ("abs", "inf", "log", "maximum", "nan", "ones_like", "sin", "where")},
)
"""What the formulas of backends whose arrays are a module's take of that module."""

PARTS |= {
    "cbrt": lambda node, x: tb.sign(x) * tb.pow(tb.abs(x), 1 / 3),
    "digamma": lambda node, x: gamma.digamma(ARRAYS, x),
    "log_gamma": lambda node, x: gamma.log_gamma(ARRAYS, x),
    # The sign of zeros by their inverse; NaN counts as positive.
    "signbit": lambda node, x: (tb.where(x == 0, 1 / x, x) if tb.isdtype(x.dtype, "real floating") else x) < 0,
}
