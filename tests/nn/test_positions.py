"""Sinusoidal positions, rotary embeddings and the relative shift of scores."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, ShapeError

BACKENDS = ["binary", "numpy", "jax"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_sinusoids(backend: str, whole: Callable[..., Any]) -> None:
    sinusoids = whole(lambda positions: tb.nn.sinusoidal_positions(positions, 6, name="feature"))
    encodings = sinusoids(tb.arange(9, name="time").backend_copy(backend))
    angles = np.arange(9)[:, None] / 10000 ** (np.arange(3) / 3)
    assert encodings.names == ("time", "feature")
    assert np.allclose(encodings, np.concatenate([np.sin(angles), np.cos(angles)], axis=1), atol=1e-5)
    paper = tb.nn.sinusoidal_positions(tb.arange(9), 6, interleaved=True)
    assert np.allclose(np.asarray(paper)[:, ::2], np.sin(angles), atol=1e-5)
    assert np.allclose(np.asarray(paper)[:, 1::2], np.cos(angles), atol=1e-5)
    with pytest.raises(ShapeError, match="sinusoidal_positions: expected an even number"):
        tb.nn.sinusoidal_positions(tb.arange(9), 5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("interleaved", [False, True])
def test_products_of_rotated_vectors_depend_on_the_distance(
    interleaved: bool, backend: str, whole: Callable[..., Any]
) -> None:
    drawn = tb.random.normal(tb.random.key(0), (2, 1, 8))
    x = tb.broadcast_to(drawn, (2, 6, 8), names=("pair", "time", "unit")).backend_copy(backend)

    @whole
    def results(x: tb.Tensor, places: tb.Tensor) -> tuple[tb.Tensor, ...]:
        rotary = partial(tb.nn.rotary, interleaved=interleaved)
        return rotary(x), rotary(x[:, 3:], places), rotary(tb.permute_dims(x), time="time", axis="unit")

    rotated = results(x, tb.arange(3, 6).backend_copy(backend))
    turned, late, first = (y.backend_copy("numpy") for y in rotated)  # on NumPy, comparing compiles nothing
    assert turned.names == x.names
    products = np.asarray(turned[0] @ turned[1].rename(None, None).mT)
    for distance in range(-5, 6):
        diagonal = np.diagonal(products, distance)
        assert np.allclose(diagonal, diagonal[0], atol=1e-4)
    assert not np.allclose(products, products[0, 0], atol=1e-2)
    assert tb.all_close(late, turned[:, 3:], atol=1e-5)
    assert tb.all_close(tb.permute_dims(first), turned, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_whole_positions_are_as_exact_as_the_result(backend: str, whole: Callable[..., Any]) -> None:
    angles = np.arange(9)[:, None] / 10000 ** (np.arange(2) / 2)
    exact = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    ones = tb.asarray(np.tile([1.0, 1.0, 0.0, 0.0], (9, 1)), backend=backend)
    assert ones.dtype is tb.float64
    places = tb.arange(9, backend=backend)

    @whole
    def results(ones: tb.Tensor, places: tb.Tensor) -> tuple[tb.Tensor, ...]:
        encodings = tb.nn.sinusoidal_positions(places, 4, dtype="float64")
        return tb.nn.rotary(ones), tb.nn.rotary(ones, places), encodings

    *rotated, encodings = results(ones, places)
    for turned in rotated:
        assert np.allclose(turned, exact, rtol=0, atol=1e-14)
    assert np.allclose(encodings, np.roll(exact, 2, axis=1), rtol=0, atol=1e-14)


def test_rotary_by_hand_and_wrong() -> None:
    x = np.asarray(tb.random.normal(tb.random.key(0), (3, 4)))
    angles = np.arange(3)[:, None] * np.array([1.0, 0.01])
    whole = (x[:, :2] + 1j * x[:, 2:]) * np.exp(1j * angles)
    assert np.allclose(tb.nn.rotary(tb.asarray(x)), np.concatenate([whole.real, whole.imag], axis=1), atol=1e-6)
    pairs = (x[:, ::2] + 1j * x[:, 1::2]) * np.exp(1j * angles)
    reference = np.stack([pairs.real, pairs.imag], axis=-1).reshape(3, 4)
    assert np.allclose(tb.nn.rotary(tb.asarray(x), interleaved=True), reference, atol=1e-6)
    with pytest.raises(ShapeError, match="rotary: expected steps, and an even number of features"):
        tb.nn.rotary(tb.ones((3, 5)))
    for base in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ArgumentError, match="rotary: expected a finite base above 0"):
            tb.nn.rotary(tb.ones((3, 4)), base=base)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("queries", "keys"), [(3, 3), (2, 4), (4, 2), (1, 1)])
def test_relative_shift(queries: int, keys: int, backend: str, whole: Callable[..., Any]) -> None:
    scores = tb.random.normal(tb.random.key(0), (2, queries, queries + keys - 1), names=("head", "time", None))
    shifted = whole(tb.nn.relative_shift)(scores.backend_copy(backend))
    assert shifted.names == scores.names
    by_key, by_distance = np.asarray(shifted), np.asarray(scores)
    assert by_key.shape == (2, queries, keys)
    for i in range(queries):
        for j in range(keys):
            assert np.array_equal(by_key[:, i, j], by_distance[:, i, j - i + queries - 1])
    with pytest.raises(ShapeError, match="relative_shift: expected axes of queries and distances"):
        tb.nn.relative_shift(tb.ones((3, 2)))
