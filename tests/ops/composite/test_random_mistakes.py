"""Mistakes in calls that draw random numbers, and parameters for which there is no distribution."""

import math
from collections.abc import Callable

import pytest

import tensorbackend as tb
from tensorbackend import random
from tensorbackend.errors import (
    ArgumentError,
    AxisError,
    DataError,
    DTypeError,
    NamesError,
    OperandError,
    OutOfRangeError,
    ShapeError,
    TensorBackendError,
)

BACKENDS = ["binary", "numpy"]


@pytest.mark.parametrize("backend", [*BACKENDS, "template"])
def test_mistakes(backend: str) -> None:
    key = random.key(0, backend=backend)
    keys = tb.template((3, 2), "uint32") if backend == "template" else random.split(key, 3)
    floats = tb.zeros(2, backend=backend)
    mistakes: list[tuple[Callable[[], object], type[TensorBackendError], str]] = [
        (lambda: random.bits(floats), DTypeError,
         "bits: expected a key, which is uint32 of shape (2,), got key=f32[2]; make one with tb.random.key(seed), or "
         "take one of several, such as tb.random.split(key)[0]"),
        (lambda: random.uniform(keys), ShapeError, "uniform: expected one key, which is uint32 of shape (2,), got "),
        (lambda: random.normal(keys), ShapeError, "normal: expected one key"),
        (lambda: random.randint(keys, (), 0, 1), ShapeError, "randint: expected one key"),
        (lambda: random.split(keys), ShapeError, "expected one key"),
        (lambda: random.fold_in(keys, 1), ShapeError, "fold_in: expected one key"),
        (lambda: random.shuffle(keys, floats), ShapeError, "shuffle: expected one key"),
        (lambda: random.choice(keys, floats), ShapeError, "choice: expected one key"),
        (lambda: random.bernoulli(keys), ShapeError, "bernoulli: expected one key"),
        (lambda: random.uniform(0), DTypeError, "a key, which is uint32"),
        (lambda: random.key(-(2**63) - 1), OutOfRangeError, "expected a seed from -2**63 to 2**64 - 1, got seed="),
        (lambda: random.key(2**64), OutOfRangeError, "a seed from -2"),
        (lambda: random.key(1.5), OperandError, "an integer seed, got seed=1.5"),  # type: ignore[arg-type]
        (lambda: random.bits(key, (2,), "int32"), DTypeError, "bits: expected uint8, uint16, uint32 or uint64"),
        (lambda: random.bits(key, (-1,)), ShapeError, "without negative sizes"),
        (lambda: random.bits(key, (2,), names=("a", "b")), NamesError, "1 names"),
        (lambda: random.uniform(key, (2,), "int32"), DTypeError, "a floating or complex dtype"),
        (lambda: random.uniform(key, (2,), minval=tb.zeros(3, backend=backend)), ShapeError, "uniform: expected sizes"),
        (lambda: random.uniform(key, (), minval=floats), ShapeError,
         "uniform: expected parameters that broadcast to the shape, got shape=(), parameters=((2,), ())"),
        (lambda: random.normal(key, (2,), "int8"), DTypeError, "a floating or complex dtype"),
        (lambda: random.exponential(key, (2,), "c64"), DTypeError, "exponential: expected a floating dtype"),
        (lambda: random.gumbel(key, (2,), mode="max"), ArgumentError, "gumbel: expected mode to be 'low' or 'high'"),  # type: ignore[arg-type]
        (lambda: random.fold_in(key, 2**32), OutOfRangeError, "an integer from 0 to 4294967295"),
        (lambda: random.fold_in(key, floats[0]), DTypeError, "fold_in: expected an integer to fold in"),
        (lambda: random.multivariate_normal(key, floats, floats), ShapeError,
         "multivariate_normal: expected a mean of shape (..., n) and a covariance of shape (..., n, n)"),
        (lambda: random.multivariate_normal(key, floats, tb.eye(2, backend=backend), (), "s8"), DTypeError, "floating"),
        (lambda: random.randint(key, (), 5, 5), ArgumentError, "expected minval below maxval, got minval=5, maxval=5"),
        (lambda: random.randint(key, (), 0, 257, "u8"), OutOfRangeError, "from 0 to 255 for uint8, got bound=257"),
        (lambda: random.randint(key, (), 0, 2**64, "u64"), OutOfRangeError, "bits() for all integers"),
        (lambda: random.randint(key, (), 0, 1.5), OperandError, "integers as bounds, got bound=1.5"),
        (lambda: random.randint(key, (), floats, 1), DTypeError, "an integer dtype"),
        (lambda: random.randint(key, (), 0, 2, "f32"), DTypeError, "an integer dtype, got dtype=float32"),
        (lambda: random.bernoulli(key, tb.zeros(2, dtype="i32", backend=backend)), DTypeError, "a floating dtype"),
        (lambda: random.categorical(key, floats, "class"), AxisError, "categorical: expected an axis name"),
        (lambda: random.categorical(key, floats, shape=(3,), replace=False), ArgumentError, "at most 2 different"),
        (lambda: random.categorical(key, floats[:0]), ShapeError, "at least one element"),
        (lambda: random.choice(key, 0), ArgumentError, "at least one entry to choose from"),
        (lambda: random.choice(key, 3, (4,), replace=False), ArgumentError, "at most 3 different entries"),
        (lambda: random.choice(key, 3, (4,), p=floats), ShapeError, "choice: expected 3 probabilities"),
        (lambda: random.shuffle(key, floats, 1), AxisError, "shuffle: expected an axis from -1 to 0"),
    ]  # fmt: skip
    for mistake, error, text in mistakes:
        with pytest.raises(error) as raised:
            mistake()
        assert text in str(raised.value), text


