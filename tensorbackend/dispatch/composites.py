"""A composite's call: the backend's own method, a program of kernels, or the default op by op.

A default that reads no data is traced at the second call with the same templates and options. From then on it runs as
a program: the kernels of its ops one after another, without the ops around them. Tracing shows that a default reads
data, as `inv` does for its error; such a default runs op by op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..caching.option_keys import MOST_OPERANDS, option_key
from ..declarations.op_specs import CostRule, OpSpec, Parameter, declare, read_parameters
from ..dtypes import as_dtype, defaults
from ..protocol import Backend, Kernel, kernel_of, own_method
from ..protocol.callbacks import CompositeCall, Cost, Reach
from ..protocol.core import Core
from ..protocol.planned import payloads_of, templates_of
from ..registration import SuppliedFunction
from ..rules.accuracy import Bounds
from ..rules.axes import normalize_axis, sole_axis, sorted_axes
from ..rules.broadcasting import result_type
from ..rules.plan import Out, flag, integer
from ..scopes import in_own_context
from ..select import call_with_default, common_backend, get_backend, override
from ..template import Template
from ..tensor import Tensor, bind
from .fallbacks import unsupported_dtype
from .kernels import composite_kernel, kernel, template_kernel, wrap
from .kinds import Decision
from .narrow import check_moves, is_narrow
from .operands import Call, template_of
from .path import FullPath

if TYPE_CHECKING:
    from inspect import Signature

Method = TypeVar("Method", bound=Callable[..., Any])

programs: SuppliedFunction[Callable[[Backend, Callable[..., Any], CompositeCall], Kernel | None]] = SuppliedFunction(
    lambda backend, default, call: None
)
"""Makes the program of a default on a backend, for templates in place of tensors; `None` for one that reads data."""


def perform(
    backend: Backend,
    name: str,
    call: CompositeCall,
    method: Callable[..., Any] | None,
    default: Callable[..., Any] | None,
) -> Any:
    """The result of a call whose output template is known: by the backend's method, else by its hook `optional`."""
    if method is None:
        assert default is not None  # a primitive has a method or a fall-back
        return call_with_default(backend, backend.optional, name, call, default)
    method_kernel = kernel(backend, name, method, call.out, templates_of(call.inputs), call.options)
    return wrap(call.out, backend, method_kernel(*payloads_of(call.inputs)))


