"""A compiled program rounds where its casts and its dtypes say, and multiplies by bools as by numbers, as its ops do.

XLA removes a cast to a narrower dtype and back on a GPU, and turns a product with a bool into a selection everywhere.
On a CPU it computes a result of 16 bits in float32, and would not round it where the next op widens it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import ALL_DTYPES, NARROW_DTYPES, DType
from tensorbackend.errors import TensorBackendError
from tensorbackend.expr.trees import flatten
from tensorbackend.testing import assert_equal, profile
from tensorbackend.testing.source import public

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy,jax").split(",")
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 0.1, -1 / 3, 2.0**24 + 1, 2.0**53 + 2, 65519.0, 1e-3, 3.4e38, math.pi * 1e7])
STEPS = [dtype for dtype in (*ALL_DTYPES, *NARROW_DTYPES) if dtype.is_floating or dtype.bits >= 8]


@pytest.mark.parametrize("backend", BACKENDS)
def test_casts_round(backend: str) -> None:
    @profile(15)
    @given(st.lists(st.sampled_from(STEPS), min_size=3, max_size=4), st.lists(NUMBERS, min_size=1, max_size=4))
    @example([tb.float64, tb.float32, tb.float64], [0.1])
    @example([tb.int32, tb.float32, tb.float64], [2.0**24 + 1])
    def agrees(dtypes: list[DType], numbers: list[float]) -> None:
        first, *rest = dtypes

        def cast_in_turn(x: tb.Tensor) -> tb.Tensor:
            for dtype in rest:
                x = tb.astype(tb.real(x) if x.dtype.is_complex and not dtype.is_complex else x, dtype)
            return x

        x = tb.astype(tb.tensor(numbers, dtype="f64", backend=backend), first)
        assert_equal(tb.jit(cast_in_turn)(x), cast_in_turn(x))

    agrees()


ORDERED_BY_XLA = frozenset({"dct", "idct", "irfft", "rfft"})
"""Ops of several sums, whose order XLA chooses for a program as a whole."""


@cache
def functions_of_one_tensor() -> dict[str, Callable[..., Any]]:
    """The public functions of one tensor alone, without options, that take floats and need no data."""
    found: dict[str, Callable[..., Any]] = {}
    for name in sorted(OPS.keys() - ORDERED_BY_XLA):
        try:
            found[name] = public(name)
            tb.trace(lambda x, name=name: found[name](x))(tb.template((3,), "f16"))
        except (TensorBackendError, AttributeError, TypeError):
            found.pop(name, None)
    return found


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_results_of_16_bits_round(backend: str, dtype: str) -> None:
    random = np.random.default_rng(0)
    x, y = (tb.astype(tb.asarray(random.uniform(0.05, 0.45, 300), backend=backend), dtype) for _ in range(2))
    assert len(functions_of_one_tensor()) > 100

    @profile(30)
    @given(st.sampled_from(sorted(functions_of_one_tensor())))
    @example("argsort")
    @example("cumulative_sum")
    @example("expm1")
    @example("softmax")
    def agrees(name: str) -> None:
        def program(x: tb.Tensor, y: tb.Tensor) -> Any:
            return functions_of_one_tensor()[name](x + y)  # a product could be fused with a sum

        one_by_one, compiled = flatten(program(x, y))[0], flatten(tb.jit(program)(x, y))[0]
        assert [part.to_binary() for part in one_by_one] == [part.to_binary() for part in compiled]

    agrees()


PRODUCTS: dict[str, Callable[[tb.Tensor, tb.Tensor], tb.Tensor]] = {
    "multiply": lambda mask, x: mask * x,
    "multiply by a cast mask": lambda mask, x: x * tb.astype(mask, x.dtype),
    "sum of products": lambda mask, x: tb.sum(mask * x),
    "vector product": lambda mask, x: mask @ x,
    "matrix product": lambda mask, x: tb.stack([mask, mask]) @ tb.stack([x, x], axis=1),
    "einsum": lambda mask, x: tb.einsum("i,i->i", mask, x),
    "outer": lambda mask, x: tb.linalg.outer(mask, x),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_false_times_infinity_is_nan(backend: str, name: str) -> None:
    @profile(5)
    @given(
        st.lists(
            st.tuples(st.booleans(), st.sampled_from([0.0, 1.5, math.inf, -math.inf, math.nan])),
            min_size=1,
            max_size=4,
        ),
        st.sampled_from(["f16", "bf16", "f32", "f64", "c64"]),
    )
    def agrees(pairs: list[tuple[bool, float]], dtype: str) -> None:
        mask = tb.tensor([chosen for chosen, _ in pairs], backend=backend)
        x = tb.tensor([number for _, number in pairs], dtype=dtype, backend=backend)
        expected = PRODUCTS[name](*(operand.backend_copy("binary") for operand in (mask, x)))
        for found in (PRODUCTS[name](mask, x), tb.jit(PRODUCTS[name])(mask, x)):
            assert_equal(found.backend_copy("binary"), expected)

    agrees()
