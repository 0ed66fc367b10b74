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
        """A tensor of zeros, by default in the current precision."""
        return tb.zeros(sizes(shape), dtype=self._asked(dtype), backend=self.base)

    def ones(self, shape: Sequence[int], dtype: Any = None) -> Any:
        """A tensor of ones, by default in the current precision."""
        return tb.ones(sizes(shape), dtype=self._asked(dtype), backend=self.base)

    def zeros_like(self, tensor: Operand) -> Any:
        """A tensor of zeros with the shape and dtype of a value."""
        return tb.zeros(self.shape(tensor), dtype=self._dtype(tensor), backend=self.base)

    def ones_like(self, tensor: Operand) -> Any:
        """A tensor of ones with the shape and dtype of a value."""
        return tb.ones(self.shape(tensor), dtype=self._dtype(tensor), backend=self.base)

    def range(self, start: Operand, limit: Operand = None, delta: Operand = 1, dtype: Any = int) -> Any:
        """Numbers from `start` up to, but not including, `limit`; int32 by default.

        `range(n)` counts from 0 to n - 1.
        """
        if limit is None:
            start, limit = 0, start
        return tb.arange(plain(start), plain(limit), plain(delta), dtype=from_phiml(dtype), backend=self.base)

    def linspace(self, start: Operand, stop: Operand, number: int) -> Any:
        """`number` equally spaced numbers from `start` to `stop`, in the current precision.

        If `start` or `stop` is a tensor, the numbers are along a new first axis.
        """
        return self._spaced(start, stop, number, endpoint=True)

    def linspace_without_last(self, start: Operand, stop: Operand, number: int) -> Any:
        """`number` equally spaced numbers from `start` up to, but not including, `stop`."""
        return self._spaced(start, stop, number, endpoint=False)

    def _spaced(self, start: Operand, stop: Operand, number: int, endpoint: bool) -> Any:
        start, stop = (x if isinstance(x, int | float) else self.to_float(x) for x in (start, stop))
        return tb.linspace(
            start, stop, int(number), dtype=self._float, endpoint=endpoint, backend=self._home(start, stop)
        )

    def _home(self, *values: Operand) -> tb.Backend | None:
        """The backend for a new tensor, or `None` if one of the values is a tensor and decides it."""
        return None if any(isinstance(x, tb.Tensor) for x in values) else self.base

    def meshgrid(self, *coordinates: Operand) -> list[Any]:
        """The coordinates of the points of a grid, with matrix indexing ("ij")."""
        return list(tb.meshgrid(*map(self.as_tensor, coordinates), indexing="ij"))

    def _asked(self, dtype: Any) -> tb.DType:
        return self._float if dtype is None else from_phiml(dtype)


def sizes(shape: Any) -> tuple[int, ...]:
    """Convert a shape to a tuple of ints; PhiML also passes lists, NumPy integers and tensors."""
    if isinstance(shape, tuple) and all(type(size) is int for size in shape):
        return shape
    return (int(shape),) if isinstance(shape, int) else tuple(int(size) for size in shape)


def plain(x: Operand) -> Any:
    """Convert a value without axes, whose data can be read, to a Python number."""
    return x.item() if hasattr(x, "item") else x