class CompositePath(FullPath):
    """The full path of a composite's calls."""

    def __init__(self, spec: OpSpec) -> None:
        super().__init__(spec)
        self.parts = self.default
        self._signature: Signature | None = None

    def decide(self, call: Call, backend: Backend | None) -> tuple[Decision, list[Tensor]]:
        """Finds the output template by a trial on templates."""
        check_moves(self.spec, [template_of(operand) for operand in call.operands])
        chosen = backend or common_backend(call.deciding_tensors)
        strong = [x.template for x in call.tensors]
        dtypes = [  # a number's is that to which it promotes with the tensors next to it
            x.dtype if isinstance(x, Tensor) else result_type([*strong, template_of(x)]) for x in call.operands
        ]
        out, options, result = self._trial(call, self.bring(call, dtypes, get_backend("template")))
        for template in (out,) if isinstance(out, Template) else out:
            if template.dtype not in chosen.dtypes:  # an override or a compiled default would return another one
                raise unsupported_dtype(chosen, self.spec.callback, template.dtype)
        tensors = self.bring(call, dtypes, chosen)
        return Decision(chosen, out, [x.template for x in tensors], call.groups, options, (), result), tensors

    def kind_kernel(self, decision: Decision) -> Kernel | None:
        """The kernel for symbolic sizes: of the backend's planned override, or the program of the default."""
        backend, out, _, _, options, _, _ = decision
        if is_narrow((out, decision.inputs)):
            return None
        method = own_method(backend, self.spec.callback)
        if method is not None:
            return backend.enter(kernel_of(method, out, *decision.arguments, **options))
        return None if type(backend).optional is not Core.optional else self._program(decision)

    def kernel(self, decision: Decision) -> tuple[Kernel, bool]:
        """The kernel by which the backend computes the call."""
        backend, out, _, _, options, _, _ = decision
        if backend.template_only:
            return template_kernel(out), True
        name, inputs = self.spec.callback, decision.arguments
        op_by_op = composite_kernel(backend, name, out, inputs, options, self.default)
        many = len(decision.inputs) > MOST_OPERANDS  # their program would take longer to make than it saves
        if many or own_method(backend, name) is not None or type(backend).optional is not Core.optional:
            return op_by_op, True
        try:
            key = backend, out, *inputs, *map(option_key, options.values()), defaults.current_precision()
            again = self.comes_again(key)
        except (TypeError, KeyError):
            return op_by_op, True
        return (self._program(decision) or op_by_op, True) if again else (op_by_op, False)

    def _program(self, decision: Decision) -> Kernel | None:
        """The program of the default on a backend; `None` for a default that reads data."""
        call = CompositeCall(decision.out, tuple(decision.arguments), decision.options)
        return programs.call(decision.backend, self.default, call)

    def _trial(self, call: Call, inputs: Sequence[Tensor]) -> tuple[Out, Mapping[str, Any], Callable[..., Any] | None]:
        """Runs the default on template tensors.

        Returns the output template, the normalised options, and the function that makes the public result of several
        tensors, `None` for a plain tuple or a single tensor.
        """
        options = self._options(call)
        result = call_with_default(get_backend("template"), self.default, None, call.group_operands(inputs), options)
        if isinstance(result, Tensor):
            return result.template, options, None
        make = getattr(result, "_make", None)  # a named tuple's, from an iterable
        return tuple(x.template for x in result), options, make and (lambda *tensors: make(tensors))

    def _options(self, call: Call) -> Mapping[str, Any]:
        """The options by name: defaults filled, axes as positions in the first operand, dtypes as `DType`."""
        if self._signature is None:
            self._signature = self.spec.signature
        bound = self._signature.bind(*call.arguments, **call.keywords)
        bound.apply_defaults()
        first = template_of(call.operands[0]) if call.operands else Template((), "bool")  # it has no axis
        return self.normal_options(bound.arguments, first)

    def normal_options(self, values: Mapping[str, Any], first: Template) -> Mapping[str, Any]:
        """The options among the values, for a first operand, as a default and the methods of backends get them."""
        options = {}
        for parameter in self.spec.parameters:
            if parameter.role == "option":
                value = values[parameter.name]
                left_out = value is None and parameter.optional
                options[parameter.name] = None if left_out else _normal(parameter, value, first)
        return options

    def default(self, out: object, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
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
        if defaults.cast_blocks:
            return _call_without_casts(self.spec.function, *arguments, **keywords)  # the operands have been cast
        return self.spec.function(*arguments, **keywords)


@in_own_context
def _call_without_casts(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    with defaults.uncast():
        return function(*arguments, **keywords)


def _normal(parameter: Parameter, value: Any, first: Template) -> Any:
    """An option in the form that a default gets."""
    if parameter.type is bool:
        return flag(**{parameter.name: value})
    if parameter.type is int:
        return integer(**{parameter.name: value})
    normalise = _NORMALISED.get(parameter.meaning)
    return value if normalise is None else normalise(first, value)


_NORMALISED: Mapping[str, Callable[[Template, Any], Any]] = {
    "axis": normalize_axis,
    "axes": sorted_axes,
    "sole axis": sole_axis,
    "dtype": lambda x, dtype: as_dtype(dtype),
}


def make_composite(
    function: Callable[..., Any],
    callback: str | None,
    bounds: Bounds,
    cost: Cost | CostRule | None,
    reach: Reach | None = None,
) -> Callable[..., Any]:
    """Declares the op of a body, and returns the public op."""
    name = function.__name__.lstrip("_")
    parameters = read_parameters(function)
    spec = OpSpec(name, "composite", callback or name, function, parameters, bounds=bounds, cost=cost, reach=reach)
    declare(spec)
    op: Any = bind(CompositePath(spec).op())
    op.on = partial(_override, spec)
    return op  # type: ignore[no-any-return] # a function


def _override(spec: OpSpec, backend: str) -> Callable[[Method], Method]:
    """The decorator of a method of a backend that computes the op: `decorators.Op.on`."""

    def declared(method: Method) -> Method:
        override(backend, spec.callback, method)
        return method

    return declared
