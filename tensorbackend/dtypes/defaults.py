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
from .types import (
    RANK,
    DType,
    Kind,
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int64,
    uint64,
)

CastClass: TypeAlias = Literal["product", "sum", "other"]
"""What `autocast` asks of an op: whether it multiplies matrices, whether it sums up or needs the range of float32."""

_FLOATING = {16: float16, 32: float32, 64: float64}
_COMPLEX = {16: complex64, 32: complex64, 64: complex128}

# These variables differ only in their defaults. A block sets all of them; the process reads the one whose default is
# its precision. So each call reads a single variable, by the variable's own method `get`. The value is the width in
# bits, negative where operands are cast to that width as well. Under `autocast` a multiple of 100, which stands for the
# dtype of products, is subtracted from that: -132 is bfloat16 at a precision of 32. A multiple of 10,000 stands for the
# precision of products: 20,032 and -20,132 are "default".
_precisions: dict[int, ContextVar[int]] = {
    sign * bits: ContextVar(f"tensorbackend_precision_{sign * bits}", default=sign * bits)
    for bits in _FLOATING
    for sign in (1, -1)
}

PRODUCT_DTYPES: Final = {1: bfloat16, 2: float16}
"""The dtypes of products under `autocast`, by the multiple of 100."""

PRODUCT_PRECISIONS: Final = ("highest", "high", "default")
"""The precisions of products, by the multiple of `_LEVEL`."""

_LEVEL: Final = 10_000

current_precision: Callable[[], int] = _precisions[32].get
"""Returns the width in bits of the default floating dtype in the current context, in a form that is negative where
operands are cast. `set_precision` replaces this function, so read it as an attribute of this module at each call."""

cast_blocks: dict[object, int] = {}
"""The values of `current_precision` that cast operands at present, in any context and in the process, by what keeps
them: a reference to an object that each context of a block holds, and `None` for the process."""

_kept: Final[ContextVar[object]] = ContextVar("tensorbackend_cast", default=None)

when_casting: SuppliedFunction[Callable[[], None]] = SuppliedFunction(lambda: None)
"""Is called when the defaults have changed."""


class _Cast:
    """Lives as long as a context has the settings of a block that casts: its own, or a copy of that for a thread."""

    __slots__ = ("__weakref__",)


class CastBlock(Block[None]):
    """A block in which operands are cast. `mode` is its value of `current_precision`."""

    def __init__(self, mode: int) -> None:
        super().__init__(None, ())
        self._mode: Final = mode

    def __enter__(self) -> None:
        kept = _Cast()
        cast_blocks[ref(kept, cast_blocks.pop)] = self._mode
        when_casting.call()
        self._settings = {**dict.fromkeys(_precisions.values(), self._mode), _kept: kept}
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
        return _at_level(PRODUCT_PRECISIONS.index(bits))
    if type(bits) is not int or bits not in _FLOATING:
        texts = ", ".join(map(repr, PRODUCT_PRECISIONS))
        expectation = f"16, 32 or 64 bits, or {texts} without a cast"
        raise ArgumentError(expected(expectation, bits=bits, cast=cast)).named("precision")
    return _block((bits + product_level() * _LEVEL) * (-1 if cast else 1))


def _block(mode: int) -> Block[None]:
    """A block with a value of `current_precision`."""
    return CastBlock(mode) if mode < 0 else Block(None, [(variable, mode) for variable in _precisions.values()])


def cast_products(code: int) -> Block[None]:
    """A block in which operands of products are cast to one of `PRODUCT_DTYPES`."""
    return _block(-(product_level() * _LEVEL + 100 * code + get_precision()))


def product_level() -> int:
    """The current precision of products, as a position in `PRODUCT_PRECISIONS`."""
    return abs(current_precision()) // _LEVEL


def at_level(level: int) -> Block[None]:
    """A block with a precision of products, a position in `PRODUCT_PRECISIONS`, in which no other block ends."""
    return Block(None, ()) if product_level() == level else _at_level(level)


def _at_level(level: int) -> Block[None]:
    mode = current_precision()
    return _block((abs(mode) % _LEVEL + level * _LEVEL) * (1 if mode > 0 else -1))


def product_precision() -> str:
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
    return PRODUCT_PRECISIONS[product_level()]


def shown_precision() -> int | str:
    """The current precision for a message: the number of bits, and the precision of products unless it is highest."""
    mode = current_precision()
    if not product_level():
        return mode
    return f"{mode % _LEVEL if mode > 0 else -(-mode % _LEVEL)}, products {product_precision()!r}"


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
    if cast:
        cast_blocks[None] = -bits
    else:
        cast_blocks.pop(None, None)
    when_casting.call()
    current_precision = _precisions[-bits if cast else bits].get


def uncast() -> Block[None]:
    """A block in which no operands are cast: the steps inside an op compute in dtypes that the op chooses."""
    return Block(None, ()) if current_precision() > 0 else precision(get_precision())


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
    return abs(current_precision()) % 100


def cast_to(dtype: DType, cast_class: CastClass) -> DType | None:
    """The dtype that an operand of an op of a class is cast to now; `None` if it is not cast."""
    target_dtype = _target(current_precision(), dtype, cast_class)
    return None if target_dtype is dtype else target_dtype


def cast_somewhere(dtypes: Iterable[DType]) -> bool:
    """Whether a block of any thread, or the process, casts operands of at least one of the given dtypes."""
    return bool(cast_blocks) and any(
        _target(mode, dtype, cast_class) is not dtype
        for dtype in dtypes
        for mode in set(cast_blocks.copy().values())
        for cast_class in get_args(CastClass)
    )


def _target(mode: int, dtype: DType, cast_class: CastClass) -> DType:
    """The dtype to which a value of `current_precision` casts an operand of a dtype, which may be the same."""
    if mode > 0 or not dtype.is_inexact:
        return dtype
    code, bits = divmod(-mode % _LEVEL, 100)
    if not code:
        return _COMPLEX[bits] if dtype.is_complex else _FLOATING[bits]
    if cast_class == "product" and dtype in (float16, bfloat16, float32):
        return PRODUCT_DTYPES[code]
    return float32 if cast_class == "sum" and dtype in (float16, bfloat16) else dtype


def _check_precision(name: str, bits: int) -> None:
    if type(bits) is not int or bits not in _FLOATING:
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
        return _FLOATING[get_precision()]
    return _COMPLEX[get_precision()] if kind == "complex" else _INTEGRAL[kind]


_INTEGRAL: dict[Kind, DType] = {"bool": bool_, "int": int64, "uint": uint64}
