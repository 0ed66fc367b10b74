"""Long columns of numbers of all magnitudes, many of them near points where functions switch formulas.

A column is made from a drawn seed, as drawing thousands of elements one by one would take seconds. Which of its
elements a call gets is drawn as well, so that a failure shrinks to the one element that is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from random import Random
from typing import Any

from hypothesis import strategies as st

from ..declarations.op_specs import OPS
from ..dtypes import REAL_OF, DType, finfo, iinfo
from ..dtypes.narrow import code_values
from ..dtypes.packing import pack
from ..ops.creation.filled import from_binary
from ..template import Template
from ..tensor import Tensor
from .strategies import Draw

LENGTH = 3000
"""The number of elements of the longest column: some errors of a few ulps show in one number of a thousand."""

LANDMARKS = (
    *(2.0**exponent for exponent in range(-30, 31, 5)),
    *(1.0, 0.75, 0.5, 0.375, 0.25, 0.125, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 22.0),  # where polynomials end
    *(1 - math.sqrt(0.5), math.sqrt(2) - 1, math.sqrt(0.5), math.sqrt(2)),  # where polynomials of logarithms end
    *(math.log(2) * factor for factor in (0.5, 1.0, 1.5, 10.0)),  # where the arguments of exponentials are reduced
    *(math.pi * quarters / 4 for quarters in (1, 2, 3, 4, 6, 8, 400, 4_000_000)),  # and those of sines
)
"""Magnitudes near which algorithms switch to another formula."""


def is_elementwise(name: str) -> bool:
    """Whether an op is a function of single elements, by its family.

    >>> is_elementwise("exp"), is_elementwise("log2"), is_elementwise("sum")
    (True, True, False)
    """
    return OPS[name].family == "elementwise"


@st.composite
def columns(draw: Draw, *dtypes: DType) -> list[Tensor]:
    """One tensor for each dtype, each with one long axis."""
    seed = draw(st.integers(0, 2**32 - 1))
    stop = draw(st.integers(1, LENGTH))
    start = stop - draw(st.integers(1, stop) | st.just(stop))
    return [
        from_binary(
            pack(_numbers(dtype, seed, stop, place, len(dtypes))[start:], dtype),
            Template((stop - start,), dtype),
            "binary",
        )
        for place, dtype in enumerate(dtypes)
    ]


def _numbers(dtype: DType, seed: int, stop: int, place: int = 0, count: int = 1) -> list[Any]:
    """The first `stop` numbers of the column for operand `place` of a call with `count` operands."""
    numbers = _column(dtype, seed, place).first(stop)
    chance = Random(~(seed * 4 + place))
    if dtype.is_complex and count == 1:
        # Some are near 0 or infinity, where a sum or a half of the parts underflows or overflows on the way.
        info = finfo(dtype)
        for at in range(0, stop, 16):
            edge = chance.choice([info.smallest_normal, info.max / 2])
            numbers[at] = complex(*(chance.choice([-1, 1]) * edge * chance.uniform(1, 2) for _ in range(2)))
    if place and dtype.is_floating:
        # Some are fractions of the previous operand's numbers: quotients are then near whole numbers, large ones too.
        before = _numbers(dtype, seed, stop, place - 1)
        for at in range(0, stop, 8):
            if math.isfinite(before[at]):
                numbers[at] = before[at] / chance.randint(1, 2 ** chance.randint(1, dtype.mantissa_bits + 2))
    return numbers


class _Column:
    """Numbers of a dtype, which are made on demand."""

    def __init__(self, dtype: DType, seed: int) -> None:
        self.one, self.chance = _maker(dtype), Random(seed)
        self.numbers: list[Any] = []

    def first(self, stop: int) -> list[Any]:
        """The first `stop` numbers, in a new list."""
        self.numbers += [self.one(self.chance) for _ in range(stop - len(self.numbers))]
        return self.numbers[:stop]


@lru_cache(maxsize=64)  # ops whose calls are drawn in the same way have the same seeds
def _column(dtype: DType, seed: int, place: int) -> _Column:
    return _Column(dtype, seed * 4 + place)


@cache
def _maker(dtype: DType) -> Callable[[Random], Any]:
    """A function that makes one number of a dtype."""
    if dtype.kind == "bool":
        return lambda chance: chance.random() < 0.5
    if dtype.is_narrow:
        return lambda chance: chance.choice(code_values(dtype))
    if dtype.is_integer:
        limits = iinfo(dtype)

        def whole(chance: Random) -> int:
            low = 0 if limits.min == 0 else -(2 ** chance.randint(0, dtype.bits - 1))
            return max(limits.min, min(limits.max, chance.randint(low, 2 ** chance.randint(0, dtype.bits))))

        return whole
    if dtype.is_complex:
        part = _maker(REAL_OF[dtype])

        def both(chance: Random) -> complex:
            kind = chance.randrange(16)
            if kind < 12:
                return complex(part(chance), part(chance))
            if kind == 12:  # near 1, where logarithms are small
                size = 2.0 ** -chance.randint(1, 60)
                return complex(1 + size * chance.uniform(-1, 1), size * chance.uniform(-1, 1))
            # Near the unit circle around 0 or -1, where logarithms cancel.
            turned = chance.uniform(-math.pi, math.pi)
            size = 1 + chance.choice([0.0, chance.uniform(-1, 1) * 2.0 ** -chance.randint(0, 60)])
            return complex(size * math.cos(turned) - chance.randrange(2), size * math.sin(turned))

        return both
    info = finfo(dtype)
    ends = (math.log(info.max), -math.log(info.smallest_normal), math.sqrt(info.max), info.eps, math.sqrt(info.eps))
    landmarks = [size for size in (*LANDMARKS, *ends) if size < info.max]
    low, high = math.log2(info.smallest_normal), math.log2(info.max)
    special = (0.0, -0.0, math.inf, -math.inf, math.nan, info.max, -info.max, info.smallest_normal)

    def real(chance: Random) -> float:
        kind = chance.randrange(16)
        if kind == 0:
            return chance.choice(special)
        sign = chance.choice([-1.0, 1.0])
        if kind < 6:
            return sign * min(math.exp2(chance.uniform(low, high)), info.max)
        if kind < 10:
            return sign * math.exp2(chance.uniform(-8, 8))
        beside = 1 + chance.uniform(-1, 1) * 2.0 ** -chance.randint(1, dtype.mantissa_bits)
        return sign * min(chance.choice(landmarks) * beside, info.max)

    return real
