"""The precision in which numbers are made and multiplied, as one value."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from .types import DType, bfloat16, complex64, complex128, float16, float32, float64

CastClass: TypeAlias = Literal["product", "sum", "other"]
"""What `autocast` asks of an op: whether it multiplies matrices, whether it sums up or needs the range of float32."""

Products: TypeAlias = Literal["highest", "high", "default"]
"""The least precision with which products multiply float32."""

FLOATING: Final = {16: float16, 32: float32, 64: float64}
"""The default floating dtypes, by their width in bits."""

COMPLEX: Final = {16: complex64, 32: complex64, 64: complex128}
"""The default complex dtypes, by the width of the floating one."""

PRODUCT_DTYPES: Final = bfloat16, float16
"""The dtypes that products may have under `autocast`."""

PRODUCT_PRECISIONS: Final[tuple[Products, ...]] = get_args(Products)


class Precision:
    """What `precision`, `set_precision` and `autocast` set, made by `precision_of`, and not changed after that.

    Equal ones are one object, so that a key of a memo holds and compares them by identity.

    >>> precision_of(64, cast=True)
    64, operands cast
    """

    __slots__ = ("bits", "cast", "product_dtype", "products")

    def __init__(self, bits: int, cast: bool, product_dtype: DType | None, products: Products) -> None:
        self.bits: Final = bits
        """The width of the default floating dtype."""
        self.cast: Final = cast
        """Whether operands are cast to that width."""
        self.product_dtype: Final = product_dtype
        """The dtype of products under `autocast`, else `None`."""
        self.products: Final = products
        """The least precision of products."""

    def __repr__(self) -> str:
        parts = [str(self.bits)]
        if self.cast:
            parts.append("operands cast")
        if self.product_dtype is not None:
            parts.append(f"products in {self.product_dtype}")
        if self.products != "highest":
            parts.append(f"products {self.products!r}")
        return ", ".join(parts)

    @property
    def casts(self) -> bool:
        """Whether some operands are cast."""
        return self.cast or self.product_dtype is not None

    def target(self, dtype: DType, cast_class: CastClass) -> DType:
        """The dtype to which an operand of an op of a class is cast, which may be its own."""
        if not self.casts or not dtype.is_inexact:
            return dtype
        if self.cast:
            return (COMPLEX if dtype.is_complex else FLOATING)[self.bits]
        if cast_class == "product" and dtype in (float16, bfloat16, float32):
            return self.product_dtype or dtype
        return float32 if cast_class == "sum" and dtype in (float16, bfloat16) else dtype


_known: Final[dict[tuple[object, ...], Precision]] = {}


def precision_of(
    bits: int, *, cast: bool = False, product_dtype: DType | None = None, products: Products = "highest"
) -> Precision:
    """The one object with these fields; there are few of them."""
    key = bits, cast, product_dtype, products
    return _known.get(key) or _known.setdefault(key, Precision(*key))
