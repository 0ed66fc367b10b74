"""Traced functions: texts, constants with data, arrays of other libraries, and values that may not leave a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import BackendError, DTypeError, ShapeError, TemplateDataError
from tensorbackend.expr.kept_nodes import NODES

Function = Callable[..., Any]

X = tb.asarray([1.0, 2.0])

# Texts


def test_a_text_is_an_option_but_for_traces_that_read_templates_from_it() -> None:
    def chosen(x: tb.Tensor, how: str) -> tb.Tensor:
        return tb.sum(x) if how in ("sum", "f32") else tb.max(x)

    for how, expected in (("sum", 3.0), ("f32", 3.0), ("greatest", 2.0), ("f32[2]", 2.0)):
        assert tb.jit(chosen)(X, how).item() == expected
        assert tb.value_and_grad(chosen)(X, how)[0].item() == expected
        assert tb.vmap(chosen, in_axes=(0, None))(tb.stack([X, X]), how).tolist() == [expected] * 2


def test_a_trace_reads_what_looks_like_a_template() -> None:
    graph = tb.trace(lambda x, how, shift: (tb.sum(x) if how == "sum" else x) + shift)("f32[n=2]", "sum", " f32 ")
    assert graph.names == ("x", "shift")
    assert tb.dry_run(lambda x, how: tb.sum(x), "f32[3]", "in this way").flops == 2
    with pytest.raises(DTypeError, match="expected a dtype, got dtype='f33'"):
        tb.trace(lambda x: x)("f33[n=2]")
    with pytest.raises(ShapeError, match="a template such as"):
        tb.trace(lambda x: x)("float32(2)")


# Constants


TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "itself": lambda f: f,
    "jit": tb.jit,
    "trace": lambda f: lambda x: tb.trace(f)(x.template)(x),
    "grad": lambda f: lambda x: tb.value_and_grad(lambda x: (tb.sum(f(x)), f(x)), has_aux=True)(x)[0][1],
    "vmap": lambda f: lambda x: tb.vmap(f)(tb.expand_dims(x))[0],
    "cond": lambda f: lambda x: tb.cond(tb.sum(x) > 0, f, f, x),
    "scan": lambda f: lambda x: tb.scan(lambda carry, _: (carry, f(carry)), x, length=1)[1][0],
}


@pytest.mark.parametrize("backend", ["numpy", "binary", "jax"])
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_constants_follow_the_operands(transform: str, backend: str) -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        total: tb.Tensor = x * numpy.asarray([2.0, 3.0], "float32")
        if transform != "itself" or backend == "numpy":
            total = total + tb.asarray([1.0, 0.0]) * tb.asarray(numpy.ones(2, "float32"))
        else:
            total = total + tb.asarray([1.0, 0.0], backend=backend)
        return total

    result = TRANSFORMS[transform](function)(X.backend_copy(backend))
    assert (result.tolist(), result.backend.name) == ([3.0, 6.0], backend)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    "mask", [numpy.asarray([False, True]), [False, True], tb.asarray([False, True])], ids=["array", "list", "tensor"]
)
def test_constant_masks_and_counts_have_data(transform: str, mask: Any) -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        joined: tb.Tensor = tb.concat([x[mask], tb.repeat(x, [0, 2]), tb.repeat(x, numpy.asarray([1, 0]))])
        return joined

    assert TRANSFORMS[transform](function)(X).tolist() == [2.0, 2.0, 2.0, 1.0]


def test_what_depends_on_no_argument_has_data() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        weights = tb.asarray([3.0, 4.0])
        norm = tb.sqrt(tb.sum(weights * weights))
        (places,) = tb.nonzero(weights > 3.5)
        scaled: tb.Tensor = x[places] * norm.item() if norm > 1 else x
        return scaled

    for backend in ("numpy", "jax"):
        assert tb.jit(function)(X.backend_copy(backend)).tolist() == [10.0]
    # A loop's body may read the data of constants from outside the loop as well.
    scale = tb.asarray([2.0, 0.0])
    body = lambda i, x: x * scale[0] if scale[1] == 0 else x  # noqa: E731
    assert tb.jit(lambda x: tb.fori_loop(0, 2, body, x))(X).tolist() == [4.0, 8.0]
    with pytest.raises(TemplateDataError, match="a mask with data, as the result's shape depends on it"):
        tb.jit(lambda x: x[tb.asarray([1.0, 5.0]) > x])(X)


def test_a_function_without_tensors_makes_them_on_the_default_backend() -> None:
    compiled = tb.jit(lambda: tb.asarray([1.0, 2.0]) * 2)
    assert compiled().backend.name == "numpy"
    with tb.default_backend("jax"):
        assert compiled().backend.name == "jax"
        assert tb.fori_loop(0, 2, lambda i, x: x + tb.asarray([1.0])[0], 0.0).backend.name == "jax"


@pytest.mark.parametrize("others_first", [False, True])
def test_arrays_among_the_arguments_go_where_the_tensors_are(others_first: bool) -> None:
    x, array = X.backend_copy("jax"), numpy.asarray([3.0, 4.0], "float32")
    factors = (array, x) if others_first else (x, array)
    product = lambda x, y: x * y  # noqa: E731
    total = lambda x, y: tb.sum(x * y)  # noqa: E731
    value, pull = tb.vjp(product, *factors)
    for result in (
        tb.jit(product)(*factors),
        tb.vmap(product)(*factors),
        tb.trace(product)("f32[2]", "f32[2]")(*factors),
        tb.grad(total)(*factors) * factors[0],
        tb.jvp(lambda x: x * array, (x,), (numpy.ones(2, "float32"),))[0],
        value,
        pull(numpy.ones(2, "float32"))[0] * factors[0],
    ):
        assert (result.tolist(), result.backend.name) == ([3.0, 8.0], "jax")
    assert tb.grad(lambda scale, x: tb.sum(scale * x))(2.0, x).backend.name == "jax"


# What leaves a trace


def test_a_value_of_a_trace_is_not_assigned_to_a_tensor_outside() -> None:
    held = tb.zeros(2)

    def function(x: tb.Tensor) -> tb.Tensor:
        held[0] = x[0]
        return tb.sum(x)

    text = r"expected a value with data, as the tensor that is assigned to has data, got tensor=f32\[2\], value="
    for transform in (tb.jit, tb.grad, tb.trace, lambda f: lambda x: tb.vmap(f)(tb.expand_dims(x))):
        with pytest.raises(BackendError, match=text):
            transform(function)(X)
    with pytest.raises(BackendError, match=text):
        function(tb.template((2,), "f32"))
    assert held.tolist() == [0.0, 0.0]
    with tb.tape() as tape:  # tensors on a tape have data
        function(tape.watch(X))
    assert held.tolist() == [1.0, 0.0]


def test_a_value_of_a_trace_is_refused_after_it() -> None:
    NODES.clear()  # else a recalled node, made at another line
    held: list[tb.Tensor] = []

    def function(x: tb.Tensor) -> tb.Tensor:
        held.append(x * 2)
        return tb.sum(x)

    line = function.__code__.co_firstlineno + 1
    text = rf"expected a value of a trace that still runs, got value=f32\[2\]; return it .*test_trace.py:{line}"
    uses: list[Callable[[tb.Tensor], Any]] = [
        lambda x: x + 1,
        lambda x: tb.softmax(x),
        lambda x: tb.concat([X, x]),
        lambda x: x.tolist(),
        lambda x: tb.jit(lambda y: y + x)(X),
        lambda x: tb.grad(lambda y: tb.sum(y * x))(X),
    ]
    for transform in (tb.jit, tb.grad, tb.trace):
        held.clear()
        transform(function)(X)
        for use in uses:
            with pytest.raises(BackendError, match=text):
                use(held[0])
    tb.grad(function)(X)  # recalls the nodes of the first gradient
    with pytest.raises(BackendError, match=r"return it from the traced function$"):
        uses[0](held[-1])


def test_a_value_of_an_inner_trace_is_refused_in_the_outer_one() -> None:
    def outer(x: tb.Tensor) -> tb.Tensor:
        held: list[tb.Tensor] = []

        def inner(y: tb.Tensor) -> tb.Tensor:
            held.append(y * 2)
            return tb.sum(y)

        total: tb.Tensor = tb.grad(inner)(x) + held[0]
        return total

    for transform in (tb.jit, tb.trace):
        with pytest.raises(BackendError, match=r"expected a value of a trace that still runs, got value=f32\[2\]"):
            transform(outer)(X)


def test_what_a_function_assigns_to_an_argument_the_caller_does_not_see() -> None:
    def function(x: tb.Tensor) -> tb.Tensor:
        x[0] = 5.0
        return tb.sum(x)

    x = tb.asarray([1.0, 2.0])
    assert tb.jit(function)(x).item() == 7.0
    assert tb.grad(function)(x).tolist() == [0.0, 1.0]
    assert x.tolist() == [1.0, 2.0]
