"""Plans by kind: what is decided for one shape serves the next, where sizes alone differ.

The kind of a call is its key with the kinds of templates (dtype, names, number of axes) in place of the templates. When
a third shape of a kind arrives, the op is planned once on symbolic sizes (`sizes`): the rule returns the shape of the
result as a function of the operands' shapes, with the guards under which it holds. So a wrong shape still raises its
error before data is touched. The kernel comes in one of two ways:

- a backend with `plans_kinds` is asked for its kernel with symbolic sizes too; such a kernel reads sizes from payloads;
- for other backends, and where a kernel needs numbers, only the kernel is planned for each shape.

A shape that occurs often becomes a call that is ready, whose warm call is quicker: with the kernel of its kind, or with
an exact plan where each shape has a kernel of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, cast

from ..caching.memos import POLICY
from ..caching.option_keys import remember
from ..declarations.op_specs import Parameter
from ..dtypes import DType
from ..errors import ContractError
from ..protocol import Backend, Kernel
from ..protocol.planned import QuickKernel, quick_form
from ..rules.plan import Out
from ..sizes import NeedsSizes, SizeTrace
from ..template import Template, intern_template, new_template, template_of_kind
from ..tensor import Tensor
from .checked import CHECKED, checking_kernel, verify
from .constants import maker_of
from .kernels import template_kernel
from .operands import Call, group_operands
from .ready_calls import Dispatcher, Key, ReadyCall, Record
from .resizing import Leaves
from .watching import Subject, watch_kernel


class Decision(NamedTuple):
    """What is known of a call besides its data and its kernel."""

    backend: Backend
    out: Out
    inputs: Sequence[Template]
    """The templates of the operands on the backend, sequences laid out flat."""
    groups: Sequence[int | None]
    """How the operands belong to tensor parameters (`Call.groups`)."""
    options: Mapping[str, Any]
    """The options in the form that a callback gets."""
    dtypes: tuple[DType, ...] = ()
    """The dtypes to which a primitive casts its operands."""
    result: Callable[..., Any] | None = None
    """Makes the public result of several tensors; a tuple by default."""

    @property
    def arguments(self) -> list[Any]:
        """For each tensor parameter its template, a tuple of templates for a sequence, or `None`."""
        return group_operands(self.inputs, self.groups)


class Planner(Dispatcher):
    """The two steps of an op's full path."""

    parts: Callable[..., Any] | None = None
    """The default of a composite, a function of other ops; `None` for a primitive."""

    @abstractmethod
    def decide(self, call: Call, backend: Backend | None) -> tuple[Decision, list[Tensor]]:
        """Decides all but the kernel of a call on `backend`, or on the one that its operands choose.

        Returns the operands on that backend too, sequences laid out flat. Raises errors of wrong arguments.
        """

    @abstractmethod
    def kernel(self, decision: Decision) -> tuple[Kernel, bool]:
        """The kernel of a call, and whether it serves the next call of the kind."""

    @abstractmethod
    def kind_kernel(self, decision: Decision) -> Kernel | None:
        """The kernel for symbolic sizes; `None`, or an error of any class, where a kernel is planned for each shape."""

    def ready(self, decision: Decision, kernel: Kernel) -> ReadyCall:
        """A call with its kernel, and with what a profile needs."""
        backend, out, _, _, options, _, result = decision
        spec, inputs = self.spec, tuple(decision.arguments)
        subject = Subject(spec.name, spec.callback, backend, out, inputs, options, self.parts)
        return ReadyCall(out, watch_kernel(kernel, subject), result, subject)

    def frequent(self, key: Key, shapes: tuple[Any, ...]) -> tuple[KindPlan, ReadyCall] | None:
        """The plan and the call for frequent shapes of a kind, if one kernel serves them all."""
        for plan in self.kinds.get(key, ()):
            try:
                found = plan.shapes(*shapes)
            except TypeError:  # a size that is no number, of which the rule of the op says what is wrong
                return None
            if found is not None:
                if plan.kernel is None or plan.met.get(hash(shapes), 0) < plan.often:
                    break
                plan.met.pop(hash(shapes), None)  # another thread may have dropped it
                return plan, plan.ready(found, shapes)
        return None

    def learn(self, key: Key, backend: Backend, arguments: Sequence[Any], keywords: dict[str, Any]) -> None:
        """Notes a call of a kind that was planned exactly, and plans the kind on symbolic sizes if it is time."""
        kind = self.kinds.get(key)
        if kind is None:
            remember(self.kinds, key, kind := Kind())
        kind.exact += 1
        few, most = POLICY.shapes_before_symbolic, POLICY.plans_of_a_kind
        if few < kind.exact <= few + 2 * most and len(kind) < most:
            plan = _plan(self, kind, backend, arguments, keywords)
            if plan is not None:
                kind.append(plan)


