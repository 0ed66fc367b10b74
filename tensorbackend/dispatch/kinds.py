"""Plans by kind: what is decided for one shape serves the next, where sizes alone differ.

The kind of a call is its key with the kinds of templates (dtype, names, number of axes) in place of the templates. When
a third shape of a kind arrives, the op is planned once on symbolic sizes (`sizes`): the rule gives the shape of the
result as a function of the operands' shapes, with the guards under which it holds. So a wrong shape still raises its
error before data is touched. The kernel comes in one of two ways:

- a backend with `plans_kinds` is asked for its kernel with symbolic sizes too; such a kernel reads sizes from payloads;
- for other backends, and where a kernel needs numbers, only the kernel is planned for each shape.

A shape that is met often becomes a call that is ready, whose warm call is quicker: with the kernel of its kind, or with
an exact plan where each shape has a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias, cast

from ..caching.option_keys import option_key, remember
from ..declarations.op_specs import OpSpec, Parameter
from ..dtypes import DType, defaults
from ..errors import ContractError
from ..protocol import Backend, Kernel
from ..protocol.planned import QuickKernel, quick_form
from ..rules.plan import Out
from ..sizes import NeedsSizes, SizeTrace
from ..template import Template, intern_template, template_of_kind
from ..tensor import Tensor, blank_tensor
from .checked import CHECKED, checked, verify
from .constants import makers_of, scalars_of
from .generated import PLACEMENT
from .kernels import of_templates, wrap
from .operands import Call, grouped
from .resizing import Leaves

Key: TypeAlias = Any
"""The precision, the backend, the kind of each operand or the class of a number, and the options."""

FEW: Final = 2
"""So many shapes of a kind are planned exactly before the kind is planned on symbolic sizes."""

OFTEN: Final = 4
"""A shape that was met so many times becomes a call that is ready. A network meets a new shape in several layers."""

MOST_PLANS: Final = 8
"""The most plans of one kind. They differ in the answers to guards, such as whether a size is 1."""


class Decision(NamedTuple):
    """What is known of a call before its kernel: all but the kernel."""

    backend: Backend
    out: Out
    options: Mapping[str, Any]
    """The options in the form that a callback gets."""
    tensors: list[Tensor]
    """The operands on the backend, sequences laid out flat."""
    dtypes: tuple[DType, ...] = ()
    """The dtypes to which a primitive casts its operands."""
    result: Callable[..., Any] | None = None
    """Makes the public result of several tensors; a tuple by default."""


class Planner(Protocol):
    """What plans by kind need of an op's full path."""

    spec: OpSpec

    def decide(self, call: Call, backend: Backend | None) -> Decision:
        """Decides all but the kernel of a call."""

    def kernel(
        self, backend: Backend, out: Out, inputs: Sequence[Template], dtypes: Sequence[DType],
        options: Mapping[str, Any], groups: Sequence[int | None],
    ) -> tuple[Kernel, bool]:  # fmt: skip
        """The kernel of a call, and whether it serves the next call of the kind."""

    def kind_kernel(self, decision: Decision, call: Call) -> Kernel | None:
        """The kernel for symbolic sizes; `None` where a kernel is planned for each shape."""


