"""Laws that random numbers obey on each backend: moments, ranges, names, and the ends of ranges."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import tensorbackend as tb
from tensorbackend import random
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dtypes import as_dtype
from tensorbackend.errors import (
    DataError,
    DTypeError,
    ShapeError,
)
from tensorbackend.testing import assert_equal

BACKENDS = ["binary", "numpy"]

on_each_backend = pytest.mark.parametrize("backend", BACKENDS)


@on_each_backend
@pytest.mark.parametrize("dtype", ["c64", "c128"])
def test_complex_uniform_numbers_have_parts_between_those_of_the_bounds(backend: str, dtype: str) -> None:
    key = random.key(3, backend=backend)
    x = random.uniform(key, (2000,), dtype, 1 - 2j, 3 + 1j)
    assert x.dtype is as_dtype(dtype)
    for part, low, high in ((tb.real(x), 1, 3), (tb.imag(x), -2, 1)):
        assert low <= float(tb.min(part)) < low + 0.1
        assert high - 0.1 < float(tb.max(part)) < high
        assert float(tb.mean(part)) == pytest.approx((low + high) / 2, abs=0.1)
    centred = [part - tb.mean(part) for part in (tb.real(x), tb.imag(x))]
    assert abs(float(tb.mean(centred[0] * centred[1]))) < 0.1  # the real and imaginary parts are drawn independently
    assert random.uniform(key, (3,), minval=1j, maxval=1 + 1j).dtype is tb.complex64
    assert tb.imag(random.uniform(key, (3,), minval=1j, maxval=1 + 1j)).tolist() == [1.0] * 3
    least = tb.asarray([0j, 5 + 5j], backend=backend)
    assert [
        abs(sample) >= 5 for sample in random.uniform(key, (2,), minval=least, maxval=least + (1 + 1j)).tolist()
    ] == [
        False,
        True,
    ]
    with pytest.raises(DTypeError, match="uniform: "):
        random.uniform(key, (3,), "f32", 0, 1j)


@on_each_backend
@pytest.mark.parametrize("counters", [(), (1,), (5000,), (2, 0), (3, 5)])
def test_an_override_mixes_words_as_the_default_does(backend: str, counters: tuple[int, ...]) -> None:
    key = random.key(2**63 + 12345, backend=backend)
    high = tb.full((), 7, dtype="uint32", backend=backend)
    low = random.bits(key, counters)
    with tb.default_backend(backend):
        reference = OPS["threefry2x32"].function(key, high, low)
    for words, expected in zip(random.threefry2x32(key, high, low), reference, strict=True):
        assert_equal(words, expected)


def test_published_vectors() -> None:
    # The known answers of the Random123 library, by the algorithm's authors, for 20 rounds.
    vectors = [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ]
    for backend in BACKENDS:
        for key, counter, answer in vectors:
            words = tb.tensor(key, dtype="uint32", backend=backend)
            assert tuple(word.item() for word in random.threefry2x32(words, *counter)) == answer


@pytest.mark.parametrize("shape", [(3,), (4, 5), (0, 2), ()])
def test_backends_agree(shape: tuple[int, ...]) -> None:
    first, second = (random.key(99, backend=backend) for backend in BACKENDS)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for bounds in ((0.0, 1.0), (-3.0, 0.1)):
            a, b = (random.uniform(key, shape, dtype, *bounds) for key in (first, second))
            assert_equal(a.backend_copy("numpy"), b)
        a, b = (random.normal(key, shape, dtype) for key in (first, second))
        assert_equal(a.backend_copy("numpy"), b, ulps=10)


def test_moments() -> None:
    key, count = random.key(0), 200_000
    keys = random.split(key, 8)

    def check(sample: tb.Tensor, mean: float, variance: float) -> None:
        values = np.asarray(sample).astype(float)
        # The mean within five standard deviations, the variance within a looser bound.
        assert abs(values.mean() - mean) < 5 * math.sqrt(variance / count)
        assert abs(values.var() - variance) < 0.03 * variance

    check(random.uniform(keys[0], (count,), minval=-1.0, maxval=3.0), 1.0, 16 / 12)
    check(random.normal(keys[1], (count,), mean=2.0, deviation=0.5), 2.0, 0.25)
    check(random.exponential(keys[2], (count,)), 1.0, 1.0)
    check(random.gumbel(keys[3], (count,)), 0.5772156649, math.pi**2 / 6)
    check(random.gumbel(keys[3], (count,), mode="high"), 0.5772156649, math.pi**2 / 6)
    check(random.randint(keys[4], (count,), -3, 4), 0.0, 4.0)
    check(random.bernoulli(keys[5], 0.25, (count,)), 0.25, 3 / 16)
    classes = random.categorical(keys[6], tb.tensor([0.0, math.log(3.0)]), shape=(count,))
    check(classes, 0.75, 3 / 16)
    check(random.choice(keys[7], 2, (count,), p=tb.tensor([0.25, 0.75])), 0.75, 3 / 16)
    sample = np.asarray(random.normal(keys[0], (count,), "complex64"))
    assert abs(sample.real.var() - 0.5) < 0.01
    assert abs(sample.imag.var() - 0.5) < 0.01


@on_each_backend
def test_parameters_may_be_tensors(backend: str) -> None:
    key = random.key(5, backend=backend)
    low = tb.tensor([0.0, 100.0], names=("n",), backend=backend)
    sample = random.uniform(key, (3, 2), minval=low, maxval=low + 1)
    assert sample.names == (None, "n")
    assert [[math.floor(value) for value in row] for row in sample.tolist()] == [[0, 100]] * 3
    whole = random.randint(
        key, (2, 3), tb.tensor([0, 10, 300], backend=backend), tb.tensor([1, 11, 400], backend=backend), "u8"
    )
    assert whole.tolist() == [[0, 10, 255]] * 2  # bounds are clipped to the range of the dtype
    assert random.bernoulli(key, tb.tensor([0.0, 1.0], backend=backend), (2, 2)).tolist() == [[False, True]] * 2
    assert random.normal(key, (2,), mean=tb.tensor([5, 6], backend=backend), deviation=0).tolist() == [5.0, 6.0]


@on_each_backend
def test_integers_of_every_range(backend: str) -> None:
    key = random.key(6, backend=backend)
    for bits in (8, 16, 32):
        high = 1 << bits
        assert tb.max(random.randint(key, (300,), high - 1, high, f"uint{bits}")).item() == high - 1
        assert random.randint(key, (), 0, high, f"uint{bits}").dtype is getattr(tb, f"uint{bits}")
    whole = random.randint(key, (1000,), -(1 << 63), 1 << 63)
    assert int(tb.min(whole)) < -(1 << 62)
    assert int(tb.max(whole)) > 1 << 62
    drawn = random.randint(key, (500,), 0, 5, "int8").tolist()
    assert set(drawn) == set(range(5))


@on_each_backend
def test_names_and_templates(backend: str) -> None:
    key = random.key(1, backend=backend)
    dry = tb.template((2,), "uint32")
    x = tb.zeros((3, 4), names=("row", "column"), backend=backend)
    flat = tb.template(x.shape, x.dtype, x.names)
    names = ("a", "b")
    calls: list[Callable[[tb.Tensor, tb.Tensor], tb.Tensor]] = [
        lambda key, x: random.bits(key, (2, 3), names=names),
        lambda key, x: random.uniform(key, (2, 3), "f64", names=names),
        lambda key, x: random.normal(key, (2, 3), "c128", names=names),
        lambda key, x: random.exponential(key, (2, 3), names=names),
        lambda key, x: random.gumbel(key, (2, 3), "bf16", "high", names=names),
        lambda key, x: random.truncated_normal(key, -1, 1, (2, 3), names=names),
        lambda key, x: random.multivariate_normal(key, x[0], tb.eye(4, backend=key.backend), (2,)),
        lambda key, x: random.multivariate_normal(key, x, tb.zeros_like(x)[:, None] + tb.eye(4, backend=key.backend)),
        lambda key, x: random.randint(key, (2, 3), 0, 9, "int16", names=names),
        lambda key, x: random.bernoulli(key, x, names=names),
        lambda key, x: random.bernoulli(key, x),
        lambda key, x: random.categorical(key, x, "column"),
        lambda key, x: random.categorical(key, x, "row", (5, 4), names=("draw", "column")),
        lambda key, x: random.categorical(key, x, 1, (2, 3), replace=False),
        lambda key, x: random.shuffle(key, x, "column"),
        lambda key, x: random.shuffle(key, x, independent=True),
        lambda key, x: random.permutation(key, x),
        lambda key, x: random.permutation(key, 5),
        lambda key, x: random.choice(key, x, (2,), axis="column"),
        lambda key, x: random.choice(key, x, (2,), axis=1, names=("row", "picked")),
        lambda key, x: random.choice(key, x, (0,), axis=1),
        lambda key, x: random.split(key, (2, 2)),
        lambda key, x: random.fold_in(key, 3),
    ]
    for call in calls:
        sample = call(key, x)
        assert sample.backend.name == backend
        assert call(dry, flat).template is sample.template
        assert call(dry, flat).backend.name == "template"
    assert random.shuffle(key, x, "column").names == ("row", "column")
    assert random.categorical(key, x, "column").names == ("row",)
    assert random.categorical(key, x, 1, (2, 3), replace=False).names == (None, "row")


def test_a_dry_run_of_many_numbers() -> None:
    key = tb.template((2,), "uint32")
    assert random.normal(key, (2**20, 2**20)).shape == (2**20, 2**20)


@on_each_backend
def test_shuffles_keep_what_they_order(backend: str) -> None:
    key = random.key(3, backend=backend)
    x = tb.reshape(tb.iota(60, backend=backend), (3, 20))
    for independent in (False, True):
        shuffled = random.shuffle(key, x, 1, independent)
        assert tb.sort(shuffled).tolist() == x.tolist()
        assert shuffled.tolist() != x.tolist()
    together = random.shuffle(key, x, 1)
    assert (together[1] - together[0]).tolist() == [20] * 20
    assert random.shuffle(key, x[:, :1], 1).tolist() == x[:, :1].tolist()
    assert random.shuffle(key, x[:, :0], 1).shape == (3, 0)
    assert random.permutation(key, 0).tolist() == []
    assert len(set(random.choice(key, 20, (20,), replace=False).tolist())) == 20


@on_each_backend
def test_normal_vectors(backend: str) -> None:
    key = random.key(8, backend=backend)
    mean = tb.tensor([[0.0, 100.0], [5.0, -5.0]], names=("batch", "feature"), backend=backend)
    cov = tb.tensor([[[1.0, 0.9], [0.9, 1.0]], [[4.0, 0.0], [0.0, 0.01]]], backend=backend)
    sample = random.multivariate_normal(key, mean, cov, (3000, 2))
    assert sample.names == (None, "batch", "feature")
    values = np.asarray(sample.backend_copy("numpy")).astype(float)
    np.testing.assert_allclose(values.mean(0), np.asarray(mean.backend_copy("numpy")), atol=0.2)
    for batch in range(2):
        np.testing.assert_allclose(np.cov(values[:, batch].T), np.asarray(cov[batch].backend_copy("numpy")), atol=0.3)
    assert random.multivariate_normal(key, mean, cov).shape == (2, 2)
    with pytest.raises(DataError, match="positive definite"):
        random.multivariate_normal(key, mean, tb.zeros_like(cov))


@on_each_backend
def test_truncated_normals_are_inside(backend: str) -> None:
    key = random.key(4, backend=backend)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        sample = random.truncated_normal(key, 0.5, 0.75, (500,), dtype)
        assert all(0.5 < value < 0.75 for value in sample.tolist())


@pytest.mark.parametrize(("low", "high"), [(-1.0, 0.5), (-2.0, 3.0), (0.5, 2.0)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_truncated_normal_has_the_moments_of_its_distribution(dtype: str, low: float, high: float) -> None:
    count = 100_000
    values = np.asarray(random.truncated_normal(random.key(4), low, high, (count,), dtype)).astype(float)
    mean, variance, skew = scipy.stats.truncnorm.stats(low, high, moments="mvs")
    assert abs(values.mean() - mean) < 5 * math.sqrt(variance / count)
    assert abs(values.var() - variance) < 0.03 * variance
    third = ((values - values.mean()) ** 3).mean() / values.std() ** 3
    assert abs(third - skew) < 0.05


@on_each_backend
def test_a_mean_and_a_deviation_move_a_truncated_normal(backend: str) -> None:
    key = random.key(4, backend=backend)
    sample = random.truncated_normal(key, -1.0, 9.0, (400,), "float64", mean=3.0, deviation=2.0)
    standard = random.truncated_normal(key, -2.0, 3.0, (400,), "float64")
    assert tb.all_close(sample, standard * 2 + 3, rtol=1e-12)
    assert all(-1 < value < 9 for value in sample.tolist())
    means = tb.asarray([[0.0], [100.0]], names=("batch", None), backend=backend)
    spread = random.truncated_normal(key, means - 1, means + 1, (2, 50), mean=means, names=("batch", "n"))
    assert spread.names == ("batch", "n")
    assert tb.all(tb.abs(spread - means) < 1)
    assert random.truncated_normal(key, -1, 1, mean=tb.zeros(3, backend=backend)).shape == (3,)
    with pytest.raises(ShapeError, match="sizes that are equal"):
        random.truncated_normal(key, -1, 1, (2,), mean=tb.zeros(3, backend=backend))


# Ends of ranges


def test_few_words_are_the_first_of_many() -> None:
    many = random.bits(random.key(5, backend="numpy"), (300,)).tolist()
    for count in (1, 127, 128, 129):
        assert random.bits(random.key(5, backend="numpy"), (count,)).tolist() == many[:count]


@pytest.mark.parametrize("backend", [*BACKENDS, "jax"])
@pytest.mark.parametrize("mode", ["low", "high"])
def test_gumbel_numbers_are_finite(backend: str, mode: Any) -> None:
    key = random.key(0, backend=backend)
    for _ in range(2):  # the second call runs as a compiled program
        drawn = random.gumbel(key, (2000,), "f16", mode)
        assert bool(tb.all(tb.isfinite(drawn)))
    assert float(tb.min(drawn)) > -3


def test_the_gradient_of_truncated_numbers_in_a_tail() -> None:
    key = random.key(3)
    with tb.precision(64):
        lower = tb.asarray([2.5, 5.0, 11.0, -3.0, -20.0, 0.3])
        upper = lower + tb.asarray([math.inf, 1.0, 0.5, 1.0, 0.2, math.inf])
        factors = tb.asarray([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

        def total(*parameters: tb.Tensor) -> tb.Tensor:
            mean, deviation, shift = parameters
            edges = lower + shift, upper + shift
            return tb.sum(random.truncated_normal(key, *edges, (6,), mean=mean, deviation=deviation) * factors)

        point = [tb.asarray(0.0), tb.asarray(1.2), tb.asarray(0.0)]
        for place in range(3):
            step = 1e-6
            moved = [[x + sign * step if at == place else x for at, x in enumerate(point)] for sign in (1, -1)]
            numerical = (float(total(*moved[0])) - float(total(*moved[1]))) / (2 * step)
            at = tb.grad(lambda x, place=place: total(*point[:place], x, *point[place + 1 :]))(point[place])
            assert float(at) == pytest.approx(numerical, rel=1e-6)


def test_a_sample_of_vectors_takes_names_for_its_first_axes_alone() -> None:
    alpha = tb.ones(3, names=("class",))
    drawn = tb.random.dirichlet(tb.random.key(0), alpha, (4,), names=("draw",))
    assert (drawn.names, drawn.shape) == (("draw", "class"), (4, 3))
    assert tb.random.dirichlet(tb.random.key(0), alpha, (4,), names=("draw", "kind")).names == ("draw", "kind")
    with pytest.raises(tb.errors.NamesError, match="expected 2 names"):
        tb.random.dirichlet(tb.random.key(0), tb.ones(3), (4,), names=("draw",))


@pytest.mark.parametrize(("seed", "dtype"), [(5, "s64"), (-5, "s8"), (2**33 + 1, "s64"), (2**64 - 1, "u64")])
def test_a_traced_seed_makes_the_key_of_its_number(seed: int, dtype: str) -> None:
    traced = tb.jit(random.key)(tb.asarray(seed, dtype=dtype))
    assert traced.template == random.key(seed).template
    assert traced.tolist() == random.key(seed).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["exponential", "laplace", "gumbel"])
def test_narrow_numbers_are_the_same_on_every_backend(name: str, dtype: str) -> None:
    def draw(backend: str, **options: Any) -> Any:
        return getattr(tb.random, name)(tb.random.key(0, backend=backend), (300,), dtype, **options).tolist()

    for options in [{}, {"mode": "high"}] if name == "gumbel" else [{}]:
        assert draw("numpy", **options) == draw("jax", **options) == draw("binary", **options)
