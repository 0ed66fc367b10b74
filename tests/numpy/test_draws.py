"""Few numbers are cut from blocks: the same on every backend, with the right moments, and cheap."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, cast

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import ArgumentError
from tensorbackend.numpy.draws import SMALL

DRAWS: dict[str, Callable[[Any], Any]] = {
    "random": lambda r: r.random(),
    "random of a size": lambda r: r.random((2, 3)),
    "uniform": lambda r: r.uniform(2.0, 5.0),
    "uniform of arrays": lambda r: r.uniform([0.0, 10.0], [1.0, 20.0]),
    "normal": lambda r: r.normal(1.0, 2.0),
    "normal of a size": lambda r: r.normal(1.0, 2.0, 3),
    "normal of an array": lambda r: r.normal([1.0, 2.0]),
    "exponential": lambda r: r.exponential(3.0),
    "laplace": lambda r: r.laplace(),
    "gumbel": lambda r: r.gumbel(size=2),
    "logistic": lambda r: r.logistic(),
    "choice": lambda r: r.choice(5),
    "choice of a size": lambda r: r.choice(5, (2, 2)),
    "choice of items": lambda r: r.choice([2.5, 3.5]),
    "choice of rows": lambda r: r.choice(numpy.arange(6).reshape(3, 2), 2),
    "choice with weights": lambda r: r.choice(3, p=[0.2, 0.5, 0.3]),
    "permutation": lambda r: r.permutation(6),
    "permutation of rows": lambda r: r.permutation(numpy.arange(6).reshape(3, 2)),
    "poisson": lambda r: r.poisson(3.0),
    "gamma": lambda r: r.gamma(2.0, size=2),
    "many": lambda r: r.random(SMALL + 1),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_has_numpys_shape_and_dtype_and_is_the_same_on_every_backend(name: str) -> None:
    draw, source = DRAWS[name], numpy.random.default_rng(0)
    theirs = numpy.asarray(draw(source))
    wanted = theirs.shape, theirs.dtype
    drawn = []
    for backend in ("numpy", "jax", "binary"):
        with tb.default_backend(backend):
            generator = np.random.default_rng(3)
            made = [draw(generator) for _ in range(8)]
        assert {(numpy.shape(each), numpy.asarray(each).dtype) for each in made} == {wanted}
        drawn.append(numpy.array([numpy.asarray(each) for each in made], float))
    numpy.testing.assert_allclose(drawn[1], drawn[0], rtol=1e-12)
    numpy.testing.assert_allclose(drawn[2], drawn[0], rtol=1e-12)
    assert (drawn[0] != drawn[0][0]).any()


def test_single_numbers_are_distributed_as_asked_for() -> None:
    rng = np.random.default_rng(1)
    asked: list[tuple[Callable[[], Any], float, float]] = [
        (lambda: rng.random(), 0.5, 12**-0.5),
        (lambda: rng.uniform(2, 6), 4.0, 4 * 12**-0.5),
        (lambda: rng.normal(1, 3), 1.0, 3.0),
        (lambda: rng.exponential(2.0), 2.0, 2.0),
        (lambda: rng.integers(0, 10), 4.5, 8.25**0.5),
        (lambda: rng.choice(2, p=[0.25, 0.75]), 0.75, 0.1875**0.5),
    ]
    for draw, mean, deviation in asked:
        many = numpy.array([draw() for _ in range(4000)])
        assert abs(many.mean() - mean) < 5 * deviation / 4000**0.5
        assert abs(many.std() - deviation) < 0.1 * deviation


def test_integers_and_places_reach_both_ends_and_no_further() -> None:
    rng = np.random.default_rng(1)
    assert {int(rng.integers(-1, 2)) for _ in range(100)} == {-1, 0, 1}
    assert {int(rng.integers(1, 3, endpoint=True)) for _ in range(100)} == {1, 2, 3}
    assert {int(rng.choice(3, p=[0.5, 0.0, 0.5])) for _ in range(100)} == {0, 2}
    assert rng.integers(0, 4, 3, dtype=np.uint8).dtype == np.uint8
    assert abs(int(rng.integers(2**40, 2**41))) >= 2**40


def test_what_is_written_to_a_draw_stays_there() -> None:
    np.random.seed(0)
    first = np.random.rand(3)
    first[...] = 7.0
    np.random.seed(0)
    assert not (np.random.rand(3) == 7.0).any()
    state = np.random.get_state()
    second = np.random.rand(3).tolist()
    np.random.set_state(state)
    assert np.random.rand(3).tolist() == second


def test_a_trace_leaves_nothing_behind_in_the_generator() -> None:
    np.random.seed(0)
    expected = [float(np.random.rand()), np.random.rand(2).tolist(), np.random.rand(100).tolist()]
    np.random.seed(0)
    drawn: list[Any] = []
    tb.grad(lambda x: x * np.sum(np.random.rand(100)))(np.array(2.0))
    np.random.seed(0)
    tb.grad(lambda x: x * np.random.rand())(np.array(1.0))
    np.random.seed(0)
    drawn = [float(np.random.rand()), np.random.rand(2).tolist(), np.random.rand(100).tolist()]
    assert drawn == expected
    tb.grad(lambda x: np.sum(x + np.random.rand(100)))(np.array(1.0))
    assert np.random.rand(100).tensor.backend is tb.get_backend()


OUTSIDE: Any = np.random.default_rng(0)
STATEFUL: dict[str, Callable[[], Any]] = {
    "one": lambda: np.random.rand(),
    "many": lambda: np.random.normal(size=100).sum(),
    "integers": lambda: np.random.randint(5),
    "choice": lambda: np.random.choice(3, p=[0.2, 0.3, 0.5]),
    "permutation": lambda: np.random.permutation(70)[0],
    "by NumPy": lambda: np.random.binomial(5, 0.5),
    "of a generator": lambda: OUTSIDE.random(),
    "its integers": lambda: OUTSIDE.integers(0, 5, 2).sum(),
    "its dtype": lambda: OUTSIDE.standard_normal(dtype="float32"),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("draw", STATEFUL.values(), ids=STATEFUL)
def test_a_state_from_outside_is_refused_where_it_would_repeat_its_numbers(
    draw: Callable[[], Any], stream: bool
) -> None:
    x, jit = np.zeros(2), cast(Any, tb.jit)
    refused: list[Callable[[], Any]] = [
        lambda: jit(lambda x: x + draw())(x),
        lambda: tb.vmap(lambda x: x + draw())(x),
        lambda: tb.scan(lambda carry, x: (carry, x + draw()), x[0], x),
        lambda: tb.fori_loop(0, 2, lambda i, x: x + draw(), x),
        lambda: jit(tb.grad(lambda x: np.sum(x * draw())))(x),
    ]
    with np.random.numpy_stream() if stream else nullcontext():
        for call in refused:
            with pytest.raises(ArgumentError, match="no generator from outside in a function that is traced once"):
                call()
        tb.grad(lambda x: np.sum(x * draw()))(x)


def test_a_state_that_the_function_makes_repeats_as_it_does_eagerly() -> None:
    def noisy(x: Any) -> Any:
        return x + np.random.default_rng(3).random()

    x = np.zeros(2)
    assert tb.jit(noisy)(x).tolist() == noisy(x).tolist()


def test_arrays_without_data_are_drawn_too() -> None:
    with tb.default_backend("template"):
        assert np.random.default_rng(0).normal(size=(2, 3)).shape == (2, 3)
        assert np.random.default_rng(0).normal(size=(20, 30)).shape == (20, 30)


@pytest.mark.parametrize("size", [0, (0, 3), (2, 0)])
def test_no_numbers_can_be_drawn_first(size: Any) -> None:
    wanted = numpy.empty(size).shape
    assert np.random.RandomState(0).normal(size=size).shape == wanted
    assert np.random.default_rng(0).random(size).shape == wanted
    assert np.random.default_rng(0).integers(5, size=size).shape == wanted
    assert np.random.default_rng(0).choice(5, size=size).shape == wanted


def test_a_trace_that_imports_the_module_is_refused_as_well() -> None:
    program = """if True:
        import tensorbackend as tb, tensorbackend.numpy as np
        try:
            tb.jit(lambda x: x + np.random.rand())(np.zeros(()))
        except tb.errors.ArgumentError as error:
            assert "no generator from outside" in str(error)
        else:
            raise AssertionError
    """
    subprocess.run([sys.executable, "-c", program], check=True)
