"""The path of a call: promotion, selection, memo, composites, overrides, contract."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend import dispatch
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.caching.option_keys import MEMO_LIMIT, remember
from tensorbackend.declarations import op_specs
from tensorbackend.errors import (
    AxisError,
    BackendError,
    ContractError,
    DeallocatedError,
    DTypeError,
    OperandError,
    OutOfRangeError,
    ShapeError,
    TemplateDataError,
    TensorBackendError,
    UnsupportedOp,
)
from tensorbackend.protocol import Payload

from ..threads import call_in_threads

BACKENDS = ("binary", "numpy", "template")
ROOT = Path(__file__).resolve().parents[2]


class ToyBackend(BinaryBackend):
    """A third party's backend that insists on its own tensors and overrides one composite."""

    name = "toy"
    dispatch_priority = 1
    calls: list[str]

    def setup(self) -> None:
        self.calls = []

    def log_softmax(self, out: tb.Template, x: tb.Tensor, /, *, axis: tuple[int, ...]) -> Payload:
        self.calls.append(f"log_softmax over {axis}")
        return bytes(out.nbytes)


@tb.composite
def double_and_shift(x: tb.Tensor, /, shift: tb.Tensor, *, times: int = 1) -> tb.Tensor:
    for _ in range(times):
        x = tb.add(tb.add(x, x), shift)
    return x


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_a_composite_is_one_function(backend: str) -> None:
    x = tb.tensor([1.0, 2.0], names=("n",), backend=backend)
    result = double_and_shift(x, 0.5, times=2)
    assert result.tolist() == [5.5, 9.5]
    assert (result.names, result.backend.name) == (("n",), backend)
    assert double_and_shift(tb.template((2,), "f32", ("n",)), 0.5).template is result.template


def test_a_composite_runs_on_a_toy_backend_and_can_be_overridden() -> None:
    toy = ToyBackend()
    x = tb.tensor([[1.0, 2.0]], names=("row", "class"), backend=toy)
    assert double_and_shift(x, 1).tolist() == [[3.0, 5.0]]
    assert tb.log_softmax(x, axis="class").tolist() == [[0.0, 0.0]]
    assert toy.calls == ["log_softmax over (1,)"]
    assert tb.softmax(x, axis=[0]).tolist() == [[1.0, 1.0]]


def test_a_backend_without_an_op_says_so() -> None:
    class Bare(tb.Backend):
        name = "bare"

        def from_binary(self, out: tb.Template, /, *, data: bytes) -> Payload:
            return data

    x = tb.Tensor(tb.Template((2,), "f32"), Bare(), bytes(8))
    with pytest.raises(UnsupportedOp, match=r"expected a backend that has sin, got backend='bare'; move"):
        tb.sin(x)
    assert not Bare().supports("sin")
    assert BinaryBackend().supports("sin", "bf16")


def test_checked_mode_finds_a_broken_contract() -> None:
    class Wrong(BinaryBackend):
        name = "wrong"
        dispatch_priority = 1

        def sin(self, out: tb.Template, x: tb.Tensor, /) -> Payload:
            return b"\0"

    assert dispatch.CHECKED
    with pytest.raises(ContractError, match=r"payload of f32\[2\], got payload='1 bytes'"):
        tb.sin(tb.zeros(2, backend=Wrong()))


