"""Reading dtypes from names, promotion, and the blocks that cast operands."""

from __future__ import annotations

from functools import lru_cache
from sys import byteorder
from typing import Any, Final

from ..errors import ArgumentError, DTypeError, expected
from ..errors.hints import rows
from ..errors.tracebacks import name_in_errors
from ..scopes import Block
from ..sizes import Size
from .defaults import PRODUCT_DTYPES, cast_products, default_dtype
from .types import ALL_DTYPES, BY_NAME, COMPLEX_OF, NARROW_DTYPES, RANK, DType, DTypeLike, Kind, bfloat16

_KIND_OF_SCALAR: dict[type, Kind] = {bool: "bool", int: "int", float: "float", complex: "complex"}
_FOREIGN: Final = {
    "complex": "complex128", "double": "float64", "float": "float64", "half": "float16", "i2": "int16", "i4": "int32",
    "int": "int64", "long": "int64", "short": "int16", "single": "float32",
}  # fmt: skip
"""The dtypes that other libraries call so."""
_OF_KINDS: Final = {
    "M": "write (dates - dates[0]) / numpy.timedelta64(1, 'D') for dates as numbers of days",
    "O": "write array.astype('float64')",
    "m": "write durations / numpy.timedelta64(1, 's') for durations as numbers of seconds",
}
"""What to write in place of NumPy's arrays of dates and objects, by the kind of their dtype."""


def as_dtype(dtype: DTypeLike) -> DType:
    """Return the `DType` of a name, a short form, a Python type or a library's own dtype.

    Raises `DTypeError` for anything else.

    >>> as_dtype("bf16"), as_dtype(float), as_dtype("pred")
    (bfloat16, float32, bool)
    """
    if isinstance(dtype, DType):
        return dtype
    if isinstance(dtype, type) and dtype in (bool, int, float, complex):
        return default_dtype(_KIND_OF_SCALAR[dtype])
    try:
        named_dtype = _dtype_by_name(dtype)  # type: ignore[arg-type] # what does not hash is not cached
    except TypeError:
        named_dtype = _dtype_by_name.__wrapped__(dtype)
    if named_dtype is None and isinstance(dtype, str) and dtype in _AMBIGUOUS:
        ours, numpys = _AMBIGUOUS[dtype]
        remedy = f"write {ours!r}, or {numpys!r} for NumPy's {dtype!r}"
        raise DTypeError(expected("an unambiguous dtype", remedy, dtype=dtype))
    if named_dtype is None:
        known = ", ".join(candidate.name for candidate in (*ALL_DTYPES, *NARROW_DTYPES))
        sizes = ""
        if scalar_kind(dtype) == "int":
            sizes, known = "write sizes as one tuple, as in (2, 3), and bounds by keyword", ""
        elif isinstance(dtype, tuple | list):
            texts = dtype and all(name is None or isinstance(name, str) for name in dtype)
            sizes = f"write names={tuple(dtype)!r}; " if texts else "a shape comes before the dtype; "
        elif isinstance(dtype, str) and dtype in _FOREIGN:
            sizes = f"write {_FOREIGN[dtype]!r}; "
        elif getattr(dtype, "kind", "") in _OF_KINDS:
            sizes, known = _OF_KINDS[dtype.kind], ""  # type: ignore[union-attr] # a dtype of NumPy's
        remedy = f"{sizes}the dtypes are {known}" if known else sizes
        of_draws = {**rows("arguments.dtype")} if isinstance(dtype, float | tuple | list) else {}
        if scalar_kind(dtype) == "int":
            of_draws = {
                name: f"{text}; sizes are one tuple, as in (2, 3)" for name, text in rows("arguments.dtype").items()
            }
        raise DTypeError(expected("a dtype", dtype=dtype), remedies=of_draws | {"": remedy})
    return named_dtype


@lru_cache(maxsize=256)
def _dtype_by_name(dtype: Any) -> DType | None:
    """The `DType` of a name or of an object with a name, `None` if there is none.

    Cached, because NumPy makes the name of a dtype again each time.
    """
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
    if name is None and type(dtype).__name__.lower() == "dtype":  # of PyTorch or MLX, whose text is "torch.float32"
        name = str(dtype).rpartition(".")[2]
    if not isinstance(name, str):
        return None
    return BY_NAME.get(name) or (_parse_numpy_code(name) if name is dtype else None)


def _parse_numpy_code(text: str) -> DType | None:
    """The `DType` of one of NumPy's codes, whose numbers are bytes, after a mark of the byte order, as in "<u8".

    Without the mark a code is a short form, whose number is bits: "u8" is uint8.
    """
    mark, code = text[:1], text[1:]
    if mark not in ("=", "|", "<" if byteorder == "little" else ">"):
        return BY_NAME["bool"] if text == "?" else None
    if code == "?":
        return BY_NAME["bool"]
    kind, width = _NUMPYS_KINDS.get(code[:1]), code[1:]
    return None if kind is None or width not in _WIDTHS else BY_NAME.get(f"{kind}{8 * int(width)}")


_AMBIGUOUS: Final = {"f4": ("float4_e2m1fn", "float32"), "f8": ("float8_e5m2", "float64"), "i8": ("int8", "int64")}
"""Short forms whose number is bits to XLA, Nx and safetensors, and bytes to NumPy; with the dtype of each."""

