"""Layer and RMS normalisation as ops: parameters that broadcast, and results in the dtype of x."""

from __future__ import annotations

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.ops.composite.reduction import normalisation

X = numpy.random.default_rng(0).normal(size=(2, 3, 4))
SCALE, OFFSET = numpy.linspace(0.5, 2, 4), numpy.linspace(-1, 1, 3)[:, None]


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_parameters_broadcast(backend: str) -> None:
    x, scale, offset = (tb.asarray(each, backend=backend) for each in (X, SCALE, OFFSET))
    centred = X - X.mean((1, 2), keepdims=True)
    wanted = centred / numpy.sqrt((centred**2).mean((1, 2), keepdims=True) + 0.1) * SCALE + OFFSET
    found = normalisation.layer_norm(x, scale, offset, axis=(1, 2), epsilon=0.1)
    assert numpy.allclose(numpy.asarray(found), wanted)
    wanted = X / numpy.sqrt((X**2).mean(2, keepdims=True) + 0.1) * SCALE
    assert numpy.allclose(numpy.asarray(normalisation.rms_norm(x, scale, axis=2, epsilon=0.1)), wanted)


def test_the_result_is_rounded_once() -> None:
    x, scale = tb.asarray(X.astype("f2")), tb.asarray(SCALE.astype("f4"))
    found = normalisation.layer_norm(x, scale, None, axis=2, epsilon=0.0)
    wide = normalisation.layer_norm(x.astype(tb.float32), scale, None, axis=2, epsilon=0.0)
    assert found.dtype is tb.float16
    assert tb.all(found == wide.astype(tb.float16))