@pytest.mark.parametrize("backend", [*BACKENDS, "jax"])
def test_impossible_elements_of_parameters(backend: str) -> None:
    key = random.key(3, backend=backend)

    def vector(*numbers: float) -> tb.Tensor:
        return tb.asarray(numbers, dtype="f32", backend=backend)

    inf, nan = math.inf, math.nan
    mistakes: list[tuple[Callable[[], object], str]] = [
        (lambda: random.choice(key, 3, (4,), p=vector(1, -1, 2)), "of at least 0, got p=-1.0"),
        (lambda: random.choice(key, 3, (4,), p=vector(1, nan, 2)), "of at least 0, got p=nan"),
        (lambda: random.choice(key, 2, p=vector(1, inf)), "of at least 0, got p=inf"),
        (lambda: random.choice(key, 2, p=vector(0, 0)), "at least 1 entries with a probability above 0"),
        (lambda: random.choice(key, 3, (3,), False, vector(0.5, 0.5, 0)), "at least 3 entries"),
        (lambda: random.bernoulli(key, vector(0.5, -1)), "a probability from 0 to 1, got p=-1.0"),
        (lambda: random.categorical(key, vector(-inf, -inf)), "at least 1 classes with a logit above -inf"),
        (lambda: random.categorical(key, vector(0, nan)), "expected logits without NaN"),
        (lambda: random.categorical(key, vector(0, 0, -inf), shape=(3,), replace=False), "at least 3"),
        (lambda: random.uniform(key, (2,), minval=vector(0, 2)), "got minval=2.0, maxval=1.0"),
        (lambda: random.truncated_normal(key, vector(0, 2), 1), "got lower=2.0, upper=1.0"),
    ]  # fmt: skip
    for mistake, text in mistakes:
        with pytest.raises(DataError) as raised:
            mistake()
        assert text in str(raised.value), text
    assert random.uniform(key, (2,), minval=1, maxval=1).tolist() == [1.0, 1.0]
    assert random.choice(key, 3, (2,), p=vector(0, 7, 0)).tolist() == [1, 1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_impossible_numbers_as_parameters(backend: str) -> None:
    key, nan = random.key(3, backend=backend), math.nan
    mistakes: list[tuple[Callable[[], object], str]] = [
        (lambda: random.bernoulli(key, 1.5), "a probability from 0 to 1, got p=1.5"),
        (lambda: random.bernoulli(key, nan), "a probability from 0 to 1, got p=nan"),
        (lambda: random.uniform(key, minval=2, maxval=1), "minval of at most maxval, got minval=2"),
        (lambda: random.uniform(key, minval=nan), "minval of at most maxval, got minval=nan"),
        (lambda: random.uniform(key, minval=-3e38, maxval=3e38), "a finite maxval - minval, of at most"),
        (lambda: random.uniform(key, (), "f16", -4e4, 4e4), "of at most 6.55e+04 in float16"),
        (lambda: random.uniform(key, minval=1j, maxval=1), "minval of at most maxval"),
        (lambda: random.truncated_normal(key, 2, 1), "lower below upper, got lower=2, upper=1"),
        (lambda: random.truncated_normal(key, 1.0, 1.0), "expected lower below upper"),
        (lambda: random.truncated_normal(key, 0, 1, deviation=-1), "a deviation above 0"),
    ]  # fmt: skip
    for mistake, text in mistakes:
        with pytest.raises(ArgumentError) as raised:
            mistake()
        assert text in str(raised.value), text


def test_impossible_parameters_in_a_trace() -> None:
    key = random.key(3)
    drawn = tb.jit(lambda p: random.bernoulli(key, p))(tb.asarray([1.5, -1.0, math.nan]))
    assert drawn.tolist() == [True, False, False]
    assert tb.jit(lambda low: random.uniform(key, (1,), minval=low))(tb.asarray(2.0)).tolist() == [2.0]
