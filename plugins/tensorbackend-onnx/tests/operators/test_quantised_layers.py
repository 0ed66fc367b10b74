"""Layers that onnxruntime's tools quantise: their attributes, gradients and memory."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import pytest
import tensorbackend as tb
from onnx import helper
from small_models import Draws, model, single, value
from tensorbackend.errors import TensorBackendError

from tensorbackend_onnx import load
from tensorbackend_onnx.operators.quantised_layers import unpacked

draw = Draws()
floats, codes, scale = draw.floats, draw.codes, draw.scale


def test_integers_of_two_bits_lie_in_a_byte_from_its_lowest_bits_on() -> None:
    assert unpacked(tb.tensor([[0b11100100, 0b00000001]], dtype="uint8"), 2).tolist() == [[0, 1, 2, 3, 1, 0, 0, 0]]


def test_spectrograms_take_signals_with_and_without_an_axis_of_parts() -> None:
    signal, window = floats(2, 16), numpy.hanning(8).astype("f")
    frames = numpy.stack([signal[:, start : start + 8] for start in (0, 4, 8)], axis=1) * window
    right = numpy.fft.rfft(frames.astype("d"))
    for x in (signal, signal[..., None]):
        proto = model(
            [helper.make_node("STFT", ["x", "step", "window"], ["y"])],
            [value("x", "float", x.shape)],
            [value("y", "float", None)],
            {"step": numpy.array(4), "window": window},
        )
        found = numpy.asarray(load(proto)(x))
        numpy.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], right, atol=1e-5)


def test_attributes_that_mean_nothing_are_named() -> None:
    proto, given = single("FusedGemm", floats(2, 3), floats(3, 4), floats(4), activation="Frobnicate")
    with pytest.raises(TensorBackendError, match="an activation among"):
        load(proto)(*given)
    proto, given = single("MatMulNBits", floats(2, 32), codes(6, 2, 12), scale(12), K=32, N=6, bits=6, block_size=16)
    with pytest.raises(TensorBackendError, match="2, 4 or 8 bits"):
        load(proto)(*given)


BITS = (floats(2, 32), codes(6, 2, 8), scale(12))


@pytest.mark.parametrize(
    ("case", "named"),
    [
        (single("Attention", floats(1, 2, 4), floats(4, 12), floats(12), num_heads=2, do_rotary=1), "do_rotary"),
        (
            single("QAttention", codes(1, 2, 4), codes(4, 12), floats(12), *scale(2), num_heads=2, do_rotary=1),
            "do_rotary",
        ),
        (single("MatMulNBits", *BITS, K=32, N=6, block_size=16, weight_prepacked=1), "weight_prepacked"),
    ],
)
def test_what_is_not_imported_is_refused(case: Any, named: str) -> None:
    """An attribute that was left aside would give wrong numbers."""
    proto, given = case
    with pytest.raises(TensorBackendError, match=f"expected {named}=0, got {named}=1; export the model without it"):
        load(proto)(*given)


def test_floats_beyond_a_narrow_dtype_become_infinite_where_a_model_says_so() -> None:
    inputs = numpy.array([1e6, -1e6, 3.0], "f"), numpy.array(1, "f")
    for saturate, wanted in ((1, [57344.0, -57344.0, 3.0]), (0, [numpy.inf, -numpy.inf, 3.0])):
        target = onnx.TensorProto.FLOAT8E5M2
        node = helper.make_node("QuantizeLinear", ["x", "s"], ["y"], output_dtype=target, saturate=saturate)
        graph = helper.make_graph([node], "g", [value("x", "float", (3,)), value("s", "float", ())], [
            helper.make_tensor_value_info("y", target, (3,))
        ])  # fmt: skip
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        assert load(proto)(*inputs).tolist() == wanted


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", [False, True])
def test_gradients_through_packed_integers_are_those_of_the_whole_matrix(bits: int, zeros: bool) -> None:
    """By NumPy in float64: with respect to the input and to the scales, also where the last block is short."""
    block, count = 16, 40
    each = 8 // bits
    integers = numpy.random.default_rng(0).integers(0, 2**bits, (6, 48))
    points = numpy.random.default_rng(1).integers(0, 2**bits, (6, 4)) if zeros else numpy.full((6, 4), 2 ** (bits - 1))
    powers = 2 ** (bits * numpy.arange(each))

    def packed(x: Any) -> Any:
        x = numpy.pad(x, ((0, 0), (0, -x.shape[1] % each)))
        return (x.reshape(6, -1, each) * powers).sum(axis=-1).astype("B")

    inputs = [floats(2, 3, count), packed(integers).reshape(6, 3, -1), scale(18)]
    inputs += [packed(points[:, :3]).ravel()] if zeros else []
    proto, given = single("MatMulNBits", *inputs, K=count, N=6, bits=bits, block_size=block)
    x, scales = (numpy.asarray(inputs[place], "float64") for place in (0, 2))
    whole = (integers - numpy.repeat(points[:, :3], block, axis=1))[:, :count]
    matrix = whole * numpy.repeat(scales.reshape(6, 3), block, axis=1)[:, :count]
    weights = numpy.random.default_rng(2).normal(size=(2, 3, 6)).astype("f")
    model = load(proto)

    def loss(x: tb.Tensor, scales: tb.Tensor) -> tb.Tensor:
        return tb.sum(model(x, given[1], scales, *given[3:]) * tb.asarray(weights))

    by_x, by_scales = tb.grad(loss, argnums=(0, 1))(tb.asarray(inputs[0]), tb.asarray(inputs[2]))
    numpy.testing.assert_allclose(numpy.asarray(by_x), weights.astype("d") @ matrix, rtol=1e-4, atol=1e-6)
    slopes = numpy.einsum("abn,abk->nk", weights.astype("d"), x) * whole
    wanted = numpy.pad(slopes, ((0, 0), (0, 8))).reshape(6, 3, block).sum(axis=-1).ravel()
    numpy.testing.assert_allclose(numpy.asarray(by_scales), wanted, rtol=1e-4, atol=1e-4)


def test_a_matrix_of_4_bits_is_never_whole_in_memory() -> None:
    inputs = floats(1, 1024), codes(1024, 32, 16), scale(1024 * 32)
    proto, _ = single("MatMulNBits", *inputs, K=1024, N=1024, bits=4, block_size=32)
    model = load(proto)
    peak = tb.dry_run(model.apply, model.templates, *(tb.asarray(x).template for x in inputs)).peak.memory
    assert peak < 1024 * 1024 * 4
