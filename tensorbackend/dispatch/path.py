"""The full path of a call, which makes the next call of its kind ready.

A call of tensors on one backend is kept under the key that its op makes. A call with Python numbers beside its tensors
is kept by the types of the numbers: their values reach the kernel as data, so that a new number needs no new plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..dtypes import DType, defaults
from ..entry import tell
from ..errors import DataError, TensorBackendError
from ..interchange import scalar_dtype
from ..memo import MEMO_LIMIT, NUMBERS, remember, told
from ..operands import Call, grouped, without_arrays
from ..opspec import CALLBACKS, OpSpec
from ..protocol import Backend, Kernel, Payload
from ..rules.plan import NO_OPTIONS, Out
from ..select import placed, recorded_together
from ..template import Template, is_symbolic_template
from ..tensor import OPERATORS, REFLECTED, Tensor
from .cast_mode import cast, holds_no_precision, is_cast, keep
from .checked import explain
from .constants import makers_of, scalars_of
from .generated import MISSES, PLACEMENT, generated
from .kernels import payloads_of, wrap
from .kind_lookup import find_plans
from .kinds import Decision, KindPlan, Kinds
from .near import Near
from .quick import (
    KEYS_OF,
    Beside,
    BesideMemo,
    KeyOf,
    Lookup,
    Memo,
    Missed,
    Ready,
    Record,
    beside_number,
    of_one,
    of_two,
    operands_of,
    record,
)
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
        self.ready: Memo = {}
        self.beside: BesideMemo = {}
        self.planned: list[dict[Any, Any]] = []
        """The memos of what plans a call."""
        self.parts: Callable[..., Any] | None = None
        """The default of a composite, a function of other ops; `None` for a primitive."""
        parameters = [parameter for parameter in spec.parameters if parameter.role != "option"]
        single = all(parameter.role == "tensor" and parameter.kind == "positional" for parameter in parameters)
        self.operands = len(parameters) if single else 0
        """The number of tensor parameters if each takes one tensor by position, else 0."""
        self.creates = not parameters
        """Whether the op has no operands; its options `PLACEMENT` then choose the backend."""
        sole = spec.kind == "primitive" and CALLBACKS[spec.callback].outputs == 1
        self.plain = sole and 0 < self.operands == len(spec.parameters) <= 2
        """Whether the op takes one or two tensors, no options, and has one result; its key leaves the precision out."""
        self.kinds = Kinds(self)
        """The plans by kind, which serve new shapes."""
        self.lookups: list[Lookup] = []
        """The functions that warm calls of the op and of its operators call when no exact plan is there."""
        self.near = Near(self.ready, self.beside)
        """The quickest way to the ready calls of a plain op."""
        if self.plain:
            holds_no_precision(self.near)

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
        for key, known in list(self.ready.items()):
            self.ready[key] = _exchanged(known, change)
        for key, (known, constants) in list(self.beside.items()):
            self.beside[key] = Beside(_exchanged(known, change), constants)
        self.near.clear()
        self.kinds.clear()

    def forget(self) -> None:
        """Drops all calls that are ready."""
        for memo in (self.ready, self.beside, self.kinds):
            memo.clear()
        self.near.clear()

    @property
    def memos(self) -> list[dict[Any, Any]]:
        """The memos of the op's calls."""
        return [self.ready, self.beside, self.kinds.plans, self.kinds.met, *self.planned]

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
            lookup = self._lookup(self._operated(lambda first, second: reflected(second, first)))
            setattr(Tensor, REFLECTED[name], beside_number(self.near, 0, lookup, self.failed))
        return self._code(self.missed)

    def _operated(self, operator: Callable[..., Any]) -> Missed:
        """Leaves a call that is not ready to an operator's method, after arrays among the operands became tensors."""

        def missed(key_of: KeyOf, operands: Sequence[Any], options: dict[str, Any]) -> Any:
            arrays = without_arrays(self.spec, operands)
            return operator(*operands) if arrays is None else self.missed(key_of, operands, options)

        return missed

    def _code(self, missed: Missed) -> Callable[..., Any]:
        lookup = self._lookup(missed)
        if not self.plain:
            return generated(self.spec, self.ready, self.beside, lookup, self.failed)
        if self.operands == 1:
            return of_one(self.near, lookup, self.failed)
        return of_two(self.near, lookup, self.failed)

    def _lookup(self, missed: Missed) -> Lookup:
        """What a warm call turns to when no exact plan is there, and that leaves calls of unknown kinds to `missed`."""
        lookup = Lookup(missed, KEYS_OF[self.operands] if self.plain else None)
        self.lookups.append(lookup)
        return lookup

    def missed(self, key_of: KeyOf, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of a call that is not ready under the key of its op."""
        try:
            return self._found_or_made(key_of, arguments, keywords)
        except TensorBackendError as error:
            error.named(self.spec.name)
            raise

    def _found_or_made(self, key_of: KeyOf, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """As `missed`; its errors may lack the name of the op."""
        if self.plain:
            try:
                key = key_of(*arguments)
                known = self.ready[key]
                payloads = [x.data for x in arguments]
            except (LookupError, AttributeError, TypeError):
                pass  # so that no error below has this one as its context
            else:
                self.near.enter(key, known)
                return self._run(known, arguments[-1].backend, payloads, arguments)
        if defaults.cast_blocks and is_cast(self.spec):
            recast = cast(arguments, keywords, self.spec)
            if recast is not None:
                return self.public(*recast[0], **recast[1])
        beside = self._key_beside(arguments, keywords)
        known_beside = None if beside is None else self.beside.get(beside)
        if known_beside is not None:
            if self.plain:
                self.near.enter_beside(beside, known_beside)
            return self._run_beside(known_beside, arguments)
        # So that the call is kept: the full path moves and converts operands each time.
        settled = without_arrays(self.spec, arguments) or recorded_together(arguments)
        if settled is not None:
            result = self.public(*settled, **keywords)
            self._keep_scalars(key_of, beside, settled, arguments, keywords)
            return result
        try:
            backend, call_keywords = None, keywords
            if self.creates:
                call_keywords = {name: value for name, value in keywords.items() if name not in PLACEMENT}
                backend = placed(**{name: keywords[name] for name in PLACEMENT if name in keywords})
            call = Call(self.spec, arguments, call_keywords)
            ready, backend, tensors, lasting, options = self.prepare(call, backend)
        except TensorBackendError:
            raise
        except Exception as error:  # whatever a wrong argument led to; an error that `tell` cannot explain passes
            tell(error, self.public, arguments, keywords)
            raise
        call_record = self._record(ready, backend, call.grouped([x.template for x in tensors]), options)
        result = self._run(call_record, backend, payloads_of(call.grouped(tensors)), arguments)
        if call.symbolic or _is_symbolic(ready.out):
            return result
        operands = zip(tensors, call.operands, strict=True)
        moved = any(x is not operand for x, operand in operands if isinstance(operand, Tensor))
        if lasting and not moved and not call.foreign:
            makers = makers_of(self.spec.name, call.operands, tensors)
            self._keep(call_record, makers, [x.dtype for x in tensors], key_of, beside, arguments, keywords)
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
        except MISSES:
            return
        self.kinds.enter(key, plan)

    def _record(
        self, ready: Ready, backend: Backend, inputs: Sequence[Any], options: Mapping[str, Any]
    ) -> Record:  # fmt: skip
        """A call as a memo holds it, with what a profile needs."""
        subject = Subject(self.spec.name, self.spec.callback, backend, ready.out, tuple(inputs), options, self.parts)
        return record(ready._replace(kernel=watched(ready.kernel, subject), subject=subject))

    def _again(
        self, plan: KindPlan, found: Any, shapes: tuple[Any, ...], payloads: Sequence[Payload],
        key_of: KeyOf, arguments: Sequence[Any], keywords: Any,
    ) -> Any:  # fmt: skip
        """The result of a call of shapes that a plan by kind met before; from now on, such a call is ready.

        Raises an error, of any class, for a call that is left to an exact plan.
        """
        if plan.kernel is None:
            raise KeyError
        out, templates, options, numbers = plan.at(found, shapes)
        ready = Ready(out, plan.kernel_at(out, templates, numbers), plan.result)
        call_record = self._record(ready, plan.backend, grouped(templates, plan.groups), options)
        makers = [
            None if isinstance(x, Tensor) else maker
            for x, maker in zip(arguments[: self.operands], plan.constants, strict=False)
        ]
        beside = self._key_beside(arguments, keywords)
        self._keep(call_record, makers, [x.dtype for x in templates], key_of, beside, arguments, keywords)
        return wrap(out, plan.backend, call_record[4](*payloads), plan.result)

    def _keep(
        self,
        call_record: Record,
        makers: Sequence[Callable[..., Any] | None],
        dtypes: Sequence[DType],
        key_of: KeyOf,
        beside: Any,
        arguments: Sequence[Any],
        keywords: dict[str, Any],
    ) -> None:
        """Remembers a call: in `ready` where the key of its op determines all that is kept, else in `beside`.

        `makers` make the payloads of operands that are numbers.
        """
        if not any(makers) and not (self.plain and _from_default(call_record[0], dtypes)):
            try:
                key = key_of(*arguments, **keywords)
                if not self.plain:
                    remember(self.ready, key, call_record)
                    return
                if keep(self.near, key, call_record, dtypes):
                    return
            except (LookupError, AttributeError, TypeError):  # no key, or one that does not hash
                return
        self._keep_beside(beside, call_record, makers)

    def _keep_beside(self, beside: Any, call_record: Record, makers: Sequence[Callable[..., Any] | None]) -> None:
        """Remembers a call with numbers among its operands, if it has a key."""
        if beside is not None:
            full = len(self.beside) >= MEMO_LIMIT
            remember(self.beside, beside, Beside(call_record, tuple(makers)))
            if full:
                self.near.clear()

    def _keep_scalars(
        self, key_of: KeyOf, beside: Any, settled: Sequence[Any], arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> None:
        """Remembers a call with NumPy's numbers among its operands, if it is ready with tensors in place of them."""
        try:
            call_record = self.ready[key_of(*settled, **keywords)]
        except MISSES:
            return
        makers = [
            None if x is operand else scalars_of(self.spec.name, x.dtype, x.backend)
            for x, operand in zip(settled[: self.operands], arguments, strict=False)
        ]
        self._keep_beside(beside, call_record, makers)

    def _key_beside(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The key of a call in `beside`, for calls with numbers among their operands or of the default precision.

        It holds the precision, the template of each tensor and the class of each number, of Python or NumPy, the
        backend, and the options.
        It is `None` if the op takes other operands than one tensor for each position, and if the call has no tensor,
        tensors on two backends, or an option that does not hash.
        """
        count = self.operands
        if not count or len(arguments) < count:
            return None
        key: list[Any] = [defaults.current_precision()]
        backend = None
        try:
            for x in arguments[:count]:
                if x.__class__ in NUMBERS or scalar_dtype(x.__class__):
                    key.append(x.__class__)
                    continue
                if not isinstance(x, Tensor):  # it may have a template all the same, as a sparse matrix has
                    return None
                if backend is None:
                    backend = x.backend
                elif x.backend is not backend:
                    return None
                key.append(x.template)
            key.append(backend)
            key += [(told(value), value.__class__) for value in (*arguments[count:], *keywords.values())]
            frozen_key = tuple(key)
            hash(frozen_key)
        except (LookupError, AttributeError, TypeError):
            return None
        return frozen_key if backend is not None else None

    def _run_beside(self, known_beside: Beside, arguments: Sequence[Any]) -> Any:
        backend, payloads = None, []
        for x, constant in zip(arguments, known_beside.constants, strict=False):
            if constant is None:
                backend = x.backend
                payloads.append(x.data)
            else:
                payloads.append(constant(x))
        assert backend is not None  # as the key has one
        return self._run(known_beside.record, backend, payloads, arguments)

    def _run(self, call_record: Record, backend: Backend, payloads: Sequence[Payload], arguments: Sequence[Any]) -> Any:
        """The result of a ready call on payloads."""
        out, _, _, result, kernel, _ = call_record
        try:
            data = kernel(*payloads)
        except Exception as error:  # whatever a backend's code raises
            self.failed(error, backend, arguments)
            raise
        return wrap(out, backend, data, result)

    def failed(self, error: Exception, backend: Backend, arguments: Sequence[Any]) -> None:
        """Raises the error that the user sees in place of a kernel's error, if there is one.

        It is a `DataError` with the op and its operands in front of the text, or a `ContractError` for an accident of a
        plugin.
        """
        if isinstance(error, DataError):
            raise error.met(self.spec.name, operands_of(arguments)) from None
        explain(error, self.spec.callback, backend)


def _exchanged(known: Record, change: Change) -> Record:
    """A record with the kernel that takes the place of its own."""
    out, _, _, result, kernel, subject = known
    return record(Ready(out, change(kernel, subject), result, subject))


def _is_symbolic(out: Out) -> bool:
    return any(map(is_symbolic_template, (out,) if isinstance(out, Template) else out))


def _from_default(out: Any, inputs: Sequence[DType]) -> bool:
    """Whether a result's dtype may come from the default precision, so that the next call may have another."""
    outs = (out,) if isinstance(out, Template) else out
    return any(template.dtype.is_inexact for template in outs) and not any(dtype.is_inexact for dtype in inputs)
