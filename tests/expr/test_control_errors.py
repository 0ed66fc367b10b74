"""Mistakes in control flow: found before anything runs, with the same text on every backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.errors import (
    ArgumentError,
    AxisError,
    BackendError,
    DTypeError,
    NamesError,
    OperandError,
    ShapeError,
    TemplateDataError,
    TensorBackendError,
)

BACKENDS = ["numpy", "binary", "jax"]


def x3(*, names: Any = None, dtype: str = "f32") -> tb.Tensor:
    return tb.asarray([1.5, -2.0, 4.0], dtype=dtype, names=names)


@dataclass
class State:
    value: tb.Tensor
    count: Any


Wrong = Callable[[tb.Tensor], Any]
MISTAKES: list[tuple[str, Wrong, type[TensorBackendError], str]] = [
    ("int predicate", lambda x: tb.cond(x[0], lambda: x, lambda: x), DTypeError,
     "cond: expected a predicate of dtype bool, got predicate=f32; compare it, such as x != 0"),
    ("number predicate", lambda x: tb.cond(1, lambda: x, lambda: x), DTypeError,
     "cond: expected a predicate of dtype bool, got predicate=s64; compare it, such as x != 0"),
    ("several predicates", lambda x: tb.cond(x > 0, lambda: x, lambda: x), ShapeError,
     "cond: expected a predicate without axes, got predicate=pred[3]; "
     "reduce it with any() or all(), or choose elements with where()"),
    ("condition", lambda x: tb.while_loop(lambda c: c, lambda c: c, x), DTypeError,
     "while_loop: expected a condition of dtype bool, got condition=f32[3]; compare it, such as x != 0"),
    ("dtypes of branches", lambda x: tb.cond(
        True, lambda: {"a": [x]}, lambda: {"a": [tb.astype(x, "f64")]}), DTypeError,
     "cond: expected result['a'][0] to be the same from both functions, f32[3], got false_function=f64[3]; "
     "cast it in one of them with astype(..., 'float32')"),
    ("shapes of branches", lambda x: tb.cond(True, lambda: x, lambda: x[1:]), ShapeError,
     "cond: expected result to be the same from both functions, f32[3], got false_function=f32[2]; "
     "reshape, reduce or broadcast it in one of them"),
    ("names of branches", lambda x: tb.cond(True, lambda: x.rename("n"), lambda: x), NamesError,
     "cond: expected result to be the same from both functions, f32[n: 3], got false_function=f32[3]; "
     "name its axes in one of them with rename('n')"),
    ("number of a branch", lambda x: tb.cond(True, lambda: 1.5, lambda: tb.argmax(x)), DTypeError,
     "cond: expected result to be the same from both functions, f32, got false_function=s64; "
     "cast it in one of them with astype(..., 'float32')"),
    ("trees of branches", lambda x: tb.cond(True, lambda: {"a": (x, x)}, lambda: {"a": [x, x]}), ArgumentError,
     "cond: expected result['a'] to be the same from both functions, a tuple of 2, got returned=a list of 2; "
     "keep every value in its place, in the same kind of container"),
    ("carried dtype", lambda x: tb.while_loop(
        lambda c: True, lambda c: {"state": [c["state"][0] > 0]}, {"state": [x]}), DTypeError,
     "while_loop: expected carry['state'][0] to stay f32[3] from iteration to iteration, got returned=pred[3]; "
     "cast it in the body with astype(..., 'float32')"),
    ("carried shape", lambda x: tb.fori_loop(0, 2, lambda i, c: State(c.value, c.count + x), State(x, 0.0)), ShapeError,
     "fori_loop: expected carry.count to stay f32 from iteration to iteration, got returned=f32[3]; "
     "reshape, reduce or broadcast it in the body"),
    ("carried names", lambda x: tb.scan(lambda c, y: (tb.flip(c).rename("n"), y), x, x), NamesError,
     "scan: expected carry to stay f32[3] from iteration to iteration, got returned=f32[n: 3]; "
     "name its axes in the body with rename(None)"),
    ("carried names, lost",
     lambda x: tb.fori_loop(0, 1, lambda i, c: tb.reshape(c, (3,), names=(None,)), x.rename("n")), NamesError,
     "fori_loop: expected carry to stay f32[n: 3] from iteration to iteration, got returned=f32[3]; "
     "name its axes in the body with rename('n')"),
    ("carried number", lambda x: tb.while_loop(lambda c: True, lambda c: tb.argmax(x), 0.5), DTypeError,
     "while_loop: expected carry to stay f32 from iteration to iteration, got returned=s64; "
     "cast it in the body with astype(..., 'float32')"),
    ("carried number of 32 bits", lambda x: tb.scan(lambda c, y: (c + y, c), tb.zeros(()), tb.astype(x, "f64")),
     DTypeError,
     "scan: expected carry to stay f32 from iteration to iteration, got returned=f64; "
     "start with dtype 'float64', or cast it in the body with astype(..., 'float32')"),
    ("carried tree", lambda x: tb.fori_loop(0, 2, lambda i, c: (c[0], (c[1], None)), (x, (x, x))), ArgumentError,
     "fori_loop: expected carry[1][0] to keep its nesting, a tensor, got returned=a tuple of 2; "
     "keep every value in its place, in the same kind of container"),
    ("carried keys", lambda x: tb.while_loop(lambda c: True, lambda c: {}, {"a": x}), ArgumentError,
     "while_loop: expected carry to keep its nesting, a dict of 'a', got returned=a dict of nothing; "
     "keep every value in its place, in the same kind of container"),
    ("carried text", lambda x: tb.while_loop(lambda c: True, lambda c: c, ["a"]), OperandError,
     "while_loop: expected a tensor, a number or an array as carry[0], got value='a'; leave it out"),
    ("no pair", lambda x: tb.scan(lambda c, x: c, 0.0, x), OperandError,
     "scan: expected a function that returns a pair (carry, y), got returned=<class 'tensorbackend.tensor.Tensor'>"),
    ("no length", lambda x: tb.scan(lambda c, x: (c, c), 0.0), ArgumentError,
     "scan: expected xs or a length, got xs=None; pass length= for a scan without xs"),
    ("lengths", lambda x: tb.scan(lambda c, x: (c, c), 0.0, (x, x[1:])), ShapeError,
     "scan: expected xs[1] to have 3 entries, as xs[0] has, got given=f32[2]; scan axes of one size"),
    ("length", lambda x: tb.scan(lambda c, x: (c, c), 0.0, x, length=4), ShapeError,
     "scan: expected xs to have 4 entries, as length= says, got given=f32[3]; scan axes of one size"),
    ("no axis", lambda x: tb.scan(lambda c, x: (c, c), 0.0, {"a": x}, axis="time"), AxisError,
     "scan: xs['a']: expected an axis name of f32[3], got axis='time'"),
    ("two names", lambda x: tb.scan(lambda c, x: (c, c), 0.0, [x.rename("a"), x.rename("b")]), NamesError,
     "scan: expected the scanned axis of xs[1] to be named 'a', got given=f32[b: 3]; rename() one of them"),
    ("number to scan", lambda x: tb.scan(lambda c, x: (c, c), 0.0, [x, 1.0]), OperandError,
     "scan: expected xs[1] as a tensor with an axis to scan, got given=1.0; close over numbers"),
    ("bound", lambda x: tb.fori_loop(0, x[0], lambda i, c: c, 0.0), DTypeError,
     "fori_loop: expected upper as an integer without axes, got upper=f32; cast it with astype()"),
    ("limit", lambda x: tb.while_loop(lambda c: True, lambda c: c, x, limit=-1), ArgumentError,
     "while_loop: expected a limit of at least 0 iterations, got limit=-1"),
    ("inside", lambda x: tb.fori_loop(0, 2, lambda i, c: c + x[:2], x), ShapeError, "add: expected sizes"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wrong", "kind", "text"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_mistakes(name: str, wrong: Wrong, kind: type[TensorBackendError], text: str) -> None:
    messages = set()
    for backend in (*BACKENDS, "template"):
        with tb.default_backend(backend), pytest.raises(kind) as caught:
            wrong(x3().backend_copy(backend))
        messages.add(str(caught.value))
    with pytest.raises(kind) as caught:
        tb.trace(wrong)("f32[3]")
    messages.add(str(caught.value))
    assert len(messages) == 1
    assert messages.pop().startswith(text)


def test_data_is_not_read_in_a_body() -> None:
    with pytest.raises(TemplateDataError, match=r"where\(\) or tb.cond\(\)"):
        tb.fori_loop(0, 3, lambda i, c: c if i else c + 1, 0)


def test_backends_do_not_mix() -> None:
    with pytest.raises(BackendError, match="tensors on one backend"):
        tb.cond(tb.asarray(True), lambda x, y: x, lambda x, y: y, x3(), x3().backend_copy("jax"))


def test_a_condition_follows_the_operands() -> None:
    assert tb.cond(tb.asarray(True), lambda x: x, lambda x: x, x3().backend_copy("jax")).backend.name == "jax"
