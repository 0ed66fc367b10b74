"""What draws advances only when it has drawn: after each error a stream is as it was, and the next numbers are right.

Wrong calls are drawn for every method of NumPy's generators and legacy states; a twin that never erred says what comes
next. `TENSORBACKEND_STATE_CALLS` sets the number of calls; a seed and a number reproduce each.
"""

from __future__ import annotations

import copy
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.testing import wrong_calls

CALLS = int(os.environ.get("TENSORBACKEND_STATE_CALLS", "200"))
THREADS = 8

WRONG: list[Callable[[], Any]] = [
    lambda: -1, lambda: 0, lambda: 2, lambda: 3, lambda: 0.5, lambda: -0.5, lambda: 1.5, lambda: 2**70, lambda: True,
    lambda: float("nan"), lambda: float("inf"), lambda: 1j, lambda: "a", lambda: "float32", lambda: None, lambda: int,
    lambda: (), lambda: (2,), lambda: (-1,), lambda: (1.5,), lambda: (2, 2), list, lambda: [1, 2],
    lambda: [-1.0, 2.0], lambda: [None], lambda: [0.5, 0.9], lambda: [0.5, 0.5], lambda: [[1, 2], [3, -4]],
    dict, lambda: object(), lambda: numpy.zeros((2, 3)), lambda: np.zeros((2, 3)), lambda: np.array([1.0, 2.0]),
    lambda: tb.zeros(2), lambda: np.zeros(2, np.float32),
]  # fmt: skip

KEYWORDS = {
    "choice": "size replace p axis shuffle", "integers": "low high size dtype endpoint", "normal": "loc scale size",
    "permuted": "axis out", "random": "size dtype out", "shuffle": "axis", "standard_exponential": "size dtype out",
    "standard_normal": "size dtype out", "uniform": "low high size", "multivariate_normal": "size check_valid method",
}  # fmt: skip

LEFT_OUT = {"bit_generator", "get_state"}


def _methods(kind: str) -> list[str]:
    theirs, ours = getattr(numpy.random, kind), getattr(np.random, kind)
    return sorted(name for name in {*dir(theirs), *dir(ours)} if not name.startswith("_") and name not in LEFT_OUT)


def _next_numbers(source: Any) -> list[Any]:
    """What a source draws next from everything that it draws from: blocks, keys, and NumPy's generator."""
    kinds = source.random, source.normal, source.exponential, source.gumbel, lambda: source.poisson(3.0)
    return [*(float(draw()) for draw in kinds), source.uniform(size=70).tolist(), source.permutation(5).tolist()]


def _wrong_draw(draw: random.Random, name: str) -> tuple[list[Any], dict[str, Any]]:
    arguments = [draw.choice(WRONG)() for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 4]))]
    keywords = KEYWORDS.get(name, "size").split()
    return arguments, {keyword: draw.choice(WRONG)() for keyword in keywords if draw.random() < 0.25}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy, about covariances and deprecated names
        yield


@pytest.mark.parametrize("kind", ["Generator", "RandomState"])
def test_a_wrong_draw_leaves_the_stream_as_it_was(kind: str) -> None:
    names, refused = _methods(kind), 0
    for number in range(CALLS):
        draw = random.Random(f"{kind} {number}")
        name = names[number % len(names)]
        source, twin = (getattr(np.random, kind)(5) for _ in range(2))
        for each in (source, twin) if draw.random() < 0.5 else ():
            _next_numbers(each)
        arguments, keywords = _wrong_draw(draw, name)
        try:
            getattr(source, name)(*arguments, **keywords)
        except Exception as error:
            refused += 1
            told = f"{kind} {number}: {name}(*{arguments}, **{keywords}) raises {error!r}"
            assert _next_numbers(source) == _next_numbers(twin), told
    assert refused > CALLS // 2  # else too many calls are valid


def test_a_draw_of_a_generator_that_fails_leaves_its_key() -> None:
    known = [subject for name, subject in wrong_calls.subjects().items() if name.startswith("tb.random.")]
    generator, refused = tb.random.generator(0), 0
    for number in range(CALLS):
        subject = known[number % len(known)]
        call = wrong_calls.wrong_call(random.Random(number), subject, "numpy")
        before = generator.key
        try:
            generator.draw(subject.function, *call.arguments[1:], **call.keywords)
        except (tb.errors.TensorBackendError, TypeError):
            refused += 1
            assert generator.key is before, f"{number}: {subject.name}"
        else:
            assert generator.key is not before
    assert refused > CALLS // 4


def test_a_wrong_call_leaves_its_tensors_and_the_settings_as_they_were() -> None:
    """Also an assignment that fails: half of it is not written."""
    known = [subject for name, subject in wrong_calls.subjects().items() if name.startswith(("x[", "Tensor.", "oper"))]
    known = [subject for subject in known if "deallocate" not in subject.name and "transfer" not in subject.name]
    for number in range(CALLS):
        subject = known[number % len(known)]
        call = wrong_calls.wrong_call(random.Random(number), subject, "numpy")
        tensors = [each for each in call.arguments if isinstance(each, tb.Tensor) and not each.deallocated]
        before = [copy.deepcopy(each) for each in tensors]
        try:
            subject.function(*call.arguments, **call.keywords)
        except Exception:
            assert tb.get_backend().name == "numpy"
            assert tb.get_precision() == 32
            for tensor, copied in zip(tensors, before, strict=True):
                tb.testing.assert_equal(tensor, copied)


def _in_threads(draw: Callable[[], Any], count: int) -> list[Any]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # threads alternate in the middle of every step
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(lambda _: draw(), range(count)))
    finally:
        sys.setswitchinterval(interval)


def test_no_key_and_no_number_is_drawn_twice_by_threads() -> None:
    keys, source = tb.random.generator(0), np.random.default_rng(0)
    draws: dict[str, tuple[Callable[[], Any], int]] = {
        "next_key": (lambda: tuple(keys.next_key().tolist()), 800),
        "draw": (lambda: keys.draw(tb.random.bits, (), "u64").item(), 400),
        "random(5000)": (lambda: source.random(5000).tolist(), 40),
        "random(3)": (lambda: source.random(3).tolist(), 800),
        "normal of the module": (np.random.normal, 4000),
        "integers": (lambda: source.integers(2**62), 400),
        "beta, by NumPy": (lambda: source.beta(2.0, 3.0), 800),
        "spawned": (lambda: source.spawn(1)[0].random(), 80),
    }
    for name, (draw, count) in draws.items():
        drawn = [number for each in _in_threads(draw, count) for number in (each if isinstance(each, list) else [each])]
        assert len(set(drawn)) == len(drawn), name


def test_the_first_draws_of_a_new_stream_differ_among_threads() -> None:
    for _ in range(20):
        source = np.random.default_rng(3)
        for draw in (source.random, source.gumbel, lambda source=source: source.beta(2.0, 3.0)):
            drawn = _in_threads(draw, THREADS)
            assert len(set(drawn)) == THREADS
