"""What tests of indexing share: an array, and random keys for a shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

import tensorbackend as tb

BACKENDS = ["binary", "numpy"]
DATA = np.arange(60).reshape(3, 4, 5)


@st.composite
def index_arrays(draw: st.DrawFn, size: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Draw an index array for an axis of this size, with negative indices too; its shape broadcasts to `shape`."""
    array_shape = tuple(draw(st.sampled_from([length, 1])) for length in shape[draw(st.integers(0, len(shape))) :])
    if not size:
        array_shape = (*array_shape[:-1], 0) if array_shape else (0,)
    count = math.prod(array_shape)
    numbers = st.integers(-size, max(size - 1, -size))
    values = draw(st.lists(numbers, min_size=count, max_size=count))
    return np.array(values, dtype=draw(st.sampled_from(["int64", "int8", "int32"]))).reshape(array_shape)


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Draw keys with every kind of part for a shape; their index arrays broadcast together."""
    parts: list[Any] = []
    common = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    axis, masked = 0, False
    filled = draw(st.booleans())
    while axis < len(shape):
        kind = draw(st.sampled_from(["int", "slice", "slice", "array", "array", "mask", "new", "end"]))
        size = shape[axis]
        if kind == "new":
            parts.append(None)
        elif kind == "int" and size:
            parts.append(draw(st.integers(-size, size - 1)))
            axis += 1
        elif kind == "slice":
            ends = st.none() | st.integers(-size - 2, size + 2)
            parts.append(slice(draw(ends), draw(ends), draw(st.none() | st.sampled_from([1, 2, -1, -3]))))
            axis += 1
        elif kind == "array" and not masked:
            parts.append(draw(index_arrays(size, common)))
            axis += 1
        elif kind == "mask" and not masked and not any(isinstance(part, np.ndarray) for part in parts):
            width = draw(st.integers(0, len(shape) - axis))
            count = math.prod(shape[axis : axis + width])
            holds = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            parts.append(np.array(holds, dtype=bool).reshape(shape[axis : axis + width]))
            axis, masked = axis + width, True
        elif kind == "end":
            break
    if filled:
        place = draw(st.integers(0, len(parts)))
        # Parts before ... index the first axes, parts after it the last. If axes are left over, ... must be at the end.
        parts.insert(len(parts) if axis < len(shape) else place, ...)
    return tuple(parts)


def as_tensors(key: tuple[Any, ...], backend: str) -> tuple[Any, ...]:
    return tuple(tb.asarray(part, backend=backend) if isinstance(part, np.ndarray) else part for part in key)


SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
