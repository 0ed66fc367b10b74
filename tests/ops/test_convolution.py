"""conv by example, against its definition, and at edge cases; errors are the same on every backend."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.backends.array_module import ArrayModuleBackend
from tensorbackend.errors import ArgumentError, AxisError, DTypeError, NamesError, ShapeError, TensorBackendError
from tensorbackend.testing import assert_equal

BACKENDS = ["binary", "numpy"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def naive(
    x: Any,
    kernel: Any,
    strides: Any,
    padding: Any,
    input_dilation: Any,
    kernel_dilation: Any,
    feature_groups: int = 1,
    batch_groups: int = 1,
) -> Any:
    """The definition of a convolution, one product at a time."""
    rank = x.ndim - 2
    spread = [
        max(0, (size - 1) * gap + 1) if size else 0 for size, gap in zip(x.shape[2:], input_dilation, strict=True)
    ]
    wide = np.zeros(
        (*x.shape[:2], *(low + size + high for size, (low, high) in zip(spread, padding, strict=True))), x.dtype
    )
    for index in np.ndindex(x.shape[2:]):
        at = tuple(i * gap + low for i, gap, (low, _) in zip(index, input_dilation, padding, strict=True))
        if all(0 <= coordinate < size for coordinate, size in zip(at, wide.shape[2:], strict=True)):
            wide[(slice(None), slice(None), *at)] = x[(slice(None), slice(None), *index)]
    spans = [(size - 1) * gap + 1 if size else 0 for size, gap in zip(kernel.shape[2:], kernel_dilation, strict=True)]
    places = [
        len([start for start in range(0, size + 1, stride) if start + span <= size])
        for size, span, stride in zip(wide.shape[2:], spans, strides, strict=True)
    ]
    features, channels = kernel.shape[:2]
    batch = x.shape[0] // batch_groups
    result = np.zeros((batch, features, *places), np.result_type(x, kernel))
    for n, o in itertools.product(range(batch), range(features)):
        image = n + batch * (o // (features // batch_groups))
        first = channels * (o // (features // feature_groups))
        for place in np.ndindex(*places):
            for c in range(channels):
                for tap in np.ndindex(kernel.shape[2:]):
                    at = tuple(place[i] * strides[i] + tap[i] * kernel_dilation[i] for i in range(rank))
                    result[(n, o, *place)] += wide[(image, first + c, *at)] * kernel[(o, c, *tap)]
    return result


# x, kernel, strides, padding, input dilation, kernel dilation, feature groups, batch groups
CASES: list[tuple[Any, ...]] = [
    ((1, 1, 5), (1, 1, 3), (1,), ((0, 0),), (1,), (1,), 1, 1),
    ((2, 3, 7), (4, 3, 2), (2,), ((1, 2),), (1,), (3,), 1, 1),
    ((2, 3, 4), (4, 3, 2), (3,), ((2, 1),), (3,), (2,), 1, 1),
    ((2, 4, 6), (6, 2, 3), (1,), ((-1, 2),), (1,), (1,), 2, 1),
    ((2, 3, 5), (3, 1, 2), (1,), ((0, 0),), (1,), (1,), 3, 1),
    ((4, 2, 5), (6, 2, 2), (1,), ((1, 0),), (1,), (1,), 1, 2),
    ((3, 2, 5), (3, 2, 3), (2,), ((1, 1),), (2,), (1,), 1, 3),
    ((2, 2, 6, 5), (3, 2, 3, 2), (1, 1), ((1, 1), (0, 1)), (1, 1), (1, 1), 1, 1),
    ((2, 2, 6, 5), (3, 2, 3, 2), (2, 3), ((1, 0), (2, 1)), (2, 1), (1, 2), 1, 1),
    ((1, 2, 9, 4), (1, 2, 4, 1), (3, 1), ((0, 0), (0, 0)), (1, 1), (2, 1), 1, 1),
    ((2, 1, 3, 4, 2), (2, 1, 2, 2, 2), (1, 2, 1), ((0, 1), (1, 0), (0, 0)), (1, 1, 2), (1, 1, 1), 1, 1),
    ((3, 5), (4, 5), (), (), (), (), 1, 1),
    ((4, 6), (4, 3), (), (), (), (), 2, 1),
    ((4, 3), (4, 3), (), (), (), (), 1, 2),
    ((2, 3, 2), (1, 3, 5), (1,), ((0, 0),), (1,), (1,), 1, 1),
    ((0, 3, 4), (2, 3, 2), (1,), ((0, 0),), (1,), (1,), 1, 1),
    ((2, 0, 4), (2, 0, 2), (1,), ((0, 0),), (1,), (1,), 1, 1),
    ((2, 3, 4), (0, 3, 2), (1,), ((0, 0),), (1,), (1,), 1, 1),
    ((2, 3, 0), (2, 3, 2), (1,), ((1, 1),), (2,), (1,), 1, 1),
    ((2, 3, 4), (2, 3, 0), (2,), ((0, 0),), (1,), (1,), 1, 1),
    ((1, 1, 1, 1), (1, 1, 1, 1), (5, 5), ((0, 0), (0, 0)), (7, 7), (9, 9), 1, 1),
    ((2, 70, 2), (3, 70, 2), (1,), ((0, 0),), (1,), (1,), 1, 1),  # few output positions: one product for all images
    ((1, 1, 40, 3), (1, 1, 9, 2), (2, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), 1, 1),
]


def operands(x: Any, kernel: Any, dtype: str) -> tuple[Any, Any]:
    """Return small integers, which every dtype holds and adds exactly."""
    left = (np.arange(math.prod(x)) * 37 % 7 - (0 if "u" in dtype else 3)).reshape(x)
    right = (np.arange(math.prod(kernel)) * 41 % 5 - (0 if "u" in dtype else 2)).reshape(kernel)
    return left, right


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("block", [1 << 20, 64, 1])
def test_the_definition(backend: str, case: Any, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result matches the definition for blocks of every size, down to one row of one image."""
    if backend == "binary" and block != 64:
        block = 64
    monkeypatch.setattr(ArrayModuleBackend, "conv_block", block)
    x, kernel = operands(case[0], case[1], "int64")
    reference = naive(x, kernel, *case[2:])
    names = ("strides", "padding", "input_dilation", "kernel_dilation", "feature_groups", "batch_groups")
    options = dict(zip(names, case[2:], strict=True))
    for dtype in ("float32", "int64", "int8", "complex64"):
        left, right = (tb.tensor(array, dtype=dtype, backend=backend) for array in (x, kernel))
        result = tb.conv(left, right, **options)
        dry = tb.conv(tb.template(left.shape, dtype), tb.template(right.shape, dtype), **options)
        assert result.template is dry.template
        assert result.shape == reference.shape
        expected = (reference + 128) % 256 - 128 if dtype == "int8" else reference
        assert result.tolist() == tb.tensor(expected, dtype=dtype, backend=backend).tolist()


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "bfloat16",
        "float64",
        "complex128",
    ],
)
def test_every_dtype(backend: str, dtype: str) -> None:
    x, kernel = operands((2, 3, 6, 5), (4, 3, 2, 3), dtype)
    reference = naive(x, kernel, (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1))
    result = tb.conv(tb.tensor(x, dtype=dtype, backend=backend), tb.tensor(kernel, dtype=dtype, backend=backend))
    assert result.dtype.name == dtype
    assert_equal(result, tb.tensor(tb.astype(tb.tensor(reference, backend="binary"), dtype), backend=backend))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64"])