class KindPlan:
    """A plan for all calls of a kind whose shapes pass its guards."""

    __slots__ = ("backend", "build", "call", "constants", "dtypes", "entered", "give_up", "groups", "kernel", "kinds",
                 "met", "numbered", "often", "options", "out", "path", "proven", "result", "shapes",
                 "sole")  # fmt: skip

    def __init__(
        self, path: Planner, trace: SizeTrace, decision: Decision, kernel: Kernel | None, call: Call,
        give_up: Callable[[KindPlan], None],
    ) -> None:  # fmt: skip
        out, leaves = decision.out, Leaves()
        self.path: Final = path
        self.sole: Final = isinstance(out, Template)
        self.out: Final[Any] = out.kind if isinstance(out, Template) else tuple([x.kind for x in out])
        self.backend: Final = decision.backend
        self.dtypes: Final = decision.dtypes
        self.give_up: Final = give_up
        """Takes the plan out of its memo, as its kernel cannot serve all shapes."""
        self.build: Any = None
        """Makes the kernel from the numbers of the sizes that it keeps; `None` for a kernel that keeps none."""
        self.kernel = kernel
        """Computes all shapes, or is the example for `build`; `None` if a kernel is planned for each shape."""
        options = dict(decision.options)
        self.options: Final[Callable[[Any], Mapping[str, Any]]] = leaves.builder(options) or (lambda numbers: options)
        """Makes the options from the numbers of the sizes in them."""
        if kernel is not None:
            self.kernel = quick_form(kernel)
            self.build = leaves.builder(self.kernel)
        self.entered: Final = isinstance(kernel, QuickKernel)
        """Whether the kernel is a quick form, which is called from outside as what `enter` makes of its function."""
        shape = out.shape if isinstance(out, Template) else tuple([x.shape for x in out])
        self.shapes: Final = trace.function((shape, tuple(leaves.values)) if leaves.values else shape)
        """Takes the shape of each operand, and each option that is a shape. Returns the shape of the result, or a tuple
        of shapes for several results; with the numbers that the kernel or the options keep, if they keep any."""
        self.numbered: Final = bool(leaves.values)
        self.proven = decision.backend.template_only
        """Whether a result of the kernel was compared with its template."""
        self.result: Final = decision.result
        self.kinds: Final = [x.template.kind for x in decision.tensors]
        """The kinds of the operands, sequences laid out flat."""
        self.groups: Final = call.groups
        name, tensors = path.spec.name, decision.tensors
        self.constants: Final = [
            maker or scalars_of(name, x.dtype, x.backend)
            for maker, x in zip(makers_of(name, call.operands, tensors), tensors, strict=True)
        ]
        """For each operand the function that makes its payload, if it is a number."""
        self.often: Final = 1 if kernel is None else OFTEN
        self.met: Final[dict[Any, int]] = {}
        """How often each shape was met."""
        self.call: Callable[[Any, tuple[Any, ...], Sequence[Any]], Any] = self._first_call
        """The public result for what `shapes` returned, the shapes and the payloads of the operands.

        Raises an error, of any class, for a call that is left to an exact plan.
        """

    def _first_call(self, found: Any, shapes: tuple[Any, ...], payloads: Sequence[Any]) -> Any:
        """The call of a kernel whose results were not compared with their templates yet."""
        result = self._result(found, shapes, payloads)
        if self.sole and self.kernel is not None and not CHECKED:
            self.call = _quick_call(self, self.kernel)
        return result

    def at(self, found: Any, shapes: tuple[Any, ...]) -> tuple[Out, Sequence[Template], Mapping[str, Any], Any]:
        """The templates of the result and of the operands at shapes, the options, and the numbers that it keeps."""
        found, numbers = found if self.numbered else (found, ())
        out: Any = (
            template_of_kind(self.out, found)
            if self.sole
            else tuple([template_of_kind(kind, shape) for kind, shape in zip(self.out, found, strict=True)])
        )
        templates = [template_of_kind(kind, shape) for kind, shape in zip(self.kinds, shapes, strict=False)]
        return out, templates, self.options(numbers), numbers

    def kernel_at(self, out: Out, templates: Sequence[Template], numbers: Any) -> Kernel:
        """The kernel that serves all shapes, as it is called from outside, for what `at` returned."""
        backend = self.backend
        kernel: Any = self.kernel if self.build is None else self.build(numbers)
        if self.entered:
            kernel = backend.enter(kernel.args[0])
        if CHECKED and not backend.template_only:
            kernel = checked(self.path.spec.callback, backend, out, grouped(templates, self.groups), kernel)
        return cast(Kernel, kernel)

    def _result(self, found: Any, shapes: tuple[Any, ...], payloads: Sequence[Any]) -> Any:
        backend = self.backend
        out, templates, options, numbers = self.at(found, shapes)
        if self.kernel is None:
            kernel, _ = self.path.kernel(backend, out, templates, self.dtypes, options, self.groups)
            return wrap(out, backend, kernel(*payloads), self.result)
        try:
            data = self.kernel_at(out, templates, numbers)(*payloads)
            if not self.proven:
                verify(self.path.spec.callback, backend, out, data)
        except (NeedsSizes, ContractError):
            self.give_up(self)
            raise
        self.proven = True
        return wrap(out, backend, data, self.result)


