"""Oracles of Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import scipy.fft
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import DType
from tensorbackend.protocol import Backend
from tensorbackend.testing import Invocation, calls
from tensorbackend.testing.strategies import Draw

from .reduction import Axes, axes_of
from .table import FLOATING, Recorder, compare, law, reference

HOST = {"device": "the host is the only device that all backends have"}


def transform_call(name: str) -> Any:
    """The kit's calls, at all magnitudes: a transform of numbers times a power of two is that many times the result."""

    def draw_call(draw: Draw, dtype: DType) -> Invocation:
        call: Invocation = draw(calls(name, dtype))
        (x,) = call.arguments
        far = {"float32": 90, "bfloat16": 90, "complex64": 90}.get(dtype.name, 900 if dtype.bits >= 64 else 0)
        if not dtype.is_inexact or not far or draw(st.booleans()):
            return call
        factor = 2.0 ** draw(st.sampled_from([far, -far, far // 4]))
        array = numpy.asarray(x).astype("c16" if dtype.is_complex else "f8") * factor
        return call._replace(arguments=(tb.asarray(array, dtype=dtype, names=x.names, backend="binary"),))

    return draw_call


@reference("fft.fft", by="NumPy", draw=transform_call("fft"))
def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    return numpy.fft.fft(x, n, axis, norm)


@reference("fft.ifft", by="NumPy", draw=transform_call("ifft"))
def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    return numpy.fft.ifft(x, n, axis, norm)


@reference("fft.rfft", by="NumPy", draw=transform_call("rfft"))
def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    return numpy.fft.rfft(x, n, axis, norm)


def not_empty(x: Any, axis: int) -> Any:
    """x, with one zero along an empty axis, of which NumPy's transforms to real numbers leave memory as it was."""
    return x if x.shape[axis] else numpy.zeros([size or 1 if at == axis % x.ndim else size
                                               for at, size in enumerate(x.shape)])  # fmt: skip


@reference("fft.irfft", by="NumPy", draw=transform_call("irfft"))
def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    return numpy.fft.irfft(not_empty(x, axis), n, axis, norm)


@reference("fft.hfft", by="NumPy", draw=transform_call("hfft"))
def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    return numpy.fft.hfft(not_empty(x, axis), n, axis, norm)


@reference("fft.ihfft", by="NumPy", draw=transform_call("ihfft"))
def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    return numpy.fft.ihfft(x, n, axis, norm)


def along(x: Any, s: Sequence[int] | None, axes: Sequence[int] | None) -> tuple[list[int], list[int]]:
    """The axes of a transform, all by default, and its length along each."""
    order = list(range(x.ndim)) if axes is None else list(axes)
    return order, [x.shape[axis] for axis in order] if s is None else list(s)


@reference("fft.fftn", by="NumPy", draw=transform_call("fftn"))
def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
    order, lengths = along(x, s, axes)
    return numpy.fft.fftn(x, lengths, order, norm) if order else x.astype(complex)


@reference("fft.ifftn", by="NumPy", draw=transform_call("ifftn"))
def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
    order, lengths = along(x, s, axes)
    return numpy.fft.ifftn(x, lengths, order, norm) if order else x.astype(complex)


@law("fft.fft2", "fft.ifft2", by="NumPy")
def planes(draw: Draw, run: Recorder, backend: Backend) -> None:
    array = numpy.random.default_rng(draw(st.integers(0, 99))).normal(
        size=draw(st.sampled_from([(2, 3, 4), (1, 5, 2)]))
    )
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        options["axes"] = draw(st.sampled_from([(0, 1), (2, 0), (-1, -2)]))
    if draw(st.booleans()):
        options["s"] = draw(st.sampled_from([(2, 3), (4, 1)]))
    if draw(st.booleans()):
        options["norm"] = draw(st.sampled_from(["ortho", "forward"]))
    out = run(tb.asarray(array, backend=backend), **options)
    theirs = getattr(numpy.fft, run.name.rpartition(".")[2])
    numpy.testing.assert_allclose(out, theirs(array, **{"axes": (-2, -1), **options}), rtol=1e-12, atol=1e-12)


@reference("fft.rfftn", by="NumPy", draw=transform_call("rfftn"))
def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
    order, lengths = along(x, s, axes)
    return numpy.fft.rfftn(x, lengths, order, norm)


@reference("fft.irfftn", by="NumPy", draw=transform_call("irfftn"))
def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
    order = list(range(x.ndim)) if axes is None else list(axes)
    if s is None:
        s = [*(x.shape[axis] for axis in order[:-1]), 2 * (x.shape[order[-1]] - 1)]
    for axis in order:
        x = not_empty(x, axis)
    return numpy.fft.irfftn(x, s, order, norm)


@reference("fft.dct", by="SciPy", draw=transform_call("dct"))
def dct(x: Any, /, *, type: int = 2, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    return scipy.fft.dct(x, type, n, axis, norm)


@reference("fft.idct", by="SciPy", draw=transform_call("idct"))
def idct(x: Any, /, *, type: int = 2, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    return scipy.fft.idct(x, type, n, axis, norm)


@reference("fft.fftshift", by="NumPy")
def fftshift(x: Any, /, *, axes: Axes = None) -> Any:
    order = axes_of(x, axes)
    return numpy.fft.fftshift(x, order) if order else x


@reference("fft.ifftshift", by="NumPy")
def ifftshift(x: Any, /, *, axes: Axes = None) -> Any:
    order = axes_of(x, axes)
    return numpy.fft.ifftshift(x, order) if order else x


@law("fft.fftfreq", "fft.rfftfreq", by="NumPy", fixed=HOST)
def frequencies(draw: Draw, run: Any, backend: Backend) -> None:
    n, d = draw(st.integers(1, 12)), draw(st.sampled_from([1.0, 0.1, 3.0, -2.0, 1e-3]))
    dtype = draw(st.none() | st.sampled_from(FLOATING))
    options: dict[str, Any] = {"d": d, "dtype": dtype, "name": draw(st.sampled_from([None, "frequency"]))}
    like = tb.ones(2, backend=backend) if draw(st.booleans()) else None
    got = run(n, **options, **({"backend": backend} if like is None else {"like": like}))
    assert got.dtype is (dtype or tb.float32)
    assert got.names == (options["name"],)
    assert got.backend is backend
    want = (numpy.fft.fftfreq if run.name == "fft.fftfreq" else numpy.fft.rfftfreq)(n, d)
    compare(Invocation(run.name, (n,), options), got, want)
