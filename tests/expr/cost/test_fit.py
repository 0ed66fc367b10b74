"""What is computed again for a limit of memory: the choice, predicted memory compared with NumPy's, and gradients."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tensorbackend as tb

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


def measured_peak(function: Callable[..., Any], weights: Any, x: tb.Tensor) -> int:
    """Return the bytes of a call and its arguments, after it was compiled."""
    function(weights, x)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = function(weights, x)
        peak = tracemalloc.get_traced_memory()[1] - before
        del result
    finally:
        tracemalloc.stop()
    return int(peak + x.nbytes + sum(w.nbytes for pair in weights for w in pair))


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
    assert found.after.nbytes == report.peak.memory <= limit
    assert 0 < len(found.chosen) < len(HIDDEN)
    everything = tb.dry_run(kept, weights, x)
    assert before.flops < report.flops < everything.flops
    expected = plain(weights, x)
    run = tb.jit(tb.fit(kept, limit))
    assert measured_peak(run, weights, x) == pytest.approx(found.after.nbytes, rel=0.1)
    value, gradients = run(weights, x)
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
    with pytest.raises(tb.errors.ArgumentError, match="the peak with 0 of 0 checkpointed calls"):
        tb.fit(step_of(layer), 1000)(weights, x)


def test_each_set_of_shapes_has_its_own_choice() -> None:
    weights, x = arguments()
    kept = step_of(tb.checkpoint(layer))
    limit = tb.dry_run(kept, weights, x[:128]).peak.memory
    fitted = tb.fit(kept, limit + 1000)
    expected = step_of(layer)(weights, x[:128])
    numpy.testing.assert_allclose(fitted(weights, x[:128])[0], expected[0], rtol=1e-5)
    numpy.testing.assert_allclose(fitted(weights, x[:16])[0], step_of(layer)(weights, x[:16])[0], rtol=1e-5)
    with pytest.raises(tb.errors.ArgumentError, match="fit: expected a limit"):
        fitted(weights, x)
