"""Default dtypes: the precision of floating numbers, for a block or the process; and the casts of operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Final, Literal, TypeAlias, get_args
from weakref import ref

from ..errors import ArgumentError, expected
from ..errors.tracebacks import name_in_errors
from ..registration import SuppliedFunction
from ..scopes import Block
from .types import RANK, DType, Kind, bfloat16, bool_, complex64, complex128, float16, float32, float64, int64, uint64

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


# These variables differ only in their defaults. A block sets all of them; the process reads the one whose default is
# its precision. So each call reads a single variable, by the variable's own method `get`.
_precisions: dict[Precision, ContextVar[Precision]] = {
    of_process: ContextVar(f"tensorbackend_precision_{of_process}", default=of_process)
    for of_process in [precision_of(bits, cast=cast) for bits in FLOATING for cast in (False, True)]
}

current_precision: Callable[[], Precision] = _precisions[precision_of(32)].get
"""Returns the precision of the current context. `set_precision` replaces this function, so read it as an attribute of
this module at each call."""

cast_blocks: dict[object, Precision] = {}
"""The precisions that cast operands at present, in any context and in the process, by what keeps them: a reference to
an object that each context of a block holds, and `None` for the process."""

_kept: Final[ContextVar[object]] = ContextVar("tensorbackend_cast", default=None)

when_casting: SuppliedFunction[Callable[[], None]] = SuppliedFunction(lambda: None)
"""Is called when the defaults have changed."""


class _Cast:
    """Lives as long as a context has the settings of a block that casts: its own, or a copy of that for a thread."""

    __slots__ = ("__weakref__",)


class CastBlock(Block[None]):
    """A block with a precision that casts operands."""

    def __init__(self, casting: Precision) -> None:
        super().__init__(None, ())
        self._casting: Final = casting

    def __enter__(self) -> None:
        kept = _Cast()
        cast_blocks[ref(kept, cast_blocks.pop)] = self._casting
        when_casting.call()
        self._settings = {**dict.fromkeys(_precisions.values(), self._casting), _kept: kept}
        try:
            super().__enter__()
        finally:
            self._settings = {}


def precision(bits: int | str, *, cast: bool = False) -> Block[None]:
    """Set the default precision for a `with` block, in this thread or task only: of dtypes, or of products.

    Parameters
    ----------
    bits : {16, 32, 64, "highest", "high", "default"}
        As a number, the width in bits of the default floating dtype, and of each part of complex numbers, which have
        at least 32. As text, the least precision with which matrix products and convolutions multiply float32, and
        their gradients too: "highest", as without a block, multiplies all bits; with "high" and "default" JAX and
        PyTorch may use the units of a GPU or TPU that round operands to fewer bits. Dtypes stay the same, and so do
        results on other backends.
    cast : bool, default False
        Whether ops that compute also cast their floating and complex operands, even wider ones, to that width. Ops
        that only move elements, such as `reshape` and indexing, and `astype` do not cast their operands.

    Returns
    -------
    Block
        The block.

    Raises
    ------
    ArgumentError
        For another width or text.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.precision(64):
    ...     tb.asarray(0.5).dtype
    float64
    >>> with tb.precision("default"):
    ...     (tb.ones((2, 2)) @ tb.ones((2, 2))).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    >>> x = tb.ones(2)
    >>> with tb.precision(64, cast=True):
    ...     (x + x).dtype, x[0].dtype
    (float64, float32)

    See Also
    --------
    set_precision : For the whole process.
    get_precision : Returns the current width.
    """
    if isinstance(bits, str) and bits in PRODUCT_PRECISIONS and not cast:
        return _with_products(bits)
    if type(bits) is not int or bits not in FLOATING:
        texts = ", ".join(map(repr, PRODUCT_PRECISIONS))
        expectation = f"16, 32 or 64 bits, or {texts} without a cast"
        raise ArgumentError(expected(expectation, bits=bits, cast=cast)).named("precision")
    return _block(precision_of(bits, cast=cast, products=product_precision()))


def _block(chosen: Precision) -> Block[None]:
    """A block with a precision."""
    return CastBlock(chosen) if chosen.casts else Block(None, [(variable, chosen) for variable in _precisions.values()])


def cast_products(dtype: DType) -> Block[None]:
    """A block in which operands of products are cast to one of `PRODUCT_DTYPES`."""
    current = current_precision()
    return _block(precision_of(current.bits, product_dtype=dtype, products=current.products))


def with_products(products: Products) -> Block[None]:
    """A block with a precision of products, in which no other block ends."""
    return Block(None, ()) if product_precision() == products else _with_products(products)


def _with_products(products: Products) -> Block[None]:
    current = current_precision()
    return _block(precision_of(current.bits, cast=current.cast, product_dtype=current.product_dtype, products=products))


def product_precision() -> Products:
    """The current precision of products, which a backend reads where it plans a product.

    Returns
    -------
    str
        "highest", "high" or "default", as `precision` defines them.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> with tb.precision("high"):
    ...     product_precision()
    'high'
    """
    return current_precision().products


def set_precision(bits: int, *, cast: bool = False) -> None:
    """Set the width of the default floating and complex dtypes for the whole process, including all threads.

    Inside a block of `precision` the block's settings remain in effect. Initially the width is 32, and nothing is cast.

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
    global current_precision
    _check_precision("set_precision", bits)
    chosen = precision_of(bits, cast=cast)
    if cast:
        cast_blocks[None] = chosen
    else:
        cast_blocks.pop(None, None)
    when_casting.call()
    current_precision = _precisions[chosen].get


def uncast() -> Block[None]:
    """A block in which no operands are cast: the steps inside an op compute in dtypes that the op chooses."""
    return precision(get_precision()) if current_precision().casts else Block(None, ())


def get_precision() -> int:
    """Return the width in bits of the default floating dtype: that of the innermost block, else that of the process.

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
    return current_precision().bits


def cast_to(dtype: DType, cast_class: CastClass) -> DType | None:
    """The dtype that an operand of an op of a class is cast to now; `None` if it is not cast."""
    target_dtype = current_precision().target(dtype, cast_class)
    return None if target_dtype is dtype else target_dtype


def cast_somewhere(dtypes: Iterable[DType]) -> bool:
    """Whether a block of any thread, or the process, casts operands of at least one of the given dtypes."""
    return bool(cast_blocks) and any(
        casting.target(dtype, cast_class) is not dtype
        for dtype in dtypes
        for casting in set(cast_blocks.copy().values())
        for cast_class in get_args(CastClass)
    )


def _check_precision(name: str, bits: int) -> None:
    if type(bits) is not int or bits not in FLOATING:
        raise ArgumentError(expected("16, 32 or 64 bits", bits=bits)).named(name)


@name_in_errors
def default_dtype(kind: Kind) -> DType:
    """The dtype of a kind of Python numbers, and of new tensors for which no dtype is given.

    Parameters
    ----------
    kind : {"bool", "int", "uint", "float", "complex"}
        The kind of numbers.

    Returns
    -------
    DType
        `bool`, `int64` or `uint64`; for "float" and "complex" the dtype of the current precision, which is initially
        `float32` or `complex64`.

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
    if not isinstance(kind, str) or kind not in RANK:
        raise ArgumentError(expected("kind to be 'bool', 'int', 'uint', 'float' or 'complex'", kind=kind))
    if kind == "float":
        return FLOATING[get_precision()]
    return COMPLEX[get_precision()] if kind == "complex" else _INTEGRAL[kind]


_INTEGRAL: dict[Kind, DType] = {"bool": bool_, "int": int64, "uint": uint64}
