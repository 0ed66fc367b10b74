"""What NumPy computes in place of the engine, and why: the one table of what ONNX Runtime has not, or has otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy
import tensorbackend as tb
from tensorbackend.dtypes import bool_
from tensorbackend.errors import UnsupportedOp
from tensorbackend.expr.graph import subgraphs
from tensorbackend.expr.node import PARAMETER, Node, Value

from ..exporting.writer import PARTS, Shared, Writer

if TYPE_CHECKING:
    from tensorbackend.testing import Divergence

OPSET = 22
"""The version of ONNX's operators that sessions get."""

DTYPES = frozenset({
    bool_, tb.int8, tb.int16, tb.int32, tb.int64, tb.uint8, tb.uint16, tb.uint32, tb.uint64, tb.float32, tb.float64,
})  # fmt: skip
"""The dtypes in which the engine computes."""


def _always(node: Node) -> bool:
    return True


class Difference(NamedTuple):
    """Calls that NumPy computes."""

    reason: str
    """What the engine lacks, or does otherwise."""
    ops: frozenset[str]
    """The names of callbacks."""
    when: Callable[[Node], bool] = _always
    device: str = ""
    """The device whose provider differs; all of them by default."""


def _floats(node: Node) -> bool:
    return node.operands[0].template.dtype.kind == "float"


def _integers(node: Node) -> bool:
    return node.operands[0].template.dtype.kind in ("int", "uint")


def _of_float64(node: Node) -> bool:
    return node.operands[0].template.dtype is tb.float64


def _may_overflow(node: Node) -> bool:
    """Whether a quotient of signed integers may be the one that overflows, the smallest by -1."""
    if node.operands[0].template.dtype.kind != "int":
        return False
    divisor = node.operands[1].node
    while divisor.op in ("as_type", "broadcast"):
        divisor = divisor.operands[0].node
    return divisor.op != "constant" or divisor.options["value"] == -1


def _floats_to_integers(node: Node) -> bool:
    return _floats(node) and node.outs[0].dtype.kind in ("int", "uint")


def _chooses_flags(node: Node) -> bool:
    return node.outs[0].dtype is bool_


def _broadcasts(node: Node) -> bool:
    return len({value.template.shape for value in node.operands}) > 1


def _of_vector(node: Node) -> bool:
    return min(value.template.ndim for value in node.operands) == 1


def _may_raise(node: Node) -> bool:
    """Whether an index may be outside. Constant ones along an axis are looked at."""
    if node.options["mode"] != "error":
        return False
    axis: Any = node.options.get("axis")
    places = node.operands[1].node
    numbers = places.options.get("value") if places.op == "constant" else places.tensor
    if axis is None or numbers is None:
        return True
    known = numpy.asarray(numbers)
    return bool(known.size and not 0 <= known.min() <= known.max() < node.operands[0].template.shape[axis])


OF_EXPONENTIALS = (
    *("erf", "exp", "expm1", "log", "log1p", "pow", "sigmoid", "tanh", "softmax", "log_softmax"),
    *("elu", "gelu", "selu", "exponential", "gumbel", "laplace"),
)
"""Public ops that are one exponential or logarithm, or that one and little more."""

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "the exact quotient is rounded down here, and one that is rounded before there",
        frozenset({"floor_divide", "remainder"}),
        _floats,
    ),
    Difference(
        "the smallest integer divided by -1 ends the process there",
        frozenset({"quotient", "floor_divide"}),
        _may_overflow,
    ),
    Difference("powers of integers are rounded to floats there", frozenset({"pow"}), _integers),
    Difference(
        "floats outside an integer dtype become its nearest end here, and NaN 0",
        frozenset({"as_type"}),
        _floats_to_integers,
    ),
    Difference(
        "an index outside raises an error of its own here, and negative ones count from the end there",
        frozenset({"take", "take_along_axis", "gather", "indexed_add", "indexed_put"}),
        _may_raise,
    ),
    Difference("ONNX has no erfc, and 1 - erf(x) loses the digits of small results", frozenset({"erfc"})),
    Difference("numbers are rounded once here", frozenset({"spaced"})),
    Difference("sums and products of integers are rounded to floats there", frozenset({"sum", "product"}), _integers),
    Difference(
        "NaN is the extreme here, and may be passed over there",
        frozenset({"argmax", "argmin", "reduce_max", "reduce_min"}),
        _floats,
    ),
    Difference("infinities of float64 become NaN there", frozenset({"log_softmax"}), _of_float64),
    Difference("angles of float64 lose digits there", frozenset({"sin", "cos", "tan"}), _of_float64),
    Difference("gelu of float64 has the digits of float32 there", frozenset({"gelu"}), _of_float64),
    Difference("infinities are taken for padding there", frozenset({"sort", "argsort", "top_k"}), _floats, "webgpu"),
    Difference("the shader for bools does not compile", frozenset({"select"}), _chooses_flags, "webgpu"),
    Difference("the shader for bools reads indices past their end", frozenset({"take"}), _chooses_flags, "webgpu"),
    Difference("the shader for two shapes does not compile", frozenset({"pow"}), _broadcasts, "webgpu"),
    Difference("of a matrix by a vector the first row alone is right", frozenset({"matmul"}), _of_vector, "webgpu"),
)
"""The table; each row holds where `when` says so, on its device."""


