"""Convolutions of dilated images by parts, against the reference backend, which multiplies the zeros in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.backends.array_module.convolution import ArrayConvolution
from tensorbackend.testing import profile

DTYPES = ("float32", "float64", "float16", "complex64", "int32", "int64", "uint8", "bool")


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[Any, Any, dict[str, Any]]:
    """An image, a kernel and options, some axis of which is dilated."""
    ndim = draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(DTYPES[:-1]))
    groups, batch_groups = draw(st.sampled_from([(1, 1), (2, 1), (1, 2)]))
    apart = draw(st.lists(st.integers(1, 5), min_size=ndim, max_size=ndim).filter(lambda steps: max(steps) > 1))
    between = draw(st.lists(st.sampled_from([1, 1, 1, 2, 3]), min_size=ndim, max_size=ndim))
    size = draw(st.lists(st.integers(1, 5), min_size=ndim, max_size=ndim))
    window = draw(st.lists(st.integers(1, 7), min_size=ndim, max_size=ndim))
    lengths = [(count - 1) * step + 1 for count, step in zip(size, apart, strict=True)]
    padding = [(draw(st.integers(-(length // 2), 8)), draw(st.integers(-(length // 2), 8))) for length in lengths]
    batch, channels, features = draw(st.integers(1, 3)) * batch_groups, draw(st.integers(1, 3)), draw(st.integers(1, 2))
    x = numbers(rng, (batch, channels * groups, *size), dtype)
    kernel = numbers(rng, (features * groups * batch_groups, channels, *window), dtype)
    options = {
        "padding": padding, "input_dilation": apart, "kernel_dilation": between, "feature_groups": groups,
        "batch_groups": batch_groups,
    }  # fmt: skip
    return x, kernel, options


def numbers(rng: np.random.Generator, shape: Any, dtype: str) -> Any:
    if dtype.startswith("complex"):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, 9, shape).astype(dtype)


def on_both(x: Any, kernel: Any, options: dict[str, Any]) -> list[Any]:
    return [
        np.asarray(tb.conv(tb.asarray(x, backend=name), tb.asarray(kernel, backend=name), **options))
        for name in ("numpy", "binary")
    ]


@pytest.mark.parametrize("block", [1, 200, ArrayConvolution.conv_block])
def test_parts_add_up_to_the_convolution(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ArrayConvolution, "conv_block", block)

    @settings(profile(60))
    @given(convolutions())
    def judge(call: tuple[Any, Any, dict[str, Any]]) -> None:
        x, kernel, options = call
        found, right = on_both(x, kernel, options)
        assert (found.shape, found.dtype) == (right.shape, right.dtype)
        if found.dtype.kind in "iu":
            assert np.array_equal(found, right)
        else:
            bound = on_both(abs(x), abs(kernel), options)[1]
            ulps = 4 * np.finfo(found.dtype).eps
            assert (abs(found - right) <= ulps * (bound + 1e-30)).all()

    judge()


def test_zeros_between_elements_times_infinity_are_nan() -> None:
    x, kernel = np.ones((1, 1, 3), "f"), np.array([[[1.0, np.inf]]], "f")
    found, right = on_both(x, kernel, {"input_dilation": 2, "padding": [(1, 1)]})
    assert np.array_equal(found, right, equal_nan=True)
    assert np.isnan(right).any()


def test_an_infinite_image_is_added_where_it_belongs() -> None:
    x, kernel = np.array([[[1.0, np.inf, np.nan]]], "f"), np.array([[[1.0, 2.0, -1.0]]], "f")
    found, right = on_both(x, kernel, {"input_dilation": 3, "padding": [(2, 2)]})
    assert np.array_equal(found, right, equal_nan=True)


def test_integers_beyond_float64_are_exact() -> None:
    x, kernel = np.array([[[2**40 + 1, 3]]]), np.array([[[2**20 + 1, -7, 5]]])
    found, right = on_both(x, kernel, {"input_dilation": 2, "padding": [(2, 2)]})
    assert np.array_equal(found, right)
