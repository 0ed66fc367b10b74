"""Random numbers against `jax.random`, and laws that they obey, on each backend.

The expected values were computed by JAX 0.10.2 with 64-bit dtypes enabled and its default options: digests of the bytes
for the keys of `SEEDS` and all shapes of `SHAPES`, and a few numbers in full for the key of 42.
"""

import hashlib
import itertools
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
SEEDS = [0, 1, 2, 3, 7, 10, 42, 123, 255, 1234, 65535, 65536, 12345678, 2**31 - 1, 2**31, 2**32 - 1,
         2**32, 2**32 + 7, 2**53 - 1, 2**63 - 1]  # fmt: skip
SHAPES = [(), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 5)]

BITS = {
    "uint8": "5fed9f78eb205b116108428334eea2d4",
    "uint16": "3334ddb1907d93a704d0e96c128628e3",
    "uint32": "8c04a552cfff05a5ad86a86e86148ff3",
    "uint64": "29461c28fb133f7cc3d5770f1fd77618",
}
UNIFORM = {
    "float16": "0d82e09f07ccd7579cc68a25e8b03f09",
    "bfloat16": "d8282eb1d99ba14f86d7e23f0c45093d",
    "float32": "e0e0a1fb4262826bdb21b7700cd460c3",
    "float64": "bc1535ddfe7fa6e208ca1f5d11c0d82d",
}
# Uniform numbers from -3.5 to 2.3, on hardware that fuses a product with a sum.
BETWEEN = {
    "float16": "d98800e177b4aaec7bf4669adeb02f68",
    "bfloat16": "e6ee75950afc48953a86f6bacf42e24a",
    "float32": "8ca28f178400188f97f91a71c35442e9",
    "float64": "56245827737f5d1dcad0afdd5a7eed4f",
}
RANDINT = {
    ("int8", 100): "82b021ac4299740b4da69e1b18e27860",
    ("uint16", 100): "180a465ac8c0ce31c1b3636d0f5b7ffd",
    ("int32", 100): "e717412e3ac5119733347cbed082343b",
    ("uint32", 100): "e717412e3ac5119733347cbed082343b",
    ("int64", 100): "f1af4b46562a88d9b2bd33cc73cc2011",
    ("uint64", 2**63 - 1): "a99b4e9e8c0f6d5701e7aa7b5ffd9b79",
}

on_each_backend = pytest.mark.parametrize("backend", BACKENDS)


def digest(backend: str, draw: Callable[[tb.Tensor, tuple[int, ...]], tb.Tensor]) -> str:
    """Return a digest of the bytes of a sample of each shape from each key."""
    hashed = hashlib.sha256()
    for seed, shape in itertools.product(SEEDS, SHAPES):
        sample = draw(random.key(seed, backend=backend), shape)
        assert sample.backend.name == backend
        hashed.update(sample.to_binary())
    return hashed.hexdigest()[:32]


def check_near(x: tb.Tensor, reference: list[Any], ulps: float) -> None:
    """Check that numbers are those of JAX, within a number of units in the last place."""
    assert_equal(x.backend_copy("binary"), tb.tensor(reference, dtype=x.dtype, backend="binary"), ulps=ulps)


# Equal to the last bit


@on_each_backend
@pytest.mark.parametrize("dtype", BITS)
def test_bits_are_those_of_jax(backend: str, dtype: str) -> None:
    assert digest(backend, lambda key, shape: random.bits(key, shape, dtype)) == BITS[dtype]


@on_each_backend
@pytest.mark.parametrize("dtype", UNIFORM)
def test_uniform_numbers_are_those_of_jax(backend: str, dtype: str) -> None:
    assert digest(backend, lambda key, shape: random.uniform(key, shape, dtype)) == UNIFORM[dtype]


@on_each_backend
@pytest.mark.parametrize("dtype", BETWEEN)
def test_uniform_numbers_between_other_bounds_are_those_of_jax(backend: str, dtype: str) -> None:
    assert digest(backend, lambda key, shape: random.uniform(key, shape, dtype, -3.5, 2.3)) == BETWEEN[dtype]


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
@pytest.mark.parametrize(("dtype", "high"), RANDINT)
def test_integers_are_those_of_jax(backend: str, dtype: str, high: int) -> None:
    assert digest(backend, lambda key, shape: random.randint(key, shape, 3, high, dtype)) == RANDINT[dtype, high]


@on_each_backend
def test_keys_and_orders_are_those_of_jax(backend: str) -> None:
    assert digest(backend, lambda key, shape: random.split(key, shape)) == "b9ba56acbe874d27fc4b4300717c66cb"
    folded = digest(backend, lambda key, shape: random.fold_in(key, sum(shape) * 100003))
    assert folded == "f9ad721e5088b1cfa63e41cf6358eb21"
    permuted = digest(backend, lambda key, shape: random.permutation(key, sum(shape) * 7))
    assert permuted == "0274d5e126c60f979b6516d5ad2f89b3"