MISTAKES: list[tuple[Callable[[tb.Tensor], Any], type[TensorBackendError], str]] = [
    (lambda x: x + tb.zeros((3, 5), backend=x.backend), ShapeError, "add: expected sizes that are equal or 1"),
    (lambda x: tb.sum(x, axis="time"), AxisError, "sum: expected an axis name of f32"),
    (lambda x: tb.max(x, axis=2), AxisError, r"max: expected an axis from -2 to 1 of f32.*got axis=2"),
    (lambda x: tb.sum(x, axis=(0, 0)), AxisError, "each axis of"),
    (lambda x: tb.bitwise_and(x, x), DTypeError, "bitwise_and: expected an integer or bool dtype, got dtype=float32"),
    (lambda x: x + 1e39, OutOfRangeError, "add: expected a number from"),
    (lambda x: tb.add(x, [1.0]), OperandError, "got x2=\\[1.0\\]; wrap it in asarray"),  # type: ignore[arg-type]
    (lambda x: tb.softmax(x, axis="time"), AxisError, "softmax: expected an axis name"),
    (lambda x: tb.astype(x, "f31"), DTypeError, "astype: expected a dtype"),
    (lambda x: tb.argmax(x, tie_break="middle"), TensorBackendError, "tie_break to be 'low' or 'high'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("mistake", "error", "text"), MISTAKES)
def test_a_mistake_is_the_same_error_everywhere(
    backend: str, mistake: Callable[[tb.Tensor], Any], error: type[TensorBackendError], text: str
) -> None:
    x = tb.zeros((2, 3), names=("batch", "feature"), backend=backend)
    for _ in range(2):  # the second time from the memo
        with pytest.raises(error, match=text):
            mistake(x)


def test_which_backend_runs() -> None:
    on_binary, on_numpy = (tb.ones(2, backend=name) for name in ("binary", "numpy"))
    assert (on_binary + on_numpy).backend.name == "numpy"
    assert (on_numpy + tb.template((2,), "f32")).backend.name == "template"
    with pytest.raises(BackendError, match=r"x\.to_device\(y\.device\)$"):
        on_numpy + tb.ones(2, backend=ToyBackend())


def test_python_numbers_and_foreign_operands() -> None:
    x = tb.asarray([1, 2], dtype="u8")
    assert (x + 1).dtype is tb.uint8
    assert (1.5 * x).tolist() == [1.5, 3.0]
    assert (True + x).tolist() == [2, 3]
    with pytest.raises(OperandError, match="add: expected a tensor, a Python number or an array"):
        x + "a"  # type: ignore[arg-type]


def test_precision_is_not_part_of_a_stale_memo() -> None:
    x = tb.asarray([1, 2])
    for bits, dtype in ((32, tb.float32), (64, tb.float64), (32, tb.float32)):
        with tb.precision(bits):
            assert tb.exp(x).dtype is (x / 2).dtype is tb.mean(x).dtype is dtype
            assert tb.zeros(2).dtype is tb.full((2,), 0.5).dtype is dtype


@pytest.mark.parametrize(
    "mistake",
    [
        lambda x: tb.sum(x, axis=[7]),
        lambda x: tb.sum(1, axis=7),
        lambda x: tb.softmax(x, axis=[7]),
        lambda x: tb.full([-1], 0),
        lambda x: tb.concatenate([x, x], axis=7),
        lambda x: tb.dot(x, x, contract=([7], [7])),
    ],
)
def test_a_mistake_has_no_other_error_behind_it(mistake: Callable[[tb.Tensor], object]) -> None:
    with pytest.raises(TensorBackendError) as caught:
        mistake(tb.ones((2, 3)))
    assert caught.value.__context__ is None


def test_a_memo_is_bounded() -> None:
    memo: dict[Any, Any] = {}
    for key in range(MEMO_LIMIT + 10):
        remember(memo, key, key)
    assert len(memo) <= MEMO_LIMIT


def test_transfer_copy_and_deallocation() -> None:
    x = tb.tensor([1.0, 2.0], names=("n",))
    copied = x.backend_copy("binary")
    moved = x.backend_transfer("binary")
    assert copied.tolist() == moved.tolist() == [1.0, 2.0]
    assert (moved.names, moved.backend.name) == (("n",), "binary")
    for use in (lambda: x + 1, x.tolist, lambda: x.backend_copy("binary")):
        with pytest.raises(DeallocatedError, match=r"tensor=f32\[n: 2\]; keep the result of backend_transfer"):
            use()
    x.backend_deallocate()
    assert x.deallocated
    assert not moved.deallocated


def test_a_template_has_no_data() -> None:
    with pytest.raises(TemplateDataError, match="run the program on tensors of another backend"):
        tb.template((2,), "f32").tolist()


def test_a_primitive_must_agree_with_the_protocol() -> None:
    def nonsense(x: tb.Template, /) -> Any: ...

    with pytest.raises(TypeError, match=r"needs a callback 'nonsense' in protocol/"):
        tb.primitive(nonsense)

    def add(x: tb.Template, /) -> Any: ...

    with pytest.raises(TypeError, match="declared twice"):
        tb.primitive(add)
    assert "nonsense" not in op_specs.OPS


def test_importing_loads_no_array_library() -> None:
    code = "import sys, tensorbackend; print([m for m in ('numpy', 'jax', 'cupy', 'torch') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.strip() == "[]"


def test_threads_share_a_backend_without_reports_or_mix_ups() -> None:
    def work(value: float) -> None:
        x = tb.full(200_000, value, dtype="f32")
        for _ in range(20):
            assert (x + x).to_binary(1) == (tb.full((), 2 * value, dtype="f32")).to_binary()
            tb.divide(x, 0.0)

    with np.errstate(all="raise"):
        call_in_threads(work, 1.0, 2.0, 3.0, 4.0)


# Calls with many operands


def ready_calls() -> int:
    return next(row.entries for row in tb.caches() if row.name == "calls that are ready")


@pytest.mark.parametrize("backend", BACKENDS[:2])
@pytest.mark.parametrize("count", [64, 65, 66, 300])
@pytest.mark.parametrize("axis", [0, 1, -1, 2])
def test_many_operands_are_joined_as_few_are(backend: str, count: int, axis: int) -> None:
    arrays = [np.full((2, 3), number, np.float32) for number in range(count)]
    arrays[-1] = arrays[-1].astype(np.int64) if count == 66 else arrays[-1]  # with which NumPy's result is float64
    tensors = [tb.asarray(array, backend=backend, names=("row", None)) for array in arrays]
    for _ in range(4):  # planned exactly, planned once more, then ready
        stacked = tb.stack(tensors, axis=axis, name="time")
        assert stacked.dtype == tb.float32
        np.testing.assert_array_equal(np.asarray(stacked), np.stack(arrays, axis))
        assert stacked.names[axis] == "time"
        assert "row" in stacked.names
        if axis in (0, 1):
            joined = tb.concatenate(tensors, axis=axis)
            np.testing.assert_array_equal(np.asarray(joined), np.concatenate(arrays, axis))
    np.testing.assert_array_equal(np.asarray(tb.asarray(tensors)), np.stack(arrays))


def test_many_operands_of_several_shapes() -> None:
    parts = [np.arange(1 + number % 3) for number in range(100)]
    for _ in range(3):
        joined = tb.concatenate([tb.asarray(part) for part in parts])
        np.testing.assert_array_equal(np.asarray(joined), np.concatenate(parts))
    wrong = [tb.zeros((1, 2)) for _ in range(99)]
    for _ in range(3):
        with pytest.raises(ShapeError, match=r"^concatenate: .*right=f32\[1\]\[3\]"):
            tb.concatenate([*wrong, tb.zeros((1, 3))])
        with pytest.raises(ShapeError, match=r"^stack: expected tensors of one shape"):
            tb.stack([*wrong, tb.zeros((1, 3))])


def test_lists_that_grow_leave_no_ready_calls() -> None:
    """Each length of a list would be a call of its own, which holds all of its templates."""
    x = tb.ones(3)
    tb.stack([x] * 70)
    before = ready_calls()
    for count in range(71, 200):
        assert tb.stack([x] * count).shape == (count, 3)
    assert ready_calls() <= before + 2 * 129  # a mark for each length, of the stack and of its trial
    tb.stack([x] * 199)
    entries = tb.stack.__globals__["_calls"]  # type: ignore[attr-defined] # the namespace of its code
    key = next(reversed(entries))
    assert (199, x.template) in key  # one template for all
