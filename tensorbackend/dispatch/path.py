"""The full path of a call, which makes the next call of its kind ready.

A call of tensors on one backend is kept under the key that its op makes. A call with Python numbers next to its tensors
is kept by the types of the numbers: their values reach the kernel as data, so that a new number needs no new plan.

`public` gives an op its public face: what `help`, `inspect.signature` and `typing.get_type_hints` say of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, TypeVar

from ..caching.option_keys import MOST_OPERANDS, NUMBERS, remember
from ..declarations.argument_errors import tell
from ..declarations.op_specs import CALLBACKS, OpSpec
from ..declarations.signature_errors import adapt
from ..docstrings import complete_docstring
from ..dtypes import DType, defaults
from ..errors import OperandError, TensorBackendError
from ..interchange import namespace_of, scalar_dtype
from ..protocol import Backend, Payload
from ..protocol.planned import payloads_of
from ..rules.plan import Out
from ..select import creation_backend, move, move_to_recorder
from ..template import Template, is_symbolic_template
from ..tensor import Tensor, TensorLike
from ..tensor.operators import OPERATORS, REFLECTED
from .cast_mode import cast, holds_no_precision, is_cast, keep
from .checked import verify_first
from .constants import constant, maker_of
from .generated import ABSENT, generate, passed
from .kernels import wrap
from .kinds import Planner
from .operands import Call, convert_arrays
from .ready_calls import Key, ReadyCall, ServeCall, record
from .source import PLACEMENT, takes_numbers
from .watching import holds_kernels, is_watching


class FullPath(Planner):
    """The full path of an op's calls, and the memos of the calls that are ready."""

    def __init__(self, spec: OpSpec) -> None:
        operands = [parameter for parameter in spec.parameters if parameter.role != "option"]
        self.creates = not operands
        """Whether the op has no operands; its options `PLACEMENT` then choose the backend."""
        sole = spec.kind == "primitive" and CALLBACKS[spec.callback].outputs == 1
        single = all(parameter.role == "tensor" and parameter.kind == "positional" for parameter in operands)
        self.plain = sole and single and 0 < len(operands) == len(spec.parameters) <= 2
        """Whether the op takes one or two tensors, no options, and has one result; its keys leave the precision out."""
        self.operands = len(operands) if self.plain or takes_numbers(operands) else 0
        """The number of operands if each of them is an argument of its own, always there, else 0."""
        super().__init__(spec, sole=sole, nested=self.plain)
        if self.plain:
            holds_no_precision(self.calls)

    def op(self) -> Callable[..., Any]:
        """The public op."""
        operators: list[Any] = []
        self.public = made = public(self._warm(operators), self.spec)
        for operator in operators:  # which have the signature of the op before their first calls too
            operator.__wrapped__ = made.__wrapped__  # type: ignore[attr-defined] # by `public`
        holds_kernels(self)
        return self.public

    def _warm(self, operators: list[Any]) -> Callable[..., Any]:
        """The function of the op's warm calls.

        If methods of `Tensor` are operators of the op, they are replaced by such functions as well, which leave calls
        that are not ready to the methods, and are added to `operators`.
        """
        name = self.spec.name
        if name in OPERATORS:
            operator = getattr(Tensor, OPERATORS[name])
            operators.append(generate(self, self._defer_to_operator(operator)))
            setattr(Tensor, OPERATORS[name], operators[-1])
        if name in REFLECTED and self.plain:
            reflected = getattr(Tensor, REFLECTED[name])
            serve = self._defer_to_operator(lambda first, second: reflected(second, first))
            operators.append(generate(self, serve, reflected=True))
            setattr(Tensor, REFLECTED[name], operators[-1])
        return generate(self, self.serve, adapt=self._adapt)

    def _defer_to_operator(self, operator: Callable[..., Any]) -> ServeCall:
        """Leaves a call that is not ready to an operator's method, after arrays among the operands became tensors."""

        def serve(operands: Sequence[Any], options: dict[str, Any]) -> Any:
            arrays = convert_arrays(self.spec, operands)
            return operator(*operands) if arrays is None else self.serve(operands, options)

        return serve

    def _adapt(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of a call that the signature takes under other names; raises an error for any other such call."""
        arguments, keywords = passed(self.spec, arguments, keywords)
        return self.public(*arguments, **(adapt(self.public, arguments, keywords) or keywords))

    def serve(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of a call that is not ready under the key of its op."""
        if any(argument is ABSENT for argument in (*arguments, *keywords.values())):
            return self._adapt(arguments, keywords)
        try:
            return self._find_or_make(arguments, keywords)
        except TensorBackendError as error:
            # opt_einsum asks this package for `tensordot`, as for `einsum`, also of arrays of the NumPy namespace.
            namespace = namespace_of(arguments) if self.spec.name == "tensordot" else None
            if namespace is not None and isinstance(error, OperandError):
                return namespace.tensordot(*arguments, **keywords)
            error.named(self.spec.name)
            raise

    def _find_or_make(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """As `serve`; its errors may lack the name of the op."""
        if defaults.cast_blocks and is_cast(self.spec):
            recast = cast(arguments, keywords, self.spec)
            if recast is not None:
                return self.public(*recast[0], **recast[1])
        key = _make_key(self.key_of, arguments, keywords)
        known = self.calls.find((defaults.current_precision(), *key)) if self.plain and key else None
        if known is not None:
            ready: ReadyCall = known[-1]
            makers = ready.constants or (None,) * len(arguments)
            payloads = [x.data if make is None else make(x) for x, make in zip(arguments, makers, strict=True)]
            return self._run(ready, key[0], payloads, arguments)
        # So that the call is kept: the full path moves and converts operands each time.
        settled = convert_arrays(self.spec, arguments) or move_to_recorder(arguments)
        if settled is not None:
            return self.public(*settled, **keywords)
        kind = _make_key(self.kind_of, arguments, keywords)
        often = kind and key and self.frequent(*kind)
        if often:
            plan, ready = often
            operands = arguments[: self.operands]
            self._keep(ready, key, operands, [x.dtype for x in plan.decision.inputs])
            return self.public(*arguments, **keywords)
        try:
            home, options = None, keywords
            if self.creates:
                home = creation_backend(**{name: keywords[name] for name in PLACEMENT if name in keywords})
                options = {name: value for name, value in keywords.items() if name not in PLACEMENT}
            call = Call(self.spec, arguments, options)
            decision, tensors = self.decide(call, home)
            kernel, lasting = self.kernel(decision)
        except TensorBackendError:
            raise
        except Exception as error:  # whatever a wrong argument led to; an error that `tell` cannot explain passes
            tell(error, self.public, arguments, keywords)
            raise
        ready, backend = self.ready(decision, kernel), decision.backend
        result = self._run(ready, backend, payloads_of(call.group_operands(tensors)), arguments)
        if call.symbolic or _is_symbolic(ready.out):
            return result
        given = arguments[: self.operands] or call.operands
        few = len(call.operands) <= MOST_OPERANDS
        if lasting and key and (few or self.comes_again(key)) and all(map(_stays, given, tensors)):
            self._keep(ready, key, given, [x.dtype for x in tensors])
        records = backend.dispatch_priority > 1 and not backend.template_only  # it recalls what it recorded itself
        learns = few and not (is_watching() or defaults.cast_blocks or backend.lays_by_name or records)
        if learns and kind and kind[0][1] is backend:
            self.learn(kind[0], backend, arguments, options)
        return result

    def bring(self, call: Call, dtypes: Sequence[DType], backend: Backend) -> list[Tensor]:
        """The operands of a call as tensors on a backend, numbers in these dtypes."""
        return [
            move(x, backend) if isinstance(x, Tensor) else constant(x, dtype, backend)
            for x, dtype in zip(call.operands, dtypes, strict=True)
        ]

    def comes_again(self, key: Key) -> bool:
        """Whether a call came before. Most templates of composites occur once, and so does each length of a list."""
        again = key in self.times
        if not again:
            remember(self.times, key, 1)
        return again

    def _keep(self, ready: ReadyCall, key: Key, operands: Sequence[Any], dtypes: Sequence[DType]) -> None:
        """Enters a call in the memo. `dtypes` are those of the operands, which may be numbers."""
        native = [dtype for x, dtype in zip(operands, dtypes, strict=False) if x.__class__ not in NUMBERS]
        if not all(isinstance(x, Tensor) for x in operands):
            makers = [
                None if isinstance(x, Tensor) else maker_of(x, dtype, key[0 if self.plain else 1])
                for x, dtype in zip(operands, dtypes, strict=True)
            ]
            ready = ready._replace(constants=tuple(makers))
        if not self.plain:
            self.calls.store(key, record(ready))
        elif _is_of_default(ready.out, native, dtypes) or not keep(self.calls, key, record(ready), native):
            self.calls.store((defaults.current_precision(), *key), record(ready))
            self.calls.entries.setdefault(key[0], {})  # else a call without the precision in its key finds no memo

    def _run(self, ready: ReadyCall, backend: Backend, payloads: Sequence[Payload], arguments: Sequence[Any]) -> Any:
        """The result of a ready call on payloads."""
        try:
            data = ready.kernel(*payloads)
        except Exception as error:  # whatever a backend's code raises
            self.raise_explained(error, backend, arguments)
            raise
        verify_first(self.spec.callback, backend, ready.out, data)
        return wrap(ready.out, backend, data, ready.result)


def _make_key(make: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """A key of a call, or an empty tuple for a call that has none."""
    try:
        key = make(*arguments, **keywords)
        hash(key)
    except Exception:  # as in the code of a warm call
        return ()
    return key


def _stays(operand: Any, x: Tensor) -> bool:
    """Whether an operand is a tensor as the kernel gets it, or a number that makes it."""
    if isinstance(operand, Tensor):
        return operand is x
    return operand.__class__ in NUMBERS or scalar_dtype(operand.__class__) is not None


def _is_symbolic(out: Out) -> bool:
    return any(map(is_symbolic_template, (out,) if isinstance(out, Template) else out))


def _is_of_default(out: Any, native: Sequence[DType], operands: Sequence[DType]) -> bool:
    """Whether a dtype may come from the default precision, so that the next call may have another."""
    if any(dtype.is_inexact for dtype in native):
        return False
    outs = (out,) if isinstance(out, Template) else out
    return any(template.dtype.is_inexact for template in outs) or any(dtype.is_inexact for dtype in operands)


Op = TypeVar("Op", bound=Callable[..., Any])


def public(op: Op, spec: OpSpec) -> Op:
    """Gives an op the name, docstring and signature of its declared function, with tensors in place of templates.

    `__wrapped__` is never called. It is a function with the parameters of the declared one, because readers of
    signatures follow that attribute.
    """
    declared: Any = spec.function
    annotations, names = _public_types(spec)
    face: Any = FunctionType(declared.__code__, names, spec.name, declared.__defaults__, declared.__closure__)
    face.__kwdefaults__ = declared.__kwdefaults__
    face.__annotations__ = annotations
    target: Any = op
    text = complete_docstring(declared, getattr(spec.result, "__name__", "Tensor"))
    for function in (target, face):
        function.__module__, function.__name__ = declared.__module__, declared.__name__
        function.__qualname__, function.__doc__ = declared.__qualname__, text
    target.__annotations__, target.__wrapped__ = annotations, face
    return op


def _public_types(spec: OpSpec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The annotations of the parameters and the result, as a caller sees them, and the names to evaluate them with.

    They are texts, as in `x: 'TensorLike'`, because `help` shows an alias itself in full.
    """
    declared: Any = spec.function
    annotations: dict[str, Any] = {**declared.__annotations__}
    known: dict[str, Any] = {"TensorLike": TensorLike, "Sequence": Sequence}
    for parameter in spec.parameters:
        if parameter.role != "option":
            annotations[parameter.name] = _OPERANDS[parameter.role] + " | None" * parameter.optional
    if spec.kind == "primitive":
        result = spec.result or Tensor
        annotations["return"], known[result.__name__] = result.__name__, result
    return annotations, {**declared.__globals__, **known}


_OPERANDS: Final = {"tensor": "TensorLike", "tensors": "Sequence[TensorLike]"}
"""The annotations of operands by their role. A rule declares templates in their place, and some bodies tensors."""
