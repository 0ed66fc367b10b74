"""Methods of arrays that convert them or call a function of the namespace, and their flags."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import pickle
from contextlib import nullcontext
from operator import index
from os import PathLike
from typing import Any, Final, Self

import numpy

from ..errors import ArgumentError, DTypeError, ShapeError, expected
from ..tensor import Tensor, public_op
from ..tensor.missing_names import MissingArrayAttribute, existing
from .dtypes import HostOnlyError, dtype_of
from .holders import Holder, functions, tensor_of
from .layouts import is_writeable, layout_of

_astype: Final = public_op("astype")


class ArrayMethods(Holder):
    """The methods of arrays that need no more than what an array holds."""

    __slots__ = ()

    # To Python and NumPy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        """The elements as a NumPy array, in its own memory."""
        return numpy.array(tensor_of(self).__array__(), dtype=dtype, copy=True)

    def __dir__(self) -> list[str]:
        return existing(type(self), super().__dir__())

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """A copy of the elements for libraries that read memory, such as Pillow."""
        array = _readable_copy(self, "__array_interface__")
        return {"version": 3, "shape": array.shape, "typestr": array.dtype.str, "strides": array.strides, "data": array}

    @property
    def __array_struct__(self) -> Any:
        """A copy of the elements for code in C that reads memory."""
        return _readable_copy(self, "__array_struct__").__array_struct__

    @property
    def data(self) -> memoryview:
        """A copy of the elements as a buffer."""
        return _readable_copy(self, "data").data

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        """A DLPack capsule for `from_dlpack` of other libraries: of a copy where they may write to the memory."""
        t = tensor_of(self)
        source: Any = numpy.array(t.data) if isinstance(t.data, numpy.ndarray) else t
        return source.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device type and number: (1, 0) on the CPU."""
        return tensor_of(self).__dlpack_device__()

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return functions["numpy_function"](function, types, arguments, options)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return tensor_of(self).tolist()

    def tobytes(self, order: str | None = "C") -> bytes:
        """The elements as bytes, row-major, or with the order "A" as they lie if the first axis is the closest one."""
        if order == "A":
            order = "F" if self.flags.fnc else "C"
        return numpy.asarray(self).tobytes(order)  # type: ignore[arg-type] # NumPy says which

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file, as bytes or as text."""
        numpy.asarray(self).tofile(fid, sep, format)

    def byteswap(self, inplace: bool = False) -> Any:
        """The elements with their bytes in the other order."""
        made = functions["asarray"](numpy.asarray(self).byteswap())
        if not inplace:
            return made
        self[...] = made  # type: ignore[index] # of the class that has it
        return self

    def __bool__(self) -> bool:
        t = tensor_of(self)
        if t.size != 1:
            text = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            raise ShapeError(text if t.size else "The truth value of an empty array is ambiguous. Use `array.size > 0`")
        return bool(t)

    def __int__(self) -> int:
        return int(_sole(self))

    def __float__(self) -> float:
        return float(_sole(self))

    def __complex__(self) -> complex:
        return complex(_sole(self))

    def __index__(self) -> int:
        return index(tensor_of(self))

    def __hash__(self) -> int:
        if self._template().shape:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return hash(tensor_of(self).item())

    def __repr__(self) -> str:
        return str(functions["array_repr"](self))

    def __str__(self) -> str:
        return str(functions["array_str"](self))

    def __format__(self, specification: str) -> str:
        return format(tensor_of(self).item(), specification) if not self.shape and specification else str(self)

    @property
    def flags(self) -> Flags:
        """NumPy's flags of the memory, such as `c_contiguous` and `writeable`."""
        return Flags(self)

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps in bytes along each axis in NumPy's memory."""
        return layout_of(self).strides

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """The entries along an axis where a condition is true."""
        return functions["compress"](condition, self, axis, out)

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Make an array read-only, or writeable again."""
        if align is not None or uic:
            raise ArgumentError(expected("no flag but write", align=align, uic=uic))
        if write is not None:
            functions["set_writeable"](self, bool(write))

    def __buffer__(self, flags: int) -> memoryview:
        """The elements as bytes, for `memoryview(x)` from Python 3.12 on; writing to them changes nothing here."""
        # Not `numpy.array(self)`: NumPy asks an object for its buffer first.
        elements: Any = numpy.array(tensor_of(self).__array__(), order="C", copy=True)
        return memoryview(elements)

    def __release_buffer__(self, buffer: memoryview) -> None:
        """Releases what `__buffer__` returned; `numpy.frombuffer` reads freed memory if a class lacks this method."""
        buffer.release()

    def dumps(self) -> bytes:
        """The array as a pickle."""
        return pickle.dumps(self)

    def dump(self, file: Any) -> None:
        """Write the array to a file as a pickle."""
        with open(file, "wb") if isinstance(file, str | PathLike) else nullcontext(file) as stream:
            stream.write(self.dumps())

    # Other views and copies

    @property
    def mT(self) -> Self:
        """Swap the last two axes: a view."""
        return functions["matrix_transpose"](self)

    def transpose(self, *axes: Any) -> Self:
        """The axes in another order, by default reversed: a view."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return functions["transpose"](self, order)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Self:
        """The elements in another shape: a view if their order in memory allows it."""
        return functions["reshape"](self, shape[0] if len(shape) == 1 else shape, order, copy=copy)

    def flatten(self, order: str = "C") -> Self:
        """The elements along one axis, as a new array."""
        return functions["flatten"](self, order)

    def __copy__(self) -> Self:
        return functions["copy_in_order"](self, "C")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """The memory viewed as another dtype, or the array itself as a view."""
        return functions["view"](self, dtype, type)

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Self:
        """The elements in another dtype, as a new array."""
        t = tensor_of(self)
        try:
            given, target = t.template.dtype, dtype_of(dtype)
        except HostOnlyError:
            elements: Any = numpy.array(self)
            return elements.astype(dtype, casting=casting)
        if order != "C" and (self._t is None or order == "F") and len(t.template.shape) > 1:
            return functions["astype_in_order"](self, dtype, order, casting, copy)
        if given is not target and casting == "unsafe" and t.template.shape and not given.is_complex:
            return functions["box"](_astype(t, target))
        return functions["astype"](self, dtype, casting=casting, copy=copy)

    @property
    def flat(self) -> Any:
        """An iterator over the elements, which can be indexed and assigned to."""
        return functions["flatiter"](self)

    @flat.setter
    def flat(self, value: Any) -> None:
        functions["flatiter"](self)[...] = value

    @property
    def real(self) -> Self:
        """The real parts: a view."""
        return functions["real"](self)

    @real.setter
    def real(self, value: Any) -> None:
        functions["real"](self)[...] = value

    @property
    def imag(self) -> Self:
        """The imaginary parts: a view."""
        return functions["imag"](self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if not self._template().dtype.is_complex:
            raise DTypeError("array does not have imaginary part to set")
        functions["imag"](self)[...] = value

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return functions["namespace"]()


def _readable_copy(x: Holder, name: str) -> numpy.ndarray[Any, Any]:
    """A copy of the elements; `AttributeError` for a dtype that NumPy's names do not tell, such as bfloat16."""
    array: numpy.ndarray[Any, Any] = numpy.array(tensor_of(x).__array__(), order="C", copy=True)
    if array.dtype.kind == "V":
        raise AttributeError(name)
    return array


def _sole(x: Holder) -> Any:
    t = tensor_of(x)
    if t.size != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return t.item()


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
        return getattr(layout_of(self._array).flags, name)

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
        return getattr(self, short)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in ("W", "WRITEABLE"):
            raise ArgumentError(expected("the flag WRITEABLE, which alone can be set", name=name))
        self.writeable = value

    def __repr__(self) -> str:
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in _SHOWN) + "\n"


Flags.__name__ = Flags.__qualname__ = "flagsobj"


for _name in {*dir(Tensor), "at", "clone", "cpu", "ctypes", "detach", "getfield", "setfield"} - {*dir(ArrayMethods)}:
    setattr(ArrayMethods, _name, MissingArrayAttribute(_name))  # those of `ndarray` come first
