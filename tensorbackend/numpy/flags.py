"""`x.flags`: where NumPy would keep the elements of an array, and whether it may be written to."""

from __future__ import annotations

from typing import Any, Final

from ..errors import ArgumentError, expected
from .holders import Holder, functions
from .layouts import is_writeable, layout_of

_SHORT: Final = {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned",
                 "X": "writebackifcopy", "B": "behaved", "CA": "carray", "FA": "farray", "FORTRAN": "f_contiguous",
                 "CONTIGUOUS": "c_contiguous"}  # fmt: skip
"""The short names of flags."""

_OF_LAYOUT: Final = frozenset({"c_contiguous", "contiguous", "f_contiguous", "fnc", "forc", "fortran"})

_SHOWN: Final = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")


class Flags:
    """The flags of an array, which follow it.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> x = np.zeros((2, 3))
    >>> x.T.flags.f_contiguous, x.T.flags.owndata
    (True, False)
    >>> x.flags.writeable = False
    """

    __slots__ = ("_array",)

    aligned = True
    writebackifcopy = False

    def __init__(self, x: Holder) -> None:
        self._array = x

    def __getattr__(self, name: str) -> bool:
        """How the elements lie in memory, such as `c_contiguous` and `forc`, by NumPy's flags of the layout."""
        if name not in _OF_LAYOUT:
            raise AttributeError(f"'flagsobj' object has no attribute {name!r}", name=name, obj=self)
        flag: bool = getattr(layout_of(self._array).flags, name)
        return flag

    @property
    def owndata(self) -> bool:
        """Whether the array is no view."""
        return self._array.base is None

    @property
    def writeable(self) -> bool:
        """Whether the array may be written to. It may be assigned to."""
        return is_writeable(self._array)

    @writeable.setter
    def writeable(self, value: Any) -> None:
        functions["set_writeable"](self._array, bool(value))

    @property
    def behaved(self) -> bool:
        """Whether the array is aligned and writeable."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """Whether the array is row-major and writeable."""
        return self.c_contiguous and self.writeable

    @property
    def farray(self) -> bool:
        """Whether the array is column-major, not row-major, and writeable."""
        return self.fnc and self.writeable

    @property
    def num(self) -> int:
        """The flags as bits of an int."""
        bits = {"c_contiguous": 1, "f_contiguous": 2, "owndata": 4, "aligned": 0x100, "writeable": 0x400}
        return sum(bit for name, bit in bits.items() if getattr(self, name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and self.num == other.num

    def __hash__(self) -> int:
        return hash(self.num)

    def __getitem__(self, name: str) -> bool:
        short = _SHORT.get(name, name.lower())
        if short not in _OF_LAYOUT and not hasattr(Flags, short):
            raise KeyError("Unknown flag")
        flag: bool = getattr(self, short)
        return flag

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in ("W", "WRITEABLE"):
            raise ArgumentError(expected("the flag WRITEABLE, which alone can be set", name=name))
        self.writeable = value

    def __repr__(self) -> str:
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in _SHOWN) + "\n"


Flags.__name__ = Flags.__qualname__ = "flagsobj"