def test_integers_wrap(backend: str, dtype: str) -> None:
    limits = tb.iinfo(dtype)
    x = tb.full((1, 1, 3), limits.max, dtype=dtype, backend=backend)
    kernel = tb.full((1, 1, 2), limits.max, dtype=dtype, backend=backend)
    exact = 2 * limits.max**2 % 2**limits.bits
    wrapped = exact - 2**limits.bits if exact > limits.max else exact
    assert tb.conv(x, kernel).tolist() == [[[wrapped] * 2]]


def test_names(backend: str) -> None:
    x = tb.zeros((2, 3, 8, 9), names=("batch", "channel", "height", "width"), backend=backend)
    kernel = tb.zeros((4, 3, 3, 2), names=("feature", "channel", None, None), backend=backend)
    assert tb.conv(x, kernel).template == tb.Template((2, 4, 6, 8), "f32", ("batch", "feature", "height", "width"))
    options: dict[str, Any] = {
        "strides": {"width": 2},
        "kernel_dilation": {"height": 2, -1: 3},
        "padding": {"width": (1, 0)},
    }
    by_position = tb.conv(x, kernel, strides=(1, 2), kernel_dilation=(2, 3), padding=((0, 0), (1, 0)))
    assert tb.conv(x, kernel, **options).template is by_position.template
    assert tb.conv(x, kernel, input_dilation={"height": 3}).shape == (2, 4, 20, 8)
    assert tb.conv(x, kernel.rename(None, None, None, None)).names == ("batch", None, "height", "width")


