"""Fall-backs: primitives written in other primitives, for backends that do not define them.

A fall-back is declared once, in `ops/fallbacks/`, under the name of its callback. It takes what the callback would
take, but works on tensors, with public ops. The callbacks that it runs are those of the ops that its code names; a test
runs each fall-back and compares. No fall-back needs itself through others, so what a backend can do follows from the
methods that it defines.

The choice is made when a call is planned. A backend's own callback comes first, if it takes the dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from ..declarations.op_specs import CALLBACKS, OPS, OpSpec, list_implementations, read_parameters
from ..dtypes import DType
from ..errors import ContractError, UnsupportedOp, expected
from ..protocol import Backend, Payload
from ..protocol.planned import nameless as nameless_templates
from ..protocol.planned import payloads_of, templates_of
from ..registration import SuppliedFunction
from ..rules.broadcasting import ACCEPTED
from ..rules.plan import Out
from ..select import call_with_default
from ..template import Template
from ..tensor import Tensor
from .operands import nameless

Body: TypeAlias = Callable[..., Tensor | tuple[Tensor, ...]]


class Fallback(NamedTuple):
    """A primitive written in other primitives."""

    callback: str
    accept: str
    """The supported dtypes of the first input, or of the result if there are no inputs: a word of `ACCEPTED`."""
    body: Body

    @property
    def needs(self) -> frozenset[str]:
        """The callbacks that it runs, some of them for some dtypes or options only."""
        return callbacks_in(self.body)

    def takes(self, dtype: DType) -> bool:
        """Whether it supports a dtype."""
        return ACCEPTED[self.accept](dtype)


_declared: dict[str, tuple[Fallback, ...]] = {}

load_fallbacks: SuppliedFunction[Callable[[], None]] = SuppliedFunction(lambda: None)
"""Imports the modules that declare fall-backs, whenever fall-backs are looked up: again each time, as another thread
may be in the middle of an import."""


def fallback(callback: str, accept: str = "any") -> Callable[[Body], Body]:
    """Declare how a primitive is derived from others, by its callback, for the dtypes of a word of `ACCEPTED`.

    The function takes the output template, the input tensors and the options of the callback; neither the template nor
    the tensors have axis names. New tensors are made on the backend of the call. The function uses primitives alone.
    Raises `TypeError` if it does not have the parameters of its callback.
    """

    def declare(body: Body) -> Body:
        primitive = CALLBACKS[callback]
        parameters = read_parameters(body, first=1)
        tensors = [parameter.role for parameter in parameters if parameter.role != "option"]
        options = {parameter.name for parameter in parameters if parameter.role == "option"}
        if tensors != [parameter.role for parameter in primitive.inputs] or options != set(primitive.options):
            raise TypeError(f"the fall-back of {callback!r} needs the parameters of its callback")
        _declared[callback] = (*_declared.get(callback, ()), Fallback(callback, accept, body))
        return body

    return declare


def fallbacks(callback: str) -> tuple[Fallback, ...]:
    """The fall-backs of a primitive: how it is computed by other primitives where a backend has no callback of its own.

    Parameters
    ----------
    callback : str
        The name of the primitive's callback.

    Returns
    -------
    tuple of Fallback
        Each for other dtypes; empty if only a backend's own callback can compute the primitive.

    Examples
    --------
    >>> [sorted(fallback.needs) for fallback in fallbacks("subtract")]
    [['add', 'negate']]
    """
    load_fallbacks.call()
    return _declared.get(callback, ())


@cache
def callbacks_in(body: Callable[..., Any]) -> frozenset[str]:
    """The callbacks of the primitives that a function runs, directly or by functions next to it and those of `ops/`.

    They are found by the names in its code. `constant` is left out, which any backend has by its transport.
    """
    found: set[str] = set()
    seen: set[Any] = set()
    waiting: list[Any] = [body]
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for named in _functions_in(function):
            spec = _spec_of(named)
            if spec is not None and spec.kind == "primitive":
                found.add(spec.callback)
            elif spec is not None:
                waiting.append(spec.function)
            elif named.__module__ == body.__module__ or "ops" in named.__module__.split("."):
                waiting.append(named)
    return frozenset(found - {"constant"})


def _spec_of(function: Any) -> OpSpec | None:
    """The specification of an op, or of the op that a public function of its name is around; `None` for any other."""
    spec = OPS.imported.get(function.__name__.lstrip("_"))
    return spec if spec is not None and spec.module == function.__module__ else None


def _functions_in(function: Any) -> Iterator[Any]:
    """The functions that the code of a function names, or that it closes over."""
    names = {*_names_in(function.__code__)}
    values = [function.__globals__.get(name) for name in names]
    values += [getattr(value, name, None) for value in values if isinstance(value, ModuleType) for name in names]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    return (value for value in values if isinstance(value, FunctionType))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def missing_needs(backend: type[Backend], fallback: Fallback) -> list[str]:
    """The callbacks that a fall-back needs and a backend has neither by itself nor by fall-backs."""
    primitives, _ = list_implementations(backend)
    return sorted(fallback.needs - _reachable_primitives(frozenset(primitives)))


@lru_cache(maxsize=64)
def _reachable_primitives(defined: frozenset[str]) -> frozenset[str]:
    """All primitives of a backend that defines those in `defined`: these, and what fall-backs derive from them."""
    reached = defined
    while True:
        more = {
            name
            for name in CALLBACKS
            for fallback in fallbacks(name)
            if name not in reached and fallback.needs <= reached
        }
        if not more:
            return reached
        reached |= more


def implementation(backend: Backend, name: str, out: Out, inputs: Sequence[Template]) -> Callable[..., Payload]:
    """The function that computes a primitive for inputs of the given dtypes: the backend's own callback, or else a
    fall-back.

    Raises `UnsupportedOp` where there is neither.
    """
    method: Callable[..., Payload] = getattr(backend, name)
    has_callback = not hasattr(method, "__declared__")
    limits: frozenset[DType] | None = getattr(method, "__dtypes__", None)
    taken = {x.dtype for x in inputs}
    held = taken | {template.dtype for template in ((out,) if isinstance(out, Template) else out)}
    unknown = held - backend.dtypes
    if has_callback and not unknown and (limits is None or taken <= limits):
        return method
    first = inputs[0].dtype if inputs else next(iter(held))
    if not unknown:
        for fallback in fallbacks(name):
            if fallback.takes(first) and not missing_needs(type(backend), fallback):
                return fallback_callback(backend, fallback)
    if has_callback or unknown:
        raise unsupported_dtype(backend, name, next(iter(unknown or taken - (limits or frozenset()))))
    raise _unsupported_error(backend, name, first)


def unsupported_dtype(backend: Backend, name: str, dtype: DType) -> UnsupportedOp:
    """The error of an op that takes or returns a dtype that a backend does not support in it."""
    remedy = "cast with astype(), or move the tensors, such as x.backend_transfer('binary')"
    text = expected(f"a dtype that {name} of the backend {backend.name!r} supports", remedy, dtype=dtype)
    return UnsupportedOp(text, dtype)


def _unsupported_error(backend: Backend, name: str, dtype: DType) -> UnsupportedOp:
    """The error for a primitive that a backend lacks; the remedy names the callbacks that would supply it."""
    known = fallbacks(name)
    lost = sorted(
        {need for fallback in known if fallback.takes(dtype) for need in missing_needs(type(backend), fallback)}
    )
    instead = f", or {', '.join(lost)}, which its fall-back needs," if lost else ""
    remedy = (
        f"move the tensors first, such as x.backend_transfer('binary'), or implement {name}{instead} on the backend"
    )
    others = bool(known) and not lost  # the primitive is there for other dtypes
    expectation = f"a backend that has {name} of {dtype}" if others else f"a backend that has {name}"
    return UnsupportedOp(expected(expectation, remedy, backend=backend.name), dtype if others else None)


def fallback_callback(backend: Backend, fallback: Fallback) -> Callable[..., Payload]:
    """A fall-back as a callback. It runs without the names of axes, which concern no backend."""

    def callback(out: Out, /, *inputs: Any, **options: Any) -> Payload:
        plain = nameless_templates(out)
        arguments = [nameless(x) if isinstance(x, Tensor) else tuple(map(nameless, x)) for x in inputs]
        result = call_with_default(backend, lambda: fallback.body(plain, *arguments, **options))
        result_template = result.template if isinstance(result, Tensor) else templates_of(result)
        if result_template != plain:
            expectation = f"the fall-back of {fallback.callback} to return {plain!r}"
            raise ContractError(expected(expectation, "fix the fall-back", given=result_template))
        return result.data if isinstance(result, Tensor) else payloads_of(result)

    return callback
