"""Resizing, compared with JAX and with values of PyTorch and ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError, TensorBackendError

BACKENDS = ["binary", "numpy", "jax"]
ROW = tb.asarray([1.0, 2.0, 4.0, 8.0], names=("x",))


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("method", ["nearest", "linear", "cubic", "lanczos3", "lanczos5"])
def test_values_are_jaxs(method: Any, antialias: bool) -> None:
    image = numpy.random.default_rng(0).standard_normal((2, 5, 8)).astype("float32")
    for sizes in ((3, 19), (5, 1)) if antialias else ((11, 3),):
        wanted = jax.image.resize(image, (2, *sizes), method, antialias=antialias)
        found = tb.resize(
            tb.asarray(image), {1: sizes[0], 2: sizes[1]}, method=method, convention="jax", antialias=antialias
        )
        numpy.testing.assert_allclose(numpy.asarray(found), numpy.asarray(wanted), atol=2e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("options", "wanted"),
    [  # torch.nn.functional.interpolate of this row to 6 entries, and the ONNX reference
        ({}, [1.0, 1.5, 2.3333333, 3.6666667, 6.0, 8.0]),
        ({"coordinates": "align_corners"}, [1.0, 1.6, 2.4, 3.6, 5.6, 8.0]),
        ({"method": "cubic"}, [0.9131947, 1.3125, 2.3043978, 3.3831019, 6.1875, 8.3472223]),
        ({"method": "nearest"}, [1.0, 1.0, 2.0, 4.0, 4.0, 8.0]),
        ({"method": "nearest", "convention": "onnx"}, [1.0, 1.0, 2.0, 4.0, 4.0, 8.0]),
        ({"method": "nearest", "convention": "jax"}, [1.0, 2.0, 2.0, 4.0, 8.0, 8.0]),
    ],
)
def test_conventions(options: dict[str, Any], wanted: list[float], backend: str, whole: Callable[..., Any]) -> None:
    row = tb.backend_copy(ROW, backend)
    found = whole(lambda x: tb.resize(x, {"x": 6}, **options))(row)
    assert found.names == ("x",)
    assert found.tolist() == pytest.approx(wanted, abs=1e-6)


def test_sizes_scales_and_dtypes() -> None:
    assert tb.resize(ROW, scales=1.9).shape == (7,)
    assert tb.resize(ROW, 7, scales=1.9).tolist() == tb.resize(ROW, scales=1.9).tolist()
    assert tb.resize(ROW, 7).tolist() != tb.resize(ROW, scales=1.9).tolist()
    assert tb.resize(ROW.astype("s8"), 2).dtype is tb.float32
    assert tb.resize(ROW > 3, 8, method="nearest").dtype is tb.dtypes.bool_
    assert tb.resize(ROW.astype("bf16"), 2).tolist() == [1.5, 6.0]
    assert tb.resize(tb.template((3, 9), "f32"), {1: 5}).shape == (3, 5)


def test_the_gradient_is_the_transpose() -> None:
    gradient = tb.grad(lambda x: tb.sum(tb.resize(x, 2, antialias=True) * tb.asarray([1.0, 10.0])))(ROW)
    rows = jax.image.resize(numpy.eye(4, dtype="float32"), (2, 4), "linear")
    assert gradient.tolist() == pytest.approx((numpy.asarray([1.0, 10.0]) @ numpy.asarray(rows)).tolist())
    assert gradient.names == ("x",)


def word(**options: str) -> dict[str, Any]:
    """Options that type checkers would refuse."""
    return options


@pytest.mark.parametrize(
    ("mistake", "kind", "text"),
    [
        (lambda: tb.resize(ROW), ArgumentError, "resize: expected sizes or scales"),
        (
            lambda: tb.resize(ROW, 3, **word(method="spline")),
            ArgumentError,
            "expected method to be one of linear, nearest",
        ),
        (lambda: tb.resize(ROW, 3, **word(coordinates="corners")), ArgumentError, "expected coordinates to be one of"),
        (lambda: tb.resize(ROW, scales=-1.0), ArgumentError, "a positive number for each of 1 axes as scales"),
        (lambda: tb.resize(tb.ones((2, 3)), {0: 3}, scales={1: 2.0}), ArgumentError, "scales for the same axes"),
        (lambda: tb.resize(tb.ones((0,)), 3), ShapeError, "axes with at least one entry"),
    ],
)
def test_mistakes(mistake: Callable[[], Any], kind: type[TensorBackendError], text: str) -> None:
    with pytest.raises(kind, match=text):
        mistake()
