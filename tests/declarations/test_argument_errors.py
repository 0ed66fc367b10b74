"""Validation of arguments: wrong kinds of arguments raise errors, and valid ones pass through unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.declarations.argument_errors import check_arguments
from tensorbackend.errors import (
    ArgumentError,
    ArgumentKindError,
    DataError,
    DTypeError,
    IndexRangeError,
    OperandError,
    TemplateDataError,
    TensorBackendError,
)

X = tb.asarray([1.0, 2.0, 3.0], names=("n",))
COMPLEX = tb.asarray([1j])
anything: Any = tb  # untyped, for calls that a type checker refuses

WRONG: list[tuple[Callable[[], Any], type[TensorBackendError], str]] = [
    (lambda: anything.grad("text"), ArgumentKindError, "grad: expected a function, got function='text'"),
    (lambda: anything.jit(3), ArgumentKindError, "jit: expected a function, or None, got function=3"),
    (lambda: anything.zeros_like([1, 2]), OperandError,
     "zeros_like: expected a tensor, got x=[1, 2]; wrap it in asarray()"),
    (lambda: anything.load(3), OperandError, "load: expected the path of a file as str or os.PathLike, got path=3"),
    (lambda: anything.expand_dims(X, 0.5), ArgumentKindError,
     "expand_dims: expected an int, or a list or tuple, each an int"),
    (lambda: anything.sum(X, keepdims="no"), ArgumentError,
     "sum: expected keepdims to be True or False, got keepdims='no'"),
    (lambda: anything.std(X, keepdims="no"), ArgumentError,
     "std: expected keepdims to be True or False, got keepdims='no'"),
    (lambda: anything.top_k(X, 1.0), OperandError, "top_k: expected an int, or a tensor, got k=1.0; write 1"),
    (lambda: anything.jvp(tb.sum, memoryview(b"ab"), (1,)), ArgumentKindError, "jvp: expected a list or tuple, got "),
    (lambda: anything.tri("a"), ArgumentKindError, "tri: expected an int, got n_rows='a'"),
    (lambda: X[slice("a", None)], OperandError, "expected a slice between ints"),
    (lambda: tb.maximum(COMPLEX, 1), DTypeError, "maximum: expected a real dtype, got dtype=complex64; take real(x), "),
    (lambda: tb.full(2, 1j, dtype="f32"), DTypeError,
     "full: expected a number that float32 holds, got value=1j; take its real"),
    (lambda: tb.take(X, tb.asarray([-4])), IndexRangeError,
     "take of f32[n: 3], s64[1]: expected an index from -3 to 2, got index=-4"),
    (lambda: X[[0, -5]], IndexRangeError, "take of f32[n: 3], s64[n: 2]: expected an index from -3 to 2"),
    (lambda: tb.bincount(tb.asarray([-1])), DataError,
     "bincount of s64[1]: expected elements of at least 0"),
]  # fmt: skip


CALLBACKS = [
    ("tb.while_loop(lambda a, b: a < 3, lambda s: s, (0.0, 1.0))",
     "a function of 1 argument, got condition=<function <lambda>", "it takes the whole state, as in lambda state: "),
    ("tb.while_loop(lambda s: s[0] < 3, lambda a, b: (a + 1, b), (0.0, 1.0))", "1 argument, got body=", "whole state"),
    ("tb.fori_loop(0, 3, lambda x: x, 0.0)", "2 arguments, got body=", "the index and the state"),
    ("tb.scan(lambda c: c, 0.0, x)", "2 arguments, got function=", "the carry and an entry of xs"),
    ("tb.jit(lambda x: tb.scan(lambda c: c, 0.0, x))(x)", "2 arguments, got function=", "the carry and an entry of xs"),
    ("tb.associative_scan(lambda x: x, x)", "2 arguments, got function=", "it takes two values"),
    ("tb.cond(True, lambda x: x, lambda x: -x)", "0 arguments, got true_function=", "the operands follow the"),
    ("tb.cond(True, lambda x: x, lambda: x, x)", "1 argument, got false_function=", "the operands follow the"),
    ("tb.switch(1, [lambda x: x, lambda: x], x)", "1 argument, got functions=", "tb.switch(index, functions, x)"),
    ("tb.solvers.solve_ivp(lambda y: -y, (0, 1), x)", "2 arguments, got function=", "the time and the state"),
    ("tb.optimize.minimize(lambda a, b: a, (1.0, 1.0))", "1 argument, got function=", "it takes all values as one"),
    ("tb.optimize.root(lambda a, b: a, x)", "1 argument, got function=", "it takes all values as one"),
    ("tb.sparse.from_function(lambda a, b: a, 'f32[3]')", "1 argument, got function=", ""),
    ("tb.map(x, function=lambda a, b: a)", "1 argument, got function=", ""),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text", "remedy"), CALLBACKS, ids=[call for call, _, _ in CALLBACKS])
def test_a_function_that_takes_another_number_of_arguments(call: str, text: str, remedy: str) -> None:
    with pytest.raises(ArgumentKindError) as caught:
        eval(call, {"tb": tb, "x": X})
    assert text in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    "function",
    [lambda c, x: None + x, lambda c, x, y=1: len(x.size), lambda *both: both[0]()],
    ids=["none", "len", "call"],
)
def test_an_error_of_a_function_that_takes_its_arguments_stays(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError) as caught:
        tb.scan(function, 0.0, X)
    assert not isinstance(caught.value, TensorBackendError) or "a function of" not in str(caught.value)


@pytest.mark.parametrize(("call", "error", "text"), WRONG, ids=[text.partition(":")[0] for _, _, text in WRONG])
def test_wrong_kinds(call: Callable[[], Any], error: type[TensorBackendError], text: str) -> None:
    with pytest.raises(TensorBackendError) as caught:
        call()
    assert isinstance(caught.value, error)
    assert text in str(caught.value)


GONE = tb.ones(2)
GONE.backend_transfer("binary")

NAMED: list[tuple[Callable[[], Any], str]] = [
    # The text names the op that the user's code called, not one that this op calls.
    (lambda: tb.trunc(X > 1), "trunc: expected a real dtype"),
    (lambda: tb.softmax(COMPLEX, axis=0), "softmax: expected a real dtype"),
    (lambda: tb.window_mean(X, 2, strides=0), "window_mean: expected integers from 1"),
    (lambda: anything.take([{}], 0), "take: expected Python numbers"),
    (lambda: tb.searchsorted(X, X, sorter=X), "searchsorted: expected indices of an integer dtype"),
    (lambda: tb.ones(2, backend="neither"), "ones: expected the name of a backend"),
    (lambda: tb.zeros(2, backend="neither"), "zeros: expected the name of a backend"),
    (lambda: anything.random.choice(tb.random.key(0), 1, (0,), False, "text"), "choice: expected Python numbers"),
    (lambda: GONE + GONE, "add: expected a tensor that still has its data"),
    (lambda: tb.sum(GONE), "sum: expected a tensor that still has its data"),
    (lambda: X.item(), "item: expected a tensor of one element"),
    (lambda: X.backend_copy("neither"), "backend_copy: expected the name of a backend"),
    (lambda: tb.Template((2,), "neither"), "Template: expected a dtype"),
    (lambda: tb.iinfo("float32"), "iinfo: expected an integer dtype"),
    (lambda: tb.grad(tb.exp)(X), "grad: expected a scalar result"),
    (lambda: tb.vmap(tb.exp, in_axes=(0, 1))(X), "vmap: expected in_axes nested like the arguments"),
    # The name of an op that a function of the user calls stays.
    (lambda: tb.map(X > 1, function=lambda x: -x), "negative: expected a numeric dtype"),
    (lambda: tb.jit(lambda x: tb.sum(x, axis=7))(X), "sum: expected an axis"),
    (lambda: tb.vmap(lambda x: tb.sum(x, axis="m"))(X), "sum: expected "),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), NAMED, ids=[text for _, text in NAMED])
def test_an_error_names_the_op_that_the_user_called(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(TensorBackendError) as caught:
        call()
    assert str(caught.value).startswith(text)


def test_what_a_user_s_function_raises_passes_through() -> None:
    def fails(x: tb.Tensor) -> tb.Tensor:
        raise ValueError("mine")

    for transform in (tb.grad, tb.jit, tb.vmap):
        with pytest.raises(ValueError, match=r"^mine$"):
            transform(fails)(X)


def test_a_defect_of_ours_passes_through() -> None:
    @check_arguments
    def broken(number: int) -> int:
        raise ValueError("a defect")

    with pytest.raises(ValueError, match=r"^a defect$"):
        broken(3)


def test_a_tensor_is_shown_by_its_template() -> None:
    with pytest.raises(ArgumentKindError, match=r"got function=f32\[n: 3\]; write tb\.grad\(function\)\(x\)$"):
        anything.grad(X)


@pytest.mark.parametrize("call", [
    lambda number: tb.hessian(tb.sum, number), lambda number: tb.sum(tb.ones(3), axis=number),
    lambda number: tb.zeros(number), lambda number: tb.eye(number),
])  # fmt: skip
def test_a_number_that_a_template_does_not_have(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TemplateDataError, match=r"^\w+: expected a tensor with data, got tensor=s8"):
        call(tb.zeros((), dtype="s8", backend="template"))
