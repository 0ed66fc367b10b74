"""Arguments that share memory: a traced function that writes to one gives NumPy's number, or is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as ours

WRITES: Final = (
    "a[0] = 5",
    "b[0] = 5",
    "a[...] = 7",
    "a[1:] = 3",
    "a[::2] = a[::2] * 4",
    "a += 1",
    "b -= a",
    "np.add(a, 2, out=a)",
    "np.multiply(b, 2, out=b)",
    "np.negative(a, out=b)",
    "a.fill(3)",
    "a.sort()",
    "np.copyto(a, 4)",
    "np.add.at(a, 0, 1)",
    "a[[0, 1]] = 8",
    "a[a > 6] = 0",
    "v = a[1:]; v[0] = 9",
    "v = a.reshape(-1); v += 1",
    "v = a.T; v *= 2",
    "x = a; x[1] = b[0]",
    "old = a.copy(); a[...] = 0; c = c + np.sum(b); a[...] = old",
    "old = np.array(a); np.add(a, 1, out=a); c = c + b[0]; np.copyto(a, old)",
    "old = b.copy(); b[...] = a; a[...] = old",
    "if a.shape[0] > 1: a[1] = 2",
    "for i in range(3): a[i % 2] += i",
)
"""What a function may do to its arguments a and b, and what its result c is."""

READS: Final = (
    "c = a * 2",
    "c = a[0] - b[0]",
    "a = a + 1",
    "a = a.copy(); a[0] = 5",
    "a = np.array(a); a += 1",
    "v = (a * 1)[1:]; v[0] = 9",
)
"""What a function may do to arguments that share memory in any way."""

SHARED: Final[dict[str, Callable[[Any, Any], tuple[Any, Any]]]] = {
    "same": lambda x, y: (x, x),
    "whole view": lambda x, y: (x, x[:]),
    "rows": lambda x, y: (x[1:], x[:-1]),
    "columns": lambda x, y: (x[:, 1:], x[:, :-1]),
    "part": lambda x, y: (x, x[1:]),
    "reshaped": lambda x, y: (x, x.reshape(2, 8)),
    "transposed": lambda x, y: (x, x.T),
    "views of a view": lambda x, y: (x[1:][:2], x[:3][1:]),
}
APART: Final[dict[str, Callable[[Any, Any], tuple[Any, Any]]]] = {
    "others": lambda x, y: (x, y),
    "copy": lambda x, y: (x, x.copy()),
    "halves": lambda x, y: (x[:2], x[2:]),
    "every other column": lambda x, y: (x[:, ::2], x[:, 1::2]),
}
WAYS: Final = SHARED | APART

CODE: Final = {text: compile(text, text, "exec") for text in WRITES + READS}

Program = Callable[[Any, Any], Any]


def program(np: Any, text: str) -> Program:
    """A function that does something to its arguments; its result tells each element of both."""

    def function(a: Any, b: Any) -> Any:
        scope = {"np": np, "a": a, "b": b, "c": 0.0}
        exec(CODE[text], scope)
        seen = 0.0
        for weight, part in ((1.0, scope["a"]), (100.0, scope["b"]), (1.0, scope["c"])):
            seen = seen + weight * np.sum(np.arange(1.0, np.size(part) + 1).reshape(np.shape(part)) * part)
        return seen

    return function


def arguments(np: Any, way: str) -> tuple[Any, Any]:
    return WAYS[way](np.array(numpy.arange(16.0).reshape(4, 4)), np.array(numpy.arange(3.0, 19.0).reshape(4, 4)))


def value_of_gradient(function: Program, a: Any, b: Any) -> Any:
    return tb.value_and_grad(function, (0, 1))(a, b)[0]


def loop(function: Program, a: Any, b: Any) -> Any:
    def body(i: Any, carry: Any) -> Any:
        a, b, total = carry
        return a, b, total + function(a, b)

    return tb.fori_loop(0, 3, body, (a, b, ours.array(0.0)))[2]


def loop_while(function: Program, a: Any, b: Any) -> Any:
    def body(carry: Any) -> Any:
        i, (a, b), total = carry
        return i + 1, (a, b), total + function(a, b)

    return tb.while_loop(lambda carry: carry[0] < 3, body, (0, (a, b), ours.array(0.0)))[2]


def scan(function: Program, a: Any, b: Any) -> Any:
    def step(carry: Any, x: Any) -> Any:
        a, b, total = carry
        return (a, b, total + function(a, b)), x

    return tb.scan(step, (a, b, ours.array(0.0)), ours.arange(3))[0][2]


def by_name(function: Any, a: Any, b: Any) -> Any:
    compiled: Any = tb.jit(function)
    return compiled(a, b=b)


def warm(function: Program, a: Any, b: Any) -> Any:
    """The result of a function that was compiled, and called, for arguments of such shapes."""
    compiled = tb.jit(function)
    for _ in range(3):
        compiled(ours.array(a), ours.array(b))
    return compiled(a, b)


ONCE: Final[dict[str, Callable[[Program, Any, Any], Any]]] = {
    "jit": lambda f, a, b: tb.jit(f)(a, b),
    "jit, warm": warm,
    "jit of a tree": lambda f, a, b: tb.jit(lambda tree: f(tree["x"], *tree["y"]))({"x": a, "y": [b]}),
    "jit by name": by_name,
    "jit of a branch": lambda f, a, b: tb.jit(lambda a, b: tb.cond(True, f, f, a, b))(a, b),
    "jit of a checkpoint": lambda f, a, b: tb.jit(tb.checkpoint(f))(a, b),
    "value_and_grad": value_of_gradient,
    "value_and_grad of one": lambda f, a, b: tb.value_and_grad(f)(a, b)[0],
    "value_and_grad of a checkpoint": lambda f, a, b: value_of_gradient(tb.checkpoint(f), a, b),
    "value_and_grad of jit": lambda f, a, b: value_of_gradient(tb.jit(f), a, b),
    "vjp": lambda f, a, b: tb.vjp(f, a, b)[0],
    "jvp": lambda f, a, b: tb.jvp(f, (a, b), (ours.ones_like(a), ours.ones_like(b)))[0],
    "value_and_grad of an op of the program's": lambda f, a, b: value_of_gradient(
        tb.custom_gradient(lambda a, b: (f(a, b), lambda slope: (a, b))), a, b
    ),
    "cond": lambda f, a, b: tb.cond(True, f, f, a, b),
    "switch": lambda f, a, b: tb.switch(1, [f, f, f], a, b),
    "checkpoint": lambda f, a, b: tb.checkpoint(f)(a, b),
}
THRICE: Final = {"fori_loop": loop, "while_loop": loop_while, "scan": scan}
EACH: Final[dict[str, Callable[[Program, Any, Any], Any]]] = {
    "vmap": lambda f, a, b: tb.vmap(f)(a, b),
    "vmap of a dictionary": lambda f, a, b: tb.vmap(lambda pair: f(pair["x"], pair["y"]))({"x": a, "y": b}),
    "jit of vmap": lambda f, a, b: tb.jit(tb.vmap(f))(a, b),
    "map_along_axis": lambda f, a, b: tb.map_along_axis(lambda pair: f(*pair), (a, b)),
}
WRITING_ARGUMENTS: Final = ("value_and_grad of one", "checkpoint")
"""What writes to the caller's arrays."""


