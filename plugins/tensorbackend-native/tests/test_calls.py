"""Calls that are ready give in C what they give in Python: results to the bit, errors, interrupts, and no leaks."""

from __future__ import annotations

import copy
import gc
import inspect
import itertools
import operator
import os
import pickle
import random
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
import tensorbackend as tb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tensorbackend.cli import main
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dispatch.native_calls import Call
from tensorbackend.dtypes import ALL_DTYPES
from tensorbackend.testing.calls import calls, has_generator
from tensorbackend.testing.source import public
from tensorbackend.testing.wrong_calls import subjects, wrong_call

import tensorbackend_native

pytestmark = pytest.mark.skipif(Call is None, reason="builds without the global lock have no such calls")

NATIVE = sorted(name for name in OPS if isinstance(public(name), Call) and has_generator(name))
"""The ops with such calls."""


def told(value: Any) -> Any:
    """What a result is, to the bit; but of NaN, whose sign Python's own complex numbers draw again at each call."""
    if isinstance(value, tb.Tensor):
        return value.template, value.backend, repr(value.tolist())
    if isinstance(value, tuple):
        return type(value), [told(part) for part in value]
    return type(value), repr(value)


def outcome(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """What a call returns or raises."""
    try:
        return told(function(*arguments, **keywords))
    except Exception as error:
        context = error.__context__
        about = None if isinstance(context, RecursionError) else str(context)  # which says where it was noticed
        return type(error), str(error), type(context), about, getattr(error, "__notes__", None)


def in_python(function: Any) -> Callable[..., Any]:
    """The same function without C."""
    generated: Callable[..., Any] = function.__call__
    return generated


def check(function: Any, /, *arguments: Any, **keywords: Any) -> None:
    """Compares a call of which nothing is known, and then of which everything is known."""
    expected = outcome(in_python(function), *arguments, **keywords)
    for _ in range(2):
        assert outcome(function, *arguments, **keywords) == expected


# Results and errors


@settings(deadline=None, max_examples=400, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_calls_of_every_op(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NATIVE))
    invocation = data.draw(calls(name, data.draw(st.sampled_from(ALL_DTYPES))))
    invocation = invocation.on(data.draw(st.sampled_from(["numpy", "binary"])))
    check(public(name), *invocation.arguments, **invocation.options)


def test_wrong_calls_of_every_function() -> None:
    draw = random.Random(3)
    native = [subject for subject in subjects().values() if isinstance(subject.function, Call)]
    assert len(native) > 150
    for subject in draw.choices(native, k=600):
        call = wrong_call(draw, subject, "numpy")
        check(subject.function, *call.arguments, **call.keywords)


OPERANDS: tuple[Any, ...] = (
    tb.asarray([1.5, -2.0]),
    tb.asarray([1.5, -2.0], names="n"),
    tb.asarray([3.0, 0.0], dtype="float64"),
    tb.asarray([[3, 4], [5, 6]], names=("m", "n")),
    tb.asarray([True, False]),
    tb.asarray([2, 3], dtype="uint8"),
    tb.asarray([1j, 2.0]),
    tb.asarray([1.0, 2.0], dtype="bfloat16"),
    tb.asarray(2.0),
    tb.zeros((0,)),
    tb.zeros((2, 0)),
    tb.asarray([1.0, 2.0, 3.0]),
    tb.asarray([1.5, -2.0], backend="binary"),
    np.asarray([1.0, 2.0]),
    np.float32(1.5),
    np.int64(3),
    0.0,
    -0.0,
    2,
    300,
    2**70,
    True,
    1j,
    float("nan"),
    "text",
    None,
    [1.0, 2.0],
)
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "eq", "and"]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_between_all_kinds_of_operands(name: str) -> None:
    method, reflected = vars(tb.Tensor)[f"__{name}__"], vars(tb.Tensor).get(f"__r{name}__")
    assert isinstance(method, Call)
    for x, y in itertools.product(OPERANDS, OPERANDS):
        if isinstance(x, tb.Tensor):
            check(method, x, y)
            if isinstance(reflected, Call):
                check(reflected, x, y)


KEYS: tuple[Any, ...] = (
    0, -1, 5, True, slice(1), slice(None, None, -1), ..., None, "n", 1.0, (), (0, 0), (slice(None), 0), (..., None),
    (0, 0, 0), [0, 1], [True, False], np.int64(1), tb.asarray(1), tb.asarray([0, 0]), tb.asarray([0, 9]),
    tb.asarray([True, False]), tb.asarray([0], backend="binary"), (slice(None), tb.asarray([0, 1])), (0, [1]),
)  # fmt: skip


