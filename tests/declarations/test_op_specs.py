"""Properties derived from declarations: families, costs, error bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.costs.estimate import Estimator
from tensorbackend.declarations import op_specs
from tensorbackend.declarations.op_specs import (
    CALLBACKS,
    COSTS,
    OPS,
    callbacks,
    overridable,
    unreached,
    wanted_signature,
)
from tensorbackend.errors import ContractError
from tensorbackend.extending import support_of
from tensorbackend.protocol.callbacks import callback
from tensorbackend.rules.accuracy import EXACT, SUM, Bound, declare_bound
from tensorbackend.testing import bound_of


@pytest.fixture
def declarations_undone() -> Iterator[None]:
    """After a test, remove what it declared."""
    known = [(table, dict(table)) for table in (OPS, COSTS)]
    yield
    for table, before in known:
        for name in table.keys() - before.keys():
            del table[name]


def family(word: str, method: Any) -> type:
    return type("Family", (), {"__module__": f"tensorbackend.protocol.{word}", "cosine": method})


def cosine(self: object, out: tb.Template, x: tb.Tensor, /) -> Any:
    """A new op."""


def test_an_elementwise_callback_needs_its_cost() -> None:
    for word in op_specs.ELEMENTWISE:
        with pytest.raises(TypeError, match=r"the callback 'cosine' needs its cost, .*@callback\(cost='operation'\)"):
            list(callbacks(family(word, callback(cosine))))
    (spec,) = callbacks(family("elementwise", callback(cost="transcendental")(cosine)))
    assert (spec.cost, spec.elementwise, spec.outputs) == ("transcendental", True, 1)
    (elsewhere,) = callbacks(family("linalg", callback(cosine)))
    assert (elsewhere.cost, elsewhere.elementwise) == (None, False)


def test_what_an_element_costs() -> None:
    assert {name for name, spec in CALLBACKS.items() if spec.elementwise} <= set(COSTS)
    views = {name for name, cost in COSTS.items() if cost in ("view", "strided view")}
    assert views == {
        "bitcast", "broadcast", "imag", "real", "reshape", "reverse", "slice", "squeeze", "transpose",
    }  # fmt: skip
    assert [COSTS[name] for name in ("add", "exp", "pad", "take")] == ["operation", "transcendental", "move", "pick"]


def works(function: Any, template: str) -> tuple[int, int]:
    (*_, node) = tb.trace(function)(template).nodes
    work = Estimator().work(node)
    return work.flops, work.transcendentals


@pytest.mark.usefixtures("declarations_undone")
def test_a_composite_states_its_cost_and_its_bound() -> None:
    @tb.composite.within(Bound(2, "two steps"), complex=SUM).costing("operation")
    def doubled_twice(x: tb.Tensor, /) -> tb.Tensor:
        """Four times x."""
        return (x + x) + (x + x)

    @tb.composite
    def as_parts(x: tb.Tensor, /) -> tb.Tensor:
        """Four times x."""
        return (x + x) + (x + x)

    @tb.composite.costing(lambda out, x, /, *, times: 7 * times)
    def by_rule(x: tb.Tensor, /, *, times: int = 1) -> tb.Tensor:
        """As often as is said."""
        return x * times

    @tb.composite.costing("transcendental")
    def slow(x: tb.Tensor, /) -> tb.Tensor:
        """Takes long."""
        return x + 1

    assert works(doubled_twice, "f32[5]") == (5, 0)
    assert works(as_parts, "f32[5]") == (15, 0)
    assert works(lambda x: by_rule(x, times=3), "f32[5]") == (21, 0)
    assert works(slow, "f32[5]") == (0, 5)
    assert bound_of("doubled_twice").reason == "two steps"
    assert bound_of("doubled_twice", [tb.complex64]) is SUM
    assert bound_of("as_parts", [tb.complex64]) is EXACT


def test_a_plain_function_states_its_bound() -> None:
    @declare_bound(SUM)
    def function() -> None:
        """A public function."""

    assert function.__bounds__.bound is SUM  # type: ignore[attr-defined] # by within
    assert bound_of("covariance").scale == "square"


def test_every_bound_has_a_reason() -> None:
    bounds = [bound for spec in OPS.values() for bound in spec.bounds if bound not in (None, EXACT)]
    assert len(bounds) > 50
    assert all(bound is not None and bound.ulps > 0 and bound.reason for bound in bounds)


class Unreached(tb.NumpyBackend):
    """Methods that nothing calls, and a right one in a general form."""

    name = "unreached"

    def softmax(self, out: Any, x: Any, /, *, axes: Any) -> Any: ...  # type: ignore[override]
    def hypot(self, out: Any, /, *inputs: Any, **options: Any) -> Any: ...
    def maximum(self, out: Any, x1: Any, x2: Any, /) -> Any: ...
    def jit(self, function: Any) -> Any: ...
    def add(self, x1: Any, x2: Any) -> Any: ...  # type: ignore[override]


def test_methods_that_no_call_reaches() -> None:
    assert unreached(Unreached) == [
        "Unreached defines maximum, which nothing calls: define max",
        "Unreached defines jit, which nothing calls: define compile_graph",
        "Unreached defines add in another form than it is called in: write add(self, out, x1, x2, /)",
        "Unreached defines softmax in another form than it is called in: write softmax(self, out, x, /, *, axis)",
    ]
    assert support_of(Unreached, "softmax") == "default"
    assert support_of(Unreached, "hypot") == "override"
    with pytest.raises(ContractError, match=r"takes 3 positional .*; write add\(self, out, x1, x2, /\)"):
        tb.add(*[tb.ones(2, backend=Unreached)] * 2)
    for name in ("binary", "jax", "numpy", "template"):
        assert unreached(type(tb.get_backend(name))) == []
    assert all(str(wanted_signature(name)).startswith("(self, out, ") for name in (*CALLBACKS, *overridable()))
