"""Fourier transforms on each backend, compared with examples, NumPy's functions and exact sums."""

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
import scipy.fft

import tensorbackend as tb
from tensorbackend.backends.binary.fourier import root, transform
from tensorbackend.errors import ArgumentError, AxisError, DTypeError, ShapeError, TensorBackendError

BACKENDS = ["binary", "numpy"]
NORMS: list[Any] = ["backward", "ortho", "forward"]
RANDOM = np.random.default_rng(0)


def signal(shape: tuple[int, ...], dtype: str = "complex128") -> np.ndarray[Any, Any]:
    """Return normal random numbers, complex ones for a complex dtype."""
    values = RANDOM.standard_normal(shape)
    return (values + 1j * RANDOM.standard_normal(shape) if dtype.startswith("c") else values).astype(dtype)


def exact(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the transform by its definition; each sum rounds once, apart from the errors of the roots."""
    length = len(values)
    roots = np.array([root(k, length) for k in range(length)])
    coefficients = []
    for k in range(length):
        terms = values * roots[k * np.arange(length) % length]
        coefficients.append(complex(math.fsum(terms.real), math.fsum(terms.imag)))
    return np.array(coefficients)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 12, 31, 37, 49, 64, 97, 101, 121, 210, 256, 37 * 41, 1369])
def test_every_length_is_accurate(length: int) -> None:
    values = signal((length,))
    coefficients = np.array(transform(list(values)))
    # The error grows with the logarithm of the length. Bluestein's algorithm takes two transforms, four times as long.
    bound = 2 * (2 + math.log2(length)) * np.finfo(float).eps
    assert np.linalg.norm(coefficients - exact(values)) <= bound * np.linalg.norm(coefficients)


def test_roots_are_exact_where_they_can_be() -> None:
    assert [root(k, 4) for k in range(4)] == [1, -1j, -1, 1j]
    assert root(1, 8) == complex(math.sqrt(0.5), -math.sqrt(0.5))
    for k in range(24):
        assert abs(root(k, 24)) == pytest.approx(1, rel=3e-16)
        assert root(k, 24) == root(24 - k, 24).conjugate()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*product(["fft", "ifft", "irfft", "hfft"], ["float32", "float64", "complex64", "complex128"]),
     *product(["rfft", "ihfft"], ["float32", "float64"])],
)  # fmt: skip
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_axis_is_numpys(backend: str, dtype: str, norm: Any, name: str) -> None:
    values = signal((3, 7, 2), dtype)
    x = tb.tensor(values, names=("a", "t", "b"), backend=backend)
    for n in (None, 5, 6, 9):
        reference = getattr(np.fft, name)(values, n=n, axis=1, norm=norm)
        transformed = getattr(tb.fft, name)(x, n=n, axis="t", norm=norm)
        assert transformed.names == x.names
        assert np.asarray(transformed).dtype == reference.dtype
        np.testing.assert_allclose(
            np.asarray(transformed), reference, rtol=0, atol=20 * np.finfo(dtype).eps * abs(reference).max()
        )


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_several_axes_are_numpys(backend: str, name: str) -> None:
    values = signal((3, 4, 5), "float64" if name == "rfftn" else "complex128")
    x = tb.tensor(values, names=("a", "b", "c"), backend=backend)
    for axes, s, norm in product([None, (0, 1), (2, 0), (1,)], [None, (6, 2)], NORMS):
        if s is not None and (axes is None or len(axes) != 2):
            continue
        reference = getattr(np.fft, name)(values, s=s, axes=axes, norm=norm)
        named = axes if axes is None else tuple(x.names[axis] for axis in axes)
        transformed = getattr(tb.fft, name)(x, s=s, axes=named, norm=norm)
        np.testing.assert_allclose(np.asarray(transformed), reference, rtol=1e-12, atol=1e-13)
        assert (
            getattr(tb.fft, name)(tb.template(x.shape, x.dtype, x.names), s=s, axes=axes).template
            is transformed.template
        )


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 0, (1,), (1, 0), "b"])
def test_shifts_are_numpys(name: str, axes: Any) -> None:
    values = np.arange(15).reshape(3, 5)
    for backend in BACKENDS:
        x = tb.tensor(values, names=("a", "b"), backend=backend)
        shifted = getattr(tb.fft, name)(x, axes=axes)
        assert shifted.tolist() == getattr(np.fft, name)(values, 1 if axes == "b" else axes).tolist()
        assert shifted.names == x.names


@pytest.mark.parametrize("backend", BACKENDS)
def test_frequencies_are_numpys(backend: str) -> None:
    for n, d in product(range(1, 9), [1.0, 0.25, 3.0]):
        for name in ("fftfreq", "rfftfreq"):
            frequencies = getattr(tb.fft, name)(n, d=d, dtype="float64", name="f", backend=backend)
            # NumPy multiplies by 1 / (n * d), which rounds once more.
            np.testing.assert_allclose(frequencies.tolist(), getattr(np.fft, name)(n, d), rtol=3e-16)
            assert frequencies.names == ("f",)
    assert tb.fft.fftfreq(5, backend=backend).dtype is tb.float32
    assert tb.fft.fftfreq(5, dtype="bf16", backend=backend).dtype is tb.bfloat16


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("dtype", "out"),
    [("bool", "complex64"), ("int8", "complex64"), ("uint64", "complex64"), ("float16", "complex64"),
     ("bfloat16", "complex64"), ("float64", "complex128")],
)  # fmt: skip
def test_dtypes(backend: str, dtype: str, out: str) -> None:
    x = tb.full((4,), True, dtype=dtype, backend=backend)
    assert tb.fft.fft(x).dtype is tb.fft.rfftn(x).dtype is tb.fft.fftn(x).dtype is getattr(tb, out)
    assert tb.fft.fft(x).tolist() == [4, 0, 0, 0]
    assert tb.fft.fftn(x, axes=()).tolist() == [1, 1, 1, 1]
    assert tb.fft.irfft(x[:3]).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_axes(backend: str) -> None:
    x = tb.zeros((0, 4), backend=backend)
    assert tb.fft.fft(x).shape == (0, 4)
    assert tb.fft.fft(x, axis=0, n=2).tolist() == [[0j] * 4] * 2
    assert tb.fft.irfft(x, axis=0, n=3).tolist() == [[0.0] * 4] * 3
    assert tb.fft.irfft(x).shape == (0, 6)


@pytest.mark.parametrize("backend", [*BACKENDS, "template"])
def test_mistakes(backend: str) -> None:
    x = tb.template((3, 4), "c64") if backend == "template" else tb.zeros((3, 4), dtype="c64", backend=backend)
    real = tb.fft.fftfreq(4, backend=backend)
    mistakes: list[tuple[Any, type[TensorBackendError], str]] = [
        (lambda: tb.fft.fft(x, norm="unitary"),  # type: ignore[arg-type]
         ArgumentError, "fft: expected norm to be 'backward', 'ortho' or 'forward', got norm='unitary'"),
        (lambda: tb.fft.ifft(x, n=0), ShapeError,
         "ifft: expected a transform of at least one element, got length=0; pass a length of at least 1"),
        (lambda: tb.fft.fft(x[:, :0]), ShapeError, "at least one element"),
        (lambda: tb.fft.irfft(x[:, :1]), ShapeError, "irfft: expected a transform of at least one"),
        (lambda: tb.fft.fft(x, axis="t"), AxisError, "an axis name of"),
        (lambda: tb.fft.rfft(x), DTypeError, "rfft: expected a real or bool dtype, got dtype=complex64; take real"),
        (lambda: tb.fft.rfftn(x), DTypeError, "rfftn: expected a real or bool dtype"),
        (lambda: tb.fft.ihfft(x), DTypeError, "real or bool dtype"),
        (lambda: tb.fft.fftn(x, s=(2, 2)), ArgumentError, "fftn: expected axes together with s"),
        (lambda: tb.fft.fftn(x, s=(2,), axes=(0, 1)), ArgumentError, "one length in s for each axis"),
        (lambda: tb.fft.fftn(x, axes=(0, -2)), AxisError, "once"),
        (lambda: tb.fft.irfftn(x, axes=()), ArgumentError, "irfftn: expected at least one axis"),
        (lambda: tb.fft.hfft(real, norm="x"), ArgumentError, "hfft: expected norm to be"),  # type: ignore[arg-type]
        (lambda: tb.fft.fftfreq(0, backend=backend), ShapeError, "at least one element"),
        (lambda: tb.fft.rfftfreq(4, dtype="int32", backend=backend), DTypeError, "a floating dtype"),
    ]  # fmt: skip
    for mistake, error, text in mistakes:
        with pytest.raises(error) as raised:
            mistake()
        assert text in str(raised.value)


def test_round_trips() -> None:
    values = signal((5, 6), "float64")
    for backend in BACKENDS:
        x = tb.tensor(values, backend=backend)
        for norm in NORMS:
            for back in (
                tb.fft.irfft(tb.fft.rfft(x, norm=norm), n=6, norm=norm),
                tb.fft.hfft(tb.fft.ihfft(x, norm=norm), n=6, norm=norm),
                tb.real(tb.fft.ifftn(tb.fft.fftn(x, norm=norm), norm=norm)),
            ):
                np.testing.assert_allclose(np.asarray(back), values, atol=1e-14)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_cosine_transforms(kind: Any, norm: Any) -> None:
    values = signal((2, 7, 3), "float64")
    x = tb.asarray(values, names=("batch", "time", "channel"))
    turned = tb.jit(lambda x: tb.fft.dct(x, type=kind, axis="time", norm=norm))(x)
    assert turned.names == x.names
    assert np.allclose(np.asarray(turned), scipy.fft.dct(values, kind, axis=1, norm=norm))
    assert np.allclose(np.asarray(tb.fft.idct(turned, type=kind, axis=1, norm=norm)), values)
    # The transform is linear, so its pullback is the transpose of its matrix.
    (back,) = tb.vjp(lambda x: tb.fft.dct(x, type=kind, axis=1, norm=norm), x)[1](x)
    matrix = scipy.fft.dct(np.eye(7), kind, axis=0, norm=norm)
    assert np.allclose(np.asarray(back), np.einsum("ki,bkc->bic", matrix, values))


def test_errors_of_cosine_transforms() -> None:
    x, five = tb.template((4,), "f32"), cast(Any, 5)
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: tb.fft.dct(x, type=five), ArgumentError, "dct: expected type to be 1, 2, 3 or 4, got type=5"),
        (lambda: tb.fft.idct(x, type=1, n=1), ShapeError, "idct: expected at least two samples for type 1"),
        (lambda: tb.fft.dct(tb.template((4,), "c64")), DTypeError, "dct: expected a real or bool dtype"),
    ]
    for wrong, error, text in cases:
        with pytest.raises(error, match=re.escape(text)):
            wrong()
