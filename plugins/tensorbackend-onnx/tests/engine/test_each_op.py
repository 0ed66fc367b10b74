"""The engine's ops, each in a session of its own, against the reference."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.expr.node import PARAMETER, Node, Value
from tensorbackend.testing import names
from tensorbackend.testing.suite import ConformanceSuite

from tensorbackend_onnx.engine import OnnxRuntimeOps
from tensorbackend_onnx.engine.differences import reason

IN_SESSIONS = {name for name, method in vars(OnnxRuntimeOps).items() if hasattr(method, "__plan__")}


class TestOnnxRuntimeOps(ConformanceSuite):
    backend = "onnxruntime_ops"
    ops = tuple(name for name in names() if name in OPS and OPS[name].callback in IN_SESSIONS)
    dtypes = (tb.float32, tb.float64, tb.int64)
    examples = 4


def test_the_ops_that_run_in_sessions_are_many() -> None:
    assert len(TestOnnxRuntimeOps.ops) > 80


def test_a_session_is_kept_for_its_templates() -> None:
    x = tb.tensor([1.0, 2.0], backend="onnxruntime_ops")
    tb.exp(x)
    before = len(x.backend.kernels)
    tb.exp(x + x)
    assert len(x.backend.kernels) <= before + 1  # of the sum


def test_a_difference_of_one_device_is_one_there_alone() -> None:
    for dtype, differs in ((tb.float32, True), (tb.int32, False)):
        x = tb.Template((3,), dtype)
        node = Node("sort", x, (Value(Node(PARAMETER, x)),), {"axis": 0, "descending": False})
        assert reason(node, "cpu") is None
        assert (reason(node, "webgpu") is not None) is differs
