"""Which ops take tensors of narrow dtypes: those that move elements. `codes` has their kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from inspect import Parameter, signature
from typing import Any, Final

from ..caching.memos import remembers_calls
from ..caching.option_keys import MEMO_LIMIT
from ..declarations.op_specs import CALLBACKS, OpSpec
from ..dtypes.promotion import widened
from ..errors import DTypeError, expected
from ..protocol import Backend, Payload, own_method
from ..registration import SuppliedFunction
from ..rules.accuracy import TO_THE_BIT
from ..rules.plan import Out
from ..template import Template

MOVING: Final = frozenset({"shape", "indexing", "creation"})
"""The families of ops that move elements. Those of them whose results are rounded compute."""

ALSO_MOVING: Final = frozenset({"select", "as_type", "bitcast"})
"""Callbacks of other families that move elements, or say how they are stored."""

by_codes: SuppliedFunction[Callable[[Backend, str], Callable[..., Payload]]] = SuppliedFunction(getattr)
"""The function that computes a primitive with narrow dtypes."""


def is_narrow(templates: Any) -> bool:
    """Whether a template, or one of several, has a narrow dtype."""
    if isinstance(templates, Template):
        return templates.dtype.is_narrow
    return templates is not None and any(map(is_narrow, templates))


def moves(spec: OpSpec) -> bool:
    """Whether an op moves elements, so that it takes those of narrow dtypes.

    Of composites outside the protocol's families, such as a user's, the parts are asked.
    """
    if spec.callback in ALSO_MOVING or (spec.kind == "composite" and spec.family not in _families()):
        return True
    return spec.family in MOVING and spec.bounds == TO_THE_BIT


@cache
def _families() -> frozenset[str]:
    """The families of the protocol."""
    return frozenset(callback.family for callback in CALLBACKS.values())


def check_moves(spec: OpSpec, templates: Any) -> None:
    """Raises `DTypeError` for an op that computes, if an operand or the result has a narrow dtype."""
    if is_narrow(templates) and not moves(spec):
        dtype = next(template.dtype for template in flat(templates) if template.dtype.is_narrow)
        remedy = f"narrow dtypes only store numbers: cast it first, such as astype(x, '{widened(dtype)}')"
        raise DTypeError(expected("a dtype to compute with", remedy, dtype=dtype))


def composite_method(
    backend: Backend, name: str, out: Out, inputs: Any, options: Iterable[str]
) -> Callable[..., Payload] | None:
    """A backend's own method for a composite with these options.

    `None` for narrow dtypes, whose tensors go through the parts, and for a method without one of the options, such as
    that of a plugin which is older than the option.
    """
    method = None if is_narrow((out, inputs)) else own_method(backend, name)
    if method is None or not options:
        return method
    function = getattr(method, "__plan__", None) or getattr(method, "__func__", method)
    return method if _takes(function, frozenset(options)) else None


@lru_cache(MEMO_LIMIT)
def _takes(function: Callable[..., Any], options: frozenset[str]) -> bool:
    """Whether a function has all these keywords."""
    parameters = signature(function).parameters
    return options <= parameters.keys() or any(x.kind is Parameter.VAR_KEYWORD for x in parameters.values())


remembers_calls("options of backends' methods", _takes)


def flat(templates: Any) -> list[Template]:
    """The templates in a nested sequence."""
    if isinstance(templates, Template):
        return [templates]
    return [] if templates is None else [template for part in templates for template in flat(part)]
