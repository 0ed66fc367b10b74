"""Compiled functions: which way serves a call, and what they keep alive."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ref

import pytest

import tensorbackend as tb
from tensorbackend.errors import BackendError
from tensorbackend.expr.compiled_functions import CompiledFunction


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[list[str]]:
    """A list of the methods that calls come through."""
    met: list[str] = []
    with monkeypatch.context() as patch:
        for name in names:
            method = getattr(CompiledFunction, name)

            def watched(self: Any, *arguments: Any, _name: str = name, _method: Any = method) -> Any:
                met.append(_name)
                return _method(self, *arguments)

            patch.setattr(CompiledFunction, name, watched)
        yield met


def test_each_way_serves_the_calls_that_the_quicker_ones_do_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    def ways(x: tb.Tensor) -> list[str]:
        with counted(monkeypatch, "run", "_again", "_run_key", "_run_sized", "_trace") as met:
            double = CompiledFunction.public(compiled)  # binds `run` again, which is watched now
            assert double(x).tolist() == (x + x).tolist()
        return met

    compiled = CompiledFunction(lambda x: x + x, (frozenset(), frozenset()), (), 8, ())
    x, y = tb.ones(3), tb.ones(4)
    assert ways(x) == ["run", "_run_key", "_run_sized", "_trace"]
    assert ways(x) == ["run", "_again"]  # it writes the code
    assert ways(x) == ["run", "_again"]  # the second in a row is tried first from now on
    assert ways(x) == []
    assert ways(y) == ["run", "_run_key", "_run_sized", "_trace"]
    assert ways(tb.ones(5)) == ["run", "_run_key", "_run_sized", "_trace"]  # with a symbolic size
    assert ways(tb.ones(6)) == ["run", "_run_key", "_run_sized"]
    assert ways(x) == []
    assert compiled.cache.info().currsize == 2


@pytest.mark.parametrize("calls", [lambda x: [x], lambda x: [x, x], lambda x: [x, x, tb.ones(5), tb.ones(6)]])
def test_a_function_that_nobody_holds_is_freed_at_once(calls: Callable[[tb.Tensor], list[tb.Tensor]]) -> None:
    gc.collect()
    gc.disable()
    try:
        double = tb.jit(lambda x: x + x)
        for x in calls(tb.ones(4)):
            double(x)
        function = ref(double.__wrapped__)
        del double
        assert function() is None
    finally:
        gc.enable()


def test_a_class_may_have_a_compiled_method() -> None:
    class Scale:
        __hash__ = object.__hash__

        @tb.jit
        def __call__(self, x: tb.Tensor) -> tb.Tensor:
            return 2 * x

    scale: Any = Scale()
    assert scale(tb.ones(2)).tolist() == [2.0, 2.0]


def test_a_captured_tensor_on_another_backend_is_named() -> None:
    weight, x = tb.ones((2, 3), backend="numpy"), tb.ones((2, 3), backend="jax")
    wanted = "captured tensors on the backend of the arguments, 'jax', got captured=f32[2][3], backend=NumpyBackend()"
    with pytest.raises(BackendError, match=re.escape(f"jit: expected {wanted}; pass what the function captures")):
        tb.jit(lambda x: x * weight)(x)
    with pytest.raises(BackendError, match=r"^jit: expected tensors on one backend"):
        tb.jit(lambda x, y: x * y)(x, weight)