@on_each_backend
def test_a_few_numbers_in_full(backend: str) -> None:
    key = random.key(42, backend=backend)
    split = [[1832780943, 270669613], [64467757, 2916123636], [2465931498, 255383827]]
    assert random.split(key, 3).tolist() == split
    assert random.fold_in(key, 7).tolist() == [2547012911, 1371500959]
    assert random.fold_in(key, tb.tensor(7, dtype="int8")).tolist() == [2547012911, 1371500959]
    assert random.bits(key, (4,), "uint8").tolist() == [162, 217, 249, 215]
    assert random.bits(key, (4,), "uint16").tolist() == [5026, 12505, 63993, 49623]
    assert random.bits(key, (4,)).tolist() == [2098992034, 2919706841, 2646866425, 2409546199]
    words = [7871734211187709741, 276886910877598708, 10591095138341673235, 13462782411356743825]
    assert random.bits(key, (4,), "uint64").tolist() == words
    single = ["0x1.f47048p-2", "0x1.5c0e6p-1", "0x1.3b87fp-1", "0x1.1f3d8p-1"]
    assert random.uniform(key, (4,)).tolist() == list(map(float.fromhex, single))
    double = ["0x1.b4f8123c40884p-2", "0x1.ebd996d6e84p-7", "0x1.25f641d41e71ap-1", "0x1.75aad28c6a974p-1"]
    assert random.uniform(key, (4,), "f64").tolist() == list(map(float.fromhex, double))


@on_each_backend
def test_discrete_samples_are_those_of_jax(backend: str) -> None:
    key = random.key(42, backend=backend)
    p = tb.tensor([0.1, 0.2, 0.3, 0.4], backend=backend)
    logits = tb.tensor(np.log(np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]], "f4")), backend=backend)
    for mode in ("low", "high"):
        assert random.bernoulli(key, 0.3, (12,), mode).tolist() == [place == 6 for place in range(12)]
    assert random.categorical(key, logits, shape=(5, 2)).tolist() == [[3, 1], [3, 0], [3, 0], [1, 1], [1, 0]]
    different = random.categorical(key, logits, shape=(3, 2), replace=False)
    assert different.tolist() == [[3, 1], [2, 0], [1, 3]]
    assert random.permutation(key, 10).tolist() == [7, 4, 2, 5, 3, 6, 8, 9, 0, 1]
    grid = tb.reshape(tb.iota(12, backend=backend), (3, 4))
    assert random.permutation(key, grid, 1).tolist() == [[2, 3, 0, 1], [6, 7, 4, 5], [10, 11, 8, 9]]
    assert random.permutation(key, grid, 1, True).tolist() == [[2, 3, 0, 1], [7, 4, 5, 6], [10, 11, 8, 9]]
    assert random.randint(key, (6,), -5, 5, "int32").tolist() == [-1, -1, -4, 4, 4, 4]
    # JAX gives these without 64-bit dtypes, where its indices are int32.
    assert random.choice(key, 10, (6,)).tolist() == [4, 4, 1, 9, 9, 9]
    assert random.choice(key, 10, (6,), replace=False).tolist() == [7, 4, 2, 5, 3, 6]
    assert random.choice(key, 4, (6,), p=p).tolist() == [2] * 6
    assert random.choice(key, 4, (3,), replace=False, p=p).tolist() == [3, 2, 1]


@on_each_backend
def test_continuous_samples_are_near_those_of_jax(backend: str) -> None:
    key = random.key(42, backend=backend)
    # JAX's inverse error function has errors of some ulps, and of more in the tails.
    check_near(random.normal(key, (3,), "f16"), [-1.4296875, -0.87548828125, 1.974609375], 1)
    check_near(random.normal(key, (3,), "bf16"), [0.34375, 1.015625, 1.890625], 1)
    check_near(random.normal(key, (3,)), [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591], 4)
    reference = [-0.18471174528191162, -2.169824560397754, 0.18693555179382582]
    check_near(random.normal(key, (3,), "f64"), reference, 64)
    complex_numbers = [
        0.05368746072053909 + 0.4283398389816284j,
        -0.34389618039131165 + 0.5650094747543335j,
        0.9123944640159607 - 0.6427084803581238j,
    ]
    check_near(random.normal(key, (3,), "c64"), complex_numbers, 4)
    check_near(random.exponential(key, (3,)), [0.670817494392395, 1.1388006210327148, 0.9578199982643127], 2)
    check_near(random.gumbel(key, (3,)), [0.3340933918952942, 0.952019453048706, 0.7255305647850037], 8)
    check_near(random.gumbel(key, (2,), mode="high"), [0.39925798773765564, -0.12997561693191528], 8)
    check_near(random.truncated_normal(key, -1.0, 2.0, (3,)), [0.1477000564, 0.5684449077, 0.4210255146], 16)

    mean, cov = tb.tensor([1.0, 2.0], backend=backend), tb.tensor([[2.0, 0.5], [0.5, 1.0]], backend=backend)
    vectors = [[0.9599712491035461, 2.426954746246338], [1.418187141418457, 2.248175859451294]]
    check_near(random.multivariate_normal(key, mean, cov, (3,))[:2], vectors, 16)


# Laws


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
