"""Elementwise functions of the stand-in, which run the loops of CuPy's table, and their fusion into kernels."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from .arrays import NUMBERS, ndarray, quietly, unwrap, wrap
from .devices import settings

LOOPS: dict[str, list[tuple[str, str]]] = {
    name: [(loop.partition("->")[0], loop.partition("->")[2]) for loop in loops.split()]
    for name, loops in json.loads((Path(__file__).parent / "cupy_loops.json").read_text())["loops"].items()
}
DTYPES = {"E": np.dtype(ml_dtypes.bfloat16)}


@functools.cache
def _dtype(char: str) -> np.dtype[Any]:
    return DTYPES.get(char) or np.dtype(char)


def _kind(scalar_type: Any) -> int:
    """Return the rank of a scalar type's kind, by which CuPy decides whether a Python number is weak."""
    if issubclass(scalar_type, bool | np.bool_):
        return 0
    if issubclass(scalar_type, int | np.integer):
        return 1
    return 2 if issubclass(scalar_type, float | complex | np.inexact) else 3


def _loop(name: str, inputs: Sequence[Any]) -> tuple[str, str]:
    """Return the first loop that takes the inputs, as CuPy does."""
    weak = tuple(type(x) if type(x) in NUMBERS else None for x in inputs)
    return _loop_of(name, weak, tuple(np.asarray(x).dtype for x in inputs))


@functools.cache
def _loop_of(name: str, weak: tuple[Any, ...], strong: tuple[np.dtype[Any], ...]) -> tuple[str, str]:
    """Return the first loop that takes inputs of the types `weak`, with None for arrays, and of the dtypes `strong`."""
    arrays = [_kind(dtype.type) for dtype, w in zip(strong, weak, strict=True) if w is None]
    numbers = [_kind(w) for w in weak if w is not None]
    counts = bool(arrays and numbers) and max(arrays) >= max(numbers)
    for sources, results in LOOPS[name]:
        for dtype, w, char in zip(strong, weak, sources, strict=True):
            if w is not None and counts:
                fits = np.result_type(w(0), _dtype(char)) == _dtype(char)
            else:
                fits = np.can_cast(dtype, _dtype(char))
            if not fits:
                break
        else:
            return sources, results
    raise TypeError(f"Wrong type ({list(strong)}) of arguments for cupy_{name}")


def _flushed(values: Any) -> Any:
    """Replace subnormals of float32, complex64 and bfloat16 by zeros, as CuPy does: it compiles with -ftz=true."""
    if values.dtype.char == "F":
        parts = _flushed(np.ascontiguousarray(values).reshape(-1).view(np.float32))
        return parts.view(np.complex64).reshape(values.shape)
    if values.dtype.char not in "fE":
        return values
    tiny = np.abs(values.astype(np.float64)) < np.finfo(np.float32).tiny
    return np.where(tiny, np.copysign(values.dtype.type(0), values), values)


class Ufunc:
    """An elementwise function with the loops of CuPy's function of the same name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function = np.where if name == "where" else getattr(np, name)

    @quietly
    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        count = len(LOOPS[self.name][0][0])
        if len(inputs) == count + 1:
            *rest, out = inputs
            inputs = tuple(rest)
        plain = list(map(unwrap, inputs))
        for x in plain:
            if not isinstance(x, (np.ndarray, np.generic, *NUMBERS)):
                raise TypeError(f"Unsupported type {type(x)}")
        sources, results = _loop(self.name, plain)
        plain = [_flushed(np.asarray(x).astype(_dtype(char))) for x, char in zip(plain, sources, strict=True)]
        self._check_defined(plain, sources)
        computed = self.function(*plain)
        if self.name == "hypot":  # on a GPU it is up to 2 ulps off, so it may overflow
            computed = np.where(computed >= np.nextafter(np.finfo(computed.dtype).max, 0), np.inf, computed).astype(
                computed.dtype
            )
        several = computed if isinstance(computed, tuple) else (computed,)
        converted = [
            _flushed(np.asarray(array).astype(_dtype(char))) for array, char in zip(several, results, strict=True)
        ]
        if out is not None:
            out._a[...] = converted[0]
            return out
        return wrap(tuple(converted)) if isinstance(computed, tuple) else wrap(converted[0])

    def _check_defined(self, plain: Sequence[Any], sources: str) -> None:
        if self.name in ("remainder", "floor_divide") and plain[0].dtype.kind not in "iu":
            raise AssertionError(f"{self.name} of floats is not exact on CuPy")
        if self.name == "nextafter" and sources[0] != "d":
            raise AssertionError("nextafter reaches no subnormal numbers on CuPy, and of float16 makes NaN of infinity")
        if self.name == "log" and plain[0].dtype.kind == "c":
            raise AssertionError("log of complex numbers loses digits near the unit circle on CuPy")
        if self.name in ("left_shift", "right_shift"):
            width = 8 * plain[0].dtype.itemsize
            assert ((plain[1] >= 0) & (plain[1] < width)).all(), "a shift by the width or more is undefined"
        if self.name == "where" and "E" in sources:
            raise AssertionError("CuPy's where has no loop for bfloat16")

    def at(self, target: Any, positions: Any, values: Any) -> None:
        """Add values at positions, in reverse order: the order of atomic additions on a GPU is undefined."""
        assert self.name == "add"
        if target.dtype.char not in "iIlLqQefd":
            raise TypeError("cupy.add.at only supports int32, int64, float16, float32, float64, uint32, uint64")
        quietly(np.add.at)(target._a, unwrap(positions)[::-1], unwrap(values)[::-1])


def fuse(function: Callable[..., Any]) -> Callable[..., Any]:
    """Fuse a function into one kernel. CuPy traces it with stand-ins, so it may call only ufuncs and hold no array."""
    assert function.__name__.isidentifier(), "it names the kernel"
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    for helper in [value for value in held if hasattr(value, "__globals__")]:
        held += [value for name, value in helper.__globals__.items() if name != "__builtins__" and value is not helper]
    assert not any(isinstance(value, ndarray) for value in held)
    assert all(isinstance(value, Ufunc) for value in held if callable(value) and not hasattr(value, "__code__"))

    def call(*arrays: Any) -> Any:
        assert all(isinstance(array, ndarray) for array in arrays)
        settings.kernels += 1
        return function(*arrays)

    return call
