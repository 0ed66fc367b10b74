"""What a traced function does to arrays from outside: an error that leaves them as they were, or the right thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorbackend as tb
import tensorbackend.numpy as np
from tensorbackend.errors import BackendError

WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "an element": lambda kept, x: kept.__setitem__(0, x[0]),
    "all": lambda kept, x: kept.__setitem__(slice(None), x),
    "in place": lambda kept, x: kept.__iadd__(x),
    "a view": lambda kept, x: kept[1:].__setitem__(slice(None), x[1:]),
    "a view in place": lambda kept, x: kept[1:].__iadd__(x[1:]),
    "out": lambda kept, x: np.add(x, x, out=kept),
    "copyto": lambda kept, x: np.copyto(kept, x),
    "a mask": lambda kept, x: kept.__setitem__(x > 0, 7.0),
    "a method": lambda kept, x: kept.put([0], x[:1]),
    "at": lambda kept, x: np.add.at(kept, [0], x[:1]),
}

TRACES: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "jit": lambda f, x: tb.jit(f)(x),
    "grad": lambda f, x: tb.grad(lambda x: np.sum(f(x)))(x),
    "grad in jit": lambda f, x: tb.jit(tb.grad(lambda x: np.sum(f(x))))(x),
    "vmap": lambda f, x: tb.vmap(f)(np.stack([x, x])),
    "cond": lambda f, x: tb.cond(True, f, lambda x: x * 2, x),
    "scan": lambda f, x: tb.scan(lambda carry, x: (carry, f(x)), x, np.stack([x, x])),
    "fori_loop": lambda f, x: tb.fori_loop(0, 2, lambda i, x: f(x), x),
    "checkpoint": lambda f, x: tb.grad(lambda x: np.sum(tb.checkpoint(f)(x)))(x),
}


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_of_traced_values_to_an_array_from_outside_leaves_it_as_it_was(write: Any, trace: Any) -> None:
    kept, x = np.asarray([1.0, 2.0, 3.0]), np.asarray([4.0, 5.0, 6.0])
    view = kept[1:]

    def function(x: Any) -> Any:
        write(kept, x)
        return x * 2

    for _ in range(2):
        with pytest.raises(BackendError, match=r"assignment of traced values|a value with data"):
            trace(function, x)
        assert (kept.tolist(), view.tolist(), (kept + 1).tolist()) == ([1.0, 2.0, 3.0], [2.0, 3.0], [2.0, 3.0, 4.0])
    kept[0] = 5.0
    assert kept.tolist() == [5.0, 2.0, 3.0]


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)
@pytest.mark.parametrize("write", [write for name, write in WRITES.items() if name != "a mask"])
def test_an_array_that_the_function_makes_of_one_from_outside_takes_traced_values(write: Any, trace: Any) -> None:
    kept, x = np.asarray([1.0, 2.0, 3.0]), np.asarray([4.0, 5.0, 6.0])

    def function(x: Any) -> Any:
        made = kept * 2
        write(made, x)
        return made * x

    trace(function, x)
    assert kept.tolist() == [1.0, 2.0, 3.0]


def test_after_an_error_in_the_function_the_array_is_as_it_was() -> None:
    kept = np.asarray([1.0, 2.0])

    def function(x: Any) -> Any:
        kept[0] = x[0]
        raise ValueError("mine")

    for trace in (tb.jit, tb.grad):
        with pytest.raises(ValueError, match="mine"):
            trace(function)(np.asarray([3.0, 4.0]))
        assert kept.tolist() == [1.0, 2.0]
