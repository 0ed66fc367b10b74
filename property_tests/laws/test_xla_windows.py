"""Windows, padding, slices and convolutions in one program of XLA, at sizes where little fits, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.testing import profile

Draw = Callable[[st.SearchStrategy[Any]], Any]
Function = Callable[[tb.Tensor], tb.Tensor]


def padding(draw: Draw, sizes: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Draw a padding that leaves elements along each axis."""
    triples = [tuple(draw(st.integers(least, 2)) for least in (-1, -1, 0)) for _ in sizes]
    assume(
        all(
            low + size + (size - 1) * between + high > 0
            for size, (low, high, between) in zip(sizes, triples, strict=True)
        )
    )
    return triples


def windowed(op: Callable[..., tb.Tensor]) -> Callable[[Draw, tuple[int, ...]], Function]:
    """Return a case of windows of a padded tensor, of which one fits along each axis, and seldom more."""

    def case(draw: Draw, sizes: tuple[int, ...]) -> Function:
        triples = padding(draw, sizes)
        lengths = [
            low + size + (size - 1) * between + high for size, (low, high, between) in zip(sizes, triples, strict=True)
        ]
        window = [draw(st.integers(1, 3)) for _ in sizes]
        dilations = [draw(st.integers(1, 2)) for _ in sizes]
        ends = [(draw(st.integers(0, 2)), draw(st.integers(0, 3))) for _ in sizes]
        strides = [draw(st.integers(1, 5)) for _ in sizes]
        rows = zip(lengths, window, dilations, ends, strict=True)
        assume(all(sum(pair) + length > (size - 1) * step for length, size, step, pair in rows))
        return lambda x: op(tb.pad(x, triples), window, strides=strides, padding=ends, dilations=dilations)

    return case


def convolved(draw: Draw, sizes: tuple[int, ...]) -> Function:
    kernel = [draw(st.integers(1, 3)) for _ in sizes]
    strides, apart, between = ([draw(st.integers(1, 3)) for _ in sizes] for _ in range(3))
    ends = [(draw(st.integers(0, 2)), draw(st.integers(0, 3))) for _ in sizes]
    rows = zip(sizes, kernel, apart, between, ends, strict=True)
    assume(all((n - 1) * step + 1 + sum(pair) > (k - 1) * gap for n, k, step, gap, pair in rows))
    options: dict[str, Any] = {"strides": strides, "padding": ends, "input_dilation": apart, "kernel_dilation": between}

    def convolve(x: tb.Tensor) -> tb.Tensor:
        count = numpy.prod(kernel, dtype=int).item()
        weights = tb.cos(tb.reshape(x, -1)[0] + tb.iota(count, dtype=x.dtype, backend=x.backend))
        return tb.conv(tb.reshape(x, (1, 1, *x.shape)), tb.reshape(weights, (1, 1, *kernel)), **options)

    return convolve


def sliced(draw: Draw, sizes: tuple[int, ...]) -> Function:
    starts = [draw(st.integers(0, size - 1)) for size in sizes]
    key = tuple([slice(start, None, draw(st.integers(1, 5))) for start in starts])
    triples = padding(draw, tuple([len(range(size)[part]) for size, part in zip(sizes, key, strict=True)]))
    return lambda x: tb.pad(x[key] ** 2, triples)


CASES: dict[str, Callable[[Draw, tuple[int, ...]], Function]] = {
    "window_sum": windowed(tb.window_sum),
    "window_mean": windowed(tb.window_mean),
    "window_prod": windowed(tb.window_prod),
    "window_max": windowed(tb.window_max),
    "window_min": windowed(tb.window_min),
    "conv": convolved,
    "slice": sliced,
}


@pytest.mark.parametrize("name", CASES)
def test_a_program_gives_what_numpy_gives(name: str) -> None:
    @profile(4)
    @given(st.data(), st.lists(st.integers(1, 5), min_size=2, max_size=2).map(tuple))
    def agrees(data: st.DataObject, sizes: tuple[int, ...]) -> None:
        function = CASES[name](data.draw, sizes)
        numbers = numpy.random.default_rng(sum(sizes)).uniform(0.5, 1.5, (2, *sizes))

        def everything(x: tb.Tensor, batch: tb.Tensor) -> Any:
            def loss(x: tb.Tensor) -> tb.Tensor:
                result = function(x)
                return tb.sum(tb.reshape(result, -1) * tb.cos(tb.iota(result.size, dtype="f64", backend=x.backend)))

            return function(x), tb.grad(loss)(x), tb.vmap(tb.grad(loss))(batch)

        results, expected = (
            transform(everything)(*(tb.asarray(array, backend=backend) for array in (numbers[0], numbers)))
            for backend, transform in (("jax", tb.jit), ("numpy", lambda f: f))
        )
        for what, y, z in zip(("value", "gradient", "gradients of a batch"), results, expected, strict=True):
            assert y.template is z.template
            numpy.testing.assert_allclose(y, z, rtol=1e-9, atol=1e-9, err_msg=what)

    agrees()


@pytest.mark.parametrize("size", [0, 1])
def test_padding_between_fewer_than_two_elements_is_none(size: int) -> None:
    x = tb.ones((size, 1), backend="jax")
    for backend in ("jax", "numpy"):
        summed = tb.jit(lambda x: tb.window_sum(tb.pad(x, [(0, 0, 2), (0, 0, 1)]), (1, 3), padding=[(0, 0), (2, 3)]))(
            x.backend_copy(backend)
        )
        assert summed.tolist() == [[1.0, 1.0, 1.0, 0.0]] * size
    assert tb.trace(lambda x: tb.pad(x, [(1, 0, 2), (0, 0, 3)]))(x).nodes[-1].options["padding"] == (
        (1, 0, 0),
        (0, 0, 0),
    )


def test_pooling_with_one_window_and_a_rest() -> None:
    for shape, window, strides in (
        ((1, 4), (1, 2), (1, 3)),
        ((2, 5, 5), (1, 3, 3), (1, 3, 3)),
        ((4, 7), (1, 5), (1, 5)),
    ):
        expected = numpy.zeros(shape)
        expected[
            tuple(
                [slice(size if step == 1 else width) for size, width, step in zip(shape, window, strides, strict=True)]
            )
        ] = 1 / numpy.prod(window)
        x = tb.ones(shape, backend="jax")
        gradient = tb.jit(tb.grad(lambda x, w=window, s=strides: tb.sum(tb.nn.mean_pool(x, w, strides=s))))(x)
        numpy.testing.assert_allclose(gradient, expected, rtol=1e-6)
