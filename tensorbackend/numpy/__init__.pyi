"""NumPy's names, arguments and views on any backend. Written by `python -m tensorbackend.numpy.stub`."""


import builtins
from types import EllipsisType
from typing import Any, Callable, Generic, Iterable, Iterator, Literal, overload

import numpy as _numpy
from typing_extensions import TypeVar

from tensorbackend import Tensor

from . import exceptions as exceptions
from . import fft as fft
from . import lib as lib
from . import linalg as linalg
from . import polynomial as polynomial
from . import random as random
from . import testing as testing
from . import typing as typing
from .lib import scimath as emath
from .univariate import poly1d as poly1d

_Shape = TypeVar("_Shape", default=Any)
_DType = TypeVar("_DType", default=Any)

class ufunc:
    __name__: str
    nin: int
    nout: int
    nargs: int
    identity: Any
    def __call__(
        self, *args: Any, out: Any = ..., where: Any = ..., dtype: Any = ..., casting: Any = ..., order: Any = ...,
    ) -> Any: ...
    def reduce(
        self, array: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: builtins.bool = ...,
        initial: Any = ..., where: Any = ...,
    ) -> Any: ...
    def accumulate(self, array: Any, axis: int = ..., dtype: Any = ..., out: Any = ...) -> Any: ...
    def reduceat(self, array: Any, indices: Any, axis: int = ..., dtype: Any = ..., out: Any = ...) -> Any: ...
    def outer(self, a: Any, b: Any, /, **options: Any) -> Any: ...
    def at(self, a: Any, indices: Any, b: Any = ..., /) -> None: ...

class _SoleResult(ufunc):
    @overload
    def __call__(
        self, x1: complex | generic, x2: complex | generic = ..., /, *, where: Any = ..., dtype: Any = ...,
        casting: Any = ..., order: Any = ...,
    ) -> _ArrayOrNumber: ...
    @overload
    def __call__(
        self, *args: Any, out: Any = ..., where: Any = ..., dtype: Any = ..., casting: Any = ..., order: Any = ...,
    ) -> ndarray: ...