_NUMPYS_KINDS: Final = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
_WIDTHS: Final = ("1", "2", "4", "8", "16")


def promote_types(left: DType, right: DType) -> DType:
    """Return the dtype to which values of two dtypes are promoted.

    It follows the Array API standard's table. Where that has no entry, `bool` yields to any dtype, an integer to any
    floating dtype, and two floating dtypes are promoted to the smallest that holds both. Raises `DTypeError` for
    `uint64` with a signed integer, as no integer dtype holds both, and for narrow dtypes, which are never cast
    silently.

    >>> from tensorbackend.dtypes import bfloat16, float16, int8, int64, uint8
    >>> promote_types(int8, uint8), promote_types(int64, float16), promote_types(float16, bfloat16)
    (int16, float16, float32)
    """
    if left is right:
        return left
    if left.is_narrow or right.is_narrow:
        remedy = f"cast the narrow one, such as astype(x, '{widened(left if left.is_narrow else right)}')"
        raise DTypeError(expected("dtypes that promote", remedy, left=left, right=right))
    low, high = (left, right) if RANK[left.kind] <= RANK[right.kind] else (right, left)
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
        return BY_NAME[f"int{bits}"]
    exponent, mantissa = max(low.exponent_bits, high.exponent_bits), max(low.mantissa_bits, high.mantissa_bits)
    return next(
        dtype
        for dtype in ALL_DTYPES
        if dtype.kind == high.kind and dtype.exponent_bits >= exponent and dtype.mantissa_bits >= mantissa
    )


def widened(dtype: DType) -> DType:
    """A dtype that ops compute with and that holds each number of a narrow one: float32, int8 or uint8.

    >>> widened(as_dtype("int4")), widened(as_dtype("float8_e5m2"))
    (int8, float32)
    """
    return BY_NAME["float32" if dtype.kind == "float" else f"{dtype.kind}8"]


def promote_scalar(kind: Kind, dtype: DType) -> DType:
    """The dtype to which values of `dtype` and a Python number of `kind` are promoted: `dtype` if it holds the kind.

    >>> from tensorbackend.dtypes import bfloat16, bool_, float64, int8
    >>> promote_scalar("float", bfloat16), promote_scalar("float", int8), promote_scalar("int", bool_)
    (bfloat16, float32, int64)
    >>> promote_scalar("complex", float64), promote_scalar("complex", int8)
    (complex128, complex64)
    """
    if holds_kind(dtype, kind) or dtype.is_narrow:  # `check_scalar` refuses a number of a wider kind
        return dtype
    return COMPLEX_OF[dtype] if dtype.is_floating else default_dtype(kind)


def scalar_kind(value: object) -> Kind | None:
    """The kind of a Python number, `None` for anything else.

    Instances of subclasses are Python numbers too, unless they have a dtype of their own, as `numpy.float64` has.

    >>> scalar_kind(True), scalar_kind(2), scalar_kind("2")
    ('bool', 'int', None)
    """
    kind = _KIND_OF_SCALAR.get(type(value.value if isinstance(value, Size) else value))
    if kind is None and isinstance(value, int | float | complex) and not hasattr(value, "__array__"):
        kind = next(kind for scalar_type, kind in _KIND_OF_SCALAR.items() if isinstance(value, scalar_type))
    return kind


def holds_kind(dtype: DType, kind: Kind) -> bool:
    """Whether a dtype is of a kind, or of a wider kind.

    >>> from tensorbackend.dtypes import float32, int8
    >>> holds_kind(float32, "int"), holds_kind(int8, "float")
    (True, False)
    """
    return RANK[kind] <= RANK[dtype.kind]


@name_in_errors
def autocast(dtype: DTypeLike = bfloat16) -> Block[None]:
    """Compute products in a narrow dtype and sums in float32, for a `with` block, in this thread or task only.

    Ops that multiply matrices and convolutions cast operands of float32 and narrower to `dtype`. Reductions, cumulative
    and linear algebra ops, Fourier transforms, special functions, and functions whose results grow quickly, such as
    `exp`, cast float16 and bfloat16 to float32. All other ops take their operands as they are. float64, complex numbers
    and integers are never cast.

    Parameters
    ----------
    dtype : {bfloat16, float16}, default bfloat16
        The dtype of products.

    Returns
    -------
    Block
        The block. Blocks of `precision` inside it end the casts.

    Raises
    ------
    ArgumentError
        For another dtype.

    See Also
    --------
    optimize.scale_loss : For gradients that are too small for float16.

    Notes
    -----
    Gradients have the dtypes of the arguments, so parameters in float32 get gradients and steps in float32. Under
    `tb.jit`, write the block inside the function: a block around the calls is entered at each of them.

    References
    ----------
    Micikevicius et al., "Mixed Precision Training", ICLR 2018.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x = tb.ones((2, 2))
    >>> with tb.autocast("bfloat16"):
    ...     y = x @ x
    ...     y.dtype, (y + x).dtype, tb.sum(y).dtype
    (bfloat16, float32, float32)
    """
    narrow = as_dtype(dtype)
    if narrow in PRODUCT_DTYPES:
        return cast_products(narrow)
    raise ArgumentError(expected("a dtype of bfloat16 or float16", dtype=narrow))
