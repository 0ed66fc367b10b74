"""A primitive's call: plan, prepare, call the backend, wrap; and the short cuts of calls that are ready."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ..dtypes import ALL_DTYPES, DType, check_scalar, current_precision
from ..errors import ContractError, TensorBackendError, expected
from ..operands import Call, Operand, remember
from ..opspec import CALLBACKS, OpSpec, declare, read_parameters
from ..protocol import Backend
from ..rules.plan import Out, Plan
from ..select import common_backend, get_backend, move
from ..template import Template, intern_template
from ..tensor import Tensor, bind
from .keys import Key, keyed_by, number_key, with_options

Memo: TypeAlias = dict[Any, Any]

CHECKED: Final = os.environ.get("TENSORBACKEND_CHECK", "0") not in ("", "0")
"""Whether every payload is verified against its template; set by the environment at import."""


def wrap(out: Out, backend: Backend, data: Any, result: Callable[..., Any] | None = None) -> Any:
    """The payload of a callback as a tensor, several as a tuple of tensors or what `result` makes of them."""
    if isinstance(out, Template):
        return Tensor(out, backend, data)
    tensors = (Tensor(each, backend, part) for each, part in zip(out, _parts(out, data), strict=True))
    return tuple(tensors) if result is None else result(*tensors)


def _parts(out: tuple[Template, ...], data: Any) -> Any:
    """A payload for each of several results; a template tensor has none."""
    return (None,) * len(out) if data is None else data


def verify(name: str, backend: Backend, out: Out, data: Any) -> None:
    """Raises `ContractError` where payloads do not have the shape and dtype of their templates."""
    pairs = [(out, data)] if isinstance(out, Template) else list(zip(out, _parts(out, data), strict=True))
    for template, payload in pairs:
        wrong = backend.violation(template, payload)
        if wrong is not None:
            wanted = f"{name} of the backend {backend.name!r} to return the payload of {template!r}"
            raise ContractError(expected(wanted, "mend the backend", payload=wrong))


def implementation(backend: Backend, name: str, out: Out, inputs: Sequence[Tensor]) -> Callable[..., Any]:
    """What computes a primitive: the backend's callback, unless that is missing or takes only some dtypes."""
    method: Callable[..., Any] = getattr(backend, name)
    if len(backend.dtypes) == len(ALL_DTYPES) and not (
        hasattr(method, "__declared__") or hasattr(method, "__dtypes__")
    ):
        return method
    from .fallbacks import implementation as by_fallback  # few programs need it

    return by_fallback(backend, name, out, inputs)


def constant(value: Any, dtype: DType, backend: Backend) -> Tensor:
    """A Python number as a tensor without axes; it was checked to fit the dtype."""
    template = intern_template((), dtype, ())
    return Tensor(template, backend, implementation(backend, "constant", template, ())(template, value=value))


def _prepare(operand: Operand, dtype: DType, backend: Backend) -> Tensor:
    """An operand on the backend and in the dtype that the callback wants."""
    if not isinstance(operand, Tensor):
        return constant(operand, dtype, backend)
    x = move(operand, backend)
    if x.dtype is dtype:
        return x
    template = x.template.replace(dtype=dtype)
    return Tensor(template, backend, implementation(backend, "as_type", template, (x,))(template, x))


class _Primitive:
    """A primitive's full path, for calls that are not ready."""

    def __init__(self, spec: OpSpec) -> None:
        self.spec = spec
        self.plans: dict[Any, Plan] = {}

    def plan(self, call: Call) -> Plan:
        """What the rule gives for a call, with every error that a user can make."""
        try:
            plan: Plan = call.memoised(self.plans, lambda: self.spec.function(*call.arguments, **call.keywords))
            for operand, dtype in zip(call.operands, plan.inputs, strict=True):
                if not isinstance(operand, Tensor):
                    check_scalar(operand, dtype)
        except TensorBackendError as error:
            error.named(self.spec.name)
            raise
        return plan

    def run(
        self, arguments: Sequence[object], keywords: dict[str, Any], backend: Backend | None = None
    ) -> tuple[Any, Ready | None]:
        """The result, and what makes the next such call ready, `None` if there is more to do than call."""
        name = self.spec.callback
        call = Call(self.spec, arguments, keywords)
        plan = self.plan(call)
        backend = backend or common_backend(call.deciding)
        inputs = [_prepare(*pair, backend) for pair in zip(call.operands, plan.inputs, strict=True)]
        callback = implementation(backend, name, plan.out, inputs)
        data = callback(plan.out, *call.grouped(inputs), **plan.options)
        if CHECKED:
            verify(name, backend, plan.out, data)
        result = wrap(plan.out, backend, data, self.spec.result)
        # Tensors must reach the callback as they came; Python numbers are kept as the tensors made of them.
        pairs = zip(call.operands, inputs, strict=True)
        settled = not call.foreign and all(before is after or not isinstance(before, Tensor) for before, after in pairs)
        if not settled or (inputs and _from_default(plan.out, inputs)):
            return result, None
        return result, Ready(plan.out, callback, plan.options, call.numbers(inputs))


class Ready(NamedTuple):
    """A call for which nothing is left to do but the call."""

    out: Out
    callback: Callable[..., Any]
    options: Mapping[str, object]
    numbers: tuple[Tensor | None, ...] | None
    """The tensors made of Python numbers, in their places; `None` where there are none."""

    @property
    def call(self) -> Callable[..., Any]:
        """The callback with its options, which a rule may give to an op that takes none."""
        return partial(self.callback, **self.options) if self.options else self.callback


