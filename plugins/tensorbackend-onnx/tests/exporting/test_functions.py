"""Public functions that are made of ops are exported: onnxruntime computes from the model what they compute.

What is one op is drawn in `test_every_op`. Left out are functions of files, devices, types and Python's own values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import tensorbackend as tb
from small_models import Draws, check_model
from tensorbackend import nn, optimize, random, sparse

from tensorbackend_onnx import export

draw = Draws()
rng, floats = draw.rng, draw.floats


def between(*shape: int) -> Any:
    return rng.uniform(0.1, 0.9, shape).astype("f")


def ints(high: int, *shape: int) -> Any:
    return rng.integers(0, high, shape)


def labels(*shape: int) -> Any:
    return rng.integers(0, 2, shape).astype("f")


X, POSITIVE, SIGNAL = floats(4, 6), between(4, 6), floats(2, 64)
MATRIX = (lambda m: (m @ m.T + numpy.eye(4)).astype("f"))(floats(4, 4))
HEADS = {name: tb.asarray(floats(8, 8)) for name in ("query", "key", "value", "output")}
SPECTRUM = (floats(2, 4, 9) + 1j * floats(2, 4, 9)).astype("F")
COORDINATES = tb.asarray(ints(4, 7)), tb.asarray(ints(6, 7))
CELL = {
    gates: {
        "input": tb.asarray(floats(3, gates * 4)),
        "recurrent": tb.asarray(floats(4, gates * 4)),
        "bias": tb.asarray(floats(gates * 4)),
    }
    for gates in (3, 4)
}

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    # attention
    "attention": (nn.attention, (floats(2, 3, 4, 8), floats(2, 3, 5, 8), floats(2, 3, 5, 8))),
    "attention_weights": (nn.attention_weights, (floats(2, 3, 4, 8), floats(2, 3, 5, 8))),
    "multi_head_attention": (lambda x: nn.multi_head_attention(HEADS, x, heads=2), (floats(2, 3, 8),)),
    "rotary": (nn.rotary, (floats(2, 3, 4, 8),)),
    "sinusoidal_positions": (lambda x: x + nn.sinusoidal_positions(3, 8), (floats(3, 8),)),
    # images
    "max_pool": (lambda x: nn.max_pool(x, {2: 3, 3: 2}, strides={2: 2, 3: 2}), (floats(2, 3, 7, 8),)),
    "mean_pool": (lambda x: nn.mean_pool(x, {2: 3, 3: 2}), (floats(2, 3, 7, 8),)),
    "conv_transpose": (
        lambda x, k: nn.conv_transpose(x, k, axis=1, strides=2),
        (floats(2, 3, 5, 5), floats(3, 4, 3, 3)),
    ),
    "group_norm": (lambda x: nn.group_norm(x, tb.ones(4), tb.zeros(4), groups=2, axis=1), (floats(2, 4, 5),)),
    "complex conv": (lambda x, k: tb.conv(x, k), (floats(1, 2, 6).astype("F") * (1 + 2j), floats(3, 2, 2).astype("F"))),
    # losses
    "mean_squared_error": (nn.mean_squared_error, (X, POSITIVE)),
    "huber": (nn.huber, (X, POSITIVE)),
    "binary_cross_entropy": (nn.binary_cross_entropy, (X, labels(4, 6))),
    "triplet": (nn.triplet, (X, POSITIVE, floats(4, 6))),
    "ctc_loss": (
        lambda x: nn.ctc_loss(nn.log_softmax(x), tb.tensor([[1, 2], [3, 1]]), blank=0),
        (floats(2, 5, 4),),
    ),
    "edit_distance": (nn.edit_distance, (ints(3, 2, 4), ints(3, 2, 5))),
    # layers
    "dense": (lambda x, w, b: nn.dense(x, w, b), (X, floats(6, 3), floats(3))),
    "embedding": (nn.embedding, (ints(9, 2, 4), floats(9, 3))),
    # Fourier transforms and windows
    "fft2": (tb.fft.fft2, (X,)),
    "ifft2": (tb.fft.ifft2, (SPECTRUM,)),
    "fft": (lambda x: tb.fft.fft(x, n=8, norm="ortho"), (X,)),
    "rfft": (tb.fft.rfft, (SIGNAL,)),
    "irfft": (tb.fft.irfft, (SPECTRUM,)),
    "complex numbers": (
        lambda x, y: (x * y, x / (y + 3), tb.conj(x), tb.exp(x), tb.log(y), tb.sum(x, axis=0), x == y, tb.abs(x) * y),
        (SPECTRUM[0], SPECTRUM[1]),
    ),
    "complex products": (lambda x, y: (x @ y.mT, tb.einsum("ij,kj->ik", x, y)), (SPECTRUM[0], SPECTRUM[1])),
    "complex moves": (
        lambda x: (tb.pad(x, [(1, 0), (0, 2)]), x[1:, ::-1], tb.roll(x, 1), tb.where(tb.real(x) > 0, x, 1j), x.mT),
        (SPECTRUM[0],),
    ),
    "complex loops": (
        lambda x: (
            tb.scan(lambda c, row: (c + row, c * row), tb.zeros(9, dtype="complex64"), x),
            tb.cond(tb.sum(tb.abs(x)) > 0, lambda: x * 1j, lambda: x),
        ),
        (SPECTRUM[0],),
    ),
    "stft": (lambda x: nn.stft(x, frame_length=16, frame_step=8), (SIGNAL,)),
    "windows": (
        lambda x: (x * nn.hann(6), x * nn.hamming(6), x * nn.blackman(6), x * nn.kaiser(6, 8.6)),
        (X,),
    ),
    "mel_filters": (lambda x: x @ nn.mel_filters(6, 4, sample_rate=8000.0), (X,)),
    # numbers and shapes
    "gcd": (lambda x, y: (tb.gcd(x, y), tb.lcm(x, y)), (ints(30, 6), ints(30, 6) + 1)),
    "integers by zero": (
        lambda x, y: (x % y, x // y, tb.trunc_divide(x, y), tb.fmod(x, y), x % 3),
        (ints(9, 6) - 4, numpy.array([0, 1, -1, 0, 2, -3])),
    ),
    "padding as large as windows": (lambda x: tb.window_sum(x, (1, 2), padding=[(0, 0), (2, 3)]), (X,)),
    "gamma": (lambda x: (tb.lgamma(x), tb.digamma(x), tb.lgamma(x * 40), tb.lgamma(-x)), (POSITIVE,)),
    "likes": (lambda x: (tb.zeros_like(x), tb.ones_like(x), tb.full_like(x, 3.0), x), (X,)),
    "logspace": (lambda x: (x * tb.logspace(0, 1, 6), x * tb.geomspace(1, 8, 6)), (X,)),
    "correlation": (tb.correlation, (X,)),
    "lexsort": (lambda x, y: tb.lexsort([x, y]), (ints(3, 9), ints(3, 9))),
    "delete": (lambda x: (tb.delete(x, 1, axis=0), tb.insert(x, 2, 5.0, axis=1)), (X,)),
    "axes": (lambda x: tb.split_axis(tb.merge_axes(x, (0, 1)), 0, (3, 8)), (X,)),
    "cholesky_solve": (
        lambda a, b: tb.linalg.cholesky_solve(tb.linalg.cholesky(a), b),
        (MATRIX, floats(4, 2)),
    ),
    "polyval": (lambda x: tb.polyval(tb.tensor([1.0, 2.0, 3.0]), x), (X,)),
    "quantize": (lambda x: tb.dequantize(tb.quantize(x)), (X,)),
    # derivatives and transforms
    "gradients": (
        lambda x: (
            tb.grad(lambda x: tb.sum(tb.tanh(x) ** 2))(x),
            tb.jvp(tb.exp, (x,), (x,)),
            tb.jacobian(lambda row: row**3)(x[0]),
            tb.hessian(lambda row: tb.sum(row**3))(x[0]),
        ),
        (X,),
    ),
    "vmap": (lambda x: tb.vmap(lambda row: tb.cumulative_sum(row) * row[0])(x), (X,)),
    "map_along_axis": (lambda x: tb.map_along_axis(lambda row: row / tb.sum(row), x, axis=1), (POSITIVE,)),
    "associative_scan": (lambda x: tb.associative_scan(tb.multiply, x, axis=1), (X,)),
    "switch": (lambda i, x: tb.switch(i, [lambda x: x, lambda x: -x, lambda x: x * 2], x), (numpy.array(2), X)),
    "checkpoint": (lambda x: tb.checkpoint(lambda x: tb.sin(tb.exp(x)))(x), (X,)),
    "trees": (lambda x: tb.tree_map(lambda leaf: leaf * 2, {"a": x, "b": [x, x + 1]}), (X,)),
    "adam": (
        lambda p, g: optimize.apply_updates(p, optimize.adam(0.1).update(g, optimize.adam(0.1).init(p), p)[0]),
        (X, POSITIVE),
    ),
    "sparse": (lambda x: sparse.matvec(sparse.coo(tb.ones(7), *COORDINATES, (4, 6)), x), (floats(6),)),
    "betainc": (tb.betainc, (between(5) * 3, between(5) * 3, between(5))),
    "lstm": (lambda x: nn.lstm(x, CELL[4])[0], (floats(2, 5, 3),)),
    "gru": (lambda x: nn.gru(x, CELL[3])[0], (floats(2, 5, 3),)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_exported_and_computes_the_same(name: str) -> None:
    function, arrays = FUNCTIONS[name]
    proto = export(function, *(tb.asarray(x).template for x in arrays))
    check_model(proto, function, arrays)


def test_complex_numbers_are_pairs_also_as_parameters_and_with_open_axes() -> None:
    weights = {"w": tb.asarray((floats(9, 3) + 1j * floats(9, 3)).astype("F"))}

    def function(parameters: Any, x: Any) -> Any:
        return tb.fft.fft(x @ parameters["w"], axis=1)

    proto = export(function, "c64[batch=2, 9]", parameters=weights, open=("batch",))
    assert [axis.dim_param or axis.dim_value for axis in proto.graph.input[0].type.tensor_type.shape.dim] == [
        "batch",
        9,
        2,
    ]
    for size in (1, 3, 4):
        x = (floats(size, 9) + 1j * floats(size, 9)).astype("F")
        check_model(proto, function, [x], [("batch", None)], weights)


def test_random_numbers_are_refused() -> None:
    with pytest.raises(tb.errors.UnsupportedOp, match="an op that ONNX has"):
        export(lambda x: x + random.gamma(random.key(0), 2.0, (3,)), "f32[3]")
