"""Gradients of random nestings of transforms over changing shapes, against Taylor series in NumPy's float64.

A function of one tensor works on each element by itself, so each of its derivatives is a coefficient of a Taylor
series, which NumPy computes without a graph. The same function is called with several shapes and constants in turn, so
that what an eager gradient remembers of one call is used by the next one; its bits are those of a new trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

Array: TypeAlias = Any
Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]

ORDER = 5
"""The number of coefficients of a series; each derivative takes one."""


class Series:
    """The first coefficients of a Taylor series at each element."""

    def __init__(self, terms: list[Array]) -> None:
        self.terms = terms

    def __add__(self, other: Series) -> Series:
        return Series([one + two for one, two in zip(self.terms, other.terms, strict=False)])

    def __mul__(self, other: Series) -> Series:
        count = min(len(self.terms), len(other.terms))
        return Series([sum(self.terms[j] * other.terms[k - j] for j in range(k + 1)) for k in range(count)])

    def scaled(self, factor: float) -> Series:
        return Series([term * factor for term in self.terms])

    def derivative(self) -> Series:
        return Series([(k + 1) * term for k, term in enumerate(self.terms[1:])])

    def solved(self, start: Array, slope: Callable[[Series], Series]) -> Series:
        """The series y that begins with `start` and has y' = slope(y) x' (this series is x)."""
        y, change = Series([start]), self.derivative()
        for k in range(1, len(self.terms)):
            product = slope(y) * change
            y = Series([*y.terms, product.terms[k - 1] / k])
        return y


def exp(x: Series) -> Series:
    return x.solved(np.exp(x.terms[0]), lambda y: y)


def tanh(x: Series) -> Series:
    def slope(y: Series) -> Series:
        square = (y * y).scaled(-1.0)
        return Series([square.terms[0] + 1.0, *square.terms[1:]])

    return x.solved(np.tanh(x.terms[0]), slope)


def sin(x: Series) -> Series:
    return _circle(x, 0)


def cos(x: Series) -> Series:
    return _circle(x, 1)


def _circle(x: Series, which: int) -> Series:
    """Sine or cosine, by both at once: s' = c x', c' = -s x'."""
    change = x.derivative()
    pair = Series([np.sin(x.terms[0])]), Series([np.cos(x.terms[0])])
    for k in range(1, len(x.terms)):
        up, down = (pair[1] * change).terms[k - 1] / k, -(pair[0] * change).terms[k - 1] / k
        pair = Series([*pair[0].terms, up]), Series([*pair[1].terms, down])
    return pair[which]


class Twin(NamedTuple):
    """A function of elements in both libraries; it also takes constants, which change from call to call."""

    ours: Callable[[tb.Tensor, Any], tb.Tensor]
    series: Callable[[Series, Any], Series]
    derivatives: int
    """How many derivatives it takes itself."""


UNARY: list[tuple[Any, Any]] = [(tb.sin, sin), (tb.cos, cos), (tb.tanh, tanh)]


def summed(function: Callable[[tb.Tensor], tb.Tensor]) -> Callable[[tb.Tensor], tb.Tensor]:
    return lambda x: tb.sum(function(x))


def with_gradient(sub: Twin, constants: Any) -> Callable[[tb.Tensor], tb.Tensor]:
    """A function with a gradient of its own, which is the right one."""

    @tb.custom_gradient
    def function(x: tb.Tensor) -> Any:
        return sub.ours(
            x, constants
        ), lambda cotangent: cotangent * tb.grad(summed(lambda y: sub.ours(y, constants)))(x)

    return function


def with_tangent(sub: Twin, constants: Any) -> Callable[[tb.Tensor], tb.Tensor]:
    """A function with a derivative of its own along tangents."""

    @tb.custom_jvp
    def function(x: tb.Tensor) -> tb.Tensor:
        return sub.ours(x, constants)

    @function.defjvp
    def along(primals: Any, tangents: Any) -> Any:
        ((x,), (tangent,)) = primals, tangents
        slope = tb.grad(summed(lambda y: sub.ours(y, constants)))(x)
        return sub.ours(x, constants), slope * tangent

    return function


def same(transform: Callable[[Callable[[tb.Tensor], tb.Tensor]], Callable[[tb.Tensor], tb.Tensor]]) -> Any:
    """A transform that changes neither values nor derivatives."""
    return lambda sub: Twin(
        lambda x, constants: transform(lambda y: sub.ours(y, constants))(x), sub.series, sub.derivatives
    )


def derivative(slope: Callable[[Callable[[tb.Tensor], tb.Tensor], tb.Tensor], tb.Tensor]) -> Any:
    """A transform that gives the derivative of each element."""
    return lambda sub: Twin(
        lambda x, constants: slope(lambda y: sub.ours(y, constants), x),
        lambda x, constants: composed(sub, x, constants),
        sub.derivatives + 1,
    )


def composed(sub: Twin, x: Series, constants: Any) -> Series:
    """The series of the derivative of a function, at a series."""
    at = Series([x.terms[0], np.ones_like(x.terms[0]), *[np.zeros_like(x.terms[0])] * (ORDER - 1)])
    outer = sub.series(at, constants).derivative()
    shift = Series([np.zeros_like(x.terms[0]), *x.terms[1:]])
    result = Series([np.zeros_like(x.terms[0])] * len(x.terms))
    for term in reversed(outer.terms[: len(x.terms)]):  # by Horner's rule
        result = result * shift
        result = Series([result.terms[0] + term, *result.terms[1:]])
    return Series(result.terms[: len(outer.terms)])


def by_rows(function: Callable[[tb.Tensor], tb.Tensor]) -> Callable[[tb.Tensor], tb.Tensor]:
    return lambda x: tb.vmap(function)(x) if x.ndim else function(x)


WRAPPERS: list[Any] = [
    same(tb.checkpoint),
    same(tb.jit),
    same(by_rows),
    lambda sub: Twin(lambda x, c: with_gradient(sub, c)(x), sub.series, sub.derivatives),
    lambda sub: Twin(lambda x, c: with_tangent(sub, c)(x), sub.series, sub.derivatives),
    derivative(lambda function, x: tb.grad(summed(function))(x)),
    derivative(lambda function, x: tb.jvp(function, (x,), (tb.ones_like(x),))[1]),
    derivative(lambda function, x: tb.vjp(function, x)[1](tb.ones_like(x))[0]),
]
"""The transforms; the last three take a derivative."""


def drawn(draw: Draw, depth: int) -> Twin:
    """A random function of elements."""
    kind = draw(st.sampled_from(["wrap", "wrap", "unary", "sum", "product", "scaled"])) if depth else "leaf"
    if kind == "leaf":
        place = draw(st.integers(0, 1))
        return Twin(lambda x, c: x * c[place], lambda x, c: x.scaled(float(c[place])), 0)
    sub = drawn(draw, depth - 1)
    if kind == "wrap":
        deep = sub.derivatives >= 2  # a derivative more would need a longer series
        return WRAPPERS[draw(st.integers(0, len(WRAPPERS) - (4 if deep else 1)))](sub)  # type: ignore[no-any-return]
    if kind == "unary":
        ours, series = draw(st.sampled_from(UNARY))
        return Twin(lambda x, c: ours(sub.ours(x, c)), lambda x, c: series(sub.series(x, c)), sub.derivatives)
    if kind == "scaled":
        factor = draw(st.sampled_from([0.5, -1.0, 2, 0.0]))
        return Twin(lambda x, c: sub.ours(x, c) * factor, lambda x, c: sub.series(x, c).scaled(factor), sub.derivatives)
    other = drawn(draw, depth - 1)
    count = max(sub.derivatives, other.derivatives)
    if kind == "sum":
        return Twin(
            lambda x, c: sub.ours(x, c) + other.ours(x, c), lambda x, c: sub.series(x, c) + other.series(x, c), count
        )
    return Twin(
        lambda x, c: sub.ours(x, c) * other.ours(x, c), lambda x, c: sub.series(x, c) * other.series(x, c), count
    )


SHAPES = st.lists(st.sampled_from([(), (1,), (3,), (2, 3), (5,)]), min_size=1, max_size=3)


@profile(12)
@given(st.data())
def test_nested_transforms_over_changing_shapes(data: st.DataObject) -> None:
    twin = drawn(data.draw, data.draw(st.integers(1, 4)))
    shapes = data.draw(SHAPES)
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    number = 0.0

    def function(x: tb.Tensor, constants: Any, weights: tb.Tensor) -> tb.Tensor:
        return tb.sum(twin.ours(x, constants) * weights) * number

    both = tb.value_and_grad(function)
    for shape in (*shapes, *shapes):
        x, weights, constants = random.uniform(-1, 1, shape), random.uniform(-1, 1, shape), random.uniform(0.5, 1.5, 2)
        number = float(random.choice([1.0, -0.5]))
        given_x, given_weights = (tb.asarray(array, backend="numpy") for array in (x, weights))
        scalars = [tb.asarray(np.asarray(constant), backend="numpy") for constant in constants]
        value, gradient = both(given_x, scalars, given_weights)
        series = twin.series(Series([x, np.ones(shape), *[np.zeros(shape)] * (ORDER - 1)]), constants)
        np.testing.assert_allclose(value, np.sum(series.terms[0] * weights) * number, rtol=1e-9, atol=1e-11)
        expected = series.terms[1] * weights * number
        np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-11)
        graph = tb.trace(tb.value_and_grad(function))(given_x, scalars, given_weights)
        for found, anew in zip((value, gradient), graph(given_x, scalars, given_weights), strict=True):
            assert np.array_equal(found, anew)


Function: TypeAlias = Callable[[tb.Tensor], tb.Tensor]


def by_vjp(function: Function, x: tb.Tensor, direction: tb.Tensor) -> Any:
    result, pull = tb.vjp(function, x)
    return result, pull(direction)[0]


def by_jvp(function: Function, x: tb.Tensor, direction: tb.Tensor) -> Any:
    return tb.jvp(function, (x,), (direction,))


def by_linearize(function: Function, x: tb.Tensor, direction: tb.Tensor) -> Any:
    result, push = tb.linearize(function, x)
    return result, push(direction)


def by_jacobian(function: Function, x: tb.Tensor, direction: tb.Tensor) -> Any:
    return function(x), tb.jacobian(function)(x)


def by_jacfwd(function: Function, x: tb.Tensor, direction: tb.Tensor) -> Any:
    return function(x), tb.jacfwd(function)(x)


def by_hessian(function: Function, x: tb.Tensor, direction: tb.Tensor) -> Any:
    return tb.grad(summed(function))(x), tb.hessian(summed(function))(x)


def along(derivatives: Array, direction: Array) -> Array:
    """The derivatives of elements along a direction, from those of each element by each; it depends on itself alone."""
    square = derivatives.reshape(direction.size, direction.size)
    assert not np.any(square * (1 - np.eye(direction.size)))
    return np.diagonal(square).reshape(direction.shape) * direction


@profile(12)
@given(st.data())
def test_other_derivatives_over_changing_shapes(data: st.DataObject) -> None:
    derive = data.draw(st.sampled_from([by_vjp, by_jvp, by_linearize, by_jacobian, by_jacfwd, by_hessian]))
    order = 1 if derive is by_hessian else 0
    twin = drawn(data.draw, data.draw(st.integers(1, 3)))
    shapes = data.draw(SHAPES)
    random = np.random.default_rng(data.draw(st.integers(0, 99)))

    for shape in (*shapes, *shapes):
        x, direction, numbers = random.uniform(-1, 1, shape), random.uniform(-1, 1, shape), random.uniform(0.5, 1.5, 2)
        tensors = [tb.asarray(array, backend="numpy") for array in (x, direction)]
        constants = [tb.asarray(np.asarray(number), backend="numpy") for number in numbers]

        def derived(x: tb.Tensor, direction: tb.Tensor, constants: Any = constants) -> Any:
            return derive(lambda x: twin.ours(x, constants) * 0.5, x, direction)

        series = twin.series(Series([x, np.ones(shape), *[np.zeros(shape)] * (ORDER - 1)]), numbers).scaled(0.5)
        value, moved = derived(*tensors)
        np.testing.assert_allclose(value, series.terms[order], rtol=1e-9, atol=1e-11)
        slopes = (order + 1) * series.terms[order + 1] * direction  # the coefficient of x**k is a derivative over k!
        found = np.asarray(moved)
        if derive in (by_jacobian, by_jacfwd, by_hessian):
            found = along(found, direction)
        np.testing.assert_allclose(found, slopes, rtol=1e-9, atol=1e-11)
        for one, anew in zip((value, moved), tb.trace(derived)(*tensors)(*tensors), strict=True):
            assert np.array_equal(one, anew)
