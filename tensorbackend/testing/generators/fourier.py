"""Generators of calls of Fourier transforms.

Numbers are finite, as libraries convert infinities to NaN in different places.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ...dtypes import ALL_DTYPES, REAL_OF, DType
from ...tensor import Tensor
from ..calls import Invocation, generates
from ..strategies import Draw, axes_of, elements, shapes, tensors
from . import call

NORMS = st.sampled_from(["backward", "ortho", "forward"])
FLOATS = [dtype for dtype in ALL_DTYPES if dtype.is_floating]


def numbers(dtype: DType) -> st.SearchStrategy[Any]:
    """Finite elements of moderate size."""
    if dtype.is_complex:
        part = numbers(REAL_OF[dtype])
        return st.builds(complex, part, part)
    if dtype.is_floating:
        return st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5]) | st.integers(-99, 99).map(lambda whole: whole / 8)
    return elements(dtype)


def signal(draw: Draw, dtype: DType, *, most: int = 2) -> Tensor:
    """A tensor of at least one axis, some of a length with a large prime factor."""
    lengths = st.integers(0, 9) | st.integers(1, 9) | st.sampled_from([16, 31, 37, 49, 60])
    last = draw(lengths)
    return draw(tensors(dtype, (*draw(shapes(most=most - 1, largest=3)), last), values=numbers(dtype)))


@generates("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
def transform(draw: Draw, dtype: DType) -> Invocation:
    """Along one axis; truncated, padded, or refused for a length of 0."""
    x = signal(draw, dtype)
    options: dict[str, Any] = {"norm": draw(NORMS)}
    if draw(st.booleans()):
        options["axis"] = draw(axes_of(x, "Axis"))
    if draw(st.booleans()):
        options["n"] = draw(st.integers(1, 12) | st.integers(0, 1))
    return call(x, **options)


@generates("dct", "idct")
def cosines(draw: Draw, dtype: DType) -> Invocation:
    """All types along one axis; truncated, padded, or refused for too few samples."""
    drawn = transform(draw, dtype)
    return drawn._replace(options={"type": draw(st.sampled_from([1, 2, 3, 4])), **drawn.options})


@generates("fftn", "ifftn", "rfftn", "irfftn")
def transform_of_several(draw: Draw, dtype: DType) -> Invocation:
    """Along all axes or some in any order, to given lengths too."""
    x = draw(tensors(dtype, shapes(largest=5, smallest=draw(st.sampled_from([0, 1, 1, 2]))), values=numbers(dtype)))
    options: dict[str, Any] = {"norm": draw(NORMS)}
    if draw(st.booleans()):
        axes = draw(st.lists(st.sampled_from(x.names), unique=True)) if x.ndim else []
        options["axes"] = tuple(axes)
        if draw(st.booleans()):
            options["s"] = tuple(draw(st.integers(1, 6)) for _ in axes)
    return call(x, **options)


@generates("fftfreq", "rfftfreq")
def frequencies(draw: Draw, dtype: DType) -> Invocation:
    """Draws every length, in every dtype; dtypes that are not floating are refused."""
    options = {"d": draw(st.sampled_from([1.0, 0.1, 3.0])), "dtype": draw(st.none() | st.just(dtype))}
    return Invocation("", (draw(st.integers(0, 9)),), options, creates=True)
