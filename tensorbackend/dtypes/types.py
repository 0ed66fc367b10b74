"""Element types: one object for each kind and width, so that dtypes compare and hash by identity.

Names are the Array API standard's; the short forms are Nx's.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NoReturn, Protocol, TypeAlias

from ..annotations import Meaning
from ..caching.option_keys import atom
from ..errors import DTypeError, shown

Kind = Literal["bool", "int", "uint", "float", "complex"]
Scalar: TypeAlias = bool | int | float | complex

RANK: Final[dict[Kind, int]] = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}
"""The rank of each kind in promotion: a kind yields to kinds of higher rank, such as an integer to a float."""


class _NamedDType(Protocol):
    """A dtype of a library like NumPy: `numpy.dtype("f4").name == "float32"`."""

    @property
    def name(self) -> str: ...


@atom
class DType:
    """An element type: its kind, its width in bits, and for a floating or complex dtype how those bits are split.

    >>> from tensorbackend import dtypes
    >>> dtypes.bfloat16.bits, dtypes.bfloat16.alias, dtypes.bfloat16.itemsize
    (16, 'bf16', 2)
    """

    __slots__ = ("alias", "bits", "exponent_bits", "is_complex", "is_floating", "is_inexact", "is_integer",
                 "is_narrow", "is_numeric", "itemsize", "kind", "mantissa_bits", "name")  # fmt: skip

    name: str
    alias: str
    kind: Kind
    bits: int
    """Width of an element in bits: 8 for `bool`, that of both parts together for a complex number."""
    exponent_bits: int
    """Width of the exponent (for a complex number, of each part); 0 where there is none."""
    mantissa_bits: int
    """Explicit bits of the significand, without the hidden bit (for a complex number, of each part)."""
    is_narrow: bool
    """Whether it only stores numbers: ops move such elements and cast them, and compute in other dtypes. `is_integer`,
    `is_floating` and `is_numeric` are false then, as they say how ops compute."""
    itemsize: int
    """Bytes of an element in `to_binary`: a whole one for each element of less than 8 bits."""

    def __init__(
        self, name: str, alias: str, kind: Kind, bits: int, exponent_bits: int = 0, *, narrow: bool = False
    ) -> None:
        part = bits // 2 if kind == "complex" else bits
        self.name, self.alias, self.kind, self.bits = name, alias, kind, bits
        self.is_narrow = narrow
        self.itemsize = max(bits // 8, 1)
        self.exponent_bits = exponent_bits
        self.mantissa_bits = max(part - exponent_bits - 1, 0) if exponent_bits else 0
        self.is_integer = kind in ("int", "uint") and not narrow
        self.is_floating = kind == "float" and not narrow
        self.is_complex = kind == "complex"
        self.is_inexact = self.is_floating or self.is_complex
        self.is_numeric = kind != "bool" and not narrow

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *values: object, **options: object) -> NoReturn:
        """A dtype is no function; the error says how to make a tensor of it, as NumPy's and JAX's dtypes do.

        >>> float32(2)
        Traceback (most recent call last):
        tensorbackend.errors.DTypeError: float32: expected a dtype to be an argument, got (2,); write \
tb.asarray(value, dtype=tb.float32)
        """
        remedy = f"write tb.asarray(value, dtype=tb.{self.name})"
        raise DTypeError(f"expected a dtype to be an argument, got {shown(values)}; {remedy}").named(self.name)

    def __eq__(self, other: object) -> bool:
        """Whether another object stands for this dtype: the dtype itself, one of NumPy's numbers, or a name.

        Python's types do not: which dtype `float` stands for depends on the default dtypes.
        """
        if self is other or other.__class__ is DType:
            return self is other
        if isinstance(other, str):
            return BY_NAME.get(other) is self
        if isinstance(other, type) and other.__module__ in ("numpy", "ml_dtypes"):
            return other.__name__.rstrip("_") == self.name
        return NotImplemented

    __hash__ = object.__hash__

    @property
    def dtype(self) -> Any:
        """NumPy's dtype, which `numpy.dtype(...)` asks for; that of ml_dtypes for bfloat16 and narrow dtypes."""
        import numpy

        if self.is_narrow or self is bfloat16:
            import ml_dtypes

            return numpy.dtype(getattr(ml_dtypes, self.name))
        return numpy.dtype(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.name,)


def _unpickle(name: str) -> DType:
    return BY_NAME[name]


bool_ = DType("bool", "pred", "bool", 8)
int8, int16, int32, int64 = (DType(f"int{bits}", f"s{bits}", "int", bits) for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DType(f"uint{bits}", f"u{bits}", "uint", bits) for bits in (8, 16, 32, 64))
float16 = DType("float16", "f16", "float", 16, exponent_bits=5)
bfloat16 = DType("bfloat16", "bf16", "float", 16, exponent_bits=8)
float32 = DType("float32", "f32", "float", 32, exponent_bits=8)
float64 = DType("float64", "f64", "float", 64, exponent_bits=11)
complex64 = DType("complex64", "c64", "complex", 64, exponent_bits=8)
complex128 = DType("complex128", "c128", "complex", 128, exponent_bits=11)

float8_e4m3fn = DType("float8_e4m3fn", "f8_e4m3", "float", 8, 4, narrow=True)
float8_e5m2 = DType("float8_e5m2", "f8_e5m2", "float", 8, 5, narrow=True)
float8_e8m0fnu = DType("float8_e8m0fnu", "f8_e8m0", "float", 8, 8, narrow=True)
float4_e2m1fn = DType("float4_e2m1fn", "f4_e2m1", "float", 4, 2, narrow=True)
int2, int4 = (DType(f"int{bits}", f"s{bits}", "int", bits, narrow=True) for bits in (2, 4))
uint2, uint4 = (DType(f"uint{bits}", f"u{bits}", "uint", bits, narrow=True) for bits in (2, 4))

ALL_DTYPES: tuple[DType, ...] = (
    bool_,
    *(int8, int16, int32, int64),
    *(uint8, uint16, uint32, uint64),
    *(float16, bfloat16, float32, float64),
    *(complex64, complex128),
)
"""The dtypes that ops compute with."""

NARROW_DTYPES: tuple[DType, ...] = (
    *(float8_e4m3fn, float8_e5m2, float8_e8m0fnu, float4_e2m1fn),
    *(int2, int4, uint2, uint4),
)
"""The dtypes of 8 bits and less that only store numbers: scaled weights, and their scales."""

STORED_DTYPES: frozenset[DType] = frozenset({*ALL_DTYPES, *NARROW_DTYPES})
"""All dtypes, for a backend whose payloads can hold each of them."""

DTypeLike: TypeAlias = Annotated[DType | str | type | _NamedDType, Meaning("dtype")]
"""What names a dtype in an argument: a `DType`, its name or short form, a Python type, or a library's dtype."""

BY_NAME: Final = {key: dtype for dtype in (*ALL_DTYPES, *NARROW_DTYPES) for key in (dtype.name, dtype.alias)}
BY_NAME.update({f"i{bits}": BY_NAME[f"int{bits}"] for bits in (16, 32, 64)})
BY_NAME.update({"f8_e4m3fn": float8_e4m3fn})  # as Nx writes it
"""The dtypes by their names and short forms."""

REAL_OF: dict[DType, DType] = {complex64: float32, complex128: float64}
"""For each complex dtype, the floating dtype of its parts."""

COMPLEX_OF: dict[DType, DType] = {float16: complex64, bfloat16: complex64, float32: complex64, float64: complex128}
"""For each floating dtype, the complex dtype that holds it."""
