"""The decorators, typed: a rule over templates, or a body over tensors, becomes a public op.

Such an op takes a tensor, a Python number or another library's array where its function has a template or tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar, overload

from ..declarations.op_specs import CostRule
from ..protocol.core import Cost, Reach
from ..rules.accuracy import EXACT, TO_THE_BIT, Bound, Bounds
from ..rules.plan import Plan
from ..template import Template
from ..tensor import Tensor, TensorLike
from .composites import make_composite
from .primitives import make_primitive

P = ParamSpec("P")
R = TypeVar("R")
Result = TypeVar("Result")
Several = TypeVar("Several")


class Primitive(Generic[Result]):
    """The type of `@primitive`; `Result` is what the public op returns."""

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


class Composite:
    """The type of `@composite`."""

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
    ) -> Callable[Concatenate[TensorLike, TensorLike, TensorLike, P], R]: ...
    @overload
    def __call__(
        self, body: Callable[Concatenate[Tensor, Tensor, P], R], /
    ) -> Callable[Concatenate[TensorLike, TensorLike, P], R]: ...
    @overload
    def __call__(self, body: Callable[Concatenate[Tensor, P], R], /) -> Callable[Concatenate[TensorLike, P], R]: ...
    @overload
    def __call__(
        self, body: Callable[Concatenate[Sequence[Tensor], P], R], /
    ) -> Callable[Concatenate[Sequence[TensorLike], P], R]: ...

    def __call__(self, body: Callable[..., Any], /) -> Callable[..., Any]:
        """Declares a composite: the function is its default implementation, written in public ops."""
        return make_composite(body, self._callback, self._bounds, self._cost, self._reach)


primitive: Final[Primitive[Tensor]] = Primitive()
composite: Final = Composite()