def expected(transform: str, text: str, way: str) -> Any:
    """NumPy's result; `None` for a program that NumPy refuses, or whose examples write to each other's arguments."""
    function = program(numpy, text)
    a, b = arguments(numpy, way)
    try:
        if transform in ONCE:
            return function(a, b)
        if transform in THRICE:
            return sum(function(a, b) for _ in range(3))
        return numpy.array([function(*rows) for rows in zip(a, b, strict=True)])
    except (ValueError, IndexError):
        return None


def found(transform: str, texts: tuple[str, ...], ways: dict[str, Any], may_refuse: bool) -> Iterator[Any]:
    """What is another number than NumPy's, or was refused though nothing is shared, or cannot be read afterwards."""
    run = (ONCE | THRICE | EACH)[transform]
    for text in texts:
        for way in ways:
            right = expected(transform, text, way)
            if right is None:
                continue
            a, b = arguments(ours, way)
            before = a.tolist(), b.tolist()
            try:
                got: Any = numpy.asarray(run(program(ours, text), a, b))
            except tb.errors.ArgumentError as error:
                got = right if may_refuse and "share no memory" in str(error) else error
            except tb.errors.BackendError as error:  # a traced value for an array that the gradient is not by
                got = right if transform == "value_and_grad of one" else error
            after = a.tolist(), b.tolist()
            if isinstance(got, Exception) or not numpy.allclose(got, right, rtol=1e-6):
                yield text, way, got, right
            elif before != after and transform not in WRITING_ARGUMENTS:
                yield text, way, before, after


