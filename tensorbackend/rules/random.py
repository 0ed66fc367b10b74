"""Templates of random numbers: the form of a key, and the allowed options; the rounds of Threefry-2x32."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias

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


def threefry(key: Any, counters: Iterable[Any], rotate: Callable[[Any, int], Any], parity: Any = PARITY) -> Any:
    """Encrypts the two words of counters with the two words of a key: Threefry-2x32 of 20 rounds.

    Sums and combinations by xor are assigned in place, so arrays that allow it are overwritten.

    Parameters
    ----------
    key : two arrays
        The words of the key, of 32 bits.
    counters : two arrays
        The words of the counters, of 32 bits, both of the shape of the result.
    rotate : callable
        A function that takes a word and a number of bits, and rotates the word to the left. It may overwrite the word.
    parity : int or array, default PARITY
        `PARITY` as a word, for arrays that do not take a Python int.

    Returns
    -------
    tuple of two arrays
        The random words.

    References
    ----------
    J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.

    Examples
    --------
    >>> from numpy import zeros
    >>> rotate = lambda word, bits: word << bits | word >> 32 - bits
    >>> words = threefry(zeros(2, "uint32"), (zeros(1, "uint32"), zeros(1, "uint32")), rotate)
    >>> [hex(word.item()) for word in words]
    ['0x6b200159', '0x99ba4efe']
    """
    first, second = counters
    schedule = (key[0], key[1], key[0] ^ key[1] ^ parity)
    first += schedule[0]
    second += schedule[1]
    for group in range(5):
        for bits in ROTATIONS[group % 2]:
            first += second
            second = rotate(second, bits)
            second ^= first
        first += schedule[(group + 1) % 3]
        second += schedule[(group + 2) % 3] + (group + 1)
    return first, second


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
