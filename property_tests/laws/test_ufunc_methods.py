"""Each method of each universal function of two operands has NumPy's dtype and value, also of narrow dtypes."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.numpy.ufunc_table import OPS
from tensorbackend.testing import profile
from tensorbackend.testing.strategies import Draw

BACKENDS = os.environ.get("TENSORBACKEND_BACKENDS", "numpy").split(",")
DTYPES = ("bool", "int8", "uint8", "float16")
WITHOUT = {"ldexp": ("reduce", "accumulate", "reduceat")}
"""Methods that are not compared, as the operands have two dtypes."""
METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
NAMES = sorted(
    name
    for name in OPS
    if isinstance(function := getattr(numpy, name, None), numpy.ufunc)
    and function.nin == 2
    and function.nout == 1
    and function.signature is None
)


def numbers(draw: Draw, dtype: str, count: int) -> Any:
    """Numbers whose sums and products are out of range of a narrow dtype."""
    least = 0 if dtype in ("bool", "uint8") else -128
    values = draw(
        st.lists(st.integers(least, 127) | st.sampled_from([0, 1, 2, 100, 127]), min_size=count, max_size=count)
    )
    return numpy.array(values).astype(dtype)


def has_floats(name: str, dtype: str) -> bool:
    """Whether the result of a function of whole numbers is floating."""
    try:
        kind: str = getattr(numpy, name)(numpy.ones(1, dtype), numpy.ones(1, dtype)).dtype.kind
    except TypeError:
        return False
    return kind == "f"


def call(space: Any, name: str, method: str, convert: Any, x: Any, y: Any, places: Any, options: Any) -> Any:
    """The result of a method, or the class of its error."""
    function = getattr(getattr(space, name), method)
    try:
        if method == "at":
            target = convert(x)
            function(target, places, convert(y[: len(places)]))
            return target
        if method == "outer":
            return function(convert(x), convert(y))
        return function(convert(x), *([places] if method == "reduceat" else []), **options)
    except (TypeError, ValueError):
        return "refused"


@pytest.mark.parametrize(
    ("name", "method"),
    [(name, method) for name, method in product(NAMES, METHODS) if method not in WITHOUT.get(name, ())],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_methods_of_narrow_dtypes(backend: str, name: str, method: str) -> None:

    @profile(1)
    @given(st.data())
    def agrees(data: Any) -> None:
        for dtype in DTYPES:
            x, y = numbers(data.draw, dtype, 4), numbers(data.draw, dtype, 4)
            if method == "at" and dtype != "float16" and has_floats(name, dtype):
                continue  # a cast of what is out of range is the machine's
            places = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
            options = data.draw(st.sampled_from([{}, {}, {"dtype": "float32"}, {"dtype": "int16"}]))
            with numpy.errstate(all="ignore"), tb.default_backend(backend):
                expected = call(numpy, name, method, numpy.array, x, y, places, options)
                got = call(np, name, method, np.array, x, y, places, options)
            what = f"{name}.{method} of {x!r}, {y!r}, {places}, {options}"
            if isinstance(expected, str):
                assert isinstance(got, str), f"{what}: expected an error, got {got!r}"
                continue
            assert not isinstance(got, str), f"{what}: refused, NumPy gives {expected!r}"
            assert str(got.dtype) == str(expected.dtype), f"{what}: expected {expected.dtype}, got {got.dtype}"
            near = 2e-3 if expected.dtype.itemsize == 2 else 1e-5
            numpy.testing.assert_allclose(
                numpy.asarray(got.tolist(), "f8"), numpy.asarray(expected.tolist(), "f8"), rtol=near, err_msg=what
            )

    agrees()
