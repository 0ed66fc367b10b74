"""SciPy's compiled functions by an adapter: values are SciPy's, and gradients those of differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import fft, integrate, linalg, ndimage, signal

import tensorbackend as tb
import tensorbackend.numpy as tnp
from clients.adapters import scipy_tensorbackend

Function = Callable[[Any], Any]
GENERATOR = np.random.default_rng(0)
ROW, ROWS = GENERATOR.uniform(0.5, 1.5, 13), GENERATOR.uniform(0.5, 1.5, (3, 12))
SQUARE = GENERATOR.uniform(0.5, 1.5, (4, 4)) + 2 * np.eye(4)
SECTIONS = signal.butter(4, 0.3, output="sos")
TRANSFORMS = [(kind, norm) for kind in (2, 3) for norm in (None, "ortho", "forward")]
MODES = ("reflect", "mirror", "nearest", "wrap", "constant")

CASES: list[tuple[Function, Any]] = [
    *((lambda x, kind=kind, norm=norm: fft.dct(x, kind, norm=norm), ROWS) for kind, norm in TRANSFORMS),
    *((lambda x, kind=kind, norm=norm: fft.idct(x, kind, norm=norm, axis=0), ROWS) for kind, norm in TRANSFORMS),
    (lambda x: signal.lfilter([1.0, 0.5, -0.2], [2.0, 0.3], x), ROWS),
    (lambda x: signal.lfilter([1.0, 0.5], [1.0, 0.3, 0.1, 0.05], x, axis=0), ROWS),
    (lambda x: signal.lfilter([0.5], [2.0], x), ROW),
    (lambda x: signal.lfilter(x[:3], [1.0], x), ROW),
    (lambda x: signal.sosfilt(SECTIONS, x), ROWS),
    *((lambda x, mode=mode: signal.convolve(x, x[:4], mode), ROW) for mode in ("full", "same", "valid")),
    (lambda x: signal.detrend(x, axis=0), ROWS),
    (lambda x: signal.detrend(x, type="constant"), ROWS),
    *((lambda x, mode=mode: signal.savgol_filter(x, 5, 2, mode=mode), ROWS) for mode in ("interp", "mirror")),
    (lambda x: signal.savgol_filter(x, 7, 3, deriv=1, delta=0.5), ROW),
    *((lambda x, mode=mode: ndimage.gaussian_filter(x, [1.0, 0.7], mode=mode, cval=0.3), ROWS) for mode in MODES),
    *((lambda x, mode=mode: ndimage.uniform_filter(x, 4, mode=mode), ROWS) for mode in MODES),
    (lambda x: ndimage.gaussian_filter1d(x, 2.5), ROW),
    *((lambda x, at=at: ndimage.correlate1d(x, [1.0, 2.0, 4.0, 0.5], origin=at), ROW) for at in (-1, 0, 1)),
    *((lambda x, at=at: ndimage.convolve1d(x, [1.0, 2.0, 4.0, 0.5], origin=at), ROW) for at in (-1, 0, 1)),
    (lambda x: ndimage.convolve1d(x, [1.0, 2.0, 4.0], axis=0), ROWS),
    *((lambda x, size=size: integrate.simpson(x[:size], dx=0.5), ROW) for size in (1, 2, 3, 4, 12, 13)),
    (lambda x: integrate.simpson(x, x=np.linspace(0, 2, 12) ** 2), ROWS),
    (lambda x: integrate.simpson(x, axis=0), ROWS),
    (lambda x: linalg.inv(x), SQUARE),
    (lambda x: linalg.det(x), SQUARE),
    (lambda x: linalg.expm(x), SQUARE / 4),
    (lambda x: linalg.solve(x, x[:, 0]), SQUARE),
    (lambda x: linalg.cholesky(x @ x.T, lower=True), SQUARE),
    (lambda x: linalg.cholesky(x @ x.T), SQUARE),
    (lambda x: linalg.svdvals(x), ROWS),
    (lambda x: linalg.pinv(x), ROWS),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def adapter() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, functions in scipy_tensorbackend.FUNCTIONS.items():
            for ours in functions:
                module = import_module(name)
                patch.setattr(module, ours.__name__, getattr(module, ours.__name__))
        scipy_tensorbackend.install()
        yield


@pytest.mark.client("scipy")
@pytest.mark.parametrize("kind", [tb.asarray, tnp.asarray], ids=["tensor", "array"])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_scipys_values_and_gradients(case: int, kind: Function, backend: str) -> None:
    """Compiled functions of `scipy.fft`, `integrate`, `linalg`, `ndimage` and `signal` by an adapter, and gradients."""
    f, x = CASES[case]

    def square(x: Any) -> Any:
        return (f(x) ** 2).sum()

    with tb.default_backend(backend):
        value, slope = tb.value_and_grad(square)(kind(x))
        if not isinstance(f(kind(x)), float):  # a result without axes of the NumPy namespace is a number
            assert type(f(kind(x))) is type(kind(x))
        np.testing.assert_allclose(np.asarray(f(kind(x))), f(x), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(np.asarray(tb.jit(f)(kind(x))), f(x), rtol=1e-9, atol=1e-12)
        narrow = x.astype("f4")
        if f(x).ndim:  # SciPy's simpson of an even number of float32 is float64
            assert np.asarray(f(kind(narrow))).dtype == f(narrow).dtype
    assert float(value) == pytest.approx(float(square(x)), rel=1e-9)
    direction = np.random.default_rng(case).standard_normal(x.shape)
    difference = (square(x + 1e-6 * direction) - square(x - 1e-6 * direction)) / 2e-6
    assert float((np.asarray(slope) * direction).sum()) == pytest.approx(float(difference), rel=1e-6, abs=1e-6)


@pytest.mark.client("scipy")
def test_integers_beside_an_array() -> None:
    """Compiled functions of `scipy.fft`, `integrate`, `linalg`, `ndimage` and `signal` by an adapter, and gradients."""
    b, x = np.asarray([3, 1]), tnp.asarray(ROW)
    for got, expected in (
        (signal.lfilter(b, [7], x), signal.lfilter(b, [7], ROW)),
        (ndimage.convolve1d(x, b), ndimage.convolve1d(ROW, b)),
        (integrate.simpson(x, x=np.arange(13) ** 2), integrate.simpson(ROW, x=np.arange(13) ** 2)),
        (linalg.solve(np.diag([3, 7]), x[:2]), linalg.solve(np.diag([3, 7]), ROW[:2])),
    ):
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-12)


@pytest.mark.client("scipy")
def test_what_is_not_ours_goes_to_scipy() -> None:
    """Compiled functions of `scipy.fft`, `integrate`, `linalg`, `ndimage` and `signal` by an adapter, and gradients."""
    x = np.arange(6.0)
    assert type(fft.dct(x)) is np.ndarray
    assert fft.dct(tnp.asarray(x), 1) == pytest.approx(fft.dct(x, 1))  # a type that ours do not have
    assert ndimage.uniform_filter1d(tnp.asarray([1, 5, 2]), 2).tolist() == [1, 3, 3]  # integers stay integers
    with pytest.raises(tb.errors.TemplateDataError):
        tb.grad(lambda x: tb.sum(fft.dct(x, 1)))(tb.asarray(x))


UNUSUAL = [GENERATOR.normal(size=size) for size in (0, 1, 2, (0, 5), (3, 0))]
UNUSUAL += [GENERATOR.normal(size=9).astype(dtype) for dtype in ("f2", "c16")] + [np.arange(9), np.arange(9) > 4]
ALONG: list[Function] = [
    lambda x: fft.dct(x),
    lambda x: fft.idct(x, 3),
    lambda x: signal.lfilter([1.0, 0.5], [1.0, 0.3], x),
    lambda x: signal.detrend(x),
    lambda x: ndimage.gaussian_filter(x, 1.0),
    lambda x: ndimage.uniform_filter1d(x, 9, mode="wrap"),
    lambda x: integrate.simpson(x),
]


@pytest.mark.client("scipy")
@pytest.mark.parametrize("f", ALONG)
def test_unusual_operands(f: Function) -> None:
    """Compiled functions of `scipy.fft`, `integrate`, `linalg`, `ndimage` and `signal` by an adapter, and gradients."""
    for x in UNUSUAL:
        try:
            expected = f(x)
        except (IndexError, RuntimeError, ValueError) as error:
            with pytest.raises(type(error)):
                f(tnp.asarray(x))
        else:
            np.testing.assert_allclose(np.asarray(f(tnp.asarray(x))), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.client("scipy")
def test_a_nan_stays_in_the_window_of_a_filter() -> None:
    """Compiled functions of `scipy.fft`, `integrate`, `linalg`, `ndimage` and `signal` by an adapter, and gradients."""
    x = np.where(np.arange(9) == 4, np.nan, ROW[:9])
    filters: list[Function] = [
        lambda x: signal.lfilter([1.0, 0.5, 0.2], [2.0], x),
        lambda x: ndimage.gaussian_filter1d(x, 0.5),
    ]
    for f in filters:
        np.testing.assert_allclose(np.asarray(f(tnp.asarray(x))), f(x), rtol=1e-9)


@pytest.mark.client("scipy")
@pytest.mark.parametrize("case", range(len(CASES)))
def test_results_are_on_the_backend_of_the_operand(case: int, backend: str) -> None:
    """Compiled functions of `scipy.fft`, `integrate`, `linalg`, `ndimage` and `signal` by an adapter, and gradients."""
    f, x = CASES[case]
    with tb.default_backend("jax" if backend == "numpy" else "numpy"):
        assert f(tb.asarray(x, backend=backend)).backend.name == backend


OTHERS: list[tuple[Function, Any]] = [
    (lambda b: signal.lfilter(b, [1.0, 0.3], ROW), np.asarray([1.0, 0.5])),
    (lambda a: signal.lfilter([1.0, 0.5], a, ROW), np.asarray([1.0, 0.3])),
    (lambda w: ndimage.convolve1d(ROW, w), np.asarray([1.0, 0.5, 0.2])),
    (lambda x: integrate.simpson(ROW, x=x), np.arange(13.0) ** 1.5),
    (lambda b: linalg.solve(SQUARE, b), ROW[:4]),
]


@pytest.mark.client("scipy")
@pytest.mark.parametrize("case", range(len(OTHERS)))
def test_gradients_by_other_operands(case: int, backend: str) -> None:
    """Compiled functions of `scipy.fft`, `integrate`, `linalg`, `ndimage` and `signal` by an adapter, and gradients."""
    f, x = OTHERS[case]
    direction = np.random.default_rng(0).standard_normal(x.shape)
    difference = ((f(x + 1e-6 * direction) ** 2).sum() - (f(x - 1e-6 * direction) ** 2).sum()) / 2e-6
    slope = tb.grad(lambda x: (f(x) ** 2).sum())(tb.asarray(x, backend=backend))
    assert float((np.asarray(slope) * direction).sum()) == pytest.approx(float(difference), rel=1e-5)


@pytest.mark.client("scipy")
def test_install_twice() -> None:
    """Compiled functions of `scipy.fft`, `integrate`, `linalg`, `ndimage` and `signal` by an adapter, and gradients."""
    before = fft.dct
    scipy_tensorbackend.install()
    assert fft.dct is before
