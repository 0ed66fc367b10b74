"""What convolutions and pools share: the positions of windows, and their elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tensorbackend import Tensor
from tensorbackend.errors import ArgumentError, ShapeError, expected

from .registry import Attributes


class Windows(NamedTuple):
    """Windows along spatial axes: their sizes, strides, dilations and the padding around x."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    extra: tuple[int, ...]
    """What is added at the ends so that the last windows are whole; negative where x has more than they need."""

    @property
    def spans(self) -> tuple[int, ...]:
        """How far each window reaches."""
        return tuple((size - 1) * step + 1 for size, step in zip(self.sizes, self.dilations, strict=True))

    def counts(self, spatial: Sequence[int]) -> tuple[int, ...]:
        """The number of windows along each axis."""
        rows = zip(spatial, self.padding, self.extra, self.spans, self.strides, strict=True)
        return tuple((size + sum(pad) + extra - span) // stride + 1 for size, pad, extra, span, stride in rows)

    def options(self) -> dict[str, Any]:
        """The options of `tb.window_max` and the like, for a tensor (batch, channels, *spatial)."""
        return {
            "window": (1, 1, *self.sizes),
            "strides": (1, 1, *self.strides),
            "padding": ((0, 0), (0, 0), *self.whole()),
            "dilations": (1, 1, *self.dilations),
        }

    def completed(self, spatial: Sequence[int]) -> Windows:
        """With what is added so that the last windows are whole."""
        extra = []
        for size, pad, span, stride in zip(spatial, self.padding, self.spans, self.strides, strict=True):
            count = -(-(size + sum(pad) - span) // stride) + 1
            if (count - 1) * stride >= size + pad[0]:  # a window that would begin in the padding at the end
                count -= 1
            extra.append((count - 1) * stride + span - size - sum(pad))
        return self._replace(extra=tuple(extra))

    def whole(self) -> tuple[tuple[int, int], ...]:
        """The padding with what is added at the ends."""
        return tuple((low, high + extra) for (low, high), extra in zip(self.padding, self.extra, strict=True))


@dataclass(frozen=True, kw_only=True)
class WindowAttributes(Attributes):
    """The attributes of windows."""

    auto_pad: str = "NOTSET"
    dilations: tuple[int, ...] | None = None
    pads: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def windows(self, spatial: Sequence[int], sizes: Sequence[int], ceil_mode: int = 0) -> Windows:
        """The windows of these sizes along spatial axes."""
        rank = len(spatial)
        steps, gaps = tuple(self.strides or (1,) * rank), tuple(self.dilations or (1,) * rank)
        numbers = tuple(self.pads or (0,) * (2 * rank))
        if not len(sizes) == len(steps) == len(gaps) == rank or len(numbers) != 2 * rank:
            raise ShapeError(expected(f"windows of {rank} axes", kernel=tuple(sizes), strides=steps, pads=numbers))
        if min((*steps, *gaps, *sizes), default=1) < 1:
            raise ArgumentError(
                expected("windows, strides and dilations of at least 1", kernel=tuple(sizes), strides=steps)
            )
        padding = tuple(zip(numbers[:rank], numbers[rank:], strict=True))
        found = Windows(tuple(sizes), steps, gaps, padding, (0,) * rank)
        if self.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            missing = [
                max((-(-size // stride) - 1) * stride + span - size, 0)
                for size, stride, span in zip(spatial, steps, found.spans, strict=True)
            ]
            upper = self.auto_pad == "SAME_UPPER"
            halves = tuple((n // 2, n - n // 2) if upper else (n - n // 2, n // 2) for n in missing)
            return found._replace(padding=halves)
        if self.auto_pad == "VALID":
            return found._replace(padding=((0, 0),) * rank)
        return found.completed(spatial) if ceil_mode else found


@dataclass(frozen=True, kw_only=True)
class ConvAttributes(WindowAttributes):
    """The attributes of convolutions."""

    group: int = 1
    kernel_shape: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class PoolAttributes(WindowAttributes):
    """The attributes of pools."""

    kernel_shape: tuple[int, ...]
    ceil_mode: int = 0

    def of(self, x: Tensor) -> Windows:
        """The windows of x (batch, channels, *spatial)."""
        return self.windows(x.shape[2:], self.kernel_shape, self.ceil_mode)
