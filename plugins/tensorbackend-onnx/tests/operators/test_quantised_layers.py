"""Layers that onnxruntime's tools quantise and join, compared with onnxruntime, whose own they are."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import pytest
import tensorbackend as tb
from small_models import by_onnxruntime, model, single, value
from tensorbackend.errors import TensorBackendError

from tensorbackend_onnx import load
from tensorbackend_onnx.operators.quantised_layers import unpacked

rng = numpy.random.default_rng(0)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape).astype("f")


def codes(*shape: int, dtype: str = "B") -> Any:
    """Integers so small that the 16-bit sums of some processors do not overflow in onnxruntime."""
    return rng.integers(0 if dtype == "B" else -60, 60, shape).astype(dtype)


def scale(*shape: int) -> Any:
    return rng.uniform(0.01, 0.05, shape).astype("f")


def number(value: int, dtype: str = "B") -> Any:
    return numpy.array(value, dtype)


def lstm(directions: int, dtype: str, per: tuple[int, ...] = ()) -> dict[str, Any]:
    """The inputs of a layer of 5 units, on 3 features of 2 examples."""
    return {
        "x": floats(4, 2, 3),
        "w": codes(directions, 3, 20, dtype=dtype),
        "r": codes(directions, 5, 20, dtype=dtype),
        "b": floats(directions, 40),
        "n": numpy.array([4, 3], "i"),
        "h": floats(directions, 2, 5),
        "c": floats(directions, 2, 5),
        "p": None,
        "ws": scale(directions, *per),
        "wz": numpy.full((directions, *per), 3 if dtype == "B" else 0, dtype),
        "rs": scale(directions, *per),
        "rz": numpy.full((directions, *per), 3 if dtype == "B" else 0, dtype),
    }


def quantised(*shape: int) -> dict[str, Any]:
    return {"x": codes(*shape), "xs": scale(), "xz": number(20)}


RESULT = {"s": scale(), "z": number(30)}
SECOND = {"y": codes(2, 4), "ys": scale(), "yz": number(10)}

CASES: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "lstm": ("DynamicQuantizeLSTM", lstm(1, "B"), "float", {"hidden_size": 5}),
    "lstm_of_both_directions": (
        "DynamicQuantizeLSTM",
        {**lstm(2, "b", (20,)), "n": None},
        "float",
        {"hidden_size": 5, "direction": "bidirectional"},
    ),
    "attention": (
        "QAttention",
        {
            "x": codes(2, 3, 8),
            "w": codes(8, 24, dtype="b"),
            "b": floats(24),
            "xs": scale(),
            "ws": scale(),
            "m": numpy.array([3, 2], "i"),
            "xz": number(7),
            "wz": number(0, "b"),
        },
        "float",
        {"num_heads": 2},
    ),
    "gemm": (
        "QGemm",
        {**quantised(2, 4), "y": codes(3, 4), "ys": scale(), "yz": number(4), "c": codes(3).astype("i"), **RESULT},
        "uint8",
        {"transB": 1, "alpha": 0.5},
    ),
    "gemm_to_floats": ("QGemm", {**quantised(2, 4), "y": codes(4, 3), "ys": scale(), "yz": number(4)}, "float", {}),
    "add": ("QLinearAdd", {**quantised(2, 4), **SECOND, **RESULT}, "uint8", {}),
    "multiply": ("QLinearMul", {**quantised(2, 4), **SECOND, **RESULT}, "uint8", {}),
    "sigmoid": ("QLinearSigmoid", {**quantised(2, 4), "s": numpy.array(0.005, "f"), "z": number(0)}, "uint8", {}),
    "leaky_relu": ("QLinearLeakyRelu", {**quantised(2, 4), **RESULT}, "uint8", {"alpha": 0.2}),
    "softmax": (
        "QLinearSoftmax",
        {**quantised(2, 4), "s": numpy.array(1 / 256, "f"), "z": number(0)},
        "uint8",
        {"axis": -1, "opset": 13},
    ),
    "concat": ("QLinearConcat", {**RESULT, **quantised(2, 4), **SECOND}, "uint8", {"axis": 1}),
    "global_average_pool": ("QLinearGlobalAveragePool", {**quantised(2, 3, 4, 4), **RESULT}, "uint8", {}),
    "global_average_pool_of_last_channels": (
        "QLinearGlobalAveragePool",
        {**quantised(2, 4, 4, 3), **RESULT},
        "uint8",
        {"channels_last": 1},
    ),
    "average_pool": (
        "QLinearAveragePool",
        {**quantised(2, 3, 5, 5), **RESULT},
        "uint8",
        {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 1, 0, 0]},
    ),
    "matmul_of_4_bits": (
        "MatMulNBits",
        {"x": floats(2, 40), "w": codes(6, 3, 8) * 4, "s": scale(18), "z": codes(12)},
        "float",
        {"K": 40, "N": 6, "bits": 4, "block_size": 16},
    ),
    "matmul_of_4_bits_around_8": (
        "MatMulNBits",
        {"x": floats(2, 32), "w": codes(6, 2, 8) * 4, "s": scale(12)},
        "float",
        {"K": 32, "N": 6, "bits": 4, "block_size": 16},
    ),
    "matmul_of_8_bits": (
        "MatMulNBits",
        {"x": floats(2, 32), "w": codes(6, 2, 16), "s": scale(12), "z": codes(12)},
        "float",
        {"K": 32, "N": 6, "bits": 8, "block_size": 16},
    ),
    "fused_conv": (
        "FusedConv",
        {"x": floats(2, 3, 5, 5), "k": floats(4, 3, 3, 3), "b": floats(4)},
        "float",
        {"activation": "LeakyRelu", "activation_params": [0.1], "pads": [1, 1, 1, 1]},
    ),
    "fused_conv_and_sum": (
        "FusedConv",
        {"x": floats(2, 3, 5, 5), "k": floats(4, 3, 3, 3), "b": floats(4), "z": floats(2, 4, 3, 3)},
        "float",
        {"activation": "Relu"},
    ),
    "fused_gemm": (
        "FusedGemm",
        {"x": floats(2, 3), "y": floats(3, 4), "z": floats(4)},
        "float",
        {"activation": "LeakyRelu", "activation_alpha": 0.3},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_layer_computes_what_onnxruntime_computes(name: str) -> None:
    operator, inputs, dtype, attributes = CASES[name]
    results = ["result"] if "lstm" not in name else ["result", "output", "memory"]
    proto, given = single(operator, inputs, results, [dtype] * len(results), **attributes)
    right = by_onnxruntime(proto, *given)
    for backend in ("numpy", "binary"):
        found = load(proto)(*(tb.asarray(x, backend=backend) for x in given))
        for result, expected in zip(found if isinstance(found, tuple) else (found,), right, strict=True):
            array = numpy.asarray(result)
            assert array.dtype == expected.dtype
            if dtype == "uint8":  # onnxruntime multiplies by the inverse of a scale: what is half is rounded otherwise
                assert numpy.abs(array.astype(int) - expected).max() <= 1
                assert numpy.mean(array != expected) < 0.2
            else:
                numpy.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-5)


def test_integers_of_two_bits_lie_in_a_byte_from_its_lowest_bits_on() -> None:
    assert unpacked(tb.tensor([[0b11100100, 0b00000001]], dtype="uint8"), 2).tolist() == [[0, 1, 2, 3, 1, 0, 0, 0]]


def test_spectrograms_take_signals_with_and_without_an_axis_of_parts() -> None:
    from onnx import helper

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
    inputs = {"x": floats(2, 3), "y": floats(3, 4), "z": floats(4)}
    proto, given = single("FusedGemm", inputs, ["result"], ["float"], activation="Frobnicate")
    with pytest.raises(TensorBackendError, match="an activation among"):
        load(proto)(*given)
    inputs = {"x": floats(2, 32), "w": codes(6, 2, 12), "s": scale(12)}
    proto, given = single("MatMulNBits", inputs, ["result"], ["float"], K=32, N=6, bits=6, block_size=16)
    with pytest.raises(TensorBackendError, match="2, 4 or 8 bits"):
        load(proto)(*given)


ATTENTION = {"x": floats(1, 2, 4), "w": floats(4, 12), "b": floats(12)}


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "named"),
    [
        ("Attention", ATTENTION, {"num_heads": 2, "do_rotary": 1}, "do_rotary"),
        (
            "QAttention",
            {"x": codes(1, 2, 4), "w": codes(4, 12), "b": floats(12), "xs": scale(), "ws": scale()},
            {"num_heads": 2, "do_rotary": 1},
            "do_rotary",
        ),
        (
            "MatMulNBits",
            {"x": floats(2, 32), "w": codes(6, 2, 8), "s": scale(12)},
            {"K": 32, "N": 6, "block_size": 16, "weight_prepacked": 1},
            "weight_prepacked",
        ),
    ],
)
def test_what_is_not_imported_is_refused(
    operator: str, inputs: dict[str, Any], attributes: dict[str, int], named: str
) -> None:
    """An attribute that was left aside would give wrong numbers."""
    proto, given = single(operator, inputs, ["result"], ["float"], **attributes)
    with pytest.raises(TensorBackendError, match=f"expected {named}=0, got {named}=1; export the model without it"):
        load(proto)(*given)


def test_floats_beyond_a_narrow_dtype_become_infinite_where_a_model_says_so() -> None:
    inputs = {"x": numpy.array([1e6, -1e6, 3.0], "f"), "s": numpy.array(1, "f")}
    for saturate, wanted in ((1, [57344.0, -57344.0, 3.0]), (0, [numpy.inf, -numpy.inf, 3.0])):
        target = onnx.TensorProto.FLOAT8E5M2
        node = onnx.helper.make_node("QuantizeLinear", ["x", "s"], ["y"], output_dtype=target, saturate=saturate)
        graph = onnx.helper.make_graph([node], "g", [value("x", "float", (3,)), value("s", "float", ())], [
            onnx.helper.make_tensor_value_info("y", target, (3,))
        ])  # fmt: skip
        proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
        assert load(proto)(*inputs.values()).tolist() == wanted


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

    inputs = {"x": floats(2, 3, count), "w": packed(integers).reshape(6, 3, -1), "s": scale(18)}
    if zeros:
        inputs["z"] = packed(points[:, :3]).ravel()
    proto, given = single("MatMulNBits", inputs, ["result"], ["float"], K=count, N=6, bits=bits, block_size=block)
    x, scales = (numpy.asarray(inputs[name], "float64") for name in ("x", "s"))
    whole = (integers - numpy.repeat(points[:, :3], block, axis=1))[:, :count]
    matrix = whole * numpy.repeat(scales.reshape(6, 3), block, axis=1)[:, :count]
    weights = numpy.random.default_rng(2).normal(size=(2, 3, 6)).astype("f")
    model = load(proto)

    def loss(x: tb.Tensor, scales: tb.Tensor) -> tb.Tensor:
        return tb.sum(model(x, given[1], scales, *given[3:]) * tb.asarray(weights))

    by_x, by_scales = tb.grad(loss, argnums=(0, 1))(tb.asarray(inputs["x"]), tb.asarray(inputs["s"]))
    numpy.testing.assert_allclose(numpy.asarray(by_x), weights.astype("d") @ matrix, rtol=1e-4, atol=1e-6)
    slopes = numpy.einsum("abn,abk->nk", weights.astype("d"), x) * whole
    wanted = numpy.pad(slopes, ((0, 0), (0, 8))).reshape(6, 3, block).sum(axis=-1).ravel()
    numpy.testing.assert_allclose(numpy.asarray(by_scales), wanted, rtol=1e-4, atol=1e-4)


def test_a_matrix_of_4_bits_is_never_whole_in_memory() -> None:
    inputs = {"x": floats(1, 1024), "w": codes(1024, 32, 16), "s": scale(1024 * 32)}
    proto, _ = single("MatMulNBits", inputs, ["result"], ["float"], K=1024, N=1024, bits=4, block_size=32)
    model = load(proto)
    peak = tb.dry_run(model.apply, model.templates, *(tb.asarray(x).template for x in inputs.values())).peak.memory
    assert peak < 1024 * 1024 * 4
