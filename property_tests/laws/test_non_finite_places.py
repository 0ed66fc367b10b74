"""An infinity or a NaN at one place of an operand affects the results that it takes part in, as in NumPy."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.ops.composite import convolution
from tensorbackend.testing import profile
from tensorbackend.testing.strategies import Draw

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,binary,jax").split(",")
EXAMPLES = {"jax": 6}
"""Fewer where each shape is compiled."""
MODES = ("full", "same", "valid")

Mode = Literal["full", "same", "valid"]


def vector(draw: Any, size: int, dtype: str) -> Any:
    """A vector with up to two special numbers."""
    random = numpy.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = random.normal(size=size).astype(dtype)
    for _ in range(draw(st.integers(0, 2))):
        values[draw(st.integers(0, size - 1))] = draw(st.sampled_from([numpy.nan, numpy.inf, -numpy.inf, 0.0]))
    return values


@st.composite
def pairs(draw: Draw) -> tuple[Any, Any, Mode]:
    sizes = [draw(st.integers(1, 24)) for _ in range(2)]
    first, second = (vector(draw, size, draw(st.sampled_from(["float32", "float64"]))) for size in sizes)
    return first, second, draw(st.sampled_from(MODES))


def assert_close(result: Any, expected: Any) -> None:
    numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-4, atol=1e-4)


def slopes(first: Any, second: Any, cotangent: Any, mode: Mode) -> list[Any]:
    """The sums of the cotangents of each product that the convolution has, for either operand."""
    shorter = min(len(first), len(second))
    start = {"full": 0, "same": (shorter - 1) // 2, "valid": shorter - 1}[mode]
    results: list[Any] = [numpy.zeros(len(first)), numpy.zeros(len(second))]
    for place, weight in enumerate(cotangent):
        for i, x in enumerate(first):
            k = place + start - i
            if 0 <= k < len(second):
                results[0][i] += weight * second[k]
                results[1][k] += weight * x
    return results


@pytest.mark.parametrize("most", [2, 512])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_product_of_shifted_vectors_multiplies_no_padding(
    backend: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With parts of few elements of the shorter vector, and with one."""
    monkeypatch.setattr(convolution, "_MOST_KERNEL_ELEMENTS", most)
    tb.clear_caches()

    @profile(EXAMPLES.get(backend, 40))
    @given(pairs())
    def multiplies_elements_alone(drawn: tuple[Any, Any, Mode]) -> None:
        first, second, mode = drawn
        x, y = (tb.asarray(values, backend=backend) for values in (first, second))
        with numpy.errstate(all="ignore"):
            convolved, correlated = numpy.convolve(first, second, mode), numpy.correlate(first, second, mode)
            weights = numpy.arange(1.0, len(convolved) + 1)
            expected = slopes(first, second, weights, mode)
        assert_close(tb.convolve(x, y, mode=mode), convolved)
        assert_close(tb.correlate(x, y, mode=mode), correlated)
        assert_close(np.convolve(np.asarray(x), np.asarray(y), mode), convolved)
        _, pull = tb.vjp(lambda x, y: tb.convolve(x, y, mode=mode), x, y)
        for result, slope in zip(pull(tb.asarray(weights, dtype=(x * y[:1]).dtype, like=x)), expected, strict=True):
            assert_close(result, slope)

    multiplies_elements_alone()
    tb.clear_caches()


CALLS = (
    "np.convolve(a, v)", "np.convolve(v, a, 'same')", "np.correlate(a, v, 'full')", "np.polymul(a, v)",
    "np.polyadd(a, v)", "np.polysub(v, a)", "np.polyval(v, a)", "np.polyder(a)", "np.polyint(a, 2)", "np.diff(a)",
    "np.ediff1d(a, v[:1], v[1:])", "np.gradient(a)", "np.trapezoid(a, dx=0.5)", "np.cumsum(a)", "np.cumprod(a)",
    "np.pad(a, 3)", "np.pad(a, 2, 'edge')", "np.pad(a, 2, 'linear_ramp')", "np.interp(v, np.arange(3.0), a[:3])",
    "np.tril(M)", "np.triu(M, 1)", "np.diag(M)", "np.diag(a)", "np.diagflat(a, 1)", "np.trace(M)", "np.kron(v, M)",
    "np.vander(a, 3)", "np.outer(a, v)", "np.cross(M[:, :3], M[0, :3])", "np.einsum('ii->i', M)",
    "np.einsum('ij,j->i', M, M[0])", "np.dot(M, M)", "np.inner(M, M)", "np.tensordot(M, M, 1)", "np.matmul(M, M)",
    "np.bincount(i, a)", "np.histogram(i, 4, weights=a)[0]", "np.add.reduceat(a, [0, 2])", "np.add.accumulate(M, 1)",
    "np.average(M, 0, weights=M[:, 0])", "np.cov(M)", "np.roll(a, 2)", "np.choose(i % 2, [a, -a])", "np.unwrap(a)",
    "np.where(i > 2, a, 0)", "np.select([i > 2, i > 0], [a, 2 * a])", "np.piecewise(a, [i > 2], [abs, 7.0])",
    "np.nan_to_num(M)", "np.nansum(M, 0)", "np.nancumsum(M, 1)", "np.nanmean(M, 1)", "np.nanmax(M, 0)",
)  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_a_call_spreads_what_is_not_finite_as_numpy_does(call: str) -> None:
    @profile(4)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        operands = {
            "a": vector(data.draw, 6, "float64"), "v": vector(data.draw, 3, "float64"),
            "M": vector(data.draw, 16, "float64").reshape(4, 4),
            "i": numpy.array(data.draw(st.lists(st.integers(0, 4), min_size=6, max_size=6))),
        }  # fmt: skip
        with numpy.errstate(all="ignore"):
            expected = eval(call, {"np": numpy, **operands})
            result = eval(call, {"np": np} | {name: np.array(values) for name, values in operands.items()})
        assert_close(result, expected)

    check()
