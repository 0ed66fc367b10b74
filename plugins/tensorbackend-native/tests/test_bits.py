"""The bits are those of the reference, whatever the size, and bad input changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tensorbackend as tb
from tensorbackend.backends.numpy_backend import NumpyBackend
from tensorbackend.backends.threefry import encrypt

import tensorbackend_native

SIZES = [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 100, 129, 1000, 4099]


def words(rng: Any, count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Random words, with the extremes."""
    drawn: np.ndarray[Any, np.dtype[np.uint32]] = rng.integers(0, 2**32, count, "uint32")
    drawn[: count // 8] = rng.choice([0, 1, 2**31, 2**32 - 1], count // 8)
    return drawn


@pytest.mark.parametrize("count", SIZES)
def test_counters_are_encrypted_as_by_python_s_integers(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(5):
        high, low = (int(word) for word in words(rng, 2))
        first, second = words(rng, count), words(rng, count)
        expected = encrypt((high, low), array("Q", first.tolist()), array("Q", second.tolist()))
        tensorbackend_native.encrypt((high, low), first, second)
        assert [first.tolist(), second.tolist()] == [expected[0].tolist(), expected[1].tolist()]


def test_a_part_of_an_array_leaves_the_rest() -> None:
    first, second = np.zeros(50, "uint32"), np.zeros(50, "uint32")
    tensorbackend_native.encrypt((1, 2), first[7:29], second[7:29])
    assert not np.delete(first, range(7, 29)).any()
    assert not np.delete(second, range(7, 29)).any()
    assert set(first[7:29].tolist()) == {first[7].item()} != {0}


DRAWS: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "bits": lambda key: tb.random.bits(key, (1001,)),
    "bits of 64": lambda key: tb.random.bits(key, (1001,), "uint64"),
    "uniform": lambda key: tb.random.uniform(key, (1001,)),
    "uniform of 64": lambda key: tb.random.uniform(key, (1001,), "float64"),
    "randint": lambda key: tb.random.randint(key, (1001,), -5, 100),
    "split": lambda key: tb.random.split(key, 1001),
    "a key of many": lambda key: tb.random.bits(tb.random.split(key, (500, 3))[300, 1], (3, 333)),
    "a key in a column": lambda key: tb.random.bits(tb.stack([key, key], axis=1)[:, 0], (3, 333)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_equal_those_of_the_reference(name: str) -> None:
    draw = DRAWS[name]
    numbers = draw(tb.random.key(7))
    with tb.default_backend("binary"):
        expected = draw(tb.random.key(7))
    assert numbers.backend.name == "numpy"
    assert numbers.to_binary() == expected.to_binary()


def test_the_backend_uses_it_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NumpyBackend().versions()["tensorbackend-native"] == tensorbackend_native.__version__
    calls: list[int] = []

    def encrypt(key: tuple[int, int], first: Any, second: Any) -> None:
        calls.append(first.size)
        tensorbackend_native._native.encrypt(key, first, second)

    monkeypatch.setattr(tensorbackend_native, "encrypt", encrypt)
    tb.random.bits(tb.random.key(0), (5000,))
    assert calls == [5000]


def test_the_environment_turns_it_off() -> None:
    program = "import tensorbackend as tb; tb.zeros(1); print(*tb.get_backend('numpy').versions())"
    for value, expected in {"0": "numpy", "1": "numpy tensorbackend-native"}.items():
        environment = os.environ | {"TENSORBACKEND_NATIVE": value}
        shown = subprocess.run([sys.executable, "-P", "-c", program], env=environment, capture_output=True, text=True)
        assert (shown.stdout.strip(), shown.stderr) == (expected, "")


WORDS = np.zeros(4, "uint32")
FROZEN = np.zeros(4, "uint32")
FROZEN.flags.writeable = False


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            ((0, 0), WORDS, np.zeros(3, "uint32")),
            ValueError,
            "equally many first and second words, got 16 and 12 bytes",
        ),
        (((0, 0), np.zeros(4, "uint64"), WORDS), ValueError, "words of 4 bytes, got a buffer of 8"),
        (((0, 0), WORDS, np.zeros(4, "uint8")), ValueError, "words of 4 bytes, got a buffer of 1"),
        (((0, 0), FROZEN, WORDS), (BufferError, ValueError), "read-only|not writable"),
        (((0, 0), np.zeros(8, "uint32")[::2], WORDS), (BufferError, ValueError), "contiguous"),
        (((0, 2**32), WORDS, WORDS), OverflowError, "words of 32 bits, got 4294967296"),
        (((-1, 0), WORDS, WORDS), OverflowError, "negative"),
        (((0, 0, 0), WORDS, WORDS), TypeError, "2"),
        ((0, WORDS, WORDS), TypeError, "2-item sequence|sequence|tuple"),
        (((0, 0), WORDS, "text"), TypeError, "bytes-like|buffer"),
        (((0, 0), WORDS), TypeError, "3 arguments"),
    ],
)
def test_bad_input_is_an_error_and_changes_nothing(arguments: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        tensorbackend_native.encrypt(*arguments)
    assert not WORDS.any()


def test_threads_draw_what_one_thread_draws() -> None:
    keys = [tb.random.key(number) for number in range(32)]
    alone = [tb.random.bits(key, (30000,)).to_binary() for key in keys]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda key: tb.random.bits(key, (30000,)).to_binary(), keys)) == alone


def test_no_reference_is_kept() -> None:
    first, second = np.zeros(4, "uint32"), np.zeros(4, "uint32")
    key, wrong = (2**31, 2**32 - 1), np.zeros(3, "uint32")
    counted = (first, second, key, wrong)

    def repeat() -> list[int]:
        for _ in range(1000):
            tensorbackend_native.encrypt(key, first, second)
            with pytest.raises(ValueError, match="equally many"):
                tensorbackend_native.encrypt(key, first, wrong)
        return [sys.getrefcount(each) for each in counted]

    assert repeat() == repeat()
