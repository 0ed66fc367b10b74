"""Functions with custom gradients. Their backward pass is traced only when a gradient needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, GradientError

BACKENDS = ["numpy", "binary", "jax"]


class Counted:
    """The function x². It records, for each forward and backward pass, whether the tensors hold data."""

    def __init__(self) -> None:
        self.forward: list[bool] = []
        self.back: list[bool] = []
        self.op: Callable[[Any], Any] = tb.custom_gradient(self.function)

    def function(self, x: Tensor) -> Any:
        self.forward.append(x.backend.holds_data)

        def pull(cotangent: Tensor) -> Any:
            self.back.append(cotangent.backend.holds_data)
            return 2 * x * cotangent

        return x * x, pull


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_way_back_is_traced_when_a_gradient_is_asked_for(backend: str) -> None:
    x, square = tb.asarray(3.0, backend=backend), Counted()
    assert square.op(x).item() == 9.0
    assert tb.jit(square.op)(x).item() == 9.0
    assert tb.vmap(square.op)(tb.stack([x, x])).tolist() == [9.0, 9.0]
    assert tb.trace(square.op)("f32")(x).item() == 9.0
    assert tb.dry_run(square.op, "f32").flops == 1
    assert tb.grad(lambda x: square.op(tb.stop_gradient(x)) * x)(x).item() == 9.0
    assert not square.back
    square = Counted()
    assert tb.grad(square.op)(x).item() == 6.0
    assert (square.forward, square.back) == ([False], [False])
    assert tb.jit(tb.grad(square.op))(x).item() == 6.0
    assert tb.grad(tb.grad(square.op))(x).item() == 2.0
    assert tb.vmap(tb.grad(square.op))(tb.stack([x, x])).tolist() == [6.0, 6.0]


@tb.custom_gradient
def inverse(x: Any) -> Any:
    return 1 / x, lambda cotangent: -cotangent * inverse(x) ** 2


def solved(a: Tensor, b: Tensor) -> Tensor:
    """Solve a linear system. The gradient calls `solved` again, which defines a new function at each call."""

    @tb.custom_gradient
    def op(a: Tensor, b: Tensor) -> Any:
        x = tb.linalg.solve(tb.stop_gradient(a), tb.stop_gradient(b))

        def pull(cotangent: Tensor) -> Any:
            by_b = solved(a.T, cotangent)
            return -by_b[:, None] * solved(a, b)[None, :], by_b

        return x, pull

    solution: Tensor = op(a, b)
    return solution


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_gradient_may_be_a_call_of_the_function(backend: str) -> None:
    x = tb.asarray(2.0, backend=backend)
    function: Any = inverse
    for derivative in (0.5, -0.25, 0.25, -0.375):
        assert function(x).item() == tb.jit(function)(x).item() == derivative
        function = tb.grad(function)
    with tb.tape() as tape:
        watched = tape.watch(x)
        first = tb.gradient(inverse(watched), watched)
        second = tb.gradient(first, watched)
    assert (first.item(), second.item(), tb.gradient(second, watched).item()) == (-0.25, 0.25, -0.375)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_gradient_may_be_a_solve(backend: str, whole: Callable[..., Any]) -> None:
    a = tb.asarray([[4.0, 1.0], [0.5, 3.0]], dtype="f64", backend=backend)
    b = tb.asarray([1.0, 2.0], dtype="f64", backend=backend)
    known = a.backend_copy("numpy"), b.backend_copy("numpy")

    def loss(solve: Any) -> Callable[..., Tensor]:
        return lambda a, b: tb.sum(solve(a, b) ** 3)

    def slope(solve: Any) -> Callable[..., Tensor]:
        return lambda a, b: sum(tb.sum(x * x) for x in tb.grad(loss(solve), (0, 1))(a, b))  # type: ignore[return-value]

    for make in (loss, slope):
        expected_gradients = tb.grad(make(tb.linalg.solve), (0, 1))(*known)
        gradient = tb.grad(make(solved), (0, 1))
        # Without jit, JAX would compile each op of the second gradient.
        for function in (tb.jit(gradient),) if (backend, make) == ("jax", slope) else (gradient, tb.jit(gradient)):
            for ours, theirs in zip(function(a, b), expected_gradients, strict=True):
                numpy.testing.assert_allclose(numpy.asarray(ours), numpy.asarray(theirs), rtol=1e-10)
    with tb.tape() as tape:
        watched = tape.watch((a, b))
        y = loss(solved)(*watched)
        first = tb.gradient(y, watched)
        rate = tb.sum(first[0] ** 2) + tb.sum(first[1] ** 2)
    expected_gradients = tb.grad(slope(tb.linalg.solve), (0, 1))(*known)
    for ours, theirs in zip(tb.gradient(rate, watched), expected_gradients, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(ours), numpy.asarray(theirs), rtol=1e-10)
    batch = tb.asarray([[1.0, 2.0], [2.0, 4.0]], dtype="f64", backend=backend)
    gradients = whole(tb.vmap(tb.grad(loss(solved), 1), in_axes=(None, 0)))(a, batch)
    numpy.testing.assert_allclose(
        numpy.asarray(gradients)[0], numpy.asarray(tb.grad(loss(tb.linalg.solve), 1)(*known)), rtol=1e-10
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_on_a_tape_both_ways_see_data(backend: str) -> None:
    square = Counted()
    read = []

    @tb.custom_gradient
    def looked_at(x: dict[str, Tensor], power: int) -> Any:
        y = x["x"] ** power if x["x"] > 0 else x["x"]  # reads data

        def pull(cotangent: Tensor) -> Any:
            read.append((cotangent.names, numpy.asarray(cotangent).tolist(), float(y)))
            return {"x": cotangent * 100}, None

        return y, pull

    with tb.tape() as tape:
        x = tape.watch(tb.asarray(3.0, backend=backend))
        y = square.op(x) * 2 + looked_at({"x": x}, 3)
        inside = tb.gradient(y, x)
    assert (square.forward, square.back) == ([True], [True])
    after = tb.gradient(y, x)
    assert (inside.item(), after.item(), after.backend.name) == (112.0, 112.0, backend)
    assert read == [((), 1.0, 27.0)] * 2


def test_a_way_back_may_use_what_the_way_forward_does_not() -> None:
    class Scaled:
        def __init__(self, by: Tensor) -> None:
            self.by = {"by": [by]}

        def __call__(self, x: Tensor) -> Any:
            return x, self.pulled

        def pulled(self, cotangent: Tensor) -> Any:
            return cotangent * self.by["by"][0]

    def closure(w: Tensor) -> Callable[..., Any]:
        return lambda x: (x, lambda cotangent: cotangent * w)

    def default(w: Tensor) -> Callable[..., Any]:
        return lambda x, w=w: (x, lambda cotangent, w=w: cotangent * w)

    for make in (Scaled, closure, default):

        def loss(x: Tensor, make: Any = make) -> Tensor:
            w = tb.exp(x)
            scaled: Tensor = tb.custom_gradient(make(w * 2))(x)
            return scaled

        expected_gradient = 2 * float(tb.exp(tb.asarray(0.5)))
        assert tb.grad(loss)(0.5).item() == pytest.approx(expected_gradient)
        assert tb.jit(tb.grad(loss))(tb.asarray(0.5)).item() == pytest.approx(expected_gradient)
        last = tb.grad(lambda x, loss=loss: tb.scan(lambda c, _: (loss(c), None), x, length=2)[0])(tb.asarray(0.5))
        assert last.item() == pytest.approx(expected_gradient**2)
        assert tb.vmap(tb.grad(loss))(tb.asarray([0.5, 0.5])).tolist() == pytest.approx([expected_gradient] * 2)

    with tb.tape() as tape:
        a, x = tape.watch((tb.asarray(2.0), tb.asarray(3.0)))
        y = tb.custom_gradient(lambda x: (x * x, lambda cotangent: cotangent * a))(x)
    assert [slope.item() for slope in tb.gradient(y, [a, x])] == [0.0, 2.0]

    kept: dict[str, Tensor] = {}

    def hidden(x: Tensor) -> Tensor:
        kept["w"] = tb.exp(x)
        result: Tensor = tb.custom_gradient(lambda x: (x, lambda cotangent: cotangent * globals()["KEPT"]["w"]))(x)
        return result

    globals()["KEPT"] = kept
    with pytest.raises(GradientError, match=r"custom_gradient: expected a function of cotangents that takes traced"):
        tb.grad(hidden)(0.5)


def test_a_way_back_keeps_the_variables_of_a_loop() -> None:
    def chain(x: Any) -> Any:
        for number in range(1, 4):

            @tb.custom_gradient
            def scaled(x: Any) -> Any:
                return x, lambda cotangent: cotangent * number  # noqa: B023 # on purpose

            x = scaled(x)
        return x

    assert tb.grad(chain)(1.0).item() == 6.0
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(1.0))
        y = chain(x)
    assert tb.gradient(y, x).item() == 6.0

    calls = 0

    @tb.custom_gradient
    def counting(x: Any) -> Any:
        def pull(cotangent: Tensor) -> Any:
            nonlocal calls
            calls += 1
            return cotangent

        return x, pull

    tb.grad(counting)(1.0)
    assert calls == 1


def test_errors_come_on_a_tape_as_in_a_graph() -> None:
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(1.0))
        y = tb.custom_gradient(lambda x, y: (x * y, lambda c: c))(x, x)
    with pytest.raises(ArgumentError, match=r"expected a tuple of 2 cotangents, one for each argument, got returned="):
        tb.gradient(y, x)
    with pytest.raises(ArgumentError, match="expected a function that returns its result and a function of cotangents"):
        tb.custom_gradient(lambda x: x)(tb.asarray(1.0))


def by_gradient(a: Tensor, x: Tensor) -> Tensor:
    product: Tensor = tb.custom_gradient(lambda x: (a * x, lambda cotangent: cotangent * a))(x)
    return product


def by_jvp(a: Tensor, x: Tensor) -> Tensor:
    op = tb.custom_jvp(lambda x: a * x)
    op.defjvp(lambda primals, tangents: (a * primals[0], a * tangents[0]))
    product: Tensor = op(x)
    return product


def on_tape(function: Callable[..., Tensor], *arguments: Tensor, place: int) -> Tensor:
    """The gradient by one argument, with all of them on a tape."""
    with tb.tape() as tape:
        watched = tape.watch(arguments)
        y = function(*watched)
    return tb.gradient(y, watched[place])


# The derivative of a function of a and x by the argument at a place.
WAYS: dict[str, Callable[[Callable[..., Tensor], Tensor, Tensor, int], Any]] = {
    "grad": lambda f, a, x, place: tb.grad(f, place)(a, x),
    "jit of grad": lambda f, a, x, place: tb.jit(tb.grad(f, place))(a, x),
    "grad of jit": lambda f, a, x, place: tb.grad(tb.jit(f), place)(a, x),
    "vjp": lambda f, a, x, place: tb.vjp(*((f, a, x) if place == 0 else (lambda x: f(a, x), x)))[1](tb.asarray(1.0))[0],
    "jvp": lambda f, a, x, place: tb.jvp(
        *((lambda a: f(a, x), (a,)) if place == 0 else (lambda x: f(a, x), (x,))), (tb.asarray(1.0),)
    )[1],
    "jacobian": lambda f, a, x, place: tb.jacobian(f, place)(a, x),
    "jacfwd": lambda f, a, x, place: tb.jacfwd(f, place)(a, x),
    "vmap of grad": lambda f, a, x, place: tb.vmap(tb.grad(f, place))(a[None], x[None])[0],
    "grad of vmap": lambda f, a, x, place: tb.grad(lambda a, x: tb.vmap(f)(a[None], x[None])[0], place)(a, x),
    "checkpoint": lambda f, a, x, place: tb.grad(lambda a, x: tb.checkpoint(lambda x: f(a, x))(x), place)(a, x),
    "cond": lambda f, a, x, place: tb.grad(lambda a, x: tb.cond(x > 0, lambda x: f(a, x), lambda x: x, x), place)(a, x),
    "scan": lambda f, a, x, place: tb.grad(lambda a, x: tb.scan(lambda x, _: (f(a, x), None), x, length=1)[0], place)(
        a, x
    ),
    "while_loop": lambda f, a, x, place: tb.grad(
        lambda a, x: tb.while_loop(lambda x: x < 3.5, lambda x: f(a, x), x, limit=2), place
    )(a, x),
    "tape": lambda f, a, x, place: on_tape(f, a, x, place=place),
    "jit on a tape": lambda f, a, x, place: on_tape(tb.jit(f), a, x, place=place),
    "grad on a tape": lambda f, a, x, place: on_tape(tb.grad(lambda a, x: f(a, x) * x / 2, 1), a, x, place=place),
}


@pytest.mark.parametrize("make", [by_gradient, by_jvp])
@pytest.mark.parametrize("way", WAYS)
def test_a_derivative_by_what_the_function_closes_over_is_an_error(
    way: str, make: Callable[[Tensor, Tensor], Tensor]
) -> None:
    a, x = tb.asarray(2.0), tb.asarray(3.0)
    text = (
        r"got op='custom_gradient'; it has none with respect to f32(\[1\])?, which its function closes over: pass that"
    )
    with pytest.raises(GradientError, match=text):
        WAYS[way](make, a, x, 0)
    assert WAYS[way](make, a, x, 1).item() == 2.0
    # Neither a constant is refused, nor a value that the function itself keeps out of the gradient.
    stopped: list[Callable[[Tensor, Tensor], Tensor]] = [
        lambda a, x: make(tb.stop_gradient(a), x) + 0 * a,
        lambda a, x: (
            tb.custom_gradient(lambda x: (tb.stop_gradient(a) * x, lambda c: c * tb.stop_gradient(a)))(x) + 0 * a
        ),
    ]
    for function in stopped:
        assert WAYS[way](function, a, x, 0).item() == 0.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graph_that_runs_on_a_tape_keeps_the_gradients_in_it(backend: str) -> None:
    tenfold = tb.custom_gradient(lambda x: (x * x, lambda cotangent: 10 * cotangent))
    graph = tb.trace(tenfold)("f32")
    runs: list[Callable[[Tensor], Tensor]] = [
        tenfold,
        tb.jit(tenfold),
        graph,
        lambda x: tb.value_and_grad(tenfold)(x)[0],
        lambda x: tb.vjp(tenfold, x)[0],
        lambda x: tb.scan(lambda x, _: (tenfold(x), None), x, length=1)[0],
        lambda x: tb.cond(x > 0, tenfold, lambda x: x, x),
        lambda x: tb.checkpoint(tenfold)(x),
        lambda x: tb.vmap(tenfold)(x[None])[0],
    ]
    for run in runs:
        with tb.tape() as tape:
            x = tape.watch(tb.asarray(3.0, backend=backend))
            y = run(x)
        assert (y.item(), tb.gradient(y, x).item()) == (9.0, 10.0)
    with tb.tape() as tape:
        x = tape.watch(tb.asarray(3.0, backend=backend))
        y = tb.trace(lambda x: tb.host_call(lambda x: x, x, x))("f32")(x)
    with pytest.raises(GradientError, match=rf"called at {__file__}"):  # not at a line of the program
        tb.gradient(y, x)


@pytest.mark.parametrize("make", [by_gradient, by_jvp])
def test_an_argument_that_is_closed_over_too_is_an_error(make: Callable[[Tensor, Tensor], Tensor]) -> None:
    x = tb.asarray(2.0)
    with pytest.raises(GradientError, match="closes over"):
        tb.grad(lambda x: make(x, x))(x)
    with pytest.raises(GradientError, match="closes over"):
        on_tape(lambda x: make(x, x), x, place=0)


def test_constant_arguments_do_not_hide_a_closure_on_a_tape() -> None:
    with tb.tape() as tape:
        a = tape.watch(tb.asarray(2.0))
        y = by_gradient(a, tb.asarray(3.0))
        z = tb.custom_gradient(lambda: (a, lambda cotangent: ()))()
    assert (y.item(), z.item()) == (6.0, 2.0)
    for result in (y, z):
        with pytest.raises(GradientError, match="closes over"):
            tb.gradient(result, a)
