"""Functions of the host: texts of arrays, dtypes, files, functions applied element by element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Final

import numpy

import tensorbackend as tb

from ..dtypes import DType, bool_
from ..errors import ArgumentError, TemplateDataError
from ..select import call_with_default
from ..tensor import Tensor
from .arrays import box, functions, ndarray, root, tensor_of
from .conversion import NUMBERS, asarray, back, cast, host, tensor
from .dtypes import HostOnlyError, dtype_of, numpy_dtype
from .functions import Array, function, public
from .homes import home_of
from .keys import HOST
from .layouts import layout_of

# Texts


def _text(write: Callable[..., str], x: Any, *options: Any) -> str:
    """The text of an array's elements on the host; of its template if it has none."""
    t = tensor(x)
    try:
        shown = numpy.asarray(t)
    except TemplateDataError:
        return f"<{t.template!r}>"
    return write(shown, *options)


@public(home=False)
def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The text `array(...)` of an array."""
    text = _text(numpy.array_repr, arr, max_line_width, precision, suppress_small)
    return f"array({text})" if text.startswith("<") else text


@public(home=False)
def array_str(a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The elements of an array as text."""
    return _text(numpy.array_str, a, max_line_width, precision, suppress_small)


@public(home=False)
def array2string(a: Any, *arguments: Any, **options: Any) -> str:
    """The elements of an array as text, with options."""
    return numpy.array2string(numpy.asarray(tensor(a)), *arguments, **options)


# Dtypes


def _dtype(x: Any) -> Any:
    """NumPy's dtype of an array, a tensor or a dtype of the library; anything else unchanged."""
    x = x.dtype if x.__class__ is ndarray or isinstance(x, Tensor) else x
    return numpy_dtype(x) if isinstance(x, DType) else x


@public(home=False)
def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that several arrays and dtypes are promoted to."""
    return numpy.result_type(*map(_dtype, arrays_and_dtypes))


@public(home=False)
def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest dtype that holds two."""
    return numpy.promote_types(numpy_dtype(dtype_of(type1)), numpy_dtype(dtype_of(type2)))


@public(home=False)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Test whether a dtype may be cast to another."""
    return numpy.can_cast(_dtype(from_), _dtype(to), casting)


@public(home=False)
def min_scalar_type(a: Any) -> Any:
    """The smallest dtype that holds a number."""
    return numpy.min_scalar_type(host(a))


@public(home=False)
def common_type(*arrays: Any) -> Any:
    """The inexact class of numbers that several arrays share."""
    return numpy.common_type(*[numpy.empty(0, asarray(x).dtype) for x in arrays])


@public(home=False)
def finfo(dtype: Any) -> Any:
    """The limits of a floating dtype."""
    return _limits("finfo", _dtype(dtype))


@public(home=False)
def iinfo(int_type: Any) -> Any:
    """The limits of an integer dtype."""
    return _limits("iinfo", _dtype(int_type))


def _limits(name: str, dtype: Any) -> Any:
    """The limits of a dtype by NumPy, or by ml_dtypes where it is one of its."""
    known = dtype.dtype if isinstance(dtype, numpy.generic) else dtype
    with suppress(TypeError):
        known = numpy.dtype(known)
    if isinstance(known, numpy.dtype) and known.type.__module__ == "ml_dtypes":
        return getattr(import_module("ml_dtypes"), name)(known)
    return getattr(numpy, name)(dtype)


@public(home=False)
def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind."""
    return numpy.issubdtype(_dtype(arg1), _dtype(arg2))


@public(home=False)
def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind, named as in the Array API standard."""
    return numpy.isdtype(_dtype(dtype), kind)


@public(home=False)
def isscalar(element: Any) -> bool:
    """Test whether an object is a number."""
    return numpy.isscalar(element)


@public(home=False)
def iterable(y: Any) -> bool:
    """Test whether an object can be iterated over."""
    try:
        iter(y)
    except TypeError:
        return False
    return not (y.__class__ is ndarray and not y.ndim)


@public(home=False)
def isfortran(a: Any) -> bool:
    """Test whether an array is column-major, and not row-major, in NumPy's memory."""
    return bool(asarray(a).flags.fnc)


@public(home=False)
def shares_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Test whether two arrays have an element in common, so that a write to one changes the other."""
    return _overlap(numpy.shares_memory, a, b, max_work)


@public(home=False)
def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Test whether the ranges of memory of two arrays overlap."""
    return _overlap(numpy.may_share_memory, a, b, max_work)


