"""Effects of a function: called several times, it returns the same compiled as eagerly, or is refused.

Python's own objects, such as a list to which a function appends, change once, when it is traced. So does an array from
outside to which it assigns elements that depend on no argument, as `outside += 1`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy
import pytest

import tensorbackend as tb
import tensorbackend.numpy as np

PROGRAMS: Final = (
    "y = x + outside",
    "y = x + outside[1:][0]",
    "x[0] = 5; y = x * 2",
    "x += 1; y = x.copy()",
    "v = x[1:]; v *= 2; y = x * 1",
    "v = x.reshape(-1); v[0] = outside[0]; y = x + outside",
    "x[x > 1] += 1; y = x * 1",
    "x.sort(); y = x[::-1] * 1",
    "np.negative(x, out=x); y = x * 1",
    "t = np.zeros(3); t[0] = x[0]; t += 1; y = t + x",
    "t = np.array([1.0, 2.0, 3.0]); t[1:] = 7; y = t + x",
    "t = outside.copy(); t += x; y = t * 2",
    "t = np.array(outside); t[0] = 9; y = t + x",
    "outside[0] = x[0]; y = outside + x",
    "outside += x; y = outside * 2",
    "outside[1:][0] = x[1]; y = x + outside",
    "np.add(x, 1, out=outside); y = outside + x",
    "np.copyto(outside, x); y = outside * 3",
    "v = outside[:2]; v -= x[:2]; y = outside + x",
    "kept['sum'] += x; y = kept['sum'] * 1",
    "y = x + np.random.rand()",
    "y = x + np.random.rand(3)",
    "np.random.shuffle(x); y = x * 1",
    "y = x + generator.random(3)",
    "y = x * generator.integers(1, 9)",
    "y = x + np.random.default_rng(3).random(3)",
    "np.random.seed(1); y = x + np.random.rand(3)",
)
CODE: Final = {text: compile(text, text, "exec") for text in PROGRAMS}


def chosen(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return tb.jit(lambda x: tb.cond(np.sum(x) > -1e9, function, lambda x: x * 0, x))


def looped(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return tb.jit(lambda x: tb.fori_loop(0, 1, lambda i, carry: function(carry), x))


COMPILED: Final[dict[str, Callable[[Callable[[Any], Any]], Callable[[Any], Any]]]] = {
    "jit": lambda f: tb.jit(f),
    "jit of jit": lambda f: tb.jit(lambda x: tb.jit(f)(x)),
    "jit of a branch": chosen,
    "jit of a loop": looped,
    "jit of vmap": lambda f: tb.jit(lambda x: tb.vmap(f)(x[None])[0]),
    "jit of a gradient": lambda f: tb.jit(lambda x: tb.vjp(f, x)[0]),
    "jit of a checkpoint": lambda f: tb.jit(tb.checkpoint(f)),
}


def called_thrice(text: str, compiled: Callable[[Callable[[Any], Any]], Callable[[Any], Any]] | None) -> list[Any]:
    """The results of three calls of a function that refers to arrays and a generator outside; reads these at the end.

    The results end at the first call that is refused.
    """
    around: dict[str, Any] = {
        "np": np,
        "outside": np.array([3.0, 1.0, 2.0]),
        "kept": {"sum": np.zeros(3)},
        "generator": np.random.default_rng(7),
    }
    np.random.seed(5)

    def function(x: Any) -> Any:
        scope = {**around, "x": x}
        exec(CODE[text], scope)
        return scope["y"]

    run, results = function if compiled is None else compiled(function), []
    try:
        for call in range(3):
            results.append(numpy.asarray(run(np.array([1.0, 2.0, 0.5 + call]))).tolist())
    except (tb.errors.BackendError, tb.errors.ArgumentError):
        if compiled is None:
            raise
    states = around["outside"].tolist(), around["generator"].random(2).tolist(), np.random.rand(2).tolist()
    assert numpy.isfinite(numpy.concatenate([numpy.ravel(each) for each in states])).all()
    if compiled is not None and len(results) < 3:
        assert around["outside"].tolist() == [3.0, 1.0, 2.0]
    return results


@pytest.mark.parametrize("transform", COMPILED)
def test_a_compiled_function_gives_at_each_call_what_an_eager_one_gives(transform: str) -> None:
    wrong = []
    for text in PROGRAMS:
        eager, compiled = called_thrice(text, None), called_thrice(text, COMPILED[transform])
        if not all(numpy.allclose(*pair) for pair in zip(compiled, eager, strict=False)):
            wrong.append((text, compiled, eager))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("transform", COMPILED)
def test_what_has_no_effect_outside_is_not_refused(transform: str) -> None:
    for text in (*PROGRAMS[:13], *PROGRAMS[-2:]):
        assert len(called_thrice(text, COMPILED[transform])) == 3, text
