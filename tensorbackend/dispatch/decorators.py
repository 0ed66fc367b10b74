"""The decorators, typed: a rule over templates, or a body over tensors, becomes a public op.

Such an op takes a tensor, a Python number or another library's array where its function has a template or tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar, overload

from ..declarations.op_specs import CostRule
from ..protocol.callbacks import Cost, Reach
from ..rules.accuracy import EXACT, TO_THE_BIT, Bound, Bounds
from ..rules.plan import Plan
from ..template import Template
from ..tensor import Tensor, TensorLike
from .composites import make_composite
from .primitives import make_primitive

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
