"""What is computed again for a limit of memory: the choice, predicted memory compared with NumPy's, and gradients."""

from __future__ import annotations

import gc
import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.costs import candidates

from ..peak_memory import peak_memory

HIDDEN = 128, 256, 128, 256, 128
ROWS, WIDTH = 2048, 32


def layer(x: tb.Tensor, first: tb.Tensor, second: tb.Tensor) -> tb.Tensor:
    return x + tb.tanh(tb.exp(tb.sin(x @ first)) @ second)


def step_of(layer: Callable[..., tb.Tensor]) -> Callable[..., Any]:
    def loss(weights: Any, x: tb.Tensor) -> tb.Tensor:
        for first, second in weights:
            x = layer(x, first, second)
        return tb.sum(x * x)

    return tb.value_and_grad(loss)


def arguments() -> tuple[Any, tb.Tensor]:
    generator = numpy.random.default_rng(0)

    def drawn(*shape: int) -> tb.Tensor:
        return tb.asarray(generator.standard_normal(shape).astype("f4") * 0.05, backend="numpy")

    return [(drawn(WIDTH, size), drawn(size, WIDTH)) for size in HIDDEN], drawn(ROWS, WIDTH)


def measured_peaks(function: Callable[..., Any], weights: Any, x: tb.Tensor, calls: int = 2) -> list[int]:
    """Return the bytes of each of several calls and their arguments, after another one."""
    peaks = []
    for _ in range(calls + 1):
        gc.collect()
        peaks.append(peak_memory(lambda: function(weights, x)))
    return [peak + x.nbytes + sum(w.nbytes for pair in weights for w in pair) for peak in peaks[1:]]


def test_the_promise_is_kept_on_numpy() -> None:
    weights, x = arguments()
    plain, kept = step_of(layer), step_of(tb.checkpoint(layer))
    before = tb.dry_run(plain, weights, x)
    limit = int(0.6 * before.peak.memory)
    report = tb.dry_run(kept, weights, x, fits=limit)
    found = report.recomputation
    assert found is not None
    assert found.fits
    assert found.before.nbytes == before.peak.memory
    assert found.after.nbytes == report.peak.memory
    assert found.after.nbytes < found.promised <= limit
    assert 0 < len(found.chosen) < len(HIDDEN)
    everything = tb.dry_run(kept, weights, x)
    assert before.flops < report.flops < everything.flops
    expected = plain(weights, x)
    fitted = tb.fit(kept, limit)
    peaks = measured_peaks(fitted, weights, x)
    assert peaks == pytest.approx([found.after.nbytes] * 2, rel=0.05)
    assert max(peaks) <= found.promised
    value, gradients = fitted(weights, x)
    numpy.testing.assert_allclose(value, expected[0], rtol=1e-5)
    for pair, wanted in zip(gradients, expected[1], strict=True):
        for gradient, exact in zip(pair, wanted, strict=True):
            numpy.testing.assert_allclose(gradient, exact, rtol=1e-4, atol=1e-5)


def test_a_compiled_program_on_numpy_takes_the_optimised_peak() -> None:
    weights, x = arguments()
    kept = step_of(tb.checkpoint(layer))
    limit = int(0.6 * tb.dry_run(step_of(layer), weights, x).optimised.peak.memory)
    fitted = tb.fit(kept, limit, optimised=True)
    fitted(weights, x)  # chooses
    promised = tb.dry_run(fitted, weights, x).optimised.peak.memory
    assert 0.8 * limit < promised <= limit
    compiled = tb.jit(fitted)
    peaks = measured_peaks(compiled, weights, x)
    assert peaks == pytest.approx([promised] * 2, rel=0.05)
    assert max(peaks) - min(peaks) < 0.005 * promised
    value, gradients = compiled(weights, x)
    expected = step_of(layer)(weights, x)
    numpy.testing.assert_allclose(value, expected[0], rtol=1e-5)
    for pair, wanted in zip(gradients, expected[1], strict=True):
        for gradient, exact in zip(pair, wanted, strict=True):
            numpy.testing.assert_allclose(gradient, exact, rtol=1e-4, atol=1e-5)


def test_calls_are_shown_with_names_and_costs() -> None:
    weights, x = arguments()
    report = tb.dry_run(step_of(tb.checkpoint(layer)), weights, x, fits="13MB")
    text = report.summary()
    assert "fits into 13 MB with" in text
    assert "layer 0" in text
    assert "% more FLOPs" in text


def test_a_function_that_fits_computes_nothing_again() -> None:
    weights, x = arguments()
    found = tb.dry_run(step_of(tb.checkpoint(layer)), weights, x, fits="1GB").recomputation
    assert found is not None
    assert found.chosen == frozenset()
    assert found.before == found.after


