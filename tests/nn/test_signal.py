"""Short-time Fourier transforms against NumPy's with SciPy's windows, their inverse, and mel filters."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.signal

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, DTypeError, ShapeError

X = tb.random.normal(tb.random.key(0), (2, 200), names=("batch", "time"))


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
@pytest.mark.parametrize("window", ["hann", "hamming", "blackman"])
def test_spectra_of_frames(window: Any, backend: str, whole: Callable[..., Any]) -> None:
    stft = partial(tb.nn.stft, frame_length=32, frame_step=12, fft_length=40, window=window, name="frequency")
    spectra = whole(stft)(X.backend_copy(backend))
    assert spectra.names == ("batch", "time", "frequency")
    starts = range(0, 200 - 31, 12)
    frames = np.stack([np.asarray(X)[:, start : start + 32] for start in starts], axis=1)
    weights = scipy.signal.get_window(window, 32)
    assert np.allclose(spectra, np.fft.rfft(frames * weights, n=40), atol=1e-4)


def test_the_axis_may_stand_anywhere() -> None:
    options: dict[str, Any] = {"frame_length": 20, "frame_step": 5}
    turned = tb.nn.stft(tb.permute_dims(X), axis="time", name="f", **options)
    assert turned.names == ("time", "f", "batch")
    assert tb.all_close(tb.permute_dims(turned, ("batch", "time", "f")), tb.nn.stft(X, **options), atol=1e-5)
    back = tb.nn.istft(turned, axis="time", **options)
    assert back.names == ("time", "batch")
    assert tb.all_close(tb.permute_dims(back)[:, 20:-20], X[:, 20:-20], atol=1e-4)


@pytest.mark.parametrize("backend", ["binary", "numpy", "jax"])
def test_the_way_back(backend: str, whole: Callable[..., Any]) -> None:
    options: dict[str, Any] = {"frame_length": 32, "frame_step": 8, "fft_length": 64, "window": "hamming"}

    @whole
    def results(x: tb.Tensor) -> tuple[tb.Tensor, ...]:
        spectra = tb.nn.stft(x, **options)
        return tuple(tb.nn.istft(spectra, size=size, **options) for size in (None, 210, 100))

    again, longer, shorter = results(X.backend_copy(backend))
    assert again.names == ("batch", "time")
    assert again.shape == (2, 200)
    assert np.allclose(np.asarray(again), np.asarray(X), atol=1e-4)
    assert longer.shape == (2, 210)
    assert shorter.shape == (2, 100)


def test_gradients_flow_both_ways() -> None:
    options: dict[str, Any] = {"frame_length": 32, "frame_step": 8, "window": "hamming"}

    def loss(x: tb.Tensor) -> tb.Tensor:
        return tb.sum(tb.nn.istft(tb.nn.stft(x, **options), **options) ** 2)

    assert tb.all_close(tb.jit(tb.grad(loss))(X), 2 * X, atol=1e-3)


def by_hand(slaney: bool) -> Any:
    """Return two mel filters at 0, 1000, 2000, 3000 and 4000 Hz."""
    if slaney:
        step = np.log(6.4) / 27
        mels = np.linspace(0, 15 + np.log(4) / step, 4)
        edges = np.where(mels < 15, mels * 200 / 3, 1000 * np.exp(step * (mels - 15)))
    else:
        edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + 4000 / 700), 4) / 2595) - 1)
    filters = np.zeros((5, 2))
    for place, hertz in enumerate(np.linspace(0, 4000, 5)):
        for number, (left, centre, right) in enumerate(zip(edges[:-2], edges[1:-1], edges[2:], strict=True)):
            height = 2 / (right - left) if slaney else 1
            filters[place, number] = height * max(
                0, min((hertz - left) / (centre - left), (right - hertz) / (right - centre))
            )
    return filters


@pytest.mark.parametrize("slaney", [False, True])
def test_mel_filters(slaney: bool) -> None:
    filters = tb.nn.mel_filters(5, 2, sample_rate=8000, slaney=slaney, names=("frequency", "mel"))
    assert filters.names == ("frequency", "mel")
    assert np.allclose(filters, by_hand(slaney), atol=1e-6)


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: tb.nn.stft(X, frame_length=300, frame_step=1),
        ShapeError,
        "stft: expected a signal of at least 300 elements",
    ),
    (
        lambda: tb.nn.stft(X, frame_length=8, frame_step=0),
        ArgumentError,
        "stft: expected frames and steps of at least 1",
    ),
    (
        lambda: tb.nn.stft(X, frame_length=8, frame_step=1, fft_length=4),
        ArgumentError,
        "stft: expected a transform of at least 8",
    ),
    (lambda: tb.nn.stft(X, frame_length=8, frame_step=1, window=tb.ones(7)), ShapeError, "stft: expected a window of"),
    (lambda: tb.nn.istft(X, frame_length=8, frame_step=1), DTypeError, "istft: expected a complex dtype"),
    (lambda: tb.nn.istft(X * 1j, frame_length=8, frame_step=1), ShapeError, "istft: expected 5 frequencies"),
    (
        lambda: tb.nn.mel_filters(5, 2, sample_rate=8000, highest=5000),
        ArgumentError,
        "mel_filters: expected at least two",
    ),
]


@pytest.mark.parametrize(("wrong", "error", "text"), WRONG)
def test_what_does_not_fit(wrong: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        wrong()
