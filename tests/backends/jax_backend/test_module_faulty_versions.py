"""Sums of products that some versions of jaxlib compute wrongly, and the warning of these versions."""

from __future__ import annotations

import warnings

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.jax_backend.module import FLAG, warn_of_faulty_version
from tensorbackend.errors import FaultyVersionWarning


@pytest.mark.parametrize("version", ["0.10.2", "0.11.0", "0.11.2", "0.12.0.1", "0.11.1rc1"])
def test_a_faulty_version_warns_on_a_cpu_unless_xla_has_the_flag(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
    with pytest.warns(FaultyVersionWarning, match=rf"jaxlib {version} computes wrong sums .*{FLAG}=-reduce"):
        warn_of_faulty_version(version, "cpu")
    with warnings.catch_warnings(action="error"):
        warn_of_faulty_version(version, "gpu")
        for right in ("0.10.1", "0.9.2", "0.12.1", "0.13.0"):  # newer ones are not known to be wrong
            warn_of_faulty_version(right, "cpu")
        monkeypatch.setenv("XLA_FLAGS", f"{FLAG}=-reduce")
        warn_of_faulty_version(version, "cpu")


def test_sums_of_products_with_an_operand_of_one_number() -> None:
    x = numpy.random.default_rng(0).random((169, 64), numpy.float32)
    total = tb.jit(lambda rows: tb.sum(rows @ tb.full((64, 100), 0.02, dtype="f32", backend="jax"), axis=0))
    found = total(tb.asarray(x, backend="jax"))
    numpy.testing.assert_allclose(numpy.asarray(found), numpy.full(100, x.sum(dtype=float) * 0.02), rtol=1e-5)


def test_sums_of_products_of_seven_axes() -> None:
    x, y = numpy.random.default_rng(0).random((2, 3, 1, 2, 2, 8, 8, 8), numpy.float32)
    total = tb.jit(lambda a, b: tb.sum(a * b, axis=3))
    found = total(tb.asarray(x, backend="jax"), tb.asarray(y, backend="jax"))
    numpy.testing.assert_allclose(numpy.asarray(found), (x * y).sum(3), rtol=1e-6)
