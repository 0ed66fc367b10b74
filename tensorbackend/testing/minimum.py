"""The fewest callbacks that a backend can define, computed from the needs of the fall-backs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product

from ..declarations.op_specs import CALLBACKS, OPS
from ..dispatch.fallbacks import fallbacks
from ..dtypes import ALL_DTYPES, DType, bool_, int64
from ..errors import DTypeError, TensorBackendError
from ..expr.grad.coverage import small_arguments


def minimum(dtypes: Iterable[DType] = ALL_DTYPES) -> tuple[str, ...]:
    """The primitives that the fall-backs for `dtypes` need and that have no fall-back, in the protocol's order.

    No fall-back needs the other primitives that have none (`erf`, `svd`): a backend without them lacks just these.

    >>> from tensorbackend.testing.minimum import minimum
    >>> "add" in minimum(), "subtract" in minimum(), "svd" in minimum()
    (True, False, False)
    """
    kinds = list(dtypes)
    names = [name for name, callback in CALLBACKS.items() if not callback.optional]
    needed = {
        need
        for name in names
        for fallback in fallbacks(name)
        for dtype in filter(fallback.takes, kinds)
        for need in fallback.needs
        if not _has_fallback(need, dtype)
    }
    return tuple(name for name in names if name in needed)


def _has_fallback(callback: str, dtype: DType) -> bool:
    """Whether a primitive has a fall-back for a dtype; if its ops refuse the dtype, whether it has any fall-back."""
    declared = fallbacks(callback)
    return any(fallback.takes(dtype) for fallback in declared) or (
        bool(declared) and accepted_dtype(callback, dtype) is None
    )


@cache
def accepted_dtype(callback: str, dtype: DType) -> DType | None:
    """The dtype in which operands of a dtype reach a callback, or `None` if its ops refuse them.

    The rules of the ops decide. Where a rule needs options that cannot be guessed, the dtype is assumed not to change.

    >>> import tensorbackend as tb
    >>> from tensorbackend.dtypes import bool_, complex64, int32
    >>> accepted_dtype("exp", int32), accepted_dtype("floor", complex64), accepted_dtype("select", int32)
    (float32, None, int32)
    """
    unknown = False
    for spec in OPS.values():
        if spec.callback != callback:
            continue
        tensors = [parameter for parameter in spec.parameters if parameter.role != "option"]
        if not tensors:
            return dtype
        for dtypes in product((dtype, int64, bool_), repeat=len(tensors)):
            try:
                inputs = spec.function(*small_arguments(spec, dtypes, dtype)).inputs
            except DTypeError:
                continue
            except (TypeError, TensorBackendError):
                unknown = True
                continue
            if set(dtypes) == {dtype} or (dtype in dtypes and inputs == dtypes):  # also next to indices or a condition
                return inputs[dtypes.index(dtype)]  # type: ignore[no-any-return] # a primitive's rule returns a plan
    return dtype if unknown else None
