"""A composite's call: the backend's own method, or the default in public ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple

from ..dtypes import as_dtype, check_scalar, current_precision
from ..errors import TensorBackendError
from ..operands import Call, remember, template_of
from ..opspec import OpSpec, declare, read_parameters
from ..protocol import Backend, own_method
from ..protocol.core import CompositeCall
from ..rules.axes import normalize_axis, sole_axis, sorted_axes
from ..rules.broadcasting import result_type
from ..rules.plan import Out
from ..select import common_backend, default_backend, get_backend, move, with_default
from ..template import Template
from ..tensor import Tensor, bind
from .keys import keyed_by
from .primitives import CHECKED, Memo, constant, verify, wrap


class Ready(NamedTuple):
    """A composite's call whose template and options are known."""

    out: Out
    options: Mapping[str, Any]
    result: Callable[..., Any] | None
    """What makes the public result of several tensors."""
    method: Callable[..., Any] | None
    """The backend's own."""
    numbers: tuple[Tensor | None, ...] | None = None
    """The tensors made of Python numbers, in their places; `None` where there are none."""


def perform(
    backend: Backend,
    name: str,
    call: CompositeCall,
    method: Callable[..., Any] | None,
    default: Callable[..., Any] | None,
) -> Any:
    """The tensors of a call whose template is known: by the backend's method, else by its hook `optional`."""
    if method is None:
        assert default is not None  # a primitive has a method or a fall-back
        return with_default(backend, backend.optional, name, call, default)
    data = method(call.out, *call.inputs, **call.options)
    if CHECKED:
        verify(name, backend, call.out, data)
    return wrap(call.out, backend, data)


class _Composite:
    """A composite's path: its template by a trial on templates, then the backend's own method or the default."""

    def __init__(self, spec: OpSpec) -> None:
        self.spec = spec
        self.trials: dict[Any, tuple[Out, Mapping[str, Any], Callable[..., Any] | None]] = {}

    def run(self, arguments: Sequence[object], keywords: dict[str, Any]) -> Any:
        """The result of a call, on the backend that its operands have in common."""
        call = Call(self.spec, arguments, keywords)
        backend = common_backend(call.deciding)
        inputs = call.grouped([move(x, backend) for x in self._tensors(call, backend)])
        out, options, result = call.memoised(self.trials, lambda: self._trial(call))
        return self.call(backend, inputs, Ready(out, options, result, own_method(backend, self.spec.callback)))

    def call(self, backend: Backend, inputs: Sequence[Any], ready: Ready) -> Any:
        """The result of a call whose template and options are known."""
        arguments = CompositeCall(ready.out, tuple(inputs), ready.options)
        found = perform(backend, self.spec.callback, arguments, ready.method, self._default)
        if isinstance(found, Tensor):
            # Its own tensor even where a body gives back what it got: what is assigned to one is not seen in the other.
            return Tensor(found.template, found.backend, found.data)
        return found if ready.result is None or type(found) is not tuple else ready.result(*found)

    def ready(self, arguments: Sequence[object], keywords: dict[str, Any]) -> Ready:
        """What makes the next call ready whose operands are tensors on one backend and Python numbers."""
        call = Call(self.spec, arguments, keywords)
        out, options, result = call.memoised(self.trials, lambda: self._trial(call))
        backend = common_backend(call.deciding)
        method = _nothing if backend.template_only else own_method(backend, self.spec.callback)
        return Ready(out, options, result, method, call.numbers(self._tensors(call, backend)))

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
        first = template_of(call.operands[0]) if call.operands else Template((), "bool")  # then no axis is one
        options = {}
        for parameter in self.spec.parameters:
            if parameter.role == "option":
                value = bound.arguments[parameter.name]
                normalise = _NORMALISED.get(parameter.meaning)
                keep = normalise is None or (value is None and parameter.optional)
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


def _nothing(*inputs: object, **options: object) -> None:
    """The payload of a composite where a backend has none."""


_NORMALISED: Mapping[str, Callable[[Template, Any], Any]] = {
    "axis": normalize_axis,
    "axes": sorted_axes,
    "sole axis": sole_axis,
    "dtype": lambda x, dtype: as_dtype(dtype),
}


def make_composite(function: Callable[..., Any], callback: str | None) -> Callable[..., Any]:
    """The public op of a body, declared."""
    name = function.__name__.lstrip("_")
    spec = OpSpec(name, "composite", callback or name, function, read_parameters(function))
    declare(spec)
    path = _Composite(spec)
    ready: Memo = {}
    key_of, inputs_of = keyed_by(spec)

    def op(*arguments: Any, **keywords: Any) -> Any:
        try:
            key = current_precision(), key_of(arguments, keywords)
            found = ready.get(key)
        except (LookupError, AttributeError, TypeError):
            pass  # so that no error below has this one as its context
        else:
            if found is None:
                found = path.ready(arguments, keywords)
                remember(ready, key, found)
            backend = key[1][0]
            if found.method is _nothing:
                return wrap(found.out, backend, None, found.result)
            return path.call(backend, inputs_of(arguments, found.numbers), found)
        return path.run(arguments, keywords)

    return bind(wraps(function)(op))
