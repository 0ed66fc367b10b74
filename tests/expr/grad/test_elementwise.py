"""Gradients of elementwise ops where a step of the rule might overflow, underflow or cancel."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend import nn
from tensorbackend.tensor import Tensor

Function = Callable[[Tensor], Tensor]


@pytest.mark.parametrize(
    ("function", "dtype", "x", "expected"),
    [
        (tb.asinh, "f16", 1000.0, 1e-3),
        (tb.asinh, "f32", 1e20, 1e-20),
        (tb.asinh, "f64", -1e200, 1e-200),
        (tb.atan, "f16", 300.0, 1 / 90001),
        (tb.cbrt, "f16", 6e-5, 217.5),
        (tb.expm1, "f32", -40.0, math.exp(-40)),
        (tb.nn.elu, "bf16", -20.0, math.exp(-20)),
        (tb.sigmoid, "bf16", 10.0, math.exp(-10)),
        (tb.sigmoid, "f32", 80.0, math.exp(-80)),
        (tb.tanh, "f16", -5.0, 1 / math.cosh(5) ** 2),
        (tb.tanh, "f64", 100.0, 4 * math.exp(-200)),
        (lambda x: tb.logaddexp(0.0, x), "f32", -40.0, math.exp(-40)),
        (lambda x: tb.logaddexp(x, 0.0), "f32", -40.0, math.exp(-40)),
        (lambda x: tb.atan2(x, x), "f16", 1e-4, 0.0),
        (lambda x: tb.atan2(x, 1184.0), "f16", -1056.0, 1184 / (1184**2 + 1056**2)),
        (lambda x: tb.atan2(x, 1e-4), "f16", 1e-4, 5000.0),
        (lambda x: tb.atan2(1e30, x), "f32", 1e30, -5e-31),
        (lambda x: tb.divide(2.0**-23, x), "f16", 2.0**-16, -512.0),
    ],
)
def test_where_a_step_might_leave_the_range(function: Function, dtype: str, x: float, expected: float) -> None:
    bound = 64 * tb.finfo(dtype).eps
    for result in (
        tb.grad(function)(tb.asarray(x, dtype=dtype)),
        tb.jvp(function, (tb.asarray(x, dtype=dtype),), (tb.asarray(1.0, dtype=dtype),))[1],
    ):
        np.testing.assert_allclose(
            result.item(), expected, rtol=bound, atol=4 * bound * tb.finfo(dtype).smallest_normal
        )


@pytest.mark.parametrize(
    ("function", "z", "expected"),
    [
        (tb.phase, 1e20 + 1e20j, -5e-21 - 5e-21j),
        (tb.abs, 3e30 + 4e30j, 0.6 - 0.8j),
        (lambda z: tb.real(tb.atan(z)), 1e25 + 0j, 0.0),
        (lambda z: tb.real(tb.asinh(z)), 1e25 + 1e25j, 5e-26 - 5e-26j),
        (lambda z: tb.real(tb.asin(z)), 1e25 + 1e25j, 1j / (1e25 + 1e25j)),
        (lambda z: tb.real(tb.tanh(z)), 20 + 1j, 4 * np.exp(-40 - 2j)),
        (lambda z: tb.real(tb.tan(z)), 1 + 20j, 4 * np.exp(-40 + 2j)),
    ],
)
def test_complex_numbers(function: Function, z: complex, expected: complex) -> None:
    gradient = tb.grad(function)(tb.asarray(z, dtype="c64")).item()
    assert abs(gradient - expected) <= 1e-5 * abs(expected) + 1e-37


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (tb.sigmoid, [0.25, 0.0, -0.125, 0.0, 0.25]),  # the coefficients of Taylor's series
        (tb.tanh, [1.0, 0.0, -2.0, 0.0, 16.0]),
    ],
)
def test_all_derivatives_at_zero(function: Function, values: list[float]) -> None:
    for expected in values:
        function = tb.grad(function)
        assert function(tb.asarray(0.0, dtype="f64")).item() == expected


def test_atan2_at_the_origin() -> None:
    for y, x in ((0.0, 0.0), (-0.0, 0.0), (0.0, -0.0)):
        assert [part.item() for part in tb.grad(tb.atan2, (0, 1))(y, x)] == [0.0, 0.0]
    assert tb.grad(tb.phase)(tb.asarray(0j)).item() == 0


@pytest.mark.parametrize(("dtype", "size"), [("f32", 1e38), ("f32", 1e-38), ("f64", 1e-310), ("f16", 2.0**-22)])
def test_hypot_of_operands_whose_reciprocals_are_out_of_range(dtype: str, size: float) -> None:
    operand = tb.asarray(size, dtype=dtype)
    for x, y, expected in ((operand, operand, (0.5**0.5, 0.5**0.5)), (operand, operand * 0, (1.0, 0.0))):
        gradients = [part.item() for part in tb.grad(tb.hypot, (0, 1))(x, y)]
        np.testing.assert_allclose(gradients, expected, rtol=64 * tb.finfo(dtype).eps)


@pytest.mark.parametrize(("x", "y"), [(3.0, 0.0), (0.5, 0.0), (1.0, 0.0), (2.0, -1.0)])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_second_derivatives_of_pow(x: float, y: float, shape: tuple[int, ...]) -> None:
    """The derivative of y * x**(y - 1) by y is x**(y - 1) * (1 + y * log(x)), also where y is 0."""
    mixed = x ** (y - 1) * (1 + y * math.log(x))
    expected = [[y * (y - 1) * x ** (y - 2), mixed], [mixed, x**y * math.log(x) ** 2]]
    operands = [tb.full(shape, value, dtype="f64") for value in (x, y)]

    def slope(place: int) -> Callable[..., Tensor]:
        return lambda *operands: tb.sum(tb.grad(lambda *operands: tb.sum(tb.pow(*operands)), place)(*operands))

    for first in range(2):
        for second, value in enumerate(tb.grad(slope(first), (0, 1))(*operands)):
            np.testing.assert_allclose(np.asarray(value), np.full(shape, expected[first][second]), rtol=1e-14)


def test_pow_at_zero_to_the_power_zero_has_finite_derivatives() -> None:
    def slope(x: Tensor, y: Tensor) -> Tensor:
        return tb.sum(tb.grad(lambda x: tb.sum(x**y))(x))

    x, y = tb.zeros(3), tb.asarray([0.0, 1.0, 2.0])
    assert tb.grad(lambda x: tb.sum(x**y))(x).tolist() == [0.0, 1.0, 0.0]
    assert tb.grad(slope)(x, y).tolist() == [0.0, 0.0, 2.0]


ACTIVATIONS: dict[str, tuple[Function, float]] = {
    "elu": (nn.elu, 2.5),
    "gelu": (nn.gelu, 2.2),
    "gelu by tanh": (lambda x: nn.gelu(x, approximate=True), 2.2),
    "hard_sigmoid": (nn.hard_sigmoid, 2.2),
    "hard_silu": (nn.hard_silu, 2.2),
    "hard_tanh": (nn.hard_tanh, 2.2),
    "leaky_relu": (nn.leaky_relu, 1.5),
    "log_sigmoid": (nn.log_sigmoid, 3.2),
    "relu": (nn.relu, 1.2),
    "selu": (nn.selu, 2.5),
    "silu": (nn.silu, 2.2),
    "softplus": (nn.softplus, 2.2),
}
"""Each activation with the most arrays of its size that a layer may keep for the gradient, its result among them."""


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_layer_keeps_few_arrays_of_an_activation(name: str) -> None:
    function, most = ACTIVATIONS[name]

    def loss(weights: Any, x: tb.Tensor) -> tb.Tensor:
        for first, second in weights:
            x = x + function(x @ first) @ second
        return tb.sum(x * x)

    def peak(layers: int) -> int:
        weights = [("f32[8, 256]", "f32[256, 8]")] * layers
        return tb.dry_run(tb.value_and_grad(loss), weights, "f32[256, 8]").eager.peak.memory

    assert peak(12) - peak(4) <= most * 8 * 256 * 256 * 4


@pytest.mark.parametrize(
    ("name", "most"), [("gelu", 4.2), ("gelu by tanh", 6.2), ("silu", 5.4), ("elu", 5.4), ("softplus", 3.4)]
)
def test_few_arrays_exist_while_a_slope_is_computed(name: str, most: float) -> None:
    function = ACTIVATIONS[name][0]
    report = tb.dry_run(lambda x: tb.sum(function(x + 1)), "f32[1000, 1000]", gradient=True)
    assert report.eager.peak.memory <= most * 1000 * 1000 * 4


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_slopes_of_activations_are_those_of_differences(name: str) -> None:
    function = ACTIVATIONS[name][0]
    x, step = tb.asarray([-45.0, -4.1, -2.3, -0.7, -0.02, 0.3, 0.9, 2.2, 3.6, 45.0], dtype="f64"), 1e-4
    for order in range(2):
        values = [np.asarray(function(x + place * step)) for place in (-2, -1, 1, 2)]
        slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
        derivative = tb.grad(lambda x, function=function: tb.sum(function(x)))
        np.testing.assert_allclose(np.asarray(derivative(x)), slope, rtol=1e-8, atol=1e-9, err_msg=f"order {order}")
        function = derivative


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_slopes_of_activations_at_infinities_are_their_limits(name: str, dtype: str) -> None:
    function = ACTIVATIONS[name][0]
    far = float(tb.finfo(dtype).max)
    x = tb.asarray([-tb.inf, -far, far, tb.inf], dtype=dtype)
    slopes = tb.grad(lambda x: tb.sum(function(x)))
    first = np.asarray(slopes(x))
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first[[0, 3]], first[[1, 2]])
    np.testing.assert_array_equal(np.asarray(tb.grad(lambda x: tb.sum(slopes(x)))(x)), np.zeros(4))
