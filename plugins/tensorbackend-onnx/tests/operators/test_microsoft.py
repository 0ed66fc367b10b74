"""The operators of exported transformers and quantised models, compared with onnxruntime, whose own they are."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import tensorbackend as tb
from small_models import by_onnxruntime, single

from tensorbackend_onnx import load

rng = numpy.random.default_rng(0)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape).astype("f")


def cosines(*shape: int) -> Any:
    return numpy.cos(floats(*shape))


CASES: dict[str, tuple[str, dict[str, Any], int, dict[str, Any]]] = {
    "fused_matmul": (
        "FusedMatMul",
        {"a": floats(2, 4, 3), "b": floats(2, 5, 4)},
        1,
        {"transA": 1, "transB": 1, "alpha": 0.5},
    ),
    "gelu": ("Gelu", {"x": floats(2, 5)}, 1, {}),
    "bias_gelu": ("BiasGelu", {"x": floats(2, 5), "b": floats(5)}, 1, {}),
    "fast_gelu": ("FastGelu", {"x": floats(2, 5), "b": floats(5)}, 1, {}),
    "quick_gelu": ("QuickGelu", {"x": floats(2, 5)}, 1, {"alpha": 1.5}),
    "skip_layer_norm": (
        "SkipLayerNormalization",
        {"x": floats(2, 3, 8), "s": floats(2, 3, 8), "g": floats(8), "o": floats(8), "b": floats(8)},
        1,
        {"epsilon": 1e-5},
    ),
    "skip_simplified_layer_norm": (
        "SkipSimplifiedLayerNormalization",
        {"x": floats(2, 3, 8), "s": floats(2, 3, 8), "g": floats(8)},
        1,
        {"epsilon": 1e-5},
    ),
    "embed_layer_norm": (
        "EmbedLayerNormalization",
        {
            "w": rng.integers(0, 9, (2, 4)).astype("i"),
            "s": rng.integers(0, 2, (2, 4)).astype("i"),
            "we": floats(9, 8),
            "pe": floats(6, 8),
            "se": floats(2, 8),
            "g": floats(8),
            "o": floats(8),
        },
        1,
        {"epsilon": 1e-5},
    ),
    "attention": (
        "Attention",
        {"x": floats(2, 3, 8), "w": floats(8, 24), "b": floats(24), "m": numpy.array([3, 2], "i")},
        1,
        {"num_heads": 2},
    ),
    "attention_causal": (
        "Attention",
        {"x": floats(2, 3, 8), "w": floats(8, 24), "b": floats(24)},
        1,
        {"num_heads": 2, "unidirectional": 1},
    ),
    "multi_head_attention": (
        "MultiHeadAttention",
        {"q": floats(2, 3, 8), "k": floats(2, 5, 8), "v": floats(2, 5, 8), "b": floats(24)},
        1,
        {"num_heads": 2},
    ),
    "multi_head_attention_mask": (
        "MultiHeadAttention",
        {
            "q": floats(2, 3, 8),
            "k": floats(2, 5, 8),
            "v": floats(2, 5, 8),
            "b": None,
            "m": numpy.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "i"),
        },
        1,
        {"num_heads": 2},
    ),
    "multi_head_attention_cache": (
        "MultiHeadAttention",
        {
            "q": floats(2, 1, 8),
            "k": floats(2, 1, 8),
            "v": floats(2, 1, 8),
            "b": None,
            "m": None,
            "ab": None,
            "pk": floats(2, 2, 4, 4),
            "pv": floats(2, 2, 4, 4),
        },
        3,
        {"num_heads": 2},
    ),
    "rotary_embedding": (
        "RotaryEmbedding",
        {"x": floats(2, 3, 8), "p": numpy.array([[0, 1, 2], [2, 3, 4]]), "c": cosines(6, 2), "s": cosines(6, 2)},
        1,
        {},
    ),
    "rotary_embedding_interleaved": (
        "RotaryEmbedding",
        {"x": floats(2, 2, 3, 4), "p": numpy.array([1]), "c": cosines(6, 2), "s": cosines(6, 2)},
        1,
        {"interleaved": 1},
    ),
    "group_query_attention": (
        "GroupQueryAttention",
        {
            "q": floats(2, 3, 64),
            "k": floats(2, 3, 32),
            "v": floats(2, 3, 32),
            "pk": None,
            "pv": None,
            "n": numpy.array([2, 2], "i"),
            "t": numpy.array(3, "i"),
        },
        3,
        {"num_heads": 4, "kv_num_heads": 2},
    ),
    "group_query_attention_decode": (
        "GroupQueryAttention",
        {
            "q": floats(2, 1, 64),
            "k": floats(2, 1, 32),
            "v": floats(2, 1, 32),
            "pk": floats(2, 2, 4, 16),
            "pv": floats(2, 2, 4, 16),
            "n": numpy.array([4, 4], "i"),
            "t": numpy.array(5, "i"),
            "c": cosines(8, 8),
            "s": cosines(8, 8),
        },
        3,
        {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1},
    ),
    "matmul_integer_to_float": (
        "MatMulIntegerToFloat",
        {
            "a": rng.integers(0, 255, (2, 3)).astype("B"),
            "b": rng.integers(0, 255, (3, 4)).astype("B"),
            "sa": numpy.array(0.1, "f"),
            "sb": numpy.array(0.2, "f"),
            "za": numpy.array(100, "B"),
            "zb": numpy.array(120, "B"),
            "c": floats(4),
        },
        1,
        {},
    ),
    "dynamic_quantize_matmul": (
        "DynamicQuantizeMatMul",
        {
            "a": floats(2, 3),
            "b": rng.integers(0, 255, (3, 4)).astype("B"),
            "sb": numpy.array(0.2, "f"),
            "zb": numpy.array(120, "B"),
        },
        1,
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_operator_computes_what_onnxruntime_computes(name: str) -> None:
    operator, inputs, outputs, attributes = CASES[name]
    names = [f"y{place}" for place in range(outputs)] + ["count"] * (operator == "EmbedLayerNormalization")
    proto, given = single(operator, inputs, names, ["float"] * outputs, **attributes)
    right = by_onnxruntime(proto, *given)
    for backend in ("numpy", "jax"):
        results = load(proto)(*(tb.asarray(x, backend=backend) for x in given))
        results = results if isinstance(results, tuple) else (results,)
        assert len(results) == len(right)
        for result, expected in zip(results, right, strict=True):
            numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-4, atol=1e-5)