class Kind(list["KindPlan"]):
    """The plans of a kind of calls, the oldest first."""

    __slots__ = ("by_shape", "exact")

    def __init__(self) -> None:
        self.exact = 0
        """How many calls were planned exactly."""
        self.by_shape = False
        """Whether a kernel is planned for each shape, as one for all shapes failed."""


class KindPlan:
    """A plan for all calls of a kind whose shapes pass its guards."""

    def __init__(
        self,
        path: Planner,
        kind: Kind,
        trace: SizeTrace,
        decision: Decision,
        kernel: Kernel | None,
        operands: Sequence[Any],
    ) -> None:
        out, leaves = decision.out, Leaves()
        self.path: Final = path
        self.kind: Final = kind
        self.backend: Final = decision.backend
        self.decision: Final = decision
        self.entered: Final = isinstance(kernel, QuickKernel)
        """Whether the kernel is a quick form, which is called from outside as what `enter` makes of its function."""
        self.kernel: Final = None if kernel is None else quick_form(kernel)
        """Computes all shapes, or is the example for `build`; `None` if a kernel is planned for each shape."""
        self.options: Final = leaves.builder(dict(decision.options))
        """Makes the options from the numbers of the sizes in them; `None` for options without sizes."""
        self.build: Final = leaves.builder(self.kernel)
        """Makes the kernel from the numbers of the sizes that it keeps; `None` for a kernel that keeps none."""
        self.numbered: Final = bool(leaves.values)
        shape: Any = out.shape if isinstance(out, Template) else tuple([x.shape for x in out])
        self.shapes: Final = trace.function((shape, tuple(leaves.values)) if self.numbered else shape)
        """Takes the shape of each operand, and each option that is a shape. Returns the shape of the result, or a tuple
        of shapes for several results; with the numbers that the kernel or the options keep, if they keep any."""
        self.constants: Final = tuple([
            None if isinstance(operand, Tensor) else maker_of(operand, x.dtype, decision.backend)
            for operand, x in zip(operands, decision.inputs, strict=True)
        ])  # fmt: skip
        """For each operand the function that makes the payload of a number, or `None` for a tensor."""
        self.often: Final = 1 if kernel is None else POLICY.calls_before_exact
        self.met: Final[dict[int, int]] = {}
        """The number of calls with each shape, by the hash of the operands' shapes."""
        self.proven = self.backend.template_only and isinstance(out, Template) and not CHECKED
        """Whether the kernel served a call, and its result was as its template says. Templates alone need no proof."""
        self.record: Final = _record_of(self)
        """The record of a call, for the code of warm calls."""

    def ready(self, found: Any, shapes: tuple[Any, ...]) -> ReadyCall:
        """The call at shapes for which `shapes` returned `found`."""
        path, example = self.path, self.decision
        found, numbers = found if self.numbered else (found, ())
        decision = example._replace(
            out=template_of_kind(example.out.kind, found)
            if isinstance(example.out, Template)
            else tuple([template_of_kind(x.kind, shape) for x, shape in zip(example.out, found, strict=True)]),
            inputs=[template_of_kind(x.kind, shape) for x, shape in zip(example.inputs, shapes, strict=False)],
            options=example.options if self.options is None else self.options(numbers),
        )
        if self.kernel is None:
            return path.ready(decision, path.kernel(decision)[0])
        kernel: Any = self.kernel if self.build is None else self.build(numbers)
        if self.entered:
            kernel = self.backend.enter(kernel.args[0])
        if CHECKED and not self.backend.template_only:
            kernel = checking_kernel(path.spec.callback, self.backend, decision.out, decision.arguments, kernel)
        return path.ready(decision, kernel)

    def trial(self, found: Any, shapes: tuple[Any, ...]) -> Record:
        """The record of a call that compares what its kernel returns with the templates."""
        path, backend, ready = self.path, self.backend, self.ready(found, shapes)

        def kernel(*payloads: Any) -> Any:
            data = ready.kernel(*payloads)
            if self.kernel is not None and not backend.template_only:
                verify(path.spec.callback, backend, ready.out, data)
                self.proven = isinstance(ready.out, Template) and not CHECKED
            return data

        return ready.out, kernel, ready._replace(constants=self.constants, plan=self)

    def fail(self, error: Exception) -> None:
        """Drops the plan if an error says that its kernel cannot serve all shapes."""
        if isinstance(error, NeedsSizes | ContractError):
            with suppress(ValueError):  # another thread has dropped it
                self.kind.remove(self)
            self.kind.by_shape = True


