"""Calls as Python source: the pasted source returns the same bits, or raises the same error."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, as_dtype, bool_
from tensorbackend.errors import ArgumentError, TensorBackendError
from tensorbackend.select import registry
from tensorbackend.testing import Invocation, calls, check_pair, names, profile
from tensorbackend.testing.calls import find
from tensorbackend.testing.controls import CONTROLS, Control
from tensorbackend.testing.source import script, source


def pasted(text: str) -> Any:
    """Evaluate an expression that uses only `tb`, on BinaryBackend; return its value, or its error's type and text."""
    with tb.default_backend("binary"):
        try:
            return eval(text, {"tb": tb})
        except TensorBackendError as error:
            return type(error), str(error)


def bits(result: Any) -> Any:
    """Replace tensors by templates and bytes, which compare by value."""
    if isinstance(result, tb.Tensor):
        return result.template, result.to_binary()
    return [bits(part) for part in result] if isinstance(result, list | tuple) else result


def test_a_call_of_each_op_can_be_pasted() -> None:
    def same(call: Invocation) -> None:
        try:
            outcome = call.on("binary").run()
        except TensorBackendError as error:
            outcome = type(error), str(error)
        assert bits(pasted(repr(call))) == bits(outcome)

    for name in names():
        profile(1)(given(calls(name, tb.float32))(same))()


HARD = [
    *(tb.astype(tb.tensor([1, 0, 3], backend="binary"), dtype) for dtype in ALL_DTYPES),
    tb.tensor([-0.0, tb.inf, -tb.inf, tb.nan, -tb.nan, 5e-324, 1e308], dtype="f64", backend="binary"),
    tb.tensor([-0.0, tb.inf, -tb.inf, tb.nan, -tb.nan, 6e-8], dtype="f16", backend="binary"),
    tb.tensor([-0.0, tb.inf, -tb.nan, 1e-40], dtype="bf16", backend="binary"),
    tb.tensor([complex(-0.0, -0.0), complex(tb.inf, -tb.nan), complex(0.0, -0.0)], dtype="c64", backend="binary"),
    tb.tensor(-0.0, backend="binary"),
    tb.zeros((0, 3), names=("a", None), backend="binary"),
    tb.zeros((3, 0, 2), dtype="u8", backend="binary"),
    tb.tensor([[2**64 - 1]], dtype="u64", names=(None, "b"), backend="binary"),
]


@pytest.mark.parametrize("x", HARD, ids=source)
def test_a_tensor_keeps_every_bit(x: tb.Tensor) -> None:
    assert bits(pasted(source(x))) == bits(x)


def test_what_else_stands_in_a_call() -> None:
    values: list[Any] = [
        None, True, 3, -0.0, "n", slice(1, None, 2), ..., (1,), [], {"n": (1, 2)}, tb.float32, bool_, tb.add,
        tb.linalg.qr, tb.Template((2, 3), "f32", ("a", None)),
    ]  # fmt: skip
    for value in values:
        assert pasted(source(value)) == value, source(value)
    assert source(tb.get_backend("numpy")) == "'numpy'"
    dry = pasted(source(tb.template((2,), "f32", names=("n",))))
    assert dry.template is tb.Template((2,), "f32", ("n",))


def test_an_op_by_its_namespace() -> None:
    assert [find(name) for name in ("qr", "linalg.qr", "random.split", "split", "fft.fft")] == [
        "qr", "qr", "random.split", "split", "fft",
    ]  # fmt: skip
    with pytest.raises(ArgumentError, match=r"op='linalg.add'"):
        find("linalg.add")


def test_a_script_runs(capsys: pytest.CaptureFixture[str]) -> None:
    call = Invocation("add", (tb.tensor([1, 2], backend="binary"), 1), {})
    exec(script(repr(call), tb.get_backend("numpy")), {})
    assert capsys.readouterr().out == "s64[2] numpy [2, 3]\n"


SHOWN = [control for control in CONTROLS if control.kind == "alias" and "backend_deallocate" not in control.methods]


@pytest.mark.parametrize("control", SHOWN, ids=lambda control: control.what)
def test_a_program_shows_memory_that_is_shared(
    control: Control, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    backend = control.backend()
    monkeypatch.setitem(registry._classes, backend.name, type(backend))
    pair = check_pair(backend, control.op, as_dtype(control.dtype), examples=60)
    assert pair.kind == "alias"
    exec(pair.script, {})
    printed = capsys.readouterr().out
    assert printed[: len(printed) // 2] != printed[len(printed) // 2 :], pair.script
