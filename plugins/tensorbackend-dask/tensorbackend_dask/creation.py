"""Creation: each block depends only on its position, so the elements do not depend on the chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod
from typing import Any, TypeAlias

from tensorbackend import Template
from tensorbackend.dtypes import as_dtype, complex128, float64, iinfo, int64
from tensorbackend.extending import numpy_dtype
from tensorbackend.protocol import Payload

from .base import DaskBase, lazily
from .blocks import Array, cast, kernel_on_numpy
from .graphs import Lazy, Place, layer, named
from .library import np

At: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The start and the shape of a block."""

Scalar: TypeAlias = bool | int | float | complex


class BlockMaker(ABC):
    """Base class of functions that make a block from its position; `state` holds their parameters."""

    def __init__(self, *state: Any) -> None:
        self.state = state

    @abstractmethod
    def __call__(self, at: At) -> Array:
        """Makes the block at a position."""


class Constant(BlockMaker):
    """Blocks that are filled with one value."""

    def __call__(self, at: At) -> Array:
        dtype, value = self.state
        return kernel_on_numpy("constant", Template(at[1], dtype), (), {"value": value})()


class Diagonal(BlockMaker):
    """Ones on a diagonal of the last two axes."""

    def __call__(self, at: At) -> Array:
        (dtype, offset), (starts, shape) = self.state, at
        here = offset + starts[-2] - starts[-1]
        return kernel_on_numpy("eye", Template(shape, dtype), (), {"offset": here})()


class Counter(BlockMaker):
    """Indices along an axis, or in row-major order."""

    def __call__(self, at: At) -> Array:
        (name, whole, axis), (starts, shape) = self.state, at
        dtype = as_dtype(name)
        if axis is not None:
            lined_up = tuple(size if i == axis else 1 for i, size in enumerate(shape))
            line = self.run(starts[axis], shape[axis], dtype).reshape(lined_up)
            return np.broadcast_to(line, shape)
        strides = [prod(whole[i + 1 :]) for i in range(len(whole))]
        inner = next((i for i, size in enumerate(shape) if size != 1), len(shape))
        first = sum(start * stride for start, stride in zip(starts, strides, strict=True))
        if shape[inner + 1 :] == whole[inner + 1 :]:  # the block is contiguous in row-major order
            return self.run(first, prod(shape), dtype).reshape(shape)
        positions = np.full((), first, np.int64)
        for i, (size, stride) in enumerate(zip(shape, strides, strict=True)):
            steps = np.arange(size, dtype=np.int64) * stride
            positions = positions + steps.reshape((size,) + (1,) * (len(shape) - 1 - i))
        return cast(positions, int64, dtype)

    def run(self, first: int, count: int, dtype: Any) -> Array:
        """Returns `count` consecutive integers from `first` on, in a dtype."""
        if dtype.is_integer and first + count <= iinfo(dtype).max:
            return np.arange(first, first + count, dtype=numpy_dtype(dtype))
        return cast(np.arange(first, first + count, dtype=np.int64), int64, dtype)


class Spaced(BlockMaker):
    """Evenly spaced numbers, index * step + start in int64, float64 or complex128; rounds both product and sum."""

    def __call__(self, at: At) -> Array:
        (name, start, step, last, count), ((first,), (size,)) = self.state, at
        wide = int64 if isinstance(start, int) else complex128 if isinstance(start, complex) else float64
        if wide is int64:  # modulo 2**64; int64 holds the upper half as negative numbers
            start, step = ((int(number) + (1 << 63)) % (1 << 64) - (1 << 63) for number in (start, step))
        dtype = numpy_dtype(wide)
        with np.errstate(all="ignore"):
            values = np.arange(first, first + size, dtype=dtype) * np.asarray(step, dtype) + np.asarray(start, dtype)
        if last is not None and size and first + size == count:
            values[-1] = last
        return cast(values, wide, as_dtype(name))


class DaskCreation(DaskBase):
    """Constants, identity matrices and counters."""

    def generated(self, function: BlockMaker, out: Template) -> Lazy:
        """Returns a Dask array whose blocks `function` makes."""
        chunks, labels = self.chunks_for(out), tuple(range(out.ndim))
        return layer(
            function, named(type(function).__name__.lower()), labels, chunks, out.dtype, [(Place(chunks), labels)]
        )

    @lazily
    def constant(self, out: Template, /, *, value: Scalar) -> Payload:
        """Every element is `value`."""
        return self.generated(Constant(str(out.dtype), value), out)

    @lazily
    def eye(self, out: Template, /, *, offset: int) -> Payload:
        """Ones on one diagonal of the last two axes."""
        return self.generated(Diagonal(str(out.dtype), offset), out)

    @lazily
    def iota(self, out: Template, /, *, axis: int | None) -> Payload:
        """Each element is its index, along an axis or in row-major order."""
        return self.generated(Counter(str(out.dtype), out.shape, axis), out)

    @lazily
    def spaced(self, out: Template, /, *, start: Scalar, step: Scalar, last: Scalar | None) -> Payload:
        """Evenly spaced numbers."""
        return self.generated(Spaced(str(out.dtype), start, step, last, out.shape[0]), out)