def _record_of(plan: KindPlan) -> Callable[[tuple[Any, ...]], Record | None]:
    """The function that returns the record of a call at some shapes, as a closure, which is quicker than a method.

    It returns `None` for shapes that do not pass the plan's guards, and raises an error, of any class, for a call that
    is left to the full path, as one of frequent shapes is.
    """
    shapes_of, build, kernel, met, numbered, often = (
        plan.shapes, plan.build, cast(Kernel, plan.kernel), plan.met, plan.numbered, plan.often,
    )  # fmt: skip
    decision = plan.decision
    kind = decision.out.kind if isinstance(decision.out, Template) else decision.inputs[0].kind  # which is not read
    known = kind.by_shape
    ready = ReadyCall(decision.out, kernel, constants=plan.constants, plan=plan)

    def record(shapes: tuple[Any, ...]) -> Record | None:
        found = out = shapes_of(*shapes)
        if found is None:
            return None
        numbers: Any = ()
        if numbered:
            out, numbers = found
        proven, reference = plan.proven, known.get(out)
        if reference is not None or not proven:  # else nothing had the result's shape so far: there is nothing to count
            key = hash(shapes)  # computed once
            times = met.get(key, 0)
            if times >= often:
                raise KeyError(shapes)
            if not times and len(met) >= POLICY.shapes_counted:
                met.clear()
            met[key] = times + 1
        if not proven:
            try:
                return plan.trial(found, shapes)
            except NeedsSizes as error:
                plan.fail(error)
                raise
        template = None if reference is None else reference()
        if template is None:
            template = new_template(kind, out)
        return template, kernel if build is None else build(numbers), ready

    return record


def _plan(
    path: Planner, kind: Kind, backend: Backend, arguments: Sequence[Any], keywords: dict[str, Any]
) -> KindPlan | None:
    """A plan on symbolic sizes, with the shapes of a call as the example; `None` where numbers are needed."""
    trace = SizeTrace()
    try:
        symbolic = [_symbolic(trace, value, path.spec.at(place)) for place, value in enumerate(arguments)]
        named = {
            parameter.name: _symbolic(trace, keywords[parameter.name], parameter)
            for parameter in path.spec.parameters
            if parameter.name in keywords
        }
        call = Call(path.spec, symbolic, named)
        decision, _ = path.decide(call, backend)
        if decision.backend is not backend or trace.failed:
            return None
        kernel = None
        if backend.template_only:
            kernel = template_kernel(decision.out)
        elif backend.plans_kinds and not kind.by_shape:
            with suppress(Exception):  # whatever a backend's code raises on sizes that it cannot read
                kernel = path.kind_kernel(decision)
        return KindPlan(path, kind, trace, decision, None if _has_failed(trace) else kernel, call.operands)
    except Exception:  # whatever a rule raises on such sizes; the exact plan has served the call
        return None
    finally:
        trace.open = False


def _has_failed(trace: SizeTrace) -> bool:
    return trace.failed


def _symbolic(trace: SizeTrace, value: Any, parameter: Parameter) -> Any:
    """An argument with symbolic sizes: tensors keep their payload, as it is not read."""
    if parameter.meaning == "shape":
        sizes = trace.shape((value,) if value.__class__ is int else value, natural=False)
        return sizes[0] if value.__class__ is int else sizes
    if parameter.role == "option":
        return value
    if isinstance(value, Tensor):
        template = value.template
        shape: Any = trace.shape(template.shape)
        return Tensor(intern_template(shape, template.dtype, template.names, template.weak), value.backend, value.data)
    if isinstance(value, list | tuple):
        return [_symbolic(trace, member, parameter) for member in value]
    trace.shape(())
    return value
