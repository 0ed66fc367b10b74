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


# Wrong calls, and states

IMPOSSIBLE = [
    "random(-2)", "random((1.5,))", "normal(size=(-3,))", "permutation(-3)", "choice(3, p=[1.5, -0.6, 0.1])",
    "exponential(-1)", "uniform(0, numpy.inf)", "multinomial(5, [0.9, 0.9])", "normal(0, -1)", "normal(0, [1, -1])",
    "lognormal(0, -1)", "normal([0, 0], 1, 3)", "choice([])", "choice(-3)", "choice(3, 5, False)",
    "choice(3, p=[1, 1])",
    "choice(3, 2, False, [1, 0, 0])", "multivariate_normal([0, 0], [[1, 2], [3, -4]], check_valid='raise')",
    "shuffle((1, 2))", "random(True)", "uniform('a')", "gumbel(1j)", "laplace(size=2.0)", "permutation([1, 2], 3)",
    "gamma(-1.0)", "beta(1, numpy.array([-1.0, 2.0]))",
]  # fmt: skip


@pytest.mark.parametrize(
    ("maker", "call"),
    [(maker, call) for maker in ("RandomState", "default_rng") for call in IMPOSSIBLE]
    + [("RandomState", call) for call in ("randn(-1)", "rand(2.5)", "randint(5, 2)", "randint(300, dtype='int8')")]
    + [("default_rng", call) for call in (
        "integers(5, 2)", "integers([1, 2], 2)", "integers(300, dtype='uint8')", "integers(5, dtype=float)",
        "random(out=numpy.zeros(3, 'f'))", "random(2, out=numpy.zeros(3))", "random(out=[1.0])", "spawn(-1)",
        "permuted(5)", "permuted([1, 2], axis=1)", "uniform(2, 1)",
    )],
)  # fmt: skip
def test_an_impossible_draw_is_an_error_and_the_next_one_is_right(maker: str, call: str) -> None:
    source, twin = (getattr(np.random, maker)(0) for _ in range(2))
    for _ in range(2):
        with pytest.raises((ValueError, TypeError)):
            eval(f"source.{call}", {"source": source, "numpy": numpy})
        for draw in ("random()", "normal(size=3).tolist()", "poisson(3.0)", "random(100).tolist()"):
            assert eval(f"source.{draw}", {"source": source}) == eval(f"twin.{draw}", {"twin": twin})


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_parameters_on_a_backend_are_checked_and_those_without_data_are_not(backend: str) -> None:
    with tb.default_backend(backend):
        with pytest.raises(tb.errors.ArgumentError, match="scale < 0"):
            np.random.default_rng(0).normal(0.0, np.array([1.0, -1.0]))
        assert tb.grad(lambda scale: np.random.default_rng(0).normal(0.0, scale))(np.array(-2.0)).shape == ()


@pytest.mark.parametrize("seed", [-1, "a", 1.5, [-1], [1.5], {}, numpy.float64(2)])
def test_a_seed_is_checked_when_it_is_given(seed: Any) -> None:
    with pytest.raises(tb.errors.ArgumentError):
        np.random.default_rng(seed)
    with pytest.raises(tb.errors.ArgumentError):
        np.random.RandomState(seed)
    state, twin = np.random.RandomState(3), np.random.RandomState(3)
    state.rand(), twin.rand()
    with pytest.raises(tb.errors.ArgumentError):
        state.seed(seed)
    assert state.rand() == twin.rand()


def test_large_seeds_are_taken_as_numpy_takes_them() -> None:
    assert np.random.default_rng(2**70).random() == np.random.default_rng(2**70).random()
    with pytest.raises(tb.errors.ArgumentError, match="between 0 and"):
        np.random.RandomState(2**32)


def test_a_draw_is_written_to_out() -> None:
    for name in ("random", "standard_normal", "standard_exponential"):
        out, twin = np.zeros(3), np.random.default_rng(0)
        assert getattr(np.random.default_rng(0), name)(out=out) is out
        assert out.tolist() == getattr(twin, name)(3).tolist()
    rows = np.arange(6).reshape(2, 3)
    np.random.default_rng(0).permuted(rows, axis=1, out=rows)
    assert sorted(rows[0].tolist()) == [0, 1, 2]


def test_a_state_of_numpys_is_restored_outside_of_its_stream_too() -> None:
    theirs: Any = numpy.random.RandomState(4)
    theirs.rand(3)
    before = str(numpy.random.get_state(legacy=False))
    expected: Any = numpy.random.RandomState()
    expected.set_state(theirs.get_state())
    np.random.seed(0)
    first = np.random.rand()
    np.random.set_state(theirs.get_state())
    assert np.random.rand(4).tolist() == expected.rand(4).tolist()
    assert np.random.get_state()[2] == expected.get_state()[2]
    assert str(numpy.random.get_state(legacy=False)) == before  # another stream
    np.random.seed(0)
    assert np.random.rand() == first


@pytest.mark.parametrize("state", [(1, 2), ("MT19937", [1]), {}, "a", None, ("PCG64", [1], 2)])
def test_a_wrong_state_changes_nothing(state: Any) -> None:
    source, twin = np.random.RandomState(1), np.random.RandomState(1)
    with pytest.raises(tb.errors.ArgumentError):
        source.set_state(state)
    assert source.rand() == twin.rand()


def test_a_state_of_keys_is_none_of_numpys_stream() -> None:
    state = np.random.get_state()
    with np.random.numpy_stream(), pytest.raises(tb.errors.ArgumentError, match="outside of numpy_stream"):
        np.random.set_state(state)


def test_names_of_the_other_kind_of_generator_are_missing() -> None:
    with pytest.raises(AttributeError):
        np.random.default_rng(0).randn  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError):
        np.random.RandomState(0).integers  # type: ignore[attr-defined] # noqa: B018
    assert np.random.RandomState(0).tomaxint() >= 0
