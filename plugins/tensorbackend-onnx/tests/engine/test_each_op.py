"""The engine's ops, each in a session of its own, against the reference."""

from __future__ import annotations

import math
from typing import Any

import pytest
import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import bool_
from tensorbackend.expr.node import PARAMETER, Node, Value
from tensorbackend.testing import names
from tensorbackend.testing.suite import ConformanceSuite

from tensorbackend_onnx.engine import OnnxRuntimeBackend, OnnxRuntimeOps
from tensorbackend_onnx.engine.differences import reason
from tensorbackend_onnx.exporting.writer import WRITES

PLANNED = {name for name, method in vars(OnnxRuntimeOps).items() if hasattr(method, "__plan__")}


class TestOnnxRuntimeOps(ConformanceSuite):
    backend = "onnxruntime_ops"
    ops = tuple(name for name in names() if name in OPS and OPS[name].callback in PLANNED)
    dtypes = (tb.float32, tb.float64, tb.int64)
    examples = 4


def test_the_ops_that_run_in_sessions_are_many() -> None:
    assert len({OPS[name].callback for name in TestOnnxRuntimeOps.ops} & WRITES.keys()) > 80


def test_a_session_is_kept_for_its_templates() -> None:
    x = tb.tensor([1.0, 2.0], backend="onnxruntime_ops")
    tb.exp(x)
    before = len(x.backend.kernels)
    tb.exp(x + x)
    assert len(x.backend.kernels) <= before + 1  # of the sum


def test_functions_that_are_like_their_argument_near_zero_keep_its_sign() -> None:
    x = tb.tensor([-0.0, 0.0, -1e-40, -math.inf, math.inf], backend="onnxruntime_ops")
    assert str(tb.expm1(x).tolist()) == str([-0.0, 0.0, x[2].item(), -1.0, math.inf])
    assert str(tb.log1p(x).tolist()) == str([-0.0, 0.0, x[2].item(), math.nan, math.inf])


@pytest.mark.parametrize("offset", [2**64 - 1, 2**63, -(2**63) - 1, 2**63 - 1, -(2**63)])
def test_a_diagonal_outside_of_the_matrix_is_nowhere(offset: int) -> None:
    assert not tb.any(tb.eye(3, 2, k=offset, backend="onnxruntime_ops")).item()


def difference(op: str, x: tb.Template, *others: tb.Template, device: str, **options: Any) -> str | None:
    """Why NumPy computes an op whose result is like x."""
    return reason(Node(op, x, tuple(Value(Node(PARAMETER, each)) for each in (x, *others)), options), device)


@pytest.mark.parametrize(
    ("op", "others", "options", "differs"),
    [
        ("sort", [], {"axis": 0, "descending": False}, tb.float32),
        ("take", [tb.Template((3,), tb.int64)], {"axis": 0, "mode": "clip"}, bool_),
    ],
)
def test_a_difference_of_one_device_is_one_there_alone(
    op: str, others: list[tb.Template], options: dict[str, Any], differs: tb.DType
) -> None:
    for dtype in (tb.float32, tb.int32, bool_):
        x = tb.Template((3,), dtype)
        if op != "sort" or dtype is not bool_:
            assert difference(op, x, *others, device="cpu", **options) is None
            assert (difference(op, x, *others, device="webgpu", **options) is not None) is (dtype is differs)


def test_a_matrix_times_a_vector_differs_on_webgpu_alone() -> None:
    matrix, vector = tb.Template((3, 3), tb.float32), tb.Template((3,), tb.float32)
    assert difference("matmul", vector, vector, device="cpu") is None
    assert difference("matmul", matrix, matrix, device="webgpu") is None
    assert difference("matmul", matrix, vector, device="webgpu") is not None


def test_a_session_of_one_op_has_one_thread_unless_more_are_asked_for() -> None:
    assert (OnnxRuntimeOps().threads, OnnxRuntimeOps(threads=2).threads, OnnxRuntimeBackend().threads) == (1, 2, 0)
