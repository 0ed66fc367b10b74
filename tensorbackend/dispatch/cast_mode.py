"""The modes in which operands are cast: to one precision (`tb.precision(64, cast=True)`), or by `tb.autocast`.

The keys of most calls hold the precision, so their warm calls need nothing more. The keys of plain ops do not
(`Path.plain`: one or two tensors, no options), but for calls whose results have the default precision. While the mode
is on in any thread, other calls of plain ops that it casts are kept under keys with the precision too. So a call
outside of the mode checks nothing.

Rejected: the precision in each key, which adds 40 ns to a call that takes 500 ns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from ..caching import module_lock
from ..declarations.op_specs import OpSpec
from ..dtypes import DType, defaults
from ..dtypes.defaults import CastClass
from ..interchange import is_plain_array
from ..rules.accuracy import TO_THE_BIT
from ..tensor import Tensor, public_op
from .ready_calls import Memo, Record

COMPUTING: Final = frozenset({
    "contraction", "convolution", "cumulative", "elementwise", "fourier", "functional", "linalg", "reduction",
    "special", "window",
})  # fmt: skip
"""The families of ops that compute with their operands. Most other ops move elements, and keep their dtype."""

MAKING: Final = frozenset({"creation", "random"})
"""The families of ops that make tensors, in the dtype that the caller chooses."""

KEEPING: Final = frozenset({"as_type", "bitcast"})
"""Callbacks of computing families that are about the dtype of their operand, which the mode does not change."""

PRODUCTS: Final = frozenset({"contraction", "convolution"})
"""The families of ops that multiply matrices, which processors do faster in narrow dtypes."""

GROWING: Final = frozenset({
    "acos", "asin", "cosh", "erf_inv", "exp", "expm1", "log", "log10", "log1p", "log2", "logaddexp", "pow",
    "reciprocal", "rsqrt", "sinh", "softplus", "tan",
})  # fmt: skip
"""The elementwise ops whose results leave the range of float16 soon, or magnify the error of their operand."""

_memos: Final[list[Memo]] = []
"""The memos whose keys leave the precision out."""

# Held from the check whether the mode is on until a call is entered in a memo, or the memos are exchanged.
_lock = module_lock(__name__)


def cast_class(spec: OpSpec) -> CastClass:
    """What `tb.autocast` does with the operands of an op."""
    if spec.family in PRODUCTS:
        return "product"
    if spec.family == "elementwise":
        return "sum" if spec.name in GROWING else "other"
    return "sum" if is_cast(spec) and spec.family in COMPUTING and spec.bounds != TO_THE_BIT else "other"


def is_cast(spec: OpSpec) -> bool:
    """Whether a mode casts the operands of an op: one that computes, or whose results are rounded."""
    if spec.callback in KEEPING or spec.family in MAKING:
        return False
    return spec.family in COMPUTING or spec.bounds != TO_THE_BIT


def holds_no_precision(memo: Memo) -> None:
    """Enters the memo of an op whose keys leave the precision out."""
    _memos.append(memo)


def keep(memo: Memo, key: tuple[Any, ...], known: Record, operands: Iterable[DType]) -> bool:
    """Enters a call in such a memo, unless a block in any thread casts these dtypes; returns whether it did."""
    with _lock:
        if defaults.cast_somewhere(operands):
            return False
        memo.store(key, known)
        return True


@defaults.when_casting.supply
def settle() -> None:
    """Empties the memos when the mode begins."""
    if defaults.cast_blocks:
        with _lock:
            for memo in _memos:
                memo.clear()


def cast(arguments: Sequence[Any], keywords: dict[str, Any], spec: OpSpec) -> tuple[list[Any], dict[str, Any]] | None:
    """The arguments of a call with the operands cast, `None` where there is nothing to cast."""
    options = {parameter.name for parameter in spec.parameters if parameter.role == "option"}
    to_dtype = partial(defaults.cast_to, cast_class=cast_class(spec))
    positional = [
        value if spec.at(place).role == "option" else _operand(value, arguments, to_dtype)
        for place, value in enumerate(arguments)
    ]  # fmt: skip
    named = {
        name: value if name in options else _operand(value, arguments, to_dtype) for name, value in keywords.items()
    }
    changed = any(
        new is not old
        for new, old in zip((*positional, *named.values()), (*arguments, *keywords.values()), strict=True)
    )
    return (positional, named) if changed else None


def _operand(value: Any, neighbours: Sequence[Any], to_dtype: Callable[[DType], DType | None]) -> Any:
    """A tensor or array in the dtype of the mode, a sequence of them likewise; anything else unchanged."""
    if isinstance(value, list | tuple):
        members = [_operand(member, value, to_dtype) for member in value]
        return value if all(new is old for new, old in zip(members, value, strict=True)) else members
    tensor = value
    if not isinstance(value, Tensor):
        if not is_plain_array(value):
            return value
        home = next((neighbour.backend for neighbour in neighbours if isinstance(neighbour, Tensor)), None)
        tensor = public_op("asarray")(value, backend=home)
    target_dtype = to_dtype(tensor.dtype)
    return value if target_dtype is None else public_op("astype")(tensor, target_dtype)
