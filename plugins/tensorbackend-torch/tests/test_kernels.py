"""Kernels whose operands need no conversion are PyTorch's own functions, so that a warm call adds nothing to them."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
import tensorbackend as tb
import torch
from tensorbackend import Template
from tensorbackend.dtypes import bool_, complex64, float16, float32, int32, uint32
from tensorbackend.protocol import kernel_of

from tensorbackend_torch import TorchBackend

X, M = Template((8,), float32), Template((4, 2), float32)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_floats_are_computed_by_pytorch_itself(name: str) -> None:
    assert kernel_of(getattr(TorchBackend(), name), X, X, X) is getattr(torch, name)


def test_a_sum_of_one_axis_is_pytorchs() -> None:
    assert kernel_of(TorchBackend().sum, Template((), float32), X, axes=(0,), keepdims=False) is torch.sum


@pytest.mark.parametrize(
    ("name", "function"), [("exp", "exp"), ("tanh", "tanh"), ("negate", "neg"), ("abs", "abs"), ("cos", "cos")]
)
def test_a_function_of_one_tensor_is_pytorchs(name: str, function: str) -> None:
    assert kernel_of(getattr(TorchBackend(), name), X, X) is getattr(torch, function)


def test_a_choice_is_pytorchs() -> None:
    assert kernel_of(TorchBackend().select, X, Template((8,), bool_), X, X) is torch.where


@pytest.mark.parametrize("dtype", [uint32, complex64])
def test_operands_that_need_care_get_it(dtype: object) -> None:
    x = Template((8,), dtype)  # type: ignore[arg-type] # each of them is a dtype
    assert kernel_of(TorchBackend().add, x, x, x) is not torch.add


@pytest.mark.parametrize(
    ("source", "target"), [(int32, int32), (float16, float16), (float32, float16), (int32, float32)]
)
def test_a_sum_that_needs_a_cast_has_the_dtype_of_its_template(source: object, target: object) -> None:
    x = Template((3, 2), source)  # type: ignore[arg-type]
    out = Template((3,), target)  # type: ignore[arg-type]
    kernel = kernel_of(TorchBackend().sum, out, x, axes=(1,), keepdims=False)
    values = torch.tensor([[1, 2], [3, 4], [5, 6]], dtype=getattr(torch, source.name))  # type: ignore[attr-defined]
    found = kernel(values)
    assert found.dtype is getattr(torch, target.name)  # type: ignore[attr-defined]
    assert found.tolist() == [3, 7, 11]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axes", [(), (0,), (1,), (0, 1)])
def test_extremes_of_zeros_have_the_sign_that_wins(axes: tuple[int, ...], keepdims: bool) -> None:
    """Of zeros the positive one is the greater; each element is (a number, the number of signs set)."""
    values = torch.tensor([[0.0, -0.0], [-0.0, -0.0], [-1.0, -0.0], [0.0, 1.0]])
    keys = [[(value, not sign) for value, sign in zip(*rows, strict=True)] for rows in _rows(values)]
    for name, best in (("reduce_max", max), ("reduce_min", min)):
        wanted = [
            best(keys[i][j] for i in (range(4) if 0 in axes else [row]) for j in (range(2) if 1 in axes else [column]))
            for row in ([0] if 0 in axes else range(4))
            for column in ([0] if 1 in axes else range(2))
        ]
        shape = tuple(
            size if axis not in axes else 1 for axis, size in enumerate((4, 2)) if keepdims or axis not in axes
        )
        kernel = kernel_of(getattr(TorchBackend(), name), Template(shape, float32), M, axes=axes, keepdims=keepdims)
        found = kernel(values)
        assert tuple(found.shape) == shape
        flat = found.reshape(-1)
        assert [*zip(flat.tolist(), (~torch.signbit(flat)).tolist(), strict=True)] == wanted


@pytest.mark.parametrize("zeros", [[0.0], [0.0, -0.0], [-0.0]])
@pytest.mark.parametrize(
    "options",
    [
        {"window": (1, 3)},
        {"window": (3, 2), "strides": (2, 1)},
        {"window": (1, 20)},
        {"window": (2, 2), "padding": "same"},
    ],
    ids=str,
)
def test_windows_of_zeros_and_nan_are_those_of_the_reference(options: dict[str, Any], zeros: list[float]) -> None:
    random = numpy.random.default_rng(0)
    for numbers in (zeros, [*zeros, 1.0, -2.0], [*zeros, math.nan, -math.inf]):
        values = random.choice(numbers, (5, 24)).astype(numpy.float32)
        for pool in (tb.window_max, tb.window_min):
            found, wanted = (
                numpy.asarray(pool(tb.asarray(values, backend=name), **options)) for name in ("torch", "binary")
            )
            numpy.testing.assert_array_equal(found, wanted)
            numpy.testing.assert_array_equal(numpy.signbit(found) & (found == 0), numpy.signbit(wanted) & (wanted == 0))


@pytest.mark.parametrize("number", [0.0, -0.0, math.nan, 1.0, 0])
def test_extremes_with_a_number_are_those_of_the_reference(number: float) -> None:
    values = numpy.array([0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf], numpy.float32)
    for choose in (tb.maximum, tb.minimum):
        for turned in (False, True):
            found, wanted = (
                numpy.asarray(choose(number, x) if turned else choose(x, number))
                for x in (tb.asarray(values, backend=name) for name in ("torch", "binary"))
            )
            numpy.testing.assert_array_equal(found, wanted)
            numpy.testing.assert_array_equal(numpy.signbit(found) & (found == 0), numpy.signbit(wanted) & (wanted == 0))


def _rows(values: torch.Tensor) -> list[tuple[list[float], list[bool]]]:
    return [*zip(values.tolist(), torch.signbit(values).tolist(), strict=True)]
