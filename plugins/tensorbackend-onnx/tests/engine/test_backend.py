"""ONNX Runtime as a backend: devices, stages, and what is said about them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import tensorbackend as tb
from tensorbackend.errors import ArgumentError, IndexRangeError

from tensorbackend_onnx.engine import OnnxRuntimeBackend, OnnxRuntimeOps, placement, sessions

ENGINE = OnnxRuntimeBackend()


def both(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Any]:
    """The results of a compiled function in the engine, and of the eager one on NumPy."""
    copies = tb.backend_copy(arguments, ENGINE)
    return tb.jit(function)(*copies), function(*arguments)


def test_options_are_checked_and_instances_shared() -> None:
    assert tb.get_backend("onnxruntime") is ENGINE is OnnxRuntimeBackend(device="CPU")
    assert ENGINE.device == "cpu"
    assert "cpu" in ENGINE.devices()
    assert OnnxRuntimeBackend(providers=["CPUExecutionProvider"]).providers == (sessions.CPU,)
    with pytest.raises(ArgumentError, match="device='tpu'"):
        OnnxRuntimeBackend(device="tpu")
    with pytest.raises(ArgumentError, match="providers among"):
        OnnxRuntimeBackend(providers=["FastExecutionProvider"])
    with pytest.raises(ArgumentError, match="precision"):
        OnnxRuntimeBackend(precision=1)


def test_a_provider_gets_its_options() -> None:
    arena = {"arena_extend_strategy": "kSameAsRequested"}
    backend = OnnxRuntimeBackend(providers=[("CPUExecutionProvider", arena)], threads=1)
    assert backend.providers == (("CPUExecutionProvider", (("arena_extend_strategy", "kSameAsRequested"),)),)
    x = tb.tensor([1.0, 2.0], backend=backend)
    assert tb.jit(lambda x: x + x)(x).tolist() == [2.0, 4.0]


def test_a_device_without_its_driver_is_an_error_before_anything_runs() -> None:
    class WithoutDriver:
        SessionOptions = ENGINE.runtime.SessionOptions

        @staticmethod
        def get_available_providers() -> list[str]:
            return ["WebGpuExecutionProvider", "CPUExecutionProvider"]

        @staticmethod
        def InferenceSession(*arguments: Any, enable_fallback: int, **options: Any) -> Any:  # its name
            assert not enable_fallback  # else the CPU computes in silence
            raise RuntimeError("status == Success was false. Failed to get a WebGPU adapter: No supported adapters\n")

    providers = [("WebGpuExecutionProvider", ()), sessions.CPU]
    with pytest.raises(ArgumentError, match="got device='webgpu'; onnxruntime says: Failed to get a WebGPU adapter"):
        sessions.check_device(WithoutDriver, "webgpu", providers)
    sessions.check_device(ENGINE.runtime, "cpu", [sessions.CPU])


def test_arrays_of_numpy_are_those_of_its_own_backend() -> None:
    assert tb.backend_of(numpy.ones(2)) is tb.get_backend("numpy")


def test_a_training_step_is_that_of_numpy() -> None:
    keys = tb.random.split(tb.random.key(0), 4)
    weights = {"w": tb.random.normal(keys[0], (16, 32)), "v": tb.random.normal(keys[1], (32, 4))}
    x, y = tb.random.normal(keys[2], (64, 16)), tb.random.randint(keys[3], (64,), 0, 4)

    def loss(weights: Any, x: tb.Tensor, y: tb.Tensor) -> tb.Tensor:
        hidden = tb.nn.layer_norm(tb.nn.gelu(x @ weights["w"]), axis=-1)
        return tb.nn.sparse_cross_entropy(hidden @ weights["v"], y, axis=-1).mean()

    def step(weights: Any, x: tb.Tensor, y: tb.Tensor) -> Any:
        value, slope = tb.value_and_grad(loss)(weights, x, y)
        return value, tb.tree_map(lambda w, d: w - 0.1 * d, weights, slope)

    (value, moved), (wanted, expected) = both(step, weights, x, y)
    assert abs(value.item() - wanted.item()) < 1e-5
    for name in weights:
        numpy.testing.assert_allclose(numpy.asarray(moved[name]), numpy.asarray(expected[name]), rtol=1e-4, atol=1e-6)


def convolved(x: tb.Tensor, w: tb.Tensor) -> tb.Tensor:
    total: tb.Tensor = tb.sum(tb.nn.relu(tb.conv(x, w, padding="same", strides=2)) ** 2)
    return total


def test_the_gradient_of_a_convolution_is_that_of_numpy() -> None:
    x, w = tb.random.normal(tb.random.key(1), (2, 3, 10, 10)), tb.random.normal(tb.random.key(2), (4, 3, 3, 3))
    found, wanted = both(tb.grad(convolved, argnums=(0, 1)), x, w)
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(one), numpy.asarray(other), rtol=1e-4, atol=1e-4)


def test_what_onnx_lacks_is_a_stage_of_its_own_between_sessions() -> None:
    def solve(a: tb.Tensor) -> tuple[tb.Tensor, ...]:
        q, r = tb.linalg.qr(tb.exp(a) @ a)
        return tb.tanh(q) @ r, a, tb.zeros(2), tb.ones(3)

    x = tb.random.normal(tb.random.key(0), (4, 4))
    for one, other in zip(*both(solve, x), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(one), numpy.asarray(other), rtol=1e-4, atol=1e-5)
    said = placement(solve, x.template)
    assert (said.sessions, [row.op for row in said.elsewhere][:1]) == (2, ["qr"])
    assert said.elsewhere[0].reason == "ONNX has no operator of that meaning"
    assert "1 qr, test_backend.py:" in repr(said)
    assert sum(said.operators.values()) >= 4


def test_loops_and_branches_run_inside_a_session() -> None:
    def halved(x: tb.Tensor) -> tb.Tensor:
        result: tb.Tensor = tb.while_loop(lambda x: tb.sum(x) > 1.0, lambda x: x / 2, x)
        return result

    found, wanted = both(halved, tb.tensor([3.0, 5.0]))
    assert found.tolist() == wanted.tolist()
    assert placement(halved, "f32[2]").elsewhere == ()


def test_an_index_outside_is_the_error_of_every_backend() -> None:
    x, places = tb.tensor([1.0, 2.0], backend=ENGINE), tb.tensor([5], backend=ENGINE)
    with pytest.raises(IndexRangeError, match="index=5"):
        tb.jit(lambda x, places: tb.take(tb.exp(x), places))(x, places)
    assert placement(lambda x, places: tb.take(x, places, mode="clip"), "f32[2]", "i64[1]").elsewhere == ()


def test_constant_indices_inside_an_axis_are_the_engines() -> None:
    def read(x: tb.Tensor) -> tuple[tb.Tensor, ...]:
        return x[0], tb.take(x, tb.tensor([2, 0]), axis=0)

    for found, wanted in zip(*both(read, tb.tensor([1.0, 2.0, 3.0])), strict=True):
        assert found.tolist() == wanted.tolist()
    assert placement(read, "f32[3]").elsewhere == ()
    with pytest.raises(IndexRangeError, match="index=3"):
        tb.jit(lambda x: tb.take(tb.exp(x), tb.tensor([3]), axis=0))(tb.ones(3, backend=ENGINE))


def test_what_is_joined_without_entries_is_left_out() -> None:
    def join(x: tb.Tensor) -> tuple[tb.Tensor, ...]:
        nothing = x[:, :0]
        return tb.concat([nothing, tb.exp(x), x], axis=1), tb.concat([nothing, x], axis=1)

    for found, wanted in zip(*both(join, tb.ones((2, 3))), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(wanted), rtol=1e-6)
    assert [row.op for row in placement(join, "f32[2, 3]").elsewhere if row.op != "slice"] == []


def test_a_strided_convolution_and_its_gradient_are_one_session() -> None:
    def slope(x: tb.Tensor, kernel: tb.Tensor) -> tb.Tensor:
        return tb.grad(lambda x: tb.sum(tb.square(tb.conv(x, kernel, strides=2, padding=[(1, 1), (1, 1)]))))(x)

    x, kernel = tb.random.normal(tb.random.key(0), (2, 3, 8, 7)), tb.random.normal(tb.random.key(1), (4, 3, 3, 3))
    found, wanted = both(slope, x, kernel)
    numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(wanted), rtol=1e-4, atol=1e-4)
    assert placement(slope, x.template, kernel.template).elsewhere == ()


def test_the_smallest_integer_is_divided_by_minus_one() -> None:
    least, minus = tb.full((2,), -(2**63), dtype="i64"), tb.full((2,), -1, dtype="i64")
    found, wanted = both(lambda x, y: x // y, least, minus)
    assert found.tolist() == wanted.tolist()
    assert placement(lambda x: x // 3, "i64[2]").elsewhere == ()


def test_what_the_engine_refuses_runs_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if its providers had no kernel for `Tanh`."""
    real = sessions.session_of

    def refusing(runtime: Any, model: bytes, *options: Any) -> Any:
        if b"Tanh" in model:
            raise sessions.Refused("no kernel for Tanh\nmore")
        return real(runtime, model, *options)

    monkeypatch.setattr("tensorbackend_onnx.engine.programs.session_of", refusing)
    function = lambda x: tb.exp(tb.tanh(x * 2))  # noqa: E731
    found, wanted = both(function, tb.tensor([0.5, -1.0]))
    numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(wanted), rtol=1e-6)
    said = placement(function, "f32[2]")
    assert [(row.op, row.reason) for row in said.elsewhere] == [("tanh", "onnxruntime: no kernel for Tanh")]
    assert said.sessions == 2


