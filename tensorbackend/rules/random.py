"""Templates of random numbers: the form of a key, and the allowed options."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ..dtypes import DType, default_dtype, uint32
from ..errors import DTypeError, ShapeError, expected
from ..template import Shape, Template, intern_template
from .broadcasting import broadcast, check_dtype
from .plan import choice

ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
"""How far Threefry-2x32 rotates a word in each of four rounds, in even and odd groups of rounds."""

PARITY: Final = 0x1BD11BDA
"""The constant from which the third word of the key schedule is made, combined with the two words of the key by xor."""

RandomMode: TypeAlias = Literal["low", "high"]
"""The number of random bits for a sample: those of one number of its dtype, or twice as many for rare events."""

MODES: Final[tuple[RandomMode, ...]] = ("low", "high")

_MAKE = "make one with tb.random.key(seed), or take one of several, such as tb.random.split(key)[0]"


def check_key(key: Template) -> Template:
    """The template itself; `DTypeError` or `ShapeError` unless it is a key's: uint32 of shape (2,)."""
    if key.dtype is not uint32:
        raise DTypeError(expected("a key, which is uint32 of shape (2,)", _MAKE, key=key))
    if key.shape != (2,):
        raise ShapeError(expected("one key, which is uint32 of shape (2,)", _MAKE, key=key))
    return key


def check_mode(mode: RandomMode) -> RandomMode:
    """The mode itself; `ArgumentError` for another word."""
    choice(MODES, mode=mode)
    return mode


def check_floating(dtype: DType | None) -> DType:
    """The dtype itself, or the default one for `None`; `DTypeError` unless it is floating."""
    return check_dtype(default_dtype("float") if dtype is None else dtype, "floating", "choose a floating dtype")


def check_fits(shape: Shape, *parameters: Template) -> None:
    """Raises `ShapeError` unless the parameters of a distribution broadcast to a shape without making it larger."""
    sample = intern_template(shape, uint32, (None,) * len(shape))
    unnamed = (parameter.replace(names=(None,) * parameter.ndim) for parameter in parameters)
    if broadcast([sample, *unnamed])[0] != shape:
        expectation = "parameters that broadcast to the shape"
        came = tuple(parameter.shape for parameter in parameters)
        raise ShapeError(expected(expectation, "choose a larger shape, or leave it out", shape=shape, parameters=came))
