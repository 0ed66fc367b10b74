"""The path of a call: normalise, template, call, wrap.

`@primitive` and `@composite` turn a declared function into the public op. What a call needs besides its
data depends on templates and options alone, so it is memoised twice:

- `plans`, by the templates and options of a call: what the rule gave, whatever the backend;
- `ready`, by backend as well, for calls that need nothing more (tensors on one backend, in the dtypes that
  the callback wants): the output template and the bound callback. A call that is ready costs one look-up.

Rejected: one memo for all ops, whose keys would need the op; `functools.lru_cache`, which keys on the
arguments themselves and would keep the tensors alive.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeAlias, TypeVar, cast, overload

from .dtypes import DType, as_dtype, check_scalar
from .errors import ContractError, TensorBackendError, UnsupportedOp, expected
from .operands import Call, Operand, remember, template_of
from .opspec import CALLBACKS, OpSpec, declare, read_parameters
from .protocol import Backend, own_method
from .protocol.core import CompositeCall
from .rules.axes import normalize_axis, sole_axis, sorted_axes
from .rules.broadcasting import result_type
from .rules.plan import Out, Plan
from .select import common_backend, default_backend, get_backend, move
from .template import Template, intern_template
from .tensor import Tensor, TensorLike, bind

P = ParamSpec("P")
R = TypeVar("R")
Result = TypeVar("Result")
Several = TypeVar("Several")
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


def _check_support(name: str, backend: Backend, out: Out, inputs: Sequence[Tensor]) -> None:
    """Raises `UnsupportedOp` where a backend has a callback, but not for these dtypes."""
    taken = {x.dtype for x in inputs}
    held = taken | {each.dtype for each in ((out,) if isinstance(out, Template) else out)}
    allowed: frozenset[DType] = getattr(getattr(backend, name), "__dtypes__", backend.dtypes)
    for dtype in (held - backend.dtypes) or (taken - allowed):
        remedy = "cast with astype(), or move the tensors, such as x.backend_transfer('binary')"
        raise UnsupportedOp(expected(f"a dtype that {name} of the backend {backend.name!r} takes", remedy, dtype=dtype))


def constant(value: Any, dtype: DType, backend: Backend) -> Tensor:
    """A Python number as a tensor without axes; it was checked to fit the dtype."""
    template = intern_template((), dtype, ())
    return Tensor(template, backend, backend.constant(template, value=value))


def _prepare(operand: Operand, dtype: DType, backend: Backend) -> Tensor:
    """An operand on the backend and in the dtype that the callback wants."""
    if not isinstance(operand, Tensor):
        return constant(operand, dtype, backend)
    x = move(operand, backend)
    if x.dtype is dtype:
        return x
    template = x.template.replace(dtype=dtype)
    return Tensor(template, backend, backend.as_type(template, x))


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
    ) -> tuple[Any, tuple[Any, ...] | None]:
        """The result, and what makes the next such call ready, `None` if there is more to do than call."""
        name = self.spec.callback
        call = Call(self.spec, arguments, keywords)
        plan = self.plan(call)
        backend = backend or common_backend(call.tensors)
        inputs = [_prepare(*pair, backend) for pair in zip(call.operands, plan.inputs, strict=True)]
        _check_support(name, backend, plan.out, inputs)
        callback = getattr(backend, name)
        data = callback(plan.out, *call.grouped(inputs), **plan.options)
        if CHECKED:
            verify(name, backend, plan.out, data)
        pairs = zip(call.operands, inputs, strict=True)
        unchanged = not call.foreign and all(before is after for before, after in pairs)
        ready = (plan.out, callback, plan.options) if unchanged and not _from_default(plan.out, inputs) else None
        return wrap(plan.out, backend, data, self.spec.result), ready


def _from_default(out: Out, inputs: Sequence[Tensor]) -> bool:
    """Whether a dtype may have come from the default precision, so that the next call's may differ."""
    outs = (out,) if isinstance(out, Template) else out
    return any(each.dtype.is_inexact for each in outs) and not any(x.dtype.is_inexact for x in inputs)


def _without_options(out: Out, callback: Callable[..., Any], options: Mapping[str, object]) -> tuple[Any, ...]:
    """A ready call whose callback has its options, which a rule may give to an op that takes none."""
    return out, partial(callback, **options) if options else callback


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
        if entry is not None:
            remember(ready, (x.template, x.backend), _without_options(*entry))
        return cast(Tensor, result)

    return op


def _binary(spec: OpSpec) -> Callable[..., Any]:
    run = _Primitive(spec).run
    ready: Memo = {}
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
        result, entry = run((x1, x2), {})
        if entry is not None:
            remember(ready, (x1.template, x2.template, x1.backend), _without_options(*entry))
        return cast(Tensor, result)

    return op