def test_the_program_is_shown_as_models() -> None:
    text = tb.jit(lambda x: tb.linalg.qr(tb.exp(x))[1]).lower(tb.ones((2, 2), backend=ENGINE)).as_text()
    assert "Exp" in text
    assert "qr" in text


def test_a_difference_is_found_by_ops_and_in_compiled_programs() -> None:
    x = tb.tensor([1.0, -9.0, 2.0])
    found = tb.compare(lambda x: tb.exp(tb.sigmoid(x)), x, backends=("numpy", "onnxruntime_ops"))
    assert found.difference is not None
    assert found.difference.op == "sigmoid"
    assert tb.compare(lambda x: tb.exp(x) * x, x, backends=("numpy", "onnxruntime"), jit=True).agrees
    assert tb.compare(lambda x: tb.sum(tb.exp(x)), x, backends=("numpy", OnnxRuntimeOps), gradient=True).agrees


@pytest.mark.parametrize("dtype", [tb.float32, tb.float64], ids=str)
@pytest.mark.parametrize("padding", [0, 1, "same"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_maxima_of_windows_keep_nan_and_what_is_below_all_numbers(dtype: tb.DType, padding: Any, axes: int) -> None:
    extremes = [math.nan, -math.inf, -math.inf, -math.inf, math.inf, float(tb.finfo(dtype).min), 1.0, 0.5]
    sizes = (1, 1, *[2] * axes)
    pads: Any = padding if isinstance(padding, str) else [(0, 0), (0, 0), *[(padding, padding)] * axes]

    @tb.jit
    def pool(x: tb.Tensor) -> tb.Tensor:
        return tb.window_max(x, sizes, strides=sizes, padding=pads)

    for seed in range(20):
        places = numpy.random.default_rng(seed).integers(
            seed % 4, 1 + seed % 8 if seed % 8 > 3 else 8, (2, 3, *[5] * axes)
        )
        x = tb.tensor(extremes, dtype=dtype)[tb.asarray(places)]
        assert str(pool(tb.backend_copy(x, ENGINE)).tolist()) == str(pool(x).tolist())


def test_maxima_of_windows_run_in_the_engine() -> None:
    pools = placement(lambda x: tb.window_max(x, (1, 1, 2), strides=(1, 1, 2)), "f32[2, 3, 8]")
    assert (pools.sessions, pools.elsewhere) == (1, ())


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_windows_of_padding_alone_have_minus_infinity(size: int) -> None:
    x = tb.ones((1, 1, size, 4))

    @tb.jit
    def pool(x: tb.Tensor) -> tb.Tensor:
        return tb.window_max(x, (1, 1, 2, 3), dilations=(1, 1, 3, 2), strides=(1, 1, 1, 2), padding="same")

    assert pool(tb.backend_copy(x, ENGINE)).tolist() == pool(x).tolist()