def _quick_call(plan: KindPlan, kernel: Kernel) -> Callable[[Any, tuple[Any, ...], Sequence[Any]], Any]:
    """The call of a plan whose kernel serves all shapes and has one result, as a closure, which is quicker."""
    kind, backend, build, numbered = plan.out, plan.backend, plan.build, plan.numbered

    def call(found: Any, shapes: tuple[Any, ...], payloads: Sequence[Any]) -> Any:
        function = kernel
        if numbered:
            found, numbers = found
            if build is not None:
                function = build(numbers)
        tensor = blank_tensor()
        tensor.template = template_of_kind(kind, found)
        tensor.backend = backend
        try:
            tensor.data = function(*payloads)
        except NeedsSizes:
            plan.give_up(plan)
            raise
        return tensor

    return call


class Kinds:
    """The plans by kind of an op."""

    most: ClassVar = 4096
    """The most shapes that a plan counts."""

    def __init__(self, path: Planner) -> None:
        self.path: Final = path
        self.plans: Final[dict[Key, list[KindPlan]]] = {}
        """The plans of each kind; those that were met first stand first."""
        self.met: Final[dict[Key, int]] = {}
        """How many shapes of each kind were planned exactly."""
        self.each: Final[set[Key]] = set()
        """The kinds whose kernels are planned for each shape, as one for all shapes failed."""

    def count(
        self, call: Call, backend: Backend, tensors: Sequence[Tensor], arguments: Sequence[Any], keywords: Any
    ) -> Key | None:
        """Notes an exact plan; returns the kind if it should be planned on symbolic sizes now, else `None`."""
        spec = self.path.spec
        given = [(spec.at(place), value) for place, value in enumerate(arguments)]
        given += [(parameter, keywords[parameter.name]) for parameter in spec.parameters if parameter.name in keywords]
        try:
            options = [
                rank(value) if parameter.meaning == "shape" else option_key(value)
                for parameter, value in given
                if parameter.role == "option" and parameter.name not in PLACEMENT
            ]
            operands = [
                x.template.kind if isinstance(operand, Tensor) else operand.__class__
                for operand, x in zip(call.operands, tensors, strict=True)
            ]
            key = (defaults.current_precision(), backend, *operands, *call.groups, *options)
            times = self.met.get(key, 0) + 1
            remember(self.met, key, times)
        except (TypeError, KeyError):  # an option that has no key
            return None
        return key if FEW < times <= FEW + 2 * MOST_PLANS else None

    def enter(self, key: Key, plan: KindPlan) -> None:
        """Enters a plan."""
        plans = self.plans.get(key, [])
        if len(plans) < MOST_PLANS:
            remember(self.plans, key, [*plans, plan])

    def plan(self, kind: Key, backend: Backend, arguments: Sequence[Any], keywords: dict[str, Any]) -> KindPlan | None:
        """A plan on symbolic sizes, with the shapes of a call as the example; `None` where numbers are needed."""
        trace, spec = SizeTrace(), self.path.spec
        try:
            symbolic = [_symbolic(trace, value, spec.at(place)) for place, value in enumerate(arguments)]
            by_name = {parameter.name: parameter for parameter in spec.parameters}
            creates = all(parameter.role == "option" for parameter in spec.parameters)
            named = {
                name: _symbolic(trace, value, by_name[name])
                for name, value in keywords.items()
                if not (creates and name in PLACEMENT)
            }
            call = Call(spec, symbolic, named)
            decision = self.path.decide(call, backend)
            if decision.backend is not backend or trace.failed:
                return None
            kernel = None
            if backend.template_only:
                kernel = of_templates(decision.out)
            elif backend.plans_kinds and kind not in self.each:
                try:
                    kernel = self.path.kind_kernel(decision, call)
                except Exception:  # whatever a backend's code raises on sizes that it cannot read
                    kernel = None
                kernel = None if _has_failed(trace) else kernel

            def give_up(plan: KindPlan) -> None:
                self.each.add(kind)
                for plans in self.plans.values():
                    if plan in plans:
                        plans.remove(plan)

            return KindPlan(self.path, trace, decision, kernel, call, give_up)
        except Exception:  # whatever a rule raises on such sizes; the exact plan has served the call
            return None
        finally:
            trace.open = False

    def clear(self) -> None:
        """Drops all plans."""
        self.plans.clear()
        self.met.clear()
        self.each.clear()


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


def rank(shape: Any) -> int:
    """The part of a key for an option that is a shape: the number of its sizes, -1 for an int.

    Raises `KeyError` for anything but an int or a tuple of ints.
    """
    if shape.__class__ is int:
        return -1
    if shape.__class__ is tuple:
        for size in shape:
            if size.__class__ is not int:
                raise KeyError
        return len(shape)
    raise KeyError
