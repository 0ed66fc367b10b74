"""The full path of a call, which makes the next call of its kind ready.

A call of tensors on one backend is kept under the key that its op makes. A call with Python numbers beside its tensors
is kept by the types of the numbers: their values reach the kernel as data, so that a new number needs no new plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..caching.option_keys import NUMBERS
from ..declarations.argument_errors import tell
from ..declarations.op_specs import CALLBACKS, OpSpec
from ..dtypes import DType, defaults
from ..errors import DataError, TensorBackendError
from ..interchange import scalar_dtype
from ..protocol import Backend, Kernel, Payload
from ..rules.plan import NO_OPTIONS, Out
from ..select import creation_backend, move_to_recorder
from ..template import Template, is_symbolic_template
from ..tensor import Tensor
from ..tensor.operators import OPERATORS, REFLECTED
from .cast_mode import cast, holds_no_precision, is_cast, keep
from .checked import explain
from .constants import makers_of, scalars_of
from .generated import PLACEMENT, generated, takes_numbers
from .kernels import payloads_of, wrap
from .kind_lookup import find_plans
from .kinds import Decision, KindPlan, Kinds
from .operands import LEFT_OUT, Call, grouped, without_arrays
from .records import KeyOf, Lookup, Memo, Missed, Ready, operands_of, record
from .signature import public
from .watching import Change, Subject, holds_kernels, is_watching, watched


class Prepared(NamedTuple):
    """A call that is ready to run: its kernel, and its operands as tensors on one backend."""

    ready: Ready
    backend: Backend
    tensors: list[Tensor]
    """The operands, sequences laid out flat."""
    lasting: bool = True
    """Whether the record serves the next call of this kind."""
    options: Mapping[str, Any] = NO_OPTIONS
    """The options in the form that a callback gets."""


class Path(ABC):
    """The full path of an op's calls, and the memos of the calls that are ready."""

    def __init__(self, spec: OpSpec) -> None:
        self.spec = spec
        self.planned: list[dict[Any, Any]] = []
        """The memos of what plans a call."""
        self.parts: Callable[..., Any] | None = None
        """The default of a composite, a function of other ops; `None` for a primitive."""
        operands = [parameter for parameter in spec.parameters if parameter.role != "option"]
        self.creates = not operands
        """Whether the op has no operands; its options `PLACEMENT` then choose the backend."""
        self.sole = spec.kind == "primitive" and CALLBACKS[spec.callback].outputs == 1
        """Whether the op has one result whatever its arguments are."""
        single = all(parameter.role == "tensor" and parameter.kind == "positional" for parameter in operands)
        self.operands = len(operands) if takes_numbers(operands) else 0
        """The number of operands if Python numbers may stand for some of them, else 0."""
        self.plain = self.sole and single and 0 < len(operands) == len(spec.parameters) <= 2
        """Whether the op takes one or two tensors, no options, and has one result; its keys leave the precision out."""
        self.calls = Memo(nested=self.plain)
        """The calls that are ready."""
        if self.plain:
            holds_no_precision(self.calls)
        self.kinds = Kinds(self)
        """The plans by kind, which serve new shapes."""
        self.lookups: list[Lookup] = []
        """The functions that warm calls of the op and of its operators call when no exact plan is there."""

    @abstractmethod
    def decide(self, call: Call, backend: Backend | None) -> Decision:
        """Decides all but the kernel of a call on `backend`, or on the one that its operands choose.

        Raises errors of wrong arguments.
        """

    @abstractmethod
    def kernel(
        self, backend: Backend, out: Out, inputs: Sequence[Template], dtypes: Sequence[DType],
        options: Mapping[str, Any], groups: Sequence[int | None],
    ) -> tuple[Kernel, bool]:  # fmt: skip
        """The kernel of a call, and whether it serves the next call of the kind.

        `inputs` are the templates of the operands, sequences laid out flat, which are cast to `dtypes`.
        """

    @abstractmethod
    def kind_kernel(self, decision: Decision, call: Call) -> Kernel | None:
        """The kernel for symbolic sizes; `None` where a kernel is planned for each shape."""

    def prepare(self, call: Call, backend: Backend | None) -> Prepared:
        """Prepares a call on `backend`, or on the one that its operands choose; raises errors of wrong arguments."""
        decision = self.decide(call, backend)
        chosen, out, options, tensors, dtypes, result = decision
        kernel, lasting = self.kernel(chosen, out, [x.template for x in tensors], dtypes, options, call.groups)
        return Prepared(Ready(out, kernel, result), chosen, tensors, lasting, options)

    def op(self) -> Callable[..., Any]:
        """The public op."""
        self.public = public(self._warm(), self.spec)
        holds_kernels(self)
        return self.public

    def exchange(self, change: Change) -> None:
        """Replaces each kernel that is ready by what `change` returns for it."""
        self.calls.exchange(change)
        self.kinds.clear()

    def forget(self) -> None:
        """Drops all calls that are ready."""
        self.calls.clear()
        self.kinds.clear()

    @property
    def memos(self) -> list[Any]:
        """The memos of the op's calls."""
        return [self.calls, self.kinds.plans, self.kinds.met, *self.planned]

    def _warm(self) -> Callable[..., Any]:
        """The function of the op's warm calls.

        If methods of `Tensor` are operators of the op, they are replaced by such functions as well, which leave calls
        that are not ready to the methods.
        """
        name = self.spec.name
        if name in OPERATORS:
            operator = getattr(Tensor, OPERATORS[name])
            setattr(Tensor, OPERATORS[name], self._code(self._operated(operator)))
        if name in REFLECTED and self.plain:
            reflected = getattr(Tensor, REFLECTED[name])
            missed = self._operated(lambda first, second: reflected(second, first))
            setattr(Tensor, REFLECTED[name], self._code(missed, reflected=True))
        return self._code(self.missed)

    def _operated(self, operator: Callable[..., Any]) -> Missed:
        """Leaves a call that is not ready to an operator's method, after arrays among the operands became tensors."""

        def missed(key_of: KeyOf, operands: Sequence[Any], options: dict[str, Any]) -> Any:
            arrays = without_arrays(self.spec, operands)
            return operator(*operands) if arrays is None else self.missed(key_of, operands, options)

        return missed

    def _code(self, missed: Missed, *, reflected: bool = False) -> Callable[..., Any]:
        """The code of warm calls that leaves calls of unknown kinds to `missed`."""
        lookup = Lookup(missed)
        self.lookups.append(lookup)
        return generated(self.spec, self.calls, lookup, self.failed, sole=self.sole, reflected=reflected)

    def missed(self, key_of: KeyOf, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of a call that is not ready under the key of its op."""
        try:
            return self._found_or_made(key_of, arguments, keywords)
        except TensorBackendError as error:
            error.named(self.spec.name)
            raise

    def _found_or_made(self, key_of: KeyOf, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """As `missed`; its errors may lack the name of the op."""
        if defaults.cast_blocks and is_cast(self.spec):
            recast = cast(arguments, keywords, self.spec)
            if recast is not None:
                return self.public(*recast[0], **recast[1])
        try:
            key: tuple[Any, ...] = key_of(*arguments, **keywords)
            hash(key)
            known = self.calls.find((defaults.current_precision(), *key)) if self.plain else None
        except Exception:  # as in the code of a warm call
            key, known = (), None
        if known is not None:
            backend, ready = key[0], known[-1]
            return self._run(ready, backend, self._payloads(ready, arguments), arguments)
        # So that the call is kept: the full path moves and converts operands each time.
        settled = without_arrays(self.spec, arguments) or move_to_recorder(arguments)
        if settled is not None:
            result = self.public(*settled, **keywords)
            self._keep_scalars(key_of, settled, arguments, keywords)
            return result
        try:
            home, call_keywords = None, keywords
            if self.creates:
                call_keywords = {name: value for name, value in keywords.items() if name not in PLACEMENT}
                home = creation_backend(**{name: keywords[name] for name in PLACEMENT if name in keywords})
            call = Call(self.spec, arguments, call_keywords)
            ready, backend, tensors, lasting, options = self.prepare(call, home)
        except TensorBackendError:
            raise
        except Exception as error:  # whatever a wrong argument led to; an error that `tell` cannot explain passes
            tell(error, self.public, arguments, keywords)
            raise
        ready = self._watched(ready, backend, call.grouped([x.template for x in tensors]), options)
        result = self._run(ready, backend, payloads_of(call.grouped(tensors)), arguments)
        if call.symbolic or _is_symbolic(ready.out):
            return result
        if lasting and key:
            self._keep(ready, call, tensors, key)
        records = backend.dispatch_priority > 1 and not backend.template_only  # it recalls what it recorded itself
        if not (is_watching() or defaults.cast_blocks or call.foreign or backend.lays_by_name or records):
            self._learn(call, backend, tensors, arguments, keywords)
        return result

    def _learn(
        self, call: Call, backend: Backend, tensors: Sequence[Tensor], arguments: Sequence[Any], keywords: Any
    ) -> None:
        """Notes a call that took the full path, and plans its kind on symbolic sizes if it is time."""
        kind = self.kinds.count(call, backend, tensors, arguments, keywords)
        plan = None if kind is None else self.kinds.plan(kind, backend, arguments, keywords)
        if plan is None:
            return
        key_ofs = [
            find_plans(lookup, self.spec, self.kinds, self._again)
            for lookup in self.lookups
            if lookup.key_of is not None
        ]
        try:
            key = key_ofs[0](*arguments, **keywords)
        except Exception:  # as in the code of a warm call
            return
        self.kinds.enter(key, plan)

    def _watched(
        self, ready: Ready, backend: Backend, inputs: Sequence[Any], options: Mapping[str, Any]
    ) -> Ready:  # fmt: skip
        """A ready call with what a profile needs."""
        subject = Subject(self.spec.name, self.spec.callback, backend, ready.out, tuple(inputs), options, self.parts)
        return ready._replace(kernel=watched(ready.kernel, subject), subject=subject)

    def _again(
        self, plan: KindPlan, found: Any, shapes: tuple[Any, ...], payloads: Sequence[Payload],
        key_of: KeyOf, arguments: Sequence[Any], keywords: Any,
    ) -> Any:  # fmt: skip
        """The result of a call of shapes that a plan by kind met before; from now on, such a call is ready.

        Raises an error, of any class, for a call that is left to an exact plan.
        """
        if plan.kernel is None:
            raise KeyError
        key = key_of(*arguments, **keywords)
        out, templates, options, numbers = plan.at(found, shapes)
        ready = Ready(out, plan.kernel_at(out, templates, numbers), plan.result)
        ready = self._watched(ready, plan.backend, grouped(templates, plan.groups), options)
        native = dtypes = [x.dtype for x in templates]
        operands = arguments[: self.operands]
        if not all(isinstance(operand, Tensor) for operand in operands):
            pairs = list(zip(operands, plan.constants, strict=True))
            ready = ready._replace(constants=tuple([None if isinstance(x, Tensor) else maker for x, maker in pairs]))
            native = [operand.dtype for operand in operands if isinstance(operand, Tensor)]
        self._enter(ready, key, native, dtypes)
        return wrap(out, plan.backend, ready.kernel(*payloads), plan.result)

    def _keep(self, ready: Ready, call: Call, tensors: Sequence[Tensor], key: tuple[Any, ...]) -> None:
        """Remembers a call, unless its key leaves out what it depends on."""
        operands, native = call.operands, [x.dtype for x in call.tensors]
        if call.foreign or any(
            x is not operand if isinstance(operand, Tensor) else operand.__class__ not in NUMBERS
            for x, operand in zip(tensors, operands, strict=True)
        ):
            return  # an operand was moved to the backend, or made of something else
        if len(native) < len(operands):
            if LEFT_OUT in call.groups or len(operands) > len(call.groups):
                return
            ready = ready._replace(constants=makers_of(self.spec.name, operands, tensors))
        self._enter(ready, key, native, [x.dtype for x in tensors])

    def _enter(
        self, ready: Ready, key: tuple[Any, ...], native: Sequence[DType], operands: Sequence[DType]
    ) -> None:  # fmt: skip
        """Enters a call in the memo. `native` are the dtypes of tensors; `operands` has those of numbers too."""
        known = record(ready)
        if not self.plain:
            self.calls.enter(key, known)
        elif _is_of_default(ready.out, native, operands) or not keep(self.calls, key, known, native):
            self.calls.enter((defaults.current_precision(), *key), known)

    def _keep_scalars(
        self, key_of: KeyOf, settled: Sequence[Any], arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> None:
        """Remembers a call with NumPy's numbers among its operands, if it is ready with tensors in place of them."""
        changed = [place for place, x in enumerate(settled) if x is not arguments[place]]
        if any(scalar_dtype(arguments[place].__class__) is None for place in changed):
            return
        try:
            key, settled_key = key_of(*arguments, **keywords), key_of(*settled, **keywords)
        except Exception:  # as in the code of a warm call
            return
        for front in ((), (defaults.current_precision(),)) if self.plain else ((),):
            known = self.calls.find((*front, *settled_key))
            if known is not None:
                ready: Ready = known[-1]
                makers = [*(ready.constants or (None,) * len(settled))]
                for place in changed:
                    makers[place] = scalars_of(self.spec.name, settled[place].dtype, settled[place].backend)
                self.calls.enter((*front, *key), record(ready._replace(constants=tuple(makers))))

    def _payloads(self, ready: Ready, arguments: Sequence[Any]) -> list[Payload]:
        """The payloads of a plain op's operands."""
        constants = ready.constants or (None,) * len(arguments)
        return [x.data if make is None else make(x) for x, make in zip(arguments, constants, strict=True)]

    def _run(self, ready: Ready, backend: Backend, payloads: Sequence[Payload], arguments: Sequence[Any]) -> Any:
        """The result of a ready call on payloads."""
        try:
            data = ready.kernel(*payloads)
        except Exception as error:  # whatever a backend's code raises
            self.failed(error, backend, arguments)
            raise
        return wrap(ready.out, backend, data, ready.result)

    def failed(self, error: Exception, backend: Backend, arguments: Sequence[Any]) -> None:
        """Raises the error that the user sees in place of a kernel's error, if there is one.

        It is a `DataError` with the op and its operands in front of the text, or a `ContractError` for an accident of a
        plugin.
        """
        if isinstance(error, DataError):
            raise error.met(self.spec.name, operands_of(arguments)) from None
        explain(error, self.spec.callback, backend)


def _is_symbolic(out: Out) -> bool:
    return any(map(is_symbolic_template, (out,) if isinstance(out, Template) else out))


def _is_of_default(out: Any, native: Sequence[DType], operands: Sequence[DType]) -> bool:
    """Whether a dtype may come from the default precision, so that the next call may have another."""
    if any(dtype.is_inexact for dtype in native):
        return False
    outs = (out,) if isinstance(out, Template) else out
    return any(template.dtype.is_inexact for template in outs) or any(dtype.is_inexact for dtype in operands)
