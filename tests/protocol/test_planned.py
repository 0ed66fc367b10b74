"""Planned callbacks: kernels that are made once, both forms of a callback, and the context that kernels run in."""

from __future__ import annotations

import inspect
import operator
import os
import subprocess
import sys
import threading
import typing
import warnings
from contextvars import Context
from functools import partial
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.caching.option_keys import MEMO_LIMIT, remember
from tensorbackend.errors import ContractError
from tensorbackend.protocol import Kernel, Payload, kernel_of, planned
from tensorbackend.protocol.planned import QuickKernel, quick_form
from tensorbackend.template import Template


class Counting(BinaryBackend):
    """A backend that plans `add` and `concatenate`. It records each plan and each kernel that it enters."""

    name = "counting"
    dispatch_priority = 1
    plans: list[Any]
    entered: list[Any]

    def setup(self) -> None:
        self.plans, self.entered = [], []

    @planned
    def add(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
        """Record the templates."""
        self.plans.append((out, x1, x2))
        return kernel_of(super().add, out, x1, x2)

    @planned
    def concatenate(self, out: Template, tensors: typing.Sequence[Template], /, *, axis: int) -> Kernel:
        """Join the bytes of tensors of one axis."""
        self.plans.append((out, tensors, axis))
        return b"".join

    def enter(self, kernel: Kernel, /) -> Kernel:
        """Record the kernel."""
        self.entered.append(kernel)
        return super().enter(kernel)


@pytest.fixture
def counting() -> Counting:
    backend = Counting()
    backend.setup()
    backend.kernels.clear()
    return backend


def test_a_plan_is_made_once_for_all_names(counting: Counting) -> None:
    x = tb.tensor([1.0, 2.0], names=("n",), backend=counting)
    y = tb.tensor([3.0, 4.0], names=("m",), backend=counting)
    assert (x + x).names == ("n",)
    assert (y + y).names == ("m",)
    assert (x + x).tolist() == [2.0, 4.0]
    nameless = Template((2,), "f32")
    assert counting.plans == [(nameless, nameless, nameless)]
    assert len(counting.entered) == 1


def test_a_sequence_reaches_the_kernel_as_one_of_payloads(counting: Counting) -> None:
    x = tb.tensor([1, 2], backend=counting)
    for _ in range(2):
        assert tb.concatenate([x, x]).tolist() == [1, 2, 1, 2]
    assert len(counting.plans) == 1


def test_both_forms_are_called_alike(counting: Counting) -> None:
    x = tb.tensor([1.0, 2.0], backend=counting)
    plain = BinaryBackend.add(BinaryBackend(), x.template, x, x)
    assert counting.add(x.template, x, x) == plain
    assert kernel_of(counting.add, x.template, x.template, x.template)(x.data, x.data) == plain


def test_a_kernel_is_verified_in_checked_mode() -> None:
    class Wrong(BinaryBackend):
        name = "wrong kernel"
        dispatch_priority = 1

        @planned
        def sin(self, out: Template, x: Template, /) -> Kernel:
            """Return a payload of the wrong size."""
            return lambda values: b"\0"

    with pytest.raises(ContractError, match="sin of the backend 'wrong kernel' to return the payload of f32"):
        tb.sin(tb.zeros(2, backend=Wrong()))


def test_a_number_is_data() -> None:
    class Planning(NumpyBackend):
        name = "planning"
        plans = 0

        @planned
        def multiply(self, out: Template, x1: Template, x2: Template, /) -> Kernel:
            """Return NumPy's own function."""
            Planning.plans += 1
            return np.multiply

    x = tb.tensor([1.0, 2.0], backend=Planning())
    assert [(x * value).tolist() for value in (2.0, 3.0, 4.0)] == [[2.0, 4.0], [3.0, 6.0], [4.0, 8.0]]
    assert Planning.plans == 1
    assert str((x * -0.0).tolist()) == "[-0.0, -0.0]"
    assert str((x * 0.0).tolist()) == "[0.0, 0.0]"
    assert Planning.plans == 1
    with pytest.raises(tb.errors.OutOfRangeError, match="multiply: expected a number from"):
        x * 1e39


def test_numbers_of_another_type_are_another_plan() -> None:
    x = tb.tensor([1, 2])
    for _ in range(2):
        assert (x * 2).dtype is tb.int64
        assert (x * 2.0).dtype is tb.float32
        assert (x * True).dtype is tb.int64
        with tb.precision(64):
            assert (x * 2.0).dtype is tb.float64


FRAMES = """
import sys
import numpy as np
import tensorbackend as tb

x = tb.asarray(np.ones((2, 2), np.float32), names=("r", "c"))
mask = tb.asarray([[True, False], [False, True]])
calls = [lambda: x + x, lambda: tb.sum(x, axis="c"), lambda: x[0], lambda: x[mask]]
for call in calls:
    for _ in range(3):
        call()
    entered = []
    sys.setprofile(lambda frame, event, argument: entered.append(frame) if event == "call" else None)
    call()
    sys.setprofile(None)
    print(len(entered) - 1)  # but for the call itself
"""


def test_functions_that_a_warm_call_enters() -> None:
    environment = {**os.environ, "TENSORBACKEND_CHECK": "0"}  # checked mode verifies each payload
    completed = subprocess.run(
        [sys.executable, "-c", FRAMES], env=environment, capture_output=True, text=True, check=True
    )
    assert all(count <= most for count, most in zip(map(int, completed.stdout.split()), (2, 3, 3, 6), strict=True))


def test_reports_stay_inside() -> None:
    x = tb.asarray(np.asarray([3e38, -1.0], np.float32))
    nothing = tb.asarray(np.asarray([0.0, 0.0], np.float32))
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        for _ in range(3):
            assert (x + x).tolist()[0] == float("inf")
            tb.sqrt(x), x / nothing, tb.log(nothing), tb.sum(x * x), tb.mean(x / nothing), tb.exp(x)
        assert np.geterr()["over"] == "warn"


def test_an_error_inside_is_not_a_sign_of_another_thread() -> None:
    calls = []

    def fails(x: Payload) -> Payload:
        calls.append(x)
        raise RuntimeError("a library's own")

    backend = NumpyBackend()
    with pytest.raises(RuntimeError, match="own"):
        backend.enter(fails)(1)
    assert calls == [1]


def test_threads_meet_in_a_kernel() -> None:
    backend, inside, leave = NumpyBackend(), threading.Event(), threading.Event()

    def waits(x: Payload) -> Payload:
        inside.set()
        leave.wait(10)
        return x

    first = threading.Thread(target=backend.enter(waits), args=(1,))
    first.start()
    assert inside.wait(10)
    assert backend.enter(operator.neg)(2) == -2
    leave.set()
    first.join()


def test_a_quick_form_that_is_busy_gives_way() -> None:
    context, calls = Context(), list[Any]()
    enter: Any = context.run

    def spare(x: Payload) -> Payload:
        calls.append(x)
        return -x

    kernel = QuickKernel(partial(enter, operator.neg), spare)
    assert quick_form(kernel) is kernel.quick
    assert quick_form(operator.neg) is operator.neg
    assert kernel(2) == -2
    assert calls == []
    assert enter(kernel, 3) == -3
    assert calls == [3]

    def fails(x: Payload) -> Payload:
        raise RuntimeError("cannot enter context: so says a function inside")

    with pytest.raises(RuntimeError, match="inside"):
        QuickKernel(partial(enter, fails), spare)(4)
    assert calls == [3]


def test_a_full_memo_loses_its_oldest_entry() -> None:
    memo: dict[Any, Any] = {}
    for key in range(MEMO_LIMIT + 1):
        remember(memo, key, key)
    assert 0 not in memo
    assert 1 in memo
    assert MEMO_LIMIT in memo


def test_the_signature_of_an_op_is_the_public_one() -> None:
    for op in (tb.sum, tb.add, tb.softmax, tb.linalg.qr, tb.concatenate):
        hints = typing.get_type_hints(op)
        first = next(iter(inspect.signature(op).parameters))
        assert "Template" not in str(hints[first])
        assert "Plan" not in str(hints["return"])
    assert list(inspect.signature(tb.sum).parameters) == ["x", "axis", "dtype", "keepdims"]
    assert inspect.signature(tb.sum).parameters["keepdims"].default is False
    assert typing.get_type_hints(tb.sum)["return"] is tb.Tensor
    assert str(inspect.signature(tb.exp)) == "(x: 'TensorLike', /) -> 'Tensor'"
    assert str(inspect.signature(tb.concatenate)).startswith("(tensors: 'Sequence[TensorLike]', ")
    assert str(inspect.signature(tb.linalg.eigh)).endswith("-> 'EighResult'")