def test_indexing_by_all_kinds_of_keys() -> None:
    for x, key in itertools.product(OPERANDS, KEYS):
        if isinstance(x, tb.Tensor):
            check(vars(tb.Tensor)["__getitem__"], x, key)


def test_settings_are_those_of_the_call() -> None:
    x, counts = tb.asarray([1.5, 2.0]), tb.asarray([1, 2])
    for _ in range(3):
        for bits in (16, 32, 64):
            with tb.precision(bits):
                check(tb.divide, counts, counts)
                check(tb.mean, counts)
                check(tb.multiply, counts, 2.5)
        with tb.precision(64, cast=True):
            check(tb.add, x, x)
            check(tb.sum, x, axis=0)
        check(tb.add, x, x)


def test_tensors_without_data_and_subclasses() -> None:
    class Named(tb.Tensor):
        __slots__ = ()

    x, gone = tb.asarray([1.0, 2.0]), tb.asarray([1.0, 2.0]) + 1
    gone.backend_deallocate()
    named: Any = Named(x.template, x.backend, x.data)
    for function, arguments in [(tb.add, (x, gone)), (tb.exp, (gone,)), (tb.sum, (gone,)), (tb.add, (named, x))]:
        check(function, *arguments)
    blank = object.__new__(tb.Tensor)
    check(tb.exp, blank)
    check(tb.add, x, blank)
    check(tb.sum, blank)


def test_transforms_trace_it() -> None:
    x = tb.asarray([1.0, 2.0])
    assert tb.grad(lambda x: tb.sum(x * x + 2.0))(x).tolist() == [2.0, 4.0]
    assert tb.jit(tb.add)(x, x).tolist() == [2.0, 4.0]
    assert tb.vmap(tb.add)(x, x).tolist() == [2.0, 4.0]


# Kernels that fail, threads


def frames(function: Callable[[], object]) -> list[str]:
    """The functions of the library's generated code that a call enters."""
    entered = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call" and "<op" in frame.f_code.co_filename:
            entered.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return entered


X, Y = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("m", "n")), tb.asarray([1.0, 2.0])
READY: dict[str, Callable[[], object]] = {
    "an operator": lambda: Y + Y,
    "a number": lambda: Y * 2.0,
    "a number in front": lambda: 2.0 - Y,
    "one operand": lambda: tb.exp(Y),
    "an option": lambda: tb.sum(X, axis="n"),
    "options": lambda: tb.sum(X, axis=(0, 1), keepdims=True),
    "a method": lambda: Y.sum(axis=0),
    "a shape": lambda: tb.reshape(Y, (2, 1)),
    "a list": lambda: tb.stack([Y, Y]),
    "an int as a key": lambda: X[0],
    "a tuple as a key": lambda: X[:, 0],
    "a mask as a key": lambda: Y[Y > 1],
    "several results": lambda: tb.unstack(X),
    "three operands": lambda: tb.where(Y > 1, Y, 0.0),
}


@pytest.mark.parametrize("name", READY)
def test_a_ready_call_enters_no_generated_code(name: str) -> None:
    for _ in range(5):
        READY[name]()
    assert frames(READY[name]) == []


class Kernel:
    """Takes the place of the kernel of a ready call of one tensor."""

    def __init__(self, op: Any, x: tb.Tensor) -> None:
        op(x)
        op(x)
        self.level = op.__globals__["_calls"][x.backend]
        self.key, self.before = x.template, self.level[x.template]

    def __call__(self, kernel: Callable[..., Any]) -> None:
        self.level[self.key] = self.before[0], kernel, self.before[2]

    def restore(self) -> None:
        self.level[self.key] = self.before


@pytest.mark.parametrize("error", [ValueError("a"), RuntimeError("b"), MemoryError(), tb.errors.DataError("c: d")])
def test_an_error_of_a_kernel(error: Exception) -> None:
    x = tb.asarray([1.0, 5.0, 7.0])
    kernel, ran = Kernel(tb.exp, x), []

    def fails(data: Any) -> Any:
        ran.append(data)
        raise error

    try:
        kernel(fails)
        expected = outcome(in_python(tb.exp), x)
        error.__traceback__ = error.__context__ = None
        assert outcome(tb.exp, x) == expected
        assert len(ran) == 2
    finally:
        kernel.restore()


