"""A call or a statement run by NumPy and by the namespace: the same elements, or an error of the same class."""

from __future__ import annotations

from typing import Any

import numpy

import tensorbackend.numpy as ours

RAISED = (OverflowError, IndexError, TypeError, ValueError)
"""The classes of errors that programs handle."""


def _operands(np: Any) -> dict[str, Any]:
    numbers = numpy.arange(12.0).reshape(3, 4)
    values = {"x": numbers, "i": numpy.array([[2, 0, 1, 2]]), "k": numpy.array([1, 5, 3]), "m": numbers % 3 == 0,
              "c": numbers[0] + 1j * numbers[1], "s": numpy.eye(3), "t": numpy.arange(24).reshape(2, 3, 4)}  # fmt: skip
    return {"np": np, **{name: np.array(value) for name, value in values.items()}}


def outcome(source: str, np: Any) -> Any:
    """Return what a call gives, or the array `x` after a statement; the class of the error where one is raised."""
    scope = _operands(np)
    try:
        try:
            code = compile(source, source, "eval")
        except SyntaxError:
            exec(source, scope)
            return scope["x"]
        result = eval(code, scope)
        return scope["x"] if result is None else result
    except RAISED as error:
        return next(kind for kind in RAISED if isinstance(error, kind))


def assert_as_numpy(source: str) -> None:
    """Asserts that the namespace does what NumPy does."""
    result, expected = outcome(source, ours), outcome(source, numpy)
    assert isinstance(result, type) == isinstance(expected, type), (result, expected)
    if isinstance(expected, type):
        assert result is expected
        return
    parts = [(result, expected)] if not isinstance(expected, tuple | list) else zip(result, expected, strict=True)
    for part, expected_part in parts:
        array, wanted = numpy.asarray(part), numpy.asarray(expected_part)
        assert (array.shape, array.dtype) == (wanted.shape, wanted.dtype)
        numpy.testing.assert_allclose(array, wanted, rtol=1e-12, atol=1e-12)
