"""Random numbers of the NumPy namespace: over keys, and by NumPy's own stream."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np


def test_a_seed_gives_the_same_numbers_again_on_every_backend() -> None:
    drawn = []
    for backend in ("binary", "numpy", "jax"):
        with tb.default_backend(backend):
            generator = np.random.default_rng(7)
            drawn.append(
                [
                    numpy.asarray(generator.normal(size=3)).round(5).tolist(),
                    numpy.asarray(generator.integers(0, 9, 4)).tolist(),
                ]
            )
    assert drawn[0] == drawn[1] == drawn[2]


def test_numpys_stream_reproduces_a_programs_figures() -> None:
    with np.random.numpy_stream():
        np.random.seed(3)
        legacy = np.random.rand(2, 2), np.random.randint(10, size=3), np.random.permutation(4)
        modern = np.random.default_rng(3).random(4), np.random.default_rng(3).gamma(2.0, size=2)
    numpy.random.seed(3)
    expected = numpy.random.rand(2, 2), numpy.random.randint(10, size=3), numpy.random.permutation(4)
    for ours, theirs in zip(legacy, expected, strict=True):
        assert isinstance(ours, np.ndarray)
        assert numpy.asarray(ours).tolist() == theirs.tolist()
    assert modern[0].tolist() == numpy.random.default_rng(3).random(4).tolist()
    assert modern[1].tolist() == numpy.random.default_rng(3).gamma(2.0, size=2).tolist()


@pytest.mark.parametrize("seeded", [np.random.default_rng(0), np.random.RandomState(0), np.random])
def test_draws_have_the_shape_and_the_moments_that_they_are_asked_for(seeded: Any) -> None:
    assert seeded.normal(2.0, 0.5, size=(2, 3)).shape == (2, 3)
    assert seeded.uniform(size=2).dtype == np.float64
    assert isinstance(seeded.uniform(), float)
    many = numpy.asarray(seeded.normal(2.0, 0.5, size=4000))
    assert abs(many.mean() - 2.0) < 0.05
    assert abs(many.std() - 0.5) < 0.05
    assert abs(numpy.asarray(seeded.exponential(3.0, 4000)).mean() - 3.0) < 0.3
    assert abs(numpy.asarray(seeded.poisson(4.0, 4000)).mean() - 4.0) < 0.2
    assert sorted(seeded.permutation(5).tolist()) == [0, 1, 2, 3, 4]
    assert set(seeded.choice([3, 5], 50).tolist()) == {3, 5}
    assert len(set(seeded.choice(9, 9, replace=False).tolist())) == 9


def test_a_shuffle_is_seen_by_the_array_and_its_views() -> None:
    np.random.seed(1)
    x = np.arange(20)
    half = x[:10]
    np.random.shuffle(x)
    assert sorted(x.tolist()) == list(range(20))
    assert x.tolist() != list(range(20))
    assert half.tolist() == x[:10].tolist()
    np.random.shuffle(half)
    assert sorted(x.tolist()) == list(range(20))


@pytest.mark.parametrize("seed", [5, [1, 2], np.random.SeedSequence(5), np.random.PCG64(5)])
def test_a_generator_takes_what_numpys_takes_as_a_seed(seed: Any) -> None:
    drawn = np.random.default_rng(seed).normal(size=3).tolist()
    assert drawn == np.random.default_rng(seed).normal(size=3).tolist()
    assert drawn != np.random.default_rng(6).normal(size=3).tolist()


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "Philox", "SFC64", "PCG64DXSM"])
def test_numpys_stream_is_that_of_the_chosen_bits(kind: str) -> None:
    with np.random.numpy_stream():
        rng = np.random.Generator(getattr(np.random, kind)(4))
        state = rng.bit_generator.state
        drawn = rng.normal(size=3).tolist()
        rng.bit_generator.state = state
        assert rng.normal(size=3).tolist() == drawn
        children = [each.random() for each in rng.spawn(2)]
    theirs = numpy.random.Generator(getattr(numpy.random, kind)(4))
    assert theirs.normal(size=3).tolist() == drawn
    assert [each.random() for each in theirs.spawn(2)] == children


def test_a_generator_over_a_key_has_no_bits() -> None:
    with pytest.raises(tb.errors.ArgumentError, match=r"use np.random.numpy_stream\(\)"):
        np.random.default_rng(0).bit_generator  # noqa: B018


def test_in_numpys_stream_other_libraries_draw_from_the_same_seed() -> None:
    with np.random.numpy_stream():
        np.random.seed(3)
        drawn = [np.random.rand(), numpy.random.rand(), np.random.rand()]
    assert drawn == numpy.random.RandomState(3).rand(3).tolist()


def test_each_stream_goes_on_where_it_stopped() -> None:
    np.random.seed(3)
    of_key = np.random.rand(4).tolist()
    np.random.seed(3)
    mixed = []
    for _ in range(2):
        mixed.append(float(np.random.rand()))
        with np.random.numpy_stream():
            mixed.append(float(np.random.rand()))
    assert mixed[1::2] == numpy.random.RandomState(3).rand(2).tolist()
    assert mixed[0] != mixed[2]
    assert not set(mixed[1::2]) & set(of_key)


@pytest.mark.parametrize("by_numpy", [False, True])
def test_a_state_that_is_restored_gives_the_same_numbers(by_numpy: bool) -> None:
    with np.random.numpy_stream() if by_numpy else nullcontext():
        for source in (np.random, np.random.RandomState(2)):
            source.seed(3)
            source.rand(2)
            state = source.get_state()
            drawn = source.rand(2).tolist()
            source.set_state(state)
            assert source.rand(2).tolist() == drawn


# Types of single draws: a Python float takes the dtype of an array next to it, NumPy's float64 widens it

OF_BOTH = [
    "uniform()", "uniform(0, 2)", "normal()", "normal(1, 2)", "standard_normal()", "standard_exponential()",
    "exponential()", "gumbel()", "laplace()", "logistic()", "lognormal()", "choice(5)", "choice(5, replace=False)",
    "choice(2, p=[0.5, 0.5])", "choice([1.5, 2.5])", "choice(['a', 'b'])", "poisson(3.0)", "binomial(5, 0.5)",
    "geometric(0.5)", "beta(1, 2)", "gamma(2.0)", "triangular(0, 1, 2)", "zipf(2.0)", "uniform(numpy.array(1.0), 2)",
    "multinomial(3, [0.5, 0.5])", "permutation(3)", "normal(size=(1,))", "normal([1.0, 2.0])", "bytes(3)",
    "normal(size=())", "uniform(0, 2, ())", "exponential(size=())", "lognormal(size=())", "choice(5, ())",
    "choice([1.5, 2.5], ())", "choice(5, (), replace=False)", "choice(2, (), p=[0.5, 0.5])", "beta(1, 2, ())",
    "standard_normal(())", "poisson(3.0, ())",
]  # fmt: skip
"""Draws of `RandomState` and `Generator`."""

OF_STATES = [
    "rand()", "randn()", "random()", "random_sample()", "randint(5)", "randint(2, 9)", "randint(2, dtype=bool)",
    "randint(5, dtype='int8')", "randint(5, dtype=numpy.dtype('int64'))",
    "randint(5, size=2)", "random_integers(5, size=2)", "rand(2)",
    "randint(5, size=())", "randint(5, size=(), dtype='int8')", "random_sample(())",
]  # fmt: skip
OF_GENERATORS = [
    "random()", "random(dtype='float32')", "standard_normal(dtype='float32')", "integers(5)", "integers(5, size=2)",
    "integers(5, dtype='uint8')", "integers(5, endpoint=True)", "permuted([1, 2])",
    "integers(5, size=())", "integers(5, size=(), dtype='uint8')", "random(())", "random((), dtype='float32')",
]  # fmt: skip


@pytest.mark.parametrize(
    ("maker", "call"),
    [(maker, call) for maker in ("RandomState", "default_rng") for call in OF_BOTH]
    + [("RandomState", call) for call in OF_STATES]
    + [("default_rng", call) for call in OF_GENERATORS],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("by_numpy", [False, True])
def test_a_draw_has_numpys_type(maker: str, call: str, by_numpy: bool) -> None:
    def kind(module: Any) -> tuple[str, str, Any]:
        made = eval(f"state.{call}", {"state": getattr(module.random, maker)(0), "numpy": numpy})
        return type(made).__name__, str(getattr(made, "dtype", "")), getattr(made, "shape", ())

    with np.random.numpy_stream() if by_numpy else nullcontext():
        assert kind(np) == kind(numpy)


def test_a_single_draw_keeps_the_dtype_of_an_array() -> None:
    x = np.ones(3, np.float32)
    assert (x * np.random.rand()).dtype == (x + np.random.default_rng(0).normal()).dtype == np.float32


def test_older_names_of_the_legacy_module() -> None:
    state = np.random.mtrand.RandomState(3)
    assert isinstance(state, np.random.RandomState)
    np.random.seed(5)
    first = np.random.mtrand._rand.rand()
    np.random.seed(5)
    assert first == np.random.rand()
