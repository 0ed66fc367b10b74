"""Where MLX's own functions are less accurate than the protocol wants, or give something else."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pytest
import scipy.special
import tensorbackend as tb
from hypothesis import given
from hypothesis import strategies as st
from tensorbackend.testing import profile

GRID = numpy.concatenate([numpy.linspace(-105, 89, 40_001), numpy.linspace(-4, 4, 40_001)]).astype(numpy.float32)


def ours(values: object, dtype: str | None = None) -> tb.Tensor:
    return tb.asarray(numpy.asarray(values, dtype), backend="mlx")


ORACLES: dict[str, Callable[..., numpy.ndarray]] = {
    "exp": numpy.exp,
    "sigmoid": scipy.special.expit,
    "erf": scipy.special.erf,
    "nn.silu": lambda x: x * scipy.special.expit(x),
}


def function(name: str) -> Callable[..., tb.Tensor]:
    """The public function of a name, such as "nn.silu"."""
    found: Callable[..., tb.Tensor] = operator.attrgetter(name)(tb)
    return found


@pytest.mark.parametrize("name", ORACLES)
def test_functions_of_float32_are_within_four_ulps(name: str) -> None:
    wanted = ORACLES[name](GRID.astype(numpy.float64))
    inside = abs(wanted) < numpy.finfo(numpy.float32).max
    found = numpy.asarray(function(name)(ours(GRID)))
    assert (numpy.isinf(found) == ~inside).all()
    apart = abs(found - wanted)[inside] / numpy.spacing(abs(wanted[inside]).astype(numpy.float32))
    assert apart.max() <= 4, GRID[inside][apart.argmax()]


@pytest.mark.parametrize("dtype", ["int8", "bool", "float16", "bfloat16"])
def test_silu_of_other_dtypes_is_rounded_once(dtype: str) -> None:
    values = tb.asarray(numpy.linspace(-100, 100, 401), dtype=dtype, backend="mlx")
    found, wide = tb.nn.silu(values), numpy.asarray(tb.astype(values, tb.float64))
    wanted, limits = wide * scipy.special.expit(wide), tb.finfo(found.dtype)
    assert found.dtype == (dtype if "float" in dtype else "float32")
    assert numpy.allclose(
        numpy.asarray(tb.astype(found, tb.float64)), wanted, rtol=limits.eps, atol=limits.smallest_normal * limits.eps
    )


def test_silu_of_infinities() -> None:
    assert tb.nn.silu(ours([-math.inf, math.inf], "float32")).tolist() == [-0.0, math.inf]


@pytest.mark.parametrize("name", ["exp", "sin", "cos", "erf", "erf_inv", "sigmoid", "sqrt"])
def test_functions_of_float64_have_its_digits(name: str) -> None:
    values = numpy.linspace(0.01, 0.99, 99)
    oracle = {"erf": scipy.special.erf, "erf_inv": scipy.special.erfinv, "sigmoid": scipy.special.expit}
    wanted = (oracle[name] if name in oracle else getattr(numpy, name))(values)
    assert numpy.allclose(numpy.asarray(getattr(tb, name)(ours(values))), wanted, rtol=1e-15, atol=0)


MANY: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "conv1": lambda x: tb.conv(x.reshape((1, 2, 60)), x.reshape((4, 2, 15)), strides=2),
    "conv2": lambda x: tb.conv(x.reshape((2, 1, 6, 10)), x[:18].reshape((2, 1, 3, 3)), padding="same"),
    "conv3": lambda x: tb.conv(x.reshape((1, 1, 4, 5, 6)), x[:8].reshape((1, 1, 2, 2, 2))),
    "convolve": lambda x: tb.convolve(x, x[:7]),
    "correlate": lambda x: tb.correlate(x, x[:7]),
    "matmul": lambda x: x.reshape((10, 12)) @ x.reshape((12, 10)),
    "einsum": lambda x: tb.einsum("abc,bd->acd", x.reshape((4, 5, 6)), x.reshape((5, 24))),
    "window": lambda x: tb.window_sum(x.reshape((10, 12)), (3, 4)),
    "attention": lambda x: tb.nn.attention(*[x.reshape((1, 2, 10, 6))] * 3),
    "layer_norm": lambda x: tb.nn.layer_norm(x.reshape((10, 12)), axis=-1),
}


@pytest.mark.parametrize("name", MANY)
def test_sums_and_products_of_float64_have_its_digits(name: str) -> None:
    values = numpy.random.default_rng(0).uniform(0.1, 0.9, 120)
    found, wanted = (numpy.asarray(MANY[name](tb.asarray(values, backend=each))) for each in ("mlx", "numpy"))
    assert found.dtype == wanted.dtype
    assert numpy.allclose(found, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("shape", "axis"), [((1 << 22,), 0), ((1 << 20, 3), 0), ((3, 1 << 20), 1)])
def test_long_sums_keep_the_digits(shape: tuple[int, ...], axis: int) -> None:
    terms = numpy.full(shape, 0.1, numpy.float32)
    wanted = terms.astype(numpy.float64).sum(axis)
    assert numpy.allclose(numpy.asarray(tb.sum(ours(terms), axis=axis)), wanted, rtol=2e-7)
    assert numpy.allclose(numpy.asarray(tb.cumulative_sum(ours(terms), axis=axis)).take(-1, axis), wanted, rtol=2e-7)


def test_products_of_complex_numbers_that_overflow() -> None:
    parts = [0.0, -0.0, 1.0, -3.0, 1e20, -3e38, 2e38, 1e-30, math.inf, -math.inf, math.nan]
    values = numpy.array([complex(a, b) for a in parts for b in parts], numpy.complex64)
    found = numpy.asarray(tb.outer(ours(values), ours(values)))
    wanted = numpy.asarray(tb.outer(*[tb.asarray(values, backend="numpy")] * 2))
    for part in (numpy.real, numpy.imag):
        numpy.testing.assert_allclose(part(found), part(wanted), rtol=1e-6, atol=1.2e-38)


ZEROS = numpy.array([0.0, -0.0, -0.0, 0.0, math.nan, 1.0])
OTHERS = numpy.array([-0.0, 0.0, -0.0, 0.0, 1.0, math.nan])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_sign_of_a_zero_decides(dtype: str) -> None:
    left, right = ours(ZEROS, dtype), ours(OTHERS, dtype)
    assert tb.signbit(tb.maximum(left, right)).tolist()[:4] == [False, False, True, False]
    assert tb.signbit(tb.minimum(left, right)).tolist()[:4] == [True, True, True, False]
    pairs = tb.stack([left, right], axis=0)[:, :4]
    assert tb.signbit(tb.max(pairs, axis=0)).tolist() == [False, False, True, False]
    assert tb.signbit(tb.min(pairs, axis=0)).tolist() == [True, True, True, False]
    assert all(map(math.isnan, tb.maximum(left, right).tolist()[4:]))


HARD = (-math.inf, -10.0, -0.0, 0.0, 1e-30, 2.0, math.inf, math.nan)
EXTREMES: dict[str, Callable[..., tb.Tensor]] = {
    "max": tb.max,
    "min": tb.min,
    "cumulative_max": tb.cumulative_max,
    "cumulative_min": tb.cumulative_min,
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_of_all_triples_of_hard_numbers(name: str, dtype: str) -> None:
    """A zero is the extreme next to any other number, whose reciprocal is smaller or larger."""
    rows = numpy.array(list(itertools.product(HARD, repeat=3)))
    found = numpy.asarray(tb.astype(EXTREMES[name](ours(rows, dtype), axis=1), "float64"))
    least = name.endswith("min")

    def extreme(numbers: Sequence[float]) -> float:
        """The maximum, where 0.0 is above -0.0 and NaN above all; the minimum is that of negative numbers."""
        if any(map(math.isnan, numbers)):
            return math.nan
        return max(numbers, key=lambda x: (x, math.copysign(1, x)))

    for row, result in zip((-rows if least else rows).tolist(), -found if least else found, strict=True):
        wanted = [extreme(row[: end + 1]) for end in range(3)] if name.startswith("cumulative") else [extreme(row)]
        rounded = numpy.array(wanted).astype(dtype).astype("float64")
        for got, want in zip(numpy.atleast_1d(result).tolist(), rounded.tolist(), strict=True):
            assert got == want or (got != got and want != want), (row, got, want)
            assert got != got or math.copysign(1, got) == math.copysign(1, want), (row, got, want)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_integer_divisions_neither_trap_nor_depend_on_the_processor(dtype: str) -> None:
    limits = numpy.iinfo(dtype)
    values = [limits.min, limits.min + 1, limits.max, 0, 1, 7]
    pairs = [(a, b) for a in values for b in (0, 1, 2, *([-1, -2] if limits.min else []), limits.max)]
    left, right = (ours([pair[place] for pair in pairs], dtype) for place in (0, 1))

    def wrapped(number: int) -> int:
        return (number - limits.min) % (1 << limits.bits) + limits.min

    assert tb.floor_divide(left, right).tolist() == [wrapped(a // b) if b else 0 for a, b in pairs]
    assert tb.remainder(left, right).tolist() == [a % b if b else 0 for a, b in pairs]


@profile(10)
@given(st.data())
def test_indices_that_repeat(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 300))
    places = numpy.array(data.draw(st.lists(st.integers(-2, 5), min_size=count, max_size=count)))
    rows = numpy.arange(count * 2, dtype=numpy.float32).reshape(count, 2)
    added, put = numpy.zeros((4, 2)), numpy.zeros((4, 2))
    for place, row in zip(places, rows, strict=True):
        if 0 <= place < 4:
            added[place] += row
            put[place] = row
    vectors, zeros = ours(places[:, None]), ours(numpy.zeros((4, 2)), "float32")
    assert (numpy.asarray(tb.indexed_add(zeros, vectors, ours(rows), mode="fill")) == added).all()
    assert (numpy.asarray(tb.indexed_put(zeros, vectors, ours(rows), mode="fill")) == put).all()


def test_random_bits_are_those_of_other_backends() -> None:
    draws = [tb.random.normal(tb.random.key(3, backend=name), (1000,)) for name in ("mlx", "numpy")]
    assert numpy.allclose(numpy.asarray(draws[0]), numpy.asarray(draws[1]), rtol=1e-5)
    bits = [tb.random.bits(tb.random.key(3, backend=name), (1000,)).tolist() for name in ("mlx", "numpy")]
    assert bits[0] == bits[1]


@pytest.mark.parametrize("sizes", [*itertools.product((1, 2), repeat=2)], ids=str)
@pytest.mark.parametrize("axes", [0, 1, 2, ([0], [0]), ([1], [0]), ([0, 1], [1, 0])], ids=str)
def test_products_have_their_shape_where_axes_have_one_entry(axes: Any, sizes: tuple[int, int]) -> None:
    for dtype in ("float16", "float32", "float64"):
        x, y = numpy.arange(4.0).reshape(2, 2)[: sizes[0], : sizes[1]], numpy.arange(1.0, 5.0).reshape(2, 2)
        y = y[: sizes[0], : sizes[1]] if axes in (2, ([0], [0])) else y[: sizes[1], : sizes[0]]
        found = tb.tensordot(ours(x, dtype), ours(y, dtype), axes=axes)
        wanted = numpy.tensordot(x, y, axes=axes)
        assert found.shape == numpy.asarray(found).shape == wanted.shape
        numpy.testing.assert_allclose(numpy.asarray(found), wanted)
