"""autograd's checks of derivatives against differences, in both modes and to any order."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy

from .differential_operators import Function, make_jvp, make_vjp, of_argument
from .values import has_tensor, mapped, to_numpy, to_tensor

STEP = 1e-6
TOLERANCE = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    return bool(abs(a - b) < TOLERANCE or abs(a - b) / abs(a + b) < TOLERANCE)


def _leaves(value: Any) -> list[Any]:
    """Return the differentiable leaves of a value, as float64 or complex128 arrays."""
    collected: list[Any] = []

    def leaf(each: Any) -> Any:
        array = numpy.asarray(each)
        if array.dtype.kind in "fciub":
            collected.append(array.astype(complex if array.dtype.kind == "c" else float))
        return each

    mapped(leaf, to_numpy(value))
    return collected


def _pairing(cotangent: Any, tangent: Any) -> float:
    """Return the real part of the sum of products of a cotangent and a tangent, without conjugation."""
    return float(sum(numpy.sum(numpy.real(x * y)) for x, y in zip(_leaves(cotangent), _leaves(tangent), strict=True)))


def _random(like: Any) -> Any:
    """Return a random direction: normal random numbers in the shape of each leaf."""

    def leaf(each: Any) -> Any:
        array = numpy.asarray(each)
        drawn = numpy.random.randn(*array.shape)
        direction = drawn + 1j * numpy.random.randn(*array.shape) if array.dtype.kind == "c" else drawn
        return numpy.asarray(direction).astype(array.dtype if array.dtype.kind in "fc" else float)[()]

    return mapped(leaf, to_numpy(like))


def _moved(x: Any, direction: Any, step: float) -> Any:
    if isinstance(x, dict):
        return {key: _moved(x[key], direction[key], step) for key in x}
    if isinstance(x, list | tuple):
        return type(x)(_moved(a, b, step) for a, b in zip(x, direction, strict=True))
    return numpy.asarray(x + step * direction)[()]


def _difference(function: Function, x: Any, direction: Any) -> Any:
    """Return a directional derivative by a central difference."""
    after, before = (
        to_numpy(function(to_tensor(_moved(to_numpy(x), direction, step)))) for step in (STEP / 2, -STEP / 2)
    )
    return [(a - b) / STEP for a, b in zip(_leaves(after), _leaves(before), strict=True)]


def check_equivalent(x: Any, y: Any) -> None:
    a, b = _leaves(x), _leaves(y)
    assert [each.shape for each in a] == [each.shape for each in b]
    for one, other in zip(a, b, strict=True):
        direction = numpy.random.randn(*one.shape)
        assert scalar_close(numpy.sum(one * direction), numpy.sum(other * direction)), f"expected {one}, got {other}"


def check_vjp(function: Function, x: Any) -> None:
    pull, value = make_vjp(function)(x)
    direction, cotangent = _random(x), _random(value)
    gradient = pull(cotangent)
    numeric = _pairing(cotangent, _difference(function, x, direction))
    assert [each.shape for each in _leaves(gradient)] == [each.shape for each in _leaves(x)]
    exact = _pairing(gradient, direction)
    assert scalar_close(exact, numeric), f"vjp: expected {numeric} as by differences, got {exact}"


def check_jvp(function: Function, x: Any) -> None:
    direction = _random(x)
    _, tangent = make_jvp(function)(x)(direction)
    check_equivalent(_leaves(tangent), _difference(function, x, direction))


def check_grads(function: Function, argnum: Any = None, modes: Any = None, order: int = 2) -> Any:
    """Compare derivatives with differences, in reverse (`"rev"`) and forward (`"fwd"`) mode, up to an order."""
    if argnum is None:
        return lambda *arguments, **options: check_grads(
            function, 0 if len(arguments) == 1 else tuple(range(len(arguments))), modes, order
        )(*arguments, **options)
    return of_argument(lambda one, x: _check(one, x, modes or ["fwd", "rev"], order))(function, argnum)


def _check(function: Function, x: Any, modes: list[str], order: int) -> None:
    x = to_numpy(to_tensor(x))
    if "fwd" in modes:
        check_jvp(function, x)
        if order > 1:
            _check(lambda both: make_jvp(function)(both[0])(both[1])[1], (x, _random(x)), modes, order - 1)
    if "rev" in modes:
        check_vjp(function, x)
        if order > 1:
            cotangent = _random(to_numpy(function(to_tensor(x))))
            _check(lambda both: make_vjp(function)(both[0])[0](both[1]), (x, cotangent), modes, order - 1)


def combo_check(function: Function, *options: Any, **keywords: Any) -> Callable[..., None]:
    """Run `check_grads` for all combinations of arguments and options."""

    def check(*arguments: Any, **choices: Any) -> None:
        for chosen in product(*arguments):
            for values in product(*choices.values()):
                check_grads(function, *options, **keywords)(*chosen, **dict(zip(choices, values, strict=True)))

    return check


__all__ = ["check_equivalent", "check_grads", "check_jvp", "check_vjp", "combo_check", "has_tensor", "scalar_close"]
