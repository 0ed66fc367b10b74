"""A composite of another package: computed by a method that a program adds to an existing backend, and in the kit."""

from __future__ import annotations

import pydoc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.declarations.op_specs import OPS
from tensorbackend.dispatch.decorators import Op
from tensorbackend.errors import BackendError
from tensorbackend.extending import Bound
from tensorbackend.protocol import planned
from tensorbackend.select import registry
from tensorbackend.tensor.methods import ops
from tensorbackend.testing import Disagreement, Invocation, check


@pytest.fixture
def swish() -> Iterator[Op[..., tb.Tensor]]:
    @tb.composite.within(Bound(8, "a few ulps of each part"))
    def swish_of_a_test(x: tb.Tensor, /, *, beta: float = 1.0) -> tb.Tensor:
        """x times a sigmoid."""
        return x * tb.sigmoid(x * beta)

    name = "swish_of_a_test"
    yield swish_of_a_test
    del OPS[name], ops[name]
    for backend, methods in registry._overrides.items():
        if methods.pop(name, None) is not None:
            delattr(registry.backend_class(backend), name)
    tb.clear_caches()


X = [-1.0, 0.5, 2.0]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("ready", [False, True])
def test_a_method_is_added_to_an_existing_backend(swish: Op[..., tb.Tensor], backend: str, ready: bool) -> None:
    x = tb.asarray(X, backend=backend)
    wanted = np.asarray(X) / (1 + np.exp(-2 * np.asarray(X)))
    if ready:
        for _ in range(3):
            swish(x, beta=2.0)
        tb.jit(lambda x: swish(x, beta=2.0))(x)
    seen: list[tb.Template] = []

    @swish.on(backend)
    def method(self: Any, out: tb.Template, x: tb.Tensor, /, *, beta: float) -> Any:
        seen.append(out)
        return x.data / (1 + self.xp.exp(-beta * x.data))

    for _ in range(2):
        np.testing.assert_allclose(np.asarray(swish(x, beta=2.0)), wanted, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(tb.jit(lambda x: swish(x, beta=2.0))(x)), wanted, rtol=1e-6)
    assert len(seen) >= 2
    assert seen[0] is x.template
    other = tb.asarray(X, backend="binary")
    count = len(seen)
    np.testing.assert_allclose(np.asarray(swish(other, beta=2.0)), wanted, rtol=1e-6)
    assert len(seen) == count
    gradient = tb.grad(lambda x: tb.sum(swish(x, beta=2.0)))(x)
    sigmoid = 1 / (1 + np.exp(-2 * np.asarray(X)))
    slopes = sigmoid + 2 * np.asarray(X) * sigmoid * (1 - sigmoid)
    np.testing.assert_allclose(np.asarray(gradient), slopes, rtol=1e-5)


def test_a_planned_method_is_added(swish: Op[..., tb.Tensor]) -> None:
    plans: list[tb.Template] = []

    @swish.on("numpy")
    @planned
    def method(self: Any, out: tb.Template, x: tb.Template, /, *, beta: float) -> Any:
        plans.append(x)
        return lambda data: data / (1 + np.exp(-beta * data))

    x = tb.asarray(X)
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(swish(x)), np.asarray(X) / (1 + np.exp(-np.asarray(X))), rtol=1e-6)
    assert len(plans) == 1


def test_a_backend_that_is_not_loaded_gets_it_later(swish: Op[..., tb.Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(tb.NumpyBackend):
        name = "later"

    monkeypatch.setitem(registry._built_in, "later", lambda: Later)

    @swish.on("later")
    def method(self: Any, out: tb.Template, x: tb.Tensor, /, *, beta: float) -> Any:
        return x.data * 0

    assert "swish_of_a_test" not in vars(Later)
    assert swish(tb.asarray(X, backend="later")).tolist() == [0.0, 0.0, 0.0]
    registry._classes.pop("later")
    registry._overrides.pop("later")


def test_an_unknown_backend_is_refused(swish: Op[..., tb.Tensor]) -> None:
    with pytest.raises(BackendError, match=r"expected the name of a backend, got name='no_such'; choose one of binary"):
        swish.on("no_such")(lambda *_: None)


def test_the_kit_checks_a_composite_of_another_package(swish: Op[..., tb.Tensor]) -> None:
    x = tb.asarray(X, backend="binary")
    for backend in ("numpy", "jax"):
        assert check(Invocation("swish_of_a_test", (x,), {"beta": 2.0}), backend) <= 8

    @swish.on("numpy")
    def method(self: Any, out: tb.Template, x: tb.Tensor, /, *, beta: float) -> Any:
        return x.data

    with pytest.raises(Disagreement, match="swish_of_a_test of float32 on numpy") as caught:
        check(Invocation("swish_of_a_test", (x,), {}), "numpy")
    assert f"import_module({__name__!r}).swish_of_a_test(tb.tensor(" in str(caught.value)


def test_help_says_how_to_declare_an_op() -> None:
    for decorator, word in ((tb.composite, "@tb.composite"), (tb.primitive, "@tb.primitive")):
        assert word in pydoc.render_doc(decorator).partition("Methods defined here")[0]
