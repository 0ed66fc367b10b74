"""Tensors as pytrees of `jax.export`: what a file has of the static data of a tensor."""

from __future__ import annotations

from typing import Any

import jax
import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.jax_backend.backend import JaxBackend
from tensorbackend.backends.jax_backend.trees import StaticData, _deserialize, _serialize


@pytest.mark.parametrize("backend", ["jax", "numpy"])
def test_a_function_of_tensors_is_exported(backend: str) -> None:
    tb.get_backend("jax")
    x = tb.ones((4, 3), names=("batch", None), backend=backend)
    weights = {"w": tb.full((3, 2), 0.5, backend=backend)}
    exported: Any = jax.export.export(jax.jit(lambda w, x: (x @ w["w"], tb.sum(x, axis="batch"))))(weights, x)
    product, total = exported.call(weights, x)
    assert product.names == ("batch", None)
    assert total.tolist() == [4.0, 4.0, 4.0]
    assert numpy.array_equal(numpy.asarray(product), numpy.full((4, 2), 1.5))


@pytest.mark.parametrize("backend", ["jax", "numpy", "binary"])
def test_static_data_come_back(backend: str) -> None:
    x = tb.ones((4, 3), dtype="bf16", names=("batch", None), backend=backend)
    static = _deserialize(_serialize(StaticData(x)), JaxBackend)
    assert static.template is x.template
    assert static.backend.name == ("numpy" if backend == "numpy" else "jax")
