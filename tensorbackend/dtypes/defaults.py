"""Default dtypes: the precision of floating numbers, for a block or the process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Final

from ..errors import ArgumentError, expected
from ..errors.tracebacks import name_in_errors
from ..registration import Supplied
from ..scopes import Block
from .types import RANK, DType, Kind, bool_, complex64, complex128, float16, float32, float64, int64, uint64

_FLOATING = {16: float16, 32: float32, 64: float64}
_COMPLEX = {16: complex64, 32: complex64, 64: complex128}

# These variables differ only in their defaults. A block sets all of them; the process reads the one whose default is
# its precision. So each call reads a single variable, by the variable's own method `get`. The value is the width in
# bits, negative where operands are cast to that width as well.
_precisions: dict[int, ContextVar[int]] = {
    sign * bits: ContextVar(f"tensorbackend_precision_{sign * bits}", default=sign * bits)
    for bits in _FLOATING
    for sign in (1, -1)
}

current_precision: Callable[[], int] = _precisions[32].get
"""Returns the width in bits of the default floating dtype in the current context, negative where operands are cast to
it. `set_precision` replaces this function, so read it as an attribute of this module at each call."""

cast_blocks: list[int] = []
"""The widths to which operands are cast at present, by blocks of any thread and by the process."""

when_casting: Supplied[Callable[[], None]] = Supplied(lambda: None)
"""Is called when the defaults have changed."""


class _Casting(Block[None]):
    """A block in which the operands of all ops that compute are cast."""

    def __init__(self, bits: int) -> None:
        super().__init__(None, [(variable, -bits) for variable in _precisions.values()])
        self._bits: Final = bits

    def __enter__(self) -> None:
        cast_blocks.append(self._bits)
        try:
            when_casting.call()
        except BaseException:  # an interrupt
            cast_blocks.remove(self._bits)
            raise
        super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__()
        cast_blocks.remove(self._bits)
        when_casting.call()


def precision(bits: int, *, cast: bool = False) -> Block[None]:
    """Set the width in bits of the default floating and complex dtypes for a `with` block, in this thread or task only.

    Parameters
    ----------
    bits : {16, 32, 64}
        The width of floating numbers, and of each part of complex numbers, which have at least 32.
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
    get_precision : Returns the current width.
    """
    _check_precision("precision", bits)
    return _Casting(bits) if cast else Block(None, [(variable, bits) for variable in _precisions.values()])


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
    global current_precision, _cast_by_process
    _check_precision("set_precision", bits)
    if cast:
        cast_blocks.append(bits)
    if _cast_by_process:
        cast_blocks.remove(_cast_by_process)
    _cast_by_process = bits if cast else 0
    when_casting.call()
    current_precision = _precisions[-bits if cast else bits].get


_cast_by_process = 0
"""The width to which the process casts operands, 0 for none."""


def uncast() -> Block[None]:
    """A block in which no operands are cast: the steps inside an op compute in dtypes that the op chooses."""
    bits = current_precision()
    return Block(None, ()) if bits > 0 else precision(-bits)


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
    return abs(current_precision())


def cast_to(dtype: DType) -> DType | None:
    """The dtype to which an operand is cast under the current settings; `None` if it is not cast."""
    bits = current_precision()
    target_dtype = _dtype_of_width(dtype, -bits) if bits < 0 else dtype
    return None if target_dtype is dtype else target_dtype


def cast_somewhere(dtypes: Iterable[DType]) -> bool:
    """Whether a block of any thread, or the process, casts operands of at least one of the given dtypes."""
    return bool(cast_blocks) and any(
        _dtype_of_width(dtype, bits) is not dtype for dtype in dtypes for bits in {*cast_blocks}
    )


def _dtype_of_width(dtype: DType, bits: int) -> DType:
    """The floating or complex dtype of a width, in place of a dtype of the same kind; any other dtype itself."""
    return _COMPLEX[bits] if dtype.is_complex else _FLOATING[bits] if dtype.is_floating else dtype


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
        return _FLOATING[abs(current_precision())]
    return _COMPLEX[abs(current_precision())] if kind == "complex" else _INTEGRAL[kind]


_INTEGRAL: dict[Kind, DType] = {"bool": bool_, "int": int64, "uint": uint64}