def _from_default(out: Out, inputs: Sequence[Tensor]) -> bool:
    """Whether a dtype may have come from the default precision, so that the next call's may differ."""
    outs = (out,) if isinstance(out, Template) else out
    return any(each.dtype.is_inexact for each in outs) and not any(x.dtype.is_inexact for x in inputs)


def _unary(spec: OpSpec) -> Callable[..., Any]:
    run = _Primitive(spec).run
    ready: Memo = {}
    new = object.__new__

    def op(x: Any, /) -> Tensor:
        try:
            backend = x.backend
            out, callback = ready[x.template, backend]
        except (KeyError, AttributeError):
            pass  # so that no error below has this one as its context
        else:
            data = callback(out, x)
            if CHECKED:
                verify(spec.callback, backend, out, data)
            tensor = new(Tensor)
            tensor.template = out
            tensor.backend = backend
            tensor.data = data
            return tensor
        result, entry = run((x,), {})
        if entry is not None and not entry.numbers:
            remember(ready, (x.template, x.backend), (entry.out, entry.call))
        return cast(Tensor, result)

    return op


def _binary(spec: OpSpec) -> Callable[..., Any]:
    run = _Primitive(spec).run
    ready: Memo = {}
    numbers: Memo = {}
    new = object.__new__

    def op(x1: Any, x2: Any, /) -> Tensor:
        try:
            backend = x2.backend
            out, callback = ready[x1.template, x2.template, x1.backend]
        except (KeyError, AttributeError):
            pass  # so that no error below has this one as its context
        else:
            if x1.backend is backend:
                data = callback(out, x1, x2)
                if CHECKED:
                    verify(spec.callback, backend, out, data)
                tensor = new(Tensor)
                tensor.template = out
                tensor.backend = backend
                tensor.data = data
                return tensor
        return beside_number(x1, x2)

    def beside_number(x1: Any, x2: Any) -> Tensor:
        """The call where it is not ready, or one operand is a Python number: its tensor is kept for the next time."""
        key = number_key(x1, x2)
        found = None if key is None else numbers.get(key)
        if found is not None:
            out, callback, backend, number, first = found
            data = callback(out, number, x2) if first else callback(out, x1, number)
            if CHECKED:
                verify(spec.callback, backend, out, data)
            return Tensor(out, backend, data)
        result, entry = run((x1, x2), {})
        if entry is None:
            return cast(Tensor, result)
        if not entry.numbers:
            remember(ready, (x1.template, x2.template, x1.backend), (entry.out, entry.call))
        elif key is not None:
            first = not isinstance(x1, Tensor)
            number = entry.numbers[0 if first else 1]
            assert number is not None  # by the key
            remember(numbers, key, (entry.out, entry.call, number.backend, number, first))
        return cast(Tensor, result)

    return op


def _general(spec: OpSpec) -> Callable[..., Any]:
    run = _Primitive(spec).run
    ready: Memo = {}
    key_of, inputs_of = keyed_by(spec)

    def op(*arguments: Any, **keywords: Any) -> Any:
        key: Key | None = None
        try:
            key = key_of(arguments, keywords)
            out, callback, options, numbers = ready[key]
        except KeyError:
            pass
        except (LookupError, AttributeError, TypeError):
            key = None
        else:
            backend = key[0]
            if backend.template_only:
                return wrap(out, backend, None, spec.result)
            data = callback(out, *inputs_of(arguments, numbers), **options)
            if CHECKED:
                verify(spec.callback, backend, out, data)
            return wrap(out, backend, data, spec.result)
        result, entry = run(arguments, keywords)
        if key is not None and entry is not None:
            remember(ready, key, entry)
        return result

    return op


def _creation(spec: OpSpec) -> Callable[..., Any]:
    run = _Primitive(spec).run
    ready: Memo = {}

    def op(*arguments: Any, backend: Any = None, device: str | None = None, **keywords: Any) -> Any:
        chosen = get_backend(backend, device=device)
        try:
            key = with_options([chosen, current_precision()], arguments, keywords)
            found = ready.get(key)
        except TypeError:
            return run(arguments, keywords, chosen)[0]
        if found is not None:
            out, callback, options, _ = found
            data = callback(out, **options)
            if CHECKED:
                verify(spec.callback, chosen, out, data)
            return wrap(out, chosen, data, spec.result)
        result, entry = run(arguments, keywords, chosen)
        if entry is not None:
            remember(ready, key, entry)
        return result

    return op


def make_primitive(
    rule: Callable[..., Any], callback: str | None, result: Callable[..., Any] | None
) -> Callable[..., Any]:
    """The public op of a rule, declared, by the shortest path that its parameters allow."""
    name = rule.__name__.lstrip("_")  # of one that a public function wraps
    spec = OpSpec(name, "primitive", callback or name, rule, read_parameters(rule), result)
    declare(spec)
    roles = [parameter.role for parameter in spec.parameters]
    if "tensor" not in roles and "tensors" not in roles:
        op = _creation(spec)
    elif CALLBACKS[spec.callback].outputs > 1:
        op = _general(spec)
    elif roles == ["tensor"]:
        op = _unary(spec)
    elif roles == ["tensor", "tensor"]:
        op = _binary(spec)
    else:
        op = _general(spec)
    return bind(wraps(rule)(op))
