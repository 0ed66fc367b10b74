"""Norms on JAX near the ends of the range of a dtype."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb


@pytest.mark.parametrize("order", [2, 3, -1, 0.5])
@pytest.mark.parametrize(("dtype", "size"), [("f32", 1e38), ("f64", 1e308), ("bf16", 1e38), ("c64", 1e38)])
def test_elements_whose_reciprocal_is_subnormal(dtype: str, size: float, order: float) -> None:
    """XLA multiplies by the reciprocal of a divisor that it broadcasts, and treats subnormals as zeros."""
    x = tb.asarray([size / 5, -size / 10], dtype=dtype, backend="jax")
    large = tb.asarray([size, -size / 2], dtype=dtype, backend="jax") if order != 0.5 else x
    for row in (x, large):
        wide = abs(np.asarray(row.astype("c128" if row.dtype.is_complex else "f64"))).astype(np.longdouble)
        unit = wide[0]
        expected = float(np.sum((wide / unit) ** order) ** (1 / order) * unit)
        norms = (tb.linalg.vector_norm(row, ord=order), tb.jit(lambda x: tb.linalg.vector_norm(x, ord=order))(row))
        assert [float(norm) for norm in norms] == [pytest.approx(expected, rel=2 * tb.finfo(dtype).eps + 1e-6)] * 2
