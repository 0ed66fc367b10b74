"""Random numbers against `jax.random` on each backend.

The expected values were computed by JAX 0.10.2 with 64-bit dtypes enabled and its default options: digests of the bytes
for the keys of `SEEDS` and all shapes of `SHAPES`, and a few numbers in full for the key of 42.
"""

import hashlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend import random
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
    "float16": "4a6ddcf894a9f1a7132cf28bcf29a9f1",
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
