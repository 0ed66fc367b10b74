"""Entries that are declared once, and functions that higher layers supply."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tensorbackend.costs.flops import APPLICATIONS, applications, flops
from tensorbackend.expr.batching.registry import rules
from tensorbackend.expr.grad.registry import gradients, zero_gradient
from tensorbackend.registration import Registry, SuppliedFunction
from tensorbackend.sparse.linear_rules import RULES
from tensorbackend.testing import GENERATORS


@pytest.mark.parametrize("registry", [rules, gradients, RULES, GENERATORS, APPLICATIONS], ids=lambda known: known.what)
def test_a_second_entry_of_a_name_is_refused(registry: Registry[object]) -> None:
    name, entry = next(iter(registry.items()))
    with pytest.raises(TypeError, match=rf"{registry.what} '{name}' is declared twice"):
        registry.declare(object(), name)
    assert registry[name] is entry


def test_a_second_cost_or_gradient_is_refused() -> None:
    with pytest.raises(TypeError, match="the cost of 'conv' is declared twice"):
        flops("conv")(lambda out, x, kernel, /, **options: 0)
    with pytest.raises(TypeError, match="the number of applications of 'window_reduce' is declared twice"):
        applications("window_reduce")(lambda out, x, initial, /, **options: 0)
    with pytest.raises(TypeError, match="the gradient of 'sin' is declared twice"):
        zero_gradient("sin")


def test_a_module_that_runs_again_replaces_its_entries() -> None:
    known: Registry[Callable[[], int]] = Registry("the rule of")
    known.of("one")(lambda: 1)
    known.of("one")(lambda: 2)  # of this module too
    assert known["one"]() == 2
    other = lambda: 3  # noqa: E731 # for its module
    other.__module__ = "elsewhere"
    with pytest.raises(TypeError, match="declared twice"):
        known.of("two", "one")(other)
    assert known["one"]() == 2
    assert "two" not in known


def test_a_decorator_returns_what_it_declares() -> None:
    known: Registry[Callable[[int], int]] = Registry("the rule of")

    @known.of("double", "twice")
    def double(x: int) -> int:
        return 2 * x

    assert known["double"](3) == known["twice"](3) == double(3) == 6


def test_a_function_is_supplied_later() -> None:
    answer: SuppliedFunction[Callable[[int], int]] = SuppliedFunction(lambda x: x)
    assert answer.call(2) == 2

    @answer.supply
    def more(x: int) -> int:
        return x + 1

    assert answer.call(2) == more(2) == 3
