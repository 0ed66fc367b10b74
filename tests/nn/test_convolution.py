"""Convolution by name, its transpose as a linear map, and pooling."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, AxisError, NamesError, ShapeError

BACKENDS = ["binary", "numpy", "jax"]


def array(x: tb.Tensor) -> Any:
    return np.asarray(x)


def normal(seed: int, **sizes: int) -> tb.Tensor:
    return tb.random.normal(tb.random.key(seed), tuple(sizes.values()), names=tuple(sizes))


X = normal(0, batch=2, time=7, feature=4)
KERNEL = normal(1, unit=6, feature=4, time=3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_axes_may_stand_anywhere(backend: str, whole: Callable[..., Any]) -> None:
    options: dict[str, Any] = {"strides": {"time": 2}, "padding": "same"}

    @whole
    def results(x: tb.Tensor, kernel: tb.Tensor, bias: tb.Tensor) -> tuple[tb.Tensor, ...]:
        conv = partial(tb.nn.conv, **options)
        turned = conv(tb.permute_dims(x, ("time", "feature", "batch")), kernel, bias, axis="feature")
        both = conv(tb.stack([x, x * 2], axis=1, name="beam"), kernel)
        reference = tb.conv(tb.permute_dims(x, ("batch", "feature", "time")), kernel, **options) + 1
        return conv(x, kernel, bias), reference, turned, both

    tensors = results(*(x.backend_copy(backend) for x in (X, KERNEL, tb.ones(6, names=("unit",)))))
    outputs, reference, turned, both = (x.backend_copy("numpy") for x in tensors)  # comparing there compiles nothing
    assert outputs.names == ("batch", "time", "unit")
    assert tb.all_close(tb.permute_dims(outputs, reference.names), reference)
    assert turned.names == ("time", "unit", "batch")
    assert tb.all_close(turned.align_as(outputs), outputs)
    assert both.names == ("batch", "beam", "time", "unit")
    assert tb.all_close(both[:, 1], (outputs - 1) * 2, atol=1e-5)


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_any_rank(rank: int) -> None:
    x = tb.random.normal(tb.random.key(0), (2, *range(4, 4 + rank), 3))
    kernel = tb.random.normal(tb.random.key(1), (5, 3, *(2,) * rank))
    outputs = tb.nn.conv(x, kernel, dilation=2)
    reference = jax.lax.conv_general_dilated(
        np.moveaxis(array(x), -1, 1), array(kernel), (1,) * rank, "VALID", rhs_dilation=(2,) * rank
    )
    assert np.allclose(np.moveaxis(np.asarray(outputs), -1, 1), reference, atol=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize(("strides", "padding"), [(1, "same"), (2, "same"), (3, "same"), (2, "valid"), (4, "same")])
def test_the_transpose_is_that_of_jax(strides: int, padding: str, backend: str, whole: Callable[..., Any]) -> None:
    x, kernel = X.backend_copy(backend), normal(1, feature=4, unit=5, time=3).backend_copy(backend)
    outputs = whole(partial(tb.nn.conv_transpose, strides=strides, padding=padding))(x, kernel)
    reference = jax.lax.conv_transpose(
        array(X), array(kernel), (strides,), padding.upper(), dimension_numbers=("NHC", "OIH", "NHC"),
        transpose_kernel=True,
    )  # fmt: skip
    assert outputs.names == ("batch", "time", "unit")
    assert np.allclose(outputs, reference, atol=1e-5)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dilation", [1, 2])
def test_the_transpose_is_the_gradient_of_the_convolution(groups: int, dilation: int) -> None:
    y = normal(2, batch=2, time=12, unit=6)
    kernel = tb.random.normal(tb.random.key(1), (4, 6 // groups, 3))
    options: dict[str, Any] = {"strides": 2, "dilation": dilation, "groups": groups}
    forward, pull = tb.vjp(lambda y: tb.nn.conv(y, kernel, **options), y.rename(None, None, None))
    cotangent = tb.random.normal(tb.random.key(3), forward.shape)
    whole = tb.nn.conv_transpose(cotangent, kernel, **options)
    padded = np.zeros(y.shape, np.float32)
    padded[:, : whole.shape[1]] = np.asarray(whole)
    assert np.allclose(pull(cotangent)[0], padded, atol=1e-5)


def test_padding_of_the_transpose() -> None:
    x, kernel = X, normal(1, feature=4, unit=5, time=3)
    whole = tb.nn.conv_transpose(x, kernel, strides=2)
    assert tb.all_close(tb.nn.conv_transpose(x, kernel, strides=2, padding=[(1, 2)]), whole[:, 1:-2], atol=1e-5)
    wider = tb.nn.conv_transpose(x, kernel, strides=2, padding=[(0, -1)])
    assert wider.shape == (2, whole.shape[1] + 1, 5)
    assert tb.sum(tb.abs(wider[:, -1])).item() == 0


def test_pooling() -> None:
    x = normal(0, batch=2, height=6, width=4, channel=3)
    window = {"height": 2, "width": 2}
    blocks = np.asarray(x).reshape(2, 3, 2, 2, 2, 3)
    assert np.array_equal(tb.nn.max_pool(x, window), blocks.max(axis=(2, 4)))
    assert np.allclose(tb.nn.mean_pool(x, window), blocks.mean(axis=(2, 4)), atol=1e-6)
    assert tb.nn.max_pool(x, window, strides=1).shape == (2, 5, 3, 3)
    edge = tb.nn.mean_pool(tb.ones((1, 3)), (1, 2), strides=1, padding="same")
    assert edge.tolist() == [[1.0, 1.0, 1.0]]
    assert tb.nn.mean_pool(tb.ones((1, 3)), (1, 2), strides=1, padding="same", include_padding=True)[0, 2].item() == 0.5


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tb.nn.conv(X, tb.ones(3)), ShapeError, "conv: expected a kernel as"),
    (lambda: tb.nn.conv(X, KERNEL, spatial="feature"), ShapeError, "conv: expected 1 spatial axes of x"),
    (lambda: tb.nn.conv(X, KERNEL.rename("unit", "channel", "time")), NamesError, "the same name or None"),
    (lambda: tb.nn.conv(X, KERNEL, tb.ones(5)), ShapeError, r"conv: expected a bias of shape \(6,\)"),
    (lambda: tb.nn.conv_transpose(X, KERNEL), ShapeError, "conv_transpose: expected a kernel of the 4 features"),
    (
        lambda: tb.nn.conv_transpose(X, tb.ones((4, 5, 3)), padding=[(1,)]),
        ArgumentError,
        "conv_transpose: expected 'valid', 'same', or",
    ),
    (lambda: tb.nn.max_pool(X, {"height": 2}), AxisError, "expected an axis name"),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_does_not_fit(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()


def test_what_a_pool_took_goes_back_to_its_place() -> None:
    x = tb.random.normal(tb.random.key(3), (2, 6, 6), names=("batch", "row", "column"))
    window = {"row": 2, "column": 3}
    positions = tb.window_argmax(x, window, strides=window)
    back = tb.nn.max_unpool(tb.nn.max_pool(x, window), positions, {"row": 6, "column": 6})
    assert back.names == x.names
    assert tb.all(tb.logical_or(back == x, back == 0)).item()
    assert tb.nn.max_pool(tb.abs(back), window).tolist() == tb.abs(tb.nn.max_pool(x, window)).tolist()
    with pytest.raises(tb.errors.IndexRangeError):
        tb.nn.max_unpool(tb.ones(2), tb.asarray([0, 4]), 4)