def assert_none(wrong: list[Any]) -> None:
    if wrong:
        pytest.fail(f"{len(wrong)} differ:\n" + "\n".join(str(each)[:600] for each in wrong[:8]), pytrace=False)


@pytest.mark.parametrize("transform", [*ONCE, *THRICE, *EACH])
def test_a_write_to_a_shared_argument_is_as_in_numpy_or_refused(transform: str) -> None:
    assert_none([*found(transform, WRITES, SHARED, may_refuse=True)])


@pytest.mark.parametrize("transform", [*ONCE, *THRICE, *EACH])
def test_what_shares_nothing_or_writes_nothing_is_not_refused(transform: str) -> None:
    assert_none([*found(transform, READS, WAYS, may_refuse=False)])
    assert_none([*found(transform, WRITES, APART, may_refuse=False)])


@pytest.mark.parametrize("text", WRITES + READS)
def test_values_that_a_body_returns_twice_share_its_writes(text: str) -> None:
    """As in Python, the next iteration gets one array twice."""

    def both(f: Program, carry: Any) -> Any:
        a, b, total = carry
        return a, a, total + f(a, b)

    def repeat(f: Program, a: Any, b: Any) -> Any:
        return tb.fori_loop(0, 3, lambda i, carry: both(f, carry), (a, b, ours.array(0.0)))[2]

    right: Any = (*arguments(numpy, "others"), 0.0)
    for _ in range(3):
        right = both(program(numpy, text), right)
    got: Any
    try:
        got = repeat(program(ours, text), *arguments(ours, "others"))
    except tb.errors.ArgumentError as error:
        got = right[2] if text in WRITES and "share no memory" in str(error) else error
    assert_none([] if numpy.allclose(numpy.asarray(got, float), right[2]) else [(text, got, right[2])])


TENSOR_WRITES: Final = (
    "a[0] = 5",
    "b[0] = 5",
    "a[...] = b * 2",
    "a[1:] = 3",
    "a[a > 6] = 0",
    "x = a; x[1] = 2",
    "for i in range(3): a[i] = b[i] + 1",
    "old = tb.tensor(a); a[...] = 0; c = c + tb.sum(b); a[...] = old",
    "a = tb.tensor(a); a[0] = 5",
    "a += 1",
    "c = a * b",
)
TENSOR_TRANSFORMS: Final = {
    name: run for name, run in ONCE.items() if name not in ("jit, warm", "jvp", "value_and_grad of one")
}


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
@pytest.mark.parametrize("transform", TENSOR_TRANSFORMS)
def test_one_tensor_as_two_arguments_is_as_in_an_eager_call_or_refused(transform: str, backend: str) -> None:
    with tb.default_backend(backend):
        assert_none([*found_in_tensors(transform, TENSOR_WRITES if backend == "numpy" else TENSOR_WRITES[:3])])


def found_in_tensors(transform: str, texts: tuple[str, ...]) -> Iterator[Any]:
    """What is another number than that of an eager call, or was refused though nothing is written to."""
    for text in texts:
        code = compile(text, text, "exec")

        def function(a: Any, b: Any, code: Any = code) -> Any:
            scope = {"tb": tb, "a": a, "b": b, "c": 0.0}
            exec(code, scope)
            weights = tb.arange(1.0, 9.0)
            return tb.sum(weights * (scope["a"] + 100 * scope["b"] + scope["c"]))

        x, y = (tb.arange(8.0) for _ in range(2))
        right = function(y, y).item()
        try:
            got = TENSOR_TRANSFORMS[transform](function, x, x).item()
        except tb.errors.ArgumentError as error:
            got = right if "share no memory" in str(error) and text in TENSOR_WRITES[:8] else error
        if got != right or (transform != "checkpoint" and x.tolist() != [*map(float, range(8))]):
            yield text, got, right, x.tolist()
