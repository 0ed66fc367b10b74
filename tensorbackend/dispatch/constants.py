"""Python's and NumPy's numbers among the operands of an op, as tensors without axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from ..caching.memos import clear_all, remembers
from ..caching.option_keys import MEMO_LIMIT, NUMBERS, remember
from ..dtypes import DType, check_scalar, check_scalars
from ..dtypes.packing import element_type, writer
from ..protocol import Backend, Payload
from ..sizes import NeedsSizes, Size
from ..template import intern_template
from ..tensor import Tensor
from .checked import explain_errors
from .kernels import primitive_kernel


def constant(value: Any, dtype: DType, backend: Backend) -> Tensor:
    """A Python number among the operands of an op as a tensor without axes."""
    return Tensor(intern_template((), dtype, ()), backend, constants_of(dtype, backend)(value))


_numbers: Final[list[dict[Any, Payload]]] = []
"""The payloads of numbers, by dtype and backend."""

remembers(
    "numbers next to tensors",
    lambda: sum(map(len, _numbers)),
    lambda: clear_all(_numbers),
    lambda: MEMO_LIMIT * len(_numbers),
)


@cache
def constants_of(dtype: DType, backend: Backend) -> Callable[[Any], Payload]:
    """A function that makes the payload of a Python number in a dtype, once for each value.

    The function raises what `check_scalar` raises.
    """
    payloads: dict[Any, Payload] = {}
    _numbers.append(payloads)
    template, known = intern_template((), dtype, ()), set()
    as_element, as_bytes = element_type(dtype), writer(dtype, 1)
    has_data = backend.holds_data and not backend.template_only
    recorded = backend.dispatch_priority > 1  # a backend that records programs makes a number where it is used
    plain = has_data and backend.plans_kinds and not recorded

    def payload(value: Any) -> Payload:
        if value.__class__ is Size:
            if has_data:
                raise NeedsSizes
            return primitive_kernel(backend, "constant", template, (), {"value": value})()
        # Equal numbers may need different payloads: 0.0 and -0.0, complex numbers with such parts, and 1, 1.0 and True.
        key = value.__class__, repr(value) if not value or value.__class__ is complex else value
        try:
            return payloads[key]
        except KeyError:
            pass  # so that no error below has this one as its context
        if value.__class__ in known:  # the dtype holds its kind
            check_scalars((value,), dtype)
        else:
            check_scalar(value, dtype)
            known.add(value.__class__)
        with explain_errors("constant", backend):
            if plain:  # a plan for one number takes ten times as long
                scalar_payload = backend.from_binary(template, data=as_bytes(as_element(value)))
            else:
                scalar_payload = primitive_kernel(backend, "constant", template, (), {"value": value})()
        if not recorded:
            remember(payloads, key, scalar_payload)
        return scalar_payload

    return payload


def maker_of(operand: object, dtype: DType, backend: Backend) -> Callable[[Any], Payload]:
    """The function that makes the payload of a number like `operand`: a Python number, or one of NumPy's."""
    payload = constants_of(dtype, backend)
    return payload if operand.__class__ in NUMBERS else lambda value: payload(value.item())
