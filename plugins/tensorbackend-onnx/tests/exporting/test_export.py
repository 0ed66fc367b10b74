"""Functions of tensors as models: onnxruntime and the importer compute from them what the functions compute."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import tensorbackend as tb
from small_models import Draws, check_model
from tensorbackend import nn
from tensorbackend.errors import ArgumentError, UnsupportedOp

from tensorbackend_onnx import export, load

draw = Draws()
rng, floats = draw.rng, draw.floats
EXAMPLES = Path(__file__).parents[4] / "examples"


X, W, A = floats(4, 6), floats(6, 5), floats(5, 5) + 5 * numpy.eye(5, dtype="f")

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], set[str]]] = {
    "activations": (
        lambda x: (nn.gelu(x), nn.silu(x), nn.elu(x), nn.relu(x), nn.softplus(x)),
        (X,),
        {"Gelu", "Elu", "Relu", "Softplus"},
    ),
    "softmax": (lambda x, w: nn.softmax(x @ w), (X, W), {"MatMul", "Softmax"}),
    "layer_norm": (lambda x: nn.layer_norm(x, tb.ones(6), tb.zeros(6)), (X,), {"LayerNormalization"}),
    "attention": (lambda q: nn.attention(q, q, q, causal=True), (floats(2, 3, 4, 8),), {"MatMul"}),
    "scan": (lambda x: tb.scan(lambda c, x: (c + x, c * x), tb.zeros(6), x, reverse=True), (X,), {"Scan"}),
    "counted loop": (lambda x: tb.fori_loop(0, 5, lambda i, c: c * 1.5 + x, x), (X,), {"Loop"}),
    "scan without entries": (
        lambda x: tb.scan(lambda c, _: (c * 2.0, c + x), x, length=3, reverse=True),
        (X,),
        {"Loop"},
    ),
    "while_loop": (
        lambda x: tb.while_loop(lambda c: tb.sum(c) < 100, lambda c: c + tb.abs(x), tb.abs(x)),
        (X,),
        {"Loop"},
    ),
    "while_loop with a limit": (
        lambda x: tb.while_loop(lambda c: tb.sum(c) < 1e9, lambda c: c + tb.abs(x), tb.abs(x), limit=3),
        (X,),
        {"Loop"},
    ),
    "cond": (lambda x: tb.cond(tb.sum(x) > 0, lambda: x * 2, lambda: x), (X,), {"If"}),
    "fft": (lambda x: (tb.real(tb.fft.fft(x)), tb.abs(tb.fft.rfft(x))), (X,), {"DFT"}),
    "ifft": (lambda x: tb.imag(tb.fft.ifft(tb.fft.fft(x) * (1 + 2j))), (X,), {"DFT"}),
    "solve": (tb.linalg.solve, (A, floats(5, 2)), set()),
    "inverse": (tb.linalg.inv, (A,), set()),
    "cholesky": (tb.linalg.cholesky, ((A @ A.T).astype("f"),), {"Sqrt"}),
    "determinant": (tb.linalg.det, (A,), {"Det"}),
    "conv": (lambda x, k: tb.conv(x, k, padding="same", strides=2), (floats(2, 3, 8, 8), floats(4, 3, 3, 3)), {"Conv"}),
    "dilated conv": (
        lambda x, k: tb.conv(x, k, input_dilation=2, padding=[(2, 1), (-1, 2)], kernel_dilation=2),
        (floats(2, 3, 6, 6), floats(4, 3, 3, 3)),
        {"ConvTranspose"},
    ),
    "groups of a batch": (
        lambda x, k: (tb.conv(x, k, batch_groups=2), tb.conv(x, k, batch_groups=2, padding=[(2, 0), (-1, 1)])),
        (floats(6, 2, 5, 4), floats(4, 2, 2, 3)),
        {"Conv"},
    ),
    "dilated conv of groups": (
        lambda x, k: tb.conv(x, k, input_dilation=(3, 2), padding=[(1, 4), (0, 2)], feature_groups=2),
        (floats(2, 4, 5, 6), floats(6, 2, 3, 2)),
        {"ConvTranspose"},
    ),
    "dilated conv with much padding": (
        lambda x, k: tb.conv(x, k, input_dilation=2, padding=[(3, 1), (1, 1)]),
        (floats(2, 3, 6, 6), floats(4, 3, 3, 3)),
        {"Conv"},
    ),
    "pools": (
        lambda x: (nn.max_pool(x, {2: 2, 3: 2}), nn.mean_pool(x, {2: 2, 3: 2})),
        (floats(2, 3, 8, 8),),
        {"MaxPool", "AveragePool"},
    ),
    "pool of one axis": (lambda x: tb.window_max(x, {0: 2}), (X,), {"MaxPool"}),
    "sorting": (lambda x: (tb.sort(x), tb.argsort(x, axis=0, descending=True), tb.top_k(x, 2)), (X,), {"TopK"}),
    "slices": (
        lambda x: (x[1:, None, ::2], x[[0, 2]], x[:, -1], tb.flip(x, axis=0), tb.roll(x, 1, axis=1)),
        (X,),
        {"Slice"},
    ),
    "indices": (
        lambda x: (
            tb.take(x, tb.tensor([0, 1]), axis=1),
            tb.take_along_axis(x, tb.argsort(x), axis=1),
            tb.indexed_add(x, tb.tensor([[0], [2]]), tb.ones((2, 6))),
            tb.put_slice(x, tb.ones((2, 2)), starts=(1, 1)),
        ),
        (X,),
        {"Gather", "GatherElements", "ScatterND"},
    ),
    "reductions": (
        lambda x: (
            tb.mean(x, axis=0),
            tb.var(x),
            tb.max(x, axis=1, keepdims=True),
            tb.argmax(x),
            tb.logsumexp(x, axis=1),
            tb.any(x > 0, axis=0),
            tb.cumulative_sum(x, axis=1),
        ),
        (X,),
        {"ReduceMean", "ReduceMax", "ArgMax", "ReduceLogSumExp", "CumSum"},
    ),
    "numbers": (
        lambda x: (tb.atan2(x, x[::-1]), x % 2.0, x // 2, tb.cbrt(x), tb.hypot(x, x), tb.clip(x, -1, 1), tb.expm1(x)),
        (X,),
        {"Mod", "Clip"},
    ),
    "padding": (
        lambda x: (tb.pad(x, [(1, 2, 1), (0, -1)]), tb.pad(x, [(1, 1), (2, 0)], mode="edge"), tb.triu(x), tb.eye(3)),
        (X,),
        {"Pad", "Trilu"},
    ),
    "gradient": (tb.grad(lambda x, w: tb.sum(tb.tanh(x @ w))), (X, W), set()),
    "einsum": (lambda x, w: tb.einsum("ij,jk->ki", x, w), (X, W), {"Einsum"}),
    "bits of bools": (lambda x: (~(x > 0), (x > 0) & (x < 1), tb.logical_not(x)), (X,), {"Not", "And"}),
}  # fmt: skip
"""Each function, its arguments, and operators that must be among those of the model."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_model_computes_what_the_function_computes(name: str) -> None:
    function, arrays, operators = FUNCTIONS[name]
    proto = export(function, *(tb.asarray(x).template for x in arrays))
    assert operators <= {node.op_type for node in proto.graph.node}
    check_model(proto, function, arrays)


