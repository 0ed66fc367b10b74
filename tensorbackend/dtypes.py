"""Element types, their promotion, and limits computed from bit widths.

A dtype is one object a kind and width (`float32 is as_dtype("f32")`), so that dtypes compare and hash
by identity. Names are the Array API standard's; the short forms are Nx's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeAlias

from .blocks import block
from .errors import ArgumentError, DTypeError, OutOfRangeError, expected
from .meaning import Meaning

Kind = Literal["bool", "int", "uint", "float", "complex"]
Scalar: TypeAlias = bool | int | float | complex


class _Named(Protocol):
    """What NumPy-like libraries' dtypes have: `numpy.dtype("f4").name == "float32"`."""

    @property
    def name(self) -> str: ...


class DType:
    """An element type: its kind, its width in bits, and for floating ones the split of those bits.

    >>> from tensorbackend import dtypes
    >>> dtypes.bfloat16.bits, dtypes.bfloat16.alias, dtypes.bfloat16.itemsize
    (16, 'bf16', 2)
    """

    __slots__ = ("alias", "bits", "exponent_bits", "is_complex", "is_floating", "is_inexact",
                 "is_integer", "is_numeric", "itemsize", "kind", "mantissa_bits", "name")  # fmt: skip

    name: str
    alias: str
    kind: Kind
    bits: int
    """Width of an element in bits; `bool` takes 8, a complex number both of its halves."""
    exponent_bits: int
    """Width of the exponent (of each half of a complex number); 0 where there is none."""
    mantissa_bits: int
    """Explicit bits of the significand, the hidden one not counted."""

    def __init__(self, name: str, alias: str, kind: Kind, bits: int, exponent_bits: int = 0) -> None:
        part = bits // 2 if kind == "complex" else bits
        self.name, self.alias, self.kind, self.bits = name, alias, kind, bits
        self.itemsize = bits // 8
        self.exponent_bits = exponent_bits
        self.mantissa_bits = part - exponent_bits - 1 if exponent_bits else 0
        self.is_integer = kind in ("int", "uint")
        self.is_floating = kind == "float"
        self.is_complex = kind == "complex"
        self.is_inexact = self.is_floating or self.is_complex
        self.is_numeric = kind != "bool"

    def __repr__(self) -> str:
        return self.name

    @property
    def dtype(self) -> Any:
        """NumPy's dtype, which `numpy.dtype(...)` asks for; bfloat16 is that of ml_dtypes."""
        import numpy

        if self is bfloat16:
            import ml_dtypes

            return numpy.dtype(ml_dtypes.bfloat16)
        return numpy.dtype(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


bool_ = DType("bool", "pred", "bool", 8)
int8, int16, int32, int64 = (DType(f"int{bits}", f"s{bits}", "int", bits) for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DType(f"uint{bits}", f"u{bits}", "uint", bits) for bits in (8, 16, 32, 64))
float16 = DType("float16", "f16", "float", 16, exponent_bits=5)
bfloat16 = DType("bfloat16", "bf16", "float", 16, exponent_bits=8)
float32 = DType("float32", "f32", "float", 32, exponent_bits=8)
float64 = DType("float64", "f64", "float", 64, exponent_bits=11)
complex64 = DType("complex64", "c64", "complex", 64, exponent_bits=8)
complex128 = DType("complex128", "c128", "complex", 128, exponent_bits=11)

ALL_DTYPES: tuple[DType, ...] = (
    bool_,
    *(int8, int16, int32, int64),
    *(uint8, uint16, uint32, uint64),
    *(float16, bfloat16, float32, float64),
    *(complex64, complex128),
)

DTypeLike: TypeAlias = Annotated[DType | str | type | _Named, Meaning("dtype")]
"""Wherever a dtype is asked for: a `DType`, its name or short form, a Python type, or a library's dtype."""

_by_name = {key: dtype for dtype in ALL_DTYPES for key in (dtype.name, dtype.alias)}
_by_name |= {f"i{bits}": _by_name[f"int{bits}"] for bits in (16, 32, 64)}


def as_dtype(dtype: DTypeLike) -> DType:
    """The `DType` that a name, a short form, a Python type or a library's own dtype stands for.

    Raises `DTypeError` for anything else.

    >>> as_dtype("bf16"), as_dtype(float), as_dtype("pred")
    (bfloat16, float32, bool)
    """
    if isinstance(dtype, DType):
        return dtype
    if isinstance(dtype, type) and dtype in (bool, int, float, complex):
        return default_dtype(_KIND_OF_SCALAR[dtype])
    try:
        found = _by_its_name(dtype)  # type: ignore[arg-type] # what does not hash is not remembered
    except TypeError:
        found = _by_its_name.__wrapped__(dtype)
    if found is None and isinstance(dtype, str) and dtype == "i8":  # one byte for Rust and XLA, eight for NumPy
        raise DTypeError(expected("a dtype of one meaning", "write 'int8', or 'int64' for NumPy's 'i8'", dtype=dtype))
    if found is None:
        known = ", ".join(each.name for each in ALL_DTYPES)
        raise DTypeError(expected("a dtype", f"the dtypes are {known}", dtype=dtype))
    return found


@lru_cache(maxsize=256)
def _by_its_name(dtype: Any) -> DType | None:
    """Remembered, as NumPy makes the name of a dtype anew each time."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    return _by_name.get(name) if isinstance(name, str) else None


# Defaults

_FLOATING = {16: float16, 32: float32, 64: float64}
_COMPLEX = {16: complex64, 32: complex64, 64: complex128}

# Variables that differ in their default alone: a block sets all of them, the process reads the one with its precision.
# So each call asks one variable, by the variable's own method. The value is the width, negative where operands are cast
# to it as well.
_precisions: dict[int, ContextVar[int]] = {
    sign * bits: ContextVar(f"tensorbackend_precision_{sign * bits}", default=sign * bits)
    for bits in _FLOATING
    for sign in (1, -1)
}

current_precision: Callable[[], int] = _precisions[32].get
"""The width in bits of the default floating dtype here and now, negative where operands are cast to it; `set_precision`
exchanges it, so it is read off this module at each call."""

cast_blocks: list[int] = []
"""The widths to which operands are cast: of the blocks of all threads that say so, and of the process."""

when_casting: list[Callable[[], None]] = []
"""What is called when these have changed."""


@block
def precision(bits: int, *, cast: bool = False) -> Iterator[None]:
    """Sets the width in bits of the default floating and complex dtypes for a block, in this thread or task alone.

    Parameters
    ----------
    bits : {16, 32, 64}
        The width of floating numbers, and of each part of complex ones; 32 at least for these.
    cast : bool, default False
        Whether ops that compute also cast their floating and complex operands to that width, wider ones too. What only
        moves elements, such as `reshape`, indexing and `astype`, keeps their dtype.

    Yields
    ------
    None

    Raises
    ------
    ArgumentError
        For another width.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.precision(64):
    ...     tb.asarray(0.5).dtype
    float64
    >>> x = tb.ones(2)
    >>> with tb.precision(64, cast=True):
    ...     (x + x).dtype, x[0].dtype
    (float64, float32)

    See Also
    --------
    set_precision : For the whole process.
    get_precision : The width that is in force.
    """
    _check_precision("precision", bits)
    before = [(variable, variable.get()) for variable in _precisions.values()]
    entered = False
    try:
        if cast:
            entered = True
            cast_blocks.append(bits)
            _cast_blocks_changed()
        for variable, _ in before:
            variable.set(-bits if cast else bits)
        yield
    finally:
        for variable, kept in before:
            variable.set(kept)
        if entered:
            cast_blocks.remove(bits)
            _cast_blocks_changed()


def set_precision(bits: int, *, cast: bool = False) -> None:
    """Sets the width of the default floating and complex dtypes for the whole process, all threads included.

    Inside a block of `precision` what that block says stays. Out of the box the width is 32, and nothing is cast.

    Parameters
    ----------
    bits : {16, 32, 64}
        As in `precision`.
    cast : bool, default False
        As in `precision`.

    Raises
    ------
    ArgumentError
        For another width.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.set_precision(64)
    >>> tb.asarray(0.5).dtype
    float64
    >>> tb.set_precision(32)
    """
    global current_precision, _cast_by_process
    _check_precision("set_precision", bits)
    if cast:
        cast_blocks.append(bits)
    if _cast_by_process:
        cast_blocks.remove(_cast_by_process)
    _cast_by_process = bits if cast else 0
    _cast_blocks_changed()
    current_precision = _precisions[-bits if cast else bits].get


_cast_by_process = 0
"""The width to which the process casts operands, 0 for none."""


@block
def uncast() -> Iterator[None]:
    """A block in which no operands are cast: what ops are made of works in dtypes of its own choice."""
    bits = current_precision()
    if bits > 0:
        yield
    else:
        with precision(-bits):
            yield


def get_precision() -> int:
    """The width in bits of the default floating dtype here and now: of the innermost block, else of the process.

    Returns
    -------
    int
        The width.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.precision(64):
    ...     tb.get_precision()
    64
    """
    return abs(current_precision())


def _cast_blocks_changed() -> None:
    for function in when_casting:
        function()


def cast_to(dtype: DType) -> DType | None:
    """The dtype to which an operand is cast here and now; `None` where it stays as it is."""
    bits = current_precision()
    wanted = _of_width(dtype, -bits) if bits < 0 else dtype
    return None if wanted is dtype else wanted


def cast_somewhere(dtypes: Iterable[DType]) -> bool:
    """Whether some block, in whatever thread, casts operands of one of some dtypes."""
    return bool(cast_blocks) and any(_of_width(each, bits) is not each for each in dtypes for bits in {*cast_blocks})


def _of_width(dtype: DType, bits: int) -> DType:
    """A floating or complex dtype of a width in place of one of any width; any other dtype itself."""
    return _COMPLEX[bits] if dtype.is_complex else _FLOATING[bits] if dtype.is_floating else dtype


def _check_precision(name: str, bits: int) -> None:
    if type(bits) is not int or bits not in _FLOATING:
        raise ArgumentError(expected("16, 32 or 64 bits", bits=bits)).named(name)


def default_dtype(kind: Kind) -> DType:
    """The dtype that a Python number of a kind gets, and what is made without another dtype.

    Parameters
    ----------
    kind : {"bool", "int", "uint", "float", "complex"}
        The kind of numbers.

    Returns
    -------
    DType
        `bool`, `int64` and `uint64`; for "float" and "complex" the dtypes of the precision in force, out of the box
        `float32` and `complex64`.

    Raises
    ------
    ArgumentError
        For another kind.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.default_dtype("float"), tb.default_dtype("int")
    (float32, int64)
    >>> with tb.precision(64):
    ...     tb.default_dtype("complex")
    complex128
    """
    if not isinstance(kind, str) or kind not in _RANK:
        raise ArgumentError(expected("kind to be 'bool', 'int', 'uint', 'float' or 'complex'", kind=kind))
    if kind == "float":
        return _FLOATING[abs(current_precision())]
    return _COMPLEX[abs(current_precision())] if kind == "complex" else _INTEGRAL[kind]


_INTEGRAL: dict[Kind, DType] = {"bool": bool_, "int": int64, "uint": uint64}


# Promotion

_RANK: dict[Kind, int] = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}
_KIND_OF_SCALAR: dict[type, Kind] = {bool: "bool", int: "int", float: "float", complex: "complex"}


def promote_types(left: DType, right: DType) -> DType:
    """The dtype that values of two dtypes have in common.

    The Array API standard's table, and where that has no entry: `bool` gives way to any dtype, an
    integer to any floating dtype, and two floating dtypes give the smallest that holds both. Raises
    `DTypeError` for `uint64` with a signed integer, which no integer dtype holds.

    >>> promote_types(int8, uint8), promote_types(int64, float16), promote_types(float16, bfloat16)
    (int16, float16, float32)
    """
    if left is right:
        return left
    low, high = (left, right) if _RANK[left.kind] <= _RANK[right.kind] else (right, left)
    if low.kind == "bool" or (low.is_integer and high.is_inexact):
        return high
    if low.kind == high.kind and low.kind in ("int", "uint"):
        return low if low.bits > high.bits else high
    if low.is_integer:
        signed, unsigned = (low, high) if low.kind == "int" else (high, low)
        bits = max(signed.bits, 2 * unsigned.bits)
        if bits > 64:
            remedy = f"cast one of them, such as astype(x, '{signed.name}')"
            raise DTypeError(expected("dtypes with a common integer dtype", remedy, left=left, right=right))
        return _by_name[f"int{bits}"]
    exponent, mantissa = (
        max(low.exponent_bits, high.exponent_bits),
        max(low.mantissa_bits, high.mantissa_bits),
    )
    return next(
        dtype
        for dtype in ALL_DTYPES
        if dtype.kind == high.kind and dtype.exponent_bits >= exponent and dtype.mantissa_bits >= mantissa
    )


def promote_scalar(kind: Kind, dtype: DType) -> DType:
    """The dtype of a Python number of a kind beside values of a dtype: weak, so theirs if it fits.

    >>> promote_scalar("float", bfloat16), promote_scalar("float", int8), promote_scalar("int", bool_)
    (bfloat16, float32, int64)
    >>> promote_scalar("complex", float64), promote_scalar("complex", int8)
    (complex128, complex64)
    """
    if holds_kind(dtype, kind):
        return dtype
    return COMPLEX_OF[dtype] if dtype.is_floating else default_dtype(kind)


def scalar_kind(value: object) -> Kind | None:
    """The kind of a Python number, `None` for anything else.

    Instances of subclasses are Python numbers too, unless they have a dtype of their own, as `numpy.float64` has.

    >>> scalar_kind(True), scalar_kind(2), scalar_kind("2")
    ('bool', 'int', None)
    """
    kind = _KIND_OF_SCALAR.get(type(value))
    if kind is None and isinstance(value, int | float | complex) and not hasattr(value, "__array__"):
        kind = next(kind for scalar_type, kind in _KIND_OF_SCALAR.items() if isinstance(value, scalar_type))
    return kind


def holds_kind(dtype: DType, kind: Kind) -> bool:
    """Whether a dtype is of a kind, or of a wider one.

    >>> holds_kind(float32, "int"), holds_kind(int8, "float")
    (True, False)
    """
    return _RANK[kind] <= _RANK[dtype.kind]


def check_scalar(value: Scalar, dtype: DType) -> None:
    """Raises `OutOfRangeError` where a dtype cannot hold a Python number, `DTypeError` for its kind.

    An integer must lie within the limits; a finite float must not round to infinity. Inexact
    rounding is no error.
    """
    kind = scalar_kind(value)
    if kind is None or not holds_kind(dtype, kind):
        remedy = (
            "take its real part, or choose a complex dtype" if kind == "complex" else "choose a dtype that holds it"
        )
        raise DTypeError(expected(f"a number that {dtype} holds", remedy, value=value))
    if dtype.is_integer:
        limits = iinfo(dtype)
        if not limits.min <= value <= limits.max:  # type: ignore[operator] # an int or bool, by its kind
            wanted = f"an integer from {limits.min} to {limits.max} for {dtype}"
            raise OutOfRangeError(expected(wanted, "choose a wider dtype", value=value))
    elif dtype.is_inexact:
        limit = finfo(dtype).max
        # Half a unit in the last place above the largest value is where rounding reaches infinity.
        half_unit = 2.0 ** (_max_exponent(dtype) - dtype.mantissa_bits - 1)
        try:
            fits = all(math.isinf(part) or not abs(part) - limit >= half_unit
                       for part in map(float, (value.real, value.imag)))  # fmt: skip
        except OverflowError:  # an integer beyond float64
            fits = False
        if not fits:
            wanted = f"a number from {-limit} to {limit} for {dtype}"
            raise OutOfRangeError(expected(wanted, "choose a wider dtype", value=value))


def check_scalars(values: Sequence[Scalar], dtype: DType) -> None:
    """Raises what `check_scalar` raises for the first of some Python numbers, whose kinds the dtype holds.

    A look at the least and the greatest of them takes a hundredth of the time.
    """
    if dtype.is_numeric and values and (dtype.is_complex or not _lie_within(values, *_limits(dtype))):
        for value in values:
            check_scalar(value, dtype)


def _lie_within(values: Sequence[Any], least: float, greatest: float) -> bool:
    # NaN that comes first is what both find, one that comes later what neither does.
    return bool(least <= min(values) and max(values) <= greatest)


@lru_cache
def _limits(dtype: DType) -> tuple[float, float]:
    limits = iinfo(dtype) if dtype.is_integer else finfo(dtype)
    return limits.min, limits.max


# Limits


class finfo_object(NamedTuple):
    """What `finfo` returns; the fields are Python floats, those of a complex dtype its halves'."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class iinfo_object(NamedTuple):
    """What `iinfo` returns; the fields are Python ints."""

    bits: int
    max: int
    min: int
    dtype: DType


def _max_exponent(dtype: DType) -> int:
    """Exponent of the largest finite value: 127 for an exponent field of 8 bits."""
    return int(2 ** (dtype.exponent_bits - 1)) - 1


def _dtype_of(value: Any) -> DType:
    """The dtype that a value is or has; a class, such as `numpy.float32`, is one itself."""
    return as_dtype(value if isinstance(value, DType | type) else getattr(value, "dtype", value))


def finfo(dtype: DTypeLike) -> finfo_object:
    """Limits of a floating or complex dtype, computed from the widths of its fields (IEEE 754).

    Takes a dtype or anything that has one. Raises `DTypeError` for other kinds.

    Parameters
    ----------
    dtype : DType, str or Tensor
        A dtype, or anything that has one.

    Returns
    -------
    finfo_object
        `bits`, `eps`, `max`, `min`, `smallest_normal` and `dtype`, of a complex dtype those of its parts.

    Examples
    --------
    >>> finfo(bfloat16).max, finfo("f32").eps
    (3.3895313892515355e+38, 1.1920928955078125e-07)
    """
    dtype = _dtype_of(dtype)
    if not dtype.is_inexact:
        raise DTypeError(expected("a floating or complex dtype", "use iinfo for integers", dtype=dtype))
    part = {complex64: float32, complex128: float64}.get(dtype, dtype)
    eps = 2.0**-part.mantissa_bits
    top = (2.0 - eps) * 2.0 ** _max_exponent(part)
    return finfo_object(part.bits, eps, top, -top, 2.0 ** (1 - _max_exponent(part)), part)


def iinfo(dtype: DTypeLike) -> iinfo_object:
    """Limits of an integer dtype, computed from its width.

    Takes a dtype or anything that has one. Raises `DTypeError` for other kinds.

    Parameters
    ----------
    dtype : DType, str or Tensor
        A dtype, or anything that has one.

    Returns
    -------
    iinfo_object
        `bits`, `max`, `min` and `dtype`.

    Examples
    --------
    >>> iinfo("int16").min, iinfo("uint64").max
    (-32768, 18446744073709551615)
    """
    dtype = _dtype_of(dtype)
    if not dtype.is_integer:
        raise DTypeError(expected("an integer dtype", "use finfo for floating dtypes", dtype=dtype))
    if dtype.kind == "int":
        return iinfo_object(dtype.bits, 2 ** (dtype.bits - 1) - 1, -(2 ** (dtype.bits - 1)), dtype)
    return iinfo_object(dtype.bits, 2**dtype.bits - 1, 0, dtype)


REAL_OF: dict[DType, DType] = {complex64: float32, complex128: float64}
"""The dtype of a complex number's halves."""

COMPLEX_OF: dict[DType, DType] = {
    float16: complex64,
    bfloat16: complex64,
    float32: complex64,
    float64: complex128,
}
"""The complex dtype that holds a floating one."""