def test_same(backend: str) -> None:
    x = tb.tensor([[[1.0, 2.0, 3.0, 4.0]]], backend=backend)
    two, three = (tb.tensor([[taps]], backend=backend) for taps in ([1.0, 10.0], [1.0, 10.0, 100.0]))
    assert tb.conv(x, two, padding="same").tolist() == [[[21.0, 32.0, 43.0, 4.0]]]
    assert tb.conv(x, three, padding="same").tolist() == [[[210.0, 321.0, 432.0, 43.0]]]
    assert tb.conv(x, three, padding="same", strides=2).tolist() == [[[321.0, 43.0]]]
    assert tb.conv(x, three, padding="same", kernel_dilation=2).shape == (1, 1, 4)
    assert tb.conv(x, two, padding="same", input_dilation=2).tolist() == [[[1.0, 20.0, 2.0, 30.0, 3.0, 40.0, 4.0]]]


def test_narrow_floats_are_rounded_once(backend: str) -> None:
    x = tb.tensor([[[2048.0, 1.0, 1.0]]], dtype="float16", backend=backend)
    assert tb.conv(x, tb.ones((1, 1, 3), dtype="float16", backend=backend)).item() == 2050.0
    ones = tb.ones((1, 300, 1), dtype="bfloat16", backend=backend)
    assert tb.conv(ones, ones).item() == 300.0
    assert tb.conv(x * 30, x).item() == math.inf


def test_padding_is_multiplied(backend: str) -> None:
    """A zero of the padding times infinity is NaN, as in XLA."""
    x = tb.tensor([[[1.0, 2.0]]], backend=backend)
    kernel = tb.tensor([[[math.inf, 1.0]]], backend=backend)
    result = tb.conv(x, kernel, padding=((1, 0),)).tolist()[0][0]
    assert math.isnan(result[0])
    assert result[1] == math.inf
    spread = tb.conv(x, kernel, input_dilation=2).tolist()[0][0]
    assert spread[0] == math.inf
    assert math.isnan(spread[1])


def test_promotion_and_inputs(backend: str) -> None:
    x = tb.tensor([[[1, 2, 3]]], backend=backend)
    kernel = tb.tensor([[[0.5]]], backend=backend)
    assert tb.conv(x, kernel).tolist() == [[[0.5, 1.0, 1.5]]]
    assert x.tolist() == [[[1, 2, 3]]]
    assert kernel.tolist() == [[[0.5]]]
    turned = tb.permute_dims(tb.tensor(np.arange(12.0).reshape(3, 2, 2), backend=backend), (2, 1, 0))
    assert tb.conv(turned, tb.ones((1, 2, 2), dtype="float64", backend=backend)).tolist() == [
        [[12.0, 28.0]],
        [[16.0, 32.0]],
    ]


@pytest.mark.parametrize("shape", [(2, 3, 20, 30), (1, 8, 50, 9), (5, 40, 7, 7)])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
@pytest.mark.parametrize("block", [1 << 20, 2000])
def test_larger_ones_agree(shape: Any, strides: Any, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ArrayModuleBackend, "conv_block", block)
    generator = np.random.default_rng(0)
    x = generator.integers(-9, 9, shape).astype(np.float32)
    for features in (1, 16):
        kernel = generator.integers(-9, 9, (features, shape[1], 3, 5)).astype(np.float32)
        options: dict[str, Any] = {"strides": strides, "padding": "same", "kernel_dilation": (2, 1)}
        result = tb.conv(tb.tensor(x), tb.tensor(kernel), **options)
        reference = tb.conv(tb.tensor(x, backend="binary"), tb.tensor(kernel, backend="binary"), **options)
        assert result.tolist() == reference.tolist()


