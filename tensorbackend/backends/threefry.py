"""Threefry-2x32 on many counters at once, in the lanes of large integers.

An operation on Python's integers of a few hundred bits takes less time than one on even the smallest array.
"""

from __future__ import annotations

import sys
from array import array

from ..rules.random import PARITY, ROTATIONS

_WORD = 0xFFFFFFFF


def encrypt(key: tuple[int, int], high: array[int], low: array[int]) -> tuple[array[int], array[int]]:
    """The words of counters mixed with a key, as arrays of 64-bit integers.

    A word takes the low half of a lane of 64 bits. The high half has room for the carry of an addition and for the
    bits that a shift moves out, until a mask takes them away.

    >>> first, second = encrypt((0, 0), array("Q", [0]), array("Q", [0]))
    >>> hex(first[0]), hex(second[0])
    ('0x6b200159', '0x99ba4efe')
    """
    ones = int.from_bytes((array("Q", [1]) * len(high)).tobytes(), sys.byteorder)
    mask = ones * _WORD
    schedule = [ones * word for word in (*key, key[0] ^ key[1] ^ PARITY)]
    first, second = (int.from_bytes(words.tobytes(), sys.byteorder) for words in (high, low))
    first, second = (first + schedule[0]) & mask, (second + schedule[1]) & mask
    for group in range(5):
        for bits in ROTATIONS[group % 2]:
            first = (first + second) & mask
            second = (second << bits | second >> (32 - bits)) & mask ^ first
        first = (first + schedule[(group + 1) % 3]) & mask
        second = (second + schedule[(group + 2) % 3] + ones * (group + 1)) & mask
    size = 8 * len(high)
    return array("Q", first.to_bytes(size, sys.byteorder)), array("Q", second.to_bytes(size, sys.byteorder))
