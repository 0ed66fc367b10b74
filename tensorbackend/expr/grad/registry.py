"""The gradient rule of each op: how the cotangents of its results become those of its inputs.

A rule is declared under the name of the op's callback. A composite has a rule only where that is better than the rules
of its parts:

    @rule("multiply")
    def _multiply(cotangent: Tensor, out: Tensor, x1: Tensor, x2: Tensor) -> Cotangents:
        return cotangent * x2, cotangent * x1

A rule gets the cotangent and the result (tuples of them for an op with several results, where a result without a
cotangent has `None`), the inputs as the callback gets them, and the options by name. It returns one cotangent for each
input: `None` if nothing depends on the input, a tuple for a sequence of tensors, and `NoGradient` if there is no
derivative with respect to the input or for these options.

- The tensors have the names that they have in the differentiated function, and the engine renames the cotangent
  like the input. A rule refers to axes by position. If names clash, the rule runs a second time without names:
  a product of a matrix and its transpose would have one name twice.
- If the input was broadcast, the engine sums the cotangent to the input's shape. It casts a cotangent of another
  dtype to the input's dtype; for a floating input it takes the real part of a complex cotangent.
- Rules are written in public ops, so that they run on tensors of a graph and of a tape, and can be differentiated.
- For complex numbers a rule is linear in the cotangent, without a conjugate: `2 * x * cotangent` for the
  square of x (https://docs.jax.dev/en/latest/notebooks/autodiff_cookbook.html#complex-numbers-and-differentiation).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from ...caching.memos import BoundedMemo, clear_all
from ...registration import Registry
from ...tensor import Tensor


class NoGradient:
    """Takes the place of a cotangent: `GradientError` states the reason if the cotangent is needed."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


Cotangents: TypeAlias = "tuple[Tensor | tuple[Tensor | NoGradient | None, ...] | NoGradient | None, ...]"
"""The result of a rule: a cotangent for each input."""

Rule: TypeAlias = Callable[..., Cotangents]
Entry = TypeVar("Entry")
Function = TypeVar("Function", bound=Rule)


class Gradient(NamedTuple):
    """How an op is differentiated."""

    rule: Rule | None
    """`None` where the derivative is zero or there is none."""
    reason: str = ""
    """Why there is no derivative; empty if there is one."""
    selective: bool = False
    """Whether the rule gets `needed` too, which says which of its inputs need a cotangent."""


gradients: Final[Registry[Gradient]] = Registry("the gradient of")
"""The declared gradients, by the names of callbacks."""

_of_rules: Final[list[BoundedMemo[Any]]] = []


def clear_with_rules(memo: BoundedMemo[Entry]) -> BoundedMemo[Entry]:
    """Registers a memo of gradients, which is cleared when the rule of an op is declared."""
    _of_rules.append(memo)
    return memo


def rule(*names: str, selective: bool = False) -> Callable[[Function], Function]:
    """Declares the rule of the ops with these callbacks.

    A selective rule also gets `needed`: for each input whether it needs a cotangent, a tuple for a sequence of tensors.
    """

    def declare(function: Function) -> Function:
        _enter(names, Gradient(function, selective=selective))
        return function

    return declare


def declare_slopes(slopes: Mapping[str, Callable[..., Any]], wrap: Callable[[Rule], Rule] = lambda rule: rule) -> None:
    """Declares rules of functions of elements: each returns the cotangent of its operand, or a tuple of those of its
    operands, from that of the result, the result and the operands; `wrap` is what is around each rule."""
    for name, slope in slopes.items():
        made = wrap(_as_rule(slope))
        made.__module__ = slope.__module__  # that of the table, not of a function around it
        rule(name)(made)


def _as_rule(slope: Callable[..., Any]) -> Rule:
    def rule_of_slope(*tensors: Tensor) -> Cotangents:
        found = slope(*tensors)
        return found if isinstance(found, tuple) else (found,)

    return rule_of_slope


def zero_gradient(*names: str) -> None:
    """Declares that the ops with these callbacks have a derivative of zero wherever it exists."""
    _enter(names, Gradient(None))


def not_differentiable(*names: str, reason: str) -> None:
    """Declares that the ops with these callbacks have no gradient; a `GradientError` states the reason.

    It is raised if a gradient would flow through such an op.
    """
    _enter(names, Gradient(None, reason))


def _enter(names: tuple[str, ...], gradient: Gradient) -> None:
    gradients.declare(gradient, *names, module=getattr(gradient.rule, "__module__", None))
    clear_all(_of_rules)


def gradient_of(name: str) -> Gradient | None:
    """The gradient that is declared under the name of a callback, `None` if there is none."""
    return gradients.get(name)
