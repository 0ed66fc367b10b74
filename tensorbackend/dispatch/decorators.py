"""The decorators, typed: a rule over templates, or a body over tensors, becomes a public op.

Such an op takes a tensor, a Python number or another library's array where its function has a template or tensor. In a
primitive's call the rule returns a plan, and the callback of the backend a kernel; `composites` has those of a body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar, overload

from ..declarations.op_specs import CostRule, OpSpec, declare, read_parameters
from ..protocol import Backend, Kernel
from ..protocol.callbacks import Cost, Reach
from ..rules.accuracy import EXACT, TO_THE_BIT, Bound, Bounds
from ..rules.plan import Plan
from ..select import common_backend
from ..template import Template
from ..tensor import Tensor, TensorLike, bind
from .composites import make_composite
from .kernels import casting_kernel, primitive_kernel, symbolic_kernel, template_kernel
from .kinds import Decision
from .narrow import check_moves
from .operands import Call, group_operands, template_of
from .path import FullPath

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Method = TypeVar("Method", bound=Callable[..., Any])
Result = TypeVar("Result")
Several = TypeVar("Several")


class Primitive(Generic[Result]):
    """Declare an op that backends implement by a callback of the protocol: `@tb.primitive`.

    The function is the op's rule: it takes templates in place of tensors, raises all errors that a user can make, and
    returns a `Plan` with the template of the result. `Result` is what the public op returns.
    """

    def __init__(
        self, callback: str | None = None, result: Callable[..., Any] | None = None, bounds: Bounds = TO_THE_BIT
    ) -> None:
        self._callback, self._result, self._bounds = callback, result, bounds

    def calls(self, callback: str) -> Primitive[Result]:
        """The decorator for an op whose callback has another name: `@primitive.calls("reduce_max")`."""
        return Primitive(callback, self._result, self._bounds)

    def returning(self, result: Callable[..., Several]) -> Primitive[Several]:
        """The decorator for an op of several results, which a named tuple holds: `@primitive.returning(QR)`."""
        return Primitive(self._callback, result, self._bounds)

    def within(self, bound: Bound = EXACT, /, *, complex: Bound | None = None) -> Primitive[Result]:
        """The decorator for an op whose results need not agree to the bit: `@primitive.within(LIBRARY)`."""
        return Primitive(self._callback, self._result, Bounds(bound, complex))

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
        return make_primitive(rule, self._callback, self._result, self._bounds)


class Op(Protocol[P, R_co]):
    """A composite as a function."""

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R_co:
        """Runs the op."""

    def on(self, backend: str, /) -> Callable[[Method], Method]:
        """The decorator of a function that computes the op on an existing backend, such as a Pallas kernel on JAX.

        The function is a method of the backend's class: it takes the backend, the template of the result, the tensors
        and the options, and returns a payload. Decorated by `planned` it takes templates, and returns a kernel. The
        gradient remains that of the op's default.

            @twice.on("numpy")
            def twice_on_numpy(backend, out, x, /):
                return x.data * 2
        """


class Composite:
    """Declare an op that is written in other ops: `@tb.composite`.

    The function is the op's default, which runs on every backend, and under `jit`, `grad` and `vmap`. Parameters that
    are annotated `Tensor` or `Sequence[Tensor]` take tensors, numbers and arrays; all others are options, normalised by
    their annotations (`Axis`, `Axes`, `DTypeLike`). A backend may override the op by a method of its name, and
    `op.on("jax")` adds one to an existing backend.

        @tb.composite
        def rescale(x: tb.Tensor, /, *, low: float = 0.0, high: float = 1.0) -> tb.Tensor:
            least, most = tb.min(x), tb.max(x)
            return low + (x - least) * ((high - low) / (most - least))

    `tb.composite.within(bound)` states how near the results of all backends must be, for the tests of backends:
    `tensorbackend.testing.check(Invocation("rescale", (x,), {}), "jax")`.
    """

    def __init__(
        self,
        callback: str | None = None,
        bounds: Bounds = TO_THE_BIT,
        cost: Cost | CostRule | None = None,
        reach: Reach | None = None,
    ) -> None:
        self._callback, self._bounds, self._cost, self._reach = callback, bounds, cost, reach

    def calls(self, callback: str) -> Composite:
        """The decorator for an op that backends override under another name: `@composite.calls("random_uniform")`."""
        return Composite(callback, self._bounds, self._cost, self._reach)

    def within(self, bound: Bound = EXACT, /, *, complex: Bound | None = None) -> Composite:
        """The decorator for an op whose results need not agree to the bit: `@composite.within(Bound(8, "why"))`."""
        return Composite(self._callback, Bounds(bound, complex), self._cost, self._reach)

    def costing(self, cost: Cost | CostRule, /) -> Composite:
        """The decorator for an op that costs less than its parts: `cost` says what an element costs, or is a function.

        A function takes the output template, the templates of the inputs, and the options by name, as an override
        would, and returns the number of operations.
        """
        return Composite(self._callback, self._bounds, cost, self._reach)

    def reaching(self, reach: Reach, /) -> Composite:
        """The decorator for an op that a mesh divides better than its parts; `reach` says where its axes come from."""
        return Composite(self._callback, self._bounds, self._cost, reach)

    @overload
    def __call__(
        self, body: Callable[Concatenate[Tensor, Tensor | None, Tensor | None, P], R], /
    ) -> Op[Concatenate[TensorLike, TensorLike | None, TensorLike | None, P], R]: ...
    @overload
    def __call__(
        self, body: Callable[Concatenate[Tensor, Tensor | None, P], R], /
    ) -> Op[Concatenate[TensorLike, TensorLike | None, P], R]: ...
    @overload
    def __call__(
        self, body: Callable[Concatenate[Tensor, Tensor, Tensor, P], R], /
    ) -> Op[Concatenate[TensorLike, TensorLike, TensorLike, P], R]: ...
    @overload
    def __call__(
        self, body: Callable[Concatenate[Tensor, Tensor, P], R], /
    ) -> Op[Concatenate[TensorLike, TensorLike, P], R]: ...
    @overload
    def __call__(self, body: Callable[Concatenate[Tensor, P], R], /) -> Op[Concatenate[TensorLike, P], R]: ...
    @overload
    def __call__(
        self, body: Callable[Concatenate[Sequence[Tensor], P], R], /
    ) -> Op[Concatenate[Sequence[TensorLike], P], R]: ...

    def __call__(self, body: Callable[..., Any], /) -> Any:
        """Declares a composite: the function is its default implementation, written in public ops."""
        return make_composite(body, self._callback, self._bounds, self._cost, self._reach)


primitive: Final[Primitive[Tensor]] = Primitive()
composite: Final = Composite()


class PrimitivePath(FullPath):
    """The full path of a primitive's calls."""

    def decide(self, call: Call, backend: Backend | None) -> tuple[Decision, list[Tensor]]:
        """The plan of the rule, and the operands as tensors on one backend."""
        check_moves(self.spec, [template_of(operand) for operand in call.operands])
        plan: Plan = self.spec.function(*call.arguments, **call.keywords)
        check_moves(self.spec, plan.out)
        chosen = backend or common_backend(call.deciding_tensors)
        tensors = self.bring(call, plan.inputs, chosen)
        inputs = [x.template for x in tensors]
        return Decision(chosen, plan.out, inputs, call.groups, plan.options, plan.inputs, self.spec.result), tensors

    def kernel(self, decision: Decision) -> tuple[Kernel, bool]:
        """The kernel, which first casts the operands to the dtypes of the plan."""
        if decision.backend.template_only:
            return template_kernel(decision.out), True
        return self._casting_kernel(decision, primitive_kernel), True

    def kind_kernel(self, decision: Decision) -> Kernel | None:
        """The kernel of a planned callback for symbolic sizes."""
        return self._casting_kernel(decision, symbolic_kernel)

    def _casting_kernel(self, decision: Decision, plan: Callable[..., Kernel]) -> Kernel:
        backend, out, inputs, groups, options, dtypes, _ = decision
        cast_templates = [
            x if x.dtype is dtype else x.replace(dtype=dtype) for x, dtype in zip(inputs, dtypes, strict=True)
        ]
        kernel = plan(backend, self.spec.callback, out, group_operands(cast_templates, groups), options)
        casts = [
            None if x is to else plan(backend, "as_type", to, (x,), {})
            for x, to in zip(inputs, cast_templates, strict=True)
        ]
        return casting_kernel(kernel, casts, groups)


def make_primitive(
    rule: Callable[..., Any], callback: str | None, result: Callable[..., Any] | None, bounds: Bounds
) -> Callable[..., Any]:
    """Declares the op of a rule, and returns the public op."""
    name = rule.__name__.lstrip("_")  # `_` in front: a public function wraps the op
    spec = OpSpec(name, "primitive", callback or name, rule, read_parameters(rule), result, bounds)
    declare(spec)
    return bind(PrimitivePath(spec).op())
