"""Gradients of every op in float16, bfloat16 and float32 against those in float64, at scales from 1e-30 to 1e30.

Where the result in the narrow dtype is right, its gradient must be too: within some roundings of the largest element of
the gradient, and some times what a rounding of the operands changes in float64. Float64 itself is judged by
`test_gradient_values` and `test_gradients_at_hard_points`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType, as_dtype
from tensorbackend.errors import DTypeError, TensorBackendError
from tensorbackend.expr.trees import flatten
from tensorbackend.tensor import Tensor
from tensorbackend.testing import Invocation, calls, profile
from tensorbackend.testing.calls import READS_DATA
from tensorbackend.testing.source import public

from .test_gradient_values import COMPLEX, CONSTANT, DIFFERENTIABLE, POSITIVE, PREPARED
from .test_gradients_at_hard_points import KNOWN

NARROW = [as_dtype("f16"), as_dtype("bf16"), as_dtype("f32")]
DOUBLE = as_dtype("f64")
NUMPY = tb.get_backend("numpy")
ROUNDINGS, CHANGES = 64, 32

KEY = tb.random.key(0)
WITHOUT_OPERANDS = {"exponential", "gumbel", "laplace"}
"""Ops none of whose operands is floating."""

DRAWN: dict[str, Callable[[DType], Tensor]] = {
    "multivariate_normal": lambda dtype: tb.random.multivariate_normal(
        KEY, tb.zeros(2, dtype=dtype), tb.eye(2, dtype=dtype)
    ),
    "normal": lambda dtype: tb.random.normal(KEY, (4,), dtype=dtype),
    "truncated_normal": lambda dtype: tb.random.truncated_normal(KEY, -1.0, 1.0, (4,), dtype=dtype),
    "uniform": lambda dtype: tb.random.uniform(KEY, (4,), dtype=dtype),
}
"""Ops that draw other numbers in each dtype, and a call that shows it."""

OPS = [name for name in DIFFERENTIABLE if name not in {*READS_DATA, *COMPLEX, *WITHOUT_OPERANDS, *DRAWN, *KNOWN}]


class Case:
    """A call of an op as a function of its floating tensors, whose elements are new and exact in the narrow dtype."""

    def __init__(self, call: Invocation, dtype: DType, seed: int, exponent: float, kind: str) -> None:
        self.call, self.dtype = call.on(NUMPY), dtype
        random = np.random.default_rng(seed)
        floats = [x for x in self.call.tensors if x.dtype.is_floating]
        self.points: list[Tensor] = []
        for x in floats:
            column = random.normal(size=x.shape) if kind != "ties" else random.integers(-1, 2, x.shape) * 1.0
            if call.name in POSITIVE:
                column = abs(column) + 0.5
            if not self.points and call.name in PREPARED:
                assume(x.ndim >= 2 and x.shape[-1] == x.shape[-2])
                column = np.asarray(PREPARED[call.name](tb.asarray(column)))
            column = column + 3 * (kind == "offset")
            narrow = tb.asarray(column * 10.0**exponent, dtype=dtype)
            assume(bool(tb.all(tb.isfinite(narrow)).item()))
            self.points.append(tb.astype(narrow, DOUBLE).rename(*x.names))
        self.fixed = CONSTANT.get(call.name, 0)
        try:
            assume(self.points and self.results(self.points, DOUBLE))
        except TensorBackendError:  # from data
            assume(False)

    def __repr__(self) -> str:
        return f"{self.call.source} at {[point.tolist() for point in self.points]} in {self.dtype}"

    def results(self, points: Sequence[Tensor], dtype: DType) -> list[Tensor]:
        """The floating results of the call, and the parts of complex ones, computed in a dtype."""
        rest = iter(points)

        def operand(x: Tensor) -> Tensor:
            return tb.astype(next(rest), dtype) if x.dtype.is_floating else x

        call = self.call.mapped(operand)
        options = {
            name: dtype if isinstance(value, DType) and value.is_floating else value
            for name, value in call.options.items()
        }
        arguments = tuple(dtype if isinstance(x, DType) and x.is_floating else x for x in call.arguments)
        leaves = flatten(call._replace(arguments=arguments, options=options).run())[0]
        inexact = [x for x in leaves if isinstance(x, Tensor) and x.dtype.is_inexact]
        return [part for x in inexact for part in ((tb.real(x), tb.imag(x)) if x.dtype.is_complex else (x,))]

    def pulled(self, points: Sequence[Tensor], dtype: DType) -> tuple[list[Any], list[Any]]:
        """The results, and the gradients of their sum with weights, in float64."""
        narrow = [tb.astype(x, dtype) for x in points]
        fixed, moving = narrow[: self.fixed], narrow[self.fixed :]
        results, pullback = tb.vjp(lambda moving: self.results([*fixed, *moving], dtype), moving)
        cotangents = [
            tb.astype(tb.reshape(tb.cos(tb.iota(x.size, dtype="f64")), x.shape), self.dtype).astype(x.dtype)
            for x in results
        ]
        named = [cotangent.rename(*x.names) for cotangent, x in zip(cotangents, results, strict=True)]
        (gradients,) = pullback(named)
        return [np.asarray(x.astype("f64")) for x in results], [np.asarray(x.astype("f64")) for x in gradients]


@st.composite
def cases(draw: Any, name: str) -> Case:
    """Calls with elements of one scale."""
    dtype = draw(st.sampled_from(NARROW))
    call = draw(calls(name, dtype))
    exponent = draw(st.sampled_from([0, 0, -4, 3, -10, 10, -20, 20, -30, 30]))
    kind = draw(st.sampled_from(["normal", "ties", "offset"]))
    return Case(call, dtype, draw(st.integers(0, 1 << 20)), exponent, kind)


def largest(x: Any) -> float:
    return float(np.max(abs(x), initial=0.0))


@pytest.mark.parametrize("name", OPS)
def test_gradients_are_those_in_float64(name: str) -> None:
    @profile(3)
    @given(cases(name))
    def agree(case: Case) -> None:
        limits = tb.finfo(case.dtype)
        try:
            results, gradients = case.pulled(case.points, case.dtype)
            right, wanted = case.pulled(case.points, DOUBLE)
        except TensorBackendError:
            assume(False)
        assume(all(np.isfinite(x).all() for x in [*right, *wanted]))
        random = np.random.default_rng(0)
        changes = [np.zeros_like(x) for x in wanted]
        changed_results = [np.zeros_like(x) for x in right]
        for _ in range(2):
            moved = [x * tb.asarray(1 + limits.eps * random.choice([-1, 1], x.shape)) for x in case.points]
            others, other = case.pulled(moved, DOUBLE)
            changes = [np.maximum(a, abs(b - c)) for a, b, c in zip(changes, other, wanted, strict=True)]
            changed_results = [
                np.maximum(a, abs(b - c)) for a, b, c in zip(changed_results, others, right, strict=True)
            ]
        # Where the result itself is out of range, or not determined by rounded operands, nothing is promised.
        for got, exact, change in zip(results, right, changed_results, strict=True):
            allowed = ROUNDINGS * limits.eps * abs(exact) + CHANGES * largest(change) + limits.smallest_normal
            assume(bool((abs(got - exact) <= allowed).all()))
        for got, exact, change in zip(gradients, wanted, changes, strict=True):
            size = largest(exact)
            if size < limits.max / 1024:
                allowed = ROUNDINGS * limits.eps * size + CHANGES * largest(change) + limits.smallest_normal
                assert largest(got - exact) <= allowed, f"{case}: expected {exact.tolist()}, got {got.tolist()}"

    agree()


@pytest.mark.parametrize("name", sorted(WITHOUT_OPERANDS))
def test_an_op_that_is_left_out_has_no_floating_operand(name: str) -> None:
    @profile(5)
    @given(st.sampled_from(NARROW).flatmap(lambda dtype: calls(name, dtype)))
    def has_none(call: Invocation) -> None:
        assert not any(x.dtype.is_floating for x in call.tensors)

    has_none()


@pytest.mark.parametrize("name", sorted(COMPLEX))
def test_an_op_that_is_left_out_takes_only_complex_operands(name: str) -> None:
    with pytest.raises(DTypeError):
        public(name)(tb.ones(2))


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("dtype", NARROW)
def test_an_op_that_is_left_out_draws_other_numbers(name: str, dtype: DType) -> None:
    narrow, wide = (np.asarray(DRAWN[name](each).astype("f64")) for each in (dtype, DOUBLE))
    assert largest(narrow - wide) > 0.01


@pytest.mark.parametrize("name", OPS)
def test_nan_stays_in_its_example_and_forward_mode_is_reverse_mode(name: str) -> None:
    @profile(1)
    @given(cases(name))
    def stays(case: Case) -> None:
        fixed, moving = case.points[: case.fixed], [x.rename(*(None,) * x.ndim) for x in case.points[case.fixed :]]
        names = [x.names for x in case.points[case.fixed :]]

        def loss(points: Sequence[Tensor]) -> Tensor:
            renamed = [x.rename(*own) for x, own in zip(points, names, strict=True)]
            results = case.results([*fixed, *renamed], DOUBLE)
            flat = [tb.reshape(x.astype(DOUBLE), -1) for x in results]
            terms = [tb.sum(x * tb.cos(tb.iota(x.size, dtype="f64"))) for x in flat]
            return sum(terms[1:], terms[0])

        try:
            value, alone = tb.value_and_grad(loss)(moving)
            assume(bool(tb.isfinite(value).item()))  # the mean of nothing is NaN, and so is its derivative
            assume(all(bool(tb.all(tb.isfinite(x)).item()) for x in alone))
            pairs = [tb.stack([x, tb.full(x.shape, np.nan, dtype=x.dtype)]) for x in moving]
            beside = tb.vmap(tb.grad(loss))(pairs)
        except TensorBackendError:
            assume(False)
        directions = [tb.reshape(tb.sin(1 + tb.iota(x.size, dtype="f64")), x.shape) for x in moving]
        moved = tb.jvp(loss, (moving,), (directions,))[1].item()
        terms = [np.asarray(x * y) for x, y in zip(alone, directions, strict=True)]
        total, size = sum(x.sum() for x in terms), sum(abs(x).sum() for x in terms)
        assert abs(moved - total) <= 1e-5 * size + 1e-290  # of terms that may themselves cancel
        for x, y in zip(alone, beside, strict=True):
            assert largest(np.asarray(x - y[0])) <= 1e-9 * largest(np.asarray(x)) + 1e-290

    stays()
