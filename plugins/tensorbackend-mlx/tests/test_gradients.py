"""Gradients on MLX compared with those of NumPy's backend in float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest
import tensorbackend as tb

VALUES = numpy.random.default_rng(0).uniform(0.2, 1.5, (4, 6))
MATRIX = numpy.random.default_rng(1).uniform(-1, 1, (6, 6))


def constant(x: tb.Tensor, array: numpy.ndarray) -> tb.Tensor:
    return tb.astype(tb.asarray(array.astype(numpy.float32), backend=x.backend), x.dtype)


FUNCTIONS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "elementwise": lambda x: tb.exp(tb.sin(x)) * tb.log(x) / (1 + tb.sigmoid(x)) + tb.erf(x) ** 3,
    "matmul": lambda x: tb.tanh(x @ constant(x, MATRIX)),
    "softmax": lambda x: tb.softmax(x, axis=-1) * constant(x, VALUES) + tb.logsumexp(x, axis=-1, keepdims=True),
    "reductions": lambda x: (
        tb.max(x, axis=0) + tb.prod(x, axis=0) + tb.var(x, axis=0) + tb.cumulative_sum(x, axis=0)[1]
    ),
    "sorting": lambda x: tb.sort(x, axis=1)[:, ::2] * 2,
    "indexing": lambda x: x[1:, [0, 5, 5]] ** 2,
    "linalg": lambda x: tb.linalg.solve(x[:, :4] + 3 * tb.eye(4, backend=x.backend, dtype=x.dtype), x[:, 4:]),
    "conv": lambda x: tb.conv(x[None, None], x[None, None, :2, :3], padding="same"),
    "windows": lambda x: tb.nn.max_pool(x, (2, 2)),
    "norms": lambda x: tb.nn.layer_norm(x) + tb.nn.rms_norm(x),
    "attention": lambda x: tb.nn.attention(x, x * 2, x, causal=True),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree(name: str) -> None:
    function = FUNCTIONS[name]
    slope = tb.grad(lambda x: tb.sum(function(x) * 0.5))
    wanted = numpy.asarray(slope(tb.asarray(VALUES, backend="numpy")))
    given = numpy.asarray(slope(tb.asarray(VALUES.astype(numpy.float32), backend="mlx")))
    assert numpy.allclose(given, wanted, rtol=2e-4, atol=2e-5)