class ndarray(Generic[_Shape, _DType]):
    def __init__(self, shape: Any, dtype: Any = ..., buffer: Any = ..., offset: int = ...) -> None: ...
    @property
    def T(self) -> ndarray: ...
    def __abs__(self) -> ndarray: ...
    def __add__(self, x2: Any) -> ndarray: ...
    def __and__(self, x2: Any) -> ndarray: ...
    def __array__(self, dtype: Any = ..., copy: Any = ...) -> Any:
        """The elements as a NumPy array, in its own memory."""
    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any: ...
    @property
    def __array_interface__(self) -> Any: ...
    def __array_namespace__(self, *, api_version: Any = ...) -> Any: ...
    @property
    def __array_struct__(self) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **options: Any) -> Any: ...
    def __bool__(self) -> builtins.bool: ...
    def __buffer__(self, flags: int) -> Any:
        """The elements as bytes, for `memoryview(x)` from Python 3.12 on; writing to them changes nothing here."""
    def __complex__(self) -> complex: ...
    def __contains__(self, value: Any) -> builtins.bool: ...
    def __copy__(self) -> ndarray: ...
    def __deepcopy__(self, memo: Any) -> ndarray: ...
    def __divmod__(self, other: Any) -> Any: ...
    def __dlpack__(self, *, stream: Any = ..., max_version: Any = ..., dl_device: Any = ..., copy: Any = ...) -> Any:
        """A DLPack capsule for `from_dlpack` of other libraries: of a copy where they may write to the memory."""
    def __dlpack_device__(self) -> Any:
        """DLPack's device type and number: (1, 0) on the CPU."""
    def __eq__(self, x2: Any) -> Any: ...
    def __float__(self) -> float: ...
    def __floordiv__(self, x2: Any) -> ndarray: ...
    def __ge__(self, x2: Any) -> ndarray: ...
    @overload
    def __getitem__(self, key: slice | list[Any] | range | EllipsisType | None) -> ndarray: ...
    @overload
    def __getitem__(self, key: int | integer[Any] | tuple[Any, ...] | str) -> Any: ...
    @overload
    def __getitem__(self, key: ndarray | _numpy.ndarray[Any, Any] | Tensor) -> _ArrayOrNumber: ...
    def __gt__(self, x2: Any) -> ndarray: ...
    def __iadd__(self, x2: Any) -> ndarray: ...
    def __iand__(self, x2: Any) -> ndarray: ...
    def __ifloordiv__(self, x2: Any) -> ndarray: ...
    def __ilshift__(self, x2: Any) -> ndarray: ...
    def __imatmul__(self, x2: Any) -> ndarray: ...
    def __imod__(self, x2: Any) -> ndarray: ...
    def __imul__(self, x2: Any) -> ndarray: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> ndarray: ...
    def __ior__(self, x2: Any) -> ndarray: ...
    def __ipow__(self, x2: Any) -> ndarray: ...  # type: ignore[misc] # not the signature of __pow__
    def __irshift__(self, x2: Any) -> ndarray: ...
    def __isub__(self, x2: Any) -> ndarray: ...
    def __iter__(self) -> Any: ...
    def __itruediv__(self, x2: Any) -> ndarray: ...
    def __ixor__(self, x2: Any) -> ndarray: ...
    def __le__(self, x2: Any) -> ndarray: ...
    def __len__(self) -> int: ...
    def __lshift__(self, x2: Any) -> ndarray: ...
    def __lt__(self, x2: Any) -> ndarray: ...
    def __matmul__(self, x2: Any) -> ndarray: ...
    def __mod__(self, x2: Any) -> ndarray: ...
    def __mul__(self, x2: Any) -> ndarray: ...
    def __ne__(self, x2: Any) -> Any: ...
    def __neg__(self) -> ndarray: ...
    def __or__(self, x2: Any) -> ndarray: ...
    def __pos__(self) -> ndarray: ...
    def __pow__(self, x2: Any, modulus: Any = ...) -> ndarray: ...
    def __radd__(self, x1: Any) -> ndarray: ...
    def __rand__(self, x1: Any) -> ndarray: ...
    def __rdivmod__(self, other: Any) -> Any: ...
    def __release_buffer__(self, buffer: Any) -> None:
        """Releases what `__buffer__` returned; `numpy.frombuffer` reads freed memory if a class lacks this method."""
    def __rfloordiv__(self, x1: Any) -> ndarray: ...
    def __rlshift__(self, x1: Any) -> ndarray: ...
    def __rmatmul__(self, x1: Any) -> ndarray: ...
    def __rmod__(self, x1: Any) -> ndarray: ...
    def __rmul__(self, x1: Any) -> ndarray: ...
    def __ror__(self, x1: Any) -> ndarray: ...
    def __rpow__(self, x1: Any) -> ndarray: ...
    def __rrshift__(self, x1: Any) -> ndarray: ...
    def __rshift__(self, x2: Any) -> ndarray: ...
    def __rsub__(self, x1: Any) -> ndarray: ...
    def __rtruediv__(self, x1: Any) -> ndarray: ...
    def __rxor__(self, x1: Any) -> ndarray: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __sub__(self, x2: Any) -> ndarray: ...
    def __truediv__(self, x2: Any) -> ndarray: ...
    def __xor__(self, x2: Any) -> ndarray: ...
    def all(self, axis: Any = ..., out: Any = ..., keepdims: Any = ..., *, where: Any = ...) -> _ArrayOrNumber:
        """Test whether all elements are true (not zero; NaN is true). True if there are no elements."""
    def any(self, axis: Any = ..., out: Any = ..., keepdims: Any = ..., *, where: Any = ...) -> _ArrayOrNumber:
        """Test whether any element is true (not zero; NaN is true). False if there are no elements."""
    def argmax(self, axis: Any = ..., out: Any = ..., *, keepdims: Any = ...) -> _ArrayOrNumber:
        """Index (int64) of the maximum along an axis, or in the flattened tensor if `axis` is `None`."""
    def argmin(self, axis: Any = ..., out: Any = ..., *, keepdims: Any = ...) -> _ArrayOrNumber:
        """Index (int64) of the minimum along an axis, or in the flattened tensor if `axis` is `None`."""
    def argpartition(self, kth: Any, axis: Any = ..., kind: Any = ..., order: Any = ...) -> ndarray:
        """The indices of `partition`."""
    def argsort(self, axis: Any = ..., kind: Any = ..., order: Any = ..., *, stable: Any = ...) -> ndarray:
        """The indices that sort along an axis."""
    def astype(self, dtype: Any, order: str = ..., casting: str = ..., subok: builtins.bool = ..., copy: builtins.bool = ...) -> ndarray:
        """The elements in another dtype, as a new array."""
    @property
    def base(self) -> Any: ...
    def byteswap(self, inplace: builtins.bool = ...) -> Any:
        """The elements with their bytes in the other order."""
    def choose(self, choices: Any, out: Any = ..., mode: str = ...) -> Any:
        """For each element the entry of the array that it names."""
    def clip(self, a_min: Any = ..., a_max: Any = ..., out: Any = ..., *, min: Any = ..., max: Any = ..., dtype: Any = ..., **kwargs: Any) -> _ArrayOrNumber:
        """Each element clipped to two bounds."""
    def compress(self, condition: Any, axis: Any = ..., out: Any = ...) -> Any:
        """The entries along an axis where a condition is true."""
    def conj(self, out: Any = ...) -> _ArrayOrNumber:
        """The complex conjugates: a real array itself."""
    def conjugate(self, out: Any = ...) -> _ArrayOrNumber:
        """The complex conjugates: a real array itself."""
    def copy(self, order: str = ...) -> ndarray:
        """Copy: a new array with the same elements."""
    def cumprod(self, axis: Any = ..., dtype: Any = ..., out: Any = ...) -> ndarray:
        """Cumulative product along an axis, from the end if `reverse`."""
    def cumsum(self, axis: Any = ..., dtype: Any = ..., out: Any = ...) -> ndarray:
        """Cumulative sum along an axis, from the end if `reverse`."""
    @property
    def data(self) -> Any: ...
    @property
    def device(self) -> str: ...
    def diagonal(self, offset: int = ..., axis1: int = ..., axis2: int = ...) -> ndarray:
        """A diagonal of matrices: a view that cannot be written to."""
    def dot(self, b: Any, out: Any = ...) -> _ArrayOrNumber:
        """The product of matrices and vectors; for more axes the sum over the last of a and the second-to-last of b."""
    @property
    def dtype(self) -> Any: ...
    @dtype.setter
    def dtype(self, value: Any) -> None: ...
    def dump(self, file: Any) -> None:
        """Write the array to a file as a pickle."""
    def dumps(self) -> bytes:
        """The array as a pickle."""
    def fill(self, value: Any) -> None:
        """Set all elements to a value."""
    @property
    def flags(self) -> Any: ...
    @property
    def flat(self) -> Any: ...
    @flat.setter
    def flat(self, value: Any) -> None: ...
    def flatten(self, order: str = ...) -> ndarray:
        """The elements along one axis, as a new array."""
    @property
    def imag(self) -> ndarray: ...
    @imag.setter
    def imag(self, value: Any) -> None: ...
    def item(self, *position: Any) -> Any:
        """An element as a Python number: the only one, or the one at a position."""
    @property
    def itemsize(self) -> int: ...
    @property
    def mT(self) -> ndarray: ...
    def max(self, axis: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
        """Maximum of the elements; NaN if any element is NaN."""
    def mean(self, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., *, where: Any = ...) -> _ArrayOrNumber:
        """Arithmetic mean; NaN if there are no elements. Integers and bool are converted to the default floating dtype."""
    def min(self, axis: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
        """Minimum of the elements; NaN if any element is NaN."""
    @property
    def names(self) -> Any: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    def nonzero(self) -> tuple[ndarray, ...]:
        """The positions of the nonzero elements, an array for each axis."""
    def partition(self, kth: Any, axis: int = ..., kind: str = ..., order: Any = ...) -> None:
        """Partition the elements along an axis as `np.partition` does, in place."""
    def prod(self, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
        """Product of the elements; 1 if there are none. Small integers and bool use 64 bits unless `dtype` is given."""
    def put(self, ind: Any, v: Any, mode: str = ...) -> None:
        """Write values, repeated as needed, at positions of the flat array."""
    def ravel(self, order: str = ...) -> ndarray:
        """The elements along one axis: a view if they are in that order in memory."""
    @property
    def real(self) -> ndarray: ...
    @real.setter
    def real(self, value: Any) -> None: ...
    def repeat(self, repeats: Any, axis: Any = ...) -> ndarray:
        """Each element repeated along an axis, by default of the flat array."""
    def reshape(self, *shape: Any, order: str = ..., copy: Any = ...) -> ndarray:
        """The elements in another shape: a view if their order in memory allows it."""
    def resize(self, *shape: Any, refcheck: builtins.bool = ...) -> None:
        """Change the shape in place, padded with zeros."""
    def round(self, decimals: int = ..., out: Any = ...) -> _ArrayOrNumber:
        """Each element rounded to some decimals, ties to even."""
    def searchsorted(self, v: Any, side: str = ..., sorter: Any = ...) -> _ArrayOrNumber:
        """Find the indices at which values would be inserted to keep a sequence sorted."""
    def setflags(self, write: Any = ..., align: Any = ..., uic: Any = ...) -> None:
        """Make an array read-only, or writeable again."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @shape.setter
    def shape(self, value: Any) -> None: ...
    @property
    def size(self) -> int: ...
    def sort(self, axis: int = ..., kind: Any = ..., order: Any = ..., *, stable: Any = ...) -> None:
        """Sort the elements along an axis, in place."""
    def squeeze(self, axis: Any = ...) -> ndarray:
        """The array without axes of size 1: a view, or the array itself if it has none."""
    def std(self, axis: Any = ..., dtype: Any = ..., out: Any = ..., ddof: Any = ..., keepdims: Any = ..., *, where: Any = ..., mean: Any = ..., correction: Any = ...) -> _ArrayOrNumber:
        """Standard deviation: the square root of the variance. The divisor is the number of elements minus `correction`."""
    @property
    def strides(self) -> tuple[int, ...]: ...
    def sum(self, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
        """Sum of the elements; 0 if there are none. Small integers and bool are summed in 64 bits unless `dtype` is given."""
    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        """Two axes exchanged: a view."""
    def take(self, indices: Any, axis: Any = ..., out: Any = ..., mode: Any = ...) -> _ArrayOrNumber:
        """The elements at indices along an axis, by default of the flat array."""
    @property
    def tensor(self) -> Tensor: ...
    def to_device(self, device: str, /, *, stream: Any = ...) -> ndarray:
        """The array on another device of its backend."""
    def tobytes(self, order: Any = ...) -> bytes:
        """The elements as bytes, row-major, or with the order "A" as they lie if the first axis is the closest one."""
    def tofile(self, fid: Any, sep: str = ..., format: str = ...) -> None:
        """Write the elements to a file, as bytes or as text."""
    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
    def trace(self, offset: Any = ..., axis1: Any = ..., axis2: Any = ..., dtype: Any = ..., out: Any = ...) -> _ArrayOrNumber:
        """The sum of a diagonal."""
    def transpose(self, *axes: Any) -> ndarray:
        """The axes in another order, by default reversed: a view."""
    def var(self, axis: Any = ..., dtype: Any = ..., out: Any = ..., ddof: Any = ..., keepdims: Any = ..., *, where: Any = ..., mean: Any = ..., correction: Any = ...) -> _ArrayOrNumber:
        """Variance. The divisor is the number of elements minus `correction`; the result is NaN if that is not positive."""
    def view(self, dtype: Any = ..., type: Any = ...) -> Any:
        """The memory viewed as another dtype, or the array itself as a view."""

class _ArrayOrNumber(ndarray, float):  # type: ignore[misc] # as both have operators
    """What is an array, or a number where it has no axes: neither is a mistake in a program that uses it as one."""

    def __abs__(self) -> _ArrayOrNumber: ...
    def __add__(self, other: Any) -> _ArrayOrNumber: ...
    def __and__(self, other: Any) -> _ArrayOrNumber: ...
    def __floordiv__(self, other: Any) -> _ArrayOrNumber: ...
    def __ge__(self, other: Any) -> _ArrayOrNumber: ...  # type: ignore[override] # float's take numbers alone
    def __gt__(self, other: Any) -> _ArrayOrNumber: ...  # type: ignore[override] # float's take numbers alone
    def __iadd__(self, other: Any) -> _ArrayOrNumber: ...
    def __iand__(self, other: Any) -> _ArrayOrNumber: ...
    def __ifloordiv__(self, other: Any) -> _ArrayOrNumber: ...
    def __ilshift__(self, other: Any) -> _ArrayOrNumber: ...
    def __imatmul__(self, other: Any) -> _ArrayOrNumber: ...
    def __imod__(self, other: Any) -> _ArrayOrNumber: ...
    def __imul__(self, other: Any) -> _ArrayOrNumber: ...
    def __invert__(self) -> _ArrayOrNumber: ...
    def __ior__(self, other: Any) -> _ArrayOrNumber: ...
    def __ipow__(self, other: Any) -> _ArrayOrNumber: ...  # type: ignore[override] # float's take numbers alone
    def __irshift__(self, other: Any) -> _ArrayOrNumber: ...
    def __isub__(self, other: Any) -> _ArrayOrNumber: ...
    def __itruediv__(self, other: Any) -> _ArrayOrNumber: ...
    def __ixor__(self, other: Any) -> _ArrayOrNumber: ...
    def __le__(self, other: Any) -> _ArrayOrNumber: ...  # type: ignore[override] # float's take numbers alone
    def __lshift__(self, other: Any) -> _ArrayOrNumber: ...
    def __lt__(self, other: Any) -> _ArrayOrNumber: ...  # type: ignore[override] # float's take numbers alone
    def __matmul__(self, other: Any) -> _ArrayOrNumber: ...
    def __mod__(self, other: Any) -> _ArrayOrNumber: ...
    def __mul__(self, other: Any) -> _ArrayOrNumber: ...
    def __neg__(self) -> _ArrayOrNumber: ...
    def __or__(self, other: Any) -> _ArrayOrNumber: ...
    def __pos__(self) -> _ArrayOrNumber: ...
    def __pow__(self, other: Any) -> _ArrayOrNumber: ...  # type: ignore[override] # float's take numbers alone
    def __radd__(self, other: Any) -> _ArrayOrNumber: ...
    def __rand__(self, other: Any) -> _ArrayOrNumber: ...
    def __rfloordiv__(self, other: Any) -> _ArrayOrNumber: ...
    def __rlshift__(self, other: Any) -> _ArrayOrNumber: ...
    def __rmatmul__(self, other: Any) -> _ArrayOrNumber: ...
    def __rmod__(self, other: Any) -> _ArrayOrNumber: ...
    def __rmul__(self, other: Any) -> _ArrayOrNumber: ...
    def __ror__(self, other: Any) -> _ArrayOrNumber: ...
    def __rpow__(self, other: Any) -> _ArrayOrNumber: ...  # type: ignore[override] # float's take numbers alone
    def __rrshift__(self, other: Any) -> _ArrayOrNumber: ...
    def __rshift__(self, other: Any) -> _ArrayOrNumber: ...
    def __rsub__(self, other: Any) -> _ArrayOrNumber: ...
    def __rtruediv__(self, other: Any) -> _ArrayOrNumber: ...
    def __rxor__(self, other: Any) -> _ArrayOrNumber: ...
    def __sub__(self, other: Any) -> _ArrayOrNumber: ...
    def __truediv__(self, other: Any) -> _ArrayOrNumber: ...
    def __xor__(self, other: Any) -> _ArrayOrNumber: ...

False_: Any
ScalarType: Any
True_: Any
__array_api_version__: str
__version__: str
abs: _SoleResult
absolute: _SoleResult
acos: _SoleResult
acosh: _SoleResult
add: _SoleResult
def all(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ..., *, where: Any = ...) -> _ArrayOrNumber:
    """Test whether all elements are true (not zero; NaN is true). True if there are no elements."""
def allclose(a: Any, b: Any, rtol: Any = ..., atol: Any = ..., equal_nan: builtins.bool = ...) -> builtins.bool:
    """Test whether all elements are equal within tolerances."""
def amax(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """Maximum of the elements; NaN if any element is NaN."""
def amin(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """Minimum of the elements; NaN if any element is NaN."""
def angle(z: Any, deg: Any = ...) -> _ArrayOrNumber:
    """The angle of each complex number, in radians or degrees."""
def any(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ..., *, where: Any = ...) -> _ArrayOrNumber:
    """Test whether any element is true (not zero; NaN is true). False if there are no elements."""
def append(arr: Any, values: Any, axis: Any = ...) -> ndarray:
    """An array joined with more elements."""
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """The results of a function of each line along an axis."""
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """A function with an axis applied along one axis after another."""
def arange(start: Any = ..., stop: Any = ..., step: Any = ..., dtype: Any = ..., *, device: Any = ..., like: Any = ...) -> ndarray:
    """Numbers from start up to stop, in steps."""
arccos: _SoleResult
arccosh: _SoleResult
arcsin: _SoleResult
arcsinh: _SoleResult
arctan: _SoleResult
arctan2: _SoleResult
arctanh: _SoleResult
def argmax(a: Any, axis: Any = ..., out: Any = ..., *, keepdims: Any = ...) -> _ArrayOrNumber:
    """Index (int64) of the maximum along an axis, or in the flattened tensor if `axis` is `None`."""
def argmin(a: Any, axis: Any = ..., out: Any = ..., *, keepdims: Any = ...) -> _ArrayOrNumber:
    """Index (int64) of the minimum along an axis, or in the flattened tensor if `axis` is `None`."""
def argpartition(a: Any, kth: Any, axis: Any = ..., kind: Any = ..., order: Any = ...) -> ndarray:
    """The indices of `partition`."""
def argsort(a: Any, axis: Any = ..., kind: Any = ..., order: Any = ..., *, stable: Any = ...) -> ndarray:
    """The indices that sort along an axis."""
def argwhere(a: Any) -> ndarray:
    """The positions of the nonzero elements, a row for each."""
def around(a: Any, decimals: int = ..., out: Any = ...) -> _ArrayOrNumber:
    """Each element rounded to some decimals, ties to even."""
def array(object: Any, dtype: Any = ..., *, copy: Any = ..., order: Any = ..., subok: builtins.bool = ..., ndmin: int = ..., ndmax: int = ..., like: Any = ..., device: Any = ...) -> ndarray:
    """Make a new array with the elements of a value."""
def array2string(a: Any, max_line_width: Any = ..., precision: Any = ..., suppress_small: Any = ..., separator: Any = ..., prefix: Any = ..., *, formatter: Any = ..., threshold: Any = ..., edgeitems: Any = ..., sign: Any = ..., floatmode: Any = ..., suffix: Any = ..., legacy: Any = ...) -> str:
    """The elements of an array as text, with options."""
def array_equal(a1: Any, a2: Any, equal_nan: builtins.bool = ...) -> builtins.bool:
    """Test whether two arrays have the same shape and elements."""
def array_equiv(a1: Any, a2: Any) -> builtins.bool:
    """Test whether two arrays have the same elements after broadcasting."""
def array_repr(arr: Any, max_line_width: Any = ..., precision: Any = ..., suppress_small: Any = ...) -> str:
    """The text `array(...)` of an array."""
def array_split(ary: Any, indices_or_sections: Any, axis: int = ...) -> list[ndarray]:
    """Parts of an array along an axis, of sizes that may differ by one: views."""
def array_str(a: Any, max_line_width: Any = ..., precision: Any = ..., suppress_small: Any = ...) -> str:
    """The elements of an array as text."""
def asanyarray(a: Any, dtype: Any = ..., order: Any = ..., *, device: Any = ..., copy: Any = ..., like: Any = ...) -> ndarray:
    """The value as an array; `asarray`, as there are no subclasses."""
def asarray(a: Any, dtype: Any = ..., order: Any = ..., *, device: Any = ..., copy: Any = ..., like: Any = ...) -> ndarray:
    """Convert a value to an array; an array itself, and a tensor's elements, are not copied."""
def asarray_chkfinite(a: Any, dtype: Any = ..., order: Any = ...) -> ndarray:
    """The value as an array; `ArgumentError` if an element is infinite or NaN."""
def ascontiguousarray(a: Any, dtype: Any = ..., *, like: Any = ...) -> ndarray:
    """The value as a row-major array of at least one axis: an array that is one itself, otherwise a copy."""
def asfortranarray(a: Any, dtype: Any = ..., *, like: Any = ...) -> ndarray:
    """The value as a column-major array of at least one axis: an array that is one itself, otherwise a copy."""
asin: _SoleResult
asinh: _SoleResult
asmatrix: Any
def astype(x: Any, dtype: Any, /, *, copy: builtins.bool = ..., device: Any = ..., casting: str = ...) -> ndarray:
    """The elements in another dtype."""
atan: _SoleResult
atan2: _SoleResult
atanh: _SoleResult
@overload
def atleast_1d(ary: Any, /) -> ndarray: ...
@overload
def atleast_1d(*arys: Any) -> tuple[ndarray, ...]: ...
@overload
def atleast_2d(ary: Any, /) -> ndarray: ...
@overload
def atleast_2d(*arys: Any) -> tuple[ndarray, ...]: ...
@overload
def atleast_3d(ary: Any, /) -> ndarray: ...
@overload
def atleast_3d(*arys: Any) -> tuple[ndarray, ...]: ...
def average(a: Any, axis: Any = ..., weights: Any = ..., returned: builtins.bool = ..., *, keepdims: Any = ...) -> Any:
    """The mean along axes, weighted if weights are given."""
def bartlett(M: Any) -> ndarray:
    """The triangular window."""
def base_repr(number: int, base: int = ..., padding: int = ...) -> str:
    """A number's digits to a base."""
def binary_repr(num: int, width: Any = ...) -> str:
    """A number's binary digits."""
def bincount(x: Any, /, weights: Any = ..., minlength: int = ...) -> ndarray:
    """Count the occurrences of each non-negative int, or sum its weights."""
bitwise_and: _SoleResult
bitwise_count: _SoleResult
bitwise_invert: _SoleResult
bitwise_left_shift: _SoleResult
bitwise_not: _SoleResult
bitwise_or: _SoleResult
bitwise_right_shift: _SoleResult
bitwise_xor: _SoleResult
def blackman(M: Any) -> ndarray:
    """The Blackman window."""
def block(arrays: Any) -> ndarray:
    """An array from nested lists of blocks."""
bmat: Any
from numpy import bool as bool
from numpy import bool_ as bool_
from .strides import broadcast as broadcast
def broadcast_arrays(*args: Any, subok: builtins.bool = ...) -> tuple[ndarray, ...]:
    """Arrays broadcast to one shape: views."""
def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape to which shapes broadcast."""
def broadcast_to(array: Any, shape: Any, subok: builtins.bool = ...) -> ndarray:
    """The array repeated along axes to another shape: a view that cannot be written to."""
busday_count: Any
busday_offset: Any
from numpy import busdaycalendar as busdaycalendar
from numpy import byte as byte
from numpy import bytes_ as bytes_
c_: Any
def can_cast(from_: Any, to: Any, casting: Any = ...) -> builtins.bool:
    """Test whether a dtype may be cast to another."""
cbrt: _SoleResult
from numpy import cdouble as cdouble
ceil: _SoleResult
from numpy import character as character
def choose(a: Any, choices: Any, out: Any = ..., mode: str = ...) -> Any:
    """For each element the entry of the array that it names."""
def clip(a: Any, a_min: Any = ..., a_max: Any = ..., out: Any = ..., *, min: Any = ..., max: Any = ..., dtype: Any = ..., **kwargs: Any) -> _ArrayOrNumber:
    """Each element clipped to two bounds."""
from numpy import clongdouble as clongdouble
def column_stack(tup: Any) -> ndarray:
    """Arrays joined along the second axis, those of one axis as columns."""
def common_type(*arrays: Any) -> Any:
    """The inexact class of numbers that several arrays share."""
from numpy import complex128 as complex128
from numpy import complex256 as complex256
from numpy import complex64 as complex64
from numpy import complexfloating as complexfloating
def compress(condition: Any, a: Any, axis: Any = ..., out: Any = ...) -> ndarray:
    """The entries along an axis where a condition is true."""
def concat(arrays: Any, /, axis: Any = ..., out: Any = ..., *, dtype: Any = ..., casting: Any = ...) -> ndarray:
    """Arrays joined along an axis that they have."""
def concatenate(arrays: Any, /, axis: Any = ..., out: Any = ..., *, dtype: Any = ..., casting: Any = ...) -> ndarray:
    """Arrays joined along an axis that they have."""
conj: _SoleResult
conjugate: _SoleResult
def convolve(a: Any, v: Any, mode: str = ...) -> ndarray:
    """The convolution of two sequences."""
def copy(a: Any, order: str = ..., subok: builtins.bool = ...) -> ndarray:
    """Copy: a new array with the same elements."""
copysign: _SoleResult
def copyto(dst: Any, src: Any, casting: Any = ..., where: Any = ...) -> None:
    """Write elements of one array to another, where a mask is true."""
def corrcoef(x: Any, y: Any = ..., rowvar: builtins.bool = ..., *, dtype: Any = ...) -> _ArrayOrNumber:
    """The correlations of variables, a row for each."""
def correlate(a: Any, v: Any, mode: str = ...) -> ndarray:
    """The cross-correlation of two sequences."""
cos: _SoleResult
cosh: _SoleResult
def count_nonzero(a: Any, axis: Any = ..., *, keepdims: Any = ...) -> Any:
    """Count the nonzero elements along some axes (int64). NaN is not zero."""
def cov(m: Any, y: Any = ..., rowvar: builtins.bool = ..., bias: builtins.bool = ..., ddof: Any = ..., fweights: Any = ..., aweights: Any = ..., *, dtype: Any = ...) -> _ArrayOrNumber:
    """The covariances of variables, a row for each."""
def cross(a: Any, b: Any, axisa: int = ..., axisb: int = ..., axisc: int = ..., axis: Any = ...) -> _ArrayOrNumber:
    """The cross product of vectors of three elements."""
from numpy import csingle as csingle
def cumprod(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ...) -> ndarray:
    """Cumulative product along an axis, from the end if `reverse`."""
def cumsum(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ...) -> ndarray:
    """Cumulative sum along an axis, from the end if `reverse`."""
def cumulative_prod(x: Any, /, *, axis: Any = ..., dtype: Any = ..., out: Any = ..., include_initial: builtins.bool = ...) -> ndarray:
    """Cumulative products along an axis."""
def cumulative_sum(x: Any, /, *, axis: Any = ..., dtype: Any = ..., out: Any = ..., include_initial: builtins.bool = ...) -> ndarray:
    """Cumulative sums along an axis."""
from numpy import datetime64 as datetime64
datetime_as_string: Any
datetime_data: Any
deg2rad: _SoleResult
degrees: _SoleResult
def delete(arr: Any, obj: Any, axis: Any = ...) -> ndarray:
    """The array without the entries at given places."""
def diag(v: Any, k: int = ...) -> ndarray:
    """The diagonal of a matrix, or the matrix with a diagonal."""
def diag_indices(n: int, ndim: int = ...) -> tuple[ndarray, ...]:
    """The places of a main diagonal."""
def diag_indices_from(arr: Any) -> tuple[ndarray, ...]:
    """The places of an array's main diagonal."""
def diagflat(v: Any, k: Any = ...) -> ndarray:
    """The matrix whose diagonal has the elements of an array."""
def diagonal(a: Any, offset: int = ..., axis1: int = ..., axis2: int = ...) -> ndarray:
    """A diagonal of matrices: a view that cannot be written to."""
def diff(a: Any, n: int = ..., axis: int = ..., prepend: Any = ..., append: Any = ...) -> ndarray:
    """The differences of adjacent elements along an axis."""
def digitize(x: Any, bins: Any, right: builtins.bool = ...) -> _ArrayOrNumber:
    """The bins of values."""
divide: _SoleResult
divmod: ufunc
def dot(a: Any, b: Any, out: Any = ...) -> _ArrayOrNumber:
    """The product of matrices and vectors; for more axes the sum over the last of a and the second-to-last of b."""
from numpy import double as double
def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the third axis: views."""
def dstack(tup: Any) -> ndarray:
    """Arrays joined along the third axis."""
from numpy import dtype as dtype
e: float
def ediff1d(ary: Any, to_end: Any = ..., to_begin: Any = ...) -> ndarray:
    """The differences of adjacent elements of the flat array, optionally with more at its ends."""
def einsum(*operands: Any, out: Any = ..., dtype: Any = ..., order: str = ..., casting: Any = ..., optimize: Any = ...) -> _ArrayOrNumber:
    """Sums of products over axes that share a letter."""
def einsum_path(*operands: Any, optimize: Any = ..., einsum_call: builtins.bool = ...) -> Any:
    """The order in which NumPy would contract."""
def empty(shape: Any, dtype: Any = ..., order: str = ..., *, device: Any = ..., like: Any = ...) -> ndarray:
    """An uninitialised array; here of zeros, float64 by default."""
def empty_like(prototype: Any, dtype: Any = ..., order: str = ..., subok: builtins.bool = ..., shape: Any = ..., *, device: Any = ...) -> ndarray:
    """An uninitialised array in the shape and dtype of another; here of zeros."""
equal: _SoleResult
from .hosting import errstate as errstate
euler_gamma: float
exp: _SoleResult
exp2: _SoleResult
def expand_dims(a: Any, axis: Any) -> ndarray:
    """The array with new axes of size 1: a view."""
expm1: _SoleResult
def extract(condition: Any, arr: Any) -> ndarray:
    """The elements where a condition is true."""
def eye(N: int, M: Any = ..., k: int = ..., dtype: Any = ..., order: str = ..., *, device: Any = ..., like: Any = ...) -> ndarray:
    """Ones on a diagonal, zeros elsewhere."""
fabs: _SoleResult
def fill_diagonal(a: Any, val: Any, wrap: builtins.bool = ...) -> None:
    """Write values to the main diagonal."""
def finfo(dtype: Any) -> Any:
    """The limits of a floating dtype."""
def fix(x: Any, out: Any = ...) -> _ArrayOrNumber:
    """Each element rounded towards 0."""
from .indexing import flatiter as flatiter
def flatnonzero(a: Any) -> ndarray:
    """The positions of the nonzero elements of the flat array."""
from numpy import flexible as flexible
def flip(m: Any, axis: Any = ...) -> ndarray:
    """The elements in reverse order along axes: a view."""
def fliplr(m: Any) -> ndarray:
    """The columns in reverse order: a view."""
def flipud(m: Any) -> ndarray:
    """The rows in reverse order: a view."""
from numpy import float128 as float128
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
float_power: _SoleResult
from numpy import floating as floating
floor: _SoleResult
floor_divide: _SoleResult
fmax: _SoleResult
fmin: _SoleResult
fmod: _SoleResult
format_float_positional: Any
format_float_scientific: Any
frexp: ufunc
def from_dlpack(x: Any, /, *, device: Any = ..., copy: Any = ...) -> ndarray:
    """Another library's array, by DLPack; of an array of the namespace a view."""
def frombuffer(buffer: Any, dtype: Any = ..., count: int = ..., offset: int = ..., *, like: Any = ...) -> ndarray:
    """The elements in a buffer of bytes, copied."""
def fromfile(file: Any, dtype: Any = ..., count: int = ..., sep: str = ..., offset: int = ..., *, like: Any = ...) -> Any:
    """Reads the numbers of a file."""
def fromfunction(function: Any, shape: Any, *, dtype: Any = ..., like: Any = ..., **kwargs: Any) -> Any:
    """The results of a function of the coordinates."""
def fromiter(iter: Any, dtype: Any, count: int = ..., *, like: Any = ...) -> ndarray:
    """The elements of an iterator."""
frompyfunc: Any
fromregex: Any
def fromstring(string: str, dtype: Any = ..., count: int = ..., *, sep: str, like: Any = ...) -> ndarray:
    """The numbers in a text."""
def full(shape: Any, fill_value: Any, dtype: Any = ..., order: str = ..., *, device: Any = ..., like: Any = ...) -> ndarray:
    """An array of one value, or of an array broadcast to a shape."""
def full_like(a: Any, fill_value: Any, dtype: Any = ..., order: str = ..., subok: builtins.bool = ..., shape: Any = ..., *, device: Any = ...) -> ndarray:
    """One value, or an array broadcast, in the shape and dtype of an array."""
gcd: _SoleResult
from numpy import generic as generic
def genfromtxt(fname: Any, dtype: Any = ..., comments: Any = ..., delimiter: Any = ..., skip_header: Any = ..., skip_footer: Any = ..., converters: Any = ..., missing_values: Any = ..., filling_values: Any = ..., usecols: Any = ..., names: Any = ..., excludelist: Any = ..., deletechars: Any = ..., replace_space: Any = ..., autostrip: Any = ..., case_sensitive: Any = ..., defaultfmt: Any = ..., unpack: Any = ..., usemask: Any = ..., loose: Any = ..., invalid_raise: Any = ..., max_rows: Any = ..., encoding: Any = ..., *, ndmin: Any = ..., like: Any = ...) -> Any:
    """Reads numbers from a text file with gaps."""
def geomspace(start: Any, stop: Any, num: int = ..., endpoint: builtins.bool = ..., dtype: Any = ..., axis: int = ...) -> ndarray:
    """Numbers evenly spaced on a logarithmic scale, between two."""
get_include: Any
get_printoptions: Any
def geterr() -> Any:
    """How NumPy treats floating-point errors of numbers."""
def gradient(f: Any, *varargs: Any, axis: Any = ..., edge_order: int = ...) -> Any:
    """The gradient along each axis by central differences."""
greater: _SoleResult
greater_equal: _SoleResult
from numpy import half as half
def hamming(M: Any) -> ndarray:
    """The Hamming window."""
def hanning(M: Any) -> ndarray:
    """The Hann window."""
heaviside: _SoleResult
def histogram(a: Any, bins: Any = ..., range: Any = ..., density: Any = ..., weights: Any = ...) -> tuple[ndarray, ndarray]:
    """The numbers of elements in bins, and the edges of the bins."""
def histogram2d(x: Any, y: Any, bins: Any = ..., range: Any = ..., density: Any = ..., weights: Any = ...) -> tuple[ndarray, ndarray, ndarray]:
    """The numbers of points in the cells of a grid of two axes, and the edges along both."""
def histogram_bin_edges(a: Any, bins: Any = ..., range: Any = ..., weights: Any = ...) -> ndarray:
    """The edges of the bins of `histogram`."""
def histogramdd(sample: Any, bins: Any = ..., range: Any = ..., density: Any = ..., weights: Any = ...) -> tuple[ndarray, tuple[ndarray, ...]]:
    """The numbers of points in the cells of a grid, and the edges along each axis."""
def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the second axis, or along the only one: views."""
def hstack(tup: Any, *, dtype: Any = ..., casting: str = ...) -> ndarray:
    """Arrays joined along the second axis, those of one axis along it."""
hypot: _SoleResult
def i0(x: Any) -> _ArrayOrNumber:
    """The modified Bessel function of the first kind and order 0."""
def identity(n: int, dtype: Any = ..., *, like: Any = ...) -> ndarray:
    """The identity matrix."""
def iinfo(int_type: Any) -> Any:
    """The limits of an integer dtype."""
def imag(val: Any) -> _ArrayOrNumber:
    """The imaginary parts: a view, or that of a number; zeros for an array that is not complex."""
def in1d(ar1: Any, ar2: Any, assume_unique: builtins.bool = ..., invert: builtins.bool = ..., *, kind: Any = ...) -> ndarray:
    """Test whether each element of the flat array is among others."""
index_exp: Any
def indices(dimensions: Any, dtype: Any = ..., sparse: builtins.bool = ...) -> Any:
    """The coordinates of each place in a grid."""
from numpy import inexact as inexact
inf: float
info: Any
def inner(a: Any, b: Any, /) -> _ArrayOrNumber:
    """The sum of products over the last axes."""
def insert(arr: Any, obj: Any, values: Any, axis: Any = ...) -> ndarray:
    """The array with values inserted before given places."""
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int8 as int8
from numpy import int_ as int_
from numpy import intc as intc
from numpy import integer as integer
def interp(x: Any, xp: Any, fp: Any, left: Any = ..., right: Any = ..., period: Any = ...) -> _ArrayOrNumber:
    """Values between given points, linearly."""
def intersect1d(ar1: Any, ar2: Any, assume_unique: builtins.bool = ..., return_indices: builtins.bool = ...) -> Any:
    """The elements that are in both arrays."""
from numpy import intp as intp
invert: _SoleResult
is_busday: Any
def isclose(a: Any, b: Any, rtol: Any = ..., atol: Any = ..., equal_nan: builtins.bool = ...) -> _ArrayOrNumber:
    """Test whether elements are equal within tolerances."""
def iscomplex(x: Any) -> _ArrayOrNumber:
    """Test whether each element has a nonzero imaginary part."""
def iscomplexobj(x: Any) -> builtins.bool:
    """Test whether an array or a number has a complex dtype."""
def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is of a kind, named as in the Array API standard."""
isfinite: _SoleResult
def isfortran(a: Any) -> builtins.bool:
    """Test whether an array is column-major, and not row-major, in NumPy's memory."""
def isin(element: Any, test_elements: Any, assume_unique: builtins.bool = ..., invert: builtins.bool = ..., *, kind: Any = ...) -> ndarray:
    """Test whether each element is among others."""
isinf: _SoleResult
isnan: _SoleResult
isnat: Any
def isneginf(x: Any, out: Any = ...) -> _ArrayOrNumber:
    """Test whether each element is negative infinity."""
def isposinf(x: Any, out: Any = ...) -> _ArrayOrNumber:
    """Test whether each element is positive infinity."""
def isreal(x: Any) -> _ArrayOrNumber:
    """Test whether each element has the imaginary part 0."""
def isrealobj(x: Any) -> builtins.bool:
    """Test whether an array or a number has a dtype that is not complex."""
def isscalar(element: Any) -> builtins.bool:
    """Test whether an object is a number."""
def issubdtype(arg1: Any, arg2: Any) -> builtins.bool:
    """Whether a dtype is of a kind."""
def iterable(y: Any) -> builtins.bool:
    """Test whether an object can be iterated over."""
def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Arrays of indices that broadcast to a grid."""
def kaiser(M: Any, beta: Any) -> ndarray:
    """The Kaiser window."""
def kron(a: Any, b: Any) -> _ArrayOrNumber:
    """The Kronecker product."""
lcm: _SoleResult
ldexp: _SoleResult
left_shift: _SoleResult
less: _SoleResult
less_equal: _SoleResult
def lexsort(keys: Any, axis: int = ...) -> Any:
    """The indices that sort by several keys, the last of which is the primary one."""
@overload
def linspace(start: Any, stop: Any, num: int = ..., endpoint: builtins.bool = ..., retstep: Literal[False] = ..., dtype: Any = ..., axis: int = ..., *, device: Any = ...) -> ndarray: ...
@overload
def linspace(start: Any, stop: Any, num: int = ..., endpoint: builtins.bool = ..., *, retstep: Literal[True], dtype: Any = ..., axis: int = ..., device: Any = ...) -> tuple[ndarray, Any]: ...
little_endian: Any
def load(file: Any, mmap_mode: Any = ..., allow_pickle: builtins.bool = ..., fix_imports: builtins.bool = ..., encoding: str = ..., *, max_header_size: int = ...) -> Any:
    """Reads the array or the arrays of a file."""
def loadtxt(fname: Any, dtype: Any = ..., comments: Any = ..., delimiter: Any = ..., converters: Any = ..., skiprows: Any = ..., usecols: Any = ..., unpack: Any = ..., ndmin: Any = ..., encoding: Any = ..., max_rows: Any = ..., *, quotechar: Any = ..., like: Any = ...) -> Any:
    """Reads numbers from a text file."""
log: _SoleResult
log10: _SoleResult
log1p: _SoleResult
log2: _SoleResult
logaddexp: _SoleResult
logaddexp2: _SoleResult
logical_and: _SoleResult
logical_not: _SoleResult
logical_or: _SoleResult
logical_xor: _SoleResult
def logspace(start: Any, stop: Any, num: int = ..., endpoint: builtins.bool = ..., base: Any = ..., dtype: Any = ..., axis: int = ...) -> ndarray:
    """Powers of a base whose exponents are evenly spaced."""
from numpy import long as long
from numpy import longdouble as longdouble
from numpy import longlong as longlong
def mask_indices(n: int, mask_func: Any, k: Any = ...) -> tuple[ndarray, ...]:
    """The places where a function of a matrix of ones and a diagonal is not 0."""
matmul: _SoleResult
from numpy import matrix as matrix
def matrix_transpose(x: Any, /) -> ndarray:
    """Swap the last two axes: a view."""
matvec: _SoleResult
def max(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """Maximum of the elements; NaN if any element is NaN."""
maximum: _SoleResult
def may_share_memory(a: Any, b: Any, /, max_work: Any = ...) -> builtins.bool:
    """Test whether the ranges of memory of two arrays overlap."""
def mean(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., *, where: Any = ...) -> _ArrayOrNumber:
    """Arithmetic mean; NaN if there are no elements. Integers and bool are converted to the default floating dtype."""
def median(a: Any, axis: Any = ..., out: Any = ..., overwrite_input: Any = ..., keepdims: Any = ...) -> _ArrayOrNumber:
    """The median: the middle element, or the mean of the two middle ones; NaN if any element is NaN or there is none."""
from numpy import memmap as memmap
def meshgrid(*xi: Any, copy: builtins.bool = ..., sparse: builtins.bool = ..., indexing: str = ...) -> tuple[ndarray, ...]:
    """Grids of coordinates from the coordinates along each axis."""
mgrid: Any
def min(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """Minimum of the elements; NaN if any element is NaN."""
def min_scalar_type(a: Any) -> Any:
    """The smallest dtype that holds a number."""
minimum: _SoleResult
mintypecode: Any
mod: _SoleResult
modf: ufunc
def moveaxis(a: Any, source: Any, destination: Any) -> ndarray:
    """Axes moved to other positions: a view."""
multiply: _SoleResult
nan: float
def nan_to_num(x: Any, copy: builtins.bool = ..., nan: Any = ..., posinf: Any = ..., neginf: Any = ...) -> _ArrayOrNumber:
    """The elements with numbers in place of NaN and infinities."""
def nanargmax(a: Any, axis: Any = ..., out: Any = ..., *, keepdims: Any = ...) -> _ArrayOrNumber:
    """`argmax` of the elements that are not NaN."""
def nanargmin(a: Any, axis: Any = ..., out: Any = ..., *, keepdims: Any = ...) -> _ArrayOrNumber:
    """`argmin` of the elements that are not NaN."""
def nancumprod(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ...) -> ndarray:
    """`cumprod` with 1 in place of NaN."""
def nancumsum(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ...) -> ndarray:
    """`cumsum` with 0 in place of NaN."""
def nanmax(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """`max` of the elements that are not NaN; NaN where all are."""
def nanmean(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., *, where: Any = ...) -> _ArrayOrNumber:
    """The mean of the elements that are not NaN."""
def nanmedian(a: Any, axis: Any = ..., out: Any = ..., overwrite_input: builtins.bool = ..., keepdims: Any = ...) -> _ArrayOrNumber:
    """The median of the elements that are not NaN."""
def nanmin(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """`min` of the elements that are not NaN; NaN where all are."""
def nanpercentile(a: Any, q: Any, axis: Any = ..., out: Any = ..., overwrite_input: builtins.bool = ..., method: str = ..., keepdims: builtins.bool = ..., *, weights: Any = ...) -> _ArrayOrNumber:
    """The percentiles of the elements that are not NaN."""
def nanprod(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """`prod` of the elements that are not NaN."""
def nanquantile(a: Any, q: Any, axis: Any = ..., out: Any = ..., overwrite_input: builtins.bool = ..., method: str = ..., keepdims: builtins.bool = ..., *, weights: Any = ...) -> _ArrayOrNumber:
    """The quantiles of the elements that are not NaN."""
def nanstd(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., ddof: Any = ..., keepdims: Any = ..., *, where: Any = ..., mean: Any = ..., correction: Any = ...) -> _ArrayOrNumber:
    """`std` of the elements that are not NaN."""
def nansum(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """`sum` of the elements that are not NaN."""
def nanvar(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., ddof: Any = ..., keepdims: Any = ..., *, where: Any = ..., mean: Any = ..., correction: Any = ...) -> _ArrayOrNumber:
    """`var` of the elements that are not NaN."""
from .selection import ndenumerate as ndenumerate
def ndim(a: Any) -> int:
    """The number of axes."""
def ndindex(*shape: Any) -> Any:
    """All places of a shape, row-major."""
from .strides import nditer as nditer
negative: _SoleResult
newaxis: Any
nextafter: _SoleResult
def nonzero(a: Any) -> tuple[ndarray, ...]:
    """The positions of the nonzero elements, an array for each axis."""
not_equal: _SoleResult
from numpy import number as number
from numpy import object_ as object_
ogrid: Any
def ones(shape: Any, dtype: Any = ..., order: str = ..., *, device: Any = ..., like: Any = ...) -> ndarray:
    """An array of ones, float64 by default."""
def ones_like(a: Any, dtype: Any = ..., order: str = ..., subok: builtins.bool = ..., shape: Any = ..., *, device: Any = ...) -> ndarray:
    """Ones in the shape and dtype of an array."""
def outer(a: Any, b: Any, out: Any = ...) -> ndarray:
    """Each element of one array times each of another."""
def packbits(a: Any, /, axis: Any = ..., bitorder: Any = ...) -> ndarray:
    """Nonzero elements as bits of bytes."""
def pad(array: Any, pad_width: Any, mode: Any = ..., **kwargs: Any) -> ndarray:
    """The array with more elements at the ends of its axes."""
def partition(a: Any, kth: Any, axis: Any = ..., kind: Any = ..., order: Any = ...) -> ndarray:
    """Partition: the elements at given positions are those of the sorted array; here everything is sorted."""
def percentile(a: Any, q: Any, axis: Any = ..., out: Any = ..., overwrite_input: builtins.bool = ..., method: str = ..., keepdims: builtins.bool = ..., *, weights: Any = ...) -> _ArrayOrNumber:
    """The percentiles along axes."""
def permute_dims(a: Any, axes: Any = ...) -> ndarray:
    """The axes in another order, by default reversed: a view."""
pi: float
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> ndarray:
    """The values of functions, each of the elements where its condition is true."""
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values, repeated as needed, where a mask is true."""
def poly(seq_of_zeros: Any) -> Any:
    """The polynomial with given roots, or the characteristic one of a matrix."""
def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials."""
def polyder(p: Any, m: int = ...) -> Any:
    """The derivative of a polynomial."""
def polydiv(u: Any, v: Any) -> Any:
    """The quotient and the remainder of two polynomials."""
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = ..., full: builtins.bool = ..., w: Any = ..., cov: Any = ...) -> Any:
    """The coefficients of the polynomial of least squares."""
def polyint(p: Any, m: int = ..., k: Any = ...) -> Any:
    """An integral of a polynomial."""
def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials."""
def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
def polyval(p: Any, x: Any) -> _ArrayOrNumber:
    """The values of a polynomial."""
positive: _SoleResult
pow: _SoleResult
power: _SoleResult
def printoptions(*arguments: Any, **options: Any) -> Any:
    """A block with other options for the texts of arrays."""
def prod(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """Product of the elements; 1 if there are none. Small integers and bool use 64 bits unless `dtype` is given."""
def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest dtype that holds two."""
def ptp(a: Any, axis: Any = ..., out: Any = ..., keepdims: Any = ...) -> _ArrayOrNumber:
    """The range: the maximum minus the minimum along axes."""
def put(a: Any, ind: Any, v: Any, mode: str = ...) -> None:
    """Write values, repeated as needed, at positions of the flat array."""
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Write elements at one index each along an axis."""
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write the values at the same positions, repeated as needed, where a mask is true."""
def quantile(a: Any, q: Any, axis: Any = ..., out: Any = ..., overwrite_input: builtins.bool = ..., method: str = ..., keepdims: builtins.bool = ..., *, weights: Any = ...) -> _ArrayOrNumber:
    """The quantiles along axes."""
r_: Any
rad2deg: _SoleResult
radians: _SoleResult
def ravel(a: Any, order: str = ...) -> ndarray:
    """The elements along one axis: a view if they are in that order in memory."""
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = ..., order: str = ...) -> Any:
    """The places of the flat array at coordinates."""
def real(val: Any) -> _ArrayOrNumber:
    """The real parts: a view, or that of a number."""
def real_if_close(a: Any, tol: float = ...) -> Any:
    """The real parts if all imaginary parts are nearly 0, otherwise the array."""
recarray: Any
reciprocal: _SoleResult
from numpy import record as record
remainder: _SoleResult
def repeat(a: Any, repeats: Any, axis: Any = ...) -> ndarray:
    """Each element repeated along an axis, by default of the flat array."""
def require(a: Any, dtype: Any = ..., requirements: Any = ..., *, like: Any = ...) -> ndarray:
    """The value as an array with flags such as `"C"`, `"F"`, `"O"` and `"W"`; a copy if it has others."""
def reshape(a: Any, /, shape: Any = ..., order: str = ..., *, newshape: Any = ..., copy: Any = ...) -> ndarray:
    """The elements in another shape: a view if their order in memory allows it."""
def resize(a: Any, new_shape: Any) -> ndarray:
    """The elements in another shape, repeated if there are too few."""
def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that several arrays and dtypes are promoted to."""
right_shift: _SoleResult
rint: _SoleResult
def roll(a: Any, shift: Any, axis: Any = ...) -> _ArrayOrNumber:
    """Elements moved along axes, from the end back to the front."""
def rollaxis(a: Any, axis: int, start: int = ...) -> ndarray:
    """An axis rolled back to before another: a view."""
def roots(p: Any) -> ndarray:
    """The roots of a polynomial."""
def rot90(m: Any, k: int = ..., axes: Any = ...) -> ndarray:
    """The array rotated by 90 degrees in the plane of two axes: a view."""
def round(a: Any, decimals: int = ..., out: Any = ...) -> _ArrayOrNumber:
    """Each element rounded to some decimals, ties to even."""
def row_stack(tup: Any, *, dtype: Any = ..., casting: str = ...) -> ndarray:
    """Arrays joined along the first axis, those of one axis as rows."""
s_: Any
def save(file: Any, arr: Any, allow_pickle: builtins.bool = ...) -> None:
    """Writes an array to a file of NumPy's format."""
def savetxt(fname: Any, X: Any, fmt: Any = ..., delimiter: Any = ..., newline: Any = ..., header: Any = ..., footer: Any = ..., comments: Any = ..., encoding: Any = ...) -> None:
    """Writes numbers to a text file."""
def savez(file: Any, *args: Any, allow_pickle: builtins.bool = ..., **kwds: Any) -> None:
    """Writes several arrays to one file."""
def savez_compressed(file: Any, *args: Any, allow_pickle: builtins.bool = ..., **kwds: Any) -> None:
    """Writes several arrays to one compressed file."""
sctypeDict: Any
def searchsorted(a: Any, v: Any, side: str = ..., sorter: Any = ...) -> _ArrayOrNumber:
    """Find the indices at which values would be inserted to keep a sequence sorted."""
def select(condlist: Any, choicelist: Any, default: Any = ...) -> ndarray:
    """For each element the choice of the first condition that is true."""
set_printoptions: Any
def setdiff1d(ar1: Any, ar2: Any, assume_unique: builtins.bool = ...) -> ndarray:
    """The elements of one array that are not in the other."""
def seterr(all: Any = ..., divide: Any = ..., over: Any = ..., under: Any = ..., invalid: Any = ...) -> Any:
    """How NumPy treats floating-point errors of numbers; those of arrays silently follow IEEE 754."""
def setxor1d(ar1: Any, ar2: Any, assume_unique: builtins.bool = ...) -> ndarray:
    """The elements that are in exactly one array."""
def shape(a: Any) -> tuple[int, ...]:
    """The size of each axis."""
def shares_memory(a: Any, b: Any, /, max_work: Any = ...) -> builtins.bool:
    """Test whether two arrays have an element in common, so that a write to one changes the other."""
from numpy import short as short
show_config: Any
sign: _SoleResult
signbit: _SoleResult
from numpy import signedinteger as signedinteger
sin: _SoleResult
def sinc(x: Any) -> _ArrayOrNumber:
    """sin(pi x) / (pi x), which is 1 at 0."""
from numpy import single as single
sinh: _SoleResult
def size(a: Any, axis: Any = ...) -> int:
    """The number of elements, or of those along axes."""
def sliding_window_view(x: Any, window_shape: Any, axis: Any = ..., *, subok: builtins.bool = ..., writeable: builtins.bool = ...) -> ndarray:
    """All windows of a shape: a view. It takes no memory on NumPy, elsewhere when it is used."""
def sort(a: Any, axis: Any = ..., kind: Any = ..., order: Any = ..., *, stable: Any = ...) -> ndarray:
    """The elements sorted along an axis; NaN come last."""
def sort_complex(a: Any) -> ndarray:
    """The elements as complex numbers, sorted by real, then imaginary part."""
spacing: _SoleResult
def split(ary: Any, indices_or_sections: Any, axis: int = ...) -> list[ndarray]:
    """Parts of an array along an axis: views."""
sqrt: _SoleResult
square: _SoleResult
def squeeze(a: Any, axis: Any = ...) -> ndarray:
    """The array without axes of size 1: a view, or the array itself if it has none."""
def stack(arrays: Any, axis: Any = ..., out: Any = ..., *, dtype: Any = ..., casting: Any = ...) -> ndarray:
    """Arrays of one shape joined along a new axis."""
def std(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., ddof: Any = ..., keepdims: Any = ..., *, where: Any = ..., mean: Any = ..., correction: Any = ...) -> _ArrayOrNumber:
    """Standard deviation: the square root of the variance. The divisor is the number of elements minus `correction`."""
from numpy import str_ as str_
subtract: _SoleResult
def sum(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., keepdims: Any = ..., initial: Any = ..., where: Any = ...) -> _ArrayOrNumber:
    """Sum of the elements; 0 if there are none. Small integers and bool are summed in 64 bits unless `dtype` is given."""
def swapaxes(a: Any, axis1: int, axis2: int) -> ndarray:
    """Two axes exchanged: a view."""
def take(a: Any, indices: Any, axis: Any = ..., out: Any = ..., mode: Any = ...) -> _ArrayOrNumber:
    """The elements at indices along an axis, by default of the flat array."""
def take_along_axis(arr: Any, indices: Any, axis: Any = ...) -> ndarray:
    """The elements at one index each along an axis."""
tan: _SoleResult
tanh: _SoleResult
def tensordot(a: Any, b: Any, axes: Any = ...) -> _ArrayOrNumber:
    """The sum of products over pairs of axes."""
def tile(A: Any, reps: Any) -> ndarray:
    """The array repeated as a whole along axes."""
from numpy import timedelta64 as timedelta64
def trace(a: Any, offset: Any = ..., axis1: Any = ..., axis2: Any = ..., dtype: Any = ..., out: Any = ...) -> _ArrayOrNumber:
    """The sum of a diagonal."""
def transpose(a: Any, axes: Any = ...) -> ndarray:
    """The axes in another order, by default reversed: a view."""
def trapezoid(y: Any, x: Any = ..., dx: Any = ..., axis: int = ...) -> _ArrayOrNumber:
    """The integral by the trapezoidal rule."""
def trapz(y: Any, x: Any = ..., dx: Any = ..., axis: int = ...) -> Any:
    """The integral by the trapezoidal rule."""
def tri(N: int, M: Any = ..., k: int = ..., dtype: Any = ..., *, like: Any = ...) -> ndarray:
    """Ones at and below a diagonal, zeros above."""
def tril(m: Any, k: Any = ...) -> ndarray:
    """The array with zeros above a diagonal."""
def tril_indices(n: int, k: int = ..., m: Any = ...) -> tuple[ndarray, ...]:
    """The places at and below a diagonal."""
def tril_indices_from(arr: Any, k: int = ...) -> tuple[ndarray, ...]:
    """The places of an array at and below a diagonal."""
def trim_zeros(filt: Any, trim: str = ..., axis: Any = ...) -> Any:
    """The array without zeros at its ends: a view."""
def triu(m: Any, k: Any = ...) -> ndarray:
    """The array with zeros below a diagonal."""
def triu_indices(n: int, k: int = ..., m: Any = ...) -> tuple[ndarray, ...]:
    """The places at and above a diagonal."""
def triu_indices_from(arr: Any, k: int = ...) -> tuple[ndarray, ...]:
    """The places of an array at and above a diagonal."""
true_divide: _SoleResult
trunc: _SoleResult
typecodes: Any
typename: Any
from numpy import ubyte as ubyte
from numpy import uint as uint
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uint8 as uint8
from numpy import uintc as uintc
from numpy import uintp as uintp
from numpy import ulong as ulong
from numpy import ulonglong as ulonglong
def union1d(ar1: Any, ar2: Any) -> ndarray:
    """The elements that are in one array or the other."""
@overload
def unique(ar: Any, *, axis: Any = ..., equal_nan: builtins.bool = ...) -> ndarray: ...
@overload
def unique(ar: Any, return_index: Any = ..., return_inverse: Any = ..., return_counts: Any = ..., axis: Any = ..., *, equal_nan: builtins.bool = ..., sorted: builtins.bool = ...) -> Any: ...
def unique_all(x: Any) -> Any:
    """The unique elements, their first positions, the inverse indices and the counts."""
def unique_counts(x: Any) -> Any:
    """The unique elements and their counts."""
def unique_inverse(x: Any) -> Any:
    """The unique elements and the inverse indices."""
def unique_values(x: Any) -> ndarray:
    """The unique elements."""
def unpackbits(a: Any, /, axis: Any = ..., count: Any = ..., bitorder: Any = ...) -> ndarray:
    """The bits of bytes as elements 0 and 1."""
def unravel_index(indices: Any, shape: Any, order: str = ...) -> Any:
    """The coordinates of places of the flat array."""
from numpy import unsignedinteger as unsignedinteger
def unstack(x: Any, /, *, axis: int = ...) -> tuple[ndarray, ...]:
    """The entries along an axis: views."""
def unwrap(p: Any, discont: Any = ..., axis: int = ..., *, period: Any = ...) -> ndarray:
    """Angles without jumps between adjacent elements."""
from numpy import ushort as ushort
def vander(x: Any, N: Any = ..., increasing: Any = ...) -> ndarray:
    """A Vandermonde matrix: powers of the elements in columns."""
def var(a: Any, axis: Any = ..., dtype: Any = ..., out: Any = ..., ddof: Any = ..., keepdims: Any = ..., *, where: Any = ..., mean: Any = ..., correction: Any = ...) -> _ArrayOrNumber:
    """Variance. The divisor is the number of elements minus `correction`; the result is NaN if that is not positive."""
def vdot(a: Any, b: Any, /) -> _ArrayOrNumber:
    """The sum of products of the elements, with the first operand conjugated."""
vecdot: _SoleResult
vecmat: _SoleResult
from .hosting import vectorize as vectorize
def view(a: Any, dtype: Any = ..., type: Any = ...) -> Any:
    """The memory of an array in another dtype: a view; as a subclass or in fields, a copy that is NumPy's."""
from numpy import void as void
def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Parts along the first axis: views."""
def vstack(tup: Any, *, dtype: Any = ..., casting: str = ...) -> ndarray:
    """Arrays joined along the first axis, those of one axis as rows."""
@overload
def where(condition: Any, /) -> tuple[ndarray, ...]: ...
@overload
def where(condition: Any, x: Any, y: Any, /) -> ndarray: ...
def zeros(shape: Any, dtype: Any = ..., order: str = ..., *, device: Any = ..., like: Any = ...) -> ndarray:
    """An array of zeros, float64 by default."""
def zeros_like(a: Any, dtype: Any = ..., order: str = ..., subok: builtins.bool = ..., shape: Any = ..., *, device: Any = ...) -> ndarray:
    """Zeros in the shape and dtype of an array."""
from numpy import _globals as _globals
from numpy import char as char
from numpy import ctypeslib as ctypeslib
from numpy import ma as ma
from numpy import matlib as matlib
from numpy import matrixlib as matrixlib
from numpy import rec as rec
from numpy import strings as strings
from numpy import version as version