def _overlap(test: Callable[..., bool], a: Any, b: Any, work: Any) -> bool:
    if a.__class__ is ndarray and b.__class__ is ndarray:
        return root(a) is root(b) and test(layout_of(a), layout_of(b), work)
    return isinstance(a, numpy.ndarray) and isinstance(b, numpy.ndarray) and test(a, b, work)


@public(home=False)
def binary_repr(num: int, width: int | None = None) -> str:
    """A number's binary digits."""
    return numpy.binary_repr(operator.index(num), width)


@public(home=False)
def base_repr(number: int, base: int = 2, padding: int = 0) -> str:
    """A number's digits to a base."""
    return numpy.base_repr(operator.index(number), base, padding)


@function
def packbits(a: Array, /, axis: Any = None, bitorder: str = "big") -> Array:
    """Nonzero elements as bits of bytes."""
    _check_bit_order(bitorder)
    if not (a.dtype.is_integer or a.dtype is bool_):
        raise TypeError("Expected an input array of integer or boolean data type")
    x = _flat_or_last(a, axis)
    bits = cast(tb.not_equal(x, 0) if x.dtype is not bool_ else x, tb.uint8)
    missing = -bits.shape[-1] % 8
    bits = tb.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    bits = tb.reshape(bits, (*bits.shape[:-1], bits.shape[-1] // 8, 8))
    weights = [1 << place for place in range(8)]
    scaled = bits * tb.asarray(weights[::-1] if bitorder == "big" else weights, dtype=tb.uint8)
    made = cast(tb.sum(scaled, axis=-1), tb.uint8)
    return made if axis is None else tb.moveaxis(made, -1, axis)


def _check_bit_order(bitorder: Any) -> None:
    if not isinstance(bitorder, str):
        raise TypeError(f"bitorder must be str, not {type(bitorder).__name__}")
    if bitorder not in ("big", "little"):
        raise ArgumentError("'order' must be either 'little' or 'big'")


def _flat_or_last(a: Tensor, axis: Any) -> Tensor:
    """The tensor with an axis moved to the end; the flat tensor for None."""
    return tb.reshape(a, (-1,)) if axis is None else tb.moveaxis(a, operator.index(axis), -1)


@function
def unpackbits(a: Array, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Array:
    """The bits of bytes as elements 0 and 1."""
    if a.dtype is not tb.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    _check_bit_order(bitorder)
    x = _flat_or_last(a, axis)
    places = list(range(8))
    shifts = tb.asarray(places[::-1] if bitorder == "big" else places, dtype=tb.uint8)
    bits = tb.bitwise_and(tb.bitwise_right_shift(x[..., None], shifts), tb.asarray(1, dtype=tb.uint8))
    made = tb.reshape(bits, (*x.shape[:-1], x.shape[-1] * 8))
    if count is not None:
        if count > made.shape[-1]:
            made = tb.pad(made, [(0, 0)] * (made.ndim - 1) + [(0, count - made.shape[-1])])
        else:
            made = made[..., :count]
    return made if axis is None else tb.moveaxis(made, -1, axis)


# Functions of elements and of lines


class vectorize:
    """A function of numbers as one of arrays.

    The function is traced once and runs on all elements together (`tb.vmap`) if possible. If it reads its arguments,
    as in `if x > 0`, or does not return an array, it is called for each element on the host, as NumPy does.

    Parameters
    ----------
    pyfunc : function
        A function of numbers, or of arrays with a signature.
    otypes, doc, excluded, cache, signature
        As in NumPy.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> np.vectorize(lambda x, y: x + 2 * y)([1, 2], 10)
    array([21, 22])
    """

    def __init__(
        self, pyfunc: Any = None, otypes: Any = None, doc: Any = None, excluded: Any = None, cache: bool = False,
        signature: Any = None,
    ) -> None:  # fmt: skip
        self.pyfunc, self.otypes, self.cache, self.excluded, self.signature = pyfunc, otypes, cache, excluded, signature
        self._of_arrays = None if pyfunc is None else tb.vmap(pyfunc)
        self.__doc__ = doc or getattr(pyfunc, "__doc__", None)
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if self.pyfunc is None:
            return vectorize(arguments[0], self.otypes, None, self.excluded, self.cache, self.signature)
        home = home_of((*arguments, *keywords.values()))
        if home is not None:
            return call_with_default(home, lambda: self(*arguments, **keywords))
        if self._of_arrays is not None and not (keywords or self.excluded or self.signature) and arguments:
            try:
                if self._are_few(arguments):
                    return self._one_by_one(arguments, keywords)
            except TemplateDataError:  # the function captures a value of a trace
                pass
            together = self._together(arguments)
            if together is not None:
                return together
        return self._one_by_one(arguments, keywords)

    def _are_few(self, arguments: tuple[Any, ...]) -> bool:
        """Whether calls for each element take less time than a trace, as of a few elements in NumPy's memory."""

        def is_few(each: Any) -> bool:
            if each.__class__ is not ndarray:
                return each.__class__ in NUMBERS
            t = tensor_of(each)
            return t.data.__class__ is HOST and t.size <= _MOST_UNTRACED

        return all(map(is_few, arguments))

    def _one_by_one(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The results of the function for each element on the host."""
        otypes = self.otypes
        if otypes is not None and not isinstance(otypes, str):
            otypes = [numpy_dtype(each) if each.__class__ is DType else numpy.dtype(each) for each in otypes]
        of_host = numpy.vectorize(
            lambda *a, **k: host(self.pyfunc(*a, **k)), otypes, None, self.excluded, self.cache, self.signature
        )
        return back(of_host(*map(host, arguments), **{name: host(each) for name, each in keywords.items()}))

    def _together(self, arguments: tuple[Any, ...]) -> Any:
        try:
            given = [tensor(each) for each in arguments]
        except HostOnlyError:
            return None
        shape = tb.broadcast_shapes(*[each.shape for each in given])
        if not shape or 0 in shape:
            return None
        wide = [box(tb.reshape(tb.broadcast_to(each, shape), (-1,))) for each in given]
        try:
            made = self._of_arrays(*wide)  # type: ignore[misc] # the caller asked
        except Exception:  # a function may do anything with its arguments; then it gets numbers, from now on
            self._of_arrays = None
            return None
        parts = made if isinstance(made, tuple) else (made,)
        if not all(each.__class__ is ndarray and each.ndim == 1 for each in parts):
            return None
        parts = tuple([each.reshape(shape) for each in parts])
        if self.otypes is not None:
            parts = tuple([each.astype(dtype) for each, dtype in zip(parts, self.otypes, strict=False)])
        return parts if isinstance(made, tuple) else parts[0]


_MOST_UNTRACED: Final = 128
"""The most elements of an array for which a function is called one by one although it could be traced."""

vectorize.__module__ = __package__


@public
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """The results of a function of each line along an axis."""
    x = asarray(arr)
    moved = functions["moveaxis"](x, axis, -1)
    shape = moved.shape[:-1]
    if not math.prod(shape):
        raise ArgumentError("Cannot apply_along_axis when any iteration dimensions are 0")
    lines = moved.reshape(-1, moved.shape[-1])
    made = [asarray(func1d(line, *args, **kwargs)) for line in lines]
    whole = functions["stack"](made).reshape(shape + made[0].shape)
    place = axis % x.ndim
    count = made[0].ndim
    order = [*range(place), *range(len(shape), len(shape) + count), *range(place, len(shape))]
    return whole.transpose(order)[()] if whole.ndim else whole[()]


@public
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """A function with an axis applied along one axis after another."""
    x = asarray(a)
    for axis in numpy.atleast_1d(axes):
        place = int(axis) % asarray(a).ndim
        made = asarray(func(x, place))
        x = made if made.ndim == x.ndim else functions["expand_dims"](made, place)
    return x


# Warnings of floating point: none are raised here


class errstate:
    """A block with other handling of floating-point errors in NumPy; here they silently follow IEEE 754."""

    def __init__(self, *, call: Any = None, all: Any = None, **kinds: Any) -> None:
        self._numpy = numpy.errstate(**({"all": all} if all else {}), **kinds)

    def __enter__(self) -> None:
        self._numpy.__enter__()

    def __exit__(self, *error: object) -> None:
        self._numpy.__exit__(*error)  # type: ignore[arg-type] # its length is not known

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function


errstate.__module__ = __package__


@public(home=False)
def seterr(
    all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None
) -> Mapping[str, str]:
    """How NumPy treats floating-point errors of numbers; those of arrays silently follow IEEE 754."""
    return numpy.seterr(all, divide, over, under, invalid)  # type: ignore[return-value] # a `TypedDict` is a dictionary


@public(home=False)
def geterr() -> Mapping[str, str]:
    """How NumPy treats floating-point errors of numbers."""
    return numpy.geterr()  # type: ignore[return-value] # a `TypedDict` is a dictionary


@contextmanager
def printoptions(*arguments: Any, **options: Any) -> Iterator[Any]:
    """A block with other options for the texts of arrays."""
    with numpy.printoptions(*arguments, **options) as chosen:
        yield chosen
