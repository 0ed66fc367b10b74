"""Nodes are made only with the result that the rule of their op gives."""

from __future__ import annotations

from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import TensorBackendError
from tensorbackend.expr.node import PARAMETER, Node, Value
from tensorbackend.expr.saved_nodes import make_node, specs
from tensorbackend.rules.window import Windows

X = Value(Node(PARAMETER, tb.Template((4, 6), "f32", ("row", "column"))))
OUT = tb.Template((4, 5), "f32")
WINDOWS = Windows((1, 2), (1, 1), ((0, 0), (0, 0)), (1, 1))


def test_a_right_node_keeps_its_names_and_gets_the_options_of_the_rule() -> None:
    node = make_node("window_max", OUT, (X,), {"windows": WINDOWS}, composite=False)
    assert node.out is OUT
    assert node.options == {"windows": WINDOWS}
    assert (
        make_node("sum", tb.Template((4,), "f32"), (X,), {"axes": (1,), "keepdims": False}, composite=False).op == "sum"
    )
    assert make_node("softmax", X.template, (X,), {"axis": (1,)}, composite=True).default is not None


@pytest.mark.parametrize(
    ("op", "out", "options", "composite"),
    [
        ("window_max", tb.Template((4, 600), "f32"), {"windows": WINDOWS}, False),
        ("window_max", OUT, {"windows": WINDOWS._replace(sizes=(1, 0))}, False),
        ("sum", tb.Template((4,), "s32"), {"axes": (1,), "keepdims": False}, False),
        ("sum", tb.Template((4,), "f32"), {"axes": (7,), "keepdims": False}, False),
        ("softmax", OUT, {"axis": (1,)}, True),
        ("softmax", X.template, {"axis": (1,)}, False),
        ("iota", OUT, {"axis": 2}, False),
        ("constant", tb.Template((4,), "u8"), {"value": 256}, False),
        ("reshape", tb.Template((5, 5), "f32"), {}, False),
    ],
)
def test_a_false_node_is_refused(op: str, out: Any, options: dict[str, Any], composite: bool) -> None:
    with pytest.raises(TensorBackendError):
        make_node(op, out, () if op in ("iota", "constant") else (X,), options, composite)


def test_nodes_have_the_operands_and_options_of_their_op_alone() -> None:
    out = tb.Template((4,), "f32")
    with pytest.raises(TensorBackendError, match="no operands"):
        make_node("constant", out, (X,), {"value": 1.0}, composite=False)
    with pytest.raises(TensorBackendError, match="the options"):
        make_node("constant", out, (), {"number": 1.0}, composite=False)
    with pytest.raises(TensorBackendError, match="1 operands of softmax"):
        make_node("softmax", X.template, (X, X), {"axis": (1,)}, composite=True)
    with pytest.raises(TensorBackendError, match="the options"):
        make_node("softmax", X.template, (X,), {"axis": (1,), "scale": 1}, composite=True)


def test_options_of_composites_are_those_that_backends_get() -> None:
    assert make_node("softmax", X.template, (X,), {"axis": None}, composite=True).options == {"axis": (0, 1)}
    assert make_node("softmax", X.template, (X,), {"axis": -1}, composite=True).options == {"axis": (1,)}


def test_ops_of_the_package_alone_are_known() -> None:
    assert {"add", "conv", "softmax", "resize"} <= specs().keys()
    with pytest.raises(KeyError):
        make_node("os.system", OUT, (X,), {}, composite=False)