def _ready_key(arguments: Sequence[Any], keywords: Mapping[str, Any], count: int) -> tuple[Any, ...]:
    """Key of a call whose first `count` arguments are tensors on one backend; else a built-in error.

    1, 1.0 and True are equal as keys but not as options, so their types stand in it too.
    """
    tensors = arguments[:count]
    backend = tensors[0].backend
    for x in tensors:
        if x.backend is not backend:
            raise LookupError
    options = arguments[count:]
    return (
        backend,
        *(x.template for x in tensors),
        *options,
        *map(type, options),
        *keywords.items(),
        *map(type, keywords.values()),
    )


def _general(spec: OpSpec) -> Callable[..., Any]:
    run = _Primitive(spec).run
    ready: Memo = {}
    tensors = [parameter for parameter in spec.parameters if parameter.role != "option"]
    # A sequence of tensors has no one template to key on.
    count = len(tensors) if all(parameter.role == "tensor" for parameter in tensors) else 0

    def op(*arguments: Any, **keywords: Any) -> Any:
        key: tuple[Any, ...] | None
        try:
            key = _ready_key(arguments, keywords, count)
            out, callback, options = ready[key]
        except KeyError:
            pass
        except (LookupError, AttributeError, TypeError):
            key = None
        else:
            inputs = arguments[:count]
            data = callback(out, *inputs, **options)
            if CHECKED:
                verify(spec.callback, inputs[0].backend, out, data)
            return wrap(out, inputs[0].backend, data, spec.result)
        result, entry = run(arguments, keywords)
        if key is not None and entry is not None:
            remember(ready, key, entry)
        return result

    return op


def _creation(spec: OpSpec) -> Callable[..., Any]:
    run = _Primitive(spec).run

    def op(*arguments: Any, backend: Any = None, device: str | None = None, **keywords: Any) -> Any:
        return run(arguments, keywords, get_backend(backend, device=device))[0]

    return op


def _primitive(rule: Callable[..., Any], callback: str | None, result: Callable[..., Any] | None) -> Callable[..., Any]:
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


# Composites


