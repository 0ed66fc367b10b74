"""Names of parts of a program, in graphs, dry runs, profiles and errors."""

from __future__ import annotations

import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError, TensorBackendError
from tensorbackend.expr.node import current_scope


@tb.name_scope("attention")
def attention(x: tb.Tensor) -> tb.Tensor:
    return tb.exp(x)


def model(x: tb.Tensor) -> tb.Tensor:
    with tb.name_scope("encoder") as name:
        assert name == current_scope.get()
        y = attention(x)
        with tb.name_scope("mlp"):
            y = y @ y
    return tb.sum(y)


def test_graphs_show_it() -> None:
    graph = tb.trace(model)("f32[3, 3]")
    scopes = {node.op: node.line.scope for node in graph.nodes if node.line is not None}
    assert scopes["exp"] == "encoder/attention"
    assert scopes["sum"] == ""
    assert "(encoder/mlp)" in repr(graph)


def test_dry_runs_show_it() -> None:
    report = tb.dry_run(model, "f32[3, 3]")
    assert {row.line.scope for row in report.eager.rows if row.line is not None} >= {"encoder/attention", "encoder/mlp"}
    assert "(encoder/mlp)" in report.text(by="line")


def test_profiles_show_it() -> None:
    f = tb.jit(model)
    x = tb.zeros((3, 3))
    with tb.profile() as p:
        model(x)
        f(x)
    assert "(encoder/attention)" in p.text(by="line")
    assert {span.line.scope for span in p.spans if span.line is not None} >= {"encoder/attention", "encoder/mlp", ""}


def test_errors_show_it_once() -> None:
    with pytest.raises(ShapeError) as caught, tb.name_scope("outer"), tb.name_scope("inner"):
        tb.ones(2) + tb.ones(3)
    assert caught.value.__notes__ == ["in the scope outer/inner"]
    assert current_scope.get() == ""


def test_a_name_is_needed() -> None:
    with pytest.raises(ArgumentError, match="name_scope: expected a name"):
        tb.name_scope("")
    with pytest.raises(TensorBackendError):
        tb.name_scope(3)  # type: ignore[arg-type]
