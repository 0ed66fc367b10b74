"""The operators of exported transformers and quantised models, compared with onnxruntime, whose own they are."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy
import pytest
import tensorbackend as tb
from small_models import Draws, by_onnxruntime, single

from tensorbackend_onnx import load

draw = Draws()
floats, codes, scale = draw.floats, draw.codes, draw.scale


def cosines(*shape: int) -> Any:
    return numpy.cos(floats(*shape))


def array(numbers: Any, dtype: str = "i") -> Any:
    return numpy.array(numbers, dtype)


def lstm(directions: int, dtype: str, per: tuple[int, ...] = (), lengths: Any = None, **attributes: Any) -> Any:
    """A layer of 5 units, on 3 features of 2 examples."""
    weights = [codes(directions, size, 20, dtype=dtype) for size in (3, 5)]
    states = [floats(directions, 2, 5) for _ in range(2)]
    points = numpy.full((directions, *per), 3 if dtype == "B" else 0, dtype)
    scales = [scale(directions, *per), points, scale(directions, *per), points]
    inputs = [floats(4, 2, 3), *weights, floats(directions, 40), lengths, *states, None, *scales]
    return single("DynamicQuantizeLSTM", *inputs, results="fff", hidden_size=5, **attributes)


QUERY, KEY, ONE = floats(2, 3, 8), floats(2, 5, 8), [floats(2, 1, 8) for _ in range(3)]
PADDED, GROUPED = array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]), {"num_heads": 4, "kv_num_heads": 2}
WORDS = [draw.rng.integers(0, 9, (2, 4)).astype("i"), draw.rng.integers(0, 2, (2, 4)).astype("i")]

TRANSFORMERS = {
    "fused_matmul": single("FusedMatMul", floats(2, 4, 3), floats(2, 5, 4), transA=1, transB=1, alpha=0.5),
    "gelu": single("Gelu", floats(2, 5)),
    "bias_gelu": single("BiasGelu", floats(2, 5), floats(5)),
    "fast_gelu": single("FastGelu", floats(2, 5), floats(5)),
    "quick_gelu": single("QuickGelu", floats(2, 5), alpha=1.5),
    "skip_layer_norm": single(
        "SkipLayerNormalization", QUERY, floats(2, 3, 8), floats(8), floats(8), floats(8), epsilon=1e-5
    ),
    "skip_simplified_layer_norm": single(
        "SkipSimplifiedLayerNormalization", QUERY, floats(2, 3, 8), floats(8), epsilon=1e-5
    ),
    "embed_layer_norm": single(
        "EmbedLayerNormalization",
        *WORDS,
        *map(floats, (9, 6, 2), (8, 8, 8)),
        floats(8),
        floats(8),
        unused=1,
        epsilon=1e-5,
    ),
    "attention": single("Attention", QUERY, floats(8, 24), floats(24), array([3, 2]), num_heads=2),
    "attention_causal": single("Attention", QUERY, floats(8, 24), floats(24), num_heads=2, unidirectional=1),
    "multi_head_attention": single("MultiHeadAttention", QUERY, KEY, floats(2, 5, 8), floats(24), num_heads=2),
    "multi_head_attention_mask": single("MultiHeadAttention", QUERY, KEY, floats(2, 5, 8), None, PADDED, num_heads=2),
    "multi_head_attention_cache": single(
        "MultiHeadAttention", *ONE, None, None, None, floats(2, 2, 4, 4), floats(2, 2, 4, 4), results="fff", num_heads=2
    ),
    "rotary_embedding": single(
        "RotaryEmbedding", QUERY, array([[0, 1, 2], [2, 3, 4]], "l"), cosines(6, 2), cosines(6, 2)
    ),
    "rotary_embedding_interleaved": single(
        "RotaryEmbedding", floats(2, 2, 3, 4), array([1], "l"), cosines(6, 2), cosines(6, 2), interleaved=1
    ),
    "group_query_attention": single(
        "GroupQueryAttention",
        *(floats(2, 3, 64), floats(2, 3, 32), floats(2, 3, 32), None, None, array([2, 2]), array(3)),
        results="fff",
        **GROUPED,
    ),
    "group_query_attention_decode": single(
        "GroupQueryAttention",
        *(floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32), floats(2, 2, 4, 16), floats(2, 2, 4, 16)),
        *(array([4, 4]), array(5), cosines(8, 8), cosines(8, 8)),
        results="fff",
        do_rotary=1,
        **GROUPED,
    ),
}

BYTES = draw.rng.integers(0, 255, (2, 3)).astype("B"), draw.rng.integers(0, 255, (3, 4)).astype("B")
X, Y = (codes(2, 4), scale(), array(20, "B")), (codes(2, 4), scale(), array(10, "B"))
RESULT = scale(), array(30, "B")
IMAGE, KERNEL = floats(2, 3, 5, 5), floats(4, 3, 3, 3)

QUANTISED = {
    "matmul_integer_to_float": single(
        "MatMulIntegerToFloat", *BYTES, scale(), scale(), array(100, "B"), array(120, "B"), floats(4)
    ),
    "dynamic_quantize_matmul": single("DynamicQuantizeMatMul", floats(2, 3), BYTES[1], scale(), array(120, "B")),
    "lstm": lstm(1, "B", lengths=array([4, 3])),
    "lstm_of_both_directions": lstm(2, "b", (20,), direction="bidirectional"),
    "attention": single(
        "QAttention",
        *(codes(2, 3, 8), codes(8, 24, dtype="b"), floats(24), scale(), scale()),
        *(array([3, 2]), array(7, "B"), array(0, "b")),
        num_heads=2,
    ),
    "gemm": single("QGemm", *X, codes(3, 4), *Y[1:], codes(3).astype("i"), *RESULT, results="B", transB=1, alpha=0.5),
    "gemm_to_floats": single("QGemm", *X, codes(4, 3), *Y[1:]),
    "add": single("QLinearAdd", *X, *Y, *RESULT, results="B"),
    "multiply": single("QLinearMul", *X, *Y, *RESULT, results="B"),
    "sigmoid": single("QLinearSigmoid", *X, array(0.005, "f"), array(0, "B"), results="B"),
    "leaky_relu": single("QLinearLeakyRelu", *X, *RESULT, results="B", alpha=0.2),
    "softmax": single("QLinearSoftmax", *X, array(1 / 256, "f"), array(0, "B"), results="B", axis=-1, opset=13),
    "concat": single("QLinearConcat", *RESULT, *X, *Y, results="B", axis=1),
    "global_average_pool": single("QLinearGlobalAveragePool", codes(2, 3, 4, 4), *X[1:], *RESULT, results="B"),
    "global_average_pool_of_last_channels": single(
        "QLinearGlobalAveragePool", codes(2, 4, 4, 3), *X[1:], *RESULT, results="B", channels_last=1
    ),
    "average_pool": single(
        "QLinearAveragePool",
        *(codes(2, 3, 5, 5), *X[1:], *RESULT),
        results="B",
        kernel_shape=[2, 2],
        strides=[2, 2],
        pads=[1, 1, 0, 0],
    ),
    "matmul_of_4_bits": single(
        "MatMulNBits", floats(2, 40), codes(6, 3, 8) * 4, scale(18), codes(12), K=40, N=6, bits=4, block_size=16
    ),
    "matmul_of_4_bits_around_8": single(
        "MatMulNBits", floats(2, 32), codes(6, 2, 8) * 4, scale(12), K=32, N=6, bits=4, block_size=16
    ),
    "matmul_of_8_bits": single(
        "MatMulNBits", floats(2, 32), codes(6, 2, 16), scale(12), codes(12), K=32, N=6, bits=8, block_size=16
    ),
    "fused_conv": single(
        "FusedConv", IMAGE, KERNEL, floats(4), activation="LeakyRelu", activation_params=[0.1], pads=[1, 1, 1, 1]
    ),
    "fused_conv_and_sum": single("FusedConv", IMAGE, KERNEL, floats(4), floats(2, 4, 3, 3), activation="Relu"),
    "fused_gemm": single(
        "FusedGemm", floats(2, 3), floats(3, 4), floats(4), activation="LeakyRelu", activation_alpha=0.3
    ),
}

CASES = [(TRANSFORMERS, ("numpy", "jax")), (QUANTISED, ("numpy", "binary"))]


@pytest.mark.parametrize(
    ("case", "backend"),
    [
        pytest.param(table[name], backend, id=f"{name}-{backend}")
        for table, backends in CASES
        for name, backend in product(table, backends)
    ],
)
def test_an_operator_computes_what_onnxruntime_computes(case: Any, backend: str) -> None:
    proto, given = case
    right = by_onnxruntime(proto, *given)
    results = load(proto)(*(tb.asarray(x, backend=backend) for x in given))
    results = results if isinstance(results, tuple) else (results,)
    assert len(results) == len(right)
    for result, expected in zip(map(numpy.asarray, results), right, strict=True):
        assert result.dtype == expected.dtype
        if result.dtype == "uint8":  # onnxruntime multiplies by the inverse of a scale: halves are rounded otherwise
            assert numpy.abs(result.astype(int) - expected).max() <= 1
            assert numpy.mean(result != expected) < 0.2
        else:
            numpy.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