class _Composite:
    """A composite's path: its template by a trial on templates, then the backend's own method or the default."""

    def __init__(self, spec: OpSpec) -> None:
        self.spec = spec
        self.trials: dict[Any, tuple[Out, Mapping[str, Any], Callable[..., Any] | None]] = {}

    def run(self, arguments: Sequence[object], keywords: dict[str, Any]) -> Any:
        """The result of a call, on the backend that its operands have in common."""
        call = Call(self.spec, arguments, keywords)
        backend = common_backend(call.tensors)
        inputs = call.grouped([move(x, backend) for x in self._tensors(call, backend)])
        out, options, result = call.memoised(self.trials, lambda: self._trial(call))
        name = self.spec.callback
        method = own_method(backend, name)
        if method is not None:
            data = method(out, *inputs, **options)
            if CHECKED:
                verify(name, backend, out, data)
            return wrap(out, backend, data, result)
        with default_backend(backend):
            found = backend.optional(name, CompositeCall(out, tuple(inputs), options), self._default)
        return found if result is None or type(found) is not tuple else result(*found)

    def _tensors(self, call: Call, backend: Backend) -> list[Tensor]:
        """The operands as tensors; Python numbers give way to the tensors beside them."""
        if len(call.tensors) == len(call.operands):
            return call.tensors
        strong = [x.template for x in call.tensors]
        tensors = []
        for operand in call.operands:
            if not isinstance(operand, Tensor):
                dtype = result_type([*strong, template_of(operand)])
                try:
                    check_scalar(operand, dtype)
                except TensorBackendError as error:
                    error.named(self.spec.name)
                    raise
                operand = constant(operand, dtype, backend)
            tensors.append(operand)
        return tensors

    def _trial(self, call: Call) -> tuple[Out, Mapping[str, Any], Callable[..., Any] | None]:
        """The output template, the normalised options and what makes the public result of several tensors,
        from running the default on template tensors."""
        shapes_only = get_backend("template")
        inputs = call.grouped([Tensor(x.template, shapes_only, None) for x in self._tensors(call, shapes_only)])
        try:
            options = self._options(call)
            with default_backend(shapes_only):
                result = self._default(None, inputs, options)
        except TensorBackendError as error:
            error.named(self.spec.name)
            raise
        if isinstance(result, Tensor):
            return result.template, options, None
        make = getattr(result, "_make", None)  # a named tuple's, from an iterable
        return tuple(x.template for x in result), options, make and (lambda *tensors: make(tensors))

    def _options(self, call: Call) -> Mapping[str, Any]:
        """The options by name: defaults filled, axes as positions in the first operand, dtypes as `DType`."""
        bound = self.spec.signature.bind(*call.arguments, **call.keywords)
        bound.apply_defaults()
        first = template_of(call.operands[0])
        options = {}
        for parameter in self.spec.parameters:
            if parameter.role == "option":
                value = bound.arguments[parameter.name]
                normalise = _NORMALISED.get(parameter.annotation.removesuffix(" | None"))
                keep = normalise is None or (value is None and parameter.annotation.endswith(" | None"))
                options[parameter.name] = value if keep else normalise(first, value)  # type: ignore[misc] # not None
        return options

    def _default(self, out: object, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Runs the declared function on inputs and options."""
        rest = iter(inputs)
        arguments: list[Any] = []
        keywords: dict[str, Any] = {}
        for parameter in self.spec.parameters:
            if parameter.kind == "variadic":
                arguments.extend(rest)
                continue
            value = options[parameter.name] if parameter.role == "option" else next(rest)
            if parameter.kind == "keyword":
                keywords[parameter.name] = value
            else:
                arguments.append(value)
        return self.spec.function(*arguments, **keywords)


_NORMALISED: Mapping[str, Callable[[Template, Any], Any]] = {
    "Axis": normalize_axis,
    "Axes": sorted_axes,
    "SoleAxis": sole_axis,
    "DTypeLike": lambda x, dtype: as_dtype(dtype),
}


def _composite(function: Callable[..., Any], callback: str | None) -> Callable[..., Any]:
    name = function.__name__.lstrip("_")
    spec = OpSpec(name, "composite", callback or name, function, read_parameters(function))
    declare(spec)
    run = _Composite(spec).run

    def op(*arguments: Any, **keywords: Any) -> Any:
        return run(arguments, keywords)

    return bind(wraps(function)(op))


# The decorators, typed: a rule over templates, or a body over tensors, becomes a function that takes a
# tensor, a Python number or another library's array in their place.


class Primitive(Generic[Result]):
    """The type of `@primitive`; `Result` is what the public op returns."""

    def __init__(self, callback: str | None = None, result: Callable[..., Any] | None = None) -> None:
        self._callback, self._result = callback, result

    def calls(self, callback: str) -> Primitive[Result]:
        """The decorator for an op whose callback has another name: `@primitive.calls("reduce_max")`."""
        return Primitive(callback, self._result)

    def returning(self, result: Callable[..., Several]) -> Primitive[Several]:
        """The decorator for an op of several results, which a named tuple holds: `@primitive.returning(QR)`."""
        return Primitive(self._callback, result)

    @overload
    def __call__(
        self, rule: Callable[Concatenate[Template, Template, Template, P], Plan], /
    ) -> Callable[Concatenate[TensorLike, TensorLike, TensorLike, P], Result]: ...
    @overload
    def __call__(
        self, rule: Callable[Concatenate[Template, Template, P], Plan], /
    ) -> Callable[Concatenate[TensorLike, TensorLike, P], Result]: ...
    @overload
    def __call__(
        self, rule: Callable[Concatenate[Template, P], Plan], /
    ) -> Callable[Concatenate[TensorLike, P], Result]: ...
    @overload
    def __call__(
        self, rule: Callable[Concatenate[Sequence[Template], P], Plan], /
    ) -> Callable[Concatenate[Sequence[TensorLike], P], Result]: ...
    @overload
    def __call__(self, rule: Callable[P, Plan], /) -> Callable[P, Result]: ...

    def __call__(self, rule: Callable[..., Plan], /) -> Callable[..., Result]:
        """Declares a primitive: the function is its rule, its signature and docstring the public op's."""
        return _primitive(rule, self._callback, self._result)


class Composite:
    """The type of `@composite`."""

    def __init__(self, callback: str | None = None) -> None:
        self._callback = callback

    def calls(self, callback: str) -> Composite:
        """The decorator for an op that backends override under another name: `@composite.calls("random_uniform")`."""
        return Composite(callback)

    @overload
    def __call__(
        self, body: Callable[Concatenate[Tensor, Tensor, Tensor, P], R], /
    ) -> Callable[Concatenate[TensorLike, TensorLike, TensorLike, P], R]: ...
    @overload
    def __call__(
        self, body: Callable[Concatenate[Tensor, Tensor, P], R], /
    ) -> Callable[Concatenate[TensorLike, TensorLike, P], R]: ...
    @overload
    def __call__(self, body: Callable[Concatenate[Tensor, P], R], /) -> Callable[Concatenate[TensorLike, P], R]: ...
    @overload
    def __call__(
        self, body: Callable[Concatenate[Sequence[Tensor], P], R], /
    ) -> Callable[Concatenate[Sequence[TensorLike], P], R]: ...

    def __call__(self, body: Callable[..., Any], /) -> Callable[..., Any]:
        """Declares a composite: the function is its default implementation, written in public ops."""
        return _composite(body, self._callback)


primitive: Final[Primitive[Tensor]] = Primitive()
composite: Final = Composite()
