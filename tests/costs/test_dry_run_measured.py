"""Predictions of dry runs against measurements: XLA's own analysis, and the memory that NumPy takes."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import tensorbackend as tb

BENCHMARK: Any = runpy.run_path(str(Path(__file__).resolve().parents[2] / "benchmarks" / "dryrun.py"))


@pytest.mark.parametrize("name", BENCHMARK["FUNCTIONS"])
def test_operations_and_memory_are_those_of_xla(name: str) -> None:
    function, templates = BENCHMARK["FUNCTIONS"][name]
    predicted, xla = tb.dry_run(function, *templates), BENCHMARK["Analysis"](function, templates)
    assert predicted.flops == pytest.approx(xla.flops, rel=0.02)
    assert predicted.eager.transcendentals == pytest.approx(xla.transcendentals, rel=0.02)
    assert predicted.eager.timeline.parameters == xla.arguments
    # Where there are several results, XLA also counts a tuple with a pointer to each of them.
    assert 0 <= xla.results - predicted.eager.timeline.results <= 8 * 4
    # XLA fuses elementwise ops, so it needs no more memory, except for copies of operands that its libraries need.
    assert xla.memory - xla.temporary <= predicted.peak.memory <= 2 * xla.memory


@pytest.mark.parametrize("name", BENCHMARK["FUNCTIONS"])
def test_the_peak_in_eager_order_is_the_one_on_numpy(name: str) -> None:
    function, templates = BENCHMARK["FUNCTIONS"][name]
    predicted, most = tb.dry_run(function, *templates), BENCHMARK["memory_on_numpy"](function, templates)
    assert 0.8 * most <= predicted.peak.memory - predicted.eager.timeline.parameters <= 1.25 * most


def step(carry: tb.Tensor, x: tb.Tensor) -> tuple[tb.Tensor, tb.Tensor]:
    """Run one step of a recurrent network."""
    carry = tb.tanh(carry * 0.5 + x)
    return carry, carry


def pooled(x: tb.Tensor) -> tb.Tensor:
    """Return the sum of the maxima of all windows."""
    return tb.sum(tb.window_max(x, (1, 1, 3, 3), strides=(1, 1, 2, 2), padding="same"))


def layer(x: tb.Tensor) -> tb.Tensor:
    """Apply one layer of a chain."""
    return tb.sin(tb.exp(tb.tanh(x)))


def product(x: tb.Tensor, y: tb.Tensor) -> tb.Tensor:
    return tb.exp(x) * y


LARGE: dict[str, tuple[Any, tuple[str, ...]]] = {
    "gradient of max-pooling": (tb.grad(pooled), ("f32[8, 16, 64, 64]",)),
    "max-pooling": (pooled, ("f32[8, 16, 64, 64]",)),
    "Fourier transform": (tb.fft.fft, ("c64[400, 512]",)),
    "Fourier transform of real numbers": (tb.fft.fftn, ("f32[400, 512]",)),
    "convolution": (lambda x, k: tb.conv(x, k, padding="same"), ("f32[8, 16, 32, 32]", "f32[32, 16, 3, 3]")),
    "convolution by strides": (lambda x, k: tb.conv(x, k, strides=2), ("f32[8, 16, 64, 64]", "f32[32, 16, 3, 3]")),
    "transposed convolution": (
        lambda x, k: tb.conv(x, k, input_dilation=2, padding=[(2, 2), (2, 2)]),
        ("f32[8, 16, 32, 32]", "f32[32, 16, 4, 4]"),
    ),
    "transposed convolution of integers": (
        lambda x, k: tb.conv(x, k, input_dilation=2),
        ("s16[8, 16, 32, 32]", "s16[32, 16, 4, 4]"),
    ),
    "complex transposed convolution": (
        lambda x, k: tb.conv(x, k, input_dilation=3),
        ("c64[8, 16, 32, 32]", "c64[16, 16, 3, 3]"),
    ),
    "gradient of a convolution by strides": (
        lambda x, k: tb.grad(lambda x: tb.sum(tb.conv(x, k, strides=8) ** 2))(x),
        ("f32[4, 3, 128, 128]", "f32[96, 3, 8, 8]"),
    ),
    "complex convolution": (tb.conv, ("c64[8, 16, 32, 32]", "c64[32, 16, 3, 3]")),
    "convolution of integers": (tb.conv, ("s16[8, 16, 32, 32]", "s16[32, 16, 3, 3]")),
    "scan": (lambda x, xs: tb.scan(step, x, xs), ("f32[10000]", "f32[30, 10000]")),
    "gradient of a scan": (tb.grad(lambda x, xs: tb.sum(tb.scan(step, x, xs)[1])), ("f32[10000]", "f32[30, 10000]")),
    "checkpoint": (tb.checkpoint(layer), ("f32[200000]",)),
    "vmap of vmap": (tb.vmap(tb.vmap(product, (0, None)), (None, 0)), ("f32[500]", "f32[600]")),
    "vmap of vmap of a product": (tb.vmap(tb.vmap(tb.matmul)), ("f32[10, 10, 40, 50]", "f32[10, 10, 50, 40]")),
    "vmap of vmap of softmax": (tb.vmap(tb.vmap(tb.softmax)), ("f32[10, 100, 400]",)),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_kernels_take_is_predicted(name: str) -> None:
    function, templates = LARGE[name]
    predicted, most = tb.dry_run(function, *templates), BENCHMARK["memory_on_numpy"](function, templates)
    assert 0.8 * most <= predicted.peak.memory - predicted.eager.timeline.parameters <= 1.25 * most


def test_a_checkpoint_shows_in_memory_and_in_operations() -> None:
    def chain(stage: Any, x: tb.Tensor) -> tb.Tensor:
        for _ in range(16):
            x = stage(x)
        return tb.sum(x)

    plain, spared = (
        tb.dry_run(lambda x, stage=stage: chain(stage, x), "f32[100000]", gradient=True)
        for stage in (layer, tb.checkpoint(layer))
    )
    assert spared.peak.memory < 0.65 * plain.peak.memory
    assert 1.2 * plain.eager.transcendentals < spared.eager.transcendentals <= 2 * plain.eager.transcendentals


def test_a_training_step_takes_six_operations_for_each_parameter_and_token() -> None:
    example: Any = runpy.run_path(str(Path(__file__).resolve().parents[2] / "examples" / "gpt3.py"))
    parameters, tokens = example["parameters"](layers=3), f"s64[batch=1, time={example['TIME']}]"
    weights = sum(template.size for template in tb.trace(lambda tree: tree)(parameters).templates)
    predicted = tb.dry_run(example["loss"], parameters, tokens, tokens, gradient=True)
    # The rest are elementwise ops, and the attention's scores, in which no parameter takes part.
    assert 1 < predicted.flops / (6 * weights * example["TIME"]) < 1.05
    assert predicted.eager.timeline.parameters == 2 * weights + 2 * 8 * example["TIME"]
    assert predicted.eager.timeline.results == 2 * weights + 2
