"""Which backend values belong to, and whether they have data."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import BackendError, OperandError
from tensorbackend.protocol import Backend
from tensorbackend.select import registry

ARRAY, OURS = np.ones(2), jax.numpy.ones(2)


@dataclass
class State:
    x: Any
    step: int = 0


@pytest.mark.parametrize(
    ("values", "backend"),
    [
        ((), "numpy"),
        ((1, 2.5, None), "numpy"),
        ((ARRAY,), "numpy"),
        ((np.float32(1),), "numpy"),
        ((OURS,), "jax"),
        ((ARRAY, OURS), "jax"),
        ((OURS, ARRAY, 1), "jax"),
        (([OURS], {"a": ARRAY}), "jax"),
        ((State(OURS),), "jax"),
        ((tb.ones(2, backend="binary"),), "binary"),
        ((tb.ones(2, backend="binary"), OURS), "binary"),  # an array follows the tensors next to it
        ((State(tb.ones(2)), tb.ones(2, backend="binary")), "numpy"),
        ((tb.template((2,), "f32"), tb.ones(2)), "template"),
    ],
    ids=repr,
)
def test_backend_of(values: tuple[Any, ...], backend: str) -> None:
    assert tb.backend_of(*values) is tb.get_backend(backend)


def test_nothing_belongs_to_the_default_backend() -> None:
    with tb.default_backend("binary"):
        assert tb.backend_of() is tb.backend_of(2.0, [None]) is tb.get_backend("binary")
        assert tb.backend_of(ARRAY) is tb.get_backend("numpy")


def test_values_that_are_traced_have_a_backend() -> None:
    seen: list[Any] = []

    def look(x: Any) -> Any:
        seen.append((tb.backend_of(x), tb.is_concrete(x), tb.is_concrete(tb.asarray(x))))
        return x

    jax.jit(look)(OURS)
    assert seen == [(tb.get_backend("jax"), False, False)]


@pytest.mark.parametrize("value", ["text", object(), b"bytes"])
def test_what_is_not_an_array_is_refused(value: Any) -> None:
    with pytest.raises(OperandError, match="backend_of: expected tensors, arrays and numbers"):
        tb.backend_of([ARRAY, value])


class Line:
    """An array of another library."""

    __array_priority__ = 1

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        return np.ones(2)


def test_a_backend_says_which_arrays_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lined(Backend):
        name = "lined"
        array_types = ("lines:Line", "lines:Missing", "nowhere:Line")

    assert tb.backend_of(Line()) is tb.get_backend()
    monkeypatch.setitem(registry._classes, "lined", Lined)
    assert tb.backend_of(Line()) is tb.get_backend()  # the library of Line is not imported
    monkeypatch.setitem(__import__("sys").modules, "lines", SimpleNamespace(Line=Line))
    tb.clear_caches()  # usually a class does not exist before its library is imported
    assert tb.backend_of(Line(), ARRAY) is Lined()
    with pytest.raises(BackendError, match=r"arrays of one backend, got left=.*Lined.*right=JaxBackend"):
        tb.backend_of(Line(), OURS)


def test_a_plugin_that_nothing_asked_for_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lined(Backend):
        name = "lined"
        array_types = ("lines:Line",)

    monkeypatch.setitem(__import__("sys").modules, "lines", SimpleNamespace(Line=Line))
    monkeypatch.setattr(Line, "__module__", "lines.arrays")
    tb.clear_caches()
    needs = SimpleNamespace(requires=["other", "Lines[all]>=2; extra == 'x'"])
    entry, broken = SimpleNamespace(load=lambda: Lined, dist=needs), SimpleNamespace(load=lambda: 1 / 0, dist=None)
    monkeypatch.setattr(registry, "_plugins", lambda: {"broken": [broken], "lined": [entry]})
    try:
        assert tb.backend_of(Line()) is Lined()
    finally:
        registry._classes.pop("lined", None)


def test_what_is_concrete() -> None:
    x, nothing = tb.ones(3), tb.template((3,), "f32")
    assert tb.is_concrete(x, ARRAY, 1.0, [tb.ones(2, backend="jax")], "text")
    assert tb.is_concrete()
    assert not tb.is_concrete(nothing)
    assert not tb.is_concrete(x, {"a": [State(nothing)]})
    seen: list[bool] = []

    def f(y: tb.Tensor) -> tb.Tensor:
        seen.extend([tb.is_concrete(y), tb.is_concrete(y * 2), tb.is_concrete(x), tb.is_concrete(tb.ones(3) + 1)])
        return tb.sum(y * x)

    for transform in (tb.jit, tb.grad, lambda f: tb.vmap(lambda y: f(y * tb.ones(3))), tb.trace):
        seen.clear()
        transform(f)(x)
        assert seen == [False, False, True, True]
    with tb.tape() as tape:
        watched = tape.watch(x)
        assert tb.is_concrete(watched, watched * 2)


def test_the_backend_of_a_block() -> None:
    assert tb.scoped_backend() is None
    with tb.default_backend("binary"):
        assert tb.scoped_backend() is tb.get_backend("binary")
        with tb.default_backend("jax"):
            assert tb.scoped_backend() is tb.get_backend("jax")
    assert tb.scoped_backend() is None
