"""The gradient of every op against central differences in float64 and against JAX, and the second derivative too.

The calls are those that the other property tests draw, at points away from kinks and ties: floating and complex
tensors get new elements, all in double precision.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import DType, as_dtype
from tensorbackend.errors import DTypeError, TensorBackendError
from tensorbackend.expr.evaluate import evaluate
from tensorbackend.expr.grad.coverage import gradient_support
from tensorbackend.expr.trace import trace_leaves
from tensorbackend.expr.trees import flatten
from tensorbackend.tensor import Tensor
from tensorbackend.testing import Invocation, calls, names, profile
from tensorbackend.testing.calls import READS_DATA
from tensorbackend.testing.source import public

ASKED = os.environ.get("TENSORBACKEND_EXAMPLES")
EXAMPLES = int(ASKED or 3)
DOUBLE = [as_dtype("f64"), as_dtype("c128")]
NUMPY, JAX = tb.get_backend("numpy"), tb.get_backend("jax")
STEP = 1e-6
NOTHING = {
    "all_close", "arange", "argwhere", "bernoulli", "bits", "categorical", "count_nonzero", "digitize", "exponential",
    "eye", "fftfreq", "fold_in", "full", "gumbel", "iota", "isclose", "isfinite", "isin", "key", "laplace", "linspace",
    "logical_not", "matrix_rank", "nonzero", "one_hot", "randint", "random.split", "ravel_multi_index", "rfftfreq",
    "searchsorted", "segment_argmax", "signbit", "threefry2x32", "tri", "unravel_index", "window_argmax",
    "window_argmin",
}  # fmt: skip
"""Composites and functions that give no floating results for floating operands."""

WHOLE_ORDERS = {"polygamma"}
"""Functions of whole orders, whose derivatives are tested next to their values."""

ON_PURPOSE = {"stop_gradient", "scaled_gradient", "truncated_normal"}
"""Functions whose gradient is not the limit of differences; for `truncated_normal` only where a sample is a bound."""

CONSTANT = {"gamma_inc_l": 1, "gamma_inc_u": 1}
"""How many of the leading operands have no derivative."""

ASCENDING = {"interp": 1}
"""Which point has its elements in ascending order: elsewhere the function is not defined."""

NOT_IN_JAX: dict[str, str] = {
    "std": "of equal elements JAX returns NaN",
    **dict.fromkeys(["eig", "eigvals"], "JAX has no gradient of eigenvectors"),
    "weighted_mean": "XLA takes minutes to compile it",
    **dict.fromkeys(["window_max", "window_min"], "XLA aborts the process when it compiles that in float64"),
    "window_prod": "JAX has no gradient of it",
}
"""Ops that are not compared with JAX, and the reasons."""

DIFFERENTIABLE = [
    name
    for name in names()
    if (name not in OPS or gradient_support(OPS[name]) in ("yes", "zero", "by its parts"))
    and name not in NOTHING | ON_PURPOSE | WHOLE_ORDERS
]

# JAX takes a second to compile an op. By default, test those with a gradient rule, with real operands if possible.
IN_JAX = [
    name
    for name in DIFFERENTIABLE
    if name not in NOT_IN_JAX and (ASKED or (name in OPS and gradient_support(OPS[name]) == "yes"))
]
COMPLEX = {"imag"}
"""Ops that take only complex operands."""

DOMAINS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(["acos", "asin", "atanh", "erf_inv"], (0.1, 0.9)),
    "acosh": (1.2, 3.0),
}
"""The bounds of the magnitudes of real operands, if not 0.3 and 1.7."""

POSITIVE = {"log", "log1p", "log2", "log10", "sqrt", "rsqrt", "pow", "lgamma", "digamma", "gamma_inc_l", "gamma_inc_u",
            "acosh", "batch_norm"}  # fmt: skip
"""Functions that need positive real operands."""


def _square(x: Tensor) -> Tensor:
    # A row or a column would become another matrix by broadcasting: one that is not positive definite, or that has an
    # eigenvalue more than once.
    assume(x.shape[-1] == x.shape[-2])
    return x


def _positive_definite(x: Tensor) -> Tensor:
    return _square(x) @ tb.linalg.adjoint(x) + 2 * tb.eye(x.shape[-1], dtype=x.dtype, backend=x.backend)


def _hermitian(x: Tensor) -> Tensor:
    return _square(x) + tb.linalg.adjoint(x)


def _regular(x: Tensor) -> Tensor:
    return x + 4 * tb.eye(*x.shape[-2:], dtype=x.dtype, backend=x.backend)


PREPARED: dict[str, Callable[[Tensor], Tensor]] = {
    "cholesky": _positive_definite,
    **dict.fromkeys(["eigh", "eigvalsh"], _hermitian),
    **dict.fromkeys(["solve", "inv", "det", "slogdet", "lu", "triangular_solve", "matrix_power"], _regular),
}
"""How the first operand is computed from a generic one."""


def generic(x: Tensor, name: str, seed: int) -> Tensor:
    """Return a tensor like x in double precision, with elements away from kinks and ties."""
    random = numpy.random.default_rng(seed)
    low, high = (0.3, 1.7) if x.dtype.is_complex else DOMAINS.get(name, (0.3, 1.7))

    def part() -> Any:
        signs = 1 if name in POSITIVE and not x.dtype.is_complex else random.choice([-1, 1], x.shape)
        return signs * random.uniform(low, high, x.shape)

    return tb.asarray(part() + 1j * part() if x.dtype.is_complex else part()).rename(*x.names)


def doubled(value: Any) -> Any:
    """Return an inexact dtype among the options in double precision, and any other value unchanged."""
    if isinstance(value, DType) and value.is_inexact:
        return DOUBLE[value.is_complex]
    return value


class Problem:
    """A call as a real-valued function of its floating and complex tensors."""

    def __init__(self, call: Invocation, seed: int) -> None:
        call, self.seed = call.on(NUMPY), seed
        self.call = call._replace(
            arguments=tuple(map(doubled, call.arguments)),
            options={name: doubled(value) for name, value in call.options.items()},
        )
        inexact = [x for x in call.tensors if x.dtype.is_inexact]
        points = [generic(x, call.name, seed + number) for number, x in enumerate(inexact)]
        place = ASCENDING.get(call.name)
        if place is not None and points[place].dtype.is_floating:  # else the call is refused
            points[place] = tb.sort(points[place])
        fixed = CONSTANT.get(call.name, 0)
        self.constants, self.points = points[:fixed], points[fixed:]
        self.directions = [generic(x, "", seed + 1000 + number) for number, x in enumerate(self.points)]

    def __repr__(self) -> str:
        return self.call.source

    def results(self, points: Sequence[Tensor]) -> list[Tensor]:
        """Return the floating and complex results at the given points."""
        backend = points[0].backend
        known = backend if backend in (NUMPY, JAX) else NUMPY
        rest = iter([*(x.backend_copy(known) for x in self.constants), *points])
        prepare = PREPARED.get(self.call.name)

        def operand(x: Tensor) -> Tensor:
            nonlocal prepare
            if not x.dtype.is_inexact:
                return x.backend_copy(known)
            point, preparation = next(rest), prepare
            prepare = None
            return point if preparation is None else preparation(point.rename(*(None,) * point.ndim))

        leaves = flatten(self.call.mapped(operand).run())[0]
        return [x for x in leaves if isinstance(x, Tensor) and x.dtype.is_inexact]

    def loss(self, points: Sequence[Tensor]) -> Tensor:
        """Return the weighted sum of the results; each element has its own weight."""
        total = None
        for x in self.results(points):
            weights = tb.cos(tb.iota(x.size, dtype="f64", backend=x.backend))
            flat = tb.reshape(x, -1)
            term = tb.sum(
                weights * tb.real(flat) - tb.flip(weights) * tb.imag(flat) if x.dtype.is_complex else weights * flat
            )
            total = term if total is None else total + term
        assert total is not None
        return total

    def slope(self, gradients: Sequence[Tensor]) -> Tensor:
        """Return the directional derivative that the given gradients imply."""
        terms = [
            tb.sum(tb.real(gradient * by) if gradient.dtype.is_complex else gradient * by)
            for gradient, by in zip(gradients, self.directions, strict=True)
        ]
        return sum(terms[1:], terms[0])

    def differences(self, function: Callable[[Any], Tensor], step: float = STEP) -> float:
        """Return the directional derivative of a function by central differences."""
        before, after = (
            float(function([x + by * v for x, v in zip(self.points, self.directions, strict=True)]))
            for by in (-step, step)
        )
        return (after - before) / (2 * step)

    def assert_slope(self, gradients: Sequence[Tensor], function: Callable[[Any], Tensor], what: str) -> None:
        """Assert that gradients are those of a function; reject the problem if differences cannot tell."""
        slope, difference = float(self.slope(gradients)), self.differences(function)
        error = abs(slope - difference)
        if not error <= 1e-5 * max(1.0, abs(difference)):
            # Near a jump or a pole the differences depend on the step: then they are no better than their change.
            change = abs(difference - self.differences(function, STEP / 2))
            if error <= 10 * change:
                reject()
            raise AssertionError(f"{what}: expected a slope of {difference}, got {slope}")


def traced(function: Callable[[Any], Any], points: list[Tensor]) -> Callable[[Sequence[Tensor]], list[Tensor]]:
    """Trace a function once and return its graph as a function."""
    return partial(evaluate, trace_leaves(function, points, [f"x{number}" for number in range(len(points))]))


@st.composite
def problems(draw: Any, name: str, dtypes: Sequence[DType] = DOUBLE) -> Problem:
    """Calls of an op that have something to differentiate."""
    return differentiable(Problem(draw(calls(name, draw(st.sampled_from(dtypes)))), draw(st.integers(0, 1 << 20))))


def differentiable(problem: Problem) -> Problem:
    """Return the problem if it has something to differentiate, with real operands if its op refuses complex ones.

    Otherwise reject the draw.
    """
    assume(any(x.size for x in problem.points))
    try:
        results = problem.results(problem.points)
    except TensorBackendError as error:
        assume(isinstance(error, DTypeError) and any(x.dtype.is_complex for x in problem.points))
        real = problem.call.mapped(lambda x: tb.real(x) if x.dtype.is_complex else x)
        return differentiable(Problem(real, problem.seed))
    assume(any(x.size for x in results) and all(x.dtype in DOUBLE for x in results))
    assume(abs(float(problem.loss(problem.points))) < 1e4)  # larger values lose digits in the differences
    return problem


@pytest.fixture(autouse=True)
def _in_double_precision() -> Iterator[None]:
    with tb.precision(64):
        yield


def test_a_wrong_slope_is_an_error_and_a_jump_is_not_a_problem() -> None:
    problem = Problem(Invocation("sin", (tb.tensor(0.0, dtype="f64"),), {}), 0)
    (point,), (direction,) = problem.points, problem.directions

    def jump(points: Sequence[Tensor]) -> Tensor:
        return tb.where(points[0] > point, 1.0, 0.0)

    problem.assert_slope([tb.cos(point)], problem.loss, "right")
    for wrong in (tb.cos(point) + 1e-3, point * math.nan, -tb.cos(point)):
        with pytest.raises(AssertionError, match="wrong: expected a slope of"):
            problem.assert_slope([wrong], problem.loss, "wrong")

    @profile(1)
    @given(st.just([direction]))
    def rejected(gradients: list[Tensor]) -> None:
        problem.assert_slope(gradients, jump, "jump")

    with pytest.raises(Unsatisfiable):
        rejected()


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name not in READS_DATA])
def test_gradients_are_central_differences(name: str) -> None:
    @profile(EXAMPLES)
    @given(problems(name))
    def agree(problem: Problem) -> None:
        loss = traced(problem.loss, problem.points)
        gradient = traced(tb.grad(problem.loss), problem.points)
        problem.assert_slope(gradient(problem.points), lambda x: loss(x)[0], "first")

        def slope(points: Sequence[Tensor]) -> Tensor:
            return problem.slope(gradient(points))

        problem.assert_slope(tb.grad(slope)(problem.points), slope, "second")

    agree()


def has_many_options(name: str) -> bool:
    """Return whether three draws leave out many combinations of options."""
    parameters = inspect.signature(inspect.unwrap(public(name))).parameters
    if "key" in parameters:  # random numbers
        return False
    return "padding" in parameters or sum(one.default is not one.empty for one in parameters.values()) > 2


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name not in READS_DATA and has_many_options(name)])
def test_gradients_with_many_options(name: str) -> None:
    @profile(25)
    @given(problems(name))
    def agree(problem: Problem) -> None:
        problem.assert_slope(tb.grad(problem.loss)(problem.points), problem.loss, "first")

    agree()


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name in READS_DATA])
def test_gradients_of_ops_that_read_data(name: str) -> None:
    @profile(EXAMPLES)
    @given(problems(name))
    def agree(problem: Problem) -> None:
        with tb.tape() as tape:
            points = tape.watch(problem.points)
            gradient = tb.gradient(problem.loss(points), points)
            slope = problem.slope(gradient)
        problem.assert_slope(gradient, problem.loss, "first")
        assert abs(float(problem.slope(tb.gradient(slope, points)))) <= 1e-5  # they only move elements

    agree()


@pytest.mark.parametrize("name", IN_JAX)
def test_gradients_are_those_of_jax(name: str) -> None:
    import jax

    @profile(1)
    @given(problems(name, DOUBLE if ASKED or name in COMPLEX else DOUBLE[:1]))
    def agree(problem: Problem) -> None:
        assume(all(x.size for x in problem.points))  # JAX divides by zero in the gradient of an empty convolution
        points = [x.backend_copy(JAX) for x in problem.points]
        # As one program: compiled op by op, in both directions, they would be tens.
        try:
            theirs = jax.jit(jax.grad(lambda points: problem.loss(points).data))(points)
        except jax.errors.ConcretizationTypeError:
            assert name in READS_DATA
            assume(False)  # the shape of the result depends on data
        with tb.tape() as tape:
            watched = tape.watch(problem.points)
            ours = tb.gradient(problem.loss(watched), watched)
        for x, y in zip(ours, theirs, strict=True):
            assert x.template is y.template
            numpy.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-7)

    agree()