def network(parameters: Any, x: Any) -> Any:
    *hidden, last = parameters["layers"]
    for layer in hidden:
        x = nn.relu(x @ layer["w"] + layer["b"])
    return nn.softmax(x @ last["w"] + last["b"])


LAYERS = {
    "layers": [
        {"w": tb.asarray(floats(inputs, outputs)), "b": tb.asarray(floats(outputs))}
        for inputs, outputs in ((6, 8), (8, 3))
    ]
}


def test_parameters_are_initialisers_under_their_places_and_axes_have_names(tmp_path: Path) -> None:
    proto = export(network, "f32[batch=2, 6]", parameters=LAYERS, open=("batch",), path=tmp_path / "network.onnx")
    assert {tensor.name for tensor in proto.graph.initializer} >= {"layers.0.w", "layers.0.b", "layers.1.w"}
    loaded = load(tmp_path / "network.onnx")
    assert repr(loaded) == "model(x: f32[batch: ?][6]) -> output: f32[batch: ?][3]"
    assert loaded.parameters.keys() == {"layers.0.b", "layers.0.w", "layers.1.b", "layers.1.w"}
    for size in (1, 4, 9):
        check_model(proto, network, [floats(size, 6)], [("batch", None)], LAYERS)


OPEN: dict[str, Callable[..., Any]] = {
    "reshape": lambda x: tb.reshape(x, (-1, 3, 2)) + tb.reshape(x, (3, -1, 2))[0, 0],
    "sizes": lambda x: x - tb.mean(x, axis=0) + tb.arange(x.shape[0])[:, None] * 1.0,
    "both": lambda x: tb.broadcast_to(tb.sum(x, axis=1, keepdims=True), x.shape) @ tb.rename(x, None, None).mT,
    "scan": lambda x: tb.scan(lambda c, row: (c + row, c), tb.zeros(6), tb.rename(x, None, None)),
    "cond": lambda x: tb.cond(tb.sum(x) > 0, lambda: x * 2, lambda: tb.flip(x, axis=0)),
    "while_loop": lambda x: tb.while_loop(lambda c: tb.max(c) < 50, lambda c: c + tb.abs(x), tb.abs(x) + 1),
    "fft": lambda x: (tb.fft.fft(x), tb.abs(tb.fft.rfft(x, axis=1))),
    "solve": lambda x: tb.linalg.solve(x[:, :, None] * x[:, None, :] + 6 * tb.eye(6), x[:, :, None]),
    "parts": lambda x: (x[1:], x[:-1], tb.concat([x, x]), tb.flip(x, axis=0), tb.sort(x, axis=0)),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_an_axis_that_is_open_may_have_any_size(name: str) -> None:
    proto = export(OPEN[name], "f32[batch=3, 6]", open=("batch",))
    for size in (2, 3, 8):
        check_model(proto, OPEN[name], [floats(size, 6)], [("batch", None)])


def test_two_axes_may_be_open() -> None:
    def function(x: Any) -> Any:
        return tb.reshape(x, (-1, 2)), tb.concat([x, x], axis=1)

    proto = export(function, "f32[batch=3, time=5, 2]", open=("batch", "time"))
    for batch, time in ((1, 4), (6, 2), (3, 3)):
        check_model(proto, function, [floats(batch, time, 2)], [("batch", "time", None)])


def test_what_depends_on_an_open_size_in_other_ways_is_an_error_with_the_users_line() -> None:
    with pytest.raises(UnsupportedOp, match=r"where batch >= 7, at test_export\.py"):
        export(lambda x: tb.exp(x) if x.shape[0] > 6 else tb.sin(x), "f32[batch=3]", open=("batch",))
    with pytest.raises(UnsupportedOp, match=r"where batch == 37, at test_export\.py"):
        export(lambda x: x * sum(range(x.shape[0])), "f32[batch=3]", open=("batch",))
    with pytest.raises(UnsupportedOp, match=r"needs the number, at test_export\.py"):
        export(lambda x: x * (x.shape[0] ** 2), "f32[batch=3]", open=("batch",))
    with pytest.raises(ArgumentError, match="open axes that inputs have"):
        export(lambda x: x, "f32[batch=3]", open=("time",))


def test_an_op_without_a_counterpart_is_named_with_the_users_line() -> None:
    for function, name in (
        (lambda x: tb.erf_inv(x), "erf_inv"),
        (lambda x: x + tb.random.uniform(tb.random.key(0), (3,)), "random"),
        (lambda x: tb.linalg.svdvals(x[:, None] * x), "svd"),
    ):
        with pytest.raises(UnsupportedOp, match=name):
            export(function, "f32[3]")
    integers = tb.Template((1, 2, 5, 5), tb.int32)
    kernel = tb.Template((3, 2, 2, 2), tb.int32)
    with pytest.raises(UnsupportedOp, match=r"Conv of int32 at conv, test_export\.py"):
        export(lambda x, k: tb.conv(x, k), integers, kernel)
    with pytest.raises(UnsupportedOp, match=r"CumSum of int8 at cumulative_sum, test_export\.py"):
        export(lambda x: tb.cumulative_sum(x, axis=0, dtype="int8"), tb.Template((5,), tb.int8))
    with pytest.raises(ArgumentError, match="an opset from 18"):
        export(tb.exp, "f32[3]", opset=17)


def test_parameters_of_a_gigabyte_go_to_a_file_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorbackend_onnx.exporting.exporter.APART_BYTES", 100)
    layers = {"layers": [{"w": tb.ones((40, 40)), "b": tb.ones(40)}]}
    export(network, "f32[2, 40]", parameters=layers, path=tmp_path / "network.onnx")
    assert (tmp_path / "network.onnx.data").stat().st_size >= 6400
    assert load(tmp_path / "network.onnx")(floats(2, 40)).shape == (2, 40)


def test_the_classifier_of_digits() -> None:
    example = runpy.run_path(str(EXAMPLES / "digits.py"))
    model = example["Model"](
        tb.asarray(floats(64, 10), names=("pixel", "digit")), tb.asarray(floats(10), names=("digit",))
    )
    proto = export(example["logits"], "f32[image=3, pixel=64]", parameters=model, open=("image",))
    for size in (1, 5, 8):
        check_model(proto, example["logits"], [floats(size, 64)], [("image", "pixel")], model)


def test_the_transformer_and_its_cache() -> None:
    example = runpy.run_path(str(EXAMPLES / "transformer.py"))
    model = example["initial"](tb.random.key(0))
    proto = export(example["predicted"], "s64[batch=3, time=64]", parameters=model, open=("batch",))
    for size in (1, 2, 3):
        characters = rng.integers(0, len(example["ALPHABET"]), (size, 64))
        check_model(proto, example["predicted"], [characters], [("batch", "time")], model)
    parameters = {name: tb.asarray(floats(16, 16)) / 4 for name in ("query", "key", "value", "output")}
    cache = nn.key_value_cache((2,), heads=2, size=6, units=8)
    x = tb.asarray(floats(2, 1, 16))

    def step(parameters: Any, x: Any, keys: Any, values: Any, length: Any) -> Any:
        return nn.incremental_attention(parameters, x, nn.KeyValueCache(keys, values, length), heads=2)

    for _ in range(3):
        arguments = (x, cache.keys, cache.values, cache.length)
        stepped = export(step, *(argument.template for argument in arguments), parameters=parameters)
        check_model(stepped, step, [numpy.asarray(argument) for argument in arguments], (), parameters)
        _, cache = nn.incremental_attention(parameters, x, cache, heads=2)
    texts = ("f32[batch=2, 1, 16]", "f32[batch=2, 2, 6, 8]", "f32[batch=2, 2, 6, 8]", "s32[]")
    stepped = export(step, *texts, parameters=parameters, open=("batch",))
    for size in (1, 2, 5):
        keys, values = floats(size, 2, 6, 8), floats(size, 2, 6, 8)
        names = [("batch", None, None), ("batch", None, None, None), ("batch", None, None, None), ()]
        check_model(stepped, step, [floats(size, 1, 16), keys, values, numpy.array(3, "i")], names, parameters)


def test_a_recurrent_network_of_both_directions() -> None:
    example = runpy.run_path(str(EXAMPLES / "sequences.py"))
    parameters = example["initial"](tb.random.key(0))
    from tensorbackend import ragged

    def network(parameters: Any, images: Any, lengths: Any) -> Any:
        return example["logits"](parameters, ragged.with_lengths(images, time=lengths)).filled(0)

    images, lengths = floats(2, 8, 20), numpy.array([20, 13])
    names = [("string", "row", "time"), ("string",)]
    given = [tb.asarray(x, names=name).template for x, name in zip((images, lengths), names, strict=True)]
    check_model(export(network, *given, parameters=parameters), network, [images, lengths], names, parameters)
    proto = export(network, *given, parameters=parameters, open=("string",))
    for size in (1, 3, 4):
        check_model(proto, network, [floats(size, 8, 20), rng.integers(1, 21, size)], names, parameters)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_a_cast_to_eight_bits_does_not_saturate(dtype: str) -> None:
    numbers = numpy.asarray([1e6, -1e6, 448, 500, 57344, 1.1, 0.0, numpy.inf, numpy.nan], "f")

    def cast_and_back(x: tb.Tensor) -> tb.Tensor:
        return tb.astype(tb.astype(x, dtype), "float32")

    check_model(export(cast_and_back, numbers), cast_and_back, [numbers])