MISTAKES: list[tuple[type[TensorBackendError], str, Callable[[tb.Tensor, tb.Tensor], object]]] = [
    (ShapeError, r"conv: expected x as \(batch, channels, \*spatial\)", lambda x, k: tb.conv(x, tb.expand_dims(k))),
    (ShapeError, r"x as \(batch, channels", lambda x, k: tb.conv(x[0, 0], k[0, 0])),
    (ShapeError, r"a kernel of 4 channels, the channels of x divided by the groups", lambda x, k: tb.conv(x, k[:, :1])),
    (ShapeError, r"a kernel of 2 channels", lambda x, k: tb.conv(x, k, feature_groups=2)),
    (
        ArgumentError,
        r"feature_groups of at least 1 that divide the 4 channels",
        lambda x, k: tb.conv(x, k, feature_groups=3),
    ),
    (ArgumentError, r"feature_groups of at least 1", lambda x, k: tb.conv(x, k, feature_groups=0)),
    (ArgumentError, r"feature_groups of at least 1", lambda x, k: tb.conv(x, k, feature_groups=True)),
    (
        ArgumentError,
        r"batch_groups of at least 1 that divide the batch of 2",
        lambda x, k: tb.conv(x, k, batch_groups=4),
    ),
    (
        ArgumentError,
        r"feature_groups or batch_groups, not both",
        lambda x, k: tb.conv(x, k[:, :2], feature_groups=2, batch_groups=2),
    ),
    (ArgumentError, r"integers from 1 to .* as strides", lambda x, k: tb.conv(x, k, strides=0)),
    (ArgumentError, r"1 numbers in input_dilation", lambda x, k: tb.conv(x, k, input_dilation=(1, 1))),
    (AxisError, r"a spatial axis of .* in strides, got axis='n'", lambda x, k: tb.conv(x, k, strides={"n": 2})),
    (AxisError, r"an axis name", lambda x, k: tb.conv(x, k, padding={"feature": (1, 1)})),
    (ArgumentError, r'"valid", "same" or 1 pairs', lambda x, k: tb.conv(x, k, padding="SAME")),  # type: ignore[arg-type]
    (ShapeError, r"leaves no negative size", lambda x, k: tb.conv(x, k, padding=((-9, 0),))),
    (DTypeError, r"conv: expected a numeric dtype", lambda x, k: tb.conv(x > 0, k > 0)),
    (NamesError, r"each name once", lambda x, k: tb.conv(x, k.rename(feature="n"))),
]


@pytest.mark.parametrize(("error", "text", "call"), MISTAKES, ids=[text[:40] for _, text, _ in MISTAKES])
def test_mistakes(error: Any, text: str, call: Callable[[tb.Tensor, tb.Tensor], object]) -> None:
    texts = set()
    for backend_name in (*BACKENDS, "template"):
        x = tb.ones((2, 4, 5), names=("n", "channel", "time"), backend=backend_name)
        kernel = tb.ones((8, 4, 3), names=("feature", "channel", None), backend=backend_name)
        with pytest.raises(error, match=text) as caught:
            call(x, kernel)
        texts.add(str(caught.value))
    assert len(texts) == 1


def test_a_dilation_of_a_wrong_kind_is_refused_where_there_are_no_spatial_axes() -> None:
    x, kernel = tb.zeros((2, 3), names=("batch", "channel")), tb.zeros((4, 3), names=("feature", "channel"))
    for wrong in (object(), "two", 0, 1.5):
        with pytest.raises(tb.errors.ArgumentError, match="kernel_dilation"):
            tb.conv(x, kernel, kernel_dilation=wrong)  # type: ignore[arg-type] # which is the point