def reason(node: Node, device: str) -> str | None:
    """Why NumPy computes a node that a device's engine might; `None` for one that the engine computes."""
    templates = [*node.outs, *(value.template for value in node.operands)]
    for template in templates:
        if template.dtype not in DTYPES:
            return f"the engine is not asked for {template.dtype}"
        if not template.size:
            return "engines differ where an axis has no entries"
    for row in DIFFERENCES:
        if row.device in ("", device) and node.op in row.ops and row.when(node):
            return row.reason
    for inner in subgraphs(node):
        for one in inner.nodes:
            if one.op != PARAMETER and one.tensor is None and (found := reason(one, device)) is not None:
                return f"{one.op} inside: {found}"
    return None if is_written(node) else "ONNX has no operator of that meaning"


def is_written(node: Node) -> bool:
    """Whether the exporter writes a node as ONNX's operators, rather than as its parts."""
    writer = Writer(Shared(OPSET, strict=True))
    names: dict[Value, str] = {value: f"x{place}" for place, value in enumerate(node.operands)}
    try:
        writer.node(node, names)
    except UnsupportedOp:
        return False
    return not writer.shared.apart & (PARTS.keys() | {node.op})


def _are_finite(tensors: Sequence[tb.Tensor]) -> bool:
    return all(tb.all(tb.isfinite(x)).item() for x in tensors if x.dtype.is_inexact)


def rows() -> list[Divergence]:
    """What the engine computes all the same, with fewer digits: the rows of `OnnxRuntimeOps.divergences`."""
    from tensorbackend.testing import FLUSHED, NOT_COMPARED, Divergence, Invocation, Judgement

    def call(op: str, *numbers: Any, dtype: str = "f32", **options: Any) -> Invocation:
        return Invocation(op, tuple(tb.tensor(x, dtype=dtype, backend="binary") for x in numbers), options)

    flag = tb.tensor([True], backend="binary")
    zeros = tb.tensor([-0.0], backend="binary"), tb.tensor(0.0, backend="binary")
    return [
        Divergence(
            "a device may count subnormals as zeros, as WebGPU's standard allows",
            call("add", 1e-39, 0.0),
            FLUSHED,
            device="webgpu",
        ),
        Divergence(
            "a device may take it that there are no infinities and no NaN, as WGSL says",
            call("log", 0.0),
            NOT_COMPARED,
            device="webgpu",
            when=lambda call, wanted: isinstance(wanted, list) and not _are_finite([*call.tensors, *wanted]),
        ),
        Divergence(
            "WGSL allows errors of functions: 3 + 2 |x| ulps of exp, 2 ** -21 of log, more of what they are part of",
            call("exp", 9.0),
            Judgement(ulps=256, absolute=2.0**-20),
            ops=OF_EXPONENTIALS,
            dtypes=(tb.float32,),
            device="webgpu",
        ),
        Divergence(
            "the sign of a zero is open where -0.0 and 0.0 meet",
            call("maximum", [[-0.0] * 3] * 3, [[0.0] * 3] * 3),
            Judgement(ulps=1),
            ops=("maximum", "minimum", "clip", "max", "min", "window_max"),
        ),
        Divergence(
            "a choice passes over the zeros of its first part, so that -0.0 becomes 0.0",
            Invocation("where", (flag, *zeros), {}),
            Judgement(ulps=1),
            ops=("where", "window_max"),
        ),
        Divergence(
            "the sigmoid of float32 is a quotient of polynomials within 1e-7, and 0 below -18",
            call("sigmoid", -9.0),
            Judgement(absolute=1e-7),
            ops=("sigmoid",),
            dtypes=(tb.float32,),
        ),
        Divergence(
            "the sigmoid and the hyperbolic tangent of float64 are a few ulps off",
            call("sigmoid", -2.0, dtype="f64"),
            Judgement(ulps=32, absolute=1e-300),
            ops=("sigmoid", "tanh"),
            dtypes=(tb.float64,),
        ),
        Divergence(
            "the hyperbolic tangent of float32 is a quotient of polynomials within 28 ulps",
            call("tanh", 1.1754943508222875e-38),
            Judgement(ulps=64),
            ops=("tanh",),
            dtypes=(tb.float32,),
        ),
        Divergence(
            "gelu has the error function of float32, so that small results have fewer digits",
            call("gelu", -4.0, approximate=False),
            Judgement(absolute=1e-6),
            ops=("gelu",),
            dtypes=(tb.float32,),
        ),
        Divergence(
            "gelu of -inf is NaN, the product of an infinity and 0",
            call("gelu", -math.inf, approximate=False),
            NOT_COMPARED,
            ops=("gelu",),
            dtypes=(tb.float32,),
            when=lambda call, wanted: any(tb.any(tb.isinf(x)).item() for x in call.tensors),
        ),
    ]
