"""What convolutions and pools share: the positions of windows, and their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tensorbackend.errors import ArgumentError, ShapeError, expected


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

    def whole(self) -> tuple[tuple[int, int], ...]:
        """The padding with what is added at the ends."""
        return tuple((low, high + extra) for (low, high), extra in zip(self.padding, self.extra, strict=True))


def windows(
    spatial: Sequence[int],
    sizes: Sequence[int],
    *,
    auto_pad: str = "NOTSET",
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: int = 0,
) -> Windows:
    """The windows that a node's attributes describe."""
    rank = len(spatial)
    steps, gaps = tuple(strides or (1,) * rank), tuple(dilations or (1,) * rank)
    numbers = tuple(pads or (0,) * (2 * rank))
    if not len(sizes) == len(steps) == len(gaps) == rank or len(numbers) != 2 * rank:
        raise ShapeError(expected(f"windows of {rank} axes", kernel=tuple(sizes), strides=steps, pads=numbers))
    if min((*steps, *gaps, *sizes), default=1) < 1:
        raise ArgumentError(
            expected("windows, strides and dilations of at least 1", kernel=tuple(sizes), strides=steps)
        )
    padding = tuple(zip(numbers[:rank], numbers[rank:], strict=True))
    found = Windows(tuple(sizes), steps, gaps, padding, (0,) * rank)
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        missing = [
            max((-(-size // stride) - 1) * stride + span - size, 0)
            for size, stride, span in zip(spatial, steps, found.spans, strict=True)
        ]
        upper = auto_pad == "SAME_UPPER"
        halves = tuple((n // 2, n - n // 2) if upper else (n - n // 2, n // 2) for n in missing)
        return found._replace(padding=halves)
    if auto_pad == "VALID":
        return found._replace(padding=((0, 0),) * rank)
    if not ceil_mode:
        return found
    extra = []
    for size, pad, span, stride in zip(spatial, padding, found.spans, steps, strict=True):
        count = -(-(size + sum(pad) - span) // stride) + 1
        if (count - 1) * stride >= size + pad[0]:  # a window that would begin in the padding at the end
            count -= 1
        extra.append((count - 1) * stride + span - size - sum(pad))
    return found._replace(extra=tuple(extra))