def test_a_limit_that_no_choice_meets() -> None:
    weights, x = arguments()
    found = tb.dry_run(step_of(tb.checkpoint(layer)), weights, x, fits=1000).recomputation
    assert found is not None
    assert not found.fits
    with pytest.raises(
        tb.errors.ArgumentError, match=r"expected a limit of at least .* got limit='1 kB'; raise the limit"
    ):
        tb.fit(step_of(tb.checkpoint(layer)), 1000)(weights, x)
    with pytest.raises(tb.errors.ArgumentError, match="the peak with 4 of 6 parts computed again"):
        tb.fit(step_of(layer), 1000)(weights, x)


def test_each_set_of_shapes_has_its_own_choice() -> None:
    weights, x = arguments()
    kept = step_of(tb.checkpoint(layer))
    found = tb.dry_run(kept, weights, x[:128], fits=1).recomputation
    assert found is not None
    fitted = tb.fit(kept, found.promised)
    expected = step_of(layer)(weights, x[:128])
    numpy.testing.assert_allclose(fitted(weights, x[:128])[0], expected[0], rtol=1e-5)
    numpy.testing.assert_allclose(fitted(weights, x[:16])[0], step_of(layer)(weights, x[:16])[0], rtol=1e-5)
    with pytest.raises(tb.errors.ArgumentError, match="fit: expected a limit"):
        fitted(weights, x)


def test_the_choice_is_near_the_best_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "EXHAUSTIVE_CALLS", 0)  # so that a short chain is searched as a long one is
    benchmark: Any = runpy.run_path(str(Path(__file__).resolve().parents[2] / "benchmarks" / "fit.py"))
    calls = 12 if os.environ.get("TENSORBACKEND_EXAMPLES") else 4
    ratios = benchmark["fit_chain"](calls)
    assert len(ratios) >= 2
    assert max(ratios) <= 1.15
    assert min(ratios) >= 1


@pytest.mark.parametrize("optimised", [False, True], ids=["op by op", "compiled"])
def test_a_program_without_checkpoints_is_cut_into_parts(optimised: bool) -> None:
    weights, x = arguments()

    def loss(weights: Any, x: tb.Tensor) -> tb.Tensor:
        scaled = tb.exp(x * 2.0) / 8.0  # computed at once in an eager call, recorded in a trace
        for first, second in weights:
            x = layer(x, first, second) + scaled
        return tb.sum(x * x)

    step = tb.value_and_grad(loss)
    limit = int(0.65 * tb.dry_run(step, weights, x).peak.memory)
    found = tb.dry_run(step, weights, x, fits=limit).recomputation
    assert found is not None
    assert found.fits
    assert {*found.calls} == {"part"}
    assert "parts computed again: part " in str(found)
    fitted = tb.fit(step, limit, optimised=optimised)
    run = tb.jit(fitted) if optimised else fitted
    for one, other in zip(tb.tree_leaves(step(weights, x)), tb.tree_leaves(run(weights, x)), strict=True):
        assert numpy.array_equal(numpy.asarray(one), numpy.asarray(other))
    assert max(measured_peaks(run, weights, x)) <= limit < 0.75 * min(measured_peaks(step, weights, x))


def test_a_function_of_the_users_is_called_once() -> None:
    seen: list[float] = []

    def loss(x: tb.Tensor) -> tb.Tensor:
        for _ in range(8):
            x = tb.sin(tb.exp(tb.tanh(x)))
        tb.debug_callback(lambda y: seen.append(float(y)), tb.sum(x))
        return tb.sum(x)

    found = tb.dry_run(loss, "f32[1000]", gradient=True, fits=1000).recomputation
    assert found is not None
    assert found.calls == ()
    tb.fit(tb.grad(loss), "1MB")(tb.zeros(1000))
    assert len(seen) == 1


def test_calls_without_a_gradient_count_in_an_eager_call_too() -> None:
    """The choice is made in a trace, in which each call is recorded."""
    kept = tb.checkpoint(lambda x: tb.sin(tb.exp(tb.tanh(x))))

    def chain(x: tb.Tensor) -> tb.Tensor:
        for _ in range(8):
            x = kept(x)
        return tb.sum(x)

    def step(x: tb.Tensor) -> Any:
        return chain(x), tb.grad(chain)(x)

    x = tb.zeros(100_000, backend="numpy")
    found = tb.dry_run(step, x, fits="7MB").recomputation
    assert found is not None
    fitted = tb.fit(step, "7MB")
    taken = x.nbytes + peak_memory(lambda: fitted(x), calls_before=2)
    assert 0.9 * found.promised < taken <= found.promised
