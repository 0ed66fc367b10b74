"""New tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorbackend as tb

from .base import Base, Operand
from .dtypes import from_phiml


class Creation(Base):
    """Functions that make tensors."""

    def zeros(self, shape: Sequence[int], dtype: Any = None) -> Any:
        """Zeros, by default of the precision in force."""
        return tb.zeros(sizes(shape), dtype=self._asked(dtype), backend=self.base)

    def ones(self, shape: Sequence[int], dtype: Any = None) -> Any:
        """Ones, by default of the precision in force."""
        return tb.ones(sizes(shape), dtype=self._asked(dtype), backend=self.base)

    def zeros_like(self, tensor: Operand) -> Any:
        """Zeros of the shape and dtype of a value."""
        return tb.zeros(self.shape(tensor), dtype=self._dtype(tensor), backend=self.base)

    def ones_like(self, tensor: Operand) -> Any:
        """Ones of the shape and dtype of a value."""
        return tb.ones(self.shape(tensor), dtype=self._dtype(tensor), backend=self.base)

    def range(self, start: Operand, limit: Operand = None, delta: Operand = 1, dtype: Any = int) -> Any:
        """Numbers from `start`, or 0 if that is the only one, up to and without `limit`; int32 by default."""
        if limit is None:
            start, limit = 0, start
        return tb.arange(plain(start), plain(limit), plain(delta), dtype=from_phiml(dtype), backend=self.base)

    def linspace(self, start: Operand, stop: Operand, number: int) -> Any:
        """So many numbers from `start` to `stop`, in the precision in force; between tensors along a new first axis."""
        return self._spaced(start, stop, number, endpoint=True)

    def linspace_without_last(self, start: Operand, stop: Operand, number: int) -> Any:
        """So many numbers from `start` to before `stop`."""
        return self._spaced(start, stop, number, endpoint=False)

    def _spaced(self, start: Operand, stop: Operand, number: int, endpoint: bool) -> Any:
        start, stop = (x if isinstance(x, int | float) else self.to_float(x) for x in (start, stop))
        return tb.linspace(
            start, stop, int(number), dtype=self._float, endpoint=endpoint, backend=self._home(start, stop)
        )

    def _home(self, *values: Operand) -> tb.Backend | None:
        """The backend of a new tensor, or `None` where a tensor among the values decides it."""
        return None if any(isinstance(x, tb.Tensor) for x in values) else self.base

    def meshgrid(self, *coordinates: Operand) -> list[Any]:
        """The coordinates of each point of a grid, the first of them along the first axis."""
        return list(tb.meshgrid(*map(self.as_tensor, coordinates), indexing="ij"))

    def _asked(self, dtype: Any) -> tb.DType:
        return self._float if dtype is None else from_phiml(dtype)


def sizes(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of ints; PhiML gives lists, NumPy's integers and tensors too."""
    if isinstance(shape, tuple) and all(type(size) is int for size in shape):
        return shape
    return (int(shape),) if isinstance(shape, int) else tuple(int(size) for size in shape)


def plain(x: Operand) -> Any:
    """A Python number for a value without axes, whose data is there."""
    return x.item() if hasattr(x, "item") else x