def test_an_interrupt_of_a_kernel_is_raised_at_once() -> None:
    x = tb.asarray([1.0, 5.0, 7.0, 9.0])
    kernel, ran = Kernel(tb.exp, x), []

    def interrupted(data: Any) -> Any:
        ran.append(data)
        raise KeyboardInterrupt

    try:
        kernel(interrupted)
        with pytest.raises(KeyboardInterrupt):
            tb.exp(x)
        assert len(ran) == 1
    finally:
        kernel.restore()
    assert tb.exp(x).shape == (4,)


def test_a_busy_context_is_left_to_another() -> None:
    x = tb.asarray([1.0, 2.0])
    expected, backend = told(x + x), cast(Any, x.backend)
    assert backend.silent._context.run(lambda: told(x + x)) == expected


def test_threads_get_what_one_thread_gets() -> None:
    x = tb.asarray(np.arange(1000.0))
    expected, wrong = told(tb.sum(x * 2.0 + x, axis=0)), []

    def work() -> None:
        for _ in range(300):
            if told(tb.sum(x * 2.0 + x, axis=0)) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# References


def repeated(times: int) -> None:
    wrong, key = tb.asarray([1.0, 2.0, 3.0]), (slice(None), 0)
    add, total, stack = tb.add, tb.sum, tb.stack
    for number in range(times):
        add(Y, Y)
        Y * 2.5
        3.5 - Y
        total(X, axis="n", keepdims=True)
        total(X, axis=(0, 1))
        stack([Y, Y])
        X[0]
        X[key]
        Y[Y > 1]
        tb.unstack(X)
        if number % 100 == 0:
            wrong_calls: list[Any] = [(add, (Y, wrong)), (tb.Tensor.__getitem__, (Y, 9)), (total, (Y, 1, 2, 3))]
            for function, arguments in wrong_calls:
                try:
                    function(*arguments)
                except Exception:  # what it is, other tests say
                    continue
                raise AssertionError(function)


def test_nothing_is_kept() -> None:
    counted = (X, Y, X.template, Y.template, Y.backend, tb.add, None, 2.5)

    def counts() -> list[int]:
        gc.collect()
        return [sys.getallocatedblocks(), *map(sys.getrefcount, counted)]

    repeated(300)
    before = counts()
    repeated(10_000)
    after = counts()
    assert all(abs(late - early) < 300 for early, late in zip(before, after, strict=True)), (before, after)


# The function itself


def test_an_op_is_the_function_to_whoever_asks() -> None:
    assert isinstance(tb.add, Call)
    function: Any = tb.add
    assert inspect.isfunction(function)
    assert str(inspect.signature(function)) == "(x1: 'TensorLike', x2: 'TensorLike', /) -> 'Tensor'"
    assert function.__name__ == "add"
    assert repr(function).startswith("<function add at")
    assert inspect.getdoc(function)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(function, protocol)) is function
    assert copy.copy(function) is copy.deepcopy(function) is function
    assert weakref.ref(function)() is function
    assert {function: 1}[tb.add] == 1
    assert function == tb.add != tb.subtract
    x = tb.asarray([1.0])
    assert x.__add__(x).tolist() == operator.methodcaller("__add__", x)(x).tolist() == [2.0]
    with pytest.raises(AttributeError, match="'function' object has no attribute 'reduce'"):
        tb.add.reduce  # noqa: B018


def test_the_environment_turns_it_off() -> None:
    program = "import tensorbackend as tb; print(type(tb.add).__name__)"
    for value, expected in {"0": "function", "1": "Call"}.items():
        environment = os.environ | {"TENSORBACKEND_NATIVE": value}
        shown = subprocess.run([sys.executable, "-P", "-c", program], env=environment, capture_output=True, text=True)
        assert (shown.stdout.strip(), shown.stderr) == (expected, "")


def test_info_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "numpy"]) == 0
    assert f"tensorbackend-native {tensorbackend_native.__version__}: warm calls run in C" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change", [{1: []}, {3: ()}, {4: "tx"}, {4: "kt"}, {4: "t" * 17}, {5: (1,)}, {6: 3}, {6: -1}, {4: "zz" * 8}]
)
def test_wrong_declarations_are_errors(change: dict[int, Any]) -> None:
    right: list[Any] = [len, {}, len, (None, None), "tt", (0, 0), 2, True, False, True, False, False]
    assert Call(*right)([1]) == 1
    for place, value in change.items():
        right[place] = value
    with pytest.raises((TypeError, ValueError), match="Call"):
        Call(*right)
