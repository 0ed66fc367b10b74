"""The full path of a call, which makes the next call of its kind ready.

A call of tensors on one backend is kept under the key that its op makes. A call with Python numbers beside its tensors
is kept by the types of the numbers: their values reach the kernel as data, so that a new number needs no new plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from ..cached import clear_all, remembers
from ..dtypes import DType, check_scalar, defaults
from ..entry import tell
from ..errors import DataError, TensorBackendError
from ..memo import MEMO_LIMIT, NUMBERS, remember, told
from ..operands import Call
from ..opspec import CALLBACKS, OpSpec
from ..protocol import Backend, Payload
from ..rules.plan import NO_OPTIONS
from ..select import brought_together, placed
from ..template import Template, intern_template
from ..tensor import OPERATORS, REFLECTED, Tensor
from .cast_mode import cast, holds_no_precision, is_cast, keep
from .checked import explain
from .generated import PLACEMENT, generated
from .kernels import payloads_of, primitive_kernel, wrap
from .near import Near
from .quick import (
    Beside,
    BesideMemo,
    KeyOf,
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
from .watching import Change, Subject, holds_kernels, watched


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
        self.subjects: dict[Any, Subject] = {}
        """The subjects of the kernels in both memos, by the same keys."""
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
        self.near = Near(self.ready, self.beside)
        """The quickest way to the ready calls of a plain op."""
        self.aside: Memo = holds_no_precision(self.near) if self.plain else {}
        """The ready calls that are set aside while some block casts operands (`cast_mode`)."""

    @abstractmethod
    def prepare(self, call: Call, backend: Backend | None) -> Prepared:
        """Prepares a call on `backend`, or on the one that its operands choose; raises errors of wrong arguments."""

    def op(self) -> Callable[..., Any]:
        """The public op."""
        self.public = public(self._warm(), self.spec)
        holds_kernels(self)
        return self.public

    def exchange(self, change: Change) -> None:
        """Replaces each kernel that is ready by what `change` returns for it."""
        for memo in (self.ready, self.aside):
            for key, (out, _, _, result, kernel) in list(memo.items()):
                memo[key] = record(Ready(out, change(kernel, self._subject(key)), result))
        for key, ((out, _, _, result, kernel), constants) in list(self.beside.items()):
            self.beside[key] = Beside(record(Ready(out, change(kernel, self._subject(key)), result)), constants)
        self.near.clear()

    def forget(self) -> None:
        """Drops all calls that are ready."""
        for memo in (self.ready, self.aside, self.beside, self.subjects):
            memo.clear()
        self.near.clear()

    @property
    def memos(self) -> list[dict[Any, Any]]:
        """The memos of the op's calls."""
        return [self.ready, self.aside, self.beside, self.subjects, *self.planned]

    def _subject(self, key: Any) -> Subject:
        """The subject of the kernel that is kept under a key."""
        subject = self.subjects.get(key)
        return subject or Subject(self.spec.name, self.spec.callback, next(x for x in key if isinstance(x, Backend)))

    def _warm(self) -> Callable[..., Any]:
        """The function of the op's warm calls.

        If methods of `Tensor` are operators of the op, they are replaced by such functions as well, which leave calls
        that are not ready to the methods.
        """
        name = self.spec.name
        if name in OPERATORS:
            operator = getattr(Tensor, OPERATORS[name])
            setattr(Tensor, OPERATORS[name], self._code(lambda key_of, operands, options: operator(*operands)))
        if name in REFLECTED and self.plain:
            reflected = getattr(Tensor, REFLECTED[name])
            code = beside_number(
                self.near, 0, lambda key_of, operands, options: reflected(*operands[::-1]), self.failed
            )
            setattr(Tensor, REFLECTED[name], code)
        return self._code(self.missed)

    def _code(self, missed: Missed) -> Callable[..., Any]:
        if not self.plain:
            return generated(self.spec, self.ready, self.beside, missed, self.failed)
        if self.operands == 1:
            return of_one(self.near, missed, self.failed)
        return of_two(self.near, missed, self.failed)

    def missed(self, key_of: KeyOf, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The result of a call that is not ready under the key of its op."""
        try:
            together = brought_together(arguments)
            if together is not None:  # so that the call is kept, which otherwise moves operands each time
                return self.public(*together, **keywords)
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
        inputs = tuple(call.grouped([x.template for x in tensors]))
        subject = Subject(self.spec.name, self.spec.callback, backend, ready.out, inputs, options, self.parts)
        call_record = record(ready._replace(kernel=watched(ready.kernel, subject)))
        result = self._run(call_record, backend, payloads_of(call.grouped(tensors)), arguments)
        if lasting:
            self._keep(call_record, call, tensors, key_of, beside, arguments, keywords, subject)
        return result

    def _keep(
        self,
        call_record: Record,
        call: Call,
        tensors: Sequence[Tensor],
        key_of: KeyOf,
        beside: Any,
        arguments: Sequence[Any],
        keywords: dict[str, Any],
        subject: Subject,
    ) -> None:
        """Remembers a call: in `ready` where the key of its op determines all that is kept, else in `beside`."""
        operands = call.operands
        if any(x is not operand for x, operand in zip(tensors, operands, strict=True) if isinstance(operand, Tensor)):
            return  # an operand was moved to the backend
        if call.foreign:
            return
        all_tensors = len(call.tensors) == len(operands)
        if all_tensors and not (self.plain and _from_default(call_record[0], tensors)):
            try:
                key = key_of(*arguments, **keywords)
                if not self.plain:
                    remember(self.ready, key, call_record)
                    remember(self.subjects, key, subject)
                    return
                if keep(self.near, key, call_record, [x.dtype for x in tensors]):
                    remember(self.subjects, key, subject)
                    return
            except (LookupError, AttributeError, TypeError):  # no key, or one that does not hash
                return
        if beside is not None:
            constants = [
                None if isinstance(operand, Tensor) else constants_of(self.spec.name, x.dtype, x.backend)
                for operand, x in zip(operands, tensors, strict=True)
            ]
            full = len(self.beside) >= MEMO_LIMIT
            remember(self.beside, beside, Beside(call_record, tuple(constants)))
            if full:
                self.near.clear()
            remember(self.subjects, beside, subject)

    def _key_beside(self, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """The key of a call in `beside`, for calls with numbers among their operands or of the default precision.

        It holds the precision, the template of each tensor and the type of each number, the backend, and the options.
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
                if x.__class__ in NUMBERS:
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
        out, _, _, result, kernel = call_record
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


def _from_default(out: Any, inputs: Sequence[Tensor]) -> bool:
    """Whether a result's dtype may come from the default precision, so that the next call may have another."""
    outs = (out,) if isinstance(out, Template) else out
    return any(template.dtype.is_inexact for template in outs) and not any(x.dtype.is_inexact for x in inputs)


# Python numbers among the operands


def constant(op: str, value: Any, dtype: DType, backend: Backend) -> Tensor:
    """A Python number among the operands of an op as a tensor without axes."""
    return Tensor(intern_template((), dtype, ()), backend, constants_of(op, dtype, backend)(value))


_numbers: Final[list[dict[Any, Payload]]] = []
"""The payloads of numbers, by op, dtype and backend."""

remembers(
    "numbers beside tensors",
    lambda: sum(map(len, _numbers)),
    lambda: clear_all(_numbers),
    lambda: MEMO_LIMIT * len(_numbers),
)


@cache
def constants_of(op: str, dtype: DType, backend: Backend) -> Callable[[Any], Payload]:
    """A function that makes the payload of a Python number in a dtype, once for each value.

    The function raises what `check_scalar` raises, under the name of the op.
    """
    payloads: dict[Any, Payload] = {}
    _numbers.append(payloads)
    template = intern_template((), dtype, ())

    def payload(value: Any) -> Payload:
        # Equal numbers may need different payloads: 0.0 and -0.0, complex numbers with such parts, and 1, 1.0 and True.
        key = value.__class__, repr(value) if not value or value.__class__ is complex else value
        try:
            return payloads[key]
        except KeyError:
            pass  # so that no error below has this one as its context
        try:
            check_scalar(value, dtype)
        except TensorBackendError as error:
            error.named(op)
            raise
        scalar_payload = primitive_kernel(backend, "constant", template, (), {"value": value})()
        if backend.dispatch_priority <= 1:  # a backend that records programs makes a number where it is used
            remember(payloads, key, scalar_payload)
        return scalar_payload

    return payload
