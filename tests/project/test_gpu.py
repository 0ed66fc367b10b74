"""Tests that need a GPU, and are skipped only without one; and the end of the benchmark, which needs none."""

from __future__ import annotations

import math
import os
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import BackendError
from tensorbackend.protocol import Backend
from tensorbackend.testing import divergences_of, judge

ROOT = Path(__file__).resolve().parents[2]
BENCHMARK: Any = runpy.run_path(str(ROOT / "benchmarks" / "gpu.py"))
PROOF: Any = runpy.run_path(str(ROOT / ".ci" / "gpu.py"))


REQUIRED = os.environ.get("TENSORBACKEND_GPU") == "required"
"""Whether a GPU that is not seen is a failure, as in `make gpu`."""


@pytest.fixture
def cupy() -> Backend:
    try:
        return tb.get_backend("cupy")
    except BackendError as error:
        if REQUIRED:
            raise
        pytest.skip(f"needs a GPU: {error}")


@pytest.fixture
def jax_gpu() -> Backend:
    gpus = tb.devices("jax", kind="gpu")
    if not gpus:
        assert not REQUIRED, "JAX sees no GPU"
        pytest.skip("needs a GPU: JAX sees none")
    return tb.get_backend("jax", device=gpus[0])


@pytest.mark.parametrize(("held", "status"), [(1_000_000, 0), ("no GPU", 1)])
def test_the_benchmark_fails_where_a_measurement_fails(
    held: int | str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(BENCHMARK["main"].__globals__, "measured", lambda function, name: held)
    monkeypatch.setattr("sys.argv", ["gpu.py"])
    assert BENCHMARK["main"]() == status
    assert ("6 of 6 measurements failed" in capsys.readouterr().out) == bool(status)


@pytest.mark.parametrize(
    ("gpus", "failing", "status", "last"),
    [
        (0, "", 1, "gpu: expected an NVIDIA GPU with its driver, got none; nothing was proven but what needs none"),
        (1, "", 0, "the report is in gpu-report.md"),
        (1, "jax is ready", 1, "the report is in gpu-report.md"),
    ],
)
def test_the_proof_of_a_machine(
    gpus: int,
    failing: str,
    status: int,
    last: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """Every step is in the report, and one that fails, or a machine without a GPU, is an exit status."""
    names, ran = PROOF["main"].__globals__, []

    def run(step: Any, limit: float | None) -> Any:
        ran.append((step.title, limit))
        return PROOF["Outcome"](step.title, step.title != failing, 1.0, f"output of {step.title}")

    replacements = {
        "run": run,
        "gpus": lambda: gpus,
        "install": lambda cuda: None,
        "REPORT": tmp_path / "gpu-report.md",
    }
    for name, value in replacements.items():
        monkeypatch.setitem(names, name, value)
    monkeypatch.setattr("sys.argv", ["gpu.py"])
    assert PROOF["main"]() == status
    assert capsys.readouterr().out.splitlines()[-1] == last
    report = (tmp_path / "gpu-report.md").read_text()
    assert len(ran) == (11 if gpus else 1)
    assert all(f"| {title} | {'FAILED' if title == failing else 'passed'} |" in report for title, _ in ran)
    assert all(limit is not None and 0 < limit <= 600 for _, limit in ran[1:])


def test_a_step_that_fails_or_takes_too_long_has_not_passed() -> None:
    step = PROOF["Step"]
    python = PROOF["python"]
    assert PROOF["run"](step("good", python("-c", "print(1)"), {}), 60.0)[1:4:2] == (True, "1\n")
    assert not PROOF["run"](step("bad", python("-c", "raise SystemExit(3)"), {}), 60.0).passed
    late = PROOF["run"](step("late", python("-c", "import time; time.sleep(60)"), {}), 0.2)
    assert not late.passed
    assert "stopped after 0 s" in late.output


def test_cupy(cupy: Backend) -> None:
    x = tb.tensor([[1.0, 2.0], [3.0, 4.0]], names=("row", None), backend=cupy)
    assert (x @ x).backend_transfer("numpy").tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert tb.from_dlpack(x.data, backend=cupy).data.data.ptr == x.data.data.ptr
    assert np.asarray(x.block_until_ready()).tolist() == x.tolist()
    assert x.__cuda_array_interface__["shape"] == (2, 2)


def test_cupy_keeps_zeros_of_both_signs_and_subnormal_neighbours(cupy: Backend) -> None:
    for zero in (tb.tensor(-0.0, backend=cupy), tb.full((), -0.0, backend=cupy), tb.asarray(np.array(-0.0))):
        assert str(zero.backend_copy(cupy).item()) == "-0.0"
    after = tb.nextafter(tb.tensor([0.0, math.inf], backend=cupy), tb.tensor([1.0, 0.0], backend=cupy))
    assert after.tolist() == [1.401298464324817e-45, 3.4028234663852886e38]


def test_cupy_runs_a_chain_of_ops_as_one_kernel(cupy: Backend) -> None:
    x = tb.tensor([[0.5, -1.0]], names=("row", "column"), backend=cupy)

    def function(x: tb.Tensor) -> tb.Tensor:
        return tb.exp(-x * x) * 3.0 + tb.tanh(2.0 * x)

    result, reference = tb.jit(function)(x), function(x.backend_copy("binary"))
    assert result.names == ("row", "column")
    np.testing.assert_allclose(result.tolist(), reference.tolist(), rtol=1e-6)
    losses = tb.jit(tb.grad(lambda x: tb.sum(tb.nn.gelu(x))))(x)
    np.testing.assert_allclose(losses.tolist(), [[0.86749, -0.08332]], rtol=1e-4)


def test_cupy_takes_the_memory_that_a_dry_run_predicts(cupy: Backend) -> None:
    def attention(query: tb.Tensor, key: tb.Tensor) -> tb.Tensor:
        scores = tb.dot(query, key, contract=(["feature"], ["feature"])) * 0.125
        return tb.dot(tb.softmax(scores, axis="seen"), key, contract=(["seen"], ["seen"]))

    def draw() -> list[tb.Tensor]:
        shapes = {("asked", "feature"): (1024, 64), ("seen", "feature"): (2048, 64)}
        return [tb.ones(shape, names=names, backend=cupy) for names, shape in shapes.items()]

    predicted = tb.dry_run(attention, *(x.template for x in draw())).eager.peak.memory
    assert BENCHMARK["on_cupy"](attention, draw) == pytest.approx(predicted, rel=0.02)


def test_jax_rounds_quotients_and_roots_once(jax_gpu: Backend) -> None:
    numbers = np.random.default_rng(0).uniform(0.5, 1e6, 100_000).astype("float32")
    others = np.random.default_rng(1).uniform(0.5, 1e6, 100_000).astype("float32")
    x, y = (tb.asarray(array, backend=jax_gpu) for array in (numbers, others))
    assert bool(tb.all(x / x == 1.0))
    assert np.array_equal(np.asarray(x / y), numbers / others)
    assert np.array_equal(np.asarray(tb.jit(lambda x, y: x / y)(x, y)), numbers / others)
    assert np.array_equal(np.asarray(tb.sqrt(x)), np.sqrt(numbers))
    slope = tb.grad(lambda x: tb.sum(tb.sqrt(x) / y))(x)
    np.testing.assert_allclose(np.asarray(slope), 0.5 / np.sqrt(numbers) / others, rtol=1e-6)


def test_jax_convolves_integers(jax_gpu: Backend) -> None:
    """The library that XLA calls on a GPU has no convolution of integers."""
    x, y = (tb.asarray(np.array(numbers), backend=jax_gpu) for numbers in ([3, 1, 2], [2, -1]))
    assert tb.convolve(x, y).tolist() == np.convolve([3, 1, 2], [2, -1]).tolist()


def test_jax_rounds_what_it_casts(jax_gpu: Backend) -> None:
    """XLA casts an integer to float64 at once where a program casts it to float32 and then to float64."""
    x = tb.tensor(2**24 + 1, dtype="int32", backend=jax_gpu)
    assert tb.jit(lambda x: tb.astype(tb.astype(x, "f32"), "f64"))(x).item() == 2.0**24
    assert tb.j0(x).item() == pytest.approx(-2.1107618786e-5, rel=1e-5)  # of 2^24; of 2^24 + 1 it is 1.5e-4


def test_jax_multiplies_by_bools(jax_gpu: Backend) -> None:
    mask, x = tb.tensor([False, True], backend=jax_gpu), tb.tensor([math.inf, 2.0], backend=jax_gpu)
    for product in (mask * x, tb.jit(lambda mask, x: mask * x)(mask, x)):
        assert math.isnan(float(product[0]))
    assert math.isnan(float(mask @ x))


def test_divergences_of_torch_on_a_gpu_are_still_there() -> None:
    """Those of the default devices are asked in `tests/testing/test_divergences.py`."""
    devices = tb.devices("torch", kind="gpu") if "torch" in tb.backends() else []
    if not devices:
        assert not REQUIRED, "the backend torch sees no GPU"
        pytest.skip("needs a GPU: PyTorch sees none, or its plugin is not installed")
    backend = tb.get_backend("torch", device=devices[0])
    for row in divergences_of(backend):
        assert judge(row.witness, backend).divergence is not None, row.reason
