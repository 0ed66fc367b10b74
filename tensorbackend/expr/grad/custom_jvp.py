"""`custom_jvp`: a function with its own derivative along tangents."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ...declarations.argument_errors import check_arguments_early
from ...errors import ArgumentError, expected
from ...ops.creation.filled import zeros_like
from ...tensor import Tensor
from ..trees import flatten, unflatten
from .custom import custom_gradient
from .functions import vjp


class custom_jvp:  # a decorator
    """Define the derivative of a function along tangents, by another function passed to `defjvp`.

    Gradients are derived from that function too, so it must be linear in the tangents and use ops that have a gradient.
    A second derivative differentiates that function. In a graph the decorated function is one node.

    Parameters
    ----------
    function
        A function of tensors, nested like the arguments of `trace`, and of options. A tensor that a derivative is
        computed with respect to must be an argument, as for `custom_gradient`.

    Raises
    ------
    ArgumentError
        If it is called in a graph or on a tape before `defjvp`, or if the rule does not return a pair.
    GradientError
        For a derivative with respect to a tensor that the function closes over.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> @tb.custom_jvp
    ... def softplus(x):
    ...     return tb.log1p(tb.exp(x))
    >>> @softplus.defjvp
    ... def softplus_rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return softplus(x), tb.sigmoid(x) * t
    >>> tb.grad(softplus)(0.0).item(), tb.jvp(softplus, (0.0,), (2.0,))[1].item()
    (0.5, 1.0)
    """

    @check_arguments_early
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._rule: Callable[..., Any] | None = None
        self._op = custom_gradient(self._call_with_pullback)
        update_wrapper(self, function)

    @check_arguments_early
    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the rule that computes the derivative, and returns it, so that this can be used as a decorator.

        Parameters
        ----------
        rule
            Called with the arguments and with a tangent for each, with the same nesting: a tensor for a floating or
            complex tensor, `None` for anything else. It returns the result and the tangent of the result.

        Returns
        -------
        Callable
            The rule.
        """
        self._rule = rule
        return rule

    def __call__(self, *arguments: Any) -> Any:
        """Calls the function."""
        return self._op(*arguments)

    def _call_with_pullback(self, *arguments: Any) -> tuple[Any, Callable[..., Any]]:
        return self._function(*arguments), lambda cotangent: self._pull_back(arguments, cotangent)

    def _pull_back(self, arguments: tuple[Any, ...], cotangent: Any) -> Any:
        """The cotangents of the arguments: the derivative is linear in the tangents, and this is its transpose."""
        rule = self._rule
        if rule is None:
            raise ArgumentError(expected("a function with a derivative", "define one with defjvp()"))
        leaves, tree = flatten(arguments)
        chosen = [isinstance(leaf, Tensor) and leaf.dtype.is_inexact for leaf in leaves]

        def push(*tangents: Tensor) -> Any:
            rest = iter(tangents)
            returned = rule(arguments, unflatten(tree, [next(rest) if has_tangent else None for has_tangent in chosen]))
            if not isinstance(returned, tuple) or len(returned) != 2:
                raise ArgumentError(expected("a rule that returns the result and its tangent", returned=returned))
            return returned[1]

        zeros = [zeros_like(leaf) for leaf, has_tangent in zip(leaves, chosen, strict=True) if has_tangent]
        pulled = iter(vjp(push, *zeros)[1](cotangent))
        cotangents = [
            next(pulled) if has_tangent else zeros_like(leaf) if isinstance(leaf, Tensor) else leaf
            for leaf, has_tangent in zip(leaves, chosen, strict=True)
        ]
        nested = unflatten(tree, cotangents)
        return nested if len(nested) != 1 else nested[0]
