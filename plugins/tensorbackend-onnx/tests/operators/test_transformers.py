"""ONNX's Attention by the op of the library, and by the function body of the schema where that does not fit."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import tensorbackend as tb
from onnx import TensorProto, helper

from tensorbackend_onnx import load
from tensorbackend_onnx.errors import ModelError

RANDOM = numpy.random.default_rng(0)


def model(*shapes: tuple[int, ...], masked: bool = False, **attributes: Any) -> Any:
    names = ["q", "k", "v", *(["m"] if masked else [])]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.BOOL if name == "m" else TensorProto.FLOAT, shape)
        for name, shape in zip(names, shapes, strict=True)
    ]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Attention", names, ["y"], **attributes)], "g", inputs, [result])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)


def by_hand(query: Any, key: Any, value: Any, mask: Any, softcap: float) -> Any:
    key, value = (numpy.repeat(x, query.shape[1] // x.shape[1], axis=1) for x in (key, value))
    scores = query @ key.swapaxes(-1, -2) / numpy.sqrt(query.shape[-1])
    scores = softcap * numpy.tanh(scores / softcap) if softcap else scores
    powers = numpy.where(mask, numpy.exp(scores), 0)
    total = powers.sum(-1, keepdims=True)
    return powers / numpy.where(total == 0, 1, total) @ value


@pytest.mark.parametrize("softcap", [0.0, 2.0])
@pytest.mark.parametrize("heads", [4, 2, 1])
def test_heads_that_share_keys_under_a_mask(heads: int, softcap: float) -> None:
    query, key, value = (RANDOM.normal(size=(2, n, 3, 5)).astype("f4") for n in (4, heads, heads))
    mask = RANDOM.uniform(size=(3, 3)) < 0.6
    mask[1] = False  # this query sees nothing
    proto = model(query.shape, key.shape, value.shape, mask.shape, masked=True, softcap=softcap)
    found = load(proto)(*map(tb.asarray, (query, key, value, mask)))
    numpy.testing.assert_allclose(numpy.asarray(found), by_hand(query, key, value, mask, softcap), rtol=1e-4, atol=1e-5)


def test_queries_of_three_axes_need_the_numbers_of_heads() -> None:
    x = tb.ones((2, 3, 8))
    with pytest.raises(ModelError, match="q_num_heads and kv_num_heads"):
        load(model(x.shape, x.shape, x.shape))(x, x, x)
    assert load(model(x.shape, x.shape, x.shape, q_num_heads=2, kv_num_heads=2))(x, x, x).shape == (2, 3, 8)


def test_the_function_body_leaves_aside_an_attribute_that_the_operator_lacks() -> None:
    x = tb.ones((2, 2, 3, 4))
    assert load(model(x.shape, x.shape, x.shape, unknown=1))(x, x, x).shape == x.shape
